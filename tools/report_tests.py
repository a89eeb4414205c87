#!/usr/bin/env python3
"""What a run of ctest did: how many tests of each kind ran, and which took longest. Fails if fewer ran than there were.

usage: report_tests.py BUILD_DIR [PART [--write]]

Reads what ctest --output-junit Testing/ran.xml wrote there. Kinds are the first word of a test's label, `long` said beside it; tests are counted in the programs, as they say
themselves, since ctest knows their suites only. With a PART of all tests, the numbers are held to tests/floors.txt: something that
silently is no longer compiled, listed or selected shows there. --write raises and lowers the floors of what ran, and writes how long
the longest took to tests/costs.txt, by which a run in a clean clone begins with the longest.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

FLOORS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "floors.txt"
COSTS = FLOORS.with_name("costs.txt")
SHOWN = 10
WORTH_NOTING = 2  # seconds
TIMED = ("test", "long")  # by the compiler of most users, without sanitizers


def kinds(build):
    """The kind of every test, by its name."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True
    ).stdout
    found = {}
    for test in json.loads(listing)["tests"]:
        labels = [label for p in test.get("properties", []) if p["name"] == "LABELS" for label in p["value"]]
        words = re.split(r"[.;]", ".".join(labels)) if labels else ["other"]
        found[test["name"]] = words[0] + (" long" if "long" in words else "")
    return found


def numbers(output):
    """How many tests ran, and how many of them were skipped, by what GoogleTest or unittest says; otherwise it was one."""
    if ran := re.findall(r"^\[=+\] (\d+) tests? from \d+ test suites? ran", output, re.MULTILINE):
        skipped = re.findall(r"^\[  SKIPPED \] (\d+) tests?,", output, re.MULTILINE)
        return int(ran[-1]), sum(map(int, skipped))
    if ran := re.findall(r"^Ran (\d+) tests? in ", output, re.MULTILINE):
        skipped = re.findall(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", output, re.MULTILINE)
        return sum(map(int, ran)), sum(map(int, skipped))
    return 1, 0


def read_floors():
    floors = {}
    if FLOORS.exists():
        for line in FLOORS.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                part, *kind, number = line.split()
                floors[part, " ".join(kind)] = int(number)
    return floors


def write_floors(floors):
    head = "# The least number of tests that a run of a kind has; tools/report_tests.py reads and writes it.\n"
    lines = [f"{part} {kind} {number}\n" for (part, kind), number in sorted(floors.items())]
    FLOORS.write_text(head + "".join(lines), encoding="utf-8")


def write_costs(times):
    """As ctest keeps them: name, number of runs, seconds."""
    costs = {}
    if COSTS.exists():
        costs = {line.split()[0]: line for line in COSTS.read_text(encoding="utf-8").splitlines()}
    for seconds, name in times:
        costs.pop(name, None)
        if seconds >= WORTH_NOTING:
            costs[name] = f"{name} 1 {seconds:.0f}"
    COSTS.write_text("".join(f"{costs[name]}\n" for name in sorted(costs)), encoding="utf-8")


def main():
    build = pathlib.Path(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else None
    kind_of = kinds(build)
    ran, skipped, times = collections.Counter(), collections.Counter(), []
    for test in xml.etree.ElementTree.parse(build / "Testing" / "ran.xml").getroot().iter("testcase"):
        kind = kind_of.get(test.get("name"), "other")
        tests, left_out = numbers(test.findtext("system-out", ""))
        ran[kind] += tests
        skipped[kind] += left_out
        times.append((float(test.get("time")), test.get("name")))

    floors = read_floors()
    if part and "--write" in sys.argv:
        floors.update({(part, kind): number for kind, number in ran.items()})
        write_floors(floors)
        if part in TIMED:
            write_costs(times)
    said = []
    for kind in sorted(ran):
        skips = f" ({skipped[kind]} skipped)" if skipped[kind] else ""
        said.append(f"{kind} {ran[kind]:,}{skips}")
    print("tests:", ", ".join(said))
    print("slowest:", ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(times, reverse=True)[:SHOWN]))

    failed = False
    for (of, kind), floor in floors.items():
        if of == part and ran[kind] < floor:
            failed = True
            print(f"{part}: {ran[kind]} tests of kind '{kind}' ran, at least {floor} are expected; if that is meant, "
                  f"tools/report_tests.py {build} {part} --write", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
