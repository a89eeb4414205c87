#!/usr/bin/env python3
"""Puts the faults of tests/mutants.toml into copies of the tree, one at a time: the test that each of them names must pass
before and fail after.

usage: run_mutants.py [NAME or PATTERN...]

A PATTERN is as in a shell (fold_*); without any, all faults. For every processor there is a copy of the tree in
build-mutants/, which stays there so that the next run compiles less. Of a test program no more is compiled than the file
with the named test, what it shares with others, and the libraries that it is linked with.

Exit code 1 if a test stays green, if a fault no longer goes with the sources, or does not compile.
"""

import fcntl
import fnmatch
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
from mutants import PROJECT, Refused, read_mutants, read_source, test_source, with_fault  # noqa: E402

BUILDS = PROJECT / "build-mutants"
MOST_TREES = 8
# A test that takes longer than this many times its usual time, and so many seconds, will not end.
PATIENCE, PATIENT_SECONDS = 20, 20
# The headers suffice without them, and then a fault in a header is compiled in one place only.
LEFT_OUT = {"src/filter/liboneprobe_filter.a"}
CONFIGURED = (
    "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DONEPROBE_BUILD_TESTS=ON",
    "-DCMAKE_CXX_FLAGS=-UONEPROBE_COMPILED_FILTERS",
)
# Scripts, by their folder: what they need, and how they learn where it is.
SCRIPTS = {
    "integrations/redis/tests": {
        "ONEPROBE_REDIS_MODULE": "redis/oneprobe.so",
        "ONEPROBE_REDIS_SCARCE": "redis/scarce.so",
        "ONEPROBE_REDIS_OTHER": "redis/other.so",
    },
}
KILLED = ("killed", "killed by a crash", "killed: does not end")


class Broken(Exception):
    """Something that must work did not; no verdict about a fault."""


# --- what a run of a test says -----------------------------------------------------------------


def ran(entry, output):
    """Whether the named test was begun, by what its program printed."""
    if entry.is_script:
        return re.search(r"^Ran [1-9]\d* test", output, re.MULTILINE) is not None and "_FailedTest" not in output
    return re.search(r"^\[ RUN      \] ", output, re.MULTILINE) is not None


def verdict(entry, code, output):
    """What became of a fault, from the exit code of its test (None: it did not end) and from what it printed."""
    if code is None:
        return "killed: does not end" if entry.hangs else "does not end"
    if not ran(entry, output):
        return "the test did not run"
    if code == 0:
        return "SURVIVED"
    if code < 0:
        return "killed by a crash"
    said_so = "FAILED (" in output if entry.is_script else "[  FAILED  ] " in output
    return "killed" if said_so else "failed without a word"


def filter_of(entry):
    """--gtest_filter for one test as it stands in the source: with parameters and types it has more names."""
    suite, _, case = entry.case.partition(".")
    return f"{suite}.{case}:*/{suite}.{case}/*:{suite}/*.{case}"


# --- copies of the tree ------------------------------------------------------------------------


def tracked():
    """What git knows or would add, in the tree as it lies here."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={PROJECT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT, check=True, capture_output=True, text=True,
    ).stdout
    return [name for name in sorted(set(listing.split("\0")) - {""}) if (PROJECT / name).is_file()]


def update_copy(tree, names):
    """Makes `tree` what lies here. What is the same keeps its time, so that it is not compiled again."""
    for name in names:
        source, copy = PROJECT / name, tree / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        copy.chmod(source.stat().st_mode)
    known = set(names)
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree)
        if name.parts[0] != "build" and path.is_file() and "__pycache__" not in name.parts and str(name) not in known:
            path.unlink()


class Tree:
    """A copy of the tree with a build directory in it."""

    def __init__(self, number, names):
        self.root = BUILDS / f"tree-{number}"
        self.build = self.root / "build"
        update_copy(self.root, names)
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.root), RC_PARAMS="seed=20081", PYTHONDONTWRITEBYTECODE="1")
        self.must(["cmake", "-S", str(self.root), "-B", str(self.build), *CONFIGURED])
        self.linking = {}  # test file -> its objects, and the command that links them
        self.seconds = {}  # test -> how long it takes

    def command(self, command, cwd):
        return subprocess.run(
            command, cwd=cwd, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )

    def must(self, command, cwd=None):
        run = self.command(command, cwd or self.root)
        if run.returncode != 0:
            raise Broken(f"{shlex.join(command)[:200]}\n{run.stdout}")
        return run.stdout

    def ninja(self, *arguments):
        return self.must(["ninja", "-j1", *arguments], self.build)

    def inputs(self, target):
        """The objects that ninja makes a program or library of."""
        listed = self.ninja("-t", "query", target).partition("input:")[2].partition("outputs:")[0]
        return [word for word in listed.split() if word.endswith(".o")]

    def prepare(self, entry, source):
        """What must be built for a test, and the command that links it; no command for a script."""
        if entry.is_script:
            return list(SCRIPTS[str(Path(entry.program).parent)].values()), None
        if source not in self.linking:
            self.linking[source] = self.only_needed(f"tests/oneprobe_test_{entry.program.replace('/', '_')}", source)
        return self.linking[source]

    def only_needed(self, program, source):
        """The same, from the command that links the whole program: no other tests, and of libraries what is used."""
        words = shlex.split(self.ninja("-t", "commands", program).splitlines()[-1])
        if words[:2] != [":", "&&"] or "-o" not in words:
            raise Broken(f"{program}: not linked as expected: {shlex.join(words)}")
        words = words[2 : words.index("&&", 2)]
        at = words.index("-o")
        del words[at : at + 2]
        own = source.relative_to("tests").as_posix() + ".o"
        objects = [word for word in words if word.endswith(".o") and (not word.endswith("_test.cpp.o") or word.endswith("/" + own))]
        libraries = [word for word in words if word.endswith(".a") and not os.path.isabs(word) and word not in LEFT_OUT]
        others = [word for word in words if not word.endswith(".o") and (os.path.isabs(word) or not word.endswith(".a"))]
        (self.build / "mutants").mkdir(exist_ok=True)
        made = ["-o", f"mutants/{source.stem}"]
        self.ninja(*objects)
        bare = [others[0], *objects, *others[1:], *made]
        if self.command(bare, self.build).returncode == 0:
            return objects, bare
        self.ninja(*libraries)
        link = self.must([others[0], "-Wl,-t,-t", *objects, *libraries, *others[1:], *made], self.build)
        for library, member in re.findall(r"^\(([^)]*)\)(\S+)$", link, re.MULTILINE):
            if library in libraries:
                objects += [each for each in self.inputs(library) if Path(each).name == member]
        return objects, [others[0], *objects, *others[1:], *made]

    def make(self, entry, source):
        """Builds what the test needs. Says whether there was anything to do."""
        built, link = self.prepare(entry, source)
        output = self.ninja(*built)
        if link:
            self.must(link, self.build)
        return "no work to do" not in output

    def test(self, entry, source, seconds):
        """Exit code and output of the named test; no code if it did not end in time."""
        environment = dict(self.environment)
        if entry.is_script:
            for variable, made in SCRIPTS[str(Path(entry.program).parent)].items():
                environment[variable] = str(self.build / made)
            command = [sys.executable, str(self.root / entry.program), entry.case]
        else:
            command = [str(self.build / "mutants" / source.stem), f"--gtest_filter={filter_of(entry)}"]
        # A session of its own: what it starts ends with it.
        process = subprocess.Popen(
            command, cwd=self.build / "tests", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output

    def must_be_green(self, entry, source):
        if entry.test in self.seconds:
            return
        self.make(entry, source)
        begin = time.monotonic()
        code, output = self.test(entry, source, 600)
        if code != 0 or not ran(entry, output):
            raise Broken(f"{entry.test}: not green without a fault\n{output}")
        self.seconds[entry.test] = time.monotonic() - begin

    def try_out(self, entry, source):
        """What becomes of a fault, and what was printed about it."""
        self.must_be_green(entry, source)
        self.make(entry, source)  # what other faults left behind
        path = self.root / entry.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(with_fault(entry, sound), encoding="utf-8")
        try:
            if not self.make(entry, source):
                return "the test does not see the file", ""
            code, output = self.test(entry, source, PATIENCE * self.seconds[entry.test] + PATIENT_SECONDS)
            return verdict(entry, code, output), output
        except Broken as broken:
            return "does not compile", str(broken)
        finally:
            path.write_text(sound, encoding="utf-8")


# --- the run -----------------------------------------------------------------------------------


@dataclass
class Run:
    """The faults that are left, grouped by what must be compiled for them, and what became of the others."""

    groups: dict
    count: int
    results: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    begin: float = field(default_factory=time.monotonic)

    def take(self, group):
        """The next fault, of the same group if there is one, else of the largest; no other thread gets it."""
        with self.lock:
            if not self.groups.get(group):
                group = max(self.groups, key=lambda each: len(self.groups[each]), default=None)
            if group is None or not self.groups[group]:
                return None, None
            return group, self.groups[group].pop(0)

    def end(self, entry, said, output, seconds):
        with self.lock:
            self.results[entry.name] = (said, seconds)
            passed = int(time.monotonic() - self.begin)
            print(
                f"oneprobe: {passed // 60}:{passed % 60:02d} {len(self.results)} of {self.count}: "
                f"{entry.name}: {said} ({seconds:.0f} s)", flush=True,
            )
            if said not in KILLED and output:
                print("\n".join(output.splitlines()[-40:]), flush=True)


def work(run, number, names):
    """One thread: its own tree, fault after fault."""
    tree = group = None
    while True:
        group, entry = run.take(group)
        if entry is None:
            return
        begin = time.monotonic()
        try:
            if tree is None:
                tree = Tree(number, names)
            said, output = tree.try_out(entry, group[1])
        except Refused as refused:
            said, output = "no longer goes with the sources", str(refused)
        except Exception as failure:  # noqa: BLE001: the others go on
            said, output = "could not be tried", str(failure)
        run.end(entry, said, output, time.monotonic() - begin)


def chosen(entries, patterns):
    unmatched = [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(each.name, pattern) for each in entries)]
    if unmatched:
        raise Refused(f"no fault is called {', '.join(unmatched)}")
    return [each for each in entries if not patterns or any(fnmatch.fnmatchcase(each.name, pattern) for pattern in patterns)]


def report(entries, results):
    width = max(len(entry.name) for entry in entries)
    print()
    for entry in entries:
        said, seconds = results[entry.name]
        print(f"{entry.name:{width}}  {said:20}  {seconds:5.0f} s  {entry.test}")
    killed = sum(results[entry.name][0] in KILLED for entry in entries)
    print(f"\n{killed} of {len(entries)} faults are noticed by the test that they name")
    return 0 if killed == len(entries) else 1


def try_all(entries):
    groups, results = defaultdict(list), {}
    for entry in entries:
        try:
            with_fault(entry, read_source(entry))
            source = test_source(entry)
            groups[entry.program, source].append(entry)
        except Refused as refused:
            print(f"oneprobe: {refused}")
            results[entry.name] = ("no longer goes with the sources", 0)
    for group in groups.values():
        group.sort(key=lambda each: each.test)
    run = Run(dict(groups), len(entries), results)
    names = tracked()
    trees = max(1, min(os.cpu_count() or 1, MOST_TREES, len(entries)))
    threads = [threading.Thread(target=work, args=(run, number, names)) for number in range(1, trees + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report(entries, run.results)


def main(arguments):
    if any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        entries = chosen(read_mutants(), arguments)
    except Refused as refused:
        print(f"oneprobe: {refused}", file=sys.stderr)
        return 2
    BUILDS.mkdir(exist_ok=True)
    with open(BUILDS / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("oneprobe: the copies in build-mutants are in use by another run", file=sys.stderr)
            return 2
        return try_all(entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
