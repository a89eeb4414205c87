"""Copies that cannot follow: without memory, with other plans, or from an AOF of which a bit was changed. They say so, or have all."""

import os
import random
import subprocess
import sys
import unittest

from memory_test import SCARCE, fill
from servers import CLI, RespError, Server, aof_of, eventually, rewrite_aof, wait_for_aof, write_aof

OTHER = os.environ["ONEPROBE_REDIS_OTHER"]
AOF = ("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no", "--aof-load-truncated", "no")
MUTATIONS = int(os.environ.get("ONEPROBE_REDIS_MUTATIONS", "60"))


def names(key, count, first=0):
    return [f"{key} {i}" for i in range(first, first + count)]


def answer(client, key, items):
    """`all` items are there, or the key answers with an `error`, or else how many are missing."""
    reply = client.ask("BF.MEXISTS", key, *items)
    if isinstance(reply, RespError):
        return "error"
    missing = reply.count(0)
    return "all" if missing == 0 else missing


class Damage(unittest.TestCase):
    def setUp(self):
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            server.end()

    def server(self, *options, **more):
        self.servers.append(Server(*options, **more))
        return self.servers[-1]

    def follow(self, primary, client, options=(), **more):
        replica = self.server("--replicaof", "127.0.0.1", str(primary.port), *options, **more)
        eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
        return replica

    def test_what_a_replica_has_no_memory_for_answers_with_an_error(self):
        server = self.server()
        with server.client() as client:
            replica = self.follow(server, client, module=SCARCE)
            with replica.client() as there:
                there.call("TEST.FAIL", -1)
                kept = fill(client, "unharmed")
                eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
                allocations = there.call("TEST.FAIL", -1)
                self.assertGreater(allocations, 20)
                damaged = 0
                for number in range(allocations):
                    there.call("TEST.FAIL", number)
                    kept = fill(client, number)
                    eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
                    there.call("TEST.FAIL", -1)
                    for key, items in kept.items():
                        found = answer(there, key, items)
                        self.assertIn(found, ("all", "error"))
                        damaged += found == "error"
                self.assertGreater(damaged, 10)
                # What is damaged stays so: in RDB files, in the AOF and in copies.
                key = next(key for key in there.call("KEYS", "*") if answer(there, key, ["x"]) == "error")
                error = str(there.ask("BF.ADD", key, "x")), str(there.ask("BF.INFO", key))
                self.assertIn("ERR filter is damaged: there was no memory for all of it", error)
                there.call("REPLICAOF", "NO", "ONE")
                there.call("COPY", key, "copy")
                there.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
                there.call("CONFIG", "SET", "appendonly", "yes")  # which has it written
                wait_for_aof(there)
                for command in ("RELOAD", "LOADAOF"):
                    there.call("DEBUG", command)
                    for each in (key, "copy"):
                        self.assertEqual(answer(there, each, ["x"]), "error")
                there.call("DEL", key)
                self.assertEqual(there.call("BF.ADD", key, "x"), 1)

    def test_a_server_without_memory_for_its_files_ends_or_says_so(self):
        server = self.server(*AOF, module=SCARCE)
        with server.client() as client:
            kept = fill(client, "incr")
            rewrite_aof(client)
            kept.update(fill(client, "base"))
        ended = damaged = 0
        for number in range(0, 90, 3):
            server.module_options = (str(number),)
            server.kill()
            try:
                server.start()
            except AssertionError:
                ended += 1
                continue
            with server.client() as client:
                for key, items in kept.items():
                    found = answer(client, key, items)
                    self.assertIn(found, ("all", "error"), (number, key))
                    damaged += found == "error"
        self.assertGreater(damaged, 5)

    def test_a_replica_says_so_also_from_its_own_aof(self):
        server = self.server()
        with server.client() as client:
            replica = self.follow(server, client, options=AOF, module=SCARCE)
            below = self.server("--replicaof", "127.0.0.1", str(replica.port))
            with replica.client() as there, below.client() as last:
                wait_for_aof(there)
                eventually("both follow", lambda: b"master_link_status:up" in last.call("INFO", "replication"))
                client.call("OP.RESERVE", "k", "0.01", "10")
                client.call("BF.MADD", "k", *names("k", 5))
                eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
                there.call("TEST.FAIL", 0)
                for item in names("k", 300, 5):
                    client.call("BF.ADD", "k", item)
                client.call("BF.ADD", "later", "x")
                for each in (there, last):
                    eventually("all have everything", lambda: each.call("BF.EXISTS", "later", "x") == 1)
                self.assertEqual(answer(there, "k", ["x"]), "error")
                self.assertEqual(answer(last, "k", names("k", 305)), "all")
                self.assertEqual(last.call("DEBUG", "DIGEST"), client.call("DEBUG", "DIGEST"))
            self.assertEqual(replica.log_text().count("cannot be followed"), 1)
            self.assertEqual(replica.log_text().count("is sending an error"), 1)  # which is Redis's own line
        replica.kill()
        replica.options = AOF
        replica.start()
        with replica.client() as there:
            self.assertEqual(str(there.ask("BF.EXISTS", "k", "k 0")), "ERR filter is damaged: there was no memory for all of it")
            self.assertEqual(there.call("BF.EXISTS", "later", "x"), 1)

    def test_a_copy_in_the_aof_for_which_there_is_no_memory_says_so(self):
        server = self.server(*AOF, module=SCARCE)
        with server.client() as client:
            client.call("OP.RESERVE", "k", "0.01", "1000")
            client.call("BF.ADD", "k", "x")
            client.call("COPY", "k", "copy")
        damaged = 0
        for number in range(60):
            server.module_options = (str(number),)
            server.kill()
            server.start()
            with server.client() as client:
                client.call("TEST.FAIL", -1)
                found = answer(client, "copy", ["x"])
                self.assertIn(found, ("all", "error"), number)
                damaged += answer(client, "k", ["x"]) == "all" and found == "error"
        self.assertGreater(damaged, 1)

    def test_servers_with_other_plans_understand_each_other(self):
        for here, there in ((None, OTHER), (OTHER, None)):
            module = {"module": here} if here else {}
            other = {"module": there} if there else {}
            server = self.server(*AOF, **module)
            with server.client() as client:
                replica = self.follow(server, client, **other)
                for kind in ("fingerprint", "standard", "blocked", "balanced"):
                    client.call("OP.RESERVE", kind, "0.01", "200", "KIND", kind)
                    for item in names(kind, 900) + names(kind, 100):
                        client.call("BF.ADD", kind, item)
                client.call("BF.MADD", "many", *names("many", 3000))
                client.call("BF.INSERT", "large", "CAPACITY", "100000", "ITEMS", "a")
                digest = client.call("DEBUG", "DIGEST")
                eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
                with replica.client() as follower:
                    self.assertEqual(follower.call("DEBUG", "DIGEST"), digest)
                commands = aof_of(server, "incr")
                rewrite_aof(client)
                rewritten = aof_of(server, "base")
                # The other one would have planned otherwise.
                client.call("OP.RESERVE", "again", "0.01", "200", "KIND", "standard", "SEED", "1")
                size = client.call("BF.INFO", "again", "SIZE")
                dumps = {key: client.call("DUMP", key) for key in client.call("KEYS", "*") if key != b"again"}
            fresh = self.server(*AOF, **other)
            for files in ((commands,), (rewritten,)):
                fresh.kill()
                write_aof(fresh.folder, *files)
                fresh.start()
                with fresh.client() as client:
                    self.assertEqual(client.call("DEBUG", "DIGEST"), digest)
            with fresh.client() as client:
                client.call("FLUSHALL")
                for key, dump in dumps.items():
                    client.call("RESTORE", key, 0, dump)
                self.assertEqual(client.call("DEBUG", "DIGEST"), digest)
                client.call("OP.RESERVE", "again", "0.01", "200", "KIND", "standard", "SEED", "1")
                self.assertNotEqual(client.call("BF.INFO", "again", "SIZE"), size)

    def test_one_changed_bit_of_an_aof_is_seen(self):
        server = self.server(*AOF)
        kept = {}
        with server.client() as client:
            for kind in ("fingerprint", "standard"):
                client.call("OP.RESERVE", kind, "0.01", "100", "KIND", kind)
                kept[kind] = []
            # Each filter ends with the check that comes with every 128th new item.
            for kind in kept:
                while client.call("BF.CARD", kind) < 512:
                    kept[kind].append(f"{kind} {len(kept[kind])}")
                    client.call("BF.ADD", kind, kept[kind][-1])
            rewrite_aof(client)
            for kind in kept:
                while client.call("BF.CARD", kind) < 1024:
                    kept[kind].append(f"{kind} {len(kept[kind])}")
                    client.call("BF.ADD", kind, kept[kind][-1])
        files = aof_of(server, "base"), aof_of(server, "incr")
        draw = random.Random(20084)
        seen = {"ended": 0, "error": 0, "all": 0}
        for trial in range(MUTATIONS):
            changed = [bytearray(content) for content in files]
            of = changed[trial % 2]
            of[draw.randrange(len(of))] ^= 1 << draw.randrange(8)
            server.kill()
            write_aof(server.folder, *map(bytes, changed))
            if not self.starts(server):
                seen["ended"] += 1
                continue
            with server.client() as client:
                found = [answer(client, key, items) for key, items in kept.items()]
                for each in found:
                    self.assertIn(each, ("all", "error"), (trial, str(client.call("KEYS", "*"))))
                seen["error" if "error" in found else "all"] += 1
        print(f"{MUTATIONS} AOF files with one changed bit: {seen}", file=sys.stderr)
        self.assertGreater(seen["error"], MUTATIONS // 10)

    @staticmethod
    def starts(server):
        try:
            server.start(server.port)
        except AssertionError:
            return False
        return True

    def test_commands_of_the_aof_may_also_be_piped(self):
        server = self.server(*AOF)
        with server.client() as client:
            kept = fill(client, "piped")
            digest = client.call("DEBUG", "DIGEST")
            commands = aof_of(server, "incr")
            client.call("FLUSHALL")
        piped = subprocess.run([CLI, "-p", str(server.port), "--pipe"], input=commands, stdout=subprocess.PIPE, timeout=60)
        self.assertIn(b"errors: 0", piped.stdout)
        with server.client() as client:
            self.assertEqual(client.call("DEBUG", "DIGEST"), digest)
            # A client's mistake harms nothing.
            for key in kept:
                for words in (("CHECK", "1"), ("PART", b"x" * 424), ("DAMAGED", "1"), ("NOTHING", "1")):
                    self.assertIsInstance(client.ask("OP.REPLAY", key, *words), RespError)
            self.assertEqual(client.call("DEBUG", "DIGEST"), digest)


if __name__ == "__main__":
    unittest.main()
