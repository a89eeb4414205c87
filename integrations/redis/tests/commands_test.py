"""Every command, with good and bad arguments, in RESP2 and RESP3, by a raw client, redis-cli and python3-redis."""

import subprocess
import unittest

import redis

from servers import CLI, RespError, Server

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


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
            for error in ("0", "1", "-0.5", "2"):
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
        self.says("ERR syntax error", "BF.RESERVE", "n", "0.1", "9", "SEED", "1")

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
                self.assertEqual(str(replies[-1]), "ERR problem inserting into filter")
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
                 "MEXISTS": ("a", "b"), "CARD": (), "INFO": (), "SCANDUMP": ("0",), "LOADCHUNK": ("1", dump)}
        reads = {"EXISTS", "MEXISTS", "CARD", "INFO", "SCANDUMP"}
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
