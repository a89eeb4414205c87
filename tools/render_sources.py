"""Renders tables in the sources that a program computes; `./run render` calls it.

Compilers differ in the last digits: a table stays as it is where parameters are equal and numbers agree to a millionth.
"""

import math
import re
import subprocess

from pages import CannotRender

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


def agree(text, written):
    (rows, rest), (new_rows, new_rest) = cells(text), cells(written)
    return rest == new_rest and [len(row) for row in rows] == [len(row) for row in new_rows] and all(
        math.isclose(a, b, rel_tol=1e-6) for row, new in zip(rows, new_rows) for a, b in zip(row, new)
    )


def pages(path, generator):
    text = path.read_text(encoding="utf-8")
    written = subprocess.run([generator], capture_output=True, text=True, check=True).stdout
    if len(cells(written)[0]) < 40:
        raise CannotRender(f"{generator.name} writes hardly any rows")
    return {path: text if agree(text, written) else written}
