#!/usr/bin/env python3
"""`oneprobe simulate`: the form of its answers, and that they agree with the models and with themselves."""

import json
import os
import pty
import select
import subprocess
import unittest

from tool import TOOL, answer, refuse_constant, run

TABLE = "--buckets 20k --bucket-capacity 4 --load-factor 0.95"
SCHEMES = {
    "single": "",
    "sequential": "--choices 3",
    "multilevel": "--choices 3",
    "d-random": "--choices 3",
    "d-left": "--choices 3",
}


def simulated(call):
    outcome = run(f"simulate {call} --json")
    if outcome.code != 0 or outcome.stderr:
        raise AssertionError(f"{call}: exit code {outcome.code}, {outcome.stderr}")
    return json.loads(outcome.stdout, parse_constant=refuse_constant)


def findings(call):
    """Everything that must be the same again."""
    found = simulated(call)
    for key in ("seconds", "placements_per_second"):
        del found[key]
    return found


class Agreement(unittest.TestCase):
    # Six standard errors: a sampled error of ten trials is rough (Student, 9 degrees of freedom: 2e-4).
    SIGMAS = 6

    def assert_agrees(self, value, floor):
        error = max(value["standard_error"], floor)
        self.assertLessEqual(abs(value["mean"] - value["predicted"]), self.SIGMAS * error, value)

    def test_every_scheme_fills_as_predicted(self):
        for scheme, choices in SCHEMES.items():
            with self.subTest(scheme):
                found = simulated(f"--scheme {scheme} {choices} {TABLE}")
                end = found["looks"][-1]
                self.assert_agrees(end["overflow_fraction"], end["overflow_fraction"]["predicted_standard_error"])
                self.assert_agrees(end["mean_accesses"], 1e-9)
                self.assertAlmostEqual(sum(end["occupancy"]["mean"]), 1)
                self.assertAlmostEqual(sum(end["occupancy"]["predicted"]), 1)
                self.assertAlmostEqual(sum(found["accesses"]["predicted"]), 1)
                # The shares by number of accesses come to the mean that another formula gives.
                mean = sum(i * share for i, share in enumerate(found["accesses"]["predicted"]))
                self.assertAlmostEqual(mean, end["mean_accesses"]["predicted"], delta=1e-6)
                for seen, predicted in zip(found["accesses"]["mean"], found["accesses"]["predicted"]):
                    self.assertAlmostEqual(seen, predicted, delta=0.01)

    def test_every_scheme_churns_as_predicted(self):
        for scheme, choices in SCHEMES.items():
            with self.subTest(scheme):
                found = simulated(f"--scheme {scheme} {choices} {TABLE} --churn random --trials 2 --batches 5")
                end = found["looks"][-1]
                overflow = end["overflow_fraction"]
                self.assertAlmostEqual(
                    overflow["mean"], overflow["predicted"],
                    delta=0.1 * overflow["predicted"] + self.SIGMAS * overflow["standard_error"],
                )
                mean = sum(i * share for i, share in enumerate(found["accesses"]["predicted"]))
                self.assertAlmostEqual(mean, end["mean_accesses"]["predicted"], delta=1e-9)

    def test_a_coin_and_a_budget_are_predicted(self):
        found = simulated(f"--scheme sequential --choices 3 {TABLE} --admit-probability 0.5 --accesses 1.1 --looks 0.5,1")
        self.assertEqual([look["time"] for look in found["looks"]], [0.5, 1])
        for look in found["looks"]:
            self.assert_agrees(look["overflow_fraction"], 1e-9)
        self.assert_agrees(found["budget_end"], 1e-9)
        self.assertAlmostEqual(found["looks"][-1]["mean_accesses"]["mean"], 1.1, places=6)
        self.assertAlmostEqual(found["accesses"]["predicted"][0], 1 - found["budget_end"]["predicted"])

    def test_balls_in_bins(self):
        for scheme in ("single", "d-random --choices 2", "sequential --choices 2"):
            found = simulated(f"--scheme {scheme} --buckets 20k --elements 20k")
            end = found["looks"][-1]
            self.assertEqual(found["predicted_by"], "bin_occupancy")
            self.assertEqual(end["overflow_fraction"]["mean"], 0)
            self.assert_agrees(end["load_variance"], 1e-9)
            self.assertAlmostEqual(end["largest_load"]["mean"], end["largest_load"]["predicted"], delta=1.5)

    def test_the_prediction_is_what_oneprobe_model_says(self):
        table = "--load-factor 0.95 --bucket-capacity 4 --choices 3"
        model = answer(f"fluid --scheme d-left {table}")
        end = simulated(f"--scheme d-left --choices 3 {TABLE} --trials 1")["looks"][-1]
        for key in ("overflow_fraction", "mean_accesses"):
            self.assertAlmostEqual(end[key]["predicted"], model[key], places=12)
        self.assertEqual(end["occupancy"]["predicted"], model["occupancy"])


class Repeatable(unittest.TestCase):
    def test_threads_change_nothing(self):
        for call in (f"--scheme multilevel --choices 3 {TABLE}", f"--scheme d-random --choices 2 {TABLE} --churn oldest"):
            call += " --trials 4 --seed 11"
            self.assertEqual(findings(f"{call} --threads 1"), findings(f"{call} --threads 4"))

    def test_the_seed_does(self):
        call = f"--scheme multilevel --choices 3 {TABLE}"
        self.assertEqual(findings(call), findings(f"{call} --seed 1"))
        self.assertNotEqual(findings(call), findings(f"{call} --seed 2"))


class Form(unittest.TestCase):
    def test_levels_that_were_chosen_are_named(self):
        call = f"simulate --scheme multilevel --choices 3 {TABLE} --trials 2"
        self.assertIn("least overflow for a table that only fills", " ".join(run(call).stdout.split()))
        self.assertIn("least overflow under churn", " ".join(run(f"{call} --churn random --warm-up 1").stdout.split()))
        found = simulated(f"--scheme multilevel --choices 3 {TABLE} --trials 2")
        self.assertEqual(sum(found["level_sizes"]), found["buckets"])
        self.assertEqual(len(found["looks"][0]["levels"]), 3)

    def test_what_no_model_covers_is_reported_and_not_predicted(self):
        call = "--scheme multilevel --levels 12k,6k,2k --bucket-capacity 4 --load-factor 0.95 --churn level --level 1"
        found = simulated(f"{call} --trials 2 --batches 2")
        overflow = found["looks"][0]["overflow_fraction"]
        self.assertIsNone(overflow["predicted"])
        self.assertIsNone(overflow["deviation"])
        self.assertIn("not modelled", found["not_predicted"])
        self.assertGreater(overflow["mean"], 0)
        self.assertEqual(found["churn"]["level"], 1)

    def test_a_single_trial_has_no_standard_error(self):
        found = simulated(f"--scheme sequential --choices 3 {TABLE} --trials 1")
        self.assertEqual(found["looks"][0]["mean_accesses"]["standard_error"], 0)
        self.assertIsNone(found["looks"][0]["mean_accesses"]["deviation"])
        # The model knows its own spread.
        self.assertLess(abs(found["looks"][0]["overflow_fraction"]["deviation"]), 6)

    def test_the_table_fits_a_terminal(self):
        for call in (
            "--scheme d-random --choices 4 --buckets 1000 --bucket-capacity 64 --load-factor 0.9 --looks 0.1,0.5,1",
            f"--scheme multilevel --choices 3 {TABLE} --churn random --trials 1",
        ):
            text = run(f"simulate {call}").stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("nan", text)

    def test_a_bar_shows_on_a_terminal_only(self):
        # Long enough for the bar, which waits two seconds.
        call = [TOOL, *"simulate --scheme single --buckets 1M --elements 1M --trials 100k".split()]
        master, terminal = pty.openpty()
        for where in (terminal, subprocess.PIPE):
            process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=where)
            try:
                if where == terminal:
                    self.assertTrue(select.select([master], [], [], 30)[0])
                    self.assertIn(b"simulating", os.read(master, 1000))
                else:
                    self.assertFalse(select.select([process.stderr], [], [], 3)[0])
            finally:
                process.kill()
                process.wait()
                if process.stderr:
                    process.stderr.close()
        os.close(master)
        os.close(terminal)


class Looks(unittest.TestCase):
    def test_the_prediction_is_for_whole_elements(self):
        # 0.26 of ten elements are three.
        for capacity in ("", "--bucket-capacity 4"):
            found = simulated(f"--scheme single --buckets 10 {capacity} --elements 10 --looks 0.26")
            self.assertAlmostEqual(found["looks"][0]["mean_accesses"]["predicted"], 0.3, places=12)
            self.assertAlmostEqual(found["looks"][0]["mean_accesses"]["mean"], 0.3, places=12)

    def test_where_nobody_arrived_no_accesses_are_predicted(self):
        for capacity in ("", "--bucket-capacity 4"):
            found = simulated(f"--scheme single --buckets 10 {capacity} --elements 10 --looks 0")
            self.assertIsNone(found["accesses"]["predicted"])


class Notes(unittest.TestCase):
    SENTENCE = "a limit of many buckets and does not hold for"

    def printed(self, call):
        return " ".join(run(f"simulate {call}").stdout.split())

    def test_tables_too_small_for_the_limit_are_told(self):
        self.assertIn(f"{self.SENTENCE} a table of 999.", self.printed("--scheme single --buckets 999 --elements 999"))
        self.assertNotIn(self.SENTENCE, self.printed("--scheme single --buckets 1000 --elements 1000"))
        levels = "--bucket-capacity 4 --load-factor 0.9 --trials 2"
        self.assertIn(f"{self.SENTENCE} a level of 9.", self.printed(f"--scheme multilevel --levels 2k,9 {levels}"))
        self.assertNotIn(self.SENTENCE, self.printed(f"--scheme multilevel --levels 2k,10 {levels}"))

    def test_the_oldest_leave_after_a_longer_warm_up(self):
        table = "--scheme single --buckets 100 --bucket-capacity 4 --load-factor 0.9 --trials 1"
        self.assertEqual(simulated(f"{table} --churn random")["churn"]["warm_up_turnovers"], 5)
        self.assertEqual(simulated(f"{table} --churn oldest")["churn"]["warm_up_turnovers"], 50)
        self.assertEqual(simulated(f"{table} --churn oldest --warm-up 2")["churn"]["warm_up_turnovers"], 2)


class Refusals(unittest.TestCase):
    def test_they_name_the_option_and_its_true_range(self):
        few = "--buckets 10 --elements 10"
        levels = "--scheme multilevel --levels 6,4 --elements 10"
        for call, line in (
            (f"--scheme sequential {few} --choices 33", "--choices must be a whole number from 1 to 32; found '33'"),
            (f"--scheme sequential {few} --choices -1", "--choices must be a whole number from 1 to 32; found '-1'"),
            ("--scheme multilevel --buckets 100 --bucket-capacity 4 --elements 300 --choices 33",
             "--choices must be a whole number from 1 to 32; found '33'"),
            (f"--scheme single {few} --threads 0", "--threads must be a whole number from 1 to 1024; found '0'"),
            (f"--scheme single {few} --threads x", "--threads must be a whole number from 1 to 1024; found 'x'"),
            (f"--scheme single {few} --trials 0", "--trials must be from 1 to 100000000; found 0"),
            (f"--scheme single {few} --accesses 33", "--accesses must be from 0 to 32; found 33"),
            (f"--scheme single {few} --looks 1e300", "each of --looks must be from 0 to 1; found 1e+300"),
            (f"--scheme single {few} --bucket-capacity 4 --admit-probability 2",
             "--admit-probability must be from 0 to 1; found 2"),
            (f"--scheme single {few} --admit-probability 0.5", "--admit-probability needs a --bucket-capacity"),
            ("--scheme multilevel --buckets 1 --level-fractions 0.6,0.4 --elements 10",
             "--buckets must be at least one for each level; found 1"),
            ("--scheme multilevel --buckets 9 --level-fractions 1e300,0.4 --elements 10",
             "each of --level-fractions must be above 0 and at most 1; found 1e+300"),
            (f"{levels} --buckets 11", "--buckets must be 0 or the sum of --levels, 10; found 11"),
            (f"{levels} --churn random --warm-up 1e300", "--warm-up must be from 0 to 1000000; found 1e+300"),
            (f"{levels} --churn random --batches 0", "--batches must be from 1 to 1000000; found 0"),
            (f"{levels} --churn random --looks 1", "--looks does not apply with --churn"),
            (f"{levels} --churn random --accesses 1", "--accesses does not apply with --churn"),
        ):
            with self.subTest(call):
                outcome = run(f"simulate {call}")
                self.assertEqual((outcome.code, outcome.stdout), (2, ""))
                self.assertEqual(outcome.stderr, f"oneprobe simulate: {line}\n")

    def test_more_levels_than_the_load_can_fill_are_the_fault_of_choices(self):
        outcome = run("simulate --scheme multilevel --buckets 100k --bucket-capacity 32 --load-factor 0.5 --choices 32")
        self.assertEqual(outcome.code, 2)
        self.assertIn("--choices 32 is too large for this load", outcome.stderr)


class Streams(unittest.TestCase):
    """What cannot be written is no reason to abort."""

    def code(self, call, redirection):
        # The shell opens and closes the streams; negative codes, signals, become 128 and more there.
        return subprocess.run(["sh", "-c", f'"{TOOL}" {call} {redirection}'], stdout=subprocess.DEVNULL).returncode

    def test_a_complaint_nobody_can_read_keeps_its_exit_code(self):
        for redirection in ("2>&-", "2>/dev/full"):
            for call in ("simulate", "nonsense", "model cutoff", "simulate --scheme single --buckets 0 --elements 1"):
                with self.subTest(call, redirection=redirection):
                    self.assertEqual(self.code(call, redirection), 2)

    def test_help_and_version_that_cannot_be_written_are_a_failure(self):
        for redirection in (">&- 2>/dev/null", ">/dev/full 2>/dev/null", ">/dev/full 2>/dev/full"):
            for call in ("", "--help", "simulate --help", "--version"):
                with self.subTest(call, redirection=redirection):
                    self.assertEqual(self.code(call, redirection), 3)


if __name__ == "__main__":
    unittest.main()
