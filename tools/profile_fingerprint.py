#!/usr/bin/env python3
"""Where the time of bulk queries of a fingerprint filter goes: docs/benchmarks/fingerprint-profile.json.

usage: profile_fingerprint.py

Compiles tools/profile_fingerprint.cpp for this machine, samples it with `perf record` (Debian's linux-perf) while it asks ten million
elements' filters for absent keys, and puts every sample to the innermost function that one of the STAGES names. Needs g++,
binutils and perf; tools/render_trials.py puts the result into docs/fingerprint-filter.md.
"""

import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from record_benchmarks import PROJECT, commit, processor

FPRS = ("1e-5", "2.4e-3")
CALLS = "100"
SAMPLES_PER_SECOND = "2000"

# A stage, and functions that belong to it; a sample goes to the first stage that names one of the functions it is in.
STAGES = (
    ("hashing the key", {"make", "hash_with"}),
    ("asking for its line", {"prefetch", "prefetch_line"}),
    ("comparing the remainders", {"find"}),
    ("whether to go on: the mark and the largest kept", {"may_be_beyond"}),
    ("those that go on", {"take_each", "look_each", "look_all", "send_on", "go_on", "leave"}),
    ("bucket and fingerprint from the hash", {"start"}),
    ("the ring of prefetches, and waiting for lines", {"query_with"}),
)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def plain_name(function):
    """A function's own name: without its template arguments, parameters and scopes."""
    text, depth = "", 0
    for letter in function.replace("operator()", "call"):
        depth += (letter in "<(") - (letter in ">)")
        if depth == 0 and letter not in ">)":
            text += letter
    return text.replace(" const", "").strip().split("::")[-1].split(" ")[-1]


def sampled_addresses(data, program):
    """Addresses in the program's file, with how often they were seen."""
    text = output_of("perf", "script", "-i", str(data), "--show-mmap-events", "-F", "comm,ip,event")
    seen, mapped = collections.Counter(), None
    for line in text.splitlines():
        found = re.search(r"\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*r-xp (\S+)", line)
        if found:
            if found[4] == str(program):
                mapped = tuple(int(found[i], 16) for i in (1, 2, 3))
            continue
        last = line.split()[-1] if line.split() else ""
        if mapped and re.fullmatch("[0-9a-f]+", last):
            offset = int(last, 16) - mapped[0]
            if 0 <= offset < mapped[1]:
                seen[offset + mapped[2]] += 1
    for line in output_of("readelf", "-lW", str(program)).splitlines():
        found = re.match(r"\s+LOAD\s+0x([0-9a-f]+) 0x([0-9a-f]+) .* R E", line)
        if found:
            shift = int(found[2], 16) - int(found[1], 16)
    return {address + shift: count for address, count in seen.items()}


def functions_at(addresses, program):
    """The function at each address and those it was inlined into, innermost first."""
    found, current = {}, []
    lines = iter(output_of("addr2line", "-a", "-i", "-f", "-C", "-e", str(program), *map(hex, addresses)).splitlines())
    for line in lines:
        if line.startswith("0x"):
            current = found[int(line, 16)] = []
        else:
            current.append(line)
            next(lines)  # its file and line
    return found


def profile(program, folder, fpr):
    data = folder / "perf.data"
    said = output_of("perf", "record", "-q", "-F", SAMPLES_PER_SECOND, "-o", str(data), str(program), fpr, CALLS)
    remainder_bits, capacity, nanoseconds = said.split()[-3:]
    seen = sampled_addresses(data, program)
    stages = collections.Counter()
    for address, functions in functions_at(seen, program).items():
        whole = " ".join(functions)
        if not any(part in whole for part in ("query_with", "finding", "range_hashes")):
            continue  # the filling
        names = {plain_name(each) for each in functions} | {"query_with"}
        stages[next(stage for stage, functions in STAGES if functions & names)] += seen[address]
    total = sum(stages.values())
    return {
        "fpr": float(fpr), "remainder_bits": int(remainder_bits), "bucket_capacity": int(capacity),
        "bulk_negative_ns": float(nanoseconds), "samples": total,
        "stages": {stage: stages[stage] / total for stage, _ in STAGES},
    }


def main(arguments):
    if arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    machine = {
        "cpu": processor(), "cores": os.cpu_count(), "load_average": os.getloadavg(), "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "profiled"
        subprocess.run(
            ["g++", "-std=c++20", "-O3", "-march=native", "-g", "-DNDEBUG", "-I", PROJECT / "include", "-o", program,
             PROJECT / "tools" / "profile_fingerprint.cpp"],
            check=True,
        )
        filters = [profile(program, folder, fpr) for fpr in FPRS]
    path = PROJECT / "docs" / "benchmarks" / "fingerprint-profile.json"
    path.write_text(json.dumps({"machine": machine, "filters": filters}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
