#!/usr/bin/env python3
"""Runs `oneprobe bench readers` and keeps the result, with the commit and the date.

usage: record_readers.py TOOL NAME [ARGUMENT...]

TOOL is the built tool; NAME.json in docs/benchmarks/ receives its answer; NAME begins with "readers". The machine has two
cores and is quiet:

    tools/record_readers.py build/oneprobe readers-20M --elements 20M
    ./run render
"""

import sys

from record_filters import record

if __name__ == "__main__":
    sys.exit(record("readers", sys.argv[1:], __doc__))
