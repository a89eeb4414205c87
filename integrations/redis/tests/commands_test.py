"""Every command, with good and bad arguments, in RESP2 and RESP3, by a raw client, redis-cli and python3-redis."""

import subprocess
import unittest

import redis

from servers import CLI, RespError, Server, refused_start

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


def word(reply):
    """Servers differ in which words are simple strings."""
    return reply.decode() if isinstance(reply, bytes) else reply


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def setUp(self):
        self.two = self.server.client(2)
        self.three = self.server.client(3)
        self.two.call("FLUSHALL")

    def tearDown(self):
        self.two.close()
        self.three.close()

    def says(self, expected, *words):
        for client in (self.two, self.three):
            reply = client.ask(*words)
            self.assertIsInstance(reply, RespError, words)
            self.assertEqual(str(reply), expected, words)

    def wrong_number(self, *words):
        reply = self.two.ask(*words)
        self.assertIsInstance(reply, RespError, words)
        self.assertIn("wrong number of arguments", str(reply))

    def test_reserve(self):
        for prefix in ("BF", "OP"):
            name = prefix + ".RESERVE"
            self.assertEqual(self.two.ask(name, prefix + "1", "0.01", "1000"), "OK")
            self.assertEqual(self.three.ask(name, prefix + "2", "0.01", "1000", "EXPANSION", "4"), "OK")
            self.assertEqual(self.two.ask(name, prefix + "3", "0.01", "1000", "NONSCALING"), "OK")
            self.assertEqual(self.two.ask(name, prefix + "4", "0.01", "1000", "expansion", "0"), "OK")
            self.assertEqual(self.two.ask(name, prefix + "5", "0.9", "1"), "OK")
            self.says("ERR item exists", name, prefix + "1", "0.01", "1000")
            self.says("ERR bad error rate", name, "n", "x", "1000")
            self.says("ERR bad error rate", name, "n", "nan", "1000")
            for error in ("0", "1", "-0.5", "2", "inf"):
                self.says("ERR error rate must be in the range (0.000000, 1.000000)", name, "n", error, "1000")
            self.says("ERR bad capacity", name, "n", "0.01", "x")
            for capacity in ("0", "-1", "1073741825"):
                self.says("ERR capacity must be in the range [1, 1073741824]", name, "n", "0.01", capacity)
            self.says("ERR no expansion", name, "n", "0.01", "100", "EXPANSION")
            self.says("ERR bad expansion", name, "n", "0.01", "100", "EXPANSION", "x")
            self.says("ERR expansion must be in the range [0, 32768]", name, "n", "0.01", "100", "EXPANSION", "-1")
            self.says("ERR expansion must be in the range [0, 32768]", name, "n", "0.01", "100", "EXPANSION", "32769")
            self.says("Nonscaling filters cannot expand", name, "n", "0.01", "100", "NONSCALING", "EXPANSION", "2")
            self.wrong_number(name, "n", "0.01")
        self.two.call("SET", "text", "x")
        self.says(WRONGTYPE, "BF.RESERVE", "text", "0.01", "100")
        self.wrong_number("BF.RESERVE", "n", "0.01", "100", "EXPANSION", "2", "NONSCALING", "more")

    def test_own_options_of_reserve(self):
        for kind in ("fingerprint", "standard", "blocked", "balanced"):
            self.assertEqual(self.two.ask("OP.RESERVE", kind, "0.001", "10000", "KIND", kind), "OK")
            info = self.three.call("OP.INFO", kind)
            self.assertEqual(info["Kind"], kind.encode())
            self.assertLessEqual(info["Predicted error"], 0.001)
        self.assertEqual(self.two.ask("OP.RESERVE", "bits", "0.01", "100000", "BITS", "16", "SEED", "7"), "OK")
        info = self.three.call("OP.INFO", "bits")
        self.assertLessEqual(info["Bits per element"], 16)
        self.assertGreater(info["Bits per element"], 15)
        self.assertLess(info["Predicted error"], 3e-4)
        self.assertEqual(info["Seed"], b"7")
        self.assertEqual(self.two.ask("OP.RESERVE", "lean", "0.001", "100000", "ACCESSES", "1.1"), "OK")
        self.assertLessEqual(self.three.call("OP.INFO", "lean")["Accesses"], 1.1)
        self.assertIn("BITS 5", str(self.two.ask("OP.RESERVE", "n", "0.001", "100000", "BITS", "5")))
        self.says("ERR KIND must be fingerprint, standard, blocked or balanced", "OP.RESERVE", "n", "0.1", "9", "KIND", "x")
        self.says("ERR BITS must be from 1 to 256 bits per element", "OP.RESERVE", "n", "0.1", "9", "BITS", "0")
        self.says("ERR ACCESSES must be from 1 to 64", "OP.RESERVE", "n", "0.1", "9", "ACCESSES", "0.5")
        self.says("ERR SEED must be a whole number from 0 to 18446744073709551615", "OP.RESERVE", "n", "0.1", "9", "SEED", "-1")
        self.says("ERR syntax error", "OP.RESERVE", "n", "0.1", "9", "NONSENSE", "1")

    def test_growth_is_read_as_clients_of_each_name_expect(self):
        full = "Nonscaling filters cannot expand"
        number = 0
        # What follows error and capacity; the expansion of the filter then, or the error. OP.* differs where it is stated.
        for words, bf, op in (
                ("", 2, 2), ("EXPANSION 1", 1, 1), ("EXPANSION 0", None, None), ("NONSCALING", None, None),
                ("nonscaling", None, None), ("EXPANSION 0 NONSCALING", None, None), ("NONSCALING EXPANSION 0", None, None),
                ("NONSCALING EXPANSION 1", full, full), ("EXPANSION 2 NONSCALING", full, full),
                ("EXPANSION x NONSCALING", "ERR bad expansion", "ERR bad expansion"),
                ("NONSCALING EXPANSION", "ERR no expansion", "ERR no expansion"),
                ("NONSCALING EXPANSION -1", full, "ERR expansion must be in the range [0, 32768]"),
                ("EXPANSION NONSCALING", "ERR bad expansion", "ERR bad expansion"),
                ("2 EXPANSION", "ERR no expansion", "ERR syntax error"),
                ("SEED 1", 2, 2), ("NONSCALNG", 2, "ERR syntax error"), ("EXPANSION 4 more", 4, "ERR syntax error")):
            for prefix, expected in (("BF", bf), ("OP", op)):
                number += 1
                key = f"reserved {number}"
                reply = self.two.ask(prefix + ".RESERVE", key, "0.01", "50", *words.split())
                if isinstance(expected, str):
                    self.assertEqual(str(reply), expected, (prefix, words))
                    self.assertEqual(self.two.call("EXISTS", key), 0)
                else:
                    self.assertEqual(reply, "OK", (prefix, words))
                    self.assertEqual(self.two.call("BF.INFO", key, "EXPANSION"), [expected], (prefix, words))
        for words, expected in (("", 2), ("EXPANSION 1", 1), ("EXPANSION 0", None), ("NONSCALING", None),
                                ("NONSCALING EXPANSION 2", None), ("EXPANSION 2 NONSCALING", None)):
            for prefix in ("BF", "OP"):
                key = f"inserted {prefix} {words}"
                self.assertEqual(self.two.call(prefix + ".INSERT", key, *words.split(), "ITEMS", "a"), [1])
                self.assertEqual(self.two.call("BF.INFO", key, "EXPANSION"), [expected], (prefix, words))

    def test_shortened_words_of_insert(self):
        self.assertEqual(self.two.call("BF.INSERT", "k", "cap", "7", "ERROR_RATE", "0.1", "exp", "3", "item", "a", "b"), [1, 1])
        self.assertEqual(self.two.call("BF.INFO", "k", "CAPACITY"), [7])
        self.assertEqual(self.two.call("BF.INFO", "k", "EXPANSION"), [3])
        self.assertEqual(self.three.call("OP.INFO", "k")["Stated error"], 0.1)
        self.assertEqual(self.two.call("BF.INSERT", "l", "nons", "i", "a"), [1])
        self.assertEqual(self.two.call("BF.INFO", "l", "EXPANSION"), [None])
        self.says("ERR not found", "BF.INSERT", "n", "noc", "i", "a")
        self.says("Unknown argument received", "BF.INSERT", "n", "", "ITEMS", "a")
        self.says("Unknown argument received", "OP.INSERT", "n", "cap", "7", "ITEMS", "a")

    def test_the_smallest_error_is_the_one_that_is_told(self):
        limited = Server(module_options=("MAX-BYTES", "64"))  # what has a plan is refused for its memory
        self.addCleanup(limited.end)
        with limited.client() as client:
            for capacity, words, least in (("100", (), "8e-12"), ("100", ("NONSCALING",), "1.01e-12"), ("101", (), "1.2e-12"),
                                           ("100", ("EXPANSION", "1"), "6.4e-11"), ("100000000", (), "6.46e-12"),
                                           ("1073741824", (), "6.93e-11"), ("1073741824", ("NONSCALING",), "5.83e-11")):
                grows = "does not grow" if "NONSCALING" in words else "can grow"
                refusal = ("ERR could not create filter: the smallest error of a filter for "
                           f"{capacity} items that {grows} is {least}")
                for error in ("1e-12", f"{float(least) * 0.985:.9g}"):
                    for name in ("BF.RESERVE", "OP.RESERVE"):
                        self.assertEqual(str(client.ask(name, "n", error, capacity, *words)), f"{refusal}; found {error}")
                self.assertEqual(str(client.ask("BF.RESERVE", "n", least, capacity, *words)),
                                 "ERR Insufficient memory to create filter")
        self.assertEqual(self.two.ask("BF.RESERVE", "n", "8e-12", "100"), "OK")

    def test_add_and_exists(self):
        self.assertIs(self.three.call("BF.ADD", "k", "a"), True)
        self.assertIs(self.three.call("BF.ADD", "k", "a"), False)
        self.assertEqual((self.two.call("BF.ADD", "k", "b"), self.two.call("BF.ADD", "k", "b")), (1, 0))
        self.assertEqual(self.two.call("BF.MADD", "k", "b", "c", "d"), [0, 1, 1])
        self.assertEqual(self.three.call("OP.MADD", "k", "d", "e"), [False, True])
        self.assertEqual((self.two.call("BF.EXISTS", "k", "a"), self.two.call("BF.EXISTS", "k", "zz")), (1, 0))
        self.assertIs(self.three.call("OP.EXISTS", "k", "a"), True)
        self.assertEqual(self.two.call("BF.MEXISTS", "k", "a", "zz", "e"), [1, 0, 1])
        self.assertEqual(self.three.call("BF.MEXISTS", "k", "a", "zz"), [True, False])
        self.assertEqual(self.two.call("BF.MEXISTS", "nobody", "a", "b"), [0, 0])
        self.assertEqual((self.two.call("BF.CARD", "k"), self.two.call("BF.CARD", "nobody")), (5, 0))
        self.two.call("SET", "text", "x")
        self.assertEqual(self.two.call("BF.EXISTS", "text", "a"), 0)
        self.says(WRONGTYPE, "BF.ADD", "text", "a")
        self.says(WRONGTYPE, "BF.MADD", "text", "a")
        self.says(WRONGTYPE, "BF.CARD", "text")
        for words in (("BF.ADD", "k"), ("BF.ADD", "k", "a", "b"), ("BF.MADD", "k"), ("BF.EXISTS", "k"), ("BF.CARD",)):
            self.wrong_number(*words)

    def test_any_bytes_are_an_item(self):
        items = [b"", b"\0", b"\xff\xfe", b"a\r\nb", b"x" * 1_000_000]
        self.assertEqual(self.two.call("BF.MADD", "k", *items), [1] * len(items))
        self.assertEqual(self.two.call("BF.MEXISTS", "k", *items), [1] * len(items))

    def test_insert(self):
        self.assertEqual(self.two.call("BF.INSERT", "k", "ITEMS", "a", "b", "a"), [1, 1, 0])
        self.assertEqual(self.three.call("OP.INSERT", "k", "NOCREATE", "ITEMS", "b", "c"), [False, True])
        options = ("CAPACITY", "5000", "ERROR", "0.001", "EXPANSION", "3")
        self.assertEqual(self.two.call("BF.INSERT", "l", *options, "ITEMS", "a"), [1])
        self.assertEqual(self.two.call("BF.INFO", "l", "CAPACITY"), [5000])
        self.assertEqual(self.two.call("BF.INFO", "l", "EXPANSION"), [3])
        self.says("ERR not found", "BF.INSERT", "nobody", "NOCREATE", "ITEMS", "a")
        self.says("Bad capacity", "BF.INSERT", "n", "CAPACITY", "x", "ITEMS", "a")
        self.says("Bad error rate", "BF.INSERT", "n", "ERROR", "x", "ITEMS", "a")
        self.says("Bad expansion", "BF.INSERT", "n", "EXPANSION", "x", "ITEMS", "a")
        self.says("Unknown argument received", "BF.INSERT", "n", "NONSENSE", "x", "ITEMS", "a")
        self.says("Unknown argument received", "BF.INSERT", "n", "SEED", "1", "ITEMS", "a")
        for words in (("k", "ITEMS"), ("k", "CAPACITY", "5"), ("k", "NOCREATE", "CAPACITY")):
            self.wrong_number("BF.INSERT", *words)
        self.assertEqual(self.two.call("EXISTS", "n"), 0)

    def test_a_nonscaling_filter_is_full_when_it_is(self):
        self.two.call("BF.RESERVE", "k", "0.0001", "10", "NONSCALING")
        replies = self.two.call("BF.MADD", "k", *[f"item {i}" for i in range(20)])
        self.assertEqual(replies[:10], [1] * 10)
        self.assertEqual([str(each) for each in replies[10:]], ["ERR non scaling filter is full"])
        self.says("ERR non scaling filter is full", "BF.ADD", "k", "one more")
        self.assertEqual(self.two.call("BF.ADD", "k", "item 3"), 0)
        self.assertEqual(self.two.call("BF.CARD", "k"), 10)
        self.assertEqual(self.two.call("BF.INFO", "k", "EXPANSION"), [None])
        self.assertEqual(self.three.call("BF.INFO", "k", "expansion"), {"Expansion rate": None})

    def test_info(self):
        self.two.call("BF.RESERVE", "k", "0.01", "1000")
        self.two.call("BF.ADD", "k", "a")
        names = ["Capacity", "Size", "Number of filters", "Number of items inserted", "Expansion rate"]
        flat = self.two.call("BF.INFO", "k")
        self.assertEqual(flat[::2], names)
        self.assertEqual(flat[1::2], [1000, flat[3], 1, 1, 2])
        self.assertEqual(self.three.call("BF.INFO", "k"), dict(zip(flat[::2], flat[1::2])))
        for field, name, value in zip(("CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"), names, flat[1::2]):
            self.assertEqual(self.two.call("BF.INFO", "k", field), [value])
            self.assertEqual(self.three.call("BF.INFO", "k", field), {name: value})
        self.says("Invalid information value", "BF.INFO", "k", "nonsense")
        self.says("ERR not found", "BF.INFO", "nobody")
        full = self.three.call("OP.INFO", "k")
        self.assertEqual(list(full)[:5], names)
        for name in ("Kind", "Stated error", "Predicted error", "Current error", "Accesses", "Overflow", "Memory"):
            self.assertIn(name, full)
        self.assertEqual(full["Stated error"], 0.01)
        self.assertLessEqual(abs(self.three.call("MEMORY", "USAGE", "k") - full["Memory"]), 200)

    def test_growth_keeps_the_stated_error(self):
        self.two.call("BF.RESERVE", "k", "0.01", "100")
        items = [f"item {i}" for i in range(20000)]
        for first in range(0, len(items), 1000):
            self.two.call("BF.MADD", "k", *items[first:first + 1000])
        self.assertGreater(self.two.call("BF.INFO", "k", "FILTERS")[0], 5)
        self.assertGreaterEqual(self.two.call("BF.INFO", "k", "CAPACITY")[0], 20000)
        self.assertNotIn(0, self.two.call("BF.MEXISTS", "k", *items))
        wrong = sum(self.two.call("BF.MEXISTS", "k", *[f"other {i}" for i in range(20000)]))
        # 200 at most on average; six deviations more would be one test in 10^9.
        self.assertLess(wrong, 200 + 6 * 200 ** 0.5)
        info = self.three.call("OP.INFO", "k")
        self.assertLessEqual(info["Predicted error"], 0.01)
        self.assertEqual(info["Condition"], b"as planned")

    def test_expansion_one_grows_by_parts_of_one_size(self):
        self.two.call("BF.RESERVE", "k", "0.01", "100", "EXPANSION", "1")
        self.two.call("BF.MADD", "k", *[f"item {i}" for i in range(3000)])
        self.assertGreater(self.two.call("BF.INFO", "k", "FILTERS")[0], 20)
        self.assertEqual(self.two.call("BF.INFO", "k", "EXPANSION"), [1])
        parts = self.two.call("BF.DEBUG", "k")[1:]
        self.assertEqual({part.split(b"capacity:")[1].split()[0] for part in parts}, {b"100"})
        self.assertEqual(self.two.call("BF.INFO", "k", "CAPACITY"), [100 * len(parts)])

    def test_debug(self):
        self.two.call("OP.RESERVE", "k", "0.01", "50", "KIND", "standard", "EXPANSION", "3")
        self.two.call("BF.MADD", "k", *[f"item {i}" for i in range(60)])
        size = self.two.call("BF.CARD", "k")
        told = self.two.call("BF.DEBUG", "k")
        self.assertEqual(told, self.three.call("OP.DEBUG", "k"))
        self.assertEqual(told[0], b"size:%d" % size)
        parts = [dict(fact.split(b":") for fact in part.split()) for part in told[1:]]
        self.assertEqual([part[b"capacity"] for part in parts], [b"50", b"150"])
        self.assertEqual([part[b"size"] for part in parts], [b"50", b"%d" % (size - 50)])
        self.assertEqual(sum(int(part[b"bytes"]) for part in parts), self.two.call("BF.INFO", "k", "SIZE")[0])
        for part in parts:
            self.assertEqual(list(part), [b"bytes", b"bits", b"hashes", b"hashwidth", b"capacity", b"size", b"ratio"])
            self.assertEqual(int(part[b"bits"]), 8 * int(part[b"bytes"]))
        self.assertLessEqual(sum(float(part[b"ratio"]) for part in parts), 0.01)
        self.says("ERR not found", "BF.DEBUG", "nobody")
        self.wrong_number("BF.DEBUG", "k", "more")

    def test_dump_in_chunks(self):
        self.two.call("BF.RESERVE", "k", "0.001", "3000")
        items = [f"item {i}" for i in range(10000)]
        self.two.call("BF.MADD", "k", *items)
        chunks = []
        iterator = 0
        while True:
            iterator, data = self.two.call("BF.SCANDUMP", "k", iterator)
            if iterator == 0:
                self.assertEqual(data, b"")
                break
            chunks.append((iterator, data))
        self.assertEqual(chunks[0][0], 1)
        for iterator, data in chunks[:-1]:
            self.assertEqual(self.two.call("BF.LOADCHUNK", "copy", iterator, data), "OK")
        self.says("ERR filter is incomplete: more chunks of it have to be loaded", "BF.EXISTS", "copy", "a")
        iterator, data = chunks[-1]
        self.says("ERR invalid offset - no link found", "BF.LOADCHUNK", "copy", iterator + 1, data)
        self.says("ERR invalid chunk - Too big for current filter", "BF.LOADCHUNK", "copy", iterator + 1, data + b"x")
        self.assertEqual(self.two.call("OP.LOADCHUNK", "copy", iterator, data), "OK")
        self.assertEqual(*self.two.call("DEBUG", "DIGEST-VALUE", "k", "copy"))
        self.assertNotIn(0, self.two.call("BF.MEXISTS", "copy", *items))
        self.says("ERR not found", "BF.SCANDUMP", "nobody", "0")
        self.says("Second argument must be numeric", "BF.SCANDUMP", "k", "x")
        self.says("ERR Second argument must be numeric", "BF.LOADCHUNK", "k", "x", "data")
        self.says("ERR received bad data", "BF.LOADCHUNK", "other", "1", "data")
        self.says("ERR received bad data", "BF.LOADCHUNK", "k", "0", "data")
        self.says("ERR received bad data", "BF.LOADCHUNK", "k", "3", "data")
        self.says("ERR not found", "BF.LOADCHUNK", "other", "100", "data")
        # A filter that is there, whole or not, is not begun anew.
        self.says("ERR invalid offset - no link found", "BF.LOADCHUNK", "copy", *chunks[0])
        self.two.call("BF.LOADCHUNK", "half", *chunks[0])
        self.says("ERR invalid offset - no link found", "OP.LOADCHUNK", "half", *chunks[0])
        self.assertEqual(self.two.call("EXISTS", "other"), 0)

    def test_commands_describe_themselves(self):
        for prefix in ("OP", "BF"):
            for name, arity, flag in (("ADD", 3, "write"), ("MEXISTS", -3, "readonly"), ("RESERVE", -4, "denyoom")):
                info = self.two.call("COMMAND", "INFO", f"{prefix}.{name}")[0]
                self.assertEqual(info[1], arity)
                self.assertIn(flag, info[2])
                words = ("k", "0.1", "9")[:abs(arity) - 1]
                self.assertEqual(self.two.call("COMMAND", "GETKEYS", f"{prefix}.{name}", *words), [b"k"])

    def documentation(self, name):
        """What COMMAND DOCS says of a command."""
        return self.three.call("COMMAND", "DOCS", name)[name.lower().encode()]

    def test_commands_are_documented(self):
        def names(name):
            return [argument[b"name"].decode() for argument in self.documentation(name)[b"arguments"]]

        for prefix in ("BF", "OP"):
            own = [] if prefix == "BF" else ["kind", "bits", "accesses", "seed"]
            for name, expected in (
                    ("RESERVE", ["key", "error_rate", "capacity", "expansion", "nonscaling", *own]),
                    ("ADD", ["key", "item"]), ("MADD", ["key", "item"]),
                    ("INSERT", ["key", "capacity", "error", "expansion", "nocreate", "nonscaling", *own, "items", "item"]),
                    ("EXISTS", ["key", "item"]), ("MEXISTS", ["key", "item"]), ("CARD", ["key"]),
                    ("INFO", ["key", "single_value"]), ("DEBUG", ["key"]), ("SCANDUMP", ["key", "iterator"]),
                    ("LOADCHUNK", ["key", "iterator", "data"])):
                self.assertEqual(names(f"{prefix}.{name}"), expected)
                documented = self.documentation(f"{prefix}.{name}")
                for field in (b"summary", b"since", b"complexity"):
                    self.assertTrue(documented[field], (prefix, name, field))
        fields = self.documentation("BF.INFO")[b"arguments"][1]
        self.assertEqual([each[b"token"] for each in fields[b"arguments"]],
                         [b"CAPACITY", b"SIZE", b"FILTERS", b"ITEMS", b"EXPANSION"])
        # Names are given in small letters, as those of Redis's own commands: in statistics, too.
        self.assertEqual(self.two.call("COMMAND", "INFO", "BF.ADD")[0][0], b"bf.add")
        self.assertEqual(str(self.two.ask("BF.ADD", "k")), "ERR wrong number of arguments for 'bf.add' command")

    def test_access_lists_know_the_category(self):
        if "bloom" not in map(word, self.two.call("ACL", "CAT")):
            self.skipTest("this server has no categories of modules, as Redis before 7.4")
        for prefix, category in (("bf", "@bloom"), ("op", "@oneprobe")):
            for name, kind in (("reserve", "write"), ("add", "write"), ("madd", "write"), ("insert", "write"), ("exists", "read"),
                               ("mexists", "read"), ("card", "read"), ("info", "read"), ("debug", "read"), ("scandump", "read"),
                               ("loadchunk", "write")):
                categories = set(map(word, self.two.call("COMMAND", "INFO", f"{prefix}.{name}")[0][6]))
                fast = {"@fast"} if name in ("reserve", "card", "info") else set()
                self.assertEqual(categories, {category, "@" + kind} | fast, name)
        self.two.call("ACL", "SETUSER", "filters", "on", ">secret", "~*", "+@bloom")
        self.two.call("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read")
        with self.server.client() as client:
            client.call("AUTH", "filters", "secret")
            self.assertEqual(client.ask("BF.ADD", "k", "a"), 1)
            self.assertIn("NOPERM", str(client.ask("SET", "text", "x")))
            for own in (("OP.REPLAY", "k", "CHECK", "0"), ("OP.INFO", "k")):
                self.assertIn("NOPERM", str(client.ask(*own)))
            client.call("AUTH", "reader", "secret")
            self.assertEqual(client.ask("BF.EXISTS", "k", "a"), 1)
            self.assertIn("NOPERM", str(client.ask("BF.ADD", "k", "b")))
        self.two.call("ACL", "DELUSER", "filters", "reader")

    def test_options_of_the_module(self):
        for options, error, capacity, expansion in (
                (("ERROR_RATE", "0.001", "INITIAL_SIZE", "500"), 0.001, 500, 2),
                (("initial_size", "700", "error_rate", "0.002", "max-bytes", "1000000"), 0.002, 700, 2),
                (("bf-error-rate", "0.5", "BF-INITIAL-SIZE", "800", "bf-expansion-factor", "3"), 0.25, 800, 3),
                (("bf-expansion-factor", "0", "CF_MAX_EXPANSIONS", "3"), 0.01, 100, None), (("",), 0.01, 100, 2)):
            server = Server(module_options=options)
            self.addCleanup(server.end)
            with server.client(3) as client:
                client.call("BF.ADD", "added", "a")
                client.call("BF.MADD", "many", "a")
                client.call("OP.INSERT", "inserted", "ITEMS", "a")
                for key in ("added", "many", "inserted"):
                    info = client.call("OP.INFO", key)
                    told = (info["Stated error"], info["Capacity"], info["Expansion rate"])
                    self.assertEqual(told, (error, capacity, expansion), (options, key))
                client.call("BF.INSERT", "other", "CAPACITY", "50", "ITEMS", "a")
                self.assertEqual(client.call("BF.INFO", "other")["Capacity"], 50)
                if expansion is None:
                    self.assertEqual(str(client.ask("BF.RESERVE", "r", "0.01", "10", "EXPANSION", "2")),
                                     "Nonscaling filters cannot expand")
            server.end()

    def test_wrong_options_of_the_module_are_refused_in_one_line(self):
        for options, line in (
                (("ERROR_RATE", "x"), "option 'ERROR_RATE' must be a number in the range (0.000000, 1.000000); found 'x'"),
                (("bf-error-rate", "1"), "option 'bf-error-rate' must be a number in the range (0.000000, 1.000000); found '1'"),
                (("initial_size", "0"), "option 'initial_size' must be a number in the range [1, 1073741824]; found '0'"),
                (("bf-expansion-factor", "32769"),
                 "option 'bf-expansion-factor' must be a number in the range [0, 32768]; found '32769'"),
                (("MAX-BYTES", "0"), "option 'MAX-BYTES' must be a number above 0; found '0'"),
                (("MAX-BYTES", "5", "INITIAL_SIZE"), "option 'INITIAL_SIZE' needs a value"),
                (("NONSENSE", "1"), "option 'NONSENSE' is none: there are MAX-BYTES, bf-error-rate or ERROR_RATE, "
                                    "bf-initial-size or INITIAL_SIZE, and bf-expansion-factor")):
            ours = [each for each in refused_start(*options).splitlines() if "oneprobe: " in each]
            self.assertEqual(len(ours), 1, ours)
            self.assertTrue(ours[0].endswith("oneprobe: " + line), ours[0])

    def test_settings(self):
        prefix = self.two.call("CONFIG", "GET", "*bf-error-rate")[0].decode()[:-len("bf-error-rate")]
        self.assertIn(prefix, ("", "oneprobe."))

        def setting(name):
            return self.two.call("CONFIG", "GET", prefix + name)[1]

        def change(name, value):
            return self.two.ask("CONFIG", "SET", prefix + name, value)

        self.assertEqual([setting("bf-error-rate"), setting("bf-initial-size"), setting("bf-expansion-factor")],
                         [b"0.01", b"100", b"2"])
        try:
            for name, value in (("bf-error-rate", "0.02"), ("bf-initial-size", "300"), ("bf-expansion-factor", "4")):
                self.assertEqual(change(name, value), "OK")
                self.assertEqual(setting(name), value.encode())
            self.two.call("BF.ADD", "k", "a")
            info = self.three.call("OP.INFO", "k")
            self.assertEqual((info["Stated error"], info["Capacity"], info["Expansion rate"]), (0.02, 300, 4))
            for name, value in (("bf-error-rate", "0"), ("bf-error-rate", "1"), ("bf-initial-size", "0"),
                                ("bf-initial-size", str(2**32)), ("bf-expansion-factor", "-1"),
                                ("bf-expansion-factor", "32769")):
                before = setting(name)
                self.assertIn(f"Value for `{name}` must be in the range", str(change(name, value)))
                self.assertEqual(setting(name), before)
            self.assertIn("Invalid value for `bf-initial-size`", str(change("bf-initial-size", "many")))
            self.assertEqual((change("bf-error-rate", "0.7"), setting("bf-error-rate")), ("OK", b"0.25"))
        finally:
            for name, value in (("bf-error-rate", "0.01"), ("bf-initial-size", "100"), ("bf-expansion-factor", "2")):
                change(name, value)

    def test_limits_hold_before_memory_is_asked_for(self):
        limited = Server(module_options=("MAX-BYTES", "1000000"))
        try:
            with limited.client() as client:
                before = int(client.call("MEMORY", "STATS")[3])
                reply = client.ask("BF.RESERVE", "k", "0.0001", "1000000000")
                self.assertEqual(str(reply), "ERR Insufficient memory to create filter")
                self.assertLess(int(client.call("MEMORY", "STATS")[3]) - before, 1_000_000)
                client.call("BF.RESERVE", "k", "0.01", "100000", "EXPANSION", "32768")
                replies = client.pipeline([("BF.ADD", "k", str(i)) for i in range(100_600)])
                # The next part would be too large: what is there stays as good as it was promised.
                # Of a hundred one or two may be taken for present, but not all.
                self.assertIn("ERR problem inserting into filter", map(str, replies[-100:]))
                self.assertEqual(client.call("BF.CARD", "k"), 100_000)
        finally:
            limited.end()

    def test_what_cannot_be_made_is_refused_in_the_words_of_each_name(self):
        limited = Server(module_options=("MAX-BYTES", "64"))
        try:
            with limited.client() as client:
                for words in (("ADD", "k", "a"), ("MADD", "k", "a", "b"), ("INSERT", "k", "ITEMS", "a"),
                              ("RESERVE", "k", "0.01", "100")):
                    usual = "ERR Insufficient memory to create filter"
                    self.assertEqual(str(client.ask("BF." + words[0], *words[1:])), usual)
                    self.assertRegex(str(client.ask("OP." + words[0], *words[1:])),
                                     usual + ": it needs [0-9]+ bytes, and 64 are allowed")
        finally:
            limited.end()

    def test_a_filter_that_cannot_grow_is_planned_for_once(self):
        limited = Server(module_options=("MAX-BYTES", "100000"))
        try:
            with limited.client() as client:
                # The next part has items enough for the planner, which takes far longer than a command.
                client.call("OP.RESERVE", "k", "0.01", "1000", "EXPANSION", "2000", "KIND", "fingerprint")
                replies = client.pipeline([("BF.ADD", "k", str(i)) for i in range(1010)])
                self.assertGreaterEqual(client.call("BF.CARD", "k"), 990)
                before = limited.processor_seconds()
                refused = client.pipeline([("BF.ADD", "k", f"more {i}") for i in range(100)])
                spent = limited.processor_seconds() - before
                self.assertIn("ERR problem inserting into filter", map(str, replies + refused))
                self.assertLess(spent, 0.1, "seconds of a processor for all of them")
        finally:
            limited.end()

    def test_memory_comes_with_the_bytes(self):
        self.two.call("BF.RESERVE", "k", "0.001", "10000000")
        head = self.two.call("BF.SCANDUMP", "k", 0)[1]
        end, data = self.two.call("BF.SCANDUMP", "k", 1)
        self.two.call("BF.LOADCHUNK", "copy", 1, head)
        self.two.call("BF.LOADCHUNK", "copy", 2, data[:1])
        self.assertLess(self.two.call("MEMORY", "USAGE", "copy"), 10_000)
        self.two.call("BF.LOADCHUNK", "copy", end, data[1:])
        self.assertLess(self.two.call("MEMORY", "USAGE", "copy"), 2 * len(data) + 10_000)
        while True:
            end, data = self.two.call("BF.SCANDUMP", "k", end)
            if end == 0:
                break
            self.two.call("BF.LOADCHUNK", "copy", end, data)
        self.assertEqual(*self.two.call("DEBUG", "DIGEST-VALUE", "k", "copy"))
        self.two.call("BF.ADD", "small", "a")
        self.two.call("BF.LOADCHUNK", "bytewise", *self.two.call("BF.SCANDUMP", "small", 0))
        data = self.two.call("BF.SCANDUMP", "small", 1)[1]
        for place in range(len(data)):
            self.two.call("BF.LOADCHUNK", "bytewise", place + 2, data[place:place + 1])
        self.assertEqual(*self.two.call("DEBUG", "DIGEST-VALUE", "small", "bytewise"))

    def test_access_lists_know_the_keys(self):
        self.two.call("ACL", "SETUSER", "worker", "on", ">secret", "+@all", "resetkeys", "~mine:*", "%R~shared:*")
        self.two.call("BF.MADD", "shared:k", "a")
        dump = self.two.call("BF.SCANDUMP", "shared:k", 0)[1]
        words = {"RESERVE": ("0.01", "100"), "ADD": ("a",), "MADD": ("a", "b"), "INSERT": ("ITEMS", "a"), "EXISTS": ("a",),
                 "MEXISTS": ("a", "b"), "CARD": (), "INFO": (), "DEBUG": (), "SCANDUMP": ("0",), "LOADCHUNK": ("1", dump)}
        reads = {"EXISTS", "MEXISTS", "CARD", "INFO", "DEBUG", "SCANDUMP"}
        with self.server.client() as client:
            client.call("AUTH", "worker", "secret")
            for prefix in ("BF", "OP"):
                for name, rest in words.items():
                    def is_refused(key):
                        return str(client.ask(f"{prefix}.{name}", key, *rest)).startswith("NOPERM")

                    self.assertFalse(is_refused("mine:k"), name)
                    self.assertEqual(is_refused("shared:k"), name not in reads, name)
                    self.assertTrue(is_refused("other:k"), name)
        self.two.call("ACL", "DELUSER", "worker")

    def test_events_and_copies(self):
        self.two.call("CONFIG", "SET", "notify-keyspace-events", "KEA")
        with self.server.client() as watcher:
            watcher.call("SUBSCRIBE", "__keyspace@0__:k")
            self.two.call("BF.RESERVE", "k", "0.01", "100")
            self.two.call("BF.ADD", "k", "a")
            self.assertEqual([watcher.read()[2], watcher.read()[2]], [b"op.reserve", b"op.add"])
        self.two.call("CONFIG", "SET", "notify-keyspace-events", "")
        self.assertEqual(self.two.call("COPY", "k", "l"), 1)
        self.assertEqual(*self.two.call("DEBUG", "DIGEST-VALUE", "k", "l"))
        self.two.call("BF.ADD", "l", "b")
        self.assertEqual((self.two.call("BF.CARD", "k"), self.two.call("BF.CARD", "l")), (1, 2))
        self.assertGreater(self.two.call("MEMORY", "USAGE", "k"), 100)
        self.assertEqual(self.two.call("UNLINK", "k", "l"), 2)

    def test_redis_cli(self):
        def cli(*words):
            return subprocess.run([CLI, "-p", str(self.server.port), *words], stdout=subprocess.PIPE, text=True,
                                  timeout=60).stdout.split("\n")[:-1]

        self.assertEqual(cli("-2", "BF.ADD", "k", "a"), ["1"])
        self.assertEqual(cli("-3", "BF.EXISTS", "k", "a"), ["(true)"])
        self.assertEqual(cli("-3", "BF.INFO", "k", "ITEMS"), ["Number of items inserted 1"])
        self.assertEqual(cli("-2", "BF.INFO", "k", "ITEMS"), ["1"])
        # The line of arguments, with colours between the words.
        shown = " ".join(cli("HELP", "BF.INSERT"))
        for part in ("key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]",
                     "Adds items to a filter"):
            self.assertIn(part, shown)

    def test_python_client(self):
        client = redis.Redis(port=self.server.port)
        bf = client.bf()
        self.assertTrue(bf.create("k", 0.01, 1000))
        self.assertTrue(bf.create("e", 0.01, 1000, expansion=3))
        self.assertTrue(bf.create("n", 0.01, 10, noScale=True))
        with self.assertRaisesRegex(redis.ResponseError, "item exists"):
            bf.create("k", 0.01, 1000)
        self.assertEqual((bf.add("k", "a"), bf.add("k", "a")), (1, 0))
        self.assertEqual(bf.madd("k", "a", "b"), [0, 1])
        self.assertEqual(bf.insert("i", ["a", "b"], capacity=500, error=0.001, expansion=4), [1, 1])
        with self.assertRaisesRegex(redis.ResponseError, "not found"):
            bf.insert("nobody", ["a"], noCreate=True)
        self.assertEqual((bf.exists("k", "a"), bf.exists("k", "z")), (1, 0))
        self.assertEqual(bf.mexists("k", "a", "z"), [1, 0])
        info = bf.info("k")
        self.assertEqual((info.capacity, info.filterNum, info.insertedNum, info.expansionRate), (1000, 1, 2, 2))
        self.assertIsNone(bf.info("n").expansionRate)
        iterator, chunks = 0, []
        while True:
            iterator, data = bf.scandump("k", iterator)
            if iterator == 0:
                break
            chunks.append((iterator, data))
        for iterator, data in chunks:
            bf.loadchunk("again", iterator, data)
        self.assertEqual(bf.mexists("again", "a", "b", "z"), [1, 1, 0])
        client.close()


if __name__ == "__main__":
    unittest.main()
