"""Renders the measured parts of docs/leveldb.md and docs/python.md from docs/benchmarks/; `./run render` calls it."""

import json

from pages import filled_in, table
from render_benchmarks import RECORDS, whole

LEVELDB = """LevelDB {leveldb}, {records} records of {key}-byte keys and {value}-byte values, blocks of {block} bytes, not compressed, one
level, no block cache; {gets} gets of absent keys for each row, in {rounds} rounds in turn. *Wasted reads* are data blocks
read for them, counted in the `Env`; *model* is what was predicted for ours. Gets per second are of CPU time of the asking
thread, the system's work for it included: the median (least-most) of the rounds. The blocks were in the system's page cache,
which is where a wasted read costs least.

"""

PYTHON = """Million keys per second of one thread, in CPU time: {keys} random keys in one call, the median of {rounds} rounds in turn. *C++*
is the same call of the library in a C++ program compiled with the same flags; *ratio* is its rate over Python's (least-most of
the rounds).

"""

MACHINE = """
{cpu}; {compiler}; commit {commit} (a `+` means with changes on top); {date}.
"""


def spread(rates):
    return f"{whole(rates['median'])} ({whole(rates['least'])}-{whole(rates['most'])})"


def read(name):
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def absent_keys():
    record = read("leveldb")
    text = LEVELDB.format(
        leveldb=record["leveldb"], records=whole(record["records"]), key=record["key_bytes"], value=record["value_bytes"],
        block=whole(record["block_bytes"]), gets=whole(record["bits"][0]["policies"][0]["gets"]), rounds=record["rounds"],
    )
    rows = []
    for point in record["bits"]:
        built_in, ours = point["policies"]
        for found in (built_in, ours):
            ratio = found["wasted_reads"] / built_in["wasted_reads"]
            rows.append((
                str(point["bits_per_key"]), found["policy"], whole(found["wasted_reads"]),
                f"{found['wasted_reads'] / found['gets']:.2e}",
                f"{point['predicted_fpr']:.2e}" if found is ours else "",
                "" if found is built_in else f"1 / {1 / ratio:.1f}",
                spread(found["gets_per_second"]), f"{found['table_bytes'] / 1e6:.3f} MB",
            ))
    columns = ("bits per key", "policy", "wasted reads", "per get", "model", "of the built-in's", "gets/s", "tables")
    return text + table(columns, rows) + MACHINE.format(**record["machine"], compiler=record["compiler"])


def rates():
    record = read("python")
    text = PYTHON.format(keys=whole(record["keys"]), rounds=record["rounds"])
    rows = [
        (row["name"], row["call"], f"{row['cpp']:.1f}", f"{row['python']:.1f}",
         f"{row['ratio']['median']:.2f} ({row['ratio']['least']:.2f}-{row['ratio']['most']:.2f})")
        for row in record["rows"]
    ]
    columns = ("what", "call", "C++", "Python", "ratio")
    return text + table(columns, rows) + MACHINE.format(**record["machine"], compiler=record["compiler"])


def pages():
    return filled_in({"leveldb.md": (absent_keys,), "python.md": (rates,)}, "render_integrations.py")
