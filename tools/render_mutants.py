"""Renders the tables of docs/mutants.md from the list in tests/mutants.toml; `./run render` calls it."""

from pathlib import PurePosixPath

from mutants import AREAS, LIST, read_mutants
from pages import filled_in

COLUMNS = ("fault", "in", "what would go wrong", "noticed by")


def test_of(entry):
    """As the documents name tests: suite and test, or the script and its test."""
    script = PurePosixPath(entry.program).name
    return f"`{script}`: `{entry.case.partition('.')[2]}`" if entry.is_script else f"`{entry.case}`"


def shown(file):
    """A header's path as the documents have it; of other files the name."""
    path = PurePosixPath(file)
    return path.relative_to("include/oneprobe") if path.is_relative_to("include/oneprobe") else path.name


def faults():
    entries = read_mutants()
    text = f"{len(entries)} faults, from `{LIST}`.\n"
    for area in AREAS:
        text += f"\n### {area[0].upper()}{area[1:]}\n\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
        for entry in entries:
            if entry.area == area:
                cells = (entry.name.replace("_", " "), f"`{shown(entry.file)}`", entry.wrong, test_of(entry))
                text += "| " + " | ".join(cells) + " |\n"
    return text


def pages():
    return filled_in({"mutants.md": (faults,)}, "render_mutants.py")
