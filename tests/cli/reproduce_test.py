#!/usr/bin/env python3
"""The papers, reproduced quickly: everything agrees or is an erratum, and every file is there."""

import csv
import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from pictures import Picture, series_of
from tool import SLOWNESS, TOOL, run

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
ROW_COLUMNS = "experiment source what printed printed_value model simulated standard_error verdict remark".split()
CHART_COLUMNS = "series kind x y standard_error".split()
DOCUMENTS = "OFH ECB BBF SSH LEC".split()
# The cheapest experiment with a simulation, for what needs no more than one.
CHEAP = "OFH-Fig5a"


def experiments():
    return json.loads(run("reproduce --list --json").stdout)["experiments"]


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class EverythingQuickly(unittest.TestCase):
    """One run of everything; the tests look at what it left."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name) / "made" / "for it"
        cls.outcome = run("reproduce", "--quick", "--check", "-o", str(cls.out), timeout=550)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_nothing_disagrees(self):
        self.assertEqual((self.outcome.code, self.outcome.stderr), (0, ""), self.outcome.stdout[-3000:])
        self.assertNotIn("DISAGREE", self.outcome.stdout)

    def test_it_is_quick(self):
        # A minute on two cores; twice that at most.
        self.assertLess(self.outcome.seconds, 240 * SLOWNESS)

    def test_the_tables_fit_a_wide_terminal_and_name_every_experiment(self):
        self.assertLessEqual(max(map(len, self.outcome.stdout.splitlines())), 100)
        self.assertNotIn("\x1b", self.outcome.stdout)
        for each in experiments():
            self.assertIn(f"{each['id']}  {each['title']}\n", self.outcome.stdout)
        self.assertRegex(self.outcome.stdout, r"[\d,]+ numbers: .* none disagrees\.")

    def test_every_number_is_a_line_of_rows_csv(self):
        rows = rows_of(self.out / "rows.csv")
        self.assertEqual(list(rows[0]), ROW_COLUMNS)
        self.assertEqual({row["experiment"] for row in rows}, {each["id"] for each in experiments()})
        errata = set(re.findall(r"^\| (\d\.\d+)", (PROJECT / "docs/papers.md").read_text(encoding="utf-8"), re.M))
        for row in rows:
            with self.subTest(row["experiment"], what=row["what"]):
                self.assertTrue(row["source"] and row["what"])
                for column in ("printed_value", "model", "simulated", "standard_error"):
                    if row[column]:
                        float(row[column])
                self.assertTrue(row["model"] or row["simulated"])
                if row["verdict"] != "agrees":
                    number = re.fullmatch(r"erratum (\d\.\d+)", row["verdict"])
                    self.assertTrue(number, row["verdict"])
                    self.assertIn(number[1], errata)

    def test_every_chart_is_a_drawing_with_its_numbers_beside_it(self):
        drawings = sorted(self.out.glob("*.svg"))
        self.assertGreater(len(drawings), 20)
        for drawing in drawings:
            with self.subTest(drawing.name):
                root = xml.parse(drawing).getroot()
                self.assertEqual(root.tag, SVG + "svg")
                self.assertTrue(root.find(SVG + "title").text)
                text = drawing.read_text(encoding="utf-8")
                self.assertNotRegex(text, r"\b(nan|inf)\b")
                self.assert_shows(drawing, drawing.with_suffix(".csv"))
                points = rows_of(drawing.with_suffix(".csv"))
                self.assertEqual(list(points[0]), CHART_COLUMNS)
                for point in points:
                    self.assertIn(point["kind"], ("line", "marks", "steps", "bars"))

    def assert_shows(self, drawing, numbers):
        """Every number is where the axes say, within a pixel, and every text can be read."""
        picture = Picture(drawing)
        self.assertEqual(picture.faults(series_of(numbers)), [])
        self.assertEqual(list(picture.text_faults()), [])
        return picture

    def test_a_drawing_that_is_wrong_is_noticed(self):
        def drawn(name, old, new, count=1):
            text = (self.out / f"{name}.svg").read_text(encoding="utf-8")
            self.assertIsNotNone(re.search(old, text), old)
            wrong = self.out / "wrong.xml"
            wrong.write_text(re.sub(old, new, text, count=count), encoding="utf-8")
            return Picture(wrong)

        def moved(found):
            return f"{found[1]}{float(found[2]) + 3:.1f}"

        for name, old, new in (
            ("bbf-fig4-honest", r'(<path class="line" clip-path[^>]*L[\d.]+ )([\d.]+)', moved),  # a corner of a curve
            ("bbf-fig4-honest", r'(<path class="line" clip-path[^>]*?)L[\d.]+ [\d.]+', r"\1"),  # one is missing
            ("ecb-fig6", r'(<circle class="mark" cx="[\d.]+" cy=")([\d.]+)', moved),
            ("ecb-fig6", r'<circle class="mark"[^>]*>', ""),
            ("ofh-fig5a", r'(<path class="error" [^>]*V)([\d.]+)', moved),
            ("ofh-fig5a", r'(<text class="soft" x="[\d.]+" y="[\d.]+" text-anchor="end">)0\.', r"\g<1>0.0"),  # a label
        ):
            with self.subTest(name, old=old):
                self.assertNotEqual(drawn(name, old, new).faults(series_of(self.out / f"{name}.csv")), [])
        self.assertNotEqual(list(drawn("ecb-fig6", r'(<text class="ink" x=")[\d.]+', r"\g<1>700").text_faults()), [])

    def test_the_drawings_in_the_documents_are_what_it_draws(self):
        # The others there are of concepts and of benchmarks.
        figures = sorted((PROJECT / "docs/figures").glob("*-fig*.svg"))
        self.assertNotEqual(figures, [])
        for shown in figures:
            with self.subTest(shown.name):
                then = self.assert_shows(shown, self.out / f"{shown.stem}.csv")
                now = Picture(self.out / shown.name)
                self.assertEqual(then.title, now.title)
                self.assertEqual(sorted(text.says for text in then.texts), sorted(text.says for text in now.texts))

    def test_the_report_is_one_page_that_needs_nothing_else(self):
        page = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertNotIn("http", page)
        for reference in re.findall(r"""(?:href|src|url\(|@import)[= ]*["']?([^"')>]*)""", page):
            self.assertTrue(reference.startswith("#"), reference)
        self.assertNotIn("<script", page)
        ids = re.findall(r'\bid="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)), "an id is used twice")
        for target in re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page):
            self.assertIn(target, ids)
        for each in experiments():
            self.assertIn(f">{each['id']}</span>", page)
        self.assertEqual(page.count("<svg"), len(list(self.out.glob("*.svg"))))
        # Every element is closed: the page is XML but for its void elements.
        body = re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", page)
        xml.fromstring(body)


class Selection(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def test_the_list_has_every_document_and_each_id_once(self):
        ids = [each["id"] for each in experiments()]
        self.assertEqual(len(ids), len({each.lower() for each in ids}))
        self.assertEqual(list(dict.fromkeys(each.split("-")[0] for each in ids)), DOCUMENTS)
        text = run("reproduce --list ofh").stdout
        self.assertIn(CHEAP, text)
        self.assertNotIn("LEC", text)

    def test_the_help_has_an_example_that_works(self):
        text = run("reproduce --help").stdout
        self.assertIn("ID ...", text)
        example = text[text.index("Example:\n") :].splitlines()[1].split()
        self.assertEqual(example[:2], ["oneprobe", "reproduce"])
        outcome = run(*example[1:], "-o", str(self.out))
        self.assertEqual((outcome.code, outcome.stderr), (0, ""))

    def test_one_experiment_in_any_case(self):
        outcome = run("reproduce", CHEAP.lower(), "--quick", "--json", "-o", str(self.out))
        self.assertEqual((outcome.code, outcome.stderr), (0, ""))
        answer = json.loads(outcome.stdout)
        self.assertEqual([each["id"] for each in answer["experiments"]], [CHEAP])
        self.assertEqual(answer["numbers"], answer["agree"] + answer["errata"] + answer["disagree"])
        self.assertEqual(answer["numbers"], len(answer["experiments"][0]["rows"]))
        self.assertEqual(answer["numbers"], len(rows_of(self.out / "rows.csv")))
        self.assertTrue(pathlib.Path(answer["report"]).is_file())

    def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(self):
        texts = []
        for options in ("--threads 1", "--threads 3", "--threads 1 --seed 2"):
            run("reproduce", CHEAP, "--quick", "-o", str(self.out), *options.split())
            texts.append((self.out / "rows.csv").read_text(encoding="utf-8"))
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_without_a_terminal_there_is_no_progress_bar_and_on_one_it_is_wiped_out(self):
        leader, follower = pty.openpty()
        call = [TOOL, "reproduce", CHEAP, "--quick", "-o", str(self.out)]
        with subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=follower) as process:
            os.close(follower)
            shown = b""
            while True:
                try:
                    shown += os.read(leader, 65536)
                except OSError:  # Linux's way to say that the other side is closed
                    break
        os.close(leader)
        self.assertEqual(process.returncode, 0)
        # Work of less than two seconds shows nothing at all.
        self.assertTrue(shown == b"" or shown.endswith(b"\x1b[K"), shown)

    def assert_refused(self, arguments, *needles):
        outcome = run(*arguments, timeout=300)
        self.assertEqual((outcome.code, outcome.stdout), (2, ""), arguments)
        self.assertRegex(outcome.stderr, r"\Aoneprobe reproduce: [ -~]+\n\Z")
        for needle in needles:
            self.assertIn(needle, outcome.stderr)

    def test_what_does_not_exist_is_refused_in_one_line(self):
        self.assert_refused(["reproduce", "nonsense", "-o", str(self.out)], "'nonsense'", "OFH, ECB, BBF, SSH, LEC")
        self.assert_refused(["reproduce", "OFH-nonsense", "-o", str(self.out)], CHEAP)
        self.assert_refused(["reproduce", CHEAP, ""], "''")

    def test_options_that_cannot_be_are_refused_before_anything_is_computed(self):
        for call, needle in (
            ("--quick --full", "either --quick or --full"),
            ("--threads 0", "--threads must be from 1 to"),
            ("--threads 100000", "--threads must be from 1 to"),
            ("--seed x", "--seed"),
            ("--nonsense", "unknown option"),
            ("--list --quick", "does not apply"),
        ):
            with self.subTest(call):
                self.assert_refused(["reproduce", *call.split(), "-o", str(self.out)], needle)

    def test_a_folder_that_cannot_be_is_refused_in_one_line(self):
        (self.out / "file").write_text("")
        for folder in (self.out / "file", self.out / "file" / "below", "/proc/none", ""):
            with self.subTest(folder):
                self.assert_refused(["reproduce", CHEAP, "--quick", "-o", str(folder)], "-o")


if __name__ == "__main__":
    unittest.main()
