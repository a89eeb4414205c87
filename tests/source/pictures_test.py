#!/usr/bin/env python3
"""Every SVG of the documents can be shown by what is no browser, on pages of any colour."""

import re
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
SVG = "{http://www.w3.org/2000/svg}"
# Converters and viewers of files know no variables of CSS: what is filled with one is black, what is drawn with one is not there.
VARIABLE = re.compile(r"\bvar\(|--[a-z]+ *:")


class Pictures(unittest.TestCase):
    pictures = sorted(DOCS.rglob("*.svg"))

    def test_there_are_pictures(self):
        self.assertGreaterEqual(len(self.pictures), 11)

    def test_no_colour_is_a_variable(self):
        for path in self.pictures:
            self.assertIsNone(VARIABLE.search(path.read_text(encoding="utf-8")), path.name)

    def test_each_has_a_ground_of_its_own(self):
        for path in self.pictures:
            picture = ElementTree.parse(path).getroot()
            first = picture.find(f"{SVG}rect")
            self.assertIsNotNone(first, path.name)
            self.assertEqual([first.get("width"), first.get("height")], [picture.get("width"), picture.get("height")], path.name)
            self.assertTrue(first.get("fill") or "ground" in (first.get("class") or ""), path.name)


if __name__ == "__main__":
    unittest.main()
