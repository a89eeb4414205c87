#!/usr/bin/env python3
"""tools/tidy.py looks at what differs from main, and tells findings apart. clang-tidy itself is not needed."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import tidy  # noqa: E402

SAID = """/p/src/a.cpp:3:5: warning: one [x]
  code
  ^
/p/src/b.hpp:1:2: note: of the first
/p/src/a.cpp:9:1: error: another [y,-warnings-as-errors]
  more
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = Path(folder.name).resolve()
        self.addCleanup(setattr, tidy, "PROJECT", tidy.PROJECT)
        tidy.PROJECT = self.project
        self.git("init", "--quiet", "--initial-branch=main")
        for name in ("src/old.cpp", "src/changed.cpp", "src/gone.cpp", "src/of_main.cpp", "tests/test.cpp"):
            self.write(name, "// first\n")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.project, check=True)

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")

    def chosen(self):
        return [str(path.relative_to(self.project)) for path in tidy.changed() if tidy.is_ours(path)]

    def test_what_differs_from_main_is_chosen_committed_or_not(self):
        self.assertEqual(self.chosen(), [])
        self.git("checkout", "--quiet", "-b", "branch")
        self.write("src/changed.cpp", "// second\n")
        self.write("tests/test.cpp", "// of no folder that is looked at\n")
        (self.project / "src/gone.cpp").unlink()
        self.commit()
        self.git("checkout", "--quiet", "main")
        self.write("src/of_main.cpp", "// main goes on\n")
        self.commit()
        self.git("checkout", "--quiet", "branch")
        self.write("src/old.cpp", "// not committed\n")
        self.write("include/new.hpp", "// not known to git\n")
        self.write("src/notes.md", "no source\n")
        self.assertEqual(self.chosen(), ["include/new.hpp", "src/changed.cpp", "src/old.cpp"])

    def test_the_server_s_main_is_what_counts(self):
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.write("src/old.cpp", "// committed on main, not pushed\n")
        self.commit()
        self.assertEqual(self.chosen(), ["src/old.cpp"])

    def test_a_finding_goes_with_its_notes(self):
        parts = list(tidy.findings(SAID))
        self.assertEqual(len(parts), 2)
        self.assertIn("of the first", parts[0])
        self.assertTrue(parts[1].startswith("/p/src/a.cpp:9:1"))
        self.assertEqual(list(tidy.findings("")), [])


if __name__ == "__main__":
    unittest.main()
