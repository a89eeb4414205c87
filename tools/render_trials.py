"""Renders the tables of docs/filter-trials.md, fingerprint-filter.md, table-trials.md and summary-trials.md from the
recorded runs in docs/trials/; `./run render` calls it.

A record is what the trial printed; tools/record_trials.py adds the commit, the date and the machine:

    tools/record_trials.py filter filters-keep keeps --keys 1e7 --lookups 1e9
    tools/record_trials.py filter filters-err errs --queries 1e9
    tools/record_trials.py filter filters-keep-fingerprint keeps --keys 1e7 --lookups 1e9 --only fingerprint
    tools/record_trials.py filter filters-err-fingerprint errs --queries 1e9 --only fingerprint,standard
    tools/record_trials.py filter filters-mix mixes --operations 1e8
    tools/record_trials.py filter filters-overfill overfills --queries 2e7 --elements 1e6
    ./run trials table overflow --elements 1e6 --overflow 250 --seeds 5 > docs/trials/tables-overflow.json
    ./run trials table tags --elements 1e6 > docs/trials/tables-tags.json
    ./run trials table lasts --elements 1e6 --seeds 3 > docs/trials/tables-last.json
    ./run trials table figure-seven --buckets 1e5 --seeds 20 > docs/trials/tables-figure-seven.json
    ./run trials table stress --seconds 600 > docs/trials/tables-stress.json
    tools/record_trials.py summary summaries-failures failures --builds 1e6
    tools/record_trials.py summary summaries-moves moves --builds 1e5
    tools/record_trials.py summary summaries-counters counters --builds 1e6
    tools/record_trials.py summary summaries-absent absent --builds 100 --queries 1e5
    tools/record_trials.py summary summaries-deletions deletions --queries 1e5 --seeds 5
    tools/record_trials.py summary summaries-break-even break-even --elements 1e6
    tools/profile_fingerprint.py
"""

import json
import re

from pages import DOCS, filled_in, table
from render_benchmarks import optional, probability, whole

RECORDS = DOCS / "trials"


def read(name):
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def recorded(record):
    """Where and when, if the record says so."""
    machine = record.get("machine")
    if not machine:
        return ""
    return f"\nRecorded on {machine['date']} at commit {machine['commit']}: {machine['cpu']}, {machine['cores']} cores.\n"


def keeps():
    record, fingerprints = read("filters-keep"), read("filters-keep-fingerprint")
    rows = [
        (
            row["filter"], whole(row["distinct_keys"]), whole(row["lookups"]), whole(row["lost"]),
            f"{row['largest_overfill']:g}",
            ", ".join(f"{count} {condition}" for condition, count in row["conditions"].items()),
        )
        for row in record["filters"] + fingerprints["filters"]
    ]
    text = table(("filter", "different keys", "lookups", "lost", "up to x planned", "conditions"), rows)
    rows = [
        (
            row["filter"], phase["phase"], ", ".join(f"{times:g}" for times in phase["overfills"]), whole(phase["lookups"]),
            whole(phase["lost"]),
        )
        for row in fingerprints["filters"] for phase in row.get("phases", ())
    ]
    if rows:
        text += "\nThe fills of the fingerprint filters:\n\n"
        text += table(("filter", "filled with", "x planned", "lookups", "lost"), rows) + recorded(fingerprints)
    rows = [
        (row["filter"], whole(row["lookups"]), whole(row["lookups_during_inserts"]), whole(row["lost"]))
        for row in record["concurrent"]
    ]
    return text + "\nWhile others insert:\n\n" + table(("filter", "lookups", "of them during inserts", "lost"), rows)


def errs():
    rows = [
        (
            row["filter"], whole(row["queries"]), whole(row["false_positives"]), f"{row['fpr']:.4g}",
            f"{row['fpr_stated']:.4g}", f"{row['fpr_model']:.4g}", f"{row['sigmas']:+.2f}",
            f"{row['miss_accesses']:.4f}", f"{row['miss_accesses_model']:.4f}",
            optional(row.get("hit_accesses"), ".4f"), optional(row.get("hit_accesses_model"), ".4f"),
        )
        for row in error_rows()
    ]
    columns = (
        "filter", "queries", "false positives", "measured", "stated", "model", "sigmas", "accesses, absent", "model's",
        "accesses, present", "model's",
    )
    return table(columns, rows)


def error_rows():
    """Of filters that both records have, the row of the second."""
    second = read("filters-err-fingerprint")["filters"]
    names = {row["filter"] for row in second}
    rows = [row for row in read("filters-err")["filters"] if row["filter"] not in names] + second
    # Kind by kind, in the order in which the first record has them, and by memory.
    kinds = list(dict.fromkeys(error_kind(row) for row in rows))
    return sorted(rows, key=lambda row: (kinds.index(error_kind(row)), row["bits_per_element"]))


def error_kind(row):
    name = row["filter"]
    return name.split()[0] if name.startswith(("standard", "fingerprint")) else re.split(r" \d+\.\d\d bits", name)[0]


# The error over a standard filter's, by bits per element; anything below 1 elsewhere.
AIMED = {16: 1 / 3, 20: 1 / 5}
COMPARED_BITS = (10, 11, 12, 14, 16, 18, 20, 24)


def against_standard():
    record = read("filters-err-fingerprint")
    found = {(error_kind(row), round(row["bits_per_element"])): row for row in record["filters"]}
    rows = []
    for bits in COMPARED_BITS:
        ours, standard = found.get(("fingerprint", bits)), found.get(("standard", bits))
        errors = tuple("not measured" if row is None else f"{row['fpr']:.3g}" for row in (ours, standard))
        ratio = "" if ours is None or standard is None else f"{ours['fpr'] / standard['fpr']:.3f}"
        off = "" if ours is None else percent(ours["fpr"] / ours["fpr_model"] - 1)
        accesses = tuple("" if ours is None else f"{ours[f'{which}_accesses']:.3f}" for which in ("miss", "hit"))
        rows.append((str(bits), *errors, ratio, f"{AIMED[bits]:.2f}" if bits in AIMED else "below 1", off, *accesses))
    columns = (
        "bits per element", "fingerprint", "standard", "ratio", "aimed at", "off the model", "accesses, absent", "present",
    )
    return table(columns, rows) + recorded(record)


def overfills():
    def pair(row, key, form):
        return form(row[key]), form(row[f"{key}_forecast"])

    def more(row):
        return percent(row["elements"] / row["planned_elements"] - 1, 0)

    record = read("filters-overfill")
    rows = [
        (
            row["planned_for"], more(row), *pair(row, "fpr", probability), *pair(row, "miss_accesses", "{:.3f}".format),
            *pair(row, "overflow_fraction", "{:.1e}".format), f"{row['degraded_filters']} of {row['filters']}",
        )
        for row in record["rows"]
    ]
    first = record["rows"][0]
    columns = (
        "planned for", "elements", "error", "forecast", "accesses, absent", "forecast", "in the list", "overflow, forecast",
        "degraded filters",
    )
    text = table(columns, rows)
    text += f"\n{whole(first['planned_elements'])} elements planned, {first['filters']} filters and {whole(first['queries'])} queries a row.\n"
    return text + recorded(record)


def mixes():
    rows = [
        (
            row["filter"], whole(row["operations"]), whole(row["lookups_of_kept"]), whole(row["fills"]), whole(row["unions"]),
            whole(row["lost"]), whole(row["wrong_outcomes"]), whole(row["built_otherwise"]),
        )
        for row in read("filters-mix")["filters"]
    ]
    columns = (
        "filter", "operations", "lookups of elements", "times filled", "unions", "lost", "wrong outcomes",
        "unlike a filter built at once",
    )
    return table(columns, rows)


def query_profile():
    record = json.loads((DOCS / "benchmarks" / "fingerprint-profile.json").read_text(encoding="utf-8"))
    filters = record["filters"]
    rows = [
        (stage,) + tuple(f"{row['stages'][stage]:.0%}".replace("%", " %") for row in filters) for stage in filters[0]["stages"]
    ]
    columns = tuple(f"f = {row['remainder_bits']}, h = {row['bucket_capacity']}" for row in filters)
    return table(("", *columns), rows) + recorded(record)


def percent(fraction, digits=1):
    return f"{100 * fraction:+.{digits}f} %"


def for_tags(row):
    if row["groups"] == 1:
        return ""
    return percent(row["added_for_tags"]) if "added_for_tags" in row else "not modelled"


def overflow_table(tables):
    rows = [
        (
            row["design"], f"{row['pressure']:.3f}", f"{row['overflow_model']:.0f}", f"{row['overflow']['mean']:.1f}",
            f"{percent(row['excess'])} ± {100 * row['excess_error']:.1f}",
            for_tags(row), f"{row['sigmas']:+.2f}",
        )
        for row in tables
    ]
    return table(("table", "pressure", "model", "overflow", "more than the model", "for tags", "sigmas"), rows)


def churned_overflow():
    record = read("tables-overflow")
    beyond = record["more_than_20_percent_off"]
    verdict = "None is more than 20 % off the model." if not beyond else (
        "More than 20 % off the model: " + "; ".join(beyond) + "."
    )
    return overflow_table([row for row in record["tables"] if row["churns"]]) + "\n" + verdict + "\n"


def refused_for_tags():
    rows = [
        (
            f"d={row['choices']} h={row['bucket_capacity']}",
            *(f"{at[key]:.1e}" for at in row["planned"] for key in ("fraction", "fraction_with_tags")),
            f"{row['pressure_at_20_percent']:.3f}", f"{row['fraction_at_20_percent']:.1e}",
            whole(200 / row["fraction_at_20_percent"]),
        )
        for row in read("tables-tags")["rows"]
    ]
    columns = (
        "multilevel, 16 bytes, churn", "pressure 1: ErlangB", "with tags", "1.02: ErlangB", "with tags",
        "20 % more at pressure", "where ErlangB has", "elements of which 200 overflow there",
    )
    return table(columns, rows)


def filled_overflow():
    return overflow_table([row for row in read("tables-overflow")["tables"] if not row["churns"]])


def table_accesses():
    def cell(row, key):
        return f"{row[key]['mean']:.4f}" if key in row else ""

    def model(row, key):
        return f"{row[key + '_model']:.4f}" if key + "_model" in row else ""

    rows = [
        (row["design"],)
        + tuple(text for key in ("insert", "hit", "miss") for text in (cell(row, key), model(row, key)))
        + (percent(row["last_miss"] / row["settled_miss"] - 1, 2) if row["churns"] else "",)
        for row in read("tables-overflow")["tables"]
    ]
    return table(("table", "insert", "model", "hit", "model", "miss", "model", "miss, 20 n to 5 n"), rows)


def table_levels():
    rows = []
    for row in read("tables-overflow")["tables"]:
        if row["design"].startswith("multilevel"):
            levels = [f"{whole(level['elements'])} ({whole(level['model'])})" for level in row["levels"]]
            rows.append((row["design"],) + tuple(levels) + ("",) * (4 - len(levels)))
    return table(("table", "level 1", "level 2", "level 3", "level 4"), rows)


def lasts():
    def mean(looks, key):
        return sum(look[key] for look in looks) / len(looks)

    rows = []
    for row in read("tables-last")["rows"]:
        for looks in zip(*row["tables"]):
            rows.append((
                f"{row['pressure']:g}", str(looks[0]["turnovers"]) + " n", f"{mean(looks, 'miss'):.4f}",
                f"{row['miss_model']:.4f}", f"{mean(looks, 'hit'):.4f}", f"{mean(looks, 'overflow'):.1f}",
                f"{mean(looks, 'stuck_notes'):.1f}", f"{mean(looks, 'stuck_note_fraction'):.1e}",
            ))
    return table(
        ("pressure", "operations", "miss", "model", "hit", "overflow", "stuck notes", "of all notes"), rows
    )


def figure_seven():
    rows = [
        (
            row["scheme"], row["printed_accesses"], f"{row['model_accesses']:.4f}", f"{row['simulated_accesses']:.4f}",
            f"{row['table_accesses']:.4f}", row["printed_overflow_percent"], f"{100 * row['model_overflow']:.3f}",
            f"{100 * row['simulated_overflow']:.3f} ± {100 * row['simulated_error']:.3f}",
            f"{100 * row['table_overflow']['mean']:.3f} ± {100 * row['table_overflow']['standard_error']:.3f}",
            f"{row['tables_that_differ_from_counters']} of {row['tables']}",
        )
        for row in read("tables-figure-seven")["rows"]
    ]
    columns = (
        "scheme", "accesses, printed", "model", "simulator", "tables", "overflow in %, printed", "model", "simulator",
        "tables", "tables unlike the counters",
    )
    return table(columns, rows)


def stress():
    record = read("tables-stress")
    names = (
        ("seconds", "seconds"), ("cores", "cores"), ("threads that read", "readers"), ("threads that write", "writers"),
        ("insertions and erasures", "insertions_and_erasures"), ("values changed", "changes_of_values"),
        ("reads", "reads"), ("buckets read again", "retries"), ("insertions into a full map", "refused"),
        ("torn values", "torn"), ("lost elements", "lost"), ("impossible answers", "unexpected"),
    )
    return table(("", "count"), [(name, whole(record[key])) for name, key in names])


def summary_failures():
    record = read("summaries-failures")
    rows = [
        (
            row["design"], whole(row["builds"]), whole(row["failed_builds"]),
            f"{row['failed_builds_expected_at_most']:.2g}", whole(row["crises"]), whole(row["maps"]),
            whole(row["maps_failed"]), whole(row["lost"]), whole(row["most_accesses"]),
        )
        for row in record["designs"]
    ]
    columns = (
        "design", "builds", "that fail", "expected", "crises", "of them maps", "that fail", "lost elements",
        "buckets read, at most",
    )
    text = table(columns, rows)
    if all("consistent" in row for row in record["designs"]):
        text += "\n" + " ".join(
            f"{row['design']}: a count as far from the expected one has probability "
            f"{row['probability_of_as_far_off']:.2g}, {'consistent' if row['consistent'] else 'inconsistent'} with the plan."
            for row in record["designs"]
        ) + "\n"
    return text + recorded(record)


def summary_moves():
    record = read("summaries-moves")
    rows = [
        (
            row["departures"], whole(row["trials"]), f"{row['printed']:.2f}",
            f"{row['moved']['mean']:.2f} ± {row['moved']['standard_error']:.2f}", f"{row['standard_errors_off']:+.2f}",
            whole(row["least"]), whole(row["most"]),
        )
        for row in record["rows"]
    ]
    columns = ("deleted", "maps", "printed", "moved", "standard errors off", "least", "most")
    return table(columns, rows) + recorded(record)


def summary_counters():
    record = read("summaries-counters")
    rows = [
        (f"B_{i}", whole(printed), whole(seen))
        for i, (printed, seen) in enumerate(zip(record["printed_for_a_million"], record["largest"]))
    ]
    columns = ("filter", "printed, a million builds", f"seen, {whole(record['builds'])} builds")
    if "largest_expected" in record:
        columns += ("expected of as many", "probability of what was seen")
        law = zip(record["largest_expected"], record["probability_of_largest"])
        rows = [(*row, f"{mean:.2f}", f"{chance:.2g}") for row, (mean, chance) in zip(rows, law)]
    return table(columns, rows) + recorded(record)


def summary_absent():
    record = read("summaries-absent")

    def measured(value):
        return f"{value['mean']:.6f} ± {value['standard_error']:.6f}"

    rows = [
        (
            row["design"], f"{row['false_positives_planned']:.6f}", measured(row["false_positives"]),
            f"{row['false_positives_standard_errors_off']:+.2f}", f"{row['reads_planned']:.6f}", measured(row["reads"]),
            f"{row['reads_standard_errors_off']:+.2f}",
        )
        for row in record["rows"]
    ]
    columns = (
        "map", "sent to a level, planned", "measured", "standard errors off", "read a bucket, planned", "measured",
        "standard errors off",
    )
    return table(columns, rows) + recorded(record)


def summary_deletions():
    record = read("summaries-deletions")
    rows = []
    for row in record["rows"]:
        looks = row["looks"]
        failures = sum(look["failures"] for look in looks)
        mean = sum(look["false_positives"] for look in looks) / len(looks)
        rows.append(
            (
                row["departures"], row["design"], whole(len(looks)) + ("" if row["found_room"] else ", then full"),
                f"{row['false_positives_planned']:.4f}", f"{mean:.4f}", f"{row['failures_per_turnover_planned']:.2g}",
                f"{failures / len(looks):.3g}", whole(round(looks[-1]["beyond_first_level"])),
                whole(round(looks[-1]["overflow"])),
                f"{row['moved_per_reconstruction']:.1f}" if row["reconstructions"] else "",
                f"{whole(row['most_work'])} of {whole(row['work_per_change'])}" if row["work_per_change"] else "",
                whole(row["lost"]),
            )
        )
    columns = (
        "what leaves", "deletion", "turnovers", "false positives, planned", "seen", "failures per turnover, planned",
        "seen", "beyond level 1 in the end", "in the overflow", "moved per reconstruction", "work per change", "lost",
    )
    seeds = {row["seeds"] for row in record["rows"] if "seeds" in row}
    means = f"\nMeans of {max(seeds)} maps each; work per change is the most of all.\n" if seeds else ""
    return table(columns, rows) + means + recorded(record)


def summary_break_even():
    record = read("summaries-break-even")
    rows = [
        (
            row["summary"], whole(row["elements"]), whole(row["bucket_capacity"]), whole(row["summary_bytes"]),
            f"{row['where_present_ns']:.0f}", f"{row['where_absent_ns']:.0f}", f"{row['break_even_present_ns']:.0f}",
            f"{row['break_even_absent_ns']:.0f}",
        )
        for row in record["rows"]
    ]
    columns = (
        "summary", "elements", "slots per bucket", "fast bytes", "asking, key present: ns", "absent",
        "break-even of a bucket access, key present: ns", "absent",
    )
    return table(columns, rows) + recorded(record)


PAGES = {
    "filter-trials.md": (keeps, errs, against_standard, mixes),
    "fingerprint-filter.md": (overfills, query_profile),
    "table-trials.md": (
        churned_overflow, refused_for_tags, filled_overflow, table_levels, table_accesses, lasts, figure_seven, stress,
    ),
    "summary-trials.md": (
        summary_failures, summary_moves, summary_counters, summary_absent, summary_deletions, summary_break_even,
    ),
}


def pages():
    return filled_in(PAGES, "render_trials.py")
