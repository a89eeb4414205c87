"""The Python module, as it was built. Finds it by PYTHONPATH; ONEPROBE_CLI is the tool, ONEPROBE_TABLE_FILES the C++
program beside this file."""

import ast
import copy
import inspect
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import oneprobe

KINDS = ("standard", "partitioned", "blocked", "counting", "balanced", "fingerprint")
MIXED = ["text", "Stra\u00dfe", "\u6f22\u5b57", "\U0001f980", b"bytes", b"", bytes(300), bytearray(b"array"), 0, 1, -1, 2**63, 2**64 - 2]


def small(kind="blocked", elements=1000, **needs):
    return oneprobe.Filter(elements, 1e-3, kind=kind, seed=7, **needs)


class DocumentTest(unittest.TestCase):
    def test_the_program_in_the_document_works(self):
        """Statement by statement; what a comment says is True is."""
        page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md"
        blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        self.assertNotEqual(blocks, [])
        true = 0
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            for block in blocks:
                names = {}
                for statement in ast.parse(block).body:
                    line = block.splitlines()[statement.end_lineno - 1]
                    if not isinstance(statement, ast.Expr):
                        exec(compile(ast.Module([statement], []), str(page), "exec"), names)
                        continue
                    value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
                    if re.search(r"# True\b", line):
                        self.assertIs(value, True, line)
                        true += 1
            self.assertTrue(os.path.exists("seen.filter"))
            os.chdir(before)
        self.assertGreaterEqual(true, 2)


class FilterTest(unittest.TestCase):
    def test_every_kind_holds_what_was_added_and_errs_as_planned(self):
        rng = np.random.default_rng(5)
        keys, absent = np.split(rng.integers(0, 2**63, 120_000, dtype=np.uint64), [20_000])
        for kind in KINDS:
            with self.subTest(kind=kind):
                seen = small(kind, len(keys))
                self.assertEqual(seen.kind, kind)
                added = seen.add_many(keys)
                if kind == "fingerprint":
                    # It counts what it holds: an element that is passed on may come to an equal one.
                    self.assertLessEqual(len(seen), added)
                    self.assertGreater(len(seen), 0.999 * added)
                else:
                    self.assertEqual(added, len(seen))
                self.assertTrue(seen.may_contain_many(keys).all())
                # Of 100 expected, five standard deviations and what filters of this size differ by.
                wrong = int(seen.may_contain_many(absent).sum())
                expected = len(absent) * seen.planned_fpr
                self.assertLess(abs(wrong - expected), 5 * expected**0.5 + 0.1 * expected)
                self.assertAlmostEqual(seen.stats()["current_fpr"], seen.planned_fpr, delta=0.3 * seen.planned_fpr)
                self.assertLessEqual(seen.planned_fpr, 1e-3)

    def test_one_key_at_a_time_is_the_same_as_many(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                one, many = small(kind), small(kind)
                for key in MIXED:
                    self.assertTrue(one.add(key))
                    self.assertFalse(one.add(key))
                self.assertEqual(many.add_many(MIXED), len(MIXED))
                # A counting filter counts what was added twice.
                if kind != "counting":
                    self.assertEqual(one.to_bytes()[-many.nbytes:], many.to_bytes()[-many.nbytes:])
                for key in MIXED:
                    self.assertIn(key, many)
                self.assertEqual(many.may_contain_many(tuple(MIXED)).tolist(), [True] * len(MIXED))
                self.assertNotIn("absent", many)

    def test_a_str_is_its_utf8_and_an_int_is_the_integer_of_any_width(self):
        def of(keys):
            seen = small()
            seen.add_many(keys)
            return seen.to_bytes()

        texts = ["plain", "Stra\u00dfe", "\u6f22\u5b57", "\U0001f980", ""]
        utf8 = [text.encode() for text in texts]
        self.assertEqual(of(texts), of(utf8))
        self.assertEqual(of(np.array(texts)), of(utf8))
        self.assertEqual(of(np.array(utf8)), of(utf8))
        self.assertEqual(of(np.array(texts, dtype=object)), of(utf8))
        self.assertEqual(of(np.array(texts).astype(">U8")), of(utf8))
        numbers = [0, 1, 100, 127]
        for dtype in ("int8", "uint8", "int32", ">i4", "uint32", "int64", ">u8", "uint64"):
            self.assertEqual(of(np.array(numbers, dtype=dtype)), of(numbers), dtype)
        self.assertEqual(of(np.array([-1, -5], dtype="int16")), of([-1, -5]))
        self.assertEqual(of(np.array([1, 0, 2, 0, 3])[::2]), of([1, 2, 3]))
        self.assertEqual(of([np.int32(3), np.uint64(4)]), of([3, 4]))
        self.assertEqual(of(np.frombuffer(b"abcdef\0\0", dtype="V4")), of([b"abcd", b"ef\0\0"]))
        self.assertNotEqual(of(["5"]), of([5]))

    def assert_same_keys(self, array, keys):
        """An array and the bytes of its keys leave the same filter, which does not hold other keys."""
        self.assertEqual(len(array), len(keys))
        of_array, of_bytes = small(elements=4000), small(elements=4000)
        self.assertEqual(of_array.add_many(array), of_bytes.add_many(keys))
        self.assertEqual(of_array.to_bytes(), of_bytes.to_bytes())
        self.assertTrue(of_bytes.may_contain_many(array).all())
        # The answers are those of their keys, in order: half of the keys are there.
        half = small(elements=4000)
        half.add_many(keys[::2])
        self.assertEqual(half.may_contain_many(array).tolist(), half.may_contain_many(keys).tolist())

    def test_texts_of_every_width_are_their_utf8(self):
        rng = np.random.default_rng(3)
        for width in range(1, 41):
            with self.subTest(width=width):
                # Of every length, so that there is padding; more than are encoded at once.
                texts = ["".join(map(chr, rng.integers(1, 128, length))) for length in range(width + 1) for _ in range(9)]
                for some in (texts, texts[-1:], texts[:5]):
                    self.assert_same_keys(np.array(some, dtype=f"U{width}"), [text.encode("utf-8") for text in some])

    def test_texts_with_other_characters_at_any_place_are_their_utf8(self):
        edges = "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\0"
        for width in (1, 3, 15, 16, 17, 31, 32, 33, 40):
            with self.subTest(width=width):
                texts = []
                for at in range(width):
                    for other in edges:
                        # NUL is a character like others unless it is at the end.
                        before, behind = "k" * at, str(at)[: width - at - 1]
                        texts += [before + other + behind, before + behind]
                texts = [text.rstrip("\0") for text in texts]
                self.assert_same_keys(np.array(texts, dtype=f"U{width}"), [text.encode("utf-8") for text in texts])

    def test_texts_of_any_array_are_their_utf8(self):
        for texts in ([f"key {i} of many" for i in range(700)], [f"Stra\u00dfe {i}" if i % 50 == 7 else f"Weg {i}" for i in range(700)]):
            utf8 = [text.encode("utf-8") for text in texts]
            array = np.array(texts)
            self.assert_same_keys(array.astype(array.dtype.newbyteorder(">")), utf8)
            self.assert_same_keys(array[::-3], utf8[::-3])
            packed = np.frombuffer(b"\1" + array.tobytes(), array.dtype, offset=1)
            self.assertFalse(packed.flags.aligned)
            self.assert_same_keys(packed, utf8)
            self.assert_same_keys(np.array(texts, dtype="U300"), utf8)
            narrow = np.array(utf8)
            self.assert_same_keys(narrow, utf8)
            self.assert_same_keys(np.array(utf8, dtype="S37"), utf8)
            fields = np.zeros(700, dtype=[("number", "i1"), ("text", array.dtype)])
            fields["text"] = array
            self.assert_same_keys(fields["text"], utf8)

    def test_an_array_has_halves_of_surrogate_pairs_for_characters(self):
        """A str with one is no key; an array is not looked at for them."""
        self.assert_same_keys(np.array(["a\udc80", "b"]), [b"a\xed\xb2\x80", b"b"])

    def test_keys_of_other_types_are_refused_with_one_sentence(self):
        seen = small()
        for call, error, words in (
            (lambda: seen.add(1.5), TypeError, "a key must be str, bytes or int; found float"),
            (lambda: seen.add(None), TypeError, "found NoneType"),
            (lambda: None in seen, TypeError, "found NoneType"),
            (lambda: seen.add(2**64), ValueError, "an int must be from -2^63 to 2^64 - 1; found 18446744073709551616"),
            (lambda: seen.add(-(2**63) - 1), ValueError, "an int must be from"),
            (lambda: seen.add("\ud800"), UnicodeEncodeError, "surrogates"),
            (lambda: seen.add_many("one"), TypeError, "a sequence of keys; found one str"),
            (lambda: seen.add_many(b"one"), TypeError, "found one bytes"),
            (lambda: seen.add_many(5), TypeError, "sequence of keys"),
            (lambda: seen.add_many([1, 2.5]), TypeError, "found float"),
            (lambda: seen.add_many(np.zeros(3)), TypeError, "must hold integers, bytes or text; found float64"),
            (lambda: seen.add_many(np.zeros((2, 2), dtype=int)), ValueError, "one dimension; found 2"),
            (lambda: seen.remove("x"), TypeError, "only a counting filter can remove; this one is blocked"),
            (lambda: oneprobe.Filter(0, 0.1), ValueError, "elements"),
            (lambda: oneprobe.Filter(10), ValueError, "fpr"),
            (lambda: oneprobe.Filter(10, 0.01, kind="bloom"), ValueError, "kind must be one of 'standard', "),
            (lambda: oneprobe.Filter(10, 0.01, bits_per_element=8), ValueError, "bits_per_element"),
        ):
            with self.assertRaises(error) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        self.assertEqual(len(seen), 0)

    def test_nothing_is_no_key_and_an_empty_list_is_no_keys(self):
        seen = small()
        self.assertEqual(seen.add_many([]), 0)
        self.assertEqual(seen.add_many(np.array([], dtype=np.int64)), 0)
        self.assertEqual(seen.may_contain_many([]).tolist(), [])
        self.assertFalse(seen)
        self.assertTrue(seen.add(""))
        self.assertTrue(seen)
        seen.clear()
        self.assertEqual(len(seen), 0)

    def test_a_counting_filter_removes(self):
        seen = small("counting")
        seen.add_many(["a", "b"])
        self.assertTrue(seen.remove("a"))
        self.assertFalse(seen.remove("a"))
        self.assertNotIn("a", seen)
        self.assertIn("b", seen)

    def test_filters_of_one_plan_and_seed_are_merged(self):
        plan = oneprobe.plan_filter(1000, 1e-3)
        a, b = (oneprobe.Filter.from_plan(plan, seed=3) for _ in range(2))
        a.add("a")
        b.add("b")
        a.merge(b)
        a.merge(a)
        self.assertIn("a", a)
        self.assertIn("b", a)
        with self.assertRaisesRegex(ValueError, "same seed"):
            a.merge(oneprobe.Filter.from_plan(plan, seed=4))
        with self.assertRaisesRegex(ValueError, "same plan"):
            a.merge(small("standard"))

    def test_copies_and_pickles_are_filters_of_their_own(self):
        for kind in KINDS:
            seen = small(kind)
            seen.add_many(range(500))
            for other in (pickle.loads(pickle.dumps(seen)), copy.copy(seen), copy.deepcopy(seen), seen.copy()):
                self.assertEqual(other.to_bytes(), seen.to_bytes())
                other.add("more")
                self.assertNotIn("more", seen)
        self.assertEqual(type(pickle.loads(pickle.dumps(seen))), oneprobe.Filter)

    def test_stats_and_explain_say_what_there_is(self):
        seen = small("fingerprint")
        seen.add_many(range(900))
        stats = seen.stats()
        self.assertEqual((stats["size"], stats["condition"], stats["planned_elements"]), (len(seen), "as planned", 1000))
        self.assertEqual(stats["memory_bytes"], seen.nbytes)
        self.assertTrue(seen.explain(5)["may_contain"])
        self.assertGreaterEqual(seen.explain("absent")["accesses"], 1)
        self.assertIn("fingerprint", repr(seen))


class FileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, **further):
        return subprocess.run(arguments, check=True, capture_output=True, text=True, **further).stdout

    def test_the_tool_reads_what_python_wrote(self):
        keys = [f"key {i} \u00e9" for i in range(2000)]
        for kind in KINDS:
            path = self.folder / f"{kind}.filter"
            seen = small(kind, 2000)
            seen.add_many(np.array(keys))
            seen.save(path)
            facts = json.loads(self.run_program(os.environ["ONEPROBE_CLI"], "filter", "info", path, "--json"))
            self.assertEqual(facts["kind"], kind)
            asked = subprocess.run(
                [os.environ["ONEPROBE_CLI"], "filter", "query", path], input="\n".join(keys) + "\nabsent one\n",
                capture_output=True, text=True,
            )
            self.assertEqual(asked.stdout.splitlines()[:2000], keys, kind)

    def test_python_reads_what_the_tool_wrote(self):
        keys = [f"line {i} \u6f22" for i in range(3000)]
        text = self.folder / "keys.txt"
        text.write_text("\n".join(keys) + "\n", encoding="utf-8")
        for kind in KINDS:
            path = self.folder / f"{kind}.filter"
            self.run_program(
                os.environ["ONEPROBE_CLI"], "filter", "build", text, "-o", path, "--fpr", "1e-3", "--kind", kind, "--seed", "9"
            )
            seen = oneprobe.Filter.load(str(path))
            self.assertEqual((seen.kind, seen.seed), (kind, 9))
            self.assertTrue(seen.may_contain_many(keys).all())
            self.assertTrue(seen.may_contain_many(np.array([key.encode() for key in keys])).all())
            # The same keys with the same plan and seed in the same order have the same bytes.
            again = oneprobe.Filter(3000, 1e-3, kind=kind, seed=9)
            again.add_many(keys)
            self.assertEqual(again.nbytes, seen.nbytes)
            self.assertEqual(again.to_bytes()[-seen.nbytes:], path.read_bytes()[-seen.nbytes:])
            self.assertEqual(seen.to_bytes(), path.read_bytes())

    def test_maps_go_to_cpp_and_come_back(self):
        program = os.environ["ONEPROBE_TABLE_FILES"]
        theirs, ours = self.folder / "cpp.table", self.folder / "python.table"
        self.run_program(program, "write", theirs)
        table = oneprobe.Map.load(theirs, schema=9)
        self.assertEqual(len(table), 1000)
        self.assertEqual(table[-5], -15)
        self.assertEqual(sorted(table), list(range(-500, 500)))
        table[7] = -1
        del table[-500]
        table.save(ours, schema=9)
        # Sum of 3 i for all, with one changed from 21 to -1 and one of -1500 gone.
        total = 3 * sum(range(-500, 500)) - 21 - 1 + 1500
        self.assertEqual(self.run_program(program, "sum", ours).split(), ["999", str(total)])

    def test_a_bad_file_is_one_sentence(self):
        seen = small()
        good = seen.to_bytes()
        for bytes_, words in (
            (b"", "not an oneprobe file"), (b"x" * 500, "not an oneprobe file"), (good[:-1], "truncated"),
            (good + b"x", "trailing bytes"), (good[:-1] + bytes([good[-1] ^ 1]), "checksum mismatch"),
        ):
            with self.assertRaises(oneprobe.LoadError) as caught:
                oneprobe.Filter.from_bytes(bytes_)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
            self.assertRegex(str(caught.exception), words.replace(" ", ".*"))
        with self.assertRaises(OSError):
            oneprobe.Filter.load(self.folder / "absent")
        with self.assertRaises(OSError):
            seen.save(self.folder / "absent" / "folder")
        table = oneprobe.Map(10)
        with self.assertRaisesRegex(oneprobe.LoadError, "schema must be 1; found 0"):
            oneprobe.Map.from_bytes(table.to_bytes(), schema=1)
        with self.assertRaisesRegex(oneprobe.LoadError, "key bytes must be 16"):
            oneprobe.Map.from_bytes(table.to_bytes(), key="bytes16")
        with self.assertRaises(oneprobe.LoadError):
            oneprobe.Map.from_bytes(good)
        self.assertIsInstance(oneprobe.LoadError("x"), ValueError)


class MapTest(unittest.TestCase):
    def test_agrees_with_a_dict(self):
        rng = np.random.default_rng(11)
        for key, draw in (
            ("int64", lambda: int(rng.integers(-300, 300))),
            ("uint64", lambda: 2**63 + int(rng.integers(0, 600))),
            ("bytes16", lambda: int(rng.integers(0, 600)).to_bytes(16, "big")),
            ("bytes32", lambda: int(rng.integers(0, 600)).to_bytes(32, "little")),
            ("str16", lambda: f"flöw {int(rng.integers(0, 600))}"),
            ("str32", lambda: "x" * int(rng.integers(0, 33))),
        ):
            with self.subTest(key=key):
                table, twin = oneprobe.Map(1000, key=key, seed=1), {}
                for _ in range(6000):
                    which, value = draw(), int(rng.integers(-9, 9))
                    action = rng.integers(0, 4)
                    if action == 0:
                        table[which] = value
                        twin[which] = value
                    elif action == 1:
                        outcome = table.insert(which, value)
                        self.assertEqual(outcome == "present", which in twin)
                        twin.setdefault(which, value)
                    elif action == 2:
                        self.assertEqual(table.discard(which), twin.pop(which, None) is not None)
                    else:
                        self.assertEqual(table.get(which, "none"), twin.get(which, "none"))
                        self.assertEqual(which in table, which in twin)
                self.assertEqual(dict(table.items()), twin)
                self.assertEqual(len(table), len(twin))
                again = pickle.loads(pickle.dumps(table))
                self.assertEqual((dict(again.items()), again.key), (twin, key))

    def test_many_keys_at_once(self):
        keys = np.arange(-5000, 5000)
        for value, factor in (("int64", 3), ("uint64", 1), ("float64", 0.5)):
            with self.subTest(value=value):
                values = (abs(keys) * factor).astype(value)
                table = oneprobe.Map(10_000, value=value)
                self.assertTrue(table.assign_many(keys, values).all())
                self.assertEqual(len(table), 10_000)
                found, there = table.find_many(np.arange(4990, 5010), 77)
                self.assertEqual(found.dtype, value)
                self.assertEqual(there.tolist(), [True] * 10 + [False] * 10)
                self.assertEqual(found.tolist(), values[-10:].tolist() + [77] * 10)
                self.assertEqual(table.contains_many([1, 2, 6000]).tolist(), [True, True, False])
                self.assertEqual(table.discard_many(np.array([1, 1, 6000], dtype=np.int16)), 1)
                got_keys, got_values = table.contents()
                self.assertEqual(dict(zip(got_keys.tolist(), got_values.tolist())), dict(table.items()))
                self.assertEqual(table[-4], 4 * factor)

    def test_bytes_in_bulk(self):
        table = oneprobe.Map(100, key="bytes16")
        keys = [bytes([i]) * 16 for i in range(50)]
        self.assertTrue(table.assign_many(keys, range(50)).all())
        array = np.frombuffer(b"".join(keys), dtype="V16")
        self.assertEqual(table.find_many(array)[0].tolist(), list(range(50)))
        self.assertEqual(table.find_many(array[::-2])[0].tolist(), list(range(49, 0, -2)))
        self.assertEqual(table[keys[0]], 0)
        self.assertEqual(sorted(table.keys().tolist()), keys)

    def test_texts_in_bulk(self):
        table = oneprobe.Map(100, key="str16")
        keys = ["", "a", "ä" * 8, *(f"user {i}" for i in range(47))]
        self.assertTrue(table.assign_many(keys, range(50)).all())
        array = np.array(keys)
        self.assertEqual(array.dtype.kind, "U")
        self.assertEqual(table.find_many(array)[0].tolist(), list(range(50)))
        self.assertEqual(table.find_many(array[::-2])[0].tolist(), list(range(49, 0, -2)))
        self.assertEqual(table.contains_many(np.array(["a", "b", 7], dtype=object)[:2]).tolist(), [True, False])
        self.assertEqual(sorted(table.keys().tolist()), sorted(keys))
        self.assertEqual(sorted(table), sorted(keys))
        for text in ("\u00e4" * 8, "\u6f22\u5b57", "\U0001f980", "a\0b", "k" * 16):
            other = oneprobe.Map(100, key="str16")
            self.assertTrue(other.assign_many(np.array([text, "x"]), [1, 2]).all())
            self.assertEqual(dict(other.items()), {text: 1, "x": 2})
            self.assertEqual(other.find_many(np.array([text, "x"]).astype(">U16"))[0].tolist(), [1, 2])
            self.assertEqual(other.discard_many(np.array([text, "absent"])), 1)
        as_bytes = oneprobe.Map.from_bytes(table.to_bytes(), key="bytes16")
        self.assertEqual(as_bytes[b"a" + bytes(15)], 1)

    def test_any_integer_and_any_array_will_do(self):
        class Five:
            def __index__(self):
                return 5

        table = oneprobe.Map(10)
        table[Five()] = 7
        self.assertEqual(table[5], 7)
        packed = np.frombuffer(b"\1" + np.arange(6, dtype="<i8").tobytes(), "<i8", count=6, offset=1)
        self.assertFalse(packed.flags.aligned)
        self.assertEqual(table.contains_many(packed).tolist(), [False] * 5 + [True])
        self.assertTrue(table.assign_many(packed, packed).all())
        for key in ("int64", "bytes16", "str16"):
            empty = oneprobe.Map(10, key=key)
            self.assertEqual(len(oneprobe.Map(10, key=key).assign_many(*empty.contents())), 0)

    def test_a_full_map_says_so_and_keeps_what_it_has(self):
        table = oneprobe.Map(10, seed=2)
        kept = table.assign_many(np.arange(2000), np.arange(2000))
        self.assertFalse(kept.all())
        self.assertEqual(len(table), int(kept.sum()))
        self.assertEqual(sorted(table), np.flatnonzero(kept).tolist())
        refused = int(np.flatnonzero(~kept)[0])
        with self.assertRaisesRegex(oneprobe.FullError, "the map is full"):
            table[refused] = 1
        self.assertEqual(table.insert(refused, 1), "full")

    def test_what_does_not_fit_is_refused(self):
        table = oneprobe.Map(10)
        unsigned = oneprobe.Map(10, key="uint64", value="uint64")
        digests = oneprobe.Map(10, key="bytes16")
        names = oneprobe.Map(10, key="str16")
        for call, error, words in (
            (lambda: oneprobe.Map(0), ValueError, "elements"),
            (lambda: oneprobe.Map(10, key="str"), ValueError, "key must be 'int64', 'uint64', 'bytes16', 'bytes32', 'str16' or"),
            (lambda: oneprobe.Map(10, key="float64"), ValueError, "found 'float64'"),
            (lambda: oneprobe.Map(10, value="str"), ValueError, "value must be 'int64', 'uint64' or 'float64'"),
            (lambda: table.__setitem__(2**63, 1), ValueError, "an int64 must be below 2^63; found 9223372036854775808"),
            (lambda: unsigned.__setitem__(-1, 1), ValueError, "an uint64 must be 0 and up; found -1"),
            (lambda: table.__setitem__(1, 1.5), TypeError, ""),
            (lambda: table["a"], TypeError, ""),
            (lambda: digests["a" * 16], TypeError, "must be bytes; found str"),
            (lambda: names[b"a"], TypeError, "must be str; found bytes"),
            (lambda: names["a" * 17], ValueError, "at most 16 bytes in UTF-8; found 17"),
            (lambda: names["ä" * 9], ValueError, "at most 16 bytes in UTF-8; found 18"),
            (lambda: names["a\0"], ValueError, "must not end with a NUL"),
            (lambda: names["\udc80"], UnicodeEncodeError, ""),
            (lambda: names.contains_many(np.array(["a", "b" * 17])), ValueError, "at most 16 bytes in UTF-8; found 17"),
            (lambda: names.contains_many(np.array(["a", "\u6f22" * 6])), ValueError, "at most 16 bytes in UTF-8; found 18"),
            (lambda: names.contains_many(np.array(["a", "\udc80"])), UnicodeEncodeError, "surrogates"),
            (lambda: names.contains_many(np.array([["a"]])), ValueError, "one dimension; found 2"),
            (lambda: names.contains_many(np.arange(3)), TypeError, "must be of text; found int64"),
            (lambda: digests[b"short"], ValueError, "must be 16 bytes; found 5"),
            (lambda: digests.contains_many(np.zeros(2)), TypeError, "must be of S16 or V16; found float64"),
            (lambda: table.assign_many([1, 2], [1]), ValueError, "as many; found 2 and 1"),
            (lambda: table.assign_many([1.5], [1]), TypeError, "convertible to int64"),
            (lambda: table.assign_many(np.array([2**63], dtype="uint64"), [1]), ValueError, "below 2^63"),
            (lambda: unsigned.assign_many([-1], [1]), ValueError, "0 and up"),
            (lambda: table[5], KeyError, "5"),
            (lambda: table.__delitem__(5), KeyError, "5"),
        ):
            with self.assertRaises(error) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        self.assertEqual(len(table) + len(unsigned) + len(digests), 0)

    def test_stats_and_explain(self):
        table = oneprobe.Map.from_plan(oneprobe.plan_table(10_000), seed=5)
        table.assign_many(np.arange(10_000), np.arange(10_000))
        stats = table.stats()
        self.assertEqual(stats["size"], 10_000)
        self.assertLess(stats["hit_accesses"], 2)
        self.assertTrue(table.explain(3)["contains"])
        self.assertLessEqual(table.explain(-3)["accesses"], 4)


class ThreadTest(unittest.TestCase):
    def test_bulk_calls_let_other_threads_run(self):
        keys = np.arange(5_000_000)
        seen = oneprobe.Filter(1_000_000, bits_per_element=8, kind="blocked")
        # No thread can take the interpreter from one that does not release it.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1000)
        clock = time.pthread_getcpuclockid(threading.get_ident())
        ended = threading.Event()
        looks = []

        def look():
            """Notes how far the calls are, in processor time of the thread that makes them."""
            while not ended.is_set():
                looks.append(time.clock_gettime(clock))
                time.sleep(0)

        looking = threading.Thread(target=look)
        looking.start()
        try:
            # However fast a call is and however busy the machine: in one of them another thread runs early and late. Without
            # that it would be none of them, and the calls end after seconds of their own work.
            most, share = time.thread_time() + 10, 0
            while share < 0.5 and time.thread_time() < most:
                begin = time.clock_gettime(clock)
                seen.may_contain_many(keys)
                end = time.clock_gettime(clock)
                inside = [each for each in looks if begin < each < end]
                looks.clear()
                if inside:
                    share = (inside[-1] - inside[0]) / (end - begin)
        finally:
            ended.set()
            looking.join()
        self.assertGreaterEqual(share, 0.5)

    def test_threads_add_and_ask_together(self):
        seen = oneprobe.Filter(400_000, 1e-3, kind="fingerprint")
        table = oneprobe.Map(400_000)
        failures = []

        def work(number):
            try:
                mine = np.arange(100_000) + 100_000 * number
                for part in np.split(mine, 20):
                    seen.add_many(part)
                    table.assign_many(part, part)
                    seen.add(int(part[0]))
                    table[int(part[0])] = 1
                    if not seen.may_contain_many(part).all() or not table.contains_many(part).all():
                        failures.append(number)
                    seen.stats()
            except Exception as failure:  # noqa: BLE001: the main thread tells of it
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(table), 400_000)


class PlanTest(unittest.TestCase):
    def tool(self, *arguments):
        run = subprocess.run([os.environ["ONEPROBE_CLI"], *arguments, "--json"], check=True, capture_output=True, text=True)
        return json.loads(run.stdout)

    def test_plans_are_those_of_the_tool(self):
        plan = oneprobe.plan_filter(1_000_000, 1e-4)
        told = self.tool("plan", "filter", "--elements", "1M", "--fpr", "1e-4")
        self.assertIn(str(plan.memory_bytes), json.dumps(told))
        facts = plan.to_dict()
        self.assertEqual(facts["kind"], plan.kind)
        self.assertLessEqual(plan.fpr, 1e-4)
        self.assertEqual(len(facts["overfill"]), 3)
        self.assertGreater(len(facts["alternatives"]), 1)
        self.assertIn(f"{plan.kind} for 1000000 elements", repr(plan))
        self.assertTrue(plan.reason)

    def test_a_table_is_planned(self):
        plan = oneprobe.plan_table(1_000_000, workload="fill-only")
        facts = plan.to_dict()
        self.assertEqual(facts["workload"], "fill-only")
        self.assertGreater(plan.load_factor, 0.8)
        self.assertLessEqual(facts["predicted"]["overflow_fraction"], 1e-6)
        self.assertEqual(len(facts["level_buckets"]), facts["choices"])

    def test_what_cannot_be_met_is_said_with_what_can(self):
        with self.assertRaisesRegex(ValueError, "too little .* The nearest need that can be met: elements=1000, bits_per"):
            oneprobe.plan_filter(1000, bits_per_element=1, kind="fingerprint")
        with self.assertRaisesRegex(ValueError, "The nearest need that can be met: .*load_factor=0.07"):
            oneprobe.plan_table(1000, load_factor=0.99, choices=1)
        with self.assertRaisesRegex(ValueError, "workload must be one of 'churn', 'fill-only'; found 'x'"):
            oneprobe.plan_table(10, workload="x")


class ModelTest(unittest.TestCase):
    def test_models_answer_as_the_tool_does(self):
        found = oneprobe.model.least_overflow_partition_under_churn(
            oneprobe.model.largest_load_factor_under_churn(1e-6, 8, 4), 8, 4
        )
        self.assertAlmostEqual(found["overflow_fraction"], 1e-6, delta=1e-8)
        # README: of 20 million, 20 overflow; reserve 57.
        spread = oneprobe.model.overflow_spread_churning(
            20e6, "multilevel", oneprobe.model.largest_load_factor_under_churn(1e-6, 8, 4), 8,
            level_fractions=found["level_fractions"],
        )
        self.assertEqual(round(spread["mean"]), 20)
        self.assertEqual(round(oneprobe.model.reserve_for(spread["mean"], spread["standard_deviation"], 1e-9)), 57)

    def test_formulas_known_by_heart(self):
        model = oneprobe.model
        self.assertAlmostEqual(model.standard_error(10, 7), (1 - np.exp(-0.7)) ** 7, places=12)
        self.assertEqual(model.best_bits_set_standard(10), 7)
        self.assertAlmostEqual(model.poisson_probability(2, 0), np.exp(-2), places=14)
        self.assertAlmostEqual(model.erlang_b(1, 1), 0.5)
        self.assertAlmostEqual(model.expected_max_load(2, 2), 1.5)
        self.assertGreater(model.blocked_error(16), model.standard_error(16))
        self.assertLess(model.fingerprint_filter(16)["fpr"], model.standard_error(16))
        self.assertGreater(model.fluid_limit("single", 1.0, 4)["overflow_fraction"], model.overflow_bound(2, 1.0, 4))
        with self.assertRaisesRegex(ValueError, "load factor must be from 1e-09 to 1000; found -1"):
            model.overflow_bound(1, -1, 4)
        with self.assertRaisesRegex(ValueError, "scheme must be one of 'single'"):
            model.fluid_limit("simple", 1, 4)


class StubTest(unittest.TestCase):
    """The stubs name what there is, and nothing else; everything is documented."""

    def names(self, body):
        return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}

    def test_stubs_are_complete(self):
        folder = pathlib.Path(oneprobe.__file__).parent
        self.assertTrue((folder / "py.typed").is_file())
        tree = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
        self.assertEqual(self.names(tree.body), set(oneprobe.__all__) - {"model"})
        for node in tree.body:
            if not isinstance(node, ast.ClassDef) or issubclass(getattr(oneprobe, node.name), Exception):
                continue
            there = {
                name for name, value in vars(getattr(oneprobe, node.name)).items()
                if not name.startswith("__") or name in ("__contains__", "__len__", "__getitem__", "__iter__")
            }
            self.assertEqual({name for name in self.names(node.body) if not name.startswith("__")},
                             {name for name in there if not name.startswith("_")}, node.name)
            self.assertLessEqual({name for name in there if name.startswith("__")}, self.names(node.body))
        models = ast.parse((folder / "model.pyi").read_text(encoding="utf-8"))
        self.assertEqual(self.names(models.body), {name for name in dir(oneprobe.model) if not name.startswith("_")})

    def test_arguments_of_the_stubs_are_those_of_the_functions(self):
        folder = pathlib.Path(oneprobe.__file__).parent
        for module, file in ((oneprobe, "__init__.pyi"), (oneprobe.model, "model.pyi")):
            for node in ast.parse((folder / file).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef):
                    signature = getattr(module, node.name).__doc__.splitlines()[0]
                    for argument in node.args.args + node.args.kwonlyargs:
                        self.assertRegex(signature, rf"\b{argument.arg}:", node.name)

    def test_everything_has_a_docstring(self):
        self.assertTrue(oneprobe.__doc__ and oneprobe.model.__doc__)
        for module in (oneprobe, oneprobe.model):
            for name in dir(module):
                thing = getattr(module, name)
                if not name.startswith("_") and (callable(thing) or inspect.isclass(thing)):
                    self.assertTrue(thing.__doc__, name)
        for kind in (oneprobe.Filter, oneprobe.Map, oneprobe.FilterPlan, oneprobe.TablePlan):
            for name, value in vars(kind).items():
                if not name.startswith("_"):
                    self.assertTrue(value.__doc__ and "\n\n" in (value.__doc__ + "\n\n"), f"{kind.__name__}.{name}")


if __name__ == "__main__":
    unittest.main()
