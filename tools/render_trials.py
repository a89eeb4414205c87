#!/usr/bin/env python3
"""Renders the tables of docs/filter-trials.md from the recorded runs of filter_trials in docs/trials/.

usage: render_trials.py            compares the page with what would be written; exit code 1 if they differ
       render_trials.py --write    writes the page

A record is what the trial printed:

    build/tests/trials/filter_trials keeps --keys 1e7 --lookups 1e9 > docs/trials/filters-keep.json
    build/tests/trials/filter_trials errs --queries 1e9 > docs/trials/filters-err.json
"""

import json
import pathlib
import re
import sys

from render_benchmarks import PROJECT, table, whole

PAGE = PROJECT / "docs" / "filter-trials.md"
RECORDS = PROJECT / "docs" / "trials"


def keeps():
    record = json.loads((RECORDS / "filters-keep.json").read_text(encoding="utf-8"))
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
    record = json.loads((RECORDS / "filters-err.json").read_text(encoding="utf-8"))
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


def rendered(page):
    for name, render in (("keeps", keeps), ("errs", errs)):
        begin, end = f"<!-- {name}: rendered by tools/render_trials.py -->\n", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        page, count = pattern.subn(lambda _: begin + "\n" + render() + "\n" + end, page)
        if count != 1:
            raise SystemExit(f"{PAGE.relative_to(PROJECT)} has no place for {name}")
    return page


def main(arguments):
    if arguments not in ([], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    page = PAGE.read_text(encoding="utf-8")
    text = rendered(page)
    if arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif page != text:
        print(f"{PAGE.relative_to(PROJECT)} is not what the records say; run render_trials.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
