#!/usr/bin/env python3
"""Renders the tables of docs/redis.md from the runs that record_redis.py recorded.

usage: render_redis.py            compares the page with what would be written; exit code 1 if they differ
       render_redis.py --write    writes the page

    tools/record_redis.py build promise -o docs/benchmarks/redis/promise.json
    tools/record_redis.py build rates -o docs/benchmarks/redis/rates.json
    tools/record_redis.py build cluster -o docs/benchmarks/redis/cluster.json
"""

import json
import re
import statistics
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "redis.md"
RECORDS = PROJECT / "docs" / "benchmarks" / "redis"


def read(name):
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def rows_of(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def on(record):
    machine = record["machine"]
    return f"Redis {machine['redis']}, {machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}."


def promise(record):
    rows = [[f"{row['stated']:g}", f"{row['measured']:.3g}", f"{row['predicted']:.3g}", f"{row['bits_per_item']:.2f}",
             f"{row['standard_bloom_bits']:.2f}"] for row in record["rows"]]
    heads = ["stated error", "measured", "predicted", "bits per item", "standard Bloom filter"]
    return f"{record['rows'][0]['keys']:,} items, {record['rows'][0]['asked']:,} others asked for; {on(record)}\n\n{rows_of(heads, rows)}"


def rates(record):
    measured = {name: statistics.median(values) for name, values in record["requests_per_second"].items()}
    rows = [["add", f"{measured['BF.ADD']:,.0f}", f"{measured['SETBIT']:,.0f}", f"{record['add_to_setbit']:.2f}"],
            ["exists", f"{measured['BF.EXISTS']:,.0f}", f"{measured['GETBIT']:,.0f}", f"{record['exists_to_getbit']:.2f}"]]
    rounds = len(record["requests_per_second"]["BF.ADD"])
    text = f"{record['requests']:,} requests in one pipeline; medians of {rounds} rounds. {on(record)}"
    return f"{text}\n\n{rows_of(['', 'filter, per second', 'SETBIT or GETBIT', 'ratio'], rows)}"


def cluster(record):
    def row(name, answer):
        return [name, f"{answer['keys']:,}", f"{answer['surely_not']:,}", f"{answer['may_contain']:,}", f"{answer['seconds']:.1f}"]

    rows = [row(name, record[field]) for name, field in (
        ("keys that are there", "present"), ("keys that are not", "absent"),
        ("there, while slots moved", "present_while_slots_moved"), ("there, after a failover", "present_after_failover"),
        ("not there, after a failover", "absent_after_failover"))]
    build = record["build"]
    text = (f"{record['keys']:,} keys, {record['shards']} shards, error {record['fpr']:g}: built in {build['seconds']:.1f} s, "
            f"each round acknowledged by one replica. {on(record)}")
    return f"{text}\n\n{rows_of(['asked', 'keys', 'surely not', 'perhaps', 'seconds'], rows)}"


def rendered(text):
    for name, render in (("promise", promise), ("rates", rates), ("cluster", cluster)):
        record = read(name)
        if record is None:
            continue
        begin, end = f"<!-- recorded: {name} -->", f"<!-- end: {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"{PAGE}: no place for {name}")
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{render(record)}\n{end}", text,
                      flags=re.DOTALL)
    return text


def main():
    text = PAGE.read_text(encoding="utf-8")
    wanted = rendered(text)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        sys.exit(f"{PAGE} is not what was recorded; tools/render_redis.py --write writes it")


if __name__ == "__main__":
    main()
