#!/usr/bin/env python3
"""Writes the filters and the map as one header, for projects that take in a single file.

usage: amalgamate.py OUTPUT [HEADER...]      HEADER: oneprobe/filter/balanced.hpp and the like; none: filters and maps

The result needs the standard library and xxHash. Every header of ours stands in it once, where it is first included; system
headers stay where they are, so that what is chosen by the preprocessor stays chosen.
"""

import re
import sys
from pathlib import Path

INCLUDE = Path(__file__).resolve().parent.parent / "include"
DEFAULT = [
    "oneprobe/filter/any_filter.hpp", "oneprobe/filter/concurrent.hpp", "oneprobe/filter/growing.hpp",
    "oneprobe/filter/rotating.hpp", "oneprobe/map/bounded_map.hpp", "oneprobe/map/bounded_set.hpp",
    "oneprobe/map/concurrent_map.hpp",
]
OURS = re.compile(r'#include [<"](oneprobe/[^>"]+)[>"]')


def lines_of(header, seen):
    """The header with those of ours that it includes in their places; nothing if it stands there already."""
    if header in seen:
        return []
    seen.add(header)
    lines = [f"// ---- {header}\n"]
    for line in (INCLUDE / header).read_text("utf-8").splitlines(keepends=True):
        if line.startswith("#pragma once"):
            continue
        found = OURS.match(line)
        lines += lines_of(found[1], seen) if found else [line]
    return lines


def amalgamated(headers):
    version = re.search(r'"(\d+\.\d+\.\d+)"', (INCLUDE / "oneprobe/version.hpp").read_text("utf-8"))[1]
    seen = set()
    body = [line for header in headers for line in lines_of(header, seen)]
    head = (
        f"// Oneprobe {version} in one file, written by tools/amalgamate.py. Apache License 2.0.\n"
        f"// SPDX-License-Identifier: Apache-2.0\n"
        f"// Needs C++20 and xxHash. Holds: {', '.join(headers)}.\n#pragma once\n"
    )
    return head + "".join(body)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    output, *headers = arguments
    unknown = [header for header in headers if not (INCLUDE / header).is_file()]
    if unknown:
        print(f"amalgamate.py: no such header: {', '.join(unknown)}", file=sys.stderr)
        return 2
    Path(output).write_text(amalgamated(headers or DEFAULT), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
