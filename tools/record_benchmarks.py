#!/usr/bin/env python3
"""Runs a benchmark several times and keeps the result, free of names and paths of the machine.

usage: record_benchmarks.py BENCHMARK NAME [ARGUMENT...]

BENCHMARK is the executable (./run bench builds it), NAME.json in docs/benchmarks/ receives Google Benchmark's own JSON:
median, mean and spread of the repetitions, and the compiler, flags, processor and commit. Render the page afterwards:
./run render
"""

import json
import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
REPETITIONS = 5


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def commit():
    def git(*arguments):
        return subprocess.run(["git", "-C", str(PROJECT), *arguments], check=True, capture_output=True, text=True).stdout

    return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if git("status", "--porcelain").strip() else "")


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    benchmark, name, *further = arguments
    context = {"cpu": processor(), "commit": commit()}
    done = subprocess.run(
        [
            benchmark, "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
            "--benchmark_report_aggregates_only=true", "--benchmark_enable_random_interleaving=true", *further,
        ],
        stdout=subprocess.PIPE, check=True, text=True,
    )
    record = json.loads(done.stdout)
    for key in ("executable", "host_name"):
        record["context"].pop(key, None)
    record["context"].update(context)
    path = PROJECT / "docs" / "benchmarks" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
