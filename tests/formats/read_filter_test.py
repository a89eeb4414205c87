#!/usr/bin/env python3
"""The golden filter files, read by a program that was written from docs/formats/ alone."""

import struct
import sys
import unittest
from pathlib import Path

try:
    import xxhash
    from read_filter import BALANCED, COUNTING, FINGERPRINT, GROWING, ROTATING, FormatError, read_filter
except ModuleNotFoundError as missing:
    print(f"skipped: {missing} (Debian: python3-xxhash)")
    sys.exit(77)

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "filters"
KEYS = 100
BALANCED_KEYS = 300
FIRST_KEY_OF_ROTATING = 25
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
            filter_file = read_filter(path.read_bytes())
            first = FIRST_KEY_OF_ROTATING if filter_file.kind == ROTATING else 0
            many = filter_file.kind in (BALANCED, FINGERPRINT)
            for i in range(first, BALANCED_KEYS if many else KEYS):
                with self.subTest(file=path.stem, key=i):
                    self.assertTrue(filter_file.may_contain(i))
                    if filter_file.kind != COUNTING or i % 2 == 1:
                        self.assertTrue(filter_file.may_contain(f"key {i}"))

    def test_other_keys_get_the_answers_of_the_library(self):
        for name, expected in expected_answers().items():
            with self.subTest(file=name):
                self.assertEqual(answers(read_filter((GOLDEN / f"{name}.filter").read_bytes())), expected)

    def test_damage_is_noticed(self):
        for name in ("standard", "growing", "rotating"):
            data = (GOLDEN / f"{name}.filter").read_bytes()
            for at in range(0, len(data), 7):
                with self.subTest(file=name, at=at), self.assertRaises(FormatError):
                    read_filter(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            for size in range(0, len(data), 13):
                with self.subTest(file=name, size=size), self.assertRaises(FormatError):
                    read_filter(data[:size])

    def test_parts_are_what_the_whole_says(self):
        growing = read_filter((GOLDEN / "growing.filter").read_bytes())
        self.assertEqual(growing.kind, GROWING)
        self.assertEqual([part.planned_elements for part in growing.parts], [40, 80, 160])
        self.assertEqual(growing.left, 0.25 - 0.0625 - 0.03125 - 0.015625)
        self.assertEqual(growing.grow_at, 160)
        rotating = read_filter((GOLDEN / "rotating.filter").read_bytes())
        self.assertEqual(len(rotating.parts), 3)
        self.assertEqual(rotating.fpr, 3 * 0.0625)
        self.assertTrue(rotating.parts[0].may_contain("key 25"), "the oldest comes first")

    def test_a_whole_that_its_parts_contradict_is_noticed(self):
        data = (GOLDEN / "growing.filter").read_bytes()
        for at, value in ((8, 1), (24, 2), (56, 0), (64, 161), (128, 640), (136, 2**63)):
            changed = bytearray(data)
            changed[64 + at : 72 + at] = struct.pack("<Q", value)
            parameter_bytes = struct.unpack("<Q", data[16:24])[0]
            changed[32:40] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[64 : 64 + parameter_bytes])))
            changed[56:64] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(changed[:56])))
            with self.subTest(at=at), self.assertRaisesRegex(FormatError, "inconsistent|truncated|trailing"):
                read_filter(bytes(changed))


if __name__ == "__main__":
    unittest.main()
