"""Draws the pictures of docs/concepts.md into docs/figures/; the curves are what the tool's models say.
`./run render` calls it."""

import json
import math
import subprocess

from pages import DOCS
from pictures import Axis, arrow, box, curve, frame, legend, line, picture, swatch, text

SLOT = 16  # the side of a slot
BUCKET_HEIGHT = SLOT + 6


def bucket_width(slots):
    return slots * SLOT + 6


def bucket(x, y, slots, taken, colour=None):
    """A row of slots, the first of them taken."""
    inside = [box(x + 5 + slot * SLOT, y + 5, SLOT - 4, SLOT - 4, "mark" if colour else "line", 2) for slot in range(taken)]
    around = box(x, y, bucket_width(slots), BUCKET_HEIGHT, "tint" if colour else "box")
    return "".join([f'<g class="{colour}">' if colour else "<g>", around, *inside, "</g>"])


def draw_walk():
    slots, begin, pitch = 4, 110, 78
    middle = [begin + pitch * i + bucket_width(slots) / 2 for i in range(6)]
    parts = [text(20, 33, "an element", kind="quiet"), box(begin, 16, 90, 28), text(begin + 45, 34, "key → hash", "middle")]
    # Level, buckets, the candidate, its colour, slots taken in it, and what it says.
    rows = (
        (1, 6, 0, "d", 4, ("full: turns it away,", "and notes that it did")),
        (2, 4, 1, "d", 4, ("full: turns it away,", "and notes that it did")),
        (3, 2, 0, "c", 2, ("has room: takes it",)),
    )
    x, bottom = middle[0], 44
    for level, count, chosen, colour, taken, words in rows:
        y = 76 * level
        parts += ['<g class="a">', arrow(x, bottom + 3, middle[chosen], y - 3, "curve"), "</g>"]
        x, bottom = middle[chosen], y + BUCKET_HEIGHT
        parts.append(text(20, y + 16, f"level {level}", kind="quiet"))
        for i in range(count):
            is_chosen = i == chosen
            loads = taken if is_chosen else (5 * i + 3 * level) % 4 + 1
            parts.append(bucket(begin + pitch * i, y, slots, loads, colour if is_chosen else None))
        parts += swatch(600, y + 15, words[0], colour, "tint")
        parts += [text(620, y + 15 + 14 * i, more, kind="small") for i, more in enumerate(words) if i > 0]
    parts += [text(20, 300, "overflow", kind="quiet"), box(begin, 284, 430, 24),
              text(begin + 10, 300, "takes elements that every candidate turned away; planned to be small", kind="small")]
    return picture(760, 324, "An element visits one bucket in each level and stays in the first that has room", parts)


def draw_lookup():
    width = bucket_width(8)
    parts = [text(20, 24, "a bucket", kind="small quiet"), text(187, 24, "its notes", "middle", "small quiet"),
             text(300, 24, "the next candidate", kind="small quiet"), text(467, 24, "its notes", "middle", "small quiet"),
             text(740, 24, "cost", "end", "small quiet")]
    found, absent, on = "c", "a", "b"
    cases = (
        ("a key that is there", (found, 7, "found", False), None, "1 bucket read"),
        ("an absent key; the bucket has no note that fits", (absent, 8, "not here, no note that fits: absent", False), None,
         "1 bucket read"),
        ("an absent key; the bucket has a note that fits", (on, 8, "not here, but a note fits: go on", True),
         (absent, 5, "not here, no note that fits: absent", False), "2 buckets read"),
    )
    for i, (title, *visits, cost) in enumerate(cases):
        y = 52 + 88 * i
        parts.append(text(20, y, title))
        for x, visit in zip((20, 300), visits):
            if visit:
                colour, taken, words, fits = visit
                parts += [bucket(x, y + 12, 8, taken, colour), box(x + width + 16, y + 12, 34, BUCKET_HEIGHT),
                          text(x + width + 33, y + 27, "fits" if fits else "–", "middle", "small"), text(x, y + 50, words, kind="small")]
        if visits[1]:
            parts.append(arrow(210, y + 23, 294, y + 23))
        parts.append(text(740, y + 27, cost, "end", "quiet"))
    for x, colour, words in ((20, found, "the lookup ends: found"), (220, absent, "the lookup ends: absent"), (420, on, "the lookup must go on")):
        parts += swatch(x, 318, words, colour)
    return picture(760, 334, "A lookup goes on only where a note says that it must", parts)


def draw_overflow(ask):
    across = Axis(0.4, 1.0, 70, 520, [(c / 10, f"{c / 10:g}") for c in range(4, 11)])
    up = Axis(1e-9, 1, 300, 40, [(10.0**-e, f"1e-{e}" if e else "1") for e in range(0, 10)], logarithmic=True)
    loads = [0.4 + 0.01 * i for i in range(61)]
    single = [(c, ask(f"model fluid --scheme single --load-factor {c:.2f} --bucket-capacity 8 --choices 1")["overflow_fraction"]) for c in loads[::3]]
    filling = [(c, ask(f"model least-overflow --load-factor {c:.2f} --bucket-capacity 8 --choices 4")["overflow_fraction"]) for c in loads]
    churning = [(c, ask(f"model least-overflow --load-factor {c:.2f} --bucket-capacity 8 --choices 4 --churn")["overflow_fraction"]) for c in loads]
    one_churning = [(c, ask(f"model churn --load-factor {c:.2f} --bucket-capacity 8 --choices 1 --scheme single")["overflow_fraction"]) for c in loads[::3]]
    parts = frame(across, up, "load factor: elements per slot", "share of the elements that overflow")
    parts += [curve(single, "d", across, up), curve(one_churning, "d", across, up, dashes=True),
              curve(filling, "c", across, up), curve(churning, "c", across, up, dashes=True)]
    parts += legend(540, 60, [("one choice, filling", "d"), ("one choice, churning", "d", "dashed"),
                              ("four levels, filling", "c"), ("four levels, churning", "c", "dashed")])
    parts += [text(540, 160, "buckets of 8 slots,", kind="small"), text(540, 176, "levels of least overflow", kind="small")]
    return picture(760, 350, "Overflow over load: with four choices it falls off a cliff below a certain load", parts)


def draw_loads(ask):
    mean = 16
    poisson = [math.exp(-mean + n * math.log(mean) - math.lgamma(n + 1)) for n in range(33)]
    budget = ask(f"model balance --scheme multilevel --elements-per-bucket {mean} --choices 3 --accesses 1.2")
    across = Axis(-0.5, 32.5, 60, 520, [(n, str(n)) for n in range(0, 33, 4)])
    up = Axis(0, 0.5, 280, 40, [(share / 10, f"{10 * share} %") for share in range(6)])
    parts = frame(across, up, "elements in a bucket, 16 on average", "share of the buckets")
    wide = across(1) - across(0)
    for shares, colour, shift, share_of in ((poisson, "d", 0.08, 0.42), (budget["distribution"], "c", 0.5, 0.42)):
        parts.append(f'<g class="{colour}">')
        for load, share in enumerate(shares):
            if share >= 5e-4:
                parts.append(box(across(load - 0.5) + shift * wide, up(share), share_of * wide, up.begin - up(share), "mark", 0))
        parts.append("</g>")
    for i, (colour, words) in enumerate((("d", "one choice"), ("c", "three levels, 1.2 accesses"))):
        parts += swatch(540, 64 + 24 * i, words, colour)
    parts.append(text(560, 102, f"({100 * budget['overflow_fraction']:.1f} % of the elements overflow)", kind="small"))
    return picture(760, 330, "Loads of buckets with one choice and on a budget of 1.2 accesses", parts)


THIS, OTHERS, PASSED_ON = "a", "f", "b"


def bits(x, y, of_this, of_others, count=32, side=5):
    """A line of bits, some set by this element and some by others."""
    parts = [box(x, y, count * side + 4, 18)]
    for colour, ones in ((OTHERS, sorted(set(of_others) - set(of_this))), (THIS, of_this)):
        parts += [f'<g class="{colour}">', *(box(x + 2 + one * side, y + 2, side - 1, 14, "mark", 0) for one in ones), "</g>"]
    return "".join(parts)


def fingerprints(x, y, slots, kept):
    """A line of fingerprints in ascending order, with the colour of each."""
    parts = [box(x, y - 3, 34 * slots + 2, 24)]
    for i, (label, colour) in enumerate(kept):
        parts += [f'<g class="{colour}">', box(x + 3 + 34 * i, y, 30, 18, "tint"), "</g>", text(x + 18 + 34 * i, y + 13, label, "middle", "small")]
    return "".join(parts)


def draw_filters():
    names = (
        ("standard", "an element sets k bits anywhere: a line of memory for each; a query for an absent key reads about two"),
        ("blocked", "all k bits in one line; crowded lines err most"),
        ("balanced", "a line with as many ones as it may have says no, and the element goes to the next level"),
        ("fingerprint", "a line keeps the smallest fingerprints, and passes the largest on"),
    )
    parts = []
    for i, (name, words) in enumerate(names):
        y = 26 + 84 * i
        parts += [text(20, y, name), text(120, y, words, kind="small quiet")]
    first, second, third = 20, 260, 500
    at = 44
    parts += [bits(first, at, [11], [2, 7, 19, 24, 30]), bits(second, at, [18], [4, 9, 14, 27]), bits(third, at, [25], [1, 8, 13, 17, 21, 29])]
    at += 84
    parts += [bits(first, at, [3, 11, 22], [6, 14, 18, 27]), bits(second, at, [], range(1, 31, 2)), bits(third, at, [], [5, 16]),
              text(first, at + 34, "the line of this element", kind="small"), text(second, at + 34, "a crowded line", kind="small"),
              text(third, at + 34, "a line with few", kind="small")]
    at += 84
    parts += [bits(first, at, [], range(0, 32, 2)), arrow(190, at + 9, 254, at + 9), bits(second, at, [4, 13, 27], [1, 8, 17, 20, 30]),
              text(first, at + 34, "says no", kind="small"), text(second, at + 34, "the element's line in the next level: takes it", kind="small")]
    at += 84
    parts += [fingerprints(first, at, 4, (("03", OTHERS), ("17", THIS), ("29", OTHERS), ("41", OTHERS))),
              arrow(162, at + 9, 186, at + 9), f'<g class="{PASSED_ON}">{box(190, at, 30, 18, "tint")}</g>', text(205, at + 13, "88", "middle", "small"),
              arrow(224, at + 9, 254, at + 9), fingerprints(second, at, 4, (("26", OTHERS), ("54", PASSED_ON))),
              text(first, at + 38, "17 comes, so that 88 must go", kind="small"),
              text(second, at + 38, "it goes on in the next level, where its fingerprint is 54", kind="small")]
    for x, colour, words in ((20, THIS, "of this element"), (160, OTHERS, "of elements that came before"), (360, PASSED_ON, "passed on")):
        parts += swatch(x, 368, words, colour)
    return picture(760, 384, "What an element leaves in four kinds of filters", parts)


def draw_summary():
    slots, begin, pitch = 3, 340, 62
    parts = [text(20, 30, "fast memory: some bits per element"), box(20, 44, 170, 192), text(105, 120, "summary", "middle"),
             text(105, 140, "key → level, or absent", "middle", "small"), text(begin, 30, "slow memory: a disk, another machine, a chip")]
    read = (2, 0)  # level and bucket
    for level, (count, y) in enumerate(((6, 44), (3, 112), (1, 180)), 1):
        parts.append(text(begin + pitch * count + 4, y + 16, f"level {level}", kind="quiet"))
        for i in range(count):
            parts.append(bucket(begin + pitch * i, y, slots, (i + level) % 3 + 1, "c" if (level, i) == read else None))
    parts += ['<g class="c">', arrow(194, 123, begin - 4, 123, "curve"), "</g>", text(202, 115, "a key of level 2", kind="small"),
              text(begin, 150, "the only bucket that is read", kind="small"),
              '<g class="f">', arrow(194, 222, 246, 222, "curve"), "</g>", text(254, 226, "an absent key: nothing is read", kind="small")]
    return picture(760, 252, "A summary in fast memory says which one bucket of slow memory to read", parts)


def pages(tool):
    def ask(call):
        run = subprocess.run([tool, *call.split(), "--json"], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    drawn = {
        "walk": draw_walk(), "lookup": draw_lookup(), "overflow": draw_overflow(ask), "loads": draw_loads(ask),
        "filters": draw_filters(), "summary": draw_summary(),
    }
    return {DOCS / "figures" / f"concept-{name}.svg": svg for name, svg in drawn.items()}
