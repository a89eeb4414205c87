"""Lines of apps/explorer/filter_frontier.json are what the planner says today.

usage: frontier_test.py GENERATOR FILE

Some lines, always the same: all of them take a quarter of an hour. Numbers agree to a thousandth, since compilers differ in
the last digits and a search may then end in a neighbour that is as good.
"""

import json
import math
import subprocess
import sys

# A kind without choices, a balanced filter with three choices and the default needs, a fingerprint filter likewise.
LINES = (0, 2, 55, 115)


def same(a, b):
    return a is b is None or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-3))


def main():
    generator, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        curves = json.load(file)["curves"]
    written = subprocess.run([generator, *map(str, LINES)], capture_output=True, text=True, check=True).stdout
    for number, line in zip(LINES, written.splitlines(), strict=True):
        new, old = json.loads(line), curves[number]
        for key in ("kind", "choices", "accesses", "overfill"):
            if new.get(key) != old.get(key):
                sys.exit(f"line {number} is of {key} {old.get(key)}, and the generator's of {new.get(key)}")
        for key in ("fpr", "miss_accesses"):
            if len(new[key]) != len(old[key]) or not all(map(same, new[key], old[key])):
                sys.exit(f"line {number} has the {key} {old[key]} where the planner says {new[key]}")


if __name__ == "__main__":
    main()
