"""Runs the built tool for the tests in this folder."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time
import unittest

TOOL = os.environ.get("ONEPROBE_CLI", "build/oneprobe")
# How much longer than a release build a call may take.
SLOWNESS = float(os.environ.get("ONEPROBE_SLOWNESS", "1"))
# Seconds after which a call counts as hanging: so long that what else runs on the machine does not make it one. What a call
# costs is told by its processor time.
HANGS = 300 * SLOWNESS

MODELS = (
    "overflow-bound cutoff fluid least-overflow finite-size churn balance-bound balance filter crisis summary "
    "reconstruction balls"
).split()


def processor_seconds():
    """What all children that have ended took of the processors, which does not grow with what else runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outputs_of(process, limit):
    """What it wrote. It is ended if it takes more processor time than `limit`, or none for a minute: then it hangs."""
    used = 0
    while True:
        try:
            return process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            before, used = used, time.clock_gettime(~process.pid << 3 | 2)  # as clock_getcpuclockid(3) has it on Linux
            if before == used or used > limit:
                process.kill()
                process.communicate()
                raise


class Outcome:
    def __init__(self, arguments, limit):
        begin = processor_seconds()
        with subprocess.Popen(
            [TOOL, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            stdout, stderr = outputs_of(process, limit)
        self.seconds = processor_seconds() - begin  # of processors, on all of its threads
        self.code = process.returncode
        self.stdout = stdout.decode("utf-8", "replace")
        self.stderr = stderr.decode("utf-8", "replace")


def run(*arguments, timeout=300):
    """Runs the tool; the arguments are strings, split at spaces if there is only one. Times are of processors."""
    if len(arguments) == 1 and isinstance(arguments[0], str):
        arguments = arguments[0].split()
    return Outcome(arguments, timeout * SLOWNESS)


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def answer(call):
    """The JSON answer of `oneprobe model CALL --json`."""
    outcome = run(f"model {call} --json")
    if outcome.code != 0 or outcome.stderr:
        raise AssertionError(f"{call}: exit code {outcome.code}, {outcome.stderr}")
    return json.loads(outcome.stdout, parse_constant=refuse_constant)


class FileCommandTest(unittest.TestCase):
    """Tests of `oneprobe COMMAND ...`, each in a folder of its own."""

    COMMAND = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"oneprobe-{self.COMMAND}-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def call(self, *arguments, stdin=b"", **more):
        return subprocess.run(
            [TOOL, self.COMMAND, *arguments],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            timeout=HANGS,
            **more,
        )

    def assert_works(self, *arguments, code=0, **more):
        done = self.call(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (code, b""), arguments)
        return done.stdout

    def assert_refused(self, *arguments, says, code=2, **more):
        done = self.call(*arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (code, b""), (arguments, done.stderr))
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertRegex(done.stderr.decode(), rf"^oneprobe {self.COMMAND} \w+: .*" + says, arguments)
