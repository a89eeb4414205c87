#!/usr/bin/env python3
"""The golden filter files, read by a program that was written from docs/formats/ alone."""

import sys
import unittest
from pathlib import Path

try:
    from read_filter import BALANCED, COUNTING, FilterFile, FormatError
except ModuleNotFoundError as missing:
    print(f"skipped: {missing} (Debian: python3-xxhash)")
    sys.exit(77)

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "filters"
KEYS = 100
BALANCED_KEYS = 300
PROBES = 1000
FIRST_ABSENT_INTEGER = 1_000_000


def expected_answers():
    lines = (GOLDEN / "answers.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ") for line in lines)


def answers(filter_file):
    probes = [f"absent {i}" for i in range(PROBES)] + [FIRST_ABSENT_INTEGER + i for i in range(PROBES)]
    bits = [filter_file.may_contain(probe) for probe in probes]
    return "".join(f"{sum(bit << i for i, bit in enumerate(bits[at : at + 4])):x}" for at in range(0, len(bits), 4))


class GoldenFiles(unittest.TestCase):
    def test_every_file_has_answers_and_every_answer_a_file(self):
        self.assertEqual({path.stem for path in GOLDEN.glob("*.filter")}, set(expected_answers()))
        self.assertGreater(len(expected_answers()), 20)

    def test_keys_that_were_inserted_may_be_contained(self):
        for path in sorted(GOLDEN.glob("*.filter")):
            filter_file = FilterFile(path.read_bytes())
            for i in range(BALANCED_KEYS if filter_file.kind == BALANCED else KEYS):
                with self.subTest(file=path.stem, key=i):
                    self.assertTrue(filter_file.may_contain(i))
                    if filter_file.kind != COUNTING or i % 2 == 1:
                        self.assertTrue(filter_file.may_contain(f"key {i}"))

    def test_other_keys_get_the_answers_of_the_library(self):
        for name, expected in expected_answers().items():
            with self.subTest(file=name):
                self.assertEqual(answers(FilterFile((GOLDEN / f"{name}.filter").read_bytes())), expected)

    def test_damage_is_noticed(self):
        data = (GOLDEN / "standard.filter").read_bytes()
        for at in range(0, len(data), 7):
            with self.subTest(at=at), self.assertRaises(FormatError):
                FilterFile(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        for size in range(0, len(data), 13):
            with self.subTest(size=size), self.assertRaises(FormatError):
                FilterFile(data[:size])


if __name__ == "__main__":
    unittest.main()
