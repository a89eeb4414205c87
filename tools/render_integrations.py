#!/usr/bin/env python3
"""Renders the measured parts of docs/leveldb.md and docs/python.md from docs/benchmarks/.

usage: render_integrations.py            compares the pages with what would be written; exit code 1 if they differ
       render_integrations.py --write    writes them

Of each page only what stands between `<!-- measured -->` and `<!-- end -->` is written.
"""

import json
import re
import sys

from render_benchmarks import PROJECT, RECORDS, table, whole

MEASURED = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end -->)", re.DOTALL)

LEVELDB = """
LevelDB {leveldb}, {records} records of {key}-byte keys and {value}-byte values, blocks of {block} bytes, not compressed, one
level, no block cache; {gets} gets of absent keys for each row, in {rounds} rounds in turn. *Wasted reads* are data blocks
read for them, counted in the `Env`; *model* is what was predicted for ours. Gets per second are of CPU time of the asking
thread, the system's work for it included: the median (least-most) of the rounds. The blocks were in the system's page cache,
which is where a wasted read costs least.

"""

PYTHON = """
Million keys per second of one thread, in CPU time: {keys} random keys in one call, the median of {rounds} rounds in turn. *C++*
is the same call of the library in a C++ program compiled with the same flags; *ratio* is its rate over Python's (least-most of
the rounds).

"""

MACHINE = """
{cpu}; {compiler}; commit {commit} (a `+` means with changes on top); {date}.
"""


def spread(rates):
    return f"{whole(rates['median'])} ({whole(rates['least'])}-{whole(rates['most'])})"


def render_leveldb(record):
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


def render_python(record):
    text = PYTHON.format(keys=whole(record["keys"]), rounds=record["rounds"])
    rows = [
        (row["name"], row["call"], f"{row['cpp']:.1f}", f"{row['python']:.1f}",
         f"{row['ratio']['median']:.2f} ({row['ratio']['least']:.2f}-{row['ratio']['most']:.2f})")
        for row in record["rows"]
    ]
    columns = ("what", "call", "C++", "Python", "ratio")
    return text + table(columns, rows) + MACHINE.format(**record["machine"], compiler=record["compiler"])


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    wrong = 0
    for name, render in (("leveldb", render_leveldb), ("python", render_python)):
        page = PROJECT / "docs" / f"{name}.md"
        record = RECORDS / f"{name}.json"
        measured = render(json.loads(record.read_text(encoding="utf-8"))) if record.is_file() else "\nNot recorded yet.\n"
        before = page.read_text(encoding="utf-8")
        after, places = MEASURED.subn(lambda _: measured, before)
        if places != 1:
            print(f"docs/{page.name} has {places} measured parts; one is wanted")
            return 1
        if arguments:
            page.write_text(after, encoding="utf-8")
        elif before != after:
            print(f"docs/{page.name} is not what the record says; run render_integrations.py --write")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
