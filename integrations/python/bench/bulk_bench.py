"""The bulk calls of the module beside the same calls in C++, as JSON on standard output.

usage: bulk_bench.py CPP_BULK [KEYS [ROUNDS]]         1000000 7

CPP_BULK is the built cpp_bulk. Both work on the same files and keys, round by round in turn, and times are CPU time.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import oneprobe

KINDS = ("standard", "blocked", "balanced", "fingerprint")
BITS_PER_ELEMENT = 16


def mixed(numbers):
    """oneprobe::mix_bits."""
    x = numbers.astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def timed(call):
    start = time.thread_time()
    call()
    return time.thread_time() - start


def main(arguments):
    program = arguments[0]
    count = int(arguments[1]) if len(arguments) > 1 else 1_000_000
    rounds = int(arguments[2]) if len(arguments) > 2 else 7
    keys = mixed(np.arange(count, dtype=np.uint64))
    numbers = keys.astype(np.int64)
    rows, compiler = [], ""
    with tempfile.TemporaryDirectory() as folder:
        filter_file, table_file = pathlib.Path(folder) / "filter", pathlib.Path(folder) / "table"
        table = oneprobe.Map(count, seed=1)
        table.assign_many(numbers, numbers)
        table.save(table_file)

        def asked(held, name):
            # Half of the keys are there, so that both answers count.
            if name == "may_contain_many":
                return lambda: held.may_contain_many(keys)
            if name == "find_many":
                return lambda: table.find_many(numbers)
            if name == "add_many":
                return lambda: (held.clear(), held.add_many(keys))
            return lambda: (table.clear(), table.assign_many(numbers, numbers))

        for kind in KINDS:
            held = oneprobe.Filter(count, bits_per_element=BITS_PER_ELEMENT, kind=kind, seed=1)
            held.add_many(keys[: count // 2])
            held.save(filter_file)
            calls = ["may_contain_many", "add_many"] + (["find_many", "assign_many"] if kind == KINDS[-1] else [])
            ours = {name: [] for name in calls}
            theirs = {name: [] for name in calls}
            for name in calls:
                for _ in range(rounds):
                    run = subprocess.run([program, filter_file, table_file, str(count), "1"], check=True, capture_output=True)
                    told = json.loads(run.stdout)
                    compiler = told["compiler"]
                    theirs[name] += told[name]
                    ours[name].append(timed(asked(held, name)))
            for name in calls:
                ratios = sorted(p / c for p, c in zip(ours[name], theirs[name]))
                rows.append({
                    "name": "Map, int64 to int64" if name in ("find_many", "assign_many")
                            else f"Filter, {kind}, {BITS_PER_ELEMENT} bits",
                    "call": name,
                    "cpp": count / float(np.median(theirs[name])) / 1e6,
                    "python": count / float(np.median(ours[name])) / 1e6,
                    "ratio": {"median": float(np.median(ratios)), "least": ratios[0], "most": ratios[-1]},
                })
    print(json.dumps({"keys": count, "rounds": rounds, "compiler": compiler, "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
