#!/usr/bin/env python3
"""Renders the tables of docs/mutants.md from the list in tests/mutants.toml.

usage: render_mutants.py            compares the page with what would be written; exit code 1 if they differ
       render_mutants.py --write    writes the page
"""

import sys
from pathlib import PurePosixPath

sys.dont_write_bytecode = True
from mutants import AREAS, LIST, read_mutants  # noqa: E402
from render_trials import keep  # noqa: E402

COLUMNS = ("fault", "in", "what would go wrong", "noticed by")


def test_of(entry):
    """As the documents name tests: suite and test, or the script and its test."""
    script = PurePosixPath(entry.program).name
    return f"`{script}`: `{entry.case.partition('.')[2]}`" if entry.is_script else f"`{entry.case}`"


def faults():
    entries = read_mutants()
    text = f"{len(entries)} faults, from `{LIST}`.\n"
    for area in AREAS:
        text += f"\n### {area[0].upper()}{area[1:]}\n\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
        for entry in entries:
            if entry.area == area:
                cells = (entry.name.replace("_", " "), f"`{PurePosixPath(entry.file).name}`", entry.wrong, test_of(entry))
                text += "| " + " | ".join(cells) + " |\n"
    return text


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return keep({"mutants.md": (faults,)}, bool(arguments), "render_mutants.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
