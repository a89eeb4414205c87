#!/usr/bin/env python3
"""Runs the benchmark of integrations/python and keeps the result, with the processor, the commit and the date.

usage: record_python.py BUILD [ARGUMENT...]

BUILD is the build folder with the module and the C++ loops in it; docs/benchmarks/python.json receives the answer:

    tools/record_python.py build
    ./run render
"""

import os
import pathlib
import sys

from record_integration import PROJECT, record

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(record("python", [], __doc__))
    built = pathlib.Path(sys.argv[1]).resolve() / "integrations" / "python"
    os.environ["PYTHONPATH"] = str(built)
    script = PROJECT / "integrations" / "python" / "bench" / "bulk_bench.py"
    sys.exit(record("python", ["/usr/bin/python3", str(script), str(built / "cpp_bulk"), *sys.argv[2:]], __doc__))
