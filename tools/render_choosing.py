"""Renders the tables of docs/choosing.md from the recorded runs in docs/benchmarks/ and docs/trials/; `./run render` calls it."""

import json

from pages import filled_in, table
from render_benchmarks import RECORDS, duration, name_cell, nanoseconds, probability, whole
from render_trials import read

# A row that a record does not have says so on the page.
FILTERS = (
    "blocked 512", "blocked 512 lanes", "boost fast_multiblock64<8>", "balanced", "fingerprint", "standard", "counting",
)
FILTER_BITS = (12, 16, 24)
TABLES = ("bounded_map", "boost flat map", "absl flat map", "std::unordered_map", "libcuckoo", "TBB concurrent map", "rte_hash")


def benchmark(name):
    path = RECORDS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def cells_of(found, name, columns, cells):
    """The cells of a row, or that it was not measured."""
    return cells(found[name]) if name in found else ("not measured",) + ("",) * (columns - 1)


def recorded(record):
    machine = record["machine"]
    return f"Recorded {machine['date']} at commit {machine['commit']}, {machine['cpu']}, `{machine['flags']}`.\n"


def measured_filters():
    def cells(row):
        return (
            probability(row["fpr"]), f"{row['bulk_negative_ns']:.1f}", f"{row['negative_ns']:.1f}", f"{row['bulk_insert_ns']:.1f}",
            f"{row['miss_lines']:.2f}",
        )

    record = benchmark("filters-10M.json")
    rows = []
    for bits in FILTER_BITS:
        found = {row["name"]: row for row in record["rows"] if row["asked_bits_per_element"] == bits}
        rows += [
            (name_cell(found.get(name, {"name": name})), str(bits)) + cells_of(found, name, 5, cells) for name in FILTERS
        ]
    columns = ("filter", "bits per element", "error", "absent key, in bulk: ns", "one by one", "insert, in bulk", "lines per absent key")
    return table(columns, rows) + f"\n{whole(record['elements'])} elements. " + recorded(record)


def measured_tables():
    def cells(row):
        return (
            f"{row['bytes_per_element']:.1f}", nanoseconds(row["insert_ns"]), nanoseconds(row["hit_ns"]),
            nanoseconds(row["miss_ns"]), nanoseconds(row["bulk_hit_ns"]), duration(row["churn_insert_p999_ns"]),
            duration(row["churn_insert_max_running_ns"]),
        )

    record = benchmark("tables-20M.json")
    found = {row["name"]: row for row in record["rows"]}
    rows = [(name,) + cells(found[name]) for name in TABLES if name in found]
    columns = ("table", "bytes per element", "insert: ns", "hit", "miss", "hit in bulk", "churn: 99.9 % of inserts within", "the worst, while it ran")
    return table(columns, rows) + f"\n{whole(record['elements'])} elements of 16 bytes, {record['rounds']} rounds. " + recorded(record)


def measured_summaries():
    rows = [
        (
            row["summary"], whole(row["elements"]), f"{8 * row['summary_bytes'] / row['elements']:.1f}",
            f"{row['break_even_present_ns']:.0f}", f"{row['break_even_absent_ns']:.0f}",
        )
        for row in read("summaries-break-even")["rows"] if row["bucket_capacity"] == 16
    ]
    return table(("summary", "elements", "bits per element in fast memory", "pays for present keys from: ns per access", "for absent keys"), rows)


PAGES = {"choosing.md": (measured_filters, measured_tables, measured_summaries)}


def pages():
    return filled_in(PAGES, "render_choosing.py")
