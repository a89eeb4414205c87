#!/usr/bin/env python3
"""The faults of tests/mutants.toml go with the sources, and tools/run_mutants.py believes no fault to be noticed that is not."""

import dataclasses
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import mutants  # noqa: E402
import run_mutants  # noqa: E402

ENTRY = {
    "name": "a_fault", "area": "walk", "file": "include/a.hpp", "line": "return a < b;", "fault": "return a <= b;",
    "test": "unit/detail/placement: a.keeps_order", "wrong": "something",
}
SCRIPT = {"test": "integrations/redis/tests/a_test.py: Commands.test_add"}
GREEN = "[==========] Running 1 test from 1 test suite.\n[ RUN      ] a.keeps_order\n[       OK ] a.keeps_order (0 ms)\n"
RED = GREEN.replace("[       OK ]", "[  FAILED  ]")


def entry(**changes):
    return mutants.entry_of({**ENTRY, **changes})


class List(unittest.TestCase):
    def test_every_fault_goes_with_the_sources(self):
        self.assertEqual(mutants.complaints(mutants.read_mutants()), [])

    def test_there_are_enough_of_every_area(self):
        entries = mutants.read_mutants()
        self.assertGreaterEqual(len(entries), mutants.LEAST_FAULTS)
        for area in mutants.AREAS:
            self.assertGreaterEqual(sum(each.area == area for each in entries), mutants.LEAST_OF_AN_AREA, area)

    def test_every_script_says_what_it_needs(self):
        for each in mutants.read_mutants():
            if each.is_script:
                self.assertIn(str(Path(each.program).parent), run_mutants.SCRIPTS, each.name)


class Entries(unittest.TestCase):
    def refused(self, words, **changes):
        with self.assertRaisesRegex(mutants.Refused, words):
            entry(**changes)

    def test_an_entry_that_says_too_little_or_too_much_is_refused(self):
        self.refused("no 'wrong'", wrong="")
        self.refused("no 'line'", line=7)
        self.refused("'ater'", ater="x")
        self.refused("a name is words", name="A fault")
        self.refused("no area 'walks'", area="walks")
        self.refused("a test is a program and a name", test="unit/detail/placement")
        self.refused("one line each", line="  return a < b;")
        self.refused("one line each", fault="a;\nb;")
        self.refused("no change", fault=ENTRY["line"])

    def test_two_of_one_name_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list.toml"
            one = "[[mutant]]\n" + "".join(f"{key} = '{value}'\n" for key, value in ENTRY.items())
            path.write_text(one, encoding="utf-8")
            self.assertEqual(mutants.read_mutants(path), [entry()])
            path.write_text(one + one, encoding="utf-8")
            with self.assertRaisesRegex(mutants.Refused, "twice: a_fault"):
                mutants.read_mutants(path)

    def test_a_fault_takes_the_place_of_its_line(self):
        text = "one\n  return a < b;\nlast\n"
        self.assertEqual(mutants.with_fault(entry(), text), "one\n  return a <= b;\nlast\n")
        self.assertEqual(mutants.with_fault(entry(fault=""), text), "one\n\nlast\n")

    def test_a_line_that_is_not_there_once_is_refused(self):
        for text, words in (("return a;\n", "no lines"), ("return a < b;\n" * 2, "2 lines"), ("// return a < b;\n", "no lines")):
            with self.assertRaisesRegex(mutants.Refused, words):
                mutants.with_fault(entry(), text)

    def test_the_first_line_behind_another_is_meant_where_that_is_said(self):
        text = "return a < b;\nhere\n  return a < b;\nreturn a < b;\n"
        self.assertEqual(mutants.with_fault(entry(after="here"), text), text.replace("  return a < b;", "  return a <= b;"))
        with self.assertRaisesRegex(mutants.Refused, "behind 'here'"):
            mutants.with_fault(entry(after="here"), "return a < b;\nhere\n")
        with self.assertRaisesRegex(mutants.Refused, "2 lines 'here'"):
            mutants.with_fault(entry(after="here"), text + "here\n")

    def test_the_named_test_is_found_and_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            path = project / "tests" / "unit" / "detail" / "placement" / "a_test.cpp"
            path.parent.mkdir(parents=True)
            for text in ("TEST(a, keeps_order) {", "TYPED_TEST(a, keeps_order) {", "RC_GTEST_PROP(a, keeps_order, ()) {",
                         "TEST(\n    a,\n    keeps_order) {"):
                path.write_text(f"{text}\n", encoding="utf-8")
                self.assertEqual(mutants.test_source(entry(), project), path.relative_to(project))
            for text in ("TEST(a, keeps_order_well) {", "TEST(aa, keeps_order) {", "// TEST(a, keeps_order) {"):
                path.write_text(f"{text}\n", encoding="utf-8")
                self.assertEqual(len(mutants.complaints([entry()], project)), 2)
            script = project / SCRIPT["test"].partition(": ")[0]
            script.parent.mkdir(parents=True)
            script.write_text("class Commands(TestCase):\n    def test_add(self):\n", encoding="utf-8")
            self.assertEqual(mutants.test_source(entry(**SCRIPT), project), script.relative_to(project))
            script.write_text("class Others(TestCase):\n    def test_add(self):\n", encoding="utf-8")
            with self.assertRaisesRegex(mutants.Refused, "no test 'Commands.test_add'"):
                mutants.test_source(entry(**SCRIPT), project)


class Verdicts(unittest.TestCase):
    def test_only_a_test_that_ran_and_failed_kills(self):
        for code, output, expected in (
            (1, RED, "killed"), (-11, "[ RUN      ] a.keeps_order\n", "killed by a crash"), (0, GREEN, "SURVIVED"),
            (0, "[==========] Running 0 tests from 0 test suites.\n", "the test did not run"),
            (1, "error while loading shared libraries\n", "the test did not run"),
            (1, "[ RUN      ] a.keeps_order\n", "failed without a word"), (None, "[ RUN      ] a.keeps_order\n", "does not end"),
        ):
            with self.subTest(code=code, output=output):
                self.assertEqual(run_mutants.verdict(entry(), code, output), expected)
                self.assertEqual(expected.startswith("killed"), expected in run_mutants.KILLED)

    def test_a_test_that_need_not_end_kills_by_not_ending(self):
        said = run_mutants.verdict(entry(hangs=True), None, "")
        self.assertIn(said, run_mutants.KILLED)
        self.assertEqual(run_mutants.verdict(entry(hangs=True), 0, GREEN), "SURVIVED")

    def test_scripts_are_believed_likewise(self):
        script = entry(**SCRIPT)
        for code, output, expected in (
            (1, "Ran 1 test in 0.1s\n\nFAILED (failures=1)\n", "killed"), (0, "Ran 1 test in 0.1s\n\nOK\n", "SURVIVED"),
            (0, "Ran 0 tests in 0.0s\n\nOK\n", "the test did not run"), (1, "KeyError: 'MODULE'\n", "the test did not run"),
            (1, "ERROR: Commands (unittest.loader._FailedTest)\nRan 1 test in 0.0s\n\nFAILED (errors=1)\n", "the test did not run"),
        ):
            with self.subTest(output=output):
                self.assertEqual(run_mutants.verdict(script, code, output), expected)

    def test_one_that_survives_or_was_not_tried_fails_the_run(self):
        two = [entry(), dataclasses.replace(entry(), name="another")]
        for said, code in (("killed", 0), ("SURVIVED", 1), ("does not compile", 1), ("no longer goes with the sources", 1)):
            with open("/dev/null", "w", encoding="utf-8") as sys.stdout:
                result = run_mutants.report(two, {"a_fault": ("killed", 1), "another": (said, 1)})
            sys.stdout = sys.__stdout__
            self.assertEqual(result, code, said)


if __name__ == "__main__":
    unittest.main()
