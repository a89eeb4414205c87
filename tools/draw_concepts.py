"""Draws the pictures of docs/concepts.md into docs/figures/; the curves are what the tool's models say.
`./run render` calls it."""

import json
import math
import subprocess

from pages import DOCS
from pictures import Axis, arrow, box, curve, frame, legend, line, picture, text


def bucket(x, y, slots, taken, kind="box", side=16):
    """A row of slots, the first of them taken."""
    parts = [f'<g class="{kind}">' if kind != "box" else "<g>", box(x, y, slots * side + 6, side + 6, "tint" if kind != "box" else "box")]
    for slot in range(slots):
        if slot < taken:
            parts.append(box(x + 5 + slot * side, y + 5, side - 4, side - 4, "mark" if kind != "box" else "line", 2))
    return "".join(parts) + "</g>"


def draw_walk():
    parts = [text(20, 38, "an element"), box(20, 50, 90, 30), text(65, 70, "key → hash", "middle")]
    parts += ['<g class="a">', line(112, 65, 192, 65, "curve"), arrow(242, 65, 254, 65, "curve"), "</g>"]
    # Level, buckets, height, the candidate, its colour, slots taken in it, and what it says.
    rows = (
        (1, 6, 52, 0, "d", 4, "full: turns it away, and notes that it did"),
        (2, 4, 132, 1, "d", 4, "full: turns it away, and notes that it did"),
        (3, 2, 212, 0, "c", 2, "has room: takes it"),
    )
    for level, count, y, chosen, colour, taken, words in rows:
        parts.append(text(200, y + 16, f"level {level}", kind="quiet"))
        for i in range(count):
            x = 260 + 80 * i
            parts.append(bucket(x, y, 4, taken if i == chosen else (5 * i + 3 * level) % 4 + 1, colour if i == chosen else "box"))
        parts.append(text(260 + 80 * chosen + (80 if level == 1 else 60 if level == 2 else 0), y + 40, words, kind="small"))
    parts += ['<g class="a">', arrow(290, 78, 366, 128, "curve"), arrow(366, 158, 290, 208, "curve"), "</g>"]
    parts += [text(190, 290, "overflow", kind="quiet"), box(260, 274, 340, 24), text(270, 290, "takes what all levels turned away; planned to be small", kind="small")]
    return picture(760, 316, "An element visits one bucket in each level and stays in the first that has room", parts)


def draw_lookup():
    parts = []
    cases = (
        ("a key that is there", ("c", "found"), None, "1 bucket read"),
        ("absent; the bucket has no note that fits", ("a", "not here, no note: absent"), None, "1 bucket read"),
        ("absent; the bucket has a note that fits", ("b", "not here, note: go on"), ("a", "not here, no note: absent"),
         "2 buckets read"),
    )
    for i, (title, first, second, cost) in enumerate(cases):
        y = 30 + 88 * i
        parts += [text(20, y, title), bucket(20, y + 14, 8, 8 if i else 7, first[0]), box(170, y + 14, 34, 22),
                  text(187, y + 29, "note" if i == 2 else "–", "middle", "small"), text(20, y + 54, first[1], kind="small")]
        if second:
            parts += [arrow(210, y + 25, 292, y + 25), bucket(300, y + 14, 8, 5, second[0]), box(450, y + 14, 34, 22),
                      text(467, y + 29, "–", "middle", "small"), text(300, y + 54, second[1], kind="small")]
        parts.append(text(740, y + 29, cost, "end", "quiet"))
    return picture(760, 284, "A lookup goes on only where a note says that it must", parts)


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
    parts = frame(across, up, "elements in a bucket, 16 on average", "buckets")
    wide = across(1) - across(0)
    for shares, colour, shift, share_of in ((poisson, "d", 0.08, 0.42), (budget["distribution"], "c", 0.5, 0.42)):
        parts.append(f'<g class="{colour}">')
        for load, share in enumerate(shares):
            if share >= 5e-4:
                parts.append(box(across(load - 0.5) + shift * wide, up(share), share_of * wide, up.begin - up(share), "mark", 0))
        parts.append("</g>")
    for i, (colour, words) in enumerate((("d", "one choice"), ("c", "three levels, 1.2 accesses"))):
        parts += [f'<g class="{colour}">', box(540, 54 + 24 * i, 12, 12, "mark", 0), "</g>", text(560, 64 + 24 * i, words, kind="small")]
    parts.append(text(540, 116, f"{100 * budget['overflow_fraction']:.1f} % overflow", kind="small"))
    return picture(760, 330, "Loads of buckets with one choice and on a budget of 1.2 accesses", parts)


def bits(x, y, ones, kind="a", count=32, side=5):
    parts = [box(x, y, count * side + 4, 14), f'<g class="{kind}">']
    parts += [box(x + 2 + one * side, y + 2, side - 1, 10, "mark", 0) for one in ones]
    return "".join(parts) + "</g>"


def draw_filters():
    parts = []
    names = (
        ("standard", "an element sets k bits anywhere: a line of memory for each; a query for an absent key reads about two"),
        ("blocked", "all k bits in one line; crowded lines err most"),
        ("balanced", "a line that is full enough says no, and the element goes to the next level"),
        ("fingerprint", "a line keeps the smallest fingerprints, and passes the largest on"),
    )
    for i, (name, words) in enumerate(names):
        y = 26 + 84 * i
        parts += [text(20, y, name), text(120, y, words, kind="small quiet")]
        at = y + 18
        if name == "standard":
            parts += [bits(20 + 240 * j, at, [(7 * j + 11) % 32], "a") for j in range(3)]
        elif name == "blocked":
            parts += [bits(20, at, [3, 11, 22], "a"), bits(260, at, range(1, 31, 2), "d"), bits(500, at, [5], "a"),
                      text(20, at + 32, "this element", kind="small"), text(260, at + 32, "crowded", kind="small")]
        elif name == "balanced":
            parts += [bits(20, at, range(0, 32, 2), "b"), arrow(192, at + 7, 252, at + 7), bits(260, at, [4, 13, 27], "c"),
                      text(20, at + 32, "as many ones as it takes: no", kind="small"), text(260, at + 32, "yes", kind="small")]
        else:
            for j, (label, colour) in enumerate((("03", "c"), ("17", "c"), ("29", "c"), ("41", "c"), ("88", "b"))):
                parts += [f'<g class="{colour}">', box(20 + 34 * j, at, 30, 18, "tint"), "</g>", text(35 + 34 * j, at + 13, label, "middle", "small")]
            parts += [arrow(192, at + 9, 252, at + 9), f'<g class="c">{box(260, at, 30, 18, "tint")}</g>', text(275, at + 13, "54", "middle", "small"),
                      text(300, at + 13, "under a new name, in the next level", kind="small")]
    return picture(760, 350, "What an element leaves in four kinds of filters", parts)


def draw_summary():
    parts = [text(20, 30, "fast memory: some bits per element"), box(20, 44, 170, 170), text(105, 120, "summary", "middle"),
             text(105, 140, "key → level, or absent", "middle", "small"), text(330, 30, "slow memory: a disk, another machine, a chip")]
    for level, (count, y) in enumerate(((6, 54), (3, 114), (1, 174)), 1):
        parts.append(text(756 - 66 * (6 - count), y + 16, f"{level}", "end", "quiet"))
        for i in range(count):
            parts.append(bucket(340 + 66 * i, y, 3, (i + level) % 3 + 1, "c" if (level, i) == (2, 0) else "box"))
    parts += ['<g class="c">', arrow(194, 110, 334, 124, "curve"), "</g>", text(214, 104, "level 2", kind="small"),
              text(214, 214, "absent: nothing is read", kind="small"),
              line(190, 196, 208, 209)]
    return picture(760, 236, "A summary in fast memory says which one bucket of slow memory to read", parts)


def pages(tool):
    def ask(call):
        run = subprocess.run([tool, *call.split(), "--json"], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    drawn = {
        "walk": draw_walk(), "lookup": draw_lookup(), "overflow": draw_overflow(ask), "loads": draw_loads(ask),
        "filters": draw_filters(), "summary": draw_summary(),
    }
    return {DOCS / "figures" / f"concept-{name}.svg": svg for name, svg in drawn.items()}
