"""Draws pictures of the recorded benchmarks, docs/benchmarks/*.json, into docs/figures/; `./run render` calls it."""

import json

from pages import DOCS
from pictures import Axis, curve, frame, legend, picture, text
from render_benchmarks import RECORDS

# A row of the record, how it is called in the picture, its colour; those that were not recorded are left out.
FILTERS = (
    ("standard", "standard", "c"),
    ("blocked 512", "blocked", "a"),
    ("balanced", "balanced", "b"),
    ("fingerprint", "fingerprint", "d"),
    ("boost fast_multiblock64<8>", "Boost.Bloom, fast_multiblock64<8>", "f"),
)
TABLES = (
    ("bounded_map", "bounded_map", "b"),
    ("boost flat map", "boost::unordered_flat_map", "a"),
    ("absl flat map", "absl::flat_hash_map", "c"),
    ("std::unordered_map", "std::unordered_map", "f"),
    ("libcuckoo at 0.944", "libcuckoo, at load 0.944", "e"),
    ("rte_hash filled", "DPDK rte_hash, full", "d"),
)


def read(name):
    return json.loads((RECORDS / name).read_text(encoding="utf-8"))


def decades(least, most):
    return [(10.0**e, f"1e{e}") for e in range(least, most + 1)]


def draw_filters():
    record = read("filters-10M.json")
    bits = [(b, str(b)) for b in range(8, 41, 8)]
    errors = (Axis(8, 40, 60, 350, bits), Axis(1e-8, 0.1, 330, 64, decades(-8, -1), logarithmic=True))
    named = {name for name, _, _ in FILTERS}
    slowest = max(row[what] for row in record["rows"] if row["name"] in named for what in ("bulk_negative_ns", "negative_ns"))
    most = 20 * int(slowest / 20 + 1)
    times = (Axis(8, 40, 440, 730, bits), Axis(0, most, 330, 64, [(ns, str(ns)) for ns in range(0, most + 1, 20)]))
    parts = frame(*errors, "bits per element, all memory counted", "measured error")
    parts += frame(*times, "bits per element", "ns per absent key: in bulk; dashed: one by one")
    entries = []
    for name, called, colour in FILTERS:
        rows = sorted((row for row in record["rows"] if row["name"] == name), key=lambda row: row["bits_per_element"])
        if not rows:
            continue
        entries.append((called, colour))
        error = [(row["bits_per_element"], row["fpr"]) for row in rows if row["false_positives"] >= 10]
        parts.append(curve(error, colour, *errors, marks=True))
        for what, dashes in (("bulk_negative_ns", False), ("negative_ns", True)):
            parts.append(curve([(row["bits_per_element"], row[what]) for row in rows], colour, *times, dashes=dashes, marks=True))
    half = (len(entries) + 1) // 2
    parts += legend(60, 400, entries[:half]) + legend(440, 400, entries[half:])
    title = f"Filters of {record['elements']:,} elements: error and time of a query for an absent key"
    return picture(760, 400 + 20 * half, title, [text(60, 20, title), *parts])


def duration(value):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} ns"


def draw_tables():
    record = read("tables-20M.json")
    shares = (("p50", "insert_p50"), ("p99", "insert_p99"), ("p99.9", "insert_p999"), ("p99.99", "insert_p9999"), ("worst", "insert_max"))
    ticks = [(i, name) for i, (name, _) in enumerate(shares)]
    up = [(10.0**e, duration(10.0**e)) for e in range(2, 10)]
    parts, entries = [], []
    panels = (("", "the last 2 % of the filling", 70, 350), ("churn_", "while elements come and go", 450, 730))
    for prefix, title, begin, end in panels:
        axes = (Axis(0, 4, begin, end, ticks), Axis(50, 5e9, 330, 64, up, logarithmic=True))
        parts += frame(*axes, "", title)
        for name, called, colour in TABLES:
            for row in (row for row in record["rows"] if row["name"] == name):
                points = [(i, row[f"{prefix}{key}_ns"]) for i, (_, key) in enumerate(shares)]
                parts.append(curve([point for point in points if point[1] is not None], colour, *axes, marks=True))
                if not prefix:
                    entries.append((called, colour))
    half = (len(entries) + 1) // 2
    parts += legend(70, 380, entries[:half]) + legend(450, 380, entries[half:])
    title = f"Single insertions into tables of {record['elements']:,} elements, by the wall clock"
    return picture(760, 380 + 20 * half, title, [text(70, 20, title), *parts])


def pages():
    figures = DOCS / "figures"
    return {figures / "benchmark-filters.svg": draw_filters(), figures / "benchmark-tables.svg": draw_tables()}
