"""gdb shows filters, tables and hashes in words.

usage: printers_test.py GDB COMPILER PROJECT
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GDB, COMPILER, PROJECT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SOURCE = PROJECT / "tests" / "gdb" / "shown.cpp"
SHOWN = ("map", "set", "shared", "balanced", "standard", "hashed")


class Printers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        line = next(i for i, text in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1) if "gdb stops here" in text)
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/shown"
            subprocess.run([COMPILER, "-std=c++20", "-g", "-O0", f"-I{PROJECT / 'include'}", SOURCE, "-o", program], check=True)
            call = [GDB, "-q", "-nx", "-batch", "-ex", f"source {PROJECT / 'tools' / 'gdb' / 'oneprobe.py'}"]
            call += ["-ex", "set startup-with-shell off", "-ex", f"break shown.cpp:{line}", "-ex", "run"]
            for name in SHOWN:
                call += ["-ex", f'printf "\\n{name}: "', "-ex", f"output {name}"]
            done = subprocess.run([*call, program], capture_output=True, text=True, check=False, timeout=120)
        cls.output = done.stdout + done.stderr
        cls.shown = dict(re.findall(r"^(\w+): (.*)$", done.stdout, re.MULTILINE))

    def assert_shows(self, name, pattern):
        self.assertIn(name, self.shown, self.output)
        self.assertRegex(self.shown[name], f"^{pattern}$")

    def test_tables_show_their_elements(self):
        plan = r"planned for 1000; 0 in the overflow; \d+ \+ \d+ \+ \d+ \+ \d+ buckets of 16"
        self.assert_shows("map", rf"bounded_map of 1 elements, {plan} = \{{\[7\] = 70\}}")
        self.assert_shows("set", rf"bounded_set of 2 elements, {plan} = \{{(1234, 5678|5678, 1234)\}}")
        self.assert_shows("shared", rf"concurrent_map of 1 elements, {plan}")

    def test_filters_show_their_plan(self):
        self.assert_shows("balanced", r"balanced filter of 2 elements, planned for 1000 and an error of 1\.0e-04; \d+ \+ .* blocks of 512 bits")
        self.assert_shows("standard", r"standard filter of 1 elements, planned for 1000 and an error of .*")

    def test_hashes(self):
        self.assert_shows("hashed", "key_hash 0x000000000000002a")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
