#!/usr/bin/env python3
"""Runs `oneprobe bench tables` and keeps the result, with the commit and the date.

usage: record_tables.py TOOL NAME [ARGUMENT...]

TOOL is the built tool, with oneprobe_table_peers.so beside it; NAME.json in docs/benchmarks/ receives its answer; NAME
begins with "tables". For the record the peers are installed (./run bench does that) before the tool is configured, it is
built for the machine (-DCMAKE_CXX_FLAGS=-march=native -DONEPROBE_WARNINGS_AS_ERRORS=OFF: XXH3 then warns), and the machine
is quiet:

    tools/record_tables.py native/oneprobe tables-20M --elements 20M
    ./run render
"""

import sys

from record_filters import record

if __name__ == "__main__":
    sys.exit(record("tables", sys.argv[1:], __doc__))
