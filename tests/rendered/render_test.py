"""What documents show is found again when something else is printed, and is written and compared by one list.

usage: render_test.py PROJECT
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tools"))
import render  # noqa: E402
from excerpts import DOTS, part, shares, updated  # noqa: E402
from render_blocks import runs_of  # noqa: E402
from render_sources import agree  # noqa: E402

PRINTED = ["1. A filter", "", "  error   1 in 10,000", "  memory  2.0 MiB", "", "2. A table", "", "  error   none", "  memory  11 MiB", "", "bye"]


class Excerpts(unittest.TestCase):
    def test_what_stands_there_stays(self):
        for shown in (PRINTED, PRINTED[2:4], PRINTED[5:9], [PRINTED[0], DOTS, PRINTED[8]], [DOTS]):
            self.assertEqual(part(shown, PRINTED), shown)
        self.assertEqual(updated([PRINTED[0], DOTS, PRINTED[-1]], PRINTED), [PRINTED[0], DOTS, PRINTED[-1]])

    def test_a_part_of_which_words_and_numbers_have_changed_is_found(self):
        for first in (0, 2, 5):
            self.assertEqual(part([PRINTED[first].replace("A ", "The "), "  other", *PRINTED[first + 2:9]], PRINTED), PRINTED[first:9])
        self.assertEqual(part(["2. A table", "", "  error   1 in 9"], PRINTED), PRINTED[5:8])
        self.assertEqual(part(["2. The tables"], PRINTED), PRINTED[5:6])

    def test_lines_that_came_or_went_are_taken_over(self):
        self.assertEqual(part([PRINTED[0], PRINTED[3]], PRINTED), PRINTED[:4])
        self.assertEqual(part([PRINTED[0], "  time    8 ns", *PRINTED[1:4]], PRINTED), PRINTED[:4])

    def test_between_dots_each_part_is_found_behind_the_one_before(self):
        shown = [DOTS, "  error   1 in 9", DOTS, "  error   12", DOTS]
        self.assertEqual(updated(shown, PRINTED), [DOTS, PRINTED[2], DOTS, PRINTED[7], DOTS])
        self.assertEqual(updated(["1. The filter", DOTS, "good bye"], PRINTED), ["1. A filter", DOTS, "bye"])

    def test_what_has_no_dots_is_all_that_is_printed(self):
        self.assertEqual(updated(["1. A filter"], PRINTED), PRINTED)

    def test_without_dots_at_an_end_it_begins_or_ends_as_what_is_printed(self):
        self.assertEqual(updated(["2. A table", DOTS, "bye"], PRINTED), [*PRINTED[:6], DOTS, "bye"])
        self.assertEqual(updated(["1. A filter", DOTS, "  memory  11 MiB"], PRINTED), ["1. A filter", DOTS, *PRINTED[8:]])

    def test_a_time_alone_is_no_change(self):
        shown = ["8 placements in 0.3 s, 2.1 million per second", "one"]
        printed = ["8 placements in 0.9 s, 1.1 million per second", "two"]
        self.assertEqual(updated(shown, [printed[0], "one"]), shown)
        self.assertEqual(updated(shown, printed), [shown[0], "two"])
        self.assertEqual(updated(shown, [printed[0].replace("8", "9"), "one"])[0], "9 placements in 0.9 s, 1.1 million per second")

    def test_blocks_share_all_that_is_printed(self):
        second, first = ["2. A table", "", "  error   1"], ["1. The filter", "", "  error   1 in 9"]
        self.assertEqual(shares([second, first], PRINTED), [PRINTED[5:], PRINTED[:4]])
        self.assertEqual(shares([["  memory  2.0 MiB"], ["2. A table"]], PRINTED), [PRINTED[:4], PRINTED[5:]])


class Rendering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)
        (self.project / "rendered_targets.txt").write_text("tool /bin/tool\n", encoding="utf-8")
        self.page = self.project / "page.md"
        self.page.write_text("old\nsame\n", encoding="utf-8")
        self.one = render.Rendered("a_page", lambda built: {self.page: "new\nsame\n"})

    def said(self, call, *arguments):
        text = io.StringIO()
        with mock.patch.object(render, "PROJECT", self.project), contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            code = call(*arguments, self.project)
        return code, text.getvalue()

    def test_a_check_says_what_would_change_and_changes_nothing(self):
        code, text = self.said(render.check, self.one)
        self.assertEqual(code, 1)
        self.assertIn("-old\n+new\n", text)
        self.assertTrue(text.endswith("page.md is not what would be written; `./run render` writes it\n"), text)
        self.assertEqual(self.page.read_text(encoding="utf-8"), "old\nsame\n")

    def test_what_was_written_is_not_written_again(self):
        self.assertEqual(self.said(render.write, self.one), (0, "changed page.md\n"))
        self.assertEqual(self.said(render.check, self.one), (0, ""))
        self.assertEqual(self.said(render.write, self.one), (0, ""))

    def test_what_is_not_built_is_left_out_and_said(self):
        code, text = self.said(render.write, self.one._replace(targets=("tool", "example")))
        self.assertEqual((code, text), (0, "left out: a_page, which needs example\n"))
        self.assertEqual(self.page.read_text(encoding="utf-8"), "old\nsame\n")

    def test_blocks_and_programs_of_a_page_are_found(self):
        self.page.write_text(
            "<!-- from: oneprobe demo -->\n```\na\n```\n\n<!-- from: examples/x -->\n```\nb\n```\n\n"
            "```cpp\nint main() {}\n```\n\n```text\nc\n```\n", encoding="utf-8"
        )
        with mock.patch("render_blocks.PROJECT", self.project):
            found = runs_of(self.page)
        self.assertEqual([target for _, target in found], ["oneprobe_cli", "oneprobe_example_x", "oneprobe_program_page_1"])
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual([text[begin:end] for ((begin, end),) in found.values()], ["a\n", "b\n", "c\n"])

    def test_numbers_in_sources_may_differ_in_the_last_digits(self):
        self.assertTrue(agree("// a\n  {1, 2.0000001},\n", "// a\n  {1, 2},\n"))
        for other in ("// b\n  {1, 2},\n", "// a\n  {1, 2.1},\n", "// a\n  {1, 2, 3},\n", "// a\n"):
            self.assertFalse(agree("// a\n  {1, 2},\n", other))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
