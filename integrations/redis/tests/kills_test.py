"""Servers that are killed at random, the primary as well: what both replicas acknowledged is found on each of the three.

ONEPROBE_REDIS_KILL_SECONDS says for how long; what it did is printed.
"""

import os
import random
import sys
import threading
import time
import unittest

from servers import RespError, Server, eventually

SECONDS = float(os.environ.get("ONEPROBE_REDIS_KILL_SECONDS", "15"))
SEED = int(os.environ.get("ONEPROBE_REDIS_KILL_SEED", "1"))
KEYS = ("a", "b", "c")
BATCH = 100
CHECKED = 1000  # items of one question
SAMPLE = 50  # questions after each new primary; in the end it is all of them


class Kills(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        self.servers = []
        for _ in range(3):
            self.servers.append(Server("--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0"))
            self.addCleanup(self.servers[-1].end)
        self.primary = self.servers[0]
        self.acknowledged = {key: 0 for key in KEYS}  # items 0 to n - 1 of each key
        self.follow()
        self.ended = threading.Event()

    def replicas(self):
        return [server for server in self.servers if server is not self.primary]

    def follow(self):
        for replica in self.replicas():
            with replica.client() as client:
                client.call("REPLICAOF", "127.0.0.1", self.primary.port)
        for replica in self.replicas():
            eventually("the replica follows", lambda replica=replica: self.is_following(replica))

    def is_following(self, replica):
        with replica.client() as client:
            said = client.call("INFO", "replication")
        return b"master_link_status:up" in said and f"master_port:{self.primary.port}".encode() in said

    def write(self):
        """Adds items until the end; those that both replicas have are counted."""
        keys = random.Random(SEED)
        while not self.ended.is_set():
            try:
                with self.primary.client() as client:
                    while not self.ended.is_set():
                        key = keys.choice(KEYS)
                        first = self.acknowledged[key]
                        client.call("BF.MADD", key, *[f"{key} {i}" for i in range(first, first + BATCH)])
                        # A primary that has just become a replica refuses; one that was killed hangs up.
                        if client.call("WAIT", 2, 2000) == 2:
                            self.acknowledged[key] = first + BATCH
            except (OSError, EOFError, RespError):
                time.sleep(0.01)

    def kill_one(self):
        victim = self.random.choice(self.servers)
        was_primary = victim is self.primary
        victim.kill()
        if was_primary:
            chosen = self.random.choice(self.replicas())
            with chosen.client() as client:
                client.call("REPLICAOF", "NO", "ONE")
            self.primary = chosen
        victim.start(victim.port)
        self.follow()
        return was_primary

    def questions(self):
        return [(key, first) for key in KEYS for first in range(0, self.acknowledged[key], CHECKED)]

    def assert_found(self, server, questions):
        counts = dict(self.acknowledged)
        with server.client() as client:
            for key, first in questions:
                items = [f"{key} {i}" for i in range(first, min(first + CHECKED, counts[key]))]
                self.assertNotIn(0, client.call("BF.MEXISTS", key, *items), f"{key}, from {first}")

    def test_nothing_that_both_replicas_have_is_lost(self):
        writer = threading.Thread(target=self.write)
        writer.start()
        kills, primaries = 0, 0
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end or primaries == 0:
                time.sleep(self.random.uniform(0.05, 1))
                kills += 1
                if self.kill_one():
                    primaries += 1
                    questions = self.questions()
                    self.assert_found(self.primary, self.random.sample(questions, min(SAMPLE, len(questions))))
        finally:
            self.ended.set()
            writer.join()
        eventually("the replicas have everything", lambda: self.has_everything())
        for server in self.servers:
            self.assert_found(server, self.questions())
        total = sum(self.acknowledged.values())
        self.assertGreater(total, 0)
        print(f"{kills} kills, {primaries} of them of the primary; {total:,} items acknowledged by two replicas, none lost",
              file=sys.stderr)

    def has_everything(self):
        with self.primary.client() as client:
            return client.call("WAIT", 2, 1000) == 2


if __name__ == "__main__":
    unittest.main()
