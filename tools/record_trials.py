#!/usr/bin/env python3
"""Runs a trial and keeps what it prints, with commit, date and machine.

usage: record_trials.py PROGRAM NAME VERB [ARGUMENT...]

PROGRAM is the built program (`./run trials` builds it), NAME.json in docs/trials/ receives its answer.
tools/render_trials.py has the list of the records, and renders the pages afterwards:

    tools/record_trials.py build/tests/trials/filter_trials filters-overfill overfills --queries 2e7 --elements 1e6
    tools/render_trials.py --write
"""

import datetime
import json
import os
import subprocess
import sys

from record_benchmarks import PROJECT, commit, processor


def main(arguments):
    if len(arguments) < 3 or not arguments[1].startswith(("filters-", "tables-", "summaries-")):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program, name, *further = arguments
    machine = {
        "cpu": processor(), "cores": os.cpu_count(), "load_average": os.getloadavg(), "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }
    done = subprocess.run([program, *further], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        # What it found wrong stands in its answer; such a run is not kept.
        print(done.stdout, end="", file=sys.stderr)
        return 1
    answer = json.loads(done.stdout)
    answer["machine"] = machine
    path = PROJECT / "docs" / "trials" / f"{name}.json"
    path.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
