#!/usr/bin/env python3
"""The demo: what it measures is what it predicted, and its page stands on its own."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tool import SLOWNESS, TOOL, run

# The demo's data and seeds are fixed, and so is all that it finds but the times. Tolerances are standard deviations.
SIGMAS = 4


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = os.path.join(cls.folder.name, "page.html")
        cls.text = run("demo", "-o", cls.page)
        cls.html = Path(cls.page).read_text("utf-8")
        # The second time it is found on the path, and has a name alone.
        folder, name = os.path.split(os.path.abspath(TOOL))
        said = subprocess.run(
            [name, "demo", "--json", "-o", cls.page], env=dict(os.environ, PATH=folder), stdout=subprocess.PIPE, check=True
        )
        cls.json = json.loads(said.stdout)
        cls.html_from_path = Path(cls.page).read_text("utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_ends_within_a_minute_and_fits_a_terminal(self):
        self.assertEqual((self.text.code, self.text.stderr), (0, ""))
        self.assertLess(self.text.seconds, 60 * SLOWNESS)
        # The path of the tool and that of the page are as long as they are.
        text = self.text.stdout.replace(TOOL, "build/oneprobe").replace(self.page, "page.html")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for never in ("\x1b", "nan", "inf "):
            self.assertNotIn(never, self.text.stdout)
        self.assertIn(self.page, self.text.stdout)

    def test_what_to_try_next_is_called_as_the_demo_was(self):
        steps = ("plan filter --elements 100M --fpr 1e-5", "filter build KEYS -o FILE", "explore")
        for step in steps:
            self.assertIn(f"\n  {TOOL} {step}\n", self.text.stdout)
            self.assertIn(f"<code>{TOOL} {step}</code>", self.html)
            self.assertIn(f"<code>oneprobe {step}</code>", self.html_from_path)

    def test_the_filter_does_what_was_predicted(self):
        found = self.json["filter"]
        wrong = found["fpr"] * found["queries"]
        self.assertLess(abs(wrong - found["predicted_fpr"] * found["queries"]), SIGMAS * wrong**0.5)
        self.assertLessEqual(found["predicted_fpr"], found["wanted_fpr"])
        self.assertLess(found["fpr"], found["blocked_fpr"])
        self.assertLessEqual(found["blocked_memory_bytes"], found["memory_bytes"])
        for kind in ("miss", "hit"):
            self.assertAlmostEqual(found[f"{kind}_lines"] / found[f"predicted_{kind}_accesses"], 1, delta=0.01)

    def test_an_over_full_filter_does_what_was_predicted(self):
        looks = {look["factor"]: look for look in self.json["filter"]["over_full"]}
        self.assertLessEqual({1.01, 1.05, 1.2}, set(looks))
        for factor, look in looks.items():
            expected = look["predicted_fpr"] * look["queries"]
            # An error of many answers is known to less than the model claims.
            room = max(SIGMAS * expected**0.5, 0.02 * expected)
            self.assertLess(abs(look["fpr"] * look["queries"] - expected), room, factor)
            # Counted: a whole number of wrong answers.
            self.assertAlmostEqual(look["fpr"] * look["queries"], round(look["fpr"] * look["queries"]), places=3)

    def test_the_table_does_what_was_predicted(self):
        found = self.json["table"]
        for kind in ("hit", "miss"):
            self.assertAlmostEqual(found[f"{kind}_accesses"] / found[f"predicted_{kind}_accesses"], 1, delta=0.01)
        self.assertLessEqual(found["most_accesses"], found["bound"])
        # The mean of a day has less deviation than a moment, by how much is not predicted.
        self.assertLess(
            abs(found["overflow"] - found["predicted_overflow"]), SIGMAS * found["predicted_overflow_deviation"]
        )
        self.assertEqual(found["refused"], 0)
        self.assertEqual(found["rehashes"], 0)
        self.assertEqual(found["unordered_map_rehashes"], 0)  # it is reserved as its users would
        # Of every flow 24 bytes and a pointer, at the least; a pointer for every bucket, of which there are as many or more.
        self.assertGreater(found["unordered_map_memory_bytes"], (24 + 8 + 8) * found["elements"])
        self.assertLess(found["unordered_map_memory_bytes"], 2 * (24 + 8 + 8 + 8) * found["elements"])

    def test_the_page_needs_nothing_else(self):
        self.assertEqual(self.html.count("<svg"), 2)
        self.assertIsNone(re.search(r"(src|href)=", self.html))
        for never in ("nan", "NaN"):
            self.assertNotIn(f">{never}<", self.html)

    def test_a_page_that_cannot_be_written_is_told_before_the_work(self):
        outcome = run("demo", "-o", "/nowhere/page.html")
        self.assertEqual((outcome.code, outcome.stdout), (2, ""))
        self.assertRegex(outcome.stderr, r"^oneprobe demo: -o: cannot write /nowhere/page.html: .*\n$")
        self.assertLess(outcome.seconds, 1 * SLOWNESS)


if __name__ == "__main__":
    unittest.main()
