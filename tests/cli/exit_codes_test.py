#!/usr/bin/env python3
"""How a call ends that has no answer: 2 if the call or its input is wrong, 3 if something went wrong on the way."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from tool import HANGS, SLOWNESS, TOOL

KEYS = b"".join(b"key %d\n" % i for i in range(20000))
RECORDS = b"".join(b"key%d\tvalue\n" % i for i in range(20000))
SIZES = "--key-bytes 12 --value-bytes 20"
USAGE, FAILURE = 2, 3


def small_files():
    """As near to a full disk as a test can come: no file grows beyond 4 KiB."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def memory(mebibytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="oneprobe-ends-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, content in (("keys", KEYS), ("records", RECORDS), ("few", b"key1\tvalue\n"), ("empty", b"")):
            (cls.folder / name).write_bytes(content)
        (cls.folder / "folder").mkdir()
        for made in ("filter build keys -o f", f"store build records -o s {SIZES}"):
            subprocess.run([TOOL, *made.split()], cwd=cls.folder, check=True, stdout=subprocess.DEVNULL)

    def ended(self, call, stdin=b"", **more):
        return subprocess.run(
            [TOOL, *call.split()],
            input=stdin,
            stdout=more.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            cwd=self.folder,
            timeout=HANGS,
            restore_signals=False,
            **more,
        )

    def assert_ends(self, code, calls, says="", **more):
        for call in calls:
            with self.subTest(call):
                done = self.ended(call, **more)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertFalse(done.stdout)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertRegex(done.stderr.decode(), rf"\Aoneprobe[a-z -]*: [ -~]*{says}")


class Usage(Ends):
    def test_the_call(self):
        self.assert_ends(
            USAGE,
            (
                "nonsense",
                "--completion fish",
                "model overflow-bound --load-factor x",
                "model balls --balls 10 --bins 0",
                "plan filter --elements 0",
                "simulate --scheme single",
                "filter build keys -o g --bits-per-element 0.01",
                "redis query keys --nodes nowhere --name seen",
                "redis import seen --from nowhere --to 127.0.0.1:1",
                "reproduce nonsense",
                "explore --port x",
                "bench filters --elements 0",
            ),
        )

    def test_a_file_that_is_missing_or_a_folder(self):
        for name, says in (("missing", "No such file"), ("folder", "Is a directory"), ("keys/below", "Not a directory")):
            calls = [f"filter build {name} -o g", f"filter query f {name}", f"store build {name} -o t {SIZES}"]
            for command in ("filter info", "filter query", "store info", "store get", "store put", "store erase"):
                calls.append(f"{command} {name}")
            self.assert_ends(USAGE, calls, says=says)

    def test_a_place_that_cannot_be(self):
        self.assert_ends(
            USAGE,
            (
                "filter build keys -o folder",
                "filter build keys -o missing/g",
                "filter build keys -o keys",
                "filter build keys -o /dev/null",
                f"store build few -o folder {SIZES}",
                f"store build few -o missing/t {SIZES}",
                "demo -o folder",
                "demo -o missing/page.html",
                "reproduce OFH-Fig5a --quick -o keys",
                "bench store --elements 1000 --folder missing",
            ),
        )

    def test_a_file_that_is_malformed(self):
        whole = (self.folder / "f").read_bytes()
        (self.folder / "cut").write_bytes(whole[:-1])
        (self.folder / "damaged").write_bytes(whole[:100] + b"\0\1" + whole[102:])
        store = (self.folder / "s").read_bytes()
        (self.folder / "cut_store").write_bytes(store[:-1])
        for name in ("cut", "damaged", "keys", "empty", "s"):
            self.assert_ends(USAGE, (f"filter info {name}", f"filter query {name}"))
        for name in ("cut_store", "keys", "empty", "f"):
            self.assert_ends(USAGE, (f"store info {name}", f"store get {name} a", f"store put {name} a b"))

    def test_records_that_are_none(self):
        self.assert_ends(USAGE, (f"store build keys -o t {SIZES}", "store build records -o t --key-bytes 1 --value-bytes 1"))
        self.assert_ends(USAGE, ("store put s",), stdin=b"no tab\n")


class Failure(Ends):
    def test_standard_output_that_is_full(self):
        for call in (
            "",
            "--help",
            "--version",
            "--manual",
            "--completion bash",
            "model balls --balls 23 --bins 365",
            "model balls --balls 23 --bins 365 --json",
            "plan filter --elements 1M",
            "plan filter --elements 1M --bytes 1000",  # whose answer is no
            "plan filter --elements 1M --cpp",
            "simulate --scheme single --buckets 10 --elements 10",
            "reproduce --list",
            "filter info f",
            "filter query f keys",
            "filter query f keys --count",
            "filter query f keys --json",
            "store info s",
            "store get s key1",
            "store get s nobody key1",
            "store erase s nobody",
            "explore",
        ):
            with open("/dev/full", "wb") as full:
                self.assert_ends(FAILURE, (call,), stdout=full, says="cannot write to standard output")

    def test_standard_output_that_is_closed(self):
        self.assert_ends(
            FAILURE,
            ("--help", "model balls --balls 23 --bins 365", "filter query f keys", "filter info f", "store get s key1"),
            preexec_fn=lambda: os.close(1),
            says="cannot write to standard output",
        )

    def test_a_disk_that_is_full(self):
        before = sorted(os.listdir(self.folder))
        self.assert_ends(
            FAILURE,
            ("filter build keys -o f", "filter build keys -o g", f"store build records -o s {SIZES}",
             f"store build records -o t {SIZES}"),
            preexec_fn=small_files,
            says="cannot be written: File too large",
        )
        # A device opens, and is full.
        out = self.folder / "out"
        out.mkdir()
        (out / "rows.csv").symlink_to("/dev/full")
        self.assert_ends(FAILURE, ("reproduce OFH-Fig5a --quick -o out",), says="cannot write")
        shutil.rmtree(out)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_a_store_whose_disk_is_full_says_what_it_has(self):
        shutil.copy(self.folder / "s", self.folder / "own")
        self.assert_ends(FAILURE, ("store put own",), stdin=RECORDS.replace(b"value", b"other"), preexec_fn=small_files,
                         says="cannot be written: File too large")
        (self.folder / "own").unlink()

    def test_a_page_whose_disk_is_full(self):
        self.assert_ends(FAILURE, ("demo -o /dev/full",), says="cannot write /dev/full: No space left on device")

    def test_an_input_that_cannot_be_read_to_its_end(self):
        # A file that can be opened, and gives an input/output error wherever it is read.
        self.assert_ends(
            FAILURE,
            ("filter build /proc/self/mem -o g", "filter query f /proc/self/mem",
             f"store build /proc/self/mem -o t {SIZES} --elements 10"),
            says="'/proc/self/mem' cannot be read: Input/output error",
        )
        with open("/proc/self/mem", "rb") as unreadable:
            done = subprocess.run([TOOL, "store", "put", "s"], cwd=self.folder, stdin=unreadable, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, FAILURE, done.stderr)

    def test_what_is_larger_than_the_machine(self):
        self.assert_ends(FAILURE, ("simulate --scheme single --buckets 1e12 --elements 10",), says="not enough memory: ")
        most = 2**40 // 8  # bytes of the largest filter that can be planned
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < most * 9 // 10:
            self.assert_ends(
                FAILURE, ("filter build keys -o g --elements 100G --bits-per-element 10 --kind standard",), says="not enough memory: "
            )

    @unittest.skipIf(SLOWNESS > 1, "a sanitizer takes more address space than there is memory")
    def test_memory_that_is_not_given(self):
        self.assert_ends(FAILURE, ("simulate --scheme single --buckets 200M --elements 10 --threads 1 --trials 1",
                                   "filter build keys -o g --elements 500M --bits-per-element 10 --kind standard"),
                         preexec_fn=memory(300), says="not enough memory")
        # Some of the threads cannot be started, or find no memory: which of the two, others on the machine decide.
        self.assert_ends(FAILURE, ("simulate --scheme single --buckets 1M --elements 1M --trials 900 --threads 900",),
                         preexec_fn=memory(300), says="(internal error: |not enough memory)")

    def writer(self):
        """A process that writes the store, until its input is closed."""
        writer = subprocess.Popen([TOOL, "store", "put", "s"], cwd=self.folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            writer.stdin.write(b"key0\tvalue\n")
            writer.stdin.flush()
        return writer

    def test_a_file_or_a_port_that_another_has(self):
        writer = self.writer()
        try:
            # It has the store once its first record is in: only then does a look at the pipe find it empty. If it meets the
            # reader that waits for it here, it ends, and another is started.
            while self.ended("store get s key0").returncode == 0:
                if writer.poll() is not None:
                    writer.communicate()
                    writer = self.writer()
            self.assert_ends(FAILURE, ("store put s a b", "store get s key0"), says="elsewhere")
        finally:
            writer.communicate()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assert_ends(FAILURE, (f"explore --port {taken.getsockname()[1]}",), says="cannot be listened on")

    def test_a_server_that_does_not_answer(self):
        self.assert_ends(
            FAILURE,
            (
                "redis query keys --nodes 127.0.0.1:1 --name seen",
                "redis build keys --nodes 127.0.0.1:1 --name seen",
                "redis import seen --from 127.0.0.1:1 --to 127.0.0.1:2",
            ),
            says="no answer from the node: cannot connect",
        )
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.assert_ends(FAILURE, (f"redis query keys --nodes 127.0.0.1:{silent.getsockname()[1]} --name seen --timeout 0.1",),
                             says="no answer from the node")


if __name__ == "__main__":
    unittest.main()
