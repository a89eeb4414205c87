#!/usr/bin/env python3
"""Runs `oneprobe bench store` and keeps the result, with the commit and the date.

usage: record_store.py TOOL NAME [ARGUMENT...]

TOOL is the built tool, with oneprobe_store_peer.so beside it; NAME.json in docs/benchmarks/ receives its answer; NAME
begins with "store". For the record LevelDB is installed (./run bench does that) before the tool is configured, and the
machine is quiet, with 5 GB of disk in the temporary folder, or in that of --folder, and as much memory for its page cache:

    tools/record_store.py build/oneprobe store-10M
    ./run render
"""

import sys

from record_filters import record

if __name__ == "__main__":
    sys.exit(record("store", sys.argv[1:], __doc__))
