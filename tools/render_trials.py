#!/usr/bin/env python3
"""Renders the tables of docs/filter-trials.md and docs/table-trials.md from the recorded runs in docs/trials/.

usage: render_trials.py            compares the pages with what would be written; exit code 1 if they differ
       render_trials.py --write    writes the pages

A record is what the trial printed:

    ./run trials filter keeps --keys 1e7 --lookups 1e9 > docs/trials/filters-keep.json
    ./run trials filter errs --queries 1e9 > docs/trials/filters-err.json
    ./run trials table overflow --elements 1e6 --overflow 250 --seeds 5 > docs/trials/tables-overflow.json
    ./run trials table tags --elements 1e6 > docs/trials/tables-tags.json
    ./run trials table lasts --elements 1e6 --seeds 3 > docs/trials/tables-last.json
    ./run trials table figure-seven --buckets 1e5 --seeds 20 > docs/trials/tables-figure-seven.json
    ./run trials table stress --seconds 600 > docs/trials/tables-stress.json
"""

import json
import re
import sys

from render_benchmarks import PROJECT, table, whole

RECORDS = PROJECT / "docs" / "trials"


def read(name):
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def keeps():
    record = read("filters-keep")
    rows = [
        (
            row["filter"], whole(row["distinct_keys"]), whole(row["lookups"]), whole(row["lost"]),
            f"{row['largest_overfill']:g}",
            ", ".join(f"{count} {condition}" for condition, count in row["conditions"].items()),
        )
        for row in record["filters"]
    ]
    text = table(("filter", "different keys", "lookups", "lost", "up to x planned", "conditions"), rows)
    rows = [
        (row["filter"], whole(row["lookups"]), whole(row["lookups_during_inserts"]), whole(row["lost"]))
        for row in record["concurrent"]
    ]
    return text + "\nWhile others insert:\n\n" + table(("filter", "lookups", "of them during inserts", "lost"), rows)


def errs():
    record = read("filters-err")
    rows = [
        (
            row["filter"], whole(row["queries"]), whole(row["false_positives"]), f"{row['fpr']:.4g}",
            f"{row['fpr_stated']:.4g}", f"{row['fpr_model']:.4g}", f"{row['sigmas']:+.2f}",
            f"{row['negative_accesses']:.4f}", f"{row['negative_accesses_model']:.4f}",
        )
        for row in record["filters"]
    ]
    columns = (
        "filter", "queries", "false positives", "measured", "stated", "model", "sigmas", "accesses", "model's",
    )
    return table(columns, rows)


def percent(fraction, digits=1):
    return f"{100 * fraction:+.{digits}f} %"


def for_tags(row):
    if row["groups"] == 1:
        return ""
    return percent(row["excess_predicted"]) if "excess_predicted" in row else "not modelled"


def overflow_table(tables):
    rows = [
        (
            row["design"], f"{row['pressure']:.3f}", f"{row['overflow_model']:.0f}", f"{row['overflow']['mean']:.1f}",
            f"{percent(row['excess'])} ± {100 * row['excess_error']:.1f}",
            for_tags(row),
            f"{row['sigmas_grouped']:+.2f}" if "sigmas_grouped" in row else f"{row['sigmas']:+.2f}",
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


PAGES = {
    "filter-trials.md": (keeps, errs),
    "table-trials.md": (
        churned_overflow, refused_for_tags, filled_overflow, table_levels, table_accesses, lasts, figure_seven, stress,
    ),
}


def rendered(path):
    page = path.read_text(encoding="utf-8")
    for render in PAGES[path.name]:
        name = render.__name__.replace("_", " ")
        begin, end = f"<!-- {name}: rendered by tools/render_trials.py -->\n", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        text = begin + "\n" + render() + "\n" + end
        page, count = pattern.subn(lambda _, text=text: text, page)
        if count != 1:
            raise SystemExit(f"{path.relative_to(PROJECT)} has no place for {name}")
    return page


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    differs = 0
    for name in PAGES:
        path = PROJECT / "docs" / name
        text = rendered(path)
        if arguments:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(PROJECT)} is not what the records say; run render_trials.py --write")
            differs = 1
    return differs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
