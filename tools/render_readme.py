"""Renders what README.md claims from the recorded runs in docs/benchmarks/; `./run render` calls it."""

import json

from pages import CannotRender, filled_in, table
from render_benchmarks import RECORDS, duration, whole

BITS = 16


def record(name):
    return json.loads((RECORDS / name).read_text(encoding="utf-8"))


def only(rows, name):
    for row in rows:
        if row["name"] == name:
            return row
    raise CannotRender(f"no row of the record is called {name}")


def one_in(probability):
    """1 in 7,300, by its two leading digits."""
    odds = 1 / probability
    digits = len(str(int(odds))) - 2
    return f"1 in {whole(round(odds, -digits))}"


def claims():
    filters = record("filters-10M.json")
    errors = [row for row in filters["rows"] if row["asked_bits_per_element"] == BITS]
    tables = record("tables-20M.json")
    stores = record("store-10M.json")

    def error(name):
        return one_in(only(errors, name)["fpr"])

    def size(name):
        return f"{only(tables['rows'], name)['bytes_per_element']:.1f}"

    def slowest(name):
        return duration(only(tables["rows"], name)["churn_insert_max_running_ns"])

    def reads(name, record):
        return f"{only(stores['stores'], name)[f'direct_{record}']['reads_per_get']:.3g}"

    filter_peers = {"standard Bloom": "standard", "blocked": "blocked 512", "Boost.Bloom": "boost fast_multiblock64<8>"}
    table_peers = {"boost": "boost flat map", "absl": "absl flat map", "libcuckoo": "libcuckoo", "rte_hash": "rte_hash"}
    store_peers = {"LevelDB": "LevelDB 1.23"}
    rows = [
        (what, measured(ours), ", ".join(f"{name} {measured(peer)}" for name, peer in peers.items()))
        for what, ours, peers, measured in (
            (f"wrong answers of a filter with {BITS} bits per key", "fingerprint", filter_peers, error),
            ("bytes of a table per element of 16 bytes", "bounded_map", table_peers, size),
            ("slowest insertion while elements come and go, in time of its thread", "bounded_map", table_peers, slowest),
            ("reads from disk for a record that is there", "page_store", store_peers, lambda name: reads(name, "present")),
            ("reads from disk for one that is not", "page_store", store_peers, lambda name: reads(name, "absent")),
        )
    ]
    return table(("", "Oneprobe", "in the same run"), rows) + (
        f"\n{whole(filters['elements'])} keys, {whole(tables['elements'])} elements erased and inserted "
        f"{tables['churn_operations_per_element']:.0f} times each, {whole(stores['elements'])} records. All of it, what is slower included: "
        "[docs/benchmarks.md](docs/benchmarks.md).\n"
    )


PAGES = {"../README.md": (claims,)}


def pages():
    return {path.resolve(): text for path, text in filled_in(PAGES, "render_readme.py").items()}
