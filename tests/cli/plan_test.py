#!/usr/bin/env python3
"""`oneprobe plan filter`: its numbers, the form of its answers, and what it says when there is no plan."""

import json
import unittest

from tool import SLOWNESS, refuse_constant, run


def planned(call):
    outcome = run(f"plan filter {call} --json")
    if outcome.code != 0 or outcome.stderr:
        raise AssertionError(f"{call}: exit code {outcome.code}, {outcome.stderr}")
    return json.loads(outcome.stdout, parse_constant=refuse_constant)


class Plans(unittest.TestCase):
    def test_an_error_is_met_and_everything_is_said(self):
        plan = planned("--elements 100M --fpr 1e-4")
        self.assertEqual(plan["kind"], "balanced")
        self.assertLessEqual(plan["fpr"], 1e-4)
        self.assertLessEqual(plan["negative_accesses"], 1.2)
        self.assertEqual(plan["memory_bytes"], plan["cell_bytes"] + plan["overflow_bytes"])
        self.assertEqual(plan["cell_bytes"], 64 * sum(plan["level_blocks"]))
        self.assertAlmostEqual(plan["bits_per_element"], 8 * plan["memory_bytes"] / 1e8)
        self.assertEqual([row["factor"] for row in plan["overfill"]], [1.01, 1.05, 1.2])
        self.assertEqual(plan["overfill"][0]["condition"], "over-full")
        self.assertEqual(plan["overfill"][2]["condition"], "degraded")
        names = {other["name"].split(",")[0] for other in plan["alternatives"]}
        self.assertEqual(names, {"standard", "partitioned", "blocked", "counting"})
        for other in plan["alternatives"]:
            self.assertTrue(other["why"])
            self.assertLessEqual(other["plan"]["fpr"], 1e-4)
        blocked = next(o["plan"] for o in plan["alternatives"] if o["name"] == "blocked, 512-bit blocks")
        # reference/STUDY: 22.03 bits per element.
        self.assertAlmostEqual(blocked["bits_per_element"], 22.03, delta=0.01)
        self.assertLess(plan["bits_per_element"], 0.96 * blocked["bits_per_element"])

    def test_memory_is_never_exceeded(self):
        for kind in "standard partitioned blocked counting balanced".split():
            with self.subTest(kind):
                plan = planned(f"--elements 3M --bits-per-element 18.5 --kind {kind}")
                self.assertEqual(plan["kind"], kind)
                self.assertLessEqual(plan["bits_per_element"], 18.5)
                self.assertLessEqual(planned(f"--elements 3M --bytes 8Mi --kind {kind}")["memory_bytes"], 8 << 20)

    def test_a_plan_is_quick(self):
        # A second on an idle machine; tests run beside each other.
        self.assertLess(run("plan filter --elements 1G --fpr 1e-6").seconds, 10 * SLOWNESS)


class Form(unittest.TestCase):
    def test_a_table_to_decide_from(self):
        for call in ("--elements 100M --fpr 1e-4", "--elements 5k --bits-per-element 12", "--elements 1 --bytes 64"):
            with self.subTest(call):
                outcome = run(f"plan filter {call}")
                self.assertEqual((outcome.code, outcome.stderr), (0, ""))
                self.assertLessEqual(max(map(len, outcome.stdout.splitlines())), 80)
                for needle in ("memory", "error", "accesses", "With more elements", "Beaten"):
                    self.assertIn(needle, outcome.stdout)
        table = run("plan filter --elements 100M --fpr 1e-4").stdout
        for needle in ("1 in 10,000", "MiB", "levels", "degraded", "blocked, 512-bit blocks"):
            self.assertIn(needle, table)

    def test_help_has_an_example(self):
        for call in ("plan --help", "plan filter --help"):
            self.assertIn("Example", run(call).stdout)
        self.assertIn("--bits-per-element", run("plan filter --help").stdout)


class Refusals(unittest.TestCase):
    def test_a_need_that_cannot_be_met_ends_with_1_and_the_nearest_one(self):
        outcome = run("plan filter --elements 1M --bytes 1000 --json")
        self.assertEqual((outcome.code, outcome.stderr), (1, ""))
        said = json.loads(outcome.stdout)
        self.assertIsNone(said["plan"])
        self.assertIn("too little", said["reason"])
        self.assertEqual(run(f"plan filter --elements 1M --bytes {said['nearest']['bytes']}").code, 0)
        self.assertIn("nearest", run("plan filter --elements 1M --bytes 1000").stdout)

    def test_nonsense_gets_one_line_and_exit_code_2(self):
        for call, needle in {
            "--fpr 0.1": "--elements",
            "--elements 1M --fpr 2": "--fpr",
            "--elements 1M --fpr 0.1 --bytes 5M": "--bytes",
            "--elements 1M --fpr 0.1 --accesses 0.5": "--accesses",
            "--elements 1M --fpr 0.1 --choices 99": "--choices",
            "--elements 1M --fpr 0.1 --block-bits 300": "--block-bits",
            "--elements 1M --fpr 0.1 --kind standard --rule flag": "--rule",
            "--elements 1M --fpr 0.1 --overfill 7": "--overfill",
            "--elements 1M --fpr 0.1 --kind cuckoo": "cuckoo",
        }.items():
            with self.subTest(call):
                outcome = run(f"plan filter {call}")
                self.assertEqual((outcome.code, outcome.stdout), (2, ""))
                self.assertEqual(outcome.stderr.count("\n"), 1)
                self.assertIn(needle, outcome.stderr)


if __name__ == "__main__":
    unittest.main()
