#!/usr/bin/env python3
"""Runs `oneprobe bench filters` and keeps the result, with the commit and the date.

usage: record_filters.py TOOL NAME [ARGUMENT...]

TOOL is the built tool, NAME.json in docs/benchmarks/ receives its answer; NAME begins with "filters". For the record the
tool is built with Boost.Bloom beside it (cmake -DONEPROBE_PEER_BOOST_BLOOM=DIR), once for the machine, which is how
Boost.Bloom is always compiled (-DCMAKE_CXX_FLAGS=-march=native -DONEPROBE_WARNINGS_AS_ERRORS=OFF: XXH3 then warns), and
once for any machine; and the machine is quiet:

    tools/record_filters.py native/oneprobe filters-10M --elements 10M --bits-per-element 8,11,12,16,20,24,32,40
    tools/record_filters.py native/oneprobe filters-100M --elements 100M --bits-per-element 11,16,20,24 --rounds 2 \\
        --kind blocked,balanced,fingerprint,boost
    tools/record_filters.py build/oneprobe filters-10M-any --elements 10M --bits-per-element 16,24
    tools/record_filters.py build/oneprobe filters-10M-avx2 --elements 10M --bits-per-element 16,24 \\
        --kind blocked,balanced,fingerprint,boost --simd avx2
    tools/record_filters.py build/oneprobe filters-10M-plain --elements 10M --bits-per-element 16,24 \\
        --kind blocked,balanced,fingerprint,boost --simd plain
    ./run render
"""

import datetime
import json
import subprocess
import sys

from record_benchmarks import PROJECT, commit


def one_row_per_line(answer):
    """JSON that is short and can still be compared line by line."""
    fields = []
    for key, value in answer.items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            fields.append(f' {json.dumps(key)}: [\n{rows}\n ]')
        else:
            fields.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def record(subject, arguments, usage):
    """Keeps what `TOOL bench SUBJECT` answers as NAME.json, where the arguments are TOOL, NAME and those of the command."""
    if len(arguments) < 2 or not arguments[1].startswith(subject):
        print(usage.strip(), file=sys.stderr)
        return 2
    tool, name, *further = arguments
    facts = {"commit": commit(), "date": datetime.date.today().isoformat()}
    done = subprocess.run([tool, "bench", subject, "--json", *further], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        # What it found wrong stands in its answer; such a run is not kept.
        print(done.stdout, end="", file=sys.stderr)
        return 1
    answer = json.loads(done.stdout)
    answer["machine"].update(facts)
    path = PROJECT / "docs" / "benchmarks" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(one_row_per_line(answer), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(record("filters", sys.argv[1:], __doc__))
