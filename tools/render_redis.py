"""Renders the tables of docs/redis.md from the runs that record_redis.py recorded; `./run render` calls it.

    tools/record_redis.py build promise -o docs/benchmarks/redis/promise.json
    tools/record_redis.py build rates -o docs/benchmarks/redis/rates.json
    tools/record_redis.py build cluster -o docs/benchmarks/redis/cluster.json
"""

import json
import math
import statistics

from pages import DOCS, filled_in, table


def read(name):
    return json.loads((DOCS / "benchmarks" / "redis" / f"{name}.json").read_text(encoding="utf-8"))


def on(record):
    machine = record["machine"]
    return f"Redis {machine['redis']}, {machine['cpu']}, {machine['cores']} cores, commit {machine['commit']}."


def allocated(size):
    """What jemalloc gives for so many bytes, from 16 KiB up: there are four steps from each power of two to the next."""
    step = 1 << max((size - 1).bit_length() - 3, 0)
    return (size + step - 1) // step * step


def promise():
    record = read("promise")

    def cells(row):
        standard = row["standard_bloom_bits"]
        counted = allocated(math.ceil(standard * row["keys"] / 8)) * 8 / row["keys"]
        return [f"{row['stated']:g}", f"{row['measured']:.3g}", f"{row['predicted']:.3g}", f"{row['bits_per_item']:.2f}",
                f"{row['counted_bits_per_item']:.2f}", f"{standard:.2f}", f"{counted:.2f}"]

    rows = [cells(row) for row in record["rows"]]
    heads = ["stated error", "measured", "predicted", "bits per item", "allocated", "standard Bloom filter", "allocated"]
    return f"{record['rows'][0]['keys']:,} items, {record['rows'][0]['asked']:,} others asked for; {on(record)}\n\n{table(heads, rows)}"


def rates():
    record = read("rates")
    measured = record["requests_per_second"]
    of_server = record.get("server_nanoseconds")

    def row(name, ours, theirs):
        ratios = [a / b for a, b in zip(measured[ours], measured[theirs])]
        cells = [name, f"{statistics.median(measured[ours]):,.0f}", f"{theirs}: {statistics.median(measured[theirs]):,.0f}",
                 f"{statistics.median(ratios):.2f}"]
        if of_server:
            cells.append(f"{statistics.median(b / a for a, b in zip(of_server[ours], of_server[theirs])):.2f}")
        return cells

    rows = [row("add", "BF.ADD", "SETBIT"), row("exists", "BF.EXISTS", "SETBIT"), row("exists", "BF.EXISTS", "GETBIT")]
    heads = ["", "filter, per second", "Redis's own", "ratio"] + (["ratio by the server's own time"] if of_server else [])
    turns = len(measured["BF.ADD"])
    text = f"{record['requests']:,} requests for each; medians of {turns} turns. {on(record)}"
    return f"{text}\n\n{table(heads, rows)}"


def cluster():
    record = read("cluster")

    def row(name, answer):
        return [name, f"{answer['keys']:,}", f"{answer['surely_not']:,}", f"{answer['may_contain']:,}", f"{answer['seconds']:.1f}"]

    rows = [row(name, record[field]) for name, field in (
        ("keys that are there", "present"), ("keys that are not", "absent"),
        ("there, while slots moved and others were added", "present_while_slots_moved"),
        ("there, after a failover", "present_after_failover"),
        ("acknowledged while slots moved and a master died", "acknowledged_after_failover"),
        ("not there, after a failover", "absent_after_failover"))]
    build = record["build"]
    text = (f"{record['keys']:,} keys, {record['shards']} shards, error {record['fpr']:g}: built in {build['seconds']:.1f} s, "
            f"each round acknowledged by one replica. The shards themselves expected an error of "
            f"{record['expected_error']:.3g}, and of {record['expected_error_after_failover']:.3g} at the end. {on(record)}")
    return f"{text}\n\n{table(['asked', 'keys', 'surely not', 'perhaps', 'seconds'], rows)}"


def pages():
    return filled_in({"redis.md": (promise, rates, cluster)}, "render_redis.py")
