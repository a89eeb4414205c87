#!/usr/bin/env python3
"""ARCHITECTURE.md says of every folder what it holds, and names none that is not there; tests/README.md does so of the tests'."""

import re
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
# What is built, and what git and editors keep.
NOT_OURS = re.compile(r"build|reproduction$|__pycache__$|\.(?!ci$|github$)")
# Folders of which the folders inside are named, too.
DEEPER = ("include/oneprobe", "include/oneprobe/detail")
BEGINNING = re.compile(r"[a-z.][a-z_./]*/(?=\s|$)")


def folders_in(folder):
    return sorted(path for path in folder.iterdir() if path.is_dir() and not NOT_OURS.match(path.name))


def entries():
    """What is said under "The parts", by the folder that begins each line that is not indented."""
    text = (PROJECT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"^## The parts\n+```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[1]
    found, last = {}, None
    for line in block.splitlines():
        if beginning := BEGINNING.match(line):
            last = beginning[0].rstrip("/")
            found[last] = ""
            line = line[beginning.end():]
        found[last] += line + "\n"
    return found


class Folders(unittest.TestCase):
    parts = entries()

    def named(self, folder):
        path = folder.relative_to(PROJECT)
        inside = self.parts.get(str(path.parent), "")
        return str(path) in self.parts or re.search(rf"(?<![\w/]){re.escape(path.name)}/", inside) is not None

    def test_every_folder_is_named(self):
        outer = folders_in(PROJECT)
        all_folders = [*outer, *(inner for folder in outer for inner in folders_in(folder))]
        all_folders += [inner for folder in DEEPER for inner in folders_in(PROJECT / folder)]
        self.assertGreater(len(all_folders), 60)
        missing = [
            str(folder.relative_to(PROJECT)) for folder in all_folders
            if not self.named(folder) and not any(part.startswith(f"{folder.relative_to(PROJECT)}/") for part in self.parts)
        ]
        self.assertEqual(missing, [], "not under 'The parts' of ARCHITECTURE.md")

    def test_every_named_folder_is_there(self):
        for part in self.parts:
            self.assertTrue((PROJECT / part).is_dir(), part)

    def test_every_folder_of_the_tests_is_in_their_table(self):
        text = (PROJECT / "tests" / "README.md").read_text(encoding="utf-8")
        named = re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE)
        self.assertEqual(sorted(named), [folder.name for folder in folders_in(PROJECT / "tests")])


if __name__ == "__main__":
    unittest.main()
