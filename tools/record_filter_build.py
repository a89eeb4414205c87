#!/usr/bin/env python3
"""Builds filters from a large text file with `oneprobe filter build` and keeps what that cost.

usage: record_filter_build.py TOOL FOLDER

TOOL is the built tool; FOLDER is where the keys and the filters are written, 2 GB. Times and memory go to
docs/benchmarks/filter-build.json; render the page afterwards: ./run render
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

from record_benchmarks import PROJECT, commit, processor
from record_filters import one_row_per_line

ROUNDS = 3
KINDS = ("blocked", "balanced")
SIZES = (10_000_000, 100_000_000)
CHUNK = 10_000  # lines written at once: few, because a process starts with the memory of the one that started it


def keys(folder, count):
    path = folder / f"keys-{count}.txt"
    with path.open("w", encoding="ascii") as out:
        first = 1_000_000_000
        for begin in range(first, first + count, CHUNK):
            out.write("".join(f"user-{i}\n" for i in range(begin, begin + CHUNK)))
    # Read once, so that every build finds it in memory: the build is measured, not the disk.
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass
    return path


def build(tool, path, kind, folder):
    """One build: its answer, the seconds, and what the process used."""
    out = folder / "built.filter"
    begin = time.monotonic()
    process = subprocess.Popen(
        [tool, "filter", "build", str(path), "-o", str(out), "--fpr", "0.0001", "--kind", kind, "--seed", "1", "--json"],
        stdout=subprocess.PIPE, text=True,
    )
    answer = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"oneprobe filter build failed: {status}")
    out.unlink()
    return answer, time.monotonic() - begin, used


def main(arguments):
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tool, folder = arguments[0], pathlib.Path(arguments[1])
    record = {
        "commit": commit(), "date": datetime.date.today().isoformat(), "cpu": processor(), "cores": os.cpu_count(),
        "load_average": os.getloadavg(), "rounds": ROUNDS, "rows": [],
    }
    for count in SIZES:
        path = keys(folder, count)
        rows = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind in KINDS:
                rows[kind].append(build(tool, path, kind, folder))
        for kind, found in rows.items():
            found.sort(key=lambda one: one[1])
            answer, seconds, used = found[len(found) // 2]
            record["rows"].append({
                "kind": kind, "lines": answer["keys"], "file_bytes": path.stat().st_size, "seconds": seconds,
                "seconds_least": found[0][1], "seconds_most": found[-1][1],
                "cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * 1024,
                "filter_bytes": answer["memory_bytes"],
            })
        path.unlink()
    out = PROJECT / "docs" / "benchmarks" / "filter-build.json"
    out.write_text(one_row_per_line(record), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
