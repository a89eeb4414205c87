"""Renders docs/benchmarks.md from the recorded runs in docs/benchmarks/; `./run render` calls it."""

import json

from pages import DOCS, table

RECORDS = DOCS / "benchmarks"

TITLE = """# Benchmarks

Rendered by `tools/render_benchmarks.py` from the JSON files in `docs/benchmarks/`; edit neither by hand.

The method, for all of them: every structure and every peer gets the same keys and the same hash, in one run of one program
that goes over all of them in turn, round after round; the median of the rounds is shown, and ratios, which are taken within
a round, with their spread. Answers are checked while they are timed: a wrong one ends the run with exit code 1. Accesses are counted in software beside
the times. Each record has its processor, compiler, flags, commit and the load of the machine, which was shared with others.
To measure yours: `./run bench`, `oneprobe bench filters`, `oneprobe bench tables`, `oneprobe bench readers`,
`oneprobe bench store`; the scripts `tools/record_*.py` write the records.
"""

PLACEMENT = """
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


def placement_rows(record):
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


def render_placement(record):
    context = record["context"]
    repetitions = [entry["repetitions"] for entry in record["benchmarks"]]
    text = PLACEMENT.format(
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
    found = list(placement_rows(record))
    for activity, heading in HEADINGS.items():
        text += f"\n{heading}\n\n" + table(COLUMNS, [cells for of, cells in found if of == activity])
    return text


# --- filters -----------------------------------------------------------------------------------------------------------

FILTERS = """
## Filters

Recorded with `oneprobe bench filters` (`tools/record_filters.py`). Every filter gets the same memory, the same random
64-bit keys and the same hash; rounds go over all of them in turn. Times are CPU time of one thread in ns per operation,
the median of the rounds; hashing the key is included, and nothing is subtracted.

- *bits* are all memory over the elements, *k* the bits that an element sets; of a fingerprint filter, *f* are the bits of a
  remainder and *h* the remainders of a bucket.
- *FPR* was measured; *model* is what was predicted for the plan before.
- *insert* fills the filter until 2 % are missing; *negative* asks for keys that were not inserted, *positive* for keys that
  were. Two figures: a loop over the call for one key / the bulk call. On the first line stand the times of one random
  cache line of an array as large as the filter: read in a plain loop / through a rolling ring of 32 prefetches to the
  first cache; on the second, through the ring of our own bulk calls, which asks the second cache for lines further ahead
  ([decision 10](decisions/0010-bulk-loops.md)).
- *lines* are the cache lines that a negative query touches, and *accesses* its blocks (single bits where a filter has no
  blocks) and the overflow list, both counted in software.
- The last 2 % are inserted one by one, each with a time of its own, by the wall clock less the cost of the clock: the
  percentiles below, the median of the rounds; *worst* is the worst of all rounds, *running* the worst without the time in
  which the thread did not run.
- The second table has ratios, taken in each round: the median (least-most). Over "blocked 512", and over the line: a bulk
  call over the line prefetched to the first cache, a loop over the call for one key over the plain loop.

Absolute times depend on the machine and the hour; the ratios less. With few bits per element a balanced filter errs about
as often as a well-tuned blocked one and pays for its later levels; it is made for many.

Boost.Bloom gets huge pages like ours and is always compiled for the machine it runs on (`-march=native`), as its vector
code needs. Ours choose their vector instructions when they run. Where the flags name `-march=native` the whole program was
compiled so, and a blocked filter of 512-bit blocks is asked for one key without a call; elsewhere it was compiled for any
machine of the architecture, and that is a call through a pointer.

![Error and time of filters over their bits per element](figures/benchmark-filters.svg)

The picture is drawn by `tools/draw_benchmarks.py` from the first record below; errors are shown where at least ten were seen.
"""

FILTER_FACTS = """
### {elements} elements, {how}

| | |
|---|---|
| processor | {cpu}, {cores} cores |
| load average at the start | {load} |
| compiler | {compiler} |
| flags | `{flags}`; vector instructions in use: {vector} |
| Boost.Bloom | {boost} |
| rounds | {rounds}, of {queries} queries of each kind |
| commit | {commit} (a `+` means with changes on top) |
| date | {date} |
"""

FILTER_COLUMNS = (
    "filter", "bits", "k", "FPR", "model", "insert", "negative", "positive", "lines", "accesses", "overflow",
)
RATIO_COLUMNS = (
    "filter", "bulk negative x blocked", "negative x blocked", "bulk insert x blocked", "bulk negative x line",
    "negative x line", "bulk insert x line",
)
LEVELS = ("plain", "avx2", "avx512")
RATIOS = ("bulk_negative", "negative", "bulk_insert")


def probability(value):
    return "" if value is None else f"{value:.2g}" if value >= 0.01 else f"{value:.2e}"


def pair(row, what):
    return f"{row[what + '_ns']:.1f} / {row['bulk_' + what + '_ns']:.1f}"


def spread(ratio):
    return "" if ratio is None else f"{ratio['median']:.2f} ({ratio['least']:.2f}-{ratio['most']:.2f})"


def filter_cells(row):
    overflow = row["overflow_fraction"]
    return (
        name_cell(row),
        f"{row['bits_per_element']:.2f}",
        optional(row["bits_set"], "d"),
        probability(row["fpr"]),
        probability(row["fpr_model"]),
        pair(row, "insert"),
        pair(row, "negative"),
        pair(row, "positive"),
        f"{row['miss_lines']:.2f}",
        f"{row['miss_accesses']:.2f}",
        f"{100 * overflow:.3f} %" if overflow else "",
    )


def name_cell(row):
    if row.get("remainder_bits") is not None:
        return f"{row['name']} f={row['remainder_bits']} h={row['bucket_capacity']}"
    return f"`{row['name']}`" if "<" in row["name"] else row["name"]


def ratio_cells(row):
    return (name_cell(row),) + tuple(
        spread(row[against][what]) for against in ("against_blocked", "against_line") for what in RATIOS
    )


def line_rows(limit):
    line = f"{limit['random_line_ns']:.1f} / {limit['prefetched_line_ns']:.1f}"
    rows = [("one random line", "", "", "", "", "", line) + ("",) * 4]
    if "own_ring_line_ns" in limit:
        rows.append(("one random line, our ring", "", "", "", "", "", f"{limit['own_ring_line_ns']:.1f}") + ("",) * 4)
    return rows


def how_compiled(machine):
    compiled = "compiled for the machine" if "-march=native" in machine["flags"] else "compiled for any machine"
    return f"{compiled}, vector instructions {machine['vector_instructions']}"


def render_filters(record):
    machine = record["machine"]
    flags = machine["boost_bloom_flags"]
    text = FILTER_FACTS.format(
        elements=whole(record["elements"]),
        how=how_compiled(machine),
        cpu=machine["cpu"],
        cores=machine["cores"],
        load=", ".join(f"{load:.1f}" for load in machine["load_average"]),
        compiler=machine["compiler"],
        flags=machine["flags"],
        vector=machine["vector_instructions"],
        boost="was not there" if flags is None else f"with `{flags}` on top",
        rounds=record["rounds"],
        queries=whole(record["queries_per_round"]),
        commit=machine["commit"],
        date=machine["date"],
    )
    for limit in record["memory_limits"]:
        bits = limit["bits_per_element"]
        text += f"\n#### {bits:g} bits per element\n\n"
        found = [row for row in record["rows"] if row["asked_bits_per_element"] == bits]
        text += table(FILTER_COLUMNS, line_rows(limit) + [filter_cells(row) for row in found]) + "\n"
        text += table(RATIO_COLUMNS, [ratio_cells(row) for row in found])
        watched = [row for row in found if row.get("insert_p50_ns") is not None]
        if watched:
            text += "\nSingle insertions over the last 2 % of the filling:\n\n"
            text += table(("filter", *FILLING), [(name_cell(row),) + percentiles(row) for row in watched])
    return text


# --- single insertions, of filters and of tables -----------------------------------------------------------------------

FILLING = {
    "p50": "insert_p50", "p99": "insert_p99", "p99.9": "insert_p999", "p99.99": "insert_p9999", "worst": "insert_max",
    "running": "insert_max_running",
}


def duration(value):
    """85 ns, 1.2 us, 250 ms."""
    if value is None:
        return ""
    for unit in ("ns", "us", "ms"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "ns" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} s"


def percentiles(row):
    return tuple(duration(row[f"{key}_ns"]) for key in FILLING.values())


# --- targets of the filters --------------------------------------------------------------------------------------------

TARGETS = """
### What was aimed at

Ratios of one run, the median of its rounds; the smallest and the largest over the bits per element that were measured.
A target that is missed stays a target; Boost.Bloom's best stands beside ours as what such a query costs in other hands.
*Not measured* means that the record has no such row.

*One line* is what it was when the targets were set, a line prefetched to the first cache by a rolling ring. Our bulk calls have left
that ring behind, so a blocked filter can be faster than the line. Over *our ring* stands what is left on top of the fastest
reading of lines that we know, for which nothing was aimed at: a key to hash and bits to compare.

The records of 10 and of 100 million elements were each taken twice at one commit, on a host that others use, too; those with the smaller spread of
ratios are kept (on average 38 % of the median in place of 46, and 5 in place of 14). At 10 million the choice is hardly one between quiet and noisy. The others had,
in the order of the rows below without *our ring*, for blocked and balanced filters: 10 million 0.58-1.16, 0.82-2.01, 0.54-1.10, 1.42-1.71, 1.83-2.76 and 1.34-2.52;
100 million 0.56-0.76, 1.31-2.20, 0.47-0.76, 1.22-1.90, 1.71-2.73 and 1.32-1.88. So a target that is held or missed by a few percent at 10 million is undecided.

All others are judged by a blocked filter, which has become faster in bulk: it asks for its lines as fast as they come, and sets all
bits of an element at once ([decision 10](decisions/0010-bulk-loops.md)). What others do on top shows the more. A balanced filter sets more bits, 20 and 25
to the blocked filter's 15 and 16 at 32 and 40 bits per element, looks how full a block is, and goes on to another with up to every fifth element. A fingerprint
filter has more to work out for a bucket, and none of it waits for memory.

Fingerprint filters are judged by the bits of their remainders: 16 and 8 have a target each, the others, which are searched
in other ways, none. With a byte beside each bucket, at most 1.7 was aimed at for single queries; that is not built.
"""

def at_both(most):
    return {10_000_000: most, 100_000_000: most}


# Row, against what, which operation, the target for so many elements; "fingerprint f=16" are those with remainders of 16
# bits, and None is no target.
FILTER_TARGETS = (
    ("blocked 512", "against_line", "bulk_negative", at_both(1.15)),
    ("blocked 512", "against_own_ring_line", "bulk_negative", at_both(None)),
    ("blocked 512", "against_line", "negative", at_both(1.5)),
    ("blocked 512 lanes", "against_line", "bulk_insert", at_both(1.5)),
    ("balanced", "against_blocked", "bulk_negative", {10_000_000: 1.7, 100_000_000: 1.3}),
    ("balanced", "against_blocked", "negative", at_both(3.0)),
    ("balanced", "against_blocked", "bulk_insert", at_both(1.5)),
    ("fingerprint f=16", "against_blocked", "bulk_negative", {10_000_000: 1.7, 100_000_000: 1.3}),
    ("fingerprint f=16", "against_blocked", "negative", at_both(2.5)),
    ("fingerprint f=16", "against_blocked", "bulk_insert", at_both(1.5)),
    ("fingerprint f=8", "against_blocked", "bulk_negative", {10_000_000: 1.7, 100_000_000: 1.45}),
    ("fingerprint f=8", "against_blocked", "negative", at_both(2.5)),
    ("fingerprint f=8", "against_blocked", "bulk_insert", at_both(2.5)),
    ("fingerprint, other f", "against_blocked", "bulk_negative", at_both(None)),
    ("fingerprint, other f", "against_blocked", "negative", at_both(None)),
    ("fingerprint, other f", "against_blocked", "bulk_insert", at_both(None)),
)
AGAINST = {"against_line": "one line", "against_own_ring_line": "our ring", "against_blocked": "blocked 512"}


def target_name(row):
    """The row of FILTER_TARGETS that says what is aimed at."""
    if row["name"] != "fingerprint":
        return row["name"]
    name = f"fingerprint f={row.get('remainder_bits')}"
    return name if any(name == aimed for aimed, *_ in FILTER_TARGETS) else "fingerprint, other f"


def medians(record, wanted, against, what):
    found = [row.get(against, {}).get(what) for row in record["rows"] if wanted(row)]
    return [ratio["median"] for ratio in found if ratio is not None]


def verdict(values, most):
    if not values:
        return "not measured"
    if most is None:
        return "no target"
    return "held" if max(values) <= most else "missed" if min(values) > most else "held in part"


def range_text(values):
    if not values:
        return ""
    return f"{min(values):.2f}-{max(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def render_targets(records):
    rows = []
    for record in records:
        if "-march=native" not in record["machine"]["flags"]:
            continue
        for name, against, what, target in FILTER_TARGETS:
            if record["elements"] not in target:
                continue
            most = target[record["elements"]]
            ours = medians(record, lambda row, name=name: target_name(row) == name, against, what)
            boost = medians(record, lambda row: row["name"].startswith("boost"), against, what)
            best = f"{min(boost):.2f}" if boost and against == "against_line" else ""
            rows.append((
                name, what.replace("_", " "), AGAINST[against], whole(record["elements"]), optional(most, "g"),
                range_text(ours), verdict(ours, most), best,
            ))
    columns = ("filter", "operation", "over", "elements", "at most", "measured", "", "best of Boost.Bloom")
    return TARGETS + "\n" + table(columns, rows)


# --- building from a file ----------------------------------------------------------------------------------------------

BUILD = """
## Filters from files

`oneprobe filter build` from a text file that the system holds in memory, for an error of 0.0001
(`tools/record_filter_build.py`). The file is read twice, to count its lines and to insert them. The median of {rounds}
builds, the kinds in turn; load average at the start {load}; {cpu}, {cores} cores; commit {commit}, {date}.

"""


def mebibytes(count):
    return f"{count / 2**20:.1f} MiB"


def render_build(record):
    text = BUILD.format(
        rounds=record["rounds"], load=f"{record['load_average'][0]:.1f}", cpu=record["cpu"], cores=record["cores"],
        commit=record["commit"], date=record["date"],
    )
    columns = ("kind", "lines", "file", "seconds", "million lines/s", "CPU ns per line", "filter", "peak memory")
    rows = [
        (
            row["kind"], whole(row["lines"]), mebibytes(row["file_bytes"]),
            f"{row['seconds']:.2f} ({row['seconds_least']:.2f}-{row['seconds_most']:.2f})",
            f"{row['lines'] / row['seconds'] / 1e6:.1f}", f"{1e9 * row['cpu_seconds'] / row['lines']:.0f}",
            mebibytes(row["filter_bytes"]), mebibytes(row["peak_bytes"]),
        )
        for row in record["rows"]
    ]
    return text + table(columns, rows)


# --- tables ------------------------------------------------------------------------------------------------------------

TABLES = """
## Tables

Recorded with `oneprobe bench tables` (`tools/record_tables.py`). Every table maps the same random 64-bit keys to 64-bit
values by the same hash (rte_hash: folded to its 32 bits), with room reserved in advance and large arrays on huge pages. In
each round the tables are built, measured and dropped in turn. Times are CPU time of one thread in ns per operation, the
median of the rounds; hashing the key is included.

- *load* is elements over slots, over buckets where there are chains. Ours are at the load of their default plan, *rte_hash
  filled* has as many entries as its buckets have slots, *libcuckoo at 0.944* is at that load.
- *bytes* are all memory allocated over the elements; of small pieces, what malloc gives.
- *chain* is a hit whose key is known only when the value before it has arrived; *bulk* the call for many keys, ours 8192 at
  a time, rte_hash 64, the most it takes.
- Percentiles are of single insertions, wall-clock time less the cost of the clock, over the last 2 % of the filling, over a
  whole filling of its own, in the full table, and over the churn; *worst* is the worst of all rounds, *running* the worst without the time in which the thread did not run.
  Insertions that were refused are among them, and are counted as *failed*.
- *accesses* are buckets visited per lookup, *lines* cache lines read, and *unread* those that a lookup had asked for before it
  had read the tags, and then did not need; counted in software.

![Percentiles of single insertions](figures/benchmark-tables.svg)
"""

TABLE_FACTS = """
### {elements} elements{kind}

| | |
|---|---|
| processor | {cpu}, {cores} cores, load average at the start {load} |
| compiler | {compiler}, `{flags}` |
| rounds | {rounds}, {queries} lookups of each kind in each, churn of {churn:g} operations per element |
| clock of single insertions | {clock}, {clock_cost:.0f} ns taken off |
| peers | {peers} |
| commit | {commit} (a `+` means with changes on top) |
| date | {date} |

"""
TABLE_MISSED = """
Why some are missed: a single lookup of ours reads a line of tags, and a line of elements for a hit, in each of the buckets it
visits, and it visits a second one now and then, because the table is fuller than those it is compared with; theirs end in the
first group nearly always. What a lookup waits for is the same memory, so that the calls in bulk and the chain, where memory is
all that counts, come out ahead, and single independent calls, of which the processor has many under way at once, pay for
every instruction more. An insertion looks for its key in the same buckets first, and writes the tags beside the
elements; after churn more buckets of the first level are full, and it goes further. The worst insertion by the wall clock
has other programs in it; *while the thread ran* is the table's own.
"""
TABLE_TIMES = {
    "insert": "insert", "hit": "hit", "miss": "miss", "chain": "dependent_hit", "bulk hit": "bulk_hit",
    "bulk miss": "bulk_miss", "erase": "erase",
}
TABLE_CHURN = {
    "p50": "churn_insert_p50", "p99.9": "churn_insert_p999", "worst": "churn_insert_max",
    "running": "churn_insert_max_running",
}
TABLE_PHASES = {
    f"{phase} {share}": f"{key}_{which}"
    for phase, key in (("filling", "fill_insert"), ("full", "rated_insert"))
    for share, which in (("p50", "p50"), ("p99.9", "p999"), ("worst", "max"), ("running", "max_running"))
}
TABLE_CHURNED = {"insert": "churned_insert", "hit": "churned_hit", "miss": "churned_miss"}
TABLE_RATIOS = {
    "insert": "insert", "hit": "hit", "miss": "miss", "chain": "dependent_hit", "erase": "erase", "p99.9": "insert_p999",
    "hit after churn": "churned_hit",
}
TABLE_COSTS = {
    "accesses, hit": "hit_accesses", "accesses, miss": "miss_accesses", "lines, hit": "hit_lines", "lines, miss": "miss_lines",
    "unread, hit": "hit_unread_lines", "unread, miss": "miss_unread_lines",
}


def nanoseconds(value):
    return "" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def optional(value, form):
    return "" if value is None else format(value, form)


def peer_text(record):
    # Of several tables of one peer, the first.
    there = {row["version"]: row["name"] for row in reversed(record["rows"]) if row["version"]}
    absent = [f"{peer['name']} was absent" for peer in record["absent"]]
    return ", ".join([f"{name} {version}" for version, name in reversed(there.items())] + absent)


def table_costs(rows, costs):
    for row in rows:
        if row["hit_accesses"] is None:
            continue
        yield (row["name"],) + tuple(f"{row[key]:.3f}" for key in costs) + (f"{row['overflow_fraction']:.1e}", "")
        if row["churned_miss_accesses"] is not None:
            yield (f"{row['name']}, churned",) + tuple(f"{row[f'churned_{key}']:.3f}" for key in costs) + (
                f"{row['churn_overflow_fraction']:.1e}", f"{row['churn_overflow_predicted']:.1e}"
            )


def table_target(target):
    measured = optional(target["measured"], ".3g")
    if target["least"] is not None:
        measured += f" ({target['least']:.3g}-{target['most']:.3g})"
    return (
        f"{target['number']}. {target['what']}", f"{target['at_most']:g}", measured,
        target["verdict"] if target["measured"] is not None else target["why_not"],
    )


def render_tables(record):
    machine = record["machine"]
    churned = record["churn_operations_per_element"] != 0
    text = TABLE_FACTS.format(
        elements=whole(record["elements"]), kind="" if churned else ", without churn", cpu=machine["cpu"], cores=machine["cores"],
        load=", ".join(f"{load:.1f}" for load in machine["load_average"]), compiler=machine["compiler"],
        flags=machine["flags"], rounds=record["rounds"], queries=whole(record["queries_per_round"]),
        churn=record["churn_operations_per_element"], clock=record["latency_clock"],
        clock_cost=record["latency_clock_cost_ns"], peers=peer_text(record), commit=machine["commit"], date=machine["date"],
    )
    rows = record["rows"]

    def times(row, columns, form):
        return tuple(form(row[f"{key}_ns"]) for key in columns.values())

    text += table(("table", "elements", "load", "bytes", *TABLE_TIMES), [
        (row["name"], whole(row["elements"]), f"{row['load_factor']:.3f}", f"{row['bytes_per_element']:.1f}")
        + times(row, TABLE_TIMES, nanoseconds) for row in rows
    ])
    text += "\nSingle insertions over the last 2 % of the filling:\n\n"
    text += table(("table", *FILLING, "failed"), [
        (row["name"],) + percentiles(row) + (whole(row["fill_failures"]),) for row in rows
    ])
    # Earlier records have only the end of the filling.
    if "fill_insert_p50_ns" in rows[0]:
        text += "\nSingle insertions of a whole filling, and of a sixteenth that comes back into the full table:\n\n"
        text += table(("table", *TABLE_PHASES), [(row["name"],) + times(row, TABLE_PHASES, duration) for row in rows])
    if churned:
        text += "\nSingle insertions over the churn; then ns per operation and bytes per element after it:\n\n"
        text += table(("table", *TABLE_CHURN, "failed", *TABLE_CHURNED, "bytes"), [
            (row["name"],) + times(row, TABLE_CHURN, duration) + (whole(row["churn_failures"]),)
            + times(row, TABLE_CHURNED, nanoseconds) + (optional(row["churned_bytes_per_element"], ".1f"),) for row in rows
        ])
    text += "\nCounted per lookup, and the overflow:\n\n"
    # Earlier records have fewer counts.
    costs = {column: key for column, key in TABLE_COSTS.items() if key in rows[0]}
    text += table(("table", *costs, "overflow", "predicted"), list(table_costs(rows, costs.values())))
    text += "\nOurs over the others, median (smallest-largest) of the rounds:\n\n"
    text += table(("table", "bytes", *TABLE_RATIOS), [
        (ratio["name"], f"{ratio['bytes_per_element']:.2f}")
        + tuple("" if ratio[key] is None else spread_of(ratio[key]) for key in TABLE_RATIOS.values())
        for ratio in record["ratios"]
    ])
    text += "\nWhat was aimed at, for 20,000,000 elements; a target that is missed stays a target:\n\n"
    # Without churn, what needs it is not among the targets.
    targets = [target for target in record["targets"] if churned or target["measured"] is not None]
    text += table(("", "at most", "measured", ""), [table_target(target) for target in targets])
    return text + (TABLE_MISSED if any(target["verdict"] == "missed" for target in targets) else "")


def spread_of(ratio):
    return f"{ratio['median']:.3g} ({ratio['least']:.3g}-{ratio['most']:.3g})"


# --- readers -----------------------------------------------------------------------------------------------------------

READERS = """
## Readers beside a writer

Recorded with `oneprobe bench readers` (`tools/record_readers.py`): a thread looks up elements of a `concurrent_map` one by
one, alone and while another erases, inserts and changes values without a pause; `bounded_map` is asked in the same rounds.
Times are CPU time of the reader in ns per lookup, the median of the rounds; ratios are taken in each round, the median
(least-most). The elements that are looked up came while the table filled, from its beginning to its end: those that came first
sit in their first bucket, nearly all of them, and would favour `bounded_map`.

"""
READERS_AIMED = (1.15, 0.8)  # at most, alone over bounded_map; at least, throughput kept


def render_readers(records):
    def spread(record, key):
        return f"{record[key]:.2f} ({record[key + '_least']:.2f}-{record[key + '_most']:.2f})"

    most, least = READERS_AIMED
    columns = (
        "elements", "rounds", "bounded_map", "alone", "beside a writer", f"alone / bounded_map (at most {most})",
        f"throughput kept (at least {least})", "lookups beside", "retries", "writes", "wrong answers", "flags", "commit",
    )
    return READERS + table(columns, [
        (whole(record["elements"]), whole(record["rounds"]), nanoseconds(record["bounded_map_hit_ns"]),
         nanoseconds(record["alone_hit_ns"]), nanoseconds(record["beside_writer_hit_ns"]),
         spread(record, "alone_over_bounded_map"), spread(record, "throughput_kept"),
         whole(record["lookups_beside_writer"]), whole(record["retries"]), whole(record["writes"]),
         whole(record["wrong_answers"]), f"`{record['machine']['flags']}`", record["machine"]["commit"])
        for record in records
    ])


# --- the page store ----------------------------------------------------------------------------------------------------

STORE = """
## Page store

Recorded with `oneprobe bench store` (`tools/record_store.py`): the page store and LevelDB hold the same random records. Ours is
built by its builder; LevelDB is filled in the same order and compacted, with its default 10-bit filter and without a block
cache. Rounds of gets go over both in turn, for random keys that are there and random keys that are not.

- *mapped* reads where the bytes lie in the page cache, which is LevelDB's default; *pread* copies them from there, which is
  ours; *direct* reads past the page cache (`O_DIRECT`).
- *reads* are calls of the file system per get, ours by the store's own counter, LevelDB's by an Env between it and the
  files; *pages* are those of 4 KiB that they touch.
- *gets/s* is by the wall clock, *CPU* the CPU time of the thread per get, both the median of the rounds. The last column has
  ours over LevelDB's gets per second, taken in each round: the median (least-most).
- By pread and direct ours verifies the checksum of each page, mapped that of a page it has not seen before; LevelDB by
  default verifies none.
"""

STORE_FACTS = """
### {elements} records of {key} + {value} bytes

| | |
|---|---|
| processor | {cpu}, {cores} cores, load average at the start {load} |
| compiler | {compiler}, `{flags}` |
| rounds | {rounds} |
| commit | {commit} (a `+` means with changes on top) |
| date | {date} |

"""
STORE_KINDS = tuple(f"{how}_{which}" for how in ("mapped", "pread", "direct") for which in ("present", "absent"))
STORE_AIMED = """
Aimed at: 1.000 reads per present key, at most 0.01 per absent key, and at least twice LevelDB's gets for present keys from
the page cache.
"""


def store_rows(record):
    ratios = record.get("times_leveldb", {})
    for number, store in enumerate(record["stores"]):
        for kind in STORE_KINDS:
            found = store[kind]
            if found is None:
                continue
            ratio = ratios.get(kind) if number == 0 else None
            yield (
                store["name"], kind.replace("_", ", "), f"{found['reads_per_get']:.4f}", f"{found['pages_per_get']:.4f}",
                whole(found["gets_per_second"]), f"{found['cpu_ns'] / 1000:.2f} us", "" if ratio is None else spread_of(ratio),
            )


def render_store(record):
    machine = record["machine"]
    text = STORE_FACTS.format(
        elements=whole(record["elements"]), key=record["key_bytes"], value=record["value_bytes"], cpu=machine["cpu"],
        cores=machine["cores"], load=", ".join(f"{load:.1f}" for load in machine["load_average"]),
        compiler=machine["compiler"], flags=machine["flags"], rounds=record["rounds"], commit=machine["commit"],
        date=machine["date"],
    )
    text += table(("store", "built in", "on disk", "in memory"), [
        (store["name"], f"{store['build_seconds']:.0f} s", f"{store['disk_bytes'] / 1e6:.0f} MB",
         f"{store['memory_bytes'] / 1e6:.1f} MB" if number == 0 else "not told")
        for number, store in enumerate(record["stores"])
    ])
    text += "\n" + table(("store", "gets", "reads", "pages", "gets/s", "CPU", "times LevelDB"), list(store_rows(record)))
    return text + STORE_AIMED


# --- the page ----------------------------------------------------------------------------------------------------------


def filter_order(record):
    """Small before large; what the machine does best before what it does with less."""
    machine = record["machine"]
    return (record["elements"], "-march=native" not in machine["flags"], -LEVELS.index(machine["vector_instructions"]))


def render():
    def read(path):
        return json.loads(path.read_text(encoding="utf-8"))

    text = TITLE + render_placement(read(RECORDS / "placement.json"))
    filters = sorted((read(path) for path in RECORDS.glob("filters*.json")), key=filter_order)
    if filters:
        text += FILTERS + render_targets(filters) + "".join(render_filters(record) for record in filters)
    text += render_build(read(RECORDS / "filter-build.json"))

    def by_size(names):
        return sorted((read(path) for path in RECORDS.glob(names)), key=lambda record: record["elements"])

    tables = sorted(by_size("tables*.json"), key=lambda record: record["churn_operations_per_element"] == 0)
    text += (TABLES if tables else "") + "".join(render_tables(record) for record in tables)
    readers = by_size("readers*.json")
    text += render_readers(readers) if readers else ""
    stores = by_size("store*.json")
    return text + (STORE if stores else "") + "".join(render_store(record) for record in stores)


def pages():
    return {DOCS / "benchmarks.md": render()}
