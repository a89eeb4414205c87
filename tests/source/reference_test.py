#!/usr/bin/env python3
"""tools/build_reference.py shows every public name with what its header says of it, and the search finds it."""

import html
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import build_reference  # noqa: E402
import public_names  # noqa: E402


class BuildReference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name) / "reference"
        build_reference.main([str(cls.root)])
        cls.names, cls.headers = public_names.read()
        cls.pages = {path.relative_to(cls.root).as_posix(): path.read_text(encoding="utf-8") for path in cls.root.rglob("*.html")}
        cls.words = {page: cls.words_of(text) for page, text in cls.pages.items()}

    @staticmethod
    def words_of(page):
        return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</?(?:td|tr|th|li|p|div|h\d)\b[^>]*>", "\n", page)))

    def test_every_public_header_has_a_page_with_the_line_to_write(self):
        public = [path for path in self.headers if public_names.is_public(path)]
        self.assertGreater(len(public), 50)
        for path in public:
            self.assertIn(f'#include "oneprobe/{path}"', self.words[path.removesuffix(".hpp") + ".html"])
            self.assertIn(f"source/{path}.html", self.pages)

    def test_every_name_is_there_with_its_sentence(self):
        for name in self.names:
            words = self.words[name.header.removesuffix(".hpp") + ".html"]
            place = rf"(?<!\w){re.escape(name.name.split()[-1])}(?!\w)"
            self.assertTrue(re.search(place, words), name.full)
            for _, text in build_reference.blocks_of(name.own):
                self.assertTrue(text in words or re.sub(r"[`*]", "", text) in re.sub(r"[`*]", "", words), f"{name.full}: {text}")

    def test_the_search_leads_to_all_of_them(self):
        text = (self.root / "names.js").read_text(encoding="utf-8")
        found = json.loads(text.removeprefix("window.oneprobeNames = ").removesuffix(";\n"))
        self.assertEqual({name for name, _, _ in found}, {name.full for name in self.names})
        for name, place, _ in found:
            page, _, anchor = place.partition("#")
            self.assertIn(f'id="{html.escape(anchor)}"', self.pages[page], name)

    def test_comments_become_paragraphs_items_and_programs(self):
        lines = [" One.", " Still one.", "", "   f(x);", "", "   g(x);", " Two.", " - an item", "   of two lines", " - another"]
        self.assertEqual(build_reference.blocks_of(lines), [
            ("p", "One. Still one."), ("pre", "f(x);\n\ng(x);"), ("p", "Two."),
            ("li", "an item of two lines"), ("li", "another"),
        ])

    def test_a_folder_of_others_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "precious").touch()
            with self.assertRaises(SystemExit):
                build_reference.main([folder])
            self.assertTrue((Path(folder) / "precious").exists())


if __name__ == "__main__":
    unittest.main()
