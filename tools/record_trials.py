#!/usr/bin/env python3
"""Runs a trial and keeps what it printed, with the commit, the date and the machine.

usage: record_trials.py SUBJECT NAME VERB [ARGUMENT...]

SUBJECT is filter, table or summary; NAME.json in docs/trials/ receives what `./run trials SUBJECT VERB ARGUMENT...` prints.
A run that ends with another exit code than 0 is not kept: what it found stands in what it printed.

    tools/record_trials.py summary summaries-failures failures --builds 1e6
    ./run render
"""

import datetime
import json
import os
import subprocess
import sys

from record_benchmarks import PROJECT, commit, processor


def main(arguments):
    if len(arguments) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    subject, name, *further = arguments
    facts = {
        "cpu": processor(), "cores": os.cpu_count(), "load_average": os.getloadavg(), "commit": commit(),
        "date": datetime.date.today().isoformat(), "command": " ".join(["./run", "trials", subject, *further]),
    }
    done = subprocess.run([PROJECT / "run", "trials", subject, *further], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        print(done.stdout, end="", file=sys.stderr)
        return 1
    record = {"machine": facts, **json.loads(done.stdout)}
    path = PROJECT / "docs" / "trials" / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
