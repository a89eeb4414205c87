"""tools/report_tests.py counts what ran, names the slowest, and fails when fewer ran than there were.

usage: report_test.py PROJECT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv[1])

LISTED = """
add_test(unit.sums {sh} -c "{sums}")
set_tests_properties(unit.sums PROPERTIES LABELS unit.concurrent)
add_test(cli.speaks {sh} -c "echo 'Ran 7 tests in 0.1s'; echo 'OK (skipped=2)'")
set_tests_properties(cli.speaks PROPERTIES LABELS "cli;long")
add_test(plain.works {sh} -c "true")
"""
SECONDS = {"unit": 0.2, "cli": 1.4, "plain": 7}
SUMS = "echo '[==========] 12 tests from 1 test suite ran. (3 ms total)'; echo '[  SKIPPED ] 1 test, listed below:'"


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="oneprobe-report-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("tools", "tests", "build"):
            (self.folder / name).mkdir()
        shutil.copy(PROJECT / "tools" / "report_tests.py", self.folder / "tools")
        self.run_tests()

    def run_tests(self, *selection):
        script = LISTED.replace("{sh}", "/bin/sh").replace("{sums}", SUMS)
        (self.folder / "build" / "CTestTestfile.cmake").write_text(script, encoding="utf-8")
        subprocess.run(["ctest", "--test-dir", self.folder / "build", "--output-junit", "Testing/ran.xml", *selection], capture_output=True, check=True)
        # Each took as long as its name says, whatever else ran on the machine.
        ran = self.folder / "build" / "Testing" / "ran.xml"
        text = re.sub(r'(<testcase name="(\w+)\.[^>]* time=)"[^"]*"', lambda found: f'{found[1]}"{SECONDS[found[2]]}"', ran.read_text(encoding="utf-8"))
        ran.write_text(text, encoding="utf-8")

    def report(self, *arguments):
        return subprocess.run(
            [sys.executable, self.folder / "tools" / "report_tests.py", self.folder / "build", *arguments],
            capture_output=True, text=True,
        )

    def test_it_counts_by_kind(self):
        done = self.report()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tests: cli long 7 (2 skipped), other 1, unit 12 (1 skipped)\n", done.stdout)
        self.assertRegex(done.stdout, r"slowest: plain\.works 7 s, cli\.speaks 1 s, unit\.sums ")

    def test_what_drops_out_fails(self):
        (self.folder / "tests" / "costs.txt").write_text("cli.speaks 1 3\nunit.of_another_run 1 5\n", encoding="utf-8")
        self.assertEqual(self.report("test", "--write").returncode, 0)
        self.assertEqual(
            (self.folder / "tests" / "costs.txt").read_text(encoding="utf-8"), "plain.works 1 7\nunit.of_another_run 1 5\n"
        )
        self.assertEqual(self.report("test").returncode, 0)
        self.run_tests("-E", "cli")
        done = self.report("test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 tests of kind 'cli long' ran, at least 7 are expected", done.stderr)
        self.assertEqual(self.report().returncode, 0)
        self.assertEqual(self.report("check").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
