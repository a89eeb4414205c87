"""A table of default plans in the sources is what the planner says today.

usage: default_plans_test.py GENERATOR HEADER

Parameters must be equal and numbers agree to a millionth: compilers differ in the last digits.
"""

import math
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"\s*[{\d]")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def cells(text):
    """The lines of the tables as lists of numbers, and everything else as text."""
    rows, rest = [], []
    for line in text.splitlines():
        if ROW.match(line):
            rows.append([float(number) for number in NUMBER.findall(line)])
        else:
            rest.append(line)
    return rows, rest


def main():
    generator, path = sys.argv[1], pathlib.Path(sys.argv[2])
    written = subprocess.run([generator], capture_output=True, text=True, check=True).stdout
    rows, rest = cells(path.read_text(encoding="utf-8"))
    new_rows, new_rest = cells(written)
    if rest != new_rest or len(rows) != len(new_rows) or len(rows) < 40:
        sys.exit(f"{path.name} has another form than what {pathlib.Path(generator).name} writes")
    for row, new in zip(rows, new_rows):
        if len(row) != len(new) or not all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(row, new)):
            sys.exit(f"{path.name} has {row} where the planner says {new}")


if __name__ == "__main__":
    main()
