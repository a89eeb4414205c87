#!/usr/bin/env python3
"""`oneprobe store`: records to a page store, and what it answers."""

import fcntl
import json
import os
import random
import signal
import struct
import subprocess
import time
import unittest

from tool import HANGS, SLOWNESS, TOOL, FileCommandTest


def record_lines(count, first=0):
    return b"".join(b"user%d\tvalue of %d\n" % (i, i) for i in range(first, first + count))


class StoreTest(FileCommandTest):
    COMMAND = "store"

    def answer(self, *arguments, **more):
        return json.loads(self.assert_works(*arguments, "--json", **more))

    def build(self, lines=None, name="users.store", *arguments, **more):
        (self.folder / "records").write_bytes(record_lines(2000) if lines is None else lines)
        return self.answer(
            "build", "records", "-o", name, "--key-bytes", "12", "--value-bytes", "20", *arguments, **more
        )


class RoundTrip(StoreTest):
    def test_every_record_is_found_with_one_page_read_and_others_with_hardly_any(self):
        built = self.build(record_lines(20000))
        self.assertEqual((built["records"], built["replaced"]), (20000, 0))
        keys = b"".join(b"user%d\n" % i for i in range(20000))
        self.assertEqual(self.assert_works("get", "users.store", stdin=keys), record_lines(20000))
        present = self.answer("get", "users.store", stdin=keys)
        self.assertEqual(present["found"], 20000)
        self.assertEqual(present["page_reads"], 20000 - built["overflow"])
        others = b"".join(b"nobody%d\n" % i for i in range(20000))
        done = self.call("get", "users.store", "--json", stdin=others)
        absent = json.loads(done.stdout)
        self.assertEqual((done.returncode, absent["found"]), (1, 0))
        self.assertLessEqual(absent["page_reads"] / 20000, 0.01)
        self.assertEqual(self.answer("info", "users.store", "--verify")["pages_verified"], "all right")

    def test_of_equal_keys_the_last_is_kept(self):
        built = self.build(b"a\t1\nb\t2\na\t3\n")
        self.assertEqual((built["records"], built["replaced"]), (2, 1))
        self.assertEqual(self.assert_works("get", "users.store", "a", "b"), b"a\t3\nb\t2\n")

    def test_values_may_be_empty_or_contain_tabs(self):
        self.build(b"a\t\nb\tx\ty\n\tempty key\n")
        self.assertEqual(self.assert_works("get", "users.store", "a", "b"), b"a\t\nb\tx\ty\n")
        self.assertEqual(self.assert_works("get", "users.store", stdin=b"\n"), b"\tempty key\n")

    def test_binary_and_hexadecimal_records_are_bytes(self):
        random.seed(1)
        records = [(random.randbytes(8), random.randbytes(5)) for _ in range(500)]
        (self.folder / "binary").write_bytes(b"".join(k + v for k, v in records))
        sizes = ["--key-bytes", "8", "--value-bytes", "5"]
        self.answer("build", "binary", "-o", "b.store", "--binary", *sizes)
        (self.folder / "hex").write_text("".join(f"{k.hex()}\t{v.hex()}\n" for k, v in records))
        self.answer("build", "hex", "-o", "h.store", "--hex", *sizes)
        for name in ("b.store", "h.store"):
            for key, value in records[:20]:
                found = self.assert_works("get", name, "--hex", key.hex())
                self.assertEqual(found.decode(), f"{key.hex()}\t{value.hex()}\n")
        self.assert_refused("get", "b.store", "--hex", "12", says="must be 16 hexadecimal digits")
        self.assert_refused("get", "b.store", "--hex", "xx" * 8, says="must be hexadecimal digits")
        (self.folder / "binary").write_bytes(b"x" * 14)
        self.assert_refused("build", "binary", "-o", "c.store", "--binary", *sizes, says="ends within a record")

    def test_a_store_without_values_is_a_set(self):
        (self.folder / "keys").write_bytes(b"one\ntwo\n")
        self.answer("build", "keys", "-o", "k.store", "--key-bytes", "8", "--value-bytes", "0")
        self.assertEqual(self.assert_works("get", "k.store", "two"), b"two\n")
        self.assertEqual(self.answer("put", "k.store", "three")["inserted"], 1)
        self.assertEqual(self.assert_works("get", "k.store", "three", "one"), b"three\none\n")

    def test_explain_says_where_a_lookup_went(self):
        self.build()
        lines = self.call("get", "users.store", "--explain", "user5", "nobody").stdout.decode().splitlines()
        self.assertRegex(lines[0], r"^user5\tfound\t1 page reads\tpage \d+\tlevel [1-4]$")
        self.assertRegex(lines[1], r"^nobody\tabsent")

    def test_direct_reading_answers_the_same_or_says_why_not(self):
        self.build()
        done = self.call("get", "users.store", "--direct", "user5")
        if done.returncode == 2:
            self.assertIn(b"no direct reading", done.stderr)
        else:
            self.assertEqual(done.stdout, b"user5\tvalue of 5\n")


class Changes(StoreTest):
    def test_puts_and_erasures_stay(self):
        self.build()
        put = self.answer("put", "users.store", "new", "1", "user7", "changed")
        self.assertEqual((put["inserted"], put["assigned"], put["records"]), (1, 1, 2001))
        self.assertEqual(self.assert_works("get", "users.store", "new", "user7"), b"new\t1\nuser7\tchanged\n")
        erased = self.answer("erase", "users.store", "new", "nobody")
        self.assertEqual((erased["erased"], erased["absent"], erased["records"]), (1, 1, 2000))
        self.assertEqual(self.assert_works("get", "users.store", "new", code=1), b"")
        self.assertEqual(self.call("erase", "users.store", "new").returncode, 1)

    def test_many_come_from_standard_input(self):
        self.build(b"", "users.store", "--elements", "6000")
        put = self.answer("put", "users.store", stdin=record_lines(6000))
        self.assertEqual(put["records"], 6000)
        keys = b"".join(b"user%d\n" % i for i in range(0, 6000, 2))
        self.assertEqual(self.answer("erase", "users.store", stdin=keys)["erased"], 3000)
        odd = b"".join(b"user%d\n" % i for i in range(1, 6000, 2))
        self.assertEqual(self.answer("get", "users.store", stdin=odd)["found"], 3000)
        self.assertEqual(self.answer("info", "users.store", "--verify")["pages_verified"], "all right")

    def test_a_full_store_says_so_and_keeps_what_it_has(self):
        self.build(b"a\t1\n", "users.store", "--elements", "10")
        done = self.call("put", "users.store", stdin=record_lines(5000))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), r"the store is full: build a larger one; \d+ changes before it")
        kept = int(done.stderr.decode().split("; ")[1].split()[0])
        self.assertEqual(self.answer("info", "users.store")["records"], kept + 1)
        self.assertEqual(self.assert_works("get", "users.store", "a"), b"a\t1\n")

    def test_what_comes_before_a_mistake_stays(self):
        self.build(b"", "users.store", "--elements", "1000")
        self.assert_refused("put", "users.store", stdin=b"a\t1\nb\t2\nc\n", says=r"\(line 3 of .*; 2 changes before it are on")
        self.assertEqual(self.assert_works("get", "users.store", "a", "b"), b"a\t1\nb\t2\n")
        self.assert_refused("put", "users.store", "c", "3", "d" * 13, "4", says="; 1 changes before it are on the disk")
        self.assertEqual(self.assert_works("get", "users.store", "c"), b"c\t3\n")
        self.assert_refused("put", "users.store", "--binary", stdin=b"%-12s%-20s" % (b"e", b"5") + b"x", says="; 1 changes")
        self.assertEqual(self.answer("info", "users.store")["records"], 4)
        self.assert_refused("erase", "users.store", stdin=b"a\nnobody\n" + b"x" * 13, says="; 1 changes before it are on")
        self.assert_refused("erase", "users.store", "b", "x" * 13, says="; 1 changes before it are on the disk")
        self.assert_refused("erase", "users.store", "x" * 13, "c", says="of 13$")
        self.assertEqual(self.answer("info", "users.store")["records"], 2)

    def test_a_writer_that_is_killed_has_left_what_it_acknowledged(self):
        self.build(b"", "users.store", "--elements", "100000")
        for seed in range(3):
            writer = subprocess.Popen(
                [TOOL, "store", "put", "users.store"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            writer.stdin.write(record_lines(20000, 20000 * seed))
            writer.stdin.flush()
            time.sleep(0.1 + 0.05 * seed)
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
            # Whatever is there is whole, and a further put is acknowledged and stays.
            self.answer("put", "users.store", f"last{seed}", "x")
            info = self.answer("info", "users.store", "--verify")
            self.assertEqual(info["pages_verified"], "all right")
        self.assertEqual(self.assert_works("get", "users.store", "last0", "last2"), b"last0\tx\nlast2\tx\n")


class Refusals(StoreTest):
    def test_every_mistake_gets_one_line(self):
        self.build()
        sizes = ["--key-bytes", "12", "--value-bytes", "20"]
        self.assert_refused("build", says="RECORDS is missing")
        self.assert_refused("build", "records", says="-o is missing")
        self.assert_refused("build", "records", "-o", "x", "--value-bytes", "1", says="--key-bytes")
        self.assert_refused("build", "none", "-o", "x", *sizes, says="'none' cannot be read")
        self.assert_refused("build", "records", "-o", "records", *sizes, says="it is the file of keys")
        self.assert_refused("build", "-", "-o", "x", *sizes, says="--elements is missing")
        self.assert_refused("build", "records", "-o", "x", *sizes, "--page-bytes", "1000", says="--page-bytes must be")
        self.assert_refused(
            "build", "records", "-o", "x", "--key-bytes", "12", "--value-bytes", "5000", says="--value-bytes must be"
        )
        self.assert_refused(
            "build", "records", "-o", "x", "--key-bytes", "3", "--value-bytes", "20", says=r"\(line 1 of 'records'\)"
        )
        self.assert_refused("build", "records", "-o", "x", *sizes, "--elements", "3", says="the store is full after")
        self.assert_refused("get", says="FILE is missing")
        self.assert_refused("get", "none", "a", says="'none' cannot be read")
        self.assert_refused("get", "records", "a", says="not an oneprobe file")
        filter_file = self.folder / "records.filter"
        subprocess.run([TOOL, "filter", "build", self.folder / "records", "--output", filter_file], check=True, stdout=subprocess.DEVNULL)
        self.assert_refused("get", "records.filter", "a", says="it holds a [a-z]+ filter, asked for was a page store")
        filter_file.unlink()
        self.assert_refused("get", "users.store", "x" * 13, says="a key may have at most 12 bytes")
        self.assert_refused("put", "users.store", "a", says="VALUE is missing")
        self.assert_refused("put", "users.store", stdin=b"a\t1\nb\n", says=r"\(line 2 of standard input\)")
        # Nothing was left behind.
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["records", "users.store"])

    def test_damage_is_seen(self):
        self.build()
        path = self.folder / "users.store"
        whole = path.read_bytes()
        first_page = len(whole) - self.answer("info", "users.store")["log_bytes"]
        damaged = bytearray(whole)
        damaged[first_page // 2] ^= 1
        path.write_bytes(damaged)
        done = self.call("info", "users.store", "--verify", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["pages_verified"]), (1, "wrong"))
        path.write_bytes(whole[:-1])
        self.assert_refused("get", "users.store", "a", says="truncated")

    def is_being_written(self, name):
        """Whether somebody holds the writer's lock. Only looks: a lock taken here might turn the writer away."""
        with open(self.folder / name, "rb") as file:
            flock = struct.Struct("hhqqi")  # l_type, l_whence, l_start, l_len, l_pid
            found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, flock.pack(fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0))
            return flock.unpack(found)[0] == fcntl.F_WRLCK

    def test_two_writers_exclude_each_other(self):
        self.build()
        call = [TOOL, "store", "put", "users.store"]
        writer = subprocess.Popen(call, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            while not self.is_being_written("users.store"):
                self.assertIsNone(writer.poll(), "it has ended")
                time.sleep(0.02)
            self.assert_refused("put", "users.store", "a", "1", says="open for writing elsewhere", code=3)
        finally:
            writer.communicate(b"b\t2\n")
        self.assertEqual(self.assert_works("get", "users.store", "b"), b"b\t2\n")


class Memory(StoreTest):
    def test_memory_does_not_grow_with_the_records(self):
        # 400,000 records of 1,000 bytes: more than is mapped at a time.
        with open(self.folder / "large", "wb") as out:
            for i in range(400):
                out.write(b"".join(b"%016d%984d" % (1000 * i + j, j) for j in range(1000)))
            out.write(b"%016d%984d" % (7, 123456))
        sizes = ["--binary", "--key-bytes", "16", "--value-bytes", "984", "--json"]
        watched = subprocess.run(
            ["/usr/bin/env", "python3", "-c", WATCH, TOOL, "store", "build", "large", "-o", "l.store", *sizes],
            cwd=self.folder, stdout=subprocess.PIPE, timeout=HANGS, check=True,
        )
        answer, peak = watched.stdout.decode().splitlines()
        built = json.loads(answer)
        self.assertEqual((built["records"], built["replaced"]), (400000, 1))
        self.assertGreater(built["file_bytes"], 400 << 20)
        if SLOWNESS == 1:
            self.assertLess(int(peak), 220 << 10)  # KiB
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["l.store", "large"])
        self.assertEqual(self.answer("info", "l.store", "--verify")["pages_verified"], "all right")
        last = self.assert_works("get", "l.store", b"%016d" % 7)
        self.assertEqual(last.split(), [b"%016d" % 7, b"123456"])


# Runs a program and prints the most memory that it had, in KiB, on a line of its own.
WATCH = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

if __name__ == "__main__":
    unittest.main()
