#!/usr/bin/env python3
"""Renders docs/benchmarks.md from the recorded runs in docs/benchmarks/.

usage: render_benchmarks.py            compares the page with what would be written; exit code 1 if they differ
       render_benchmarks.py --write    writes the page
"""

import json
import pathlib
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "benchmarks.md"
RECORD = PROJECT / "docs" / "benchmarks" / "placement.json"

INTRODUCTION = """# Benchmarks

Rendered by `tools/render_benchmarks.py` from `docs/benchmarks/placement.json`; edit neither by hand.

## Placements per second on one core

How fast the simulator places elements (`bench/placement_bench.cpp`), and with it the placement code of the library over
one-byte counters. A row is a whole simulation: counters allocated and zeroed, elements placed, loads counted. Under churn
a placement is an erasure and an insertion; the filling before it is counted too. *Accesses* are buckets visited per
element, counted in software. *Overflow* is what the run found, beside what the model says of it; a run that is off by more
than a tenth is an error and has no row.

Measured in CPU time of the process, because the machine was shared with other programs: these still compete for the cache
and for the memory; a quiet machine was not measured. The rate is the median of {most} repetitions in random order
({least} of tables out of the cache); *spread* is their standard deviation over their mean.

| | |
|---|---|
| processor | {cpu}, {mhz} MHz, {cpus} cores, caches {caches} |
| load average at the start | {load} |
| compiler | {compiler} |
| flags | `{flags}` |
| commit | {commit} (a `+` means with changes on top) |
| date | {date} |
"""

HEADINGS = {
    "fill": "### Filling",
    "churn": "### Churning, a random element leaving",
}
SCHEMES = ("single", "sequential", "multilevel", "d-random", "d-left")
COLUMNS = ("scheme", "buckets", "slots", "choices", "load", "accesses", "overflow", "predicted", "million/s", "spread")


def whole(number):
    return f"{number:,.0f}"


def buckets(text):
    """512M_buckets -> 512000000."""
    digits = text.split("_")[0]
    factor = {"k": 1_000, "M": 1_000_000}[digits[-1]]
    return int(digits[:-1]) * factor


def place(name):
    """Where a row stands: small tables first, and the schemes of each in the order of SCHEMES."""
    _, scheme, size = name.split("/")[:3]
    return buckets(size), SCHEMES.index(scheme)


def cache_text(caches):
    return ", ".join(
        f"L{cache['level']} {cache['size'] // 1024:,} KiB" for cache in caches if cache["type"] != "Instruction"
    )


def rows(record):
    """Per row of the page: its activity and its cells."""
    aggregates = {}
    for entry in record["benchmarks"]:
        if entry["run_type"] == "aggregate":
            aggregates.setdefault(entry["run_name"], {})[entry["aggregate_name"]] = entry
    # They ran in random order.
    for name, found in sorted(aggregates.items(), key=lambda item: place(item[0])):
        activity, scheme, size = name.split("/")[:3]
        median, mean, deviation = found["median"], found["mean"], found["stddev"]
        yield activity, (
            scheme,
            whole(buckets(size)),
            whole(median["bucket_capacity"]),
            whole(median["choices"]),
            f"{median['load_factor']:g}",
            f"{median['accesses']:.3f}",
            f"{100 * median['overflow_fraction']:.3f} %",
            f"{100 * median['predicted_overflow_fraction']:.3f} %",
            f"{median['items_per_second'] / 1e6:.1f}",
            f"{100 * deviation['items_per_second'] / mean['items_per_second']:.0f} %",
        )


def render(record):
    context = record["context"]
    repetitions = [entry["repetitions"] for entry in record["benchmarks"]]
    text = INTRODUCTION.format(
        most=max(repetitions),
        least=min(repetitions),
        cpu=context["cpu"],
        mhz=context["mhz_per_cpu"],
        cpus=context["num_cpus"],
        caches=cache_text(context["caches"]),
        load=", ".join(f"{load:.1f}" for load in context["load_avg"]),
        compiler=context["compiler"],
        flags=context["flags"],
        commit=context["commit"],
        date=context["date"][:10],
    )
    table = list(rows(record))
    for activity, heading in HEADINGS.items():
        text += f"\n{heading}\n\n"
        text += "| " + " | ".join(COLUMNS) + " |\n"
        text += "|---" + "|---:" * (len(COLUMNS) - 1) + "|\n"
        for of, cells in table:
            if of == activity:
                text += "| " + " | ".join(cells) + " |\n"
    return text


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    text = render(json.loads(RECORD.read_text(encoding="utf-8")))
    if arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.relative_to(PROJECT)} is not what {RECORD.relative_to(PROJECT)} says; run render_benchmarks.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
