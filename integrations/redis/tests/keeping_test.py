"""What a filter survives: RDB files, the AOF, replicas, kill -9, and bytes that were tampered with."""

import os
import random
import shutil
import struct
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from servers import Client, Primary, RespError, Server, aof_of, eventually, rewrite_aof, write_aof

# What make_golden() makes, by Redis 7.0: as DUMP gives it, as commands in the AOF, and rewritten. Called with --write-golden
# this program writes those of the newest version.
GOLDEN = Path(__file__).resolve().parent / "golden"
TRIALS = int(os.environ.get("ONEPROBE_REDIS_MUTATIONS", "120"))  # changed bytes of each filter
AOF = ("--appendonly", "yes", "--appendfsync", "always")


def crc64(data):
    """CRC-64/Jones, as DUMP has it at its end."""
    if not crc64.table:
        for byte in range(256):
            crc = byte
            for _ in range(8):
                crc = (crc >> 1) ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
            crc64.table.append(crc)
    crc = 0
    for byte in data:
        crc = crc64.table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


crc64.table = []


def fill(client):
    """Filters of every sort: reserved, grown, of fixed size, made in passing, of every kind."""
    client.call("BF.RESERVE", "reserved", "0.001", "5000")
    client.call("BF.RESERVE", "fixed", "0.01", "500", "NONSCALING")
    for kind in ("fingerprint", "standard", "blocked", "balanced"):
        client.call("OP.RESERVE", kind, "0.01", "200", "KIND", kind)
        client.call("BF.MADD", kind, *[f"{kind} {i}" for i in range(1000)])
    client.call("BF.MADD", "passing", *[f"item {i}" for i in range(3000)])
    client.call("BF.ADD", "one", "item")
    client.call("BF.INSERT", "inserted", "CAPACITY", "300", "ERROR", "0.0001", "ITEMS", *[f"i {i}" for i in range(700)])
    client.call("BF.MADD", "fixed", *[f"item {i}" for i in range(400)])
    client.call("BF.MADD", "reserved", *[f"item {i}" for i in range(4000)])


class Keeping(unittest.TestCase):
    def setUp(self):
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            server.end()

    def server(self, *options, module_options=()):
        self.servers.append(Server(*options, module_options=module_options))
        return self.servers[-1]

    def test_rdb_and_aof_bring_back_the_same_bytes(self):
        server = self.server(*AOF, "--aof-use-rdb-preamble", "no")
        with server.client() as client:
            fill(client)
            before = client.call("DEBUG", "DIGEST")
            self.assertNotEqual(before, "0" * 40)
            client.call("DEBUG", "RELOAD")
            self.assertEqual(client.call("DEBUG", "DIGEST"), before, "by an RDB file")
            client.call("DEBUG", "LOADAOF")
            self.assertEqual(client.call("DEBUG", "DIGEST"), before, "by the commands in the AOF")
            rewrite_aof(client)
            client.call("DEBUG", "LOADAOF")
            self.assertEqual(client.call("DEBUG", "DIGEST"), before, "by the rewritten AOF")
            # They go on growing as they would have.
            client.call("BF.MADD", "passing", *[f"more {i}" for i in range(5000)])
            self.assertNotIn(0, client.call("BF.MEXISTS", "passing", *[f"item {i}" for i in range(3000)]))
            self.assertNotIn(0, client.call("BF.MEXISTS", "passing", *[f"more {i}" for i in range(5000)]))

    def test_a_replica_has_the_same_bytes(self):
        primary = self.server()
        with primary.client() as client:
            client.call("BF.MADD", "before", "a", "b")
            # What is usual to it does not matter.
            replica = self.server("--replicaof", "127.0.0.1", str(primary.port),
                                  module_options=("ERROR_RATE", "0.1", "INITIAL_SIZE", "7", "BF-EXPANSION-FACTOR", "0"))
            eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
            fill(client)
            client.call("BF.ADD", "usual", "a")
            client.call("BF.INSERT", "usual too", "CAPACITY", "5", "ITEMS", *"abcdefgh")
            client.call("BF.SCANDUMP", "passing", 0)
            head = client.call("BF.SCANDUMP", "reserved", 0)
            client.call("BF.LOADCHUNK", "half", *head)
            client.call("COPY", "passing", "copied")
            eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
            with replica.client() as there:
                self.assertEqual(there.call("DEBUG", "DIGEST"), client.call("DEBUG", "DIGEST"))
                self.assertEqual(there.call("DBSIZE"), client.call("DBSIZE"))
                self.assertNotIn(0, there.call("BF.MEXISTS", "passing", *[f"item {i}" for i in range(3000)]))

    def test_nothing_acknowledged_is_lost_by_kill_9(self):
        server = self.server(*AOF)
        acknowledged = [[] for _ in range(4)]

        def work(number):
            try:
                with server.client() as client:
                    for i in range(1_000_000):
                        items = [f"{number} {i} {j}" for j in range(10)]
                        client.call("BF.MADD", f"k{number % 2}", *items)
                        acknowledged[number].extend(items)
            except (OSError, EOFError):
                pass

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        eventually("enough is acknowledged", lambda: min(map(len, acknowledged)) >= 2000)
        server.process.kill()
        for worker in workers:
            worker.join()
        server.restart()
        with server.client() as client:
            for number, items in enumerate(acknowledged):
                for first in range(0, len(items), 1000):
                    self.assertNotIn(0, client.call("BF.MEXISTS", f"k{number % 2}", *items[first:first + 1000]))

    def test_dump_and_restore(self):
        server = self.server()
        with server.client() as client:
            fill(client)
            for key in client.call("KEYS", "*"):
                dump = client.call("DUMP", key)
                client.call("RESTORE", key + b" again", 0, dump)
                self.assertEqual(*client.call("DEBUG", "DIGEST-VALUE", key, key + b" again"))

    def test_what_is_restored_keeps_to_the_limit_and_what_was_saved_does_not(self):
        server = self.server()
        with server.client() as client:
            client.call("BF.RESERVE", "k", "0.01", "100000")
            client.call("BF.ADD", "small", "a")
            large, small = client.call("DUMP", "k"), client.call("DUMP", "small")
            digest = client.call("DEBUG", "DIGEST")
            limited = Server(module_options=("MAX-BYTES", "10000"))
            self.servers.append(limited)
            with limited.client() as there:
                refused = there.ask("RESTORE", "k", 0, large)
                self.assertIsInstance(refused, RespError)
                self.assertRegex(limited.log_text(), "a filter is refused: it needs [0-9]+ bytes, and 10000 are allowed")
                self.assertEqual(there.call("RESTORE", "small", 0, small), "OK")
                # A replica follows its primary, whatever its own limit is, and finds its file again.
                there.call("REPLICAOF", "127.0.0.1", server.port)
                eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
                self.assertEqual(there.call("DEBUG", "DIGEST"), digest)
                client.call("RESTORE", "again", 0, large)
                eventually("the replica has it", lambda: client.call("WAIT", 1, 100) == 1)
                self.assertEqual(there.call("DEBUG", "DIGEST"), client.call("DEBUG", "DIGEST"))
                there.call("REPLICAOF", "NO", "ONE")
                there.call("DEBUG", "RELOAD")
                self.assertEqual(there.call("DEBUG", "DIGEST"), client.call("DEBUG", "DIGEST"))

    def test_what_was_refused_reaches_neither_replicas_nor_the_aof(self):
        server = Server(*AOF, "--aof-use-rdb-preamble", "no", module_options=("MAX-BYTES", "100000"))
        self.servers.append(server)
        with server.client() as client:
            # The next part would be far too large here; a replica would make it all the same.
            grown = ("EXPANSION", "2000", "KIND", "fingerprint")
            client.call("OP.RESERVE", "reserved", "0.01", "1000", *grown)
            replica = self.server("--replicaof", "127.0.0.1", str(server.port))
            eventually("the replica follows", lambda: client.call("WAIT", 1, 100) == 1)
            items = [str(i) for i in range(1100)]
            some = client.call("BF.MADD", "reserved", *items)
            made = client.call("OP.INSERT", "made", "CAPACITY", "1000", *grown, "ITEMS", *items)
            for replies in (some, made):
                self.assertLess(len(replies), len(items))
                self.assertIsInstance(replies[-1], RespError)
            offset = client.call("INFO", "replication").split(b"master_repl_offset:")[1].split()[0]
            for call in (("BF.LOADCHUNK", "junk", 1, "junk"), ("BF.ADD", "reserved", items[len(some) - 1])):
                self.assertIsInstance(client.ask(*call), RespError)
            self.assertEqual(client.call("INFO", "replication").split(b"master_repl_offset:")[1].split()[0], offset)
            # A filter whose last byte is wrong is given up everywhere.
            client.call("BF.LOADCHUNK", "torn", *client.call("BF.SCANDUMP", "made", 0))
            end, payload = client.call("BF.SCANDUMP", "made", 1)
            self.assertIsInstance(client.ask("BF.LOADCHUNK", "torn", end, bytes([payload[0] ^ 1]) + payload[1:]), RespError)
            before = client.call("DEBUG", "DIGEST")
            eventually("the replica has everything", lambda: client.call("WAIT", 1, 1000) == 1)
            with replica.client() as there:
                self.assertEqual(there.call("DEBUG", "DIGEST"), before)
                self.assertEqual(there.call("DBSIZE"), 2)
            self.assertNotIn("CRITICAL", replica.log_text())
            client.call("DEBUG", "LOADAOF")
            self.assertEqual(client.call("DEBUG", "DIGEST"), before)

    @staticmethod
    def make_golden(client, key):
        client.call("OP.RESERVE", key, "0.01", "100", "EXPANSION", "3", "SEED", "20081", "KIND", "standard")
        client.call("BF.MADD", key, *[f"item {i}" for i in range(250)])

    def assert_golden(self, client, key):
        self.assertNotIn(0, client.call("BF.MEXISTS", key, *[f"item {i}" for i in range(250)]))
        self.assertEqual(client.call("BF.INFO", key, "FILTERS"), [2])

    def test_what_version_1_wrote_is_read_for_ever(self):
        server = self.server()
        with server.client() as client:
            client.call("RESTORE", "golden", 0, (GOLDEN / "filter.v1.dump").read_bytes())
            self.assert_golden(client, "golden")
            # The same plans and bits; the history is not in it.
            self.make_golden(client, "new")
            self.assertEqual(client.call("BF.SCANDUMP", "golden", 0)[1][64:], client.call("BF.SCANDUMP", "new", 0)[1][64:])
            self.assertEqual(client.call("BF.SCANDUMP", "golden", 1), client.call("BF.SCANDUMP", "new", 1))
            self.assertEqual(client.call("BF.MADD", "golden", *[f"more {i}" for i in range(1000)]),
                             client.call("BF.MADD", "new", *[f"more {i}" for i in range(1000)]))

    def test_what_version_2_wrote_is_read_for_ever(self):
        server = self.server()
        with server.client() as client:
            client.call("RESTORE", "golden", 0, (GOLDEN / "filter.v2.dump").read_bytes())
            self.assert_golden(client, "golden")
            # Goes red when plans, hashes or the format change: then the same commands make another filter.
            self.make_golden(client, "new")
            self.assertEqual(*client.call("DEBUG", "DIGEST-VALUE", "golden", "new"))
            head = client.call("BF.SCANDUMP", "golden", 0)[1]
            self.assertEqual(head[:8], b"O_REDIS1")
            self.assertEqual(struct.unpack("<IIQd", head[8:32]), (2, 0, 3, 0.0))
            digest = client.call("DEBUG", "DIGEST-VALUE", "golden")
            for name in ("commands.v2.aof", "rewritten.v2.aof"):
                client.call("DEL", "golden")
                commands = (GOLDEN / name).read_bytes()
                self.assertNotIn(b"OP.RESERVE", commands)
                self.assertEqual(self.loaded(commands).call("DEBUG", "DIGEST-VALUE", "golden"), digest, name)
                with Primary(commands) as primary, self.server("--replicaof", "127.0.0.1", str(primary.port)).client() as there:
                    eventually("the replica has it", lambda: there.call("DEBUG", "DIGEST-VALUE", "golden") == digest)

    def test_what_was_asked_for_is_followed_as_it_was_by_older_versions(self):
        """They told replicas and the AOF what was asked for, and each server planned and grew by itself.

        What was usual to them they left out: it is not what has been made usual here.
        """
        request = ["OP.RESERVE", "golden", "0.01", "100", "EXPANSION", "3", "SEED", "20081", "KIND", "standard"]
        made = ["OP.INSERT", "made", "CAPACITY", "100", "ERROR", "0.01", "EXPANSION", "2", "KIND", "standard", "SEED", "1",
                "ITEMS", "a"]
        items = [f"item {i}" for i in range(250)]
        usual = ["OP.INSERT", "usual", "SEED", "2", "ITEMS", "a"]
        commands = [request, made, usual] + [["BF.ADD", key, item] for item in items for key in ("golden", "made")]
        client = self.loaded(b"".join(map(Client.encode, commands)),
                             ("bf-error-rate", "0.1", "bf-initial-size", "7", "bf-expansion-factor", "0"))
        info = client.call("BF.INFO", "usual")
        self.assertEqual(dict(zip(info[::2], info[1::2])) | {"Size": 0},
                         {"Capacity": 100, "Size": 0, "Number of filters": 1, "Number of items inserted": 1, "Expansion rate": 2})
        self.assert_golden(client, "golden")
        self.assertNotIn(0, client.call("BF.MEXISTS", "made", "a", *items))
        # From here on replicas receive parts.
        more = [f"more {i}" for i in range(1000)]
        client.call("BF.MADD", "golden", *more)
        digest = client.call("DEBUG", "DIGEST-VALUE", "golden")
        client.call("DEBUG", "LOADAOF")
        self.assertEqual(client.call("DEBUG", "DIGEST-VALUE", "golden"), digest)

    def loaded(self, commands, module_options=()):
        """A client of a server that has begun with these commands in its AOF."""
        folder = Path(tempfile.mkdtemp(prefix="oneprobe-redis-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        write_aof(folder, commands)
        client = self.server(*AOF, "--aof-use-rdb-preamble", "no", "--dir", str(folder), module_options=module_options).client()
        self.addCleanup(client.close)
        return client

    def test_a_newer_version_is_refused(self):
        server = self.server()
        with server.client() as client:
            dump = bytearray((GOLDEN / "filter.v2.dump").read_bytes())
            self.assertEqual(dump[:2], b"\x07\x81")  # a module's value, and its type in the eight bytes that follow
            dump[9] += 1  # of which the last ten bits are the version
            newer = bytes(dump[:-8]) + struct.pack("<Q", crc64(dump[:-8]))
            self.assertIsInstance(client.ask("RESTORE", "x", 0, newer), RespError)
            self.assertIn("a filter is refused: it has a newer format, version 2", server.log_text())
            client.call("RESTORE", "golden", 0, (GOLDEN / "filter.v2.dump").read_bytes())
            head = bytearray(client.call("BF.SCANDUMP", "golden", 0)[1])
            head[8] += 2
            self.assertEqual(str(client.ask("BF.LOADCHUNK", "x", 1, bytes(head))), "ERR received bad data")
            self.assertIn("the head of a filter is refused: the payload has a newer format: 4", server.log_text())
            self.assertEqual(client.call("EXISTS", "x"), 0)

    def test_no_changed_byte_is_taken(self):
        server = self.server()
        draw = random.Random(20081)
        with server.client() as client:
            fill(client)
            for key in ("one", "passing", "fingerprint", "balanced", "blocked"):
                dump = client.call("DUMP", key)
                digest = client.call("DEBUG", "DIGEST-VALUE", key)
                for trial in range(TRIALS):
                    body = bytearray(dump[:-8])
                    how = trial % 3
                    if how == 0:  # one bit, anywhere after the type
                        place = draw.randrange(10, len(body) - 2)
                        body[place] ^= 1 << draw.randrange(8)
                    elif how == 1:  # a number somewhere
                        place = draw.randrange(10, len(body) - 10)
                        body[place:place + 8] = struct.pack("<Q", draw.choice([0, 1, 2**31, 2**40, 2**63, 2**64 - 1]))
                    else:  # cut
                        place = draw.randrange(10, len(body) - 2)
                        body = body[:place] + body[-2:]
                    if bytes(body) == dump[:-8]:
                        continue
                    changed = bytes(body) + struct.pack("<Q", crc64(body))
                    reply = client.ask("RESTORE", "x", 0, changed, "REPLACE")
                    if reply != "OK":
                        self.assertIsInstance(reply, RespError)
                    elif client.call("DEBUG", "DIGEST-VALUE", "x") != digest:
                        # A smaller length of the payload is that of a filter of which chunks are missing.
                        self.assertEqual(str(client.ask("BF.EXISTS", "x", "item")),
                                         "ERR filter is incomplete: more chunks of it have to be loaded", (key, trial))
            self.assertIsNone(server.process.poll())

    def test_no_changed_chunk_is_taken(self):
        server = self.server()
        draw = random.Random(20082)
        with server.client() as client:
            fill(client)
            for key in ("passing", "fingerprint"):
                head = client.call("BF.SCANDUMP", key, 0)[1]
                end, data = client.call("BF.SCANDUMP", key, 1)
                for trial in range(TRIALS):
                    client.call("DEL", "x")
                    bad_head, bad_data = bytearray(head), bytearray(data)
                    changed = bad_head if trial % 2 == 0 else bad_data
                    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
                    first = client.ask("BF.LOADCHUNK", "x", 1, bytes(bad_head))
                    if trial % 2 == 0:
                        self.assertEqual(str(first), "ERR received bad data")
                    else:
                        self.assertEqual(str(client.ask("BF.LOADCHUNK", "x", end, bytes(bad_data))), "ERR received bad data")
                    self.assertEqual(client.call("EXISTS", "x"), 0)

    def test_no_changed_record_of_a_part_is_taken(self):
        server = self.server()
        commands = (GOLDEN / "commands.v2.aof").read_bytes()
        begin = commands.index(b"O_REDISP")
        record = commands[begin:begin + 424]
        with server.client() as client:
            changed = []
            for bit in range(8 * len(record)):
                changed.append(bytearray(record))
                changed[-1][bit // 8] ^= 1 << bit % 8
            changed += [record[:size] for size in range(len(record))] + [record + b"x"]
            for first in range(0, len(changed), 500):
                replies = client.pipeline([("OP.REPLAY", "x", "PART", bytes(each)) for each in changed[first:first + 500]])
                self.assertEqual(set(map(str, replies)), {"ERR received bad data"})
            self.assertEqual(client.call("EXISTS", "x"), 0)
            self.assertEqual(client.call("OP.REPLAY", "x", "PART", record), "OK")
            self.assertEqual(client.call("BF.INFO", "x", "ITEMS"), [0])

    def test_random_and_hostile_arguments_do_no_harm(self):
        server = self.server()
        draw = random.Random(20083)
        names = ["RESERVE", "ADD", "MADD", "INSERT", "EXISTS", "MEXISTS", "CARD", "INFO", "SCANDUMP", "LOADCHUNK"]
        words = [b"", b"0", b"1", b"-1", b"2", b"0.01", b"1e-300", b"1e308", b"inf", b"nan", b"0.5", b"100", b"1000",
                 b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616", b"CAPACITY", b"ERROR",
                 b"EXPANSION", b"NONSCALING", b"NOCREATE", b"ITEMS", b"KIND", b"BITS", b"SEED", b"blocked", b"standard",
                 b"k", b"text", b"\xff\0\r\n", b"x" * 300, b"SIZE", b"FILTERS"]
        with server.client() as client:
            client.call("SET", "text", "x")
            head = client.call("BF.ADD", "k", "a") and client.call("BF.SCANDUMP", "k", 0)[1]
            words.append(head)
            commands = []
            for _ in range(20000):
                key = draw.choice([b"k", b"l", b"m", b"text", b"", b"nobody"])
                name = draw.choice(("OP.", "BF.")) + draw.choice(names)
                commands.append((name, key, *draw.choices(words, k=draw.randrange(0, 7))))
            for first in range(0, len(commands), 500):
                client.pipeline(commands[first:first + 500])
                client.call("DEL", "k", "l", "m")
            self.assertEqual(client.call("PING"), "PONG")
        self.assertIsNone(server.process.poll())


def write_golden():
    server = Server(*AOF, "--aof-use-rdb-preamble", "no")
    try:
        with server.client() as client:
            Keeping.make_golden(client, "golden")
            (GOLDEN / "filter.v2.dump").write_bytes(client.call("DUMP", "golden"))
            (GOLDEN / "commands.v2.aof").write_bytes(aof_of(server, "incr"))
            rewrite_aof(client)
            (GOLDEN / "rewritten.v2.aof").write_bytes(aof_of(server, "base"))
    finally:
        server.end()


if __name__ == "__main__":
    if sys.argv[1:] == ["--write-golden"]:
        write_golden()
    else:
        unittest.main()
