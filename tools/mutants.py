"""The list of faults in tests/mutants.toml: how it is read, what must be true of it, and how a fault is put into a text.

For tools/run_mutants.py, tools/render_mutants.py and tests/source/mutants_test.py.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LIST = Path("tests") / "mutants.toml"
# As docs/mutants.md shows them.
AREAS = (
    "walk", "stores", "overflow", "filters", "tables", "page store", "loaders", "planner", "models", "Redis",
)
LEAST_FAULTS = 40
LEAST_OF_AN_AREA = 3
NAME = re.compile(r"[a-z][a-z0-9_]*")
TEXTS = ("name", "area", "file", "line", "fault", "test", "wrong")


class Refused(Exception):
    """What is wrong with an entry, in words."""


@dataclass(frozen=True)
class Mutant:
    name: str
    area: str
    file: str  # which has the line
    line: str  # as it is, without what it is indented by
    fault: str  # what stands there instead
    test: str  # as in "unit/detail/placement: place.takes_the_first_candidate_with_room"
    wrong: str  # what a user would see
    after: str = ""  # the line is the first of its like behind this one
    hangs: bool = False  # the test need not end

    @property
    def program(self):
        """The folder of the test program in tests/, or the script."""
        return self.test.partition(": ")[0]

    @property
    def case(self):
        """suite.test, or Class.test_name."""
        return self.test.partition(": ")[2]

    @property
    def is_script(self):
        return self.program.endswith(".py")


def entry_of(table):
    """An entry as it was read. Throws Refused."""
    name = table.get("name", "without a name")
    unknown = set(table) - set(TEXTS) - {"after", "hangs"}
    missing = [key for key in TEXTS if not isinstance(table.get(key), str) or (not table[key] and key != "fault")]
    if unknown or missing:
        raise Refused(f"{name}: " + ", ".join([f"no '{key}'" for key in missing] + [f"'{key}'?" for key in sorted(unknown)]))
    entry = Mutant(**table)
    if not NAME.fullmatch(entry.name):
        raise Refused(f"{name}: a name is words with _ between")
    if entry.area not in AREAS:
        raise Refused(f"{name}: no area '{entry.area}'")
    if not entry.program or not entry.case:
        raise Refused(f"{name}: a test is a program and a name, with ': ' between")
    for text in (entry.line, entry.fault, entry.after):
        if text != text.strip() or "\n" in text:
            raise Refused(f"{name}: one line each, without what it is indented by")
    if entry.line == entry.fault:
        raise Refused(f"{name}: the fault is no change")
    return entry


def read_mutants(path=PROJECT / LIST):
    """All entries, in their order. Throws Refused."""
    with open(path, "rb") as file:
        found = [entry_of(table) for table in tomllib.load(file).get("mutant", [])]
    names = [entry.name for entry in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused("twice: " + ", ".join(twice))
    return found


def find_only(lines, wanted, name):
    at = [i for i, line in enumerate(lines) if line.strip() == wanted]
    if len(at) != 1:
        raise Refused(f"{name}: {len(at) or 'no'} lines '{wanted}'")
    return at[0]


def with_fault(entry, text):
    """The text with the fault in it. Throws Refused if the line is not there, or not once."""
    lines = text.split("\n")
    if entry.after:
        begin = find_only(lines, entry.after, entry.name) + 1
        behind = [i for i in range(begin, len(lines)) if lines[i].strip() == entry.line]
        if not behind:
            raise Refused(f"{entry.name}: no line '{entry.line}' behind '{entry.after}'")
        at = behind[0]
    else:
        at = find_only(lines, entry.line, entry.name)
    indented_by = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines[at] = (indented_by + entry.fault).rstrip()
    return "\n".join(lines)


def test_source(entry, project=PROJECT):
    """The one file that has the test, relative to the project. Throws Refused."""
    suite, _, case = entry.case.partition(".")
    if entry.is_script:
        candidates = [project / entry.program]
        wanted = re.compile(rf"^class {re.escape(suite)}\(.*?^    def {re.escape(case)}\(", re.DOTALL | re.MULTILINE)
    else:
        candidates = sorted((project / "tests" / entry.program).glob("*_test.cpp"))
        wanted = re.compile(rf"^(?:TYPED_)?(?:TEST|RC_GTEST)\w*\(\s*{re.escape(suite)},\s*{re.escape(case)}\b", re.MULTILINE)
    found = [path for path in candidates if path.is_file() and wanted.search(path.read_text(encoding="utf-8"))]
    if len(found) != 1:
        raise Refused(f"{entry.name}: {len(found) or 'no'} test '{entry.case}' in {entry.program}")
    return found[0].relative_to(project)


def complaints(entries, project=PROJECT):
    """Why entries do not go with the sources, one line each."""
    found = []
    for entry in entries:
        for check in (lambda: with_fault(entry, read_source(entry, project)), lambda: test_source(entry, project)):
            try:
                check()
            except Refused as refused:
                found.append(str(refused))
    return found


def read_source(entry, project=PROJECT):
    path = project / entry.file
    if not path.is_file():
        raise Refused(f"{entry.name}: no file '{entry.file}'")
    return path.read_text(encoding="utf-8")
