"""Draws the error of every filter over its bits per element, and the lines an absent key costs, from recorded trials,
docs/trials/filters-err*.json. `./run render` calls it."""

import math
from collections import defaultdict

from pages import DOCS
from render_trials import read

WIDTH, HEIGHT = 760, 660
LEFT, RIGHT, TOP = 70, 190, 36
ERROR_BOTTOM, LINES_TOP, LINES_BOTTOM = 430, 490, 610
LEAST_BITS, MOST_BITS = 8, 40
LEAST_ERROR, MOST_ERROR = 1e-9, 0.1
MOST_LINES = 2.5
# Kinds by the first words of a trial's name, as they are to be called, from the most memory for an error to the least.
KINDS = (
    ("counting", "counting", "#8c564b"),
    ("blocked 512 lanes", "blocked, lanes", "#7f7f7f"),
    ("blocked 512 independent", "blocked", "#1f77b4"),
    ("balanced", "balanced", "#ff7f0e"),
    ("partitioned", "partitioned", "#bcbd22"),
    ("standard", "standard", "#2ca02c"),
    ("fingerprint", "fingerprint", "#d62728"),
)


def kind_of(name):
    for begin, called, colour in KINDS:
        if name.startswith(begin):
            return called, colour
    return None


def points_by_kind(rows):
    found = defaultdict(list)
    # A filter that several trials measured has one point, the last one's.
    for row in {row["filter"]: row for row in rows}.values():
        kind = kind_of(row["filter"])
        if kind is None:
            continue
        # Where no false positive was seen, the error is the one that the filters state of themselves.
        error = row["fpr"] if row["false_positives"] > 0 else row["fpr_stated"]
        found[kind].append((row["bits_per_element"], error, row["miss_accesses"]))
    return {kind: sorted(points) for kind, points in found.items()}


def across(bits):
    return LEFT + (bits - LEAST_BITS) / (MOST_BITS - LEAST_BITS) * (WIDTH - LEFT - RIGHT)


def error_height(error):
    span = math.log10(MOST_ERROR / LEAST_ERROR)
    return TOP + math.log10(MOST_ERROR / error) / span * (ERROR_BOTTOM - TOP)


def lines_height(lines):
    return LINES_BOTTOM - (lines - 1) / (MOST_LINES - 1) * (LINES_BOTTOM - LINES_TOP)


def text(x, y, words, anchor="start", colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def rule(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def frame():
    end = WIDTH - RIGHT
    parts = [text(LEFT, TOP - 14, "error"), text(LEFT, LINES_TOP - 14, "accesses of a query for an absent key")]
    for exponent in range(-9, 0):
        y = error_height(10.0**exponent)
        parts += [rule(LEFT, y, end, y), text(LEFT - 8, y + 4, f"1e{exponent}", "end")]
    for lines in (1.0, 1.5, 2.0, 2.5):
        y = lines_height(lines)
        parts += [rule(LEFT, y, end, y), text(LEFT - 8, y + 4, f"{lines:.1f}", "end")]
    for bits in range(LEAST_BITS, MOST_BITS + 1, 4):
        x = across(bits)
        parts += [rule(x, TOP, x, ERROR_BOTTOM), rule(x, LINES_TOP, x, LINES_BOTTOM)]
        parts.append(text(x, LINES_BOTTOM + 18, str(bits), "middle"))
    parts.append(text((LEFT + end) / 2, LINES_BOTTOM + 38, "bits per element, all memory counted", "middle"))
    return parts


def curve(points, colour):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>{marks}'


def drawing(rows):
    kinds = points_by_kind(rows)
    parts = frame()
    for number, (_, called, colour) in enumerate(KINDS):
        points = kinds.get((called, colour))
        if not points:
            continue
        within = [p for p in points if LEAST_BITS <= p[0] + 0.5 and p[0] <= MOST_BITS + 0.5]
        errors = [(across(b), error_height(e)) for b, e, _ in within if LEAST_ERROR <= e <= MOST_ERROR]
        lines = [(across(b), lines_height(a)) for b, _, a in within if a <= MOST_LINES]
        parts += [curve(errors, colour), curve(lines, colour)]
        y = TOP + 14 + 20 * number
        parts.append(f'<line x1="{WIDTH - RIGHT + 16}" y1="{y}" x2="{WIDTH - RIGHT + 40}" y2="{y}" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(WIDTH - RIGHT + 48, y + 4, called))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *parts, "</svg>"])


def pages():
    rows = read("filters-err")["filters"] + read("filters-err-fingerprint")["filters"]
    return {DOCS / "trials" / "filter-frontier.svg": drawing(rows) + "\n"}
