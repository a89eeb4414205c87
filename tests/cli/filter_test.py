#!/usr/bin/env python3
"""`oneprobe filter`: files of keys to a filter file, and answers from it."""

import json
import math
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
import unittest

from tool import HANGS, SLOWNESS, TOOL, FileCommandTest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("standard", "partitioned", "blocked", "counting", "balanced", "fingerprint")


def numbered(word, count):
    return [b"%s-%d" % (word, i) for i in range(count)]


def lines(keys):
    return b"".join(key + b"\n" for key in keys)


class FilterTest(FileCommandTest):
    COMMAND = "filter"

    def build(self, *arguments, **more):
        return json.loads(self.assert_works("build", *arguments, "--json", **more))

    def info(self, name, *arguments, **more):
        return json.loads(self.assert_works("info", name, *arguments, "--json", **more))


class RoundTrip(FilterTest):
    def test_every_kind_finds_all_its_keys_and_few_others(self):
        mine, others = numbered(b"mine", 20000), numbered(b"other", 20000)
        self.write("mine", lines(mine))
        self.write("others", lines(others))
        for seed, kind in enumerate(KINDS):
            with self.subTest(kind):
                built = self.build("mine", "-o", "f", "--fpr", "0.01", "--kind", kind, "--seed", str(seed))
                self.assertEqual((built["kind"], built["keys"]), (kind, 20000))
                self.assertEqual(built["condition"], "as planned")
                # Nothing is lost, and every byte comes back.
                self.assertEqual(self.assert_works("query", "f", "mine"), lines(mine))
                self.assertEqual(self.assert_works("query", "f", "mine", "--invert", code=1), b"")
                # A key of others is printed by one of the two calls, whole and in order.
                maybe = self.assert_works("query", "f", "others").splitlines(keepends=True)
                surely = self.assert_works("query", "f", "others", "--invert").splitlines(keepends=True)
                self.assertEqual(sorted(maybe + surely), sorted(lines(others).splitlines(keepends=True)))
                self.assertEqual(maybe, sorted(maybe, key=lambda line: int(line.split(b"-")[1])))
                # As many errors as the filter itself expects from its bits: five standard deviations of a binomial.
                expected = 20000 * built["current_fpr"]
                self.assertLessEqual(abs(len(maybe) - expected), 5 * math.sqrt(expected))
                self.assertLessEqual(built["current_fpr"], 0.0115)

    def test_memory_as_asked_for(self):
        self.write("keys", lines(numbered(b"k", 50000)))
        bits = self.build("keys", "-o", "f", "--bits-per-element", "12")
        self.assertLessEqual(bits["memory_bytes"], 50000 * 12 / 8)
        self.assertGreater(bits["memory_bytes"], 0.97 * 50000 * 12 / 8)
        size = self.build("keys", "-o", "f", "--bytes", "64Ki")
        self.assertLessEqual(size["memory_bytes"], 65536)
        self.assertGreater(size["memory_bytes"], 0.97 * 65536)

    def test_the_same_seed_gives_the_same_bytes_and_a_random_one_does_not(self):
        self.write("keys", lines(numbered(b"k", 1000)))
        content = {}
        for name, seed in (("a", "7"), ("b", "0x7"), ("c", "8"), ("d", None), ("e", None)):
            self.build("keys", "-o", name, *(["--seed", seed] if seed else []))
            content[name] = (self.folder / name).read_bytes()
        self.assertEqual(content["a"], content["b"])
        self.assertEqual(len({content[name] for name in "acde"}), 4)
        self.build("keys", "-o", "f", "--seed", "0xffffffffffffffff")
        self.assertEqual(self.info("f")["seed"], str(2**64 - 1))

    def test_standard_input_and_a_file_give_the_same_filter(self):
        keys = lines(numbered(b"k", 3000))
        self.write("keys", keys)
        self.build("keys", "-o", "from_file", "--seed", "1")
        self.build("-", "-o", "from_input", "--seed", "1", "--elements", "3000", stdin=keys)
        self.assertEqual((self.folder / "from_file").read_bytes(), (self.folder / "from_input").read_bytes())
        self.assertEqual(self.assert_works("query", "from_input", stdin=keys), keys)
        self.assertEqual(self.assert_works("query", "from_input", "-", stdin=keys), keys)


class Keys(FilterTest):
    def test_a_key_is_a_line_byte_for_byte(self):
        content = b"plain\n\nwith\rreturn\r\n\xff\x00binary\n  spaces \nlast"
        built = self.build(self.write("keys", content), "-o", "f")
        self.assertEqual((built["keys"], built["empty_keys"], built["keys_with_carriage_return"]), (6, 1, 1))
        self.assertEqual(self.assert_works("query", "f", "keys"), content)
        self.assert_works("query", "f", stdin=b"last\r\n", code=1)
        self.assertEqual(self.assert_works("query", "f", stdin=b"\n"), b"\n")
        said = self.assert_works("build", "keys", "-o", "f").decode()
        self.assertIn("empty line is a key", said)
        self.assertIn("carriage return", said)

    def test_keys_before_nul_may_hold_line_ends(self):
        content = b"one\ntwo\0three\0\0last"
        built = self.build(self.write("keys", content), "-o", "f", "-0")
        self.assertEqual((built["keys"], built["empty_keys"]), (4, 1))
        self.assertEqual(self.assert_works("query", "f", "keys", "-0"), content)
        self.assert_works("query", "f", stdin=b"one\ntwo\n", code=1)

    def test_no_keys_make_an_empty_filter(self):
        built = self.build(self.write("keys", b""), "-o", "f")
        self.assertEqual((built["keys"], built["elements"], built["current_fpr"]), (0, 0, 0))
        self.assert_works("query", "f", stdin=b"a\n", code=1)
        self.assertEqual(self.assert_works("query", "f", "--invert", stdin=b"a\n"), b"a\n")
        self.assertEqual(self.assert_works("query", "f", "--invert", stdin=b"", code=1), b"")

    def test_duplicates_are_counted_once(self):
        built = self.build(self.write("keys", b"same\n" * 5000), "-o", "f")
        self.assertEqual((built["keys"], built["elements"], built["condition"]), (5000, 1, "as planned"))

    def test_the_longest_key_is_taken_and_one_byte_more_names_its_line(self):
        self.write("fits", b"a\n" + b"x" * 2**20)
        self.build("fits", "-o", "f")
        self.assertEqual(self.assert_works("query", "f", "fits"), b"a\n" + b"x" * 2**20)
        self.write("long", b"a\nb\n" + b"x" * (2**20 + 1) + b"\nc\n")
        says = "line 3 of 'long' is too long: a key may have at most 1048576 bytes"
        self.assert_refused("build", "long", "-o", "g", says=says)
        self.assert_refused("build", "long", "-o", "g", "--elements", "9", says=says)
        self.assertFalse((self.folder / "g").exists())
        done = self.call("query", "f", "long")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"line 3 of 'long'", done.stderr)


class OverFull(FilterTest):
    def test_more_keys_than_planned_are_kept_and_the_error_is_told(self):
        keys = lines(numbered(b"k", 30000))
        for kind in KINDS:
            with self.subTest(kind):
                built = self.build("-", "-o", "f", "--elements", "10000", "--kind", kind, stdin=keys)
                self.assertIn(built["condition"], ("over-full", "degraded"))
                self.assertEqual(built["planned_elements"], 10000)
                self.assertGreater(built["current_fpr"], 5 * built["planned_fpr"])
                self.assertEqual(self.assert_works("query", "f", stdin=keys), keys)
                found = self.info("f")
                for key in ("condition", "elements", "current_fpr", "planned_fpr", "memory_bytes"):
                    self.assertEqual(found[key], built[key], key)

    def test_a_balanced_filter_says_degraded(self):
        keys = lines(numbered(b"k", 30000))
        call = ("-", "-o", "f", "--elements", "10000", "--kind", "balanced", "--bits-per-element", "24")
        built = self.build(*call, stdin=keys)
        self.assertEqual(built["condition"], "degraded")
        self.assertGreater(built["forced"], 0)
        said = self.assert_works("build", *call, stdin=keys).decode()
        self.assertRegex(said, r"condition +degraded")
        self.assertIn("was planned for 10,000", said)


class Query(FilterTest):
    def setUp(self):
        super().setUp()
        self.mine = numbered(b"mine", 5000)
        self.write("mine", lines(self.mine))
        self.build("mine", "-o", "f", "--fpr", "1e-6", "--seed", "1")

    def test_count_and_json(self):
        asked = lines(self.mine[:70] + numbered(b"other", 30))
        self.assertEqual(self.assert_works("query", "f", "--count", stdin=asked), b"70\n")
        self.assertEqual(self.assert_works("query", "f", "--count", "--invert", stdin=asked), b"30\n")
        for more in ((), ("--count",), ("--invert",)):
            found = json.loads(self.assert_works("query", "f", "--json", *more, stdin=asked))
            self.assertEqual(found, {"keys": 100, "may_contain": 70, "surely_not": 30})

    def test_exit_codes_are_those_of_grep(self):
        self.assert_works("query", "f", stdin=b"mine-1\n")
        self.assertEqual(self.assert_works("query", "f", stdin=b"nobody\n", code=1), b"")
        self.assertEqual(self.assert_works("query", "f", "--count", stdin=b"nobody\n", code=1), b"0\n")
        self.assertEqual(self.assert_works("query", "f", stdin=b"", code=1), b"")
        self.assert_refused("query", "missing", says="'missing' cannot be read: No such file")
        self.assert_refused("query", "f", "missing", says="'missing' cannot be read: No such file")
        self.assert_refused("query", "f", "mine", "mine", says="at most FILE and KEYS")
        self.assert_refused("query", says="FILE is missing")

    def test_an_answer_that_cannot_be_written_is_no_negative_answer(self):
        for more in ((), ("--count",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [TOOL, "filter", "query", "f", "mine", *more], cwd=self.folder, stdout=full, stderr=subprocess.PIPE
                )
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb"^oneprobe filter query: cannot write to standard output: .*\n$")

    def test_a_reader_that_has_seen_enough_ends_it(self):
        self.write("many", lines(self.mine) * 200)
        asking = subprocess.Popen([TOOL, "filter", "query", "f", "many"], cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(asking.stdout.readline(), b"mine-0\n")
        asking.stdout.close()
        self.assertEqual(asking.wait(timeout=HANGS), -signal.SIGPIPE)

    def test_a_line_is_answered_before_the_next_one_comes(self):
        asking = subprocess.Popen(
            [TOOL, "filter", "query", "f"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for i in range(5):
            asking.stdin.write(b"nobody\nmine-%d\n" % i)
            asking.stdin.flush()
            ready, _, _ = select.select([asking.stdout], [], [], HANGS)
            self.assertTrue(ready)
            self.assertEqual(os.read(asking.stdout.fileno(), 100), b"mine-%d\n" % i)
        asking.stdin.close()
        self.assertEqual(asking.wait(timeout=HANGS), 0)
        asking.stdout.close()


class Files(FilterTest):
    def setUp(self):
        super().setUp()
        self.write("keys", lines(numbered(b"k", 2000)))

    def test_what_cannot_be_written_is_said_before_the_work(self):
        (self.folder / "sub").mkdir()
        os.mkfifo(self.folder / "pipe")
        (self.folder / "link").symlink_to("keys")
        for output, why in (
            ("keys", "it is the file of keys"),
            ("link", "it is the file of keys"),
            ("sub", "Is a directory"),
            ("pipe", "it is not a regular file"),
            ("/dev/null", "it is not a regular file"),
            ("no/such/folder/f", "No such file or directory"),
            ("keys/f", "Not a directory"),
        ):
            self.assert_refused("build", "keys", "-o", output, says=f"'{output}' cannot be written: {why}")
        self.assertEqual((self.folder / "keys").read_bytes(), lines(numbered(b"k", 2000)))
        self.assertTrue((self.folder / "pipe").is_fifo())

    def test_a_link_keeps_pointing_to_the_new_filter(self):
        self.build("keys", "-o", "real", "--seed", "1")
        (self.folder / "link").symlink_to("real")
        self.build("keys", "-o", "link", "--seed", "2")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(self.info("real")["seed"], "2")

    def test_keys_that_cannot_be_read(self):
        self.assert_refused("build", "missing", "-o", "f", says="'missing' cannot be read: No such file")
        self.assert_refused("build", ".", "-o", "f", says="'.' cannot be read: Is a directory")
        self.assert_refused("build", "-", "-o", "f", says="--elements is missing: standard input can be read only once")
        os.mkfifo(self.folder / "pipe")
        writer = subprocess.Popen(["sh", "-c", "exec 3> pipe; sleep 20"], cwd=self.folder)
        self.assert_refused("build", "pipe", "-o", "f", says="--elements is missing: 'pipe' can be read only once")
        writer.kill()
        writer.wait()
        self.assertFalse((self.folder / "f").exists())

    def test_nonsense_is_refused(self):
        for call, says in (
            ("build", "KEYS is missing"),
            ("build keys", "-o is missing"),
            ("build keys keys -o f", "KEYS must be one file"),
            ("build keys -o f -o g", "-o is given 2 times"),
            ("build keys -o f --fpr 0.1 --bytes 100", "give either --fpr or --bytes, not both"),
            ("build keys -o f --fpr 0", "--fpr must be .*found 0"),
            ("build keys -o f --fpr 2", "--fpr must be"),
            ("build keys -o f --fpr x", "--fpr must be a finite number; found 'x'"),
            ("build keys -o f --bits-per-element 0", "--bits-per-element"),
            ("build keys -o f --bytes 0", "--bytes"),
            ("build keys -o f --elements 0", "--elements must be at least 1"),
            ("build keys -o f --elements 1e13", "--elements must be"),
            ("build keys -o f --kind best", "--kind must be one of standard, .*; found 'best'"),
            ("build keys -o f --choices 0", "--choices"),
            ("build keys -o f --accesses 0.5", "--accesses"),
            ("build keys -o f --seed -1", "--seed must be"),
            ("build keys -o f --seed 18446744073709551616", "--seed must be"),
            ("build keys -o f --seed 0x", "--seed must be"),
            ("build keys -o f --frp 0.1", "unknown option '--frp'"),
            ("info", "FILE is missing"),
            ("info keys keys", "FILE must be one; found 2"),
            ("info keys", "'keys' is not an oneprobe file"),
            ("query keys", "'keys' is not an oneprobe file"),
        ):
            with self.subTest(call):
                self.assert_refused(*call.split(), says=says)
        self.assertFalse((self.folder / "f").exists())

    def test_a_build_that_fails_leaves_the_old_file(self):
        self.build("keys", "-o", "f", "--seed", "1")
        before = (self.folder / "f").read_bytes()
        self.write("long", b"x" * (2**20 + 1))
        self.assert_refused("build", "long", "-o", "f", "--elements", "5", says="line 1")
        # A disk that is full, as near as a test can come: no file may grow beyond a page.
        self.write("more", lines(numbered(b"k", 50000)))
        self.assert_refused(
            "build",
            "more",
            "-o",
            "f",
            says="'f' cannot be written: File too large",
            code=3,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
            restore_signals=False,
        )
        self.assertEqual((self.folder / "f").read_bytes(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["f", "keys", "long", "more"])

    def test_a_build_that_is_killed_leaves_the_old_file(self):
        self.build("keys", "-o", "f", "--seed", "1")
        before = (self.folder / "f").read_bytes()
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            building = subprocess.Popen(
                [TOOL, "filter", "build", "-", "-o", "f", "--elements", "1M"], cwd=self.folder, stdin=subprocess.PIPE
            )
            building.stdin.write(lines(numbered(b"k", 20000)))
            building.stdin.flush()
            time.sleep(0.2)
            building.send_signal(how)
            self.assertEqual(building.wait(timeout=HANGS), -how)
            building.stdin.close()
            self.assertEqual((self.folder / "f").read_bytes(), before)


class Info(FilterTest):
    def test_it_tells_what_was_built(self):
        self.write("keys", lines(numbered(b"k", 4000)))
        for kind in KINDS:
            with self.subTest(kind):
                built = self.build("keys", "-o", "f", "--kind", kind, "--bits-per-element", "24", "--seed", "5")
                found = self.info("f")
                for key in set(built) - {"keys", "empty_keys", "keys_with_carriage_return", "seconds"}:
                    self.assertEqual(found[key], built[key], key)
                self.assertEqual(found["checksum"], "not compared (--verify)")
                self.assertEqual(self.info("f", "--verify")["checksum"], "right")
                self.assertEqual(found["file_bytes"], (self.folder / "f").stat().st_size)
                self.assertGreaterEqual(found["miss_accesses"], 1)
                parts = found.get("cell_bytes", found["memory_bytes"]) + found.get("overflow_bytes", 0)
                self.assertEqual(parts, found["memory_bytes"])

    def test_a_person_can_read_it(self):
        self.write("keys", lines(numbered(b"k", 100000)))
        self.build("keys", "-o", "f", "--fpr", "0.0001", "--seed", "5")
        said = self.assert_works("info", "f").decode()
        self.assertRegex(said, r"current fpr +\S+ +1 in \d[\d,]+\n")
        self.assertRegex(said, r"memory bytes +[\d,]+ +bytes, [\d.]+ KiB\n")
        self.assertLessEqual(max(map(len, said.splitlines())), 80)

    def test_damage_is_found(self):
        self.write("keys", lines(numbered(b"k", 4000)))
        self.build("keys", "-o", "f")
        whole = (self.folder / "f").read_bytes()
        damaged = bytearray(whole)
        damaged[-len(whole) // 3] ^= 4
        self.write("g", bytes(damaged))
        found = self.info("g", "--verify", code=1)
        self.assertEqual(found["checksum"], "wrong")
        self.assertIn("checksum mismatch", self.assert_works("info", "g", "--verify", code=1).decode())
        self.info("g")
        # Before the filter, every byte counts, and nothing is shown of what cannot be trusted.
        damaged = bytearray(whole)
        damaged[100] ^= 1
        self.write("g", bytes(damaged))
        for command in ("info", "query"):
            self.assert_refused(command, "g", says="'g' has a checksum mismatch")
            for size in (0, 1, 63, 64, 200, len(whole) - 1):
                self.write("cut", whole[:size])
                self.assert_refused(command, "cut", says="'cut' is (truncated|not an oneprobe file)")
            self.write("longer", whole + b"x")
            self.assert_refused(command, "longer", says="'longer' has trailing bytes")


class Scale(FilterTest):
    @unittest.skipIf(SLOWNESS > 1, "a sanitizer needs memory of its own")
    def test_memory_is_the_filter_and_a_constant(self):
        """Ten times the keys, the same filter: the same memory, in MiB."""
        # A process has at least the peak of the one it came from: a small one in between keeps ours out.
        between = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
        )
        call = [TOOL, "filter", "build", "keys", "-o", "f", "--bytes", "4Mi", "--elements", "2M"]
        peaks = []
        for hundreds_of_thousands in (2, 20):
            with open(self.folder / "keys", "wb") as keys:
                for i in range(hundreds_of_thousands):
                    keys.write(lines(numbered(b"a key of some length, %d" % i, 100000)))
            peaks.append(float(subprocess.check_output([sys.executable, "-c", between, *call], cwd=self.folder)))
        self.assertLess(peaks[1], peaks[0] + 4)
        self.assertLess(peaks[1], 4 + 40, peaks)

    def test_a_bar_on_a_terminal_after_two_seconds_and_nothing_elsewhere(self):
        terminal, side = pty.openpty()
        building = subprocess.Popen(
            [TOOL, "filter", "build", "-", "-o", "f", "--elements", "1000"],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=side,
        )
        os.close(side)
        begin = time.monotonic()
        shown = b""
        shown_after = None
        # Keys come slowly until there is a bar; how long the tool took to begin is not known.
        while shown_after is None and time.monotonic() < begin + HANGS:
            building.stdin.write(lines(numbered(b"k", 10)))
            building.stdin.flush()
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 10000)
                shown_after = time.monotonic() - begin
        building.stdin.close()
        self.assertEqual(building.wait(timeout=HANGS), 0)
        try:
            while more := os.read(terminal, 10000):
                shown += more
        except OSError:
            pass  # how a terminal says that nobody is at its other side
        os.close(terminal)
        self.assertIsNotNone(shown_after)
        self.assertGreater(shown_after, 1.9)
        shown = shown.decode()
        self.assertIn("inserting keys", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))


class Page(FilterTest):
    PATH = PROJECT / "docs" / "filter-files.md"

    def rerun(self, page):
        """The page with all its console blocks run, one after the other in one folder."""
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "oneprobe").symlink_to(os.path.abspath(TOOL))
        place = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C"}

        def block(found):
            text = ""
            for command in re.findall(r"^\$ .*$", found[1], re.MULTILINE):
                done = subprocess.run(
                    ["bash", "-c", command[2:]],
                    cwd=self.folder,
                    env=place,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=HANGS,
                )
                text += f"{command}\n{done.stdout.decode()}"
            return f"```console\n{text}```"

        return re.sub(r"```console\n(.*?)```", block, page, flags=re.DOTALL)

    def test_the_tutorial_shows_what_the_tool_says(self):
        """If it should say something else from now on: ONEPROBE_WRITE_PAGES=1 writes it anew."""
        self.maxDiff = None
        page = self.PATH.read_text(encoding="utf-8")
        self.assertGreater(page.count("```console\n$ "), 3)
        again = self.rerun(page)
        # Times are those of another machine.
        untimed = re.compile(r"(seconds +)[\d.e-]+")
        if os.environ.get("ONEPROBE_WRITE_PAGES") == "1":
            self.PATH.write_text(again, encoding="utf-8")
        else:
            self.assertEqual(untimed.sub(r"\1", again), untimed.sub(r"\1", page))


if __name__ == "__main__":
    unittest.main()
