"""What is acknowledged is kept, whichever allocation fails: on the server, on its replica, after kill -9 and in RDB files."""

import os
import resource
import unittest
from pathlib import Path

from servers import RespError, Server, eventually

SCARCE = os.environ["ONEPROBE_REDIS_SCARCE"]
AOF = ("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no")


def fill(client, number):
    """Filters that are made in every way and grow. What the server acknowledged: items by key."""
    kept = {}

    def add(key, items, *words):
        reply = client.ask(*words)
        replies = reply if isinstance(reply, list) else [reply]
        for item, each in zip(items, replies):
            if each in (0, 1):
                kept.setdefault(key, []).append(item)

    def names(key, count, first=0):
        return [f"{key} {i}" for i in range(first, first + count)]

    def key_of(name):
        return f"{name} {number}"

    reserved, single, many, made, in_place = map(key_of, ("reserved", "single", "many", "made", "in place"))
    client.ask("OP.RESERVE", reserved, "0.01", "40", "KIND", "fingerprint")
    add(reserved, names(reserved, 300), "BF.MADD", reserved, *names(reserved, 300))
    for item in names(single, 110):
        add(single, [item], "BF.ADD", single, item)
    for first in (0, 150):
        add(many, names(many, 150, first), "BF.MADD", many, *names(many, 150, first))
    add(made, names(made, 90), "BF.INSERT", made, "CAPACITY", "30", "EXPANSION", "1", "ITEMS", *names(made, 90))
    client.ask("OP.RESERVE", in_place, "0.01", "100", "NONSCALING")
    add(in_place, names(in_place, 100), "BF.MADD", in_place, *names(in_place, 100))
    client.ask("BF.INFO", many)
    client.ask("OP.INFO", many)
    return kept


class Memory(unittest.TestCase):
    def setUp(self):
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            server.end()

    def server(self, *options, **more):
        self.servers.append(Server(*options, **more))
        return self.servers[-1]

    def assert_has(self, client, kept):
        for key, items in kept.items():
            reply = client.ask("BF.MEXISTS", key, *items)
            self.assertNotIsInstance(reply, RespError, key)
            self.assertNotIn(0, reply, key)

    def test_whichever_allocation_fails_what_was_acknowledged_is_kept(self):
        server = self.server(*AOF, module=SCARCE)
        with server.client() as client:
            replica = self.server("--replicaof", "127.0.0.1", str(server.port), module=SCARCE)
            eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
            client.call("TEST.FAIL", -1)
            kept = fill(client, "unharmed")
            self.assertEqual(sum(map(len, kept.values())), 300 + 110 + 300 + 90 + 100)
            allocations = client.call("TEST.FAIL", -1)
            self.assertGreater(allocations, 30)
            refused = 0
            for number in range(allocations):
                client.call("TEST.FAIL", number)
                some = fill(client, number)
                refused += sum(map(len, some.values())) < 900
                kept.update(some)
            client.call("TEST.FAIL", -1)
            self.assertGreater(refused, 10)
            self.assert_has(client, kept)
            for key in kept:
                info = dict(zip(*[iter(client.call("OP.INFO", key))] * 2))
                self.assertEqual(info["Condition"], b"as planned")
                self.assertLessEqual(float(info["Predicted error"]), 0.01)
            eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
            before = client.call("DEBUG", "DIGEST")
            with replica.client() as there:
                self.assertEqual(there.call("DEBUG", "DIGEST"), before)
                self.assert_has(there, kept)
            client.call("DEBUG", "RELOAD")
            self.assertEqual(client.call("DEBUG", "DIGEST"), before)
        server.restart()
        with server.client() as client:
            self.assertEqual(client.call("DEBUG", "DIGEST"), before)

    def test_at_maxmemory_what_was_acknowledged_is_kept(self):
        server = self.server(*AOF)
        with server.client() as client:
            replica = self.server("--replicaof", "127.0.0.1", str(server.port))
            eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
            client.call("BF.RESERVE", "k", "0.001", "20000")
            used = int(client.call("INFO", "memory").split(b"used_memory:")[1].split()[0])
            client.call("CONFIG", "SET", "maxmemory", used + 400_000)
            kept, refused = [], None
            for first in range(0, 1_000_000, 500):
                items = [str(i) for i in range(first, first + 500)]
                refused = client.ask("BF.MADD", "k", *items)
                if isinstance(refused, RespError):
                    break
                kept.extend(item for item, reply in zip(items, refused) if reply in (0, 1))
            self.assertRegex(str(refused), "^OOM ")
            client.call("CONFIG", "SET", "maxmemory", 0)
            eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
            digest = client.call("DEBUG", "DIGEST")
            with replica.client() as there:
                self.assertEqual(there.call("DEBUG", "DIGEST"), digest)
            for first in range(0, len(kept), 1000):
                self.assert_has(client, {"k": kept[first:first + 1000]})
        server.restart()
        with server.client() as client:
            self.assertEqual(client.call("DEBUG", "DIGEST"), digest)

    def test_without_address_space_a_full_filter_refuses(self):
        server = self.server(*AOF)
        with server.client() as client:
            client.call("BF.RESERVE", "k", "0.001", "400000")
            kept, refused = [], 0
            for first in range(0, 2_000_000, 1000):
                items = [str(i) for i in range(first, first + 1000)]
                replies = client.call("BF.MADD", "k", *items)
                kept.extend(item for item, reply in zip(items, replies) if reply in (0, 1))
                refused += isinstance(replies[-1], RespError)
                if refused == 5:
                    break
                if first == 390_000:
                    status = Path(f"/proc/{server.process.pid}/status").read_text()
                    limit = int(status.split("VmSize:")[1].split()[0]) * 1024 + 200_000
                    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (limit, limit))
            self.assertEqual(str(replies[-1]), "ERR problem inserting into filter")
            self.assertEqual(refused, 5)
            self.assertLess(len(kept), 1_300_000)
            self.assertEqual(server.log_text().count("there is not so much memory"), 1)
            wrong = 0
            for first in range(0, 200_000, 1000):
                wrong += sum(client.call("BF.MEXISTS", "k", *[f"absent {i}" for i in range(first, first + 1000)]))
            # 200 at most on average; six deviations more would be one test in 10^9.
            self.assertLess(wrong, 200 + 6 * 200 ** 0.5)
        server.restart()
        with server.client() as client:
            for first in range(0, len(kept), 1000):
                self.assertNotIn(0, client.call("BF.MEXISTS", "k", *kept[first:first + 1000]))


if __name__ == "__main__":
    unittest.main()
