#!/usr/bin/env python3
"""Help, version, and the form of the answers."""

import json
import re
import subprocess
import unittest

from tool import MODELS, TOOL, run

MODEL_CALL = "model overflow-bound --load-factor 1 --bucket-capacity 4 --accesses 1.5".split()


class Help(unittest.TestCase):
    def assert_help(self, call, *needles):
        outcome = run(*call)
        self.assertEqual((outcome.code, outcome.stderr), (0, ""), call)
        for needle in ("Example",) + needles:
            self.assertIn(needle, outcome.stdout, call)
        return outcome.stdout

    def test_no_arguments_show_the_help(self):
        self.assertEqual(self.assert_help([]), self.assert_help(["--help"], "oneprobe plan filter --elements"))

    def test_every_command_has_an_example_and_says_what_it_computes(self):
        self.assert_help(["demo", "--help"], "--json")
        text = self.assert_help(["model", "--help"])
        for name in MODELS:
            self.assertIn(f"\n  {name} ", text)
            self.assert_help(["model", name, "--help"], f"oneprobe model {name} --", "Computes:", "--json")

    def test_a_paper_is_named_by_its_title_once(self):
        text = " ".join(self.assert_help(["model", "balance", "--help"]).split())
        self.assertIn("Computes: Energy-Constrained Balancing (ECB), Theorems 3, 4 and 6; Balanced Bloom Filters (BBF),", text)
        text = " ".join(self.assert_help(["model", "fluid", "--help"]).split())
        self.assertEqual(text.count("Optimal Fast Hashing"), 1)

    def test_simulate_has_help_and_an_example_that_works(self):
        text = self.assert_help(["simulate", "--help"], "oneprobe simulate --", "--json", "--churn")
        example = text[text.index("Example:\n") :].replace("\\\n", " ").splitlines()[1].split()
        self.assertEqual(example[0], "oneprobe")
        self.assertEqual(run(*example[1:]).code, 0)

    def test_help_is_also_a_word_in_front(self):
        for names in ([], ["plan"], ["filter", "build"], ["model", "fluid"]):
            self.assertEqual(self.assert_help(["help"] + names), self.assert_help(names + ["--help"]))

    def test_help_wins_over_whatever_else_is_wrong(self):
        self.assert_help(["model", "cutoff", "--load-factor", "x", "--help"])

    def test_the_examples_work(self):
        for name in MODELS:
            text = run("model", name, "--help").stdout
            example = text[text.index("Example:\n") :].splitlines()[1:]
            call = " ".join(line.strip().rstrip("\\") for line in example).split()
            self.assertEqual(call[0], "oneprobe")
            outcome = run(*call[1:])
            self.assertEqual((outcome.code, outcome.stderr), (0, ""), call)
            json.loads(run(*call[1:], "--json").stdout)

    def test_every_help_fits_a_screen_and_has_an_example(self):
        paths, seen = [[]], 0
        while paths:
            path = paths.pop()
            text = run(*path, "--help").stdout
            with self.subTest(" ".join(path)):
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                self.assertLessEqual(text.count("\n"), 45)
                self.assertIn("Example", text)
            names = re.search(r"\nNames:\n((?:  .*\n)+)", text)
            if names:
                paths += [[*path, name] for name in re.findall(r"^  ([a-z][\w-]*)", names[1], re.MULTILINE)]
            seen += 1
        self.assertGreater(seen, 30)

    def test_version(self):
        outcome = run("--version")
        self.assertEqual(outcome.code, 0)
        self.assertRegex(outcome.stdout, r"^oneprobe \d+\.\d+\.\d+\n$")


class Form(unittest.TestCase):
    def test_a_table_fits_a_terminal_and_json_is_one_line(self):
        call = "model fluid --scheme multilevel --load-factor 1 --bucket-capacity 64 --choices 16".split()
        table = run(*call).stdout
        self.assertLessEqual(max(map(len, table.splitlines())), 80)
        self.assertEqual(run(*call, "--json").stdout.count("\n"), 1)

    def test_an_answer_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, *MODEL_CALL], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
