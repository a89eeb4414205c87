#!/usr/bin/env python3
"""`oneprobe plan ... --cpp`: the programs compile with the headers alone, build what was planned and find it so."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from tool import run

COMPILER = shlex.split(os.environ.get("ONEPROBE_CXX", "c++"))
HEADERS = os.environ.get("ONEPROBE_HEADERS", "include")


def program(call):
    outcome = run(f"plan {call} --cpp")
    if outcome.code != 0 or outcome.stderr:
        raise AssertionError(f"{call}: exit code {outcome.code}, {outcome.stderr}")
    return outcome.stdout


def built_and_run(text):
    """What the program prints. Unoptimised: what matters is that it builds and is right."""
    with tempfile.TemporaryDirectory(prefix="oneprobe-program-") as folder:
        source, binary = pathlib.Path(folder, "planned.cpp"), pathlib.Path(folder, "planned")
        source.write_text(text)
        flags = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-isystem", HEADERS]
        subprocess.run([*COMPILER, *flags, source, "-o", binary], check=True, timeout=300)
        return subprocess.run([binary], check=True, capture_output=True, text=True, timeout=300).stdout


def number(pattern, text):
    return float(re.search(pattern, text)[1])


class Programs(unittest.TestCase):
    def test_a_filter_is_built_as_planned(self):
        call = "filter --elements 30k --fpr 1e-3"
        plan = json.loads(run(f"plan {call} --json").stdout)
        printed = built_and_run(program(call))
        self.assertIn(f"30000 keys in {plan['memory_bytes']} bytes", printed)
        self.assertIn("keys denied: 0\n", printed)
        # Six deviations of a million draws, and as much again for the filter itself.
        expected = 1e6 * plan["fpr"]
        self.assertAlmostEqual(number(r"wrong answers: (\d+) of", printed), expected, delta=12 * expected**0.5)
        self.assertAlmostEqual(number(r"as it is ([\d.e+]+)", printed), expected, delta=0.1 * expected)

    def test_a_table_of_any_elements_and_scheme_is_built_as_planned(self):
        call = "table --elements 30k --key-bytes 12 --value-bytes 3 --scheme d-left --bucket-capacity 8 --workload fill-only"
        plan = json.loads(run(f"plan {call} --json").stdout)
        printed = built_and_run(program(call))
        self.assertIn(f"30000 elements in {plan['memory_bytes']} bytes", printed)
        self.assertIn("refused: 0, missing: 0\n", printed)
        self.assertAlmostEqual(number(r"per hit: ([\d.]+)", printed), plan["hit_accesses"], delta=0.05)

    def test_a_table_with_a_summary_is_built_as_planned(self):
        call = "summary --elements 3k --deletion counting --kind single-filter --element-bytes 12 --bucket-capacity 4"
        plan = json.loads(run(f"plan {call} --json").stdout)
        printed = built_and_run(program(call))
        self.assertIn("3000 elements; fast memory ", printed)
        # To the byte but for the ends of lines.
        self.assertAlmostEqual(number(r"fast memory (\d+)", printed), plan["summary_bytes"], delta=64)
        self.assertIn("at most 1\n", printed)
        self.assertIn("refused: 0, missing: 0\n", printed)

    def test_the_types_fit_the_elements(self):
        for call, needle in {
            "table --elements 1k": "bounded_map<key, value>;",
            "table --elements 1k --value-bytes 0": "bounded_set<key>;",
            "table --elements 1k --key-bytes 16": "key = std::array<std::uint64_t, 2>;",
            "table --elements 1k --key-bytes 3 --value-bytes 4": "value_type) == 8,",
            "filter --elements 1k --kind balanced --scheme sequential": "basic_balanced_filter<oneprobe::sequential,",
            "filter --elements 1k --kind counting": "oneprobe::counting_filter ",
            "filter --elements 1k --fpr 0.3 --layout lanes": "block_layout::lanes;",
            "summary --elements 1k": "one_probe_map<key, value, oneprobe::multi_filter_summary,",
            "summary --elements 1k --element-bytes 5": "key = std::array<std::uint8_t, 5>;",
            "summary --preset ssh-10k-lazy": "summary_deletion::lazy;",
            "summary --elements 1k --kind interpolation": "one_probe_map<key, value, oneprobe::interpolation_summary,",
            "summary --preset ssh-10k-interpolation": "one_probe_map<key, value, oneprobe::packed_strings_summary,",
        }.items():
            with self.subTest(call):
                self.assertIn(needle, program(call))

    def test_it_is_a_program_or_json_or_an_answer(self):
        outcome = run("plan table --elements 1k --cpp --json")
        self.assertEqual((outcome.code, outcome.stdout), (2, ""))
        self.assertIn("--cpp", outcome.stderr)
        refused = run("plan filter --elements 1M --bytes 1000 --cpp")
        self.assertEqual(refused.code, 1)
        self.assertIn("nearest", refused.stdout)


if __name__ == "__main__":
    unittest.main()
