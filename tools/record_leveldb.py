#!/usr/bin/env python3
"""Runs the benchmark of integrations/leveldb and keeps the result, with the processor, the commit and the date.

usage: record_leveldb.py BENCHMARK [ARGUMENT...]

BENCHMARK is the built leveldb_bench; docs/benchmarks/leveldb.json receives its answer:

    tools/record_leveldb.py build/integrations/leveldb/leveldb_bench
    ./run render
"""

import sys

from record_integration import record

if __name__ == "__main__":
    sys.exit(record("leveldb", sys.argv[1:], __doc__))
