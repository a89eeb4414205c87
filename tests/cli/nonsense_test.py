#!/usr/bin/env python3
"""Calls that make no sense: exit code 2, one line on stderr, nothing on stdout, at once."""

import os
import unittest

from tool import MODELS, SLOWNESS, run

ALL_GARBAGE = "ONEPROBE_ALL_GARBAGE" in os.environ

TABLE = "--load-factor 1 --bucket-capacity 4"
LEVELS = "--elements 10k --levels 40k,10k,5k,2.5k,2.5k"
SHAPE = "--kind balanced --bits-per-element 20 --threshold 252 --bits-set 13"
FINGERPRINT = "--kind fingerprint --bits-per-element 20 --bucket-capacity 27 --remainder-bits 16"

# One sensible call of each model. Every option in it is replaced by garbage below.
SENSIBLE = (
    f"overflow-bound {TABLE} --accesses 1.5",
    f"overflow-bound {TABLE} --overflow 0.3",
    f"cutoff --scheme multilevel {TABLE} --choices 4",
    f"cutoff --scheme sequential {TABLE} --choices 4",
    f"cutoff --scheme single {TABLE} --choices 4",
    f"fluid --scheme multilevel {TABLE} --choices 3 --level-fractions 0.5,0.3,0.2 --admit-probability 0.5 "
    "--accesses 1.2 --time 0.5 --method ode",
    f"fluid --scheme sequential {TABLE} --choices 4 --admit-probability 0.5 --accesses 1.2 --time 0.5",
    f"fluid --scheme d-left {TABLE} --choices 4",
    f"fluid --scheme single {TABLE} --choices 4",
    f"least-overflow {TABLE} --choices 4",
    "least-overflow --overflow 1e-3 --bucket-capacity 4 --choices 4 --churn",
    f"finite-size --elements 1M {TABLE} --choices 3 --scheme multilevel --level-fractions 0.5,0.3,0.2 "
    "--probability 1e-9",
    f"churn {TABLE} --scheme multilevel --choices 3 --level-fractions 0.5,0.3,0.2",
    f"churn {TABLE} --scheme d-random --choices 3",
    "balance-bound --elements-per-bucket 8 --accesses 1.1 --overflow 0.01",
    "balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 1.2 --overflow 0.01",
    "balance --scheme sequential --elements-per-bucket 8 --choices 3 --accesses 1.2 --overflow 0.05",
    "filter --kind standard --bits-per-element 10 --bits-set 7 --elements 1000",
    "filter --kind standard --bits-per-element 10 --block-bits 512 --choices 3 --accesses 1.2",
    "filter --kind partitioned --bits-per-element 10 --bits-set 7 --elements 1000",
    "filter --kind blocked --bits-per-element 10 --bits-set 7 --block-bits 512 --layout distinct --elements 1000",
    "filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 --rule popcount",
    "filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 --rule counter "
    "--accesses 1.2",
    "filter --kind balanced --bits-per-element 20 --bits-set 13 --block-bits 512 --choices 3 --accesses 1.2 "
    "--as-printed",
    f"filter {SHAPE} --tracking-bits 12 --choices 4 --block-bits 512 --scheme multilevel --rule popcount",
    "filter --kind balanced --rule coin --threshold 20 --bits-set 13 --arrivals 20 --admit-probability 0.5",
    f"filter {FINGERPRINT} --note-bits 1 --choices 3 --block-bits 512 --order prefix",
    "filter --kind fingerprint --arrivals 26 --bucket-capacity 27 --remainder-bits 16",
    f"crisis {LEVELS}",
    f"summary --kind interpolation {LEVELS} --string-bits 55",
    f"summary --kind single-filter {LEVELS} --cells 120k --hashes 15",
    f"summary --kind multi-filter {LEVELS} --filter-bits 106k,87.5k,5.5k,500,100 --hashes 7,49,49,49,49",
    "summary --kind song --elements 10k --buckets 131072 --choices 10 --counter-bits 3",
    f"reconstruction {LEVELS} --deleted-fraction 0.1 --deletions uniform",
    "balls --balls 23 --bins 365 --choices 2",
)

# The same for the simulator.
SIMULATED = (
    "--scheme multilevel --levels 60,40 --choices 2 --bucket-capacity 4 --admit-probability 0.5 --load-factor 0.9 "
    "--accesses 1.2 --looks 0.5,1 --trials 2 --seed 7 --threads 2",
    "--scheme multilevel --buckets 100 --level-fractions 0.6,0.4 --bucket-capacity 4 --elements 300 --trials 2 "
    "--churn level --level 2 --warm-up 1 --batches 2 --batch-turnovers 1",
    "--scheme single --buckets 100 --choices 4 --elements 100",
)

SIMULATED_OUT_OF_RANGE = (
    "--scheme single --buckets 0 --elements 10",
    "--scheme single --buckets 10 --elements 0",
    "--scheme single --buckets 1e13 --elements 10",
    "--scheme single --buckets 10 --elements 1e13",
    "--scheme single --buckets 1e12 --elements 10",
    "--scheme single --buckets 10 --bucket-capacity 4 --elements 10 --churn random --threads 1 --trials 1 "
    "--batch-turnovers 0",
    "--scheme single --buckets 1 --bucket-capacity 4 --load-factor 1e-9",
    "--scheme single --buckets 10 --bucket-capacity 0 --elements 10",
    "--scheme single --buckets 10 --bucket-capacity 4 --load-factor -1",
    "--scheme single --buckets 10 --bucket-capacity 4294967295 --elements 10",
    "--scheme single --buckets 10 --choices 0 --elements 10",
    "--scheme sequential --buckets 10 --choices 0 --elements 10",
    "--scheme sequential --buckets 10 --choices 33 --elements 10",
    "--scheme d-left --buckets 3 --choices 4 --elements 10",
    "--scheme d-left --buckets 8 --choices 4 --bucket-capacity 2 --elements 10 --admit-probability 0.5",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --admit-probability 0.5",
    "--scheme sequential --buckets 8 --choices 4 --bucket-capacity 2 --elements 10 --admit-probability 1.5",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --accesses 33",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --looks 0.5,0.4",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --looks 1.5",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --trials 0",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --trials 4e9",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --threads 0",
    "--scheme sequential --buckets 8 --choices 4 --elements 10 --threads 1025",
    "--scheme multilevel --levels 6,0 --elements 10",
    "--scheme multilevel --levels 6,4 --buckets 11 --elements 10",
    "--scheme multilevel --levels 6,4 --choices 3 --elements 10",
    "--scheme multilevel --levels " + ",".join(["10"] * 33) + " --elements 10",
    "--scheme multilevel --buckets 10 --level-fractions 0.6,0.3 --elements 10",
    "--scheme multilevel --buckets 10 --level-fractions 0.6,0.4 --choices 3 --elements 10",
    "--scheme multilevel --buckets 1 --level-fractions 0.6,0.4 --elements 10",
    "--scheme multilevel --buckets 10 --choices 2 --elements 10",
    "--scheme multilevel --levels 6,4 --elements 10 --churn level --level 0",
    "--scheme multilevel --levels 6,4 --elements 10 --churn level --level 3",
    "--scheme multilevel --levels 6,4 --elements 10 --churn random --warm-up 1e7",
    "--scheme multilevel --levels 6,4 --elements 10 --churn random --batches 0",
)

CALLS = tuple(f"model {call}" for call in SENSIBLE) + tuple(f"simulate {call}" for call in SIMULATED)

# What no option of any model takes.
GARBAGE = (
    "", " ", "x", "nan", "NaN", "inf", "-inf", "-1", "-0.5", "1e999", "-1e300", "1e300", "1.5.2", "0x10", "1,",
    ",1", "1,,2", "--json", "-", "--", "1;2", "5 5", "%s%n", "\n", "\x1b[31m", "é", "9" * 10_000, "1," * 5_000 + "1",
)

# Values that are refused although they can be read.
OUT_OF_RANGE = (
    # No load, too much load, no slots, no choices.
    f"overflow-bound --load-factor 0 --bucket-capacity 4 --accesses 1",
    f"overflow-bound --load-factor 1e7 --bucket-capacity 4 --accesses 1",
    f"overflow-bound --load-factor 1 --bucket-capacity 0 --accesses 1",
    f"overflow-bound --load-factor 1 --bucket-capacity 65537 --accesses 1",
    f"overflow-bound --load-factor 1 --bucket-capacity 4.5 --accesses 1",
    f"overflow-bound {TABLE} --overflow 1.5",
    f"overflow-bound --load-factor 2 --bucket-capacity 4 --overflow 0.1",
    f"cutoff --scheme multilevel {TABLE} --choices 0",
    f"cutoff --scheme multilevel {TABLE} --choices 65",
    f"cutoff --scheme single {TABLE} --choices 0",
    f"cutoff --scheme d-left {TABLE} --choices 4",
    f"fluid --scheme sequential {TABLE} --choices 0",
    f"fluid --scheme multilevel {TABLE} --choices 0",
    f"fluid --scheme sequential {TABLE} --choices 4 --time 1.5",
    f"fluid --scheme sequential {TABLE} --choices 4 --admit-probability 1.5",
    f"fluid --scheme d-left {TABLE} --choices 4 --admit-probability 0.5",
    f"fluid --scheme d-random {TABLE} --choices 4 --admit-probability 0.5",
    f"fluid --scheme d-left --load-factor 1 --bucket-capacity 2000 --choices 4",
    # Levels that do not sum to one, are not positive, are not there, or are not as many as the choices.
    f"fluid --scheme multilevel {TABLE} --level-fractions 0.5,0.3",
    f"fluid --scheme multilevel {TABLE} --level-fractions 0.5,0.6,-0.1",
    f"fluid --scheme multilevel {TABLE} --level-fractions 0,1",
    f"fluid --scheme multilevel {TABLE} --choices 3 --level-fractions 0.5,0.5",
    f"fluid --scheme multilevel {TABLE} --level-fractions " + ",".join(["0.01"] * 100),
    f"churn {TABLE} --level-fractions 0.5,0.3",
    f"churn {TABLE} --choices 3 --level-fractions 0.5,0.5",
    f"finite-size --elements 0 {TABLE} --choices 4",
    f"finite-size --elements 1M {TABLE} --choices 4 --probability 0",
    f"finite-size --elements 1M {TABLE} --choices 4 --scheme sequential --level-fractions 0.5,0.5",
    f"least-overflow {TABLE} --choices 0",
    f"least-overflow --overflow 2 --bucket-capacity 4 --choices 4",
    f"least-overflow --overflow 0 --bucket-capacity 4 --choices 4",
    "balance-bound --elements-per-bucket 0 --accesses 1.1",
    "balance-bound --elements-per-bucket 8 --accesses 0.5",
    "balance-bound --elements-per-bucket 8 --accesses 1.1 --overflow 1.5",
    "balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 0.5",
    "balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 4",
    "balance --scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 1.2 --overflow 0.001",
    "balance --scheme multilevel --elements-per-bucket 8 --choices 0 --accesses 1.2",
    "balance --scheme single --elements-per-bucket 8 --choices 1 --accesses 1.2",
    # Filters.
    "filter --kind standard --bits-per-element 0",
    "filter --kind standard --bits-per-element 10 --bits-set 0",
    "filter --kind standard --bits-per-element 10 --choices 0",
    "filter --kind standard --bits-per-element 10 --accesses 0",
    "filter --kind standard --bits-per-element 10 --block-bits 0",
    "filter --kind standard --bits-per-element 1e9",
    "filter --kind standard --bits-per-element 10 --elements 1e13",
    "filter --kind partitioned --bits-per-element 10 --bits-set 0",
    "filter --kind blocked --bits-per-element 10 --block-bits 0",
    "filter --kind blocked --bits-per-element 10 --block-bits 100000",
    "filter --kind blocked --bits-per-element 10 --bits-set 0",
    "filter --kind blocked --bits-per-element 10 --as-printed --layout lanes",
    "filter --kind balanced --bits-per-element 20 --accesses 0.5",
    "filter --kind balanced --bits-per-element 20 --choices 0",
    "filter --kind balanced --bits-per-element 20 --bits-set 0",
    "filter --kind balanced --bits-per-element 20 --block-bits 0",
    "filter --kind balanced --bits-per-element 20 --rule counter --accesses 9",
    "filter --kind balanced --bits-per-element 20 --as-printed --rule flag",
    "filter --kind balanced --bits-per-element 20 --threshold 252",
    "filter --kind balanced --bits-per-element 20 --threshold 0 --bits-set 13",
    "filter --kind balanced --bits-per-element 20 --tracking-bits 4",
    "filter --kind fingerprint --bits-per-element 20 --as-printed",
    "filter --kind fingerprint --bits-per-element 20 --accesses 0.5",
    "filter --kind fingerprint --bits-per-element 20 --bucket-capacity 0 --remainder-bits 16",
    "filter --kind fingerprint --bits-per-element 20 --bucket-capacity 270 --remainder-bits 16",
    "filter --kind fingerprint --bits-per-element 20 --bucket-capacity 27",
    "filter --kind fingerprint --bits-per-element 0.001",
    "filter --kind standard --bits-per-element 10 --threshold 5",
    "filter --kind standard --bits-per-element 10 --rule counter",
    "filter --kind blocked --bits-per-element 10 --order prefix",
    "filter --kind bloom --bits-per-element 10",
    # Tables of single slots.
    "crisis --elements 0 --levels 10",
    "crisis --elements 10 --levels 0",
    "crisis --elements 10 --levels 10,0,5",
    "crisis --elements 10 --levels " + ",".join(["10"] * 100),
    "summary --kind interpolation --elements 0 --levels 10 --string-bits 20",
    f"summary --kind interpolation {LEVELS} --string-bits 0",
    f"summary --kind interpolation {LEVELS} --string-bits 513",
    f"summary --kind interpolation {LEVELS}",
    f"summary --kind interpolation {LEVELS} --string-bits 55 --cells 100",
    f"summary --kind single-filter {LEVELS} --cells 0 --hashes 15",
    f"summary --kind single-filter {LEVELS} --cells 120k --hashes 0",
    f"summary --kind single-filter {LEVELS} --cells 120k --hashes 15,3",
    f"summary --kind multi-filter {LEVELS} --filter-bits 1k,1k --hashes 7,49,49,49,49",
    f"summary --kind multi-filter {LEVELS} --filter-bits 1k,1k,1k,1k,1k --hashes 7,49",
    f"summary --kind multi-filter {LEVELS} --filter-bits 1k,1k,1k,1k,0 --hashes 7,49,49,49,49",
    "summary --kind song --elements 10k --buckets 0 --choices 10",
    "summary --kind song --elements 10k --buckets 131072 --choices 0",
    f"reconstruction {LEVELS} --deleted-fraction 0.1 --deletions everywhere",
    f"reconstruction {LEVELS} --deleted-fraction 1e9 --deletions uniform",
    "reconstruction --elements 0 --levels 10 --deleted-fraction 0.1 --deletions uniform",
    "balls --balls 10 --bins 0",
    "balls --balls 10 --bins 10 --choices 0",
    # More than 10^13.
    "crisis --elements 1e14 --levels 10",
    "crisis --elements 10 --levels 1e14",
    "crisis --elements 10000000000001 --levels 10",
    "summary --kind interpolation --elements 11T --levels 10 --string-bits 20",
    "reconstruction --elements 1e14 --levels 10 --deleted-fraction 0.1 --deletions uniform",
    "balls --balls 1e14 --bins 10",
    "balls --balls 10 --bins 99999999999999999999",
    f"finite-size --elements 1e14 {TABLE} --choices 4",
)

# Missing, repeated, contradicting and unknown options, and calls that are not calls at all.
USAGE = (
    "model",
    "model nonsense",
    "model nonsense --load-factor 1",
    "nonsense",
    "demo nonsense",
    "demo --nonsense",
    "demo --json=1",
    "--nonsense",
    "-x",
    "model --json",
    "model cutoff cutoff",
    "model cutoff balance",
    "model cutoff demo",
    f"model overflow-bound {TABLE}",
    f"model overflow-bound {TABLE} --accesses 1 --overflow 0.1",
    f"model overflow-bound {TABLE} --accesses 1 --accesses 2",
    f"model overflow-bound {TABLE} --accesses",
    f"model overflow-bound {TABLE} --accesses=",
    f"model overflow-bound {TABLE} --accesses 1 --nonsense",
    f"model overflow-bound {TABLE} --accesses 1 nonsense",
    f"model overflow-bound {TABLE} --accesses 1 -- 3",
    f"model overflow-bound {TABLE} --accesses 1 --json=no",
    f"model least-overflow {TABLE} --overflow 0.1 --choices 4",
    "model least-overflow --bucket-capacity 4 --choices 4",
    f"model fluid --scheme sequential {TABLE} --choices 4 --level-fractions 0.5,0.5",
    f"model fluid --scheme sequential {TABLE}",
    f"model fluid --scheme multilevel {TABLE}",
    "model filter --bits-per-element 10",
    "model filter --kind standard",
    "simulate",
    "simulate nonsense",
    "simulate --scheme single",
    "simulate --scheme round-robin --buckets 10 --elements 10",
    "simulate --buckets 10 --elements 10",
    "simulate --scheme single --buckets 10",
    "simulate --scheme single --elements 10",
    "simulate --scheme single --buckets 10 --load-factor 1",
    "simulate --scheme single --buckets 10 --bucket-capacity 4 --elements 10 --load-factor 1",
    "simulate --scheme single --levels 6,4 --elements 10",
    "simulate --scheme single --buckets 10 --level-fractions 0.6,0.4 --elements 10",
    "simulate --scheme sequential --buckets 10 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --level-fractions 0.6,0.4 --elements 10",
    "simulate --scheme multilevel --buckets 10 --bucket-capacity 4 --elements 10",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn sideways",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn level",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --level 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --looks 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --churn random --accesses 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --warm-up 1",
    "simulate --scheme multilevel --levels 6,4 --elements 10 --batches 1",
    "simulate --scheme single --buckets 10 --elements 10 --seed 1 --seed 2",
) + tuple(f"model {name}" for name in MODELS)


class Nonsense(unittest.TestCase):
    def assert_refused(self, *arguments, needle=None):
        outcome = run(*arguments, timeout=20)
        shown = [argument[:60] for argument in arguments]
        self.assertEqual(outcome.code, 2, f"{shown}: {outcome.stdout[:200]}{outcome.stderr[:200]}")
        self.assertEqual(outcome.stdout, "", shown)
        self.assertRegex(outcome.stderr, r"\Aoneprobe[a-z -]*: [ -~]+\n\Z", shown)
        self.assertLess(len(outcome.stderr), 400, shown)
        self.assertLess(outcome.seconds, 2 * SLOWNESS, shown)
        if needle is not None:
            self.assertIn(needle, outcome.stderr, shown)

    def test_the_sensible_calls_are_sensible(self):
        for call in CALLS:
            with self.subTest(call):
                outcome = run(f"{call} --json")
                self.assertEqual((outcome.code, outcome.stderr), (0, ""))

    def test_garbage_in_the_place_of_any_value(self):
        for call in CALLS:
            arguments = call.split()
            for position, argument in enumerate(arguments[:-1]):
                if not argument.startswith("--") or argument in ("--churn", "--as-printed"):
                    continue
                # A part of it, another one at each option, unless all of it is asked for: that is thousands of calls.
                for garbage in GARBAGE if ALL_GARBAGE else GARBAGE[position % 5 :: 5]:
                    with self.subTest(call, option=argument, garbage=garbage[:20]):
                        self.assert_refused(*arguments[: position + 1], garbage, *arguments[position + 2 :])

    def test_values_out_of_range(self):
        calls = [f"model {call}" for call in OUT_OF_RANGE] + [f"simulate {call}" for call in SIMULATED_OUT_OF_RANGE]
        for call in calls:
            with self.subTest(call[:120]):
                self.assert_refused(*call.split())

    def test_wrong_usage(self):
        for call in USAGE:
            with self.subTest(call):
                self.assert_refused(*call.split())

    def test_the_line_names_what_is_wrong(self):
        for call, needle in (
            ("model nonsense", "overflow-bound, cutoff, fluid"),
            ("nonsense", "demo, explore, filter, model"),
            (f"model cutoff --scheme multilevel --load-factor -1 --bucket-capacity 4 --choices 4",
             "oneprobe model cutoff: load factor must be from 1e-09 to 1000; found -1"),
            (f"model cutoff --scheme round-robin {TABLE} --choices 4", "single, sequential, multilevel"),
            (f"model cutoff --scheme multilevel {TABLE}", "--choices is missing"),
            ("model balls --balls 1e14 --bins 10", "--balls must be a whole number from 0 to 10^13; found '1e14'"),
            ("model crisis --elements 10 --levels 5,,5", "item 2 of --levels"),
            (f"model overflow-bound {TABLE} --accesses 1 --overflow 0.1", "--accesses or --overflow, not both"),
            (f"model summary --kind multi-filter {LEVELS} --filter-bits 1k,1k --hashes 7,49,49,49,49",
             "--filter-bits must have as many items as --levels, 5; found 2"),
            ("model filter --kind standard --bits-per-element 10 --threshold 5",
             "--threshold does not apply to this call with --kind standard"),
            ("model filter --kind fingerprint --bits-per-element 10 --as-printed", "not in the papers"),
            ("simulate --scheme single --buckets 1e12 --elements 10", "not enough memory"),
            ("simulate --scheme single --buckets 10 --elements 10 --looks 0.5,0.4", "looks must be ascending"),
            ("simulate --scheme single --buckets 10 --load-factor 1", "--load-factor needs --bucket-capacity"),
            ("simulate --scheme multilevel --levels 6,4 --elements 10 --churn level --level 3",
             "--level must be from 1 to 2; found 3"),
            ("simulate --scheme single --buckets 10 --elements 10 --level 2",
             "--level does not apply to this call with --scheme single"),
        ):
            with self.subTest(call):
                self.assert_refused(*call.split(), needle=needle)


if __name__ == "__main__":
    unittest.main()
