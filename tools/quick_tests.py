#!/usr/bin/env python3
"""Builds and runs the unit tests that an uncommitted change can reach, or those of a name; nothing else.

usage: quick_tests.py BUILD_DIR [PATTERN]

Which tests a file reaches is what the compiler wrote down when it was last built: the objects of tests that read the file.
A source of the compiled library, src/model/churn.cpp, reaches the tests of its part, tests/unit/model. With a PATTERN, a
regular expression, it is the test files whose path or suites match. The folder of the change comes first.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

PROJECT = pathlib.Path(__file__).resolve().parent.parent
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P|_SUITE)?\((\w+)|^RC_GTEST_(?:TYPED_)?(?:FIXTURE_)?PROP\((\w+)", re.MULTILINE)
OBJECT = re.compile(r"tests/CMakeFiles/oneprobe_test_(\w+)\.dir/(.+\.cpp)\.o")


def lines(*command):
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines()


def programs_of_room(file):
    """The tests that stand where a file does: tests/unit/detail/filter/ for include/oneprobe/detail/filter/, and so on."""
    parts = pathlib.PurePath(file).parts
    if parts[:2] == ("tests", "unit"):
        return {"_".join(("unit", *parts[2:-1]))}
    if parts[:2] == ("include", "oneprobe"):
        folders = parts[2:-1][:2] if parts[2] == "detail" else parts[2:-1][:1]
        return {"unit_" + "_".join(folders), "unit_" + (folders or parts)[-1].removesuffix(".hpp")}
    return {f"unit_{parts[1]}"} if parts[0] == "src" and len(parts) > 2 else set()


def uncommitted():
    """Files that differ from the last commit, new ones included, as git names them."""
    changed = lines("git", "diff", "--name-only", "HEAD")
    return set(changed + lines("git", "ls-files", "--others", "--exclude-standard"))


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.objects = {}  # (program, test file): what it was last compiled from, or None if it never was
        # Long tests are not built by `all`, and no unit tests.
        commands = lines("ninja", "-C", str(self.folder), "-t", "commands", "all")
        for command in commands:
            made = re.search(r" -o (\S+)", command)
            if made and (found := OBJECT.fullmatch(made[1])) and "statistical" not in found[1]:
                self.objects[found[1], "tests/" + found[2]] = None
        of = None
        for line in lines("ninja", "-C", str(self.folder), "-t", "deps"):
            if line.startswith("    "):
                if of:
                    self.objects[of].add(self.named(line.strip()))
                continue
            found = OBJECT.match(line)
            of = (found[1], "tests/" + found[2]) if found else None
            if of not in self.objects or "VALID" not in line:
                of = None
            if of:
                self.objects[of] = set()

    def named(self, path):
        path = os.path.normpath(self.folder / path)
        return os.path.relpath(path, PROJECT) if path.startswith(f"{PROJECT}{os.sep}") else path

    def reached_by(self, changed):
        """Test files by program."""
        reached = collections.defaultdict(set)
        for (program, source), read in self.objects.items():
            part = pathlib.PurePath(source).parent.name
            own_part = any(pathlib.PurePath(file).parent == pathlib.PurePath("src", part) for file in changed)
            if source in changed or own_part or (read and read & changed):
                reached[program].add(source)
        return reached

    def named_like(self, pattern):
        reached = collections.defaultdict(set)
        for program, source in self.objects:
            suites = {a or b for a, b in SUITE.findall((PROJECT / source).read_text(encoding="utf-8"))}
            if any(pattern.search(name) for name in (source, program, *suites)):
                reached[program].add(source)
        return reached

    def suites_in(self, program, sources):
        """The suites of a built program whose tests stand in these files; all, if one of the files is a helper."""
        with tempfile.NamedTemporaryFile(suffix=".json") as listing:
            subprocess.run(
                [self.path_of(program), "--gtest_list_tests", f"--gtest_output=json:{listing.name}"],
                stdout=subprocess.DEVNULL, check=True,
            )
            listed = json.load(listing)["testsuites"]
        helpers = [source for source in sources if not source.endswith("_test.cpp")]
        return [
            suite["name"] for suite in listed
            if helpers or any(self.named(test["file"]) in sources or not test["file"].endswith(".cpp")
                              for test in suite["testsuite"])
        ]

    def path_of(self, program):
        return str(self.folder / "tests" / f"oneprobe_test_{program}")

    def make(self, programs):
        targets = [f"oneprobe_test_{program}" for program in programs]
        done = subprocess.run(["cmake", "--build", self.folder, "--target", *targets], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)

    def run(self, program, sources):
        """Whether all passed; says how it went."""
        suites = self.suites_in(program, sources)
        begin = time.monotonic()
        done = subprocess.run(
            [self.path_of(program), "--gtest_brief=1", "--gtest_filter=" + ":".join(f"{suite}.*" for suite in suites)],
            capture_output=True, text=True, env={**os.environ, "RC_PARAMS": "seed=20081"},
        )
        ran = re.search(r"^\[=+\] (\d+) tests? from", done.stdout, re.MULTILINE)
        if done.returncode != 0:
            print(done.stdout + done.stderr, end="", file=sys.stderr)
        print(f"{program}: {ran[1] if ran else 'no'} tests of {len(sources)} files, "
              f"{time.monotonic() - begin:.1f} s{'' if done.returncode == 0 else ', FAILED'}", flush=True)
        return done.returncode == 0 and ran is not None


def main():
    build = Build(sys.argv[1])
    if len(sys.argv) > 2:
        changed = set()
        reached = build.named_like(re.compile(sys.argv[2]))
    else:
        changed = uncommitted()
        reached = build.reached_by(changed)
        if unknown := sum(read is None for read in build.objects.values()):
            print(f"{unknown} test files have not been built yet and are left out; ./run test builds all")
    if not reached:
        sys.exit("no unit test " + ("has that name" if len(sys.argv) > 2 else "reads an uncommitted file"))

    own = {program for file in changed for program in programs_of_room(file)}
    passed = True
    for programs in (sorted(own & reached.keys()), sorted(reached.keys() - own)):
        if programs:
            build.make(programs)
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                passed &= all(list(pool.map(lambda program: build.run(program, reached[program]), programs)))
    sys.exit(not passed)


if __name__ == "__main__":
    main()
