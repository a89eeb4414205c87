"""The bulk calls of the module beside the same calls in C++, as JSON on standard output.

usage: bulk_bench.py CPP_BULK [KEYS [ROUNDS]]         1000000 7

CPP_BULK is the built cpp_bulk. Both sides have the same files and keys; each is one process that lives through all rounds, is
asked once before any of them counts, and then in turn. Times are CPU time. Both must find and add as many keys.
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
OF_TEXTS = " of texts"


def mixed(numbers):
    """oneprobe::mix_bits."""
    x = numbers.astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class CppCalls:
    """The other side: cpp_bulk, which makes a call for each line."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.compiler = self.process.stdout.readline().strip()

    def call(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        seconds, found = self.process.stdout.readline().split()
        return float(seconds), int(found)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def timed(call):
    start = time.thread_time()
    result = call()
    return time.thread_time() - start, result


def found_in(result):
    """Keys that were found or added, whatever a call gives back."""
    if isinstance(result, tuple):  # find_many: values, and which of them are there
        result = result[1]
    return int(np.count_nonzero(result)) if isinstance(result, np.ndarray) else int(result)


def main(arguments):
    program = arguments[0]
    count = int(arguments[1]) if len(arguments) > 1 else 1_000_000
    rounds = int(arguments[2]) if len(arguments) > 2 else 7
    keys = mixed(np.arange(count, dtype=np.uint64))
    numbers = keys.astype(np.int64)
    wide = np.array([f"{key:016x}" for key in keys])
    narrow = wide.astype("S16")
    rows, compiler = [], ""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("filter", "text_filter", "table")]
        table = oneprobe.Map(count, seed=1)
        table.assign_many(numbers, numbers)
        table.save(files[2])

        def cleared(held, call):
            held.clear()
            return call()

        for kind in KINDS:
            of_numbers, of_texts = (oneprobe.Filter(count, bits_per_element=BITS_PER_ELEMENT, kind=kind, seed=1) for _ in "12")
            # Half of the keys are there, so that both answers count.
            of_numbers.add_many(keys[: count // 2])
            of_texts.add_many(narrow[: count // 2])
            of_numbers.save(files[0])
            of_texts.save(files[1])
            name_of_filter = f"Filter, {kind}, {BITS_PER_ELEMENT} bits"
            asked = [  # the row, the call in C++, the call here
                (f"{name_of_filter}, uint64", "may_contain_many", lambda: of_numbers.may_contain_many(keys)),
                (f"{name_of_filter}, S16", "may_contain_many" + OF_TEXTS, lambda: of_texts.may_contain_many(narrow)),
                (f"{name_of_filter}, U16", "may_contain_many" + OF_TEXTS, lambda: of_texts.may_contain_many(wide)),
                (f"{name_of_filter}, uint64", "add_many", lambda: cleared(of_numbers, lambda: of_numbers.add_many(keys))),
                (f"{name_of_filter}, S16", "add_many" + OF_TEXTS, lambda: cleared(of_texts, lambda: of_texts.add_many(narrow))),
                (f"{name_of_filter}, U16", "add_many" + OF_TEXTS, lambda: cleared(of_texts, lambda: of_texts.add_many(wide))),
            ]
            if kind == KINDS[-1]:
                asked += [
                    ("Map, int64 to int64", "find_many", lambda: table.find_many(numbers)),
                    ("Map, int64 to int64", "assign_many", lambda: cleared(table, lambda: table.assign_many(numbers, numbers))),
                ]
            with CppCalls(program, *files, str(count)) as cpp:
                compiler = cpp.compiler
                for name, call, ours_is in asked:
                    ours, theirs = [], []
                    for turn in range(rounds + 1):
                        their_seconds, their_found = cpp.call(call)
                        our_seconds, result = timed(ours_is)
                        if found_in(result) != their_found:
                            raise SystemExit(f"{name}, {call}: {found_in(result)} keys here, {their_found} in C++")
                        if turn > 0:  # the first of both is for the caches and the allocators
                            theirs.append(their_seconds)
                            ours.append(our_seconds)
                    ratios = sorted(p / c for p, c in zip(ours, theirs))
                    rows.append({
                        "name": name,
                        "call": call.removesuffix(OF_TEXTS),
                        "cpp": count / float(np.median(theirs)) / 1e6,
                        "python": count / float(np.median(ours)) / 1e6,
                        "ratio": {"median": float(np.median(ratios)), "least": ratios[0], "most": ratios[-1]},
                    })
    print(json.dumps({"keys": count, "rounds": rounds, "compiler": compiler, "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
