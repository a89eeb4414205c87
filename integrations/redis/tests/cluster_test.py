"""A filter over a cluster: built and asked by the tool, while slots move and a master dies."""

import json
import os
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from servers import PATIENCE, Client, Cluster, RespError, Server, Writer, eventually

TOOL = os.environ["ONEPROBE_CLI"]
KEYS = int(os.environ.get("ONEPROBE_REDIS_KEYS", "200000"))
SHARDS = 12
FPR = 0.001
BATCH = 500  # keys that are added, and acknowledged, together


def tool(*words, check=(0,)):
    done = subprocess.run([TOOL, "redis", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=10 * PATIENCE)
    if done.returncode not in check:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done


class ClusterFilter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.present = Path(cls.folder.name) / "present"
        cls.absent = Path(cls.folder.name) / "absent"
        cls.present.write_text("".join(f"key {i}\n" for i in range(KEYS)))
        cls.absent.write_text("".join(f"other {i}\n" for i in range(KEYS)))
        cls.cluster = Cluster(3, 3)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()
        cls.folder.cleanup()

    def query(self, path):
        done = tool("query", str(path), "--nodes", self.cluster.nodes(), "--name", "seen", "--json", check=(0, 1))
        return json.loads(done.stdout)

    def holds(self):
        """No key is missing, and others are taken for keys as often as the shards themselves expect."""
        self.assertEqual(self.query(self.present)["surely_not"], 0)
        shards = self.cluster.facts("seen")
        self.assertEqual(len(shards), SHARDS)
        expected = sum(facts["Current error"] for facts in shards.values()) / SHARDS
        self.assertLessEqual(expected, FPR)
        self.assertGreater(expected, FPR / 2, "memory spent on an error that was not requested")
        # Four deviations either way, twice in this test: one run in 5,000 would fail.
        wrong, mean = self.query(self.absent)["may_contain"], expected * KEYS
        self.assertLess(abs(wrong - mean), 4 * mean ** 0.5, (wrong, mean))

    def test_build_query_reshard_failover(self):
        built = json.loads(tool("build", str(self.present), "--nodes", self.cluster.nodes(), "--name", "seen", "--shards",
                                str(SHARDS), "--fpr", str(FPR), "--replicas", "1", "--json").stdout)
        self.assertEqual((built["keys"], built["shards"], built["nodes"]), (KEYS, SHARDS, 3))
        refused = tool("build", str(self.present), "--nodes", self.cluster.nodes(), "--name", "seen", check=(2,))
        self.assertIn("--add adds to it", refused.stderr)
        self.holds()
        for server in self.cluster.masters():
            with server.client() as client:
                self.assertGreater(client.call("DBSIZE"), 1, "the shards are spread over all masters")

        # A master more with its replica, and slots that move to it while keys are asked for and added.
        others = self.cluster.masters()
        fourth = self.cluster.add()
        self.cluster.add(follows=fourth)
        writer = Writer(TOOL, self.cluster, "seen", self.folder.name, BATCH)
        stop, rounds, faults = threading.Event(), [], []

        def ask():
            while not stop.is_set():
                try:
                    rounds.append(self.query(self.present)["surely_not"])
                except Exception as error:  # pylint: disable=broad-except
                    faults.append(error)

        asking = threading.Thread(target=ask)
        writer.start()
        try:
            asking.start()
            try:
                writer.goes_on("keys are added before slots move")
                for source in others:
                    self.cluster.move_slots(source, fourth, 1365)
            finally:
                stop.set()
                asking.join()
            self.assertEqual(faults, [])
            self.assertTrue(rounds)
            self.assertEqual(set(rounds), {0})
            with fourth.client() as client:
                self.assertGreater(client.call("DBSIZE"), 0, "a shard has moved to the new node")

            # A master dies while keys are added. Its replica takes over, and is followed by it when it comes back: only then
            # can what is added there be acknowledged again.
            victim = others[0]
            before = len(writer.acknowledged)
            self.assertGreater(before, 2, "keys were added while slots moved")
            victim.process.kill()
            victim.process.wait()
            eventually("a replica has taken over", lambda: self.cluster.is_whole() and len(self.cluster.masters()) == 4)
            victim.restart()
            writer.goes_on("keys are added after the failover")
        finally:
            writer.ended.set()
            writer.join()
        acknowledged = writer.finish()
        answers = self.query(acknowledged)
        self.assertGreaterEqual(answers["keys"], (before + 2) * BATCH)
        self.assertEqual(answers["surely_not"], 0)
        self.holds()

    def test_the_tool_says_what_is_wrong(self):
        nodes = self.cluster.nodes()
        for words, code, said in (
            (("query", "--nodes", nodes, "--name", "nobody"), 2, "there is no filter 'nobody'"),
            (("query", "--nodes", "127.0.0.1", "--name", "seen"), 2, "must be HOST:PORT"),
            (("query", "--nodes", nodes, "--name", "a{b}"), 2, "must have no braces"),
            (("query", "--nodes", "127.0.0.1:1", "--name", "seen"), 3, "cannot connect to the node 127.0.0.1:1"),
            (("build", "/dev/null", "--nodes", nodes, "--name", "s", "--shards", "0"), 2, "--shards must be 1 to 1024"),
            (("build", "/dev/null", "--name", "s"), 2, "--nodes is missing"),
        ):
            done = subprocess.run([TOOL, "redis", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, code, words)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


class Shards(unittest.TestCase):
    """What the tool does about shards that are lost, or that are not what it would make."""

    def setUp(self):
        self.server = Server()
        self.client = self.server.client()
        self.folder = tempfile.TemporaryDirectory()
        self.keys = Path(self.folder.name) / "keys"
        self.keys.write_text("".join(f"key {i}\n" for i in range(1000)))

    def tearDown(self):
        self.client.close()
        self.server.end()
        self.folder.cleanup()

    def run_tool(self, command, *words, check=0):
        return tool(command, str(self.keys), "--nodes", f"127.0.0.1:{self.server.port}", "--name", "seen", *words, "--json",
                    check=(check,))

    def refused(self, said, command, *words):
        errors = self.run_tool(command, *words, check=2).stderr
        self.assertIn(said, errors)
        self.assertEqual(len(errors.splitlines()), 1)

    def shards(self):
        return sorted(key.decode() for key in self.client.call("KEYS", "seen{*"))

    def test_a_lost_shard_is_no_answer(self):
        self.run_tool("build", "--shards", "4")
        self.assertEqual(json.loads(self.run_tool("query").stdout)["surely_not"], 0)
        lost = self.shards()[2]
        self.client.call("DEL", lost)
        for command, words in (("query", ()), ("query", ("--invert",)), ("build", ("--add",))):
            self.refused(f"the shard '{lost}' is lost", command, *words)
        self.assertNotIn(lost, self.shards())
        self.client.call("SET", lost, "something else")
        self.refused(f"cannot ask the shard '{lost}': the server says 'WRONGTYPE", "query")

    def test_a_build_that_was_broken_off_can_be_made_again(self):
        self.run_tool("build", "--shards", "4", "--fpr", "0.01")
        facts = [self.client.call("BF.INFO", key) for key in self.shards()]
        capacity = facts[0][1]
        self.client.call("FLUSHALL")
        for tag in (0, 2):  # of another run, which made some and not the note
            self.run_tool("build", "--shards", "4", "--fpr", "0.01")
            kept = self.shards()[tag]
            self.client.call("FLUSHALL")
            self.client.call("OP.RESERVE", kept, "0.01", capacity)
            self.run_tool("build", "--shards", "4", "--fpr", "0.01")
            self.assertEqual(json.loads(self.run_tool("query").stdout)["surely_not"], 0)
            self.client.call("FLUSHALL")

    def test_a_filter_of_another_error_is_not_taken_for_a_new_one(self):
        self.run_tool("build", "--shards", "4", "--fpr", "0.01")
        shards = self.shards()
        capacity = self.client.call("BF.INFO", shards[1], "CAPACITY")[0]
        self.client.call("DEL", "seen")
        self.refused("has a filter already, of error 0.01, capacity ", "build", "--shards", "4", "--fpr", "0.001")
        self.refused("delete it, or choose another --name", "build", "--shards", "4", "--fpr", "0.01")  # it has keys
        self.client.call("DEL", *shards)
        for error, room in (("0.02", capacity), ("0.01", capacity + 1)):
            self.client.call("OP.RESERVE", shards[1], error, room)
            self.refused(f"the key '{shards[1]}' has a filter already, of error {error}, capacity {room} and 0 keys", "build",
                         "--shards", "4", "--fpr", "0.01")
            self.client.call("DEL", *shards)

    def test_what_is_added_has_the_error_of_the_filter(self):
        self.run_tool("build", "--shards", "4", "--fpr", "0.01")
        self.refused("--fpr must be that of the filter, 0.01 in ", "build", "--add", "--fpr", "0.001")
        self.run_tool("build", "--add", "--fpr", "0.01")
        self.run_tool("build", "--add")


class Acknowledged(unittest.TestCase):
    """A writer that waits for one replica after each batch, and a master that dies under it."""

    def test_no_key_that_a_replica_has_is_lost_in_a_failover(self):
        cluster = Cluster(3, 3)
        try:
            acknowledged, written = [], []
            ports = [server.port for server in cluster.servers]
            victim = cluster.masters()[0]
            stop = threading.Event()

            def write():
                number, port = 0, victim.port
                while not stop.is_set():
                    items = [f"{number} {i}" for i in range(20)]
                    try:
                        with Client(port) as client:
                            while not stop.is_set():
                                items = [f"{number} {i}" for i in range(20)]
                                client.call("BF.MADD", "k", *items)
                                written.append(number)
                                if client.call("WAIT", 1, 1000) >= 1:
                                    acknowledged.extend(items)
                                number += 1
                    except RespError as error:
                        words = str(error).split()
                        if words[0] == "MOVED":
                            port = int(words[2].rsplit(":", 1)[1])
                    except (OSError, EOFError):
                        port = next(each for each in ports[number % 6:] + ports if each != victim.port)
                        number += 1
                    stop.wait(0.02)

            # A key whose slot the victim serves.
            with victim.client() as client:
                key_holder = client.ask("BF.ADD", "k", "first")
            if isinstance(key_holder, RespError):
                port = int(str(key_holder).rsplit(":", 1)[1])
                victim = next(server for server in cluster.servers if server.port == port)
            writer = threading.Thread(target=write)
            writer.start()
            try:
                eventually("some are acknowledged", lambda: len(acknowledged) >= 2000)
                victim.process.kill()
                victim.process.wait()
                before = len(written)
                # It has no replica itself, so that nothing more is acknowledged.
                eventually("a replica has taken over and takes keys", lambda: len(written) >= before + 5)
            finally:
                stop.set()
                writer.join()
            eventually("the cluster is whole", cluster.is_whole)
            for server in cluster.masters():
                with server.client() as client:
                    if isinstance(client.ask("BF.CARD", "k"), RespError):
                        continue
                    for first in range(0, len(acknowledged), 1000):
                        self.assertNotIn(0, client.call("BF.MEXISTS", "k", *acknowledged[first:first + 1000]))
                    return
            self.fail("no master has the filter")
        finally:
            cluster.end()


if __name__ == "__main__":
    unittest.main()
