"""Whichever verbs of `./run` went before, in any order, `./run test` has the same tests; and every test has a verb.

usage: verbs_test.py PROJECT

Each order of verbs gets a copy of the sources without anything built. In it `./run` configures for real; in front of its
cmake and ctest stand two that build nothing and run nothing, and write down which tests would have been run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1])

CMAKE = """#!/bin/sh
case "$1" in
  --build) exit 0 ;;
  *) exec {cmake} "$@" ;;
esac
"""

# A test of ctest's own is what is said after "Test #12: ".
CTEST = """#!/bin/sh
{ctest} "$@" -N | sed -n 's/^ *Test  *#[0-9]*: //p' | sort > "$ONEPROBE_SELECTED/$(date +%s%N)"
"""


def what_was_built(folder, names):
    top = pathlib.Path(folder) == PROJECT
    return {name for name in names if top and name.startswith(("build", ".git")) or name == "__pycache__"}


class Verbs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="oneprobe-run-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        for name, script in (("cmake", CMAKE), ("ctest", CTEST)):
            program = self.programs / name
            program.write_text(script.replace("{" + name + "}", shutil.which(name)), encoding="utf-8")
            program.chmod(0o755)

    def selected(self, *verbs):
        """In a new copy: the tests that each call of ctest would have run, verb by verb."""
        copy = self.folder / "-".join(verbs)
        shutil.copytree(PROJECT, copy, ignore=what_was_built)
        # The report has nothing to count.
        (copy / "tools" / "report_tests.py").write_text("", encoding="utf-8")
        result = []
        for number, verb in enumerate(verbs):
            said = copy / f"selected-{number}"
            said.mkdir()
            path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["./run", verb], cwd=copy, capture_output=True, text=True,
                env={**os.environ, "PATH": path, "ONEPROBE_SELECTED": str(said)},
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            result.append([set(file.read_text(encoding="utf-8").splitlines()) for file in sorted(said.iterdir())])
        return copy, result

    def test_any_order_selects_the_same(self):
        _, ((alone,),) = self.selected("test")
        self.assertGreater(len(alone), 60)
        self.assertTrue(any(name.startswith("redis.") for name in alone))

        _, (nothing, (after_build,)) = self.selected("build", "test")
        self.assertEqual(nothing, [])
        self.assertEqual(after_build, alone)

        copy, (checks, (after_check,)) = self.selected("check", "test")
        self.assertEqual(after_check, alone)

        listing = subprocess.run(
            ["ctest", "--test-dir", copy / "build", "-N"], capture_output=True, text=True, check=True
        ).stdout
        every = set(re.findall(r"^ *Test +#\d+: (.+)$", listing, re.MULTILINE))
        self.assertEqual(every - alone - set.union(*checks), set(), "tests that no verb runs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
