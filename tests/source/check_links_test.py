#!/usr/bin/env python3
"""tools/check_links.py finds broken links and pages that nobody finds, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import check_links  # noqa: E402

INDEX = "# All\n\n[a](a.md)\n"


class CheckLinks(unittest.TestCase):
    def complaints(self, page, **more):
        """What is found where docs/a.md has this text."""
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder).resolve()
            for name, text in {"README": INDEX, "a": page, **more}.items():
                path = project / "docs" / f"{name}.md"
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found, leads_to = check_links.check(project)
            return found + check_links.unreachable(project, leads_to)

    def test_what_is_there_is_accepted(self):
        text = "# One\n\n## Two words, `code` & more\n\n## One\n\n"
        for link in ("README.md", "#one", "#one-1", "#two-words-code--more", "README.md#all", "../docs/README.md", "https://example.org/x"):
            self.assertEqual(self.complaints(f"{text}[x]({link}) and ![y]({link})\n"), [], link)
        self.assertEqual(self.complaints("`[x](nowhere.md)`\n\n```\n[x](nowhere.md)\n```\n"), [])

    def test_what_is_not_there_is_named(self):
        for link, words in (
            ("b.md", "no file 'b.md'"), ("#two", "no heading '#two'"), ("README.md#two", "in docs/README.md"),
            ("../../outside", "no file"), ("picture.svg", "no file 'picture.svg'"),
        ):
            for form in ("[x]({})", "![x]({})", '<img src="{}">', "[a\nlink]({})", "[![x](../docs/README.md)]({})"):
                found = self.complaints("# One\n\n" + form.format(link) + "\n")
                self.assertEqual(len(found), 1, (link, form, found))
                self.assertIn(words, found[0])

    def test_a_heading_in_a_code_block_is_none(self):
        self.assertEqual(len(self.complaints("[x](#comment)\n\n```sh\n# comment\n```\n")), 1)

    def test_a_page_that_nobody_links_to_is_named(self):
        found = self.complaints("nothing\n", b="[a](a.md)\n")
        self.assertEqual(found, ["docs/b.md: no way leads there from docs/README.md"])
        self.assertEqual(self.complaints("[b](b.md)\n", b="nothing\n"), [])


if __name__ == "__main__":
    unittest.main()
