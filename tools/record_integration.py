"""Runs a benchmark that prints JSON and keeps what it printed, with where and when: for record_leveldb.py and
record_python.py."""

import datetime
import json
import subprocess
import sys

from record_benchmarks import PROJECT, commit, processor


def record(name, command, usage):
    if not command:
        print(usage.strip(), file=sys.stderr)
        return 2
    machine = {"cpu": processor(), "commit": commit(), "date": datetime.date.today().isoformat()}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    path = PROJECT / "docs" / "benchmarks" / f"{name}.json"
    path.write_text(json.dumps({"machine": machine, **json.loads(done.stdout)}, indent=1) + "\n", encoding="utf-8")
    return 0
