"""What the scripts that draw share: SVG on a white ground of its own, and charts with axes.

Colours are written where they are used, without variables: pictures are also shown by what is no browser.
"""

import math

COLOURS = {"a": "#0969da", "b": "#bf5b04", "c": "#1a7f37", "d": "#cf222e", "e": "#8250df", "f": "#57606a"}


def coloured(name, colour):
    return (
        f".{name} .mark {{ fill: {colour}; stroke: none }}\n"
        f".{name} .curve {{ stroke: {colour}; fill: none; stroke-width: 2 }}\n"
        f".{name} .tint {{ fill: {colour}; fill-opacity: 0.18; stroke: {colour} }}\n"
    )


STYLE = """<style>
.ground { fill: #ffffff }
text { fill: #24292f; font-family: sans-serif; font-size: 13px }
.small { font-size: 11px }
.quiet { fill: #57606a }
.rule { stroke: #d8dee4 }
.line { stroke: #57606a; fill: none; stroke-width: 1.4 }
.box { stroke: #57606a; fill: #f6f8fa }
.dashed { stroke-dasharray: 6 4 }
""" + "".join(coloured(*entry) for entry in COLOURS.items()) + "</style>"


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def text(x, y, words, anchor="start", kind=""):
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{kind}>{words}</text>'


def line(x1, y1, x2, y2, kind="line"):
    return f'<line class="{kind}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"/>'


def box(x, y, width, height, kind="box", round_by=3):
    return (
        f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
        f'rx="{round_by}"/>'
    )


def arrow(x1, y1, x2, y2, kind="line"):
    """A line with a head at its end."""
    angle = math.atan2(y2 - y1, x2 - x1)
    head = " ".join(
        f"{number(x2 - 9 * math.cos(angle + turn))},{number(y2 - 9 * math.sin(angle + turn))}" for turn in (-0.4, 0.4)
    )
    return line(x1, y1, x2, y2, kind) + f'<polyline class="{kind}" points="{head.replace(" ", f" {number(x2)},{number(y2)} ")}"/>'


def swatch(x, y, words, colour, kind="mark"):
    """An entry of a legend: a colour and what it means."""
    return [f'<g class="{colour}">', box(x, y - 10, 12, 12, kind, 2), "</g>", text(x + 20, y, words, kind="small")]


def picture(width, height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{title}</title>", STYLE, f'<rect class="ground" width="{width}" height="{height}"/>', *parts, "</svg>", "",
    ])


class Axis:
    """From values to places; `ticks` are pairs of a value and what is written there."""

    def __init__(self, least, most, begin, end, ticks, logarithmic=False):
        self.least, self.most, self.begin, self.end, self.ticks = least, most, begin, end, ticks
        self.scale = math.log10 if logarithmic else float

    def __call__(self, value):
        share = (self.scale(value) - self.scale(self.least)) / (self.scale(self.most) - self.scale(self.least))
        return self.begin + share * (self.end - self.begin)

    def holds(self, value):
        return self.least <= value <= self.most


def frame(across, up, x_title, y_title):
    parts = [text(across.begin, up.end - 14, y_title, kind="quiet")]
    for value, label in up.ticks:
        parts += [line(across.begin, up(value), across.end, up(value), "rule"), text(across.begin - 8, up(value) + 4, label, "end", "small")]
    for value, label in across.ticks:
        parts += [line(across(value), up.begin, across(value), up.end, "rule"), text(across(value), up.begin + 17, label, "middle", "small")]
    parts.append(text((across.begin + across.end) / 2, up.begin + 38, x_title, "middle", "quiet"))
    return parts


def curve(points, colour, across, up, dashes=False, marks=False):
    inside = [(across(x), up(y)) for x, y in points if across.holds(x) and up.holds(y)]
    for (x1, y1), (x2, y2) in zip(points, points[1:]):  # where it comes up from below the chart
        if 0 < y1 < up.least <= y2 and across.holds(x1):
            share = (up.begin - up(y1)) / (up(y2) - up(y1))
            inside.insert(0, (across(x1) + share * (across(x2) - across(x1)), up.begin))
    path = " ".join(f"{number(x)},{number(y)}" for x, y in inside)
    kind = "curve dashed" if dashes else "curve"
    drawn = [f'<g class="{colour}"><polyline class="{kind}" points="{path}"/>']
    if marks:
        drawn += [f'<circle class="mark" cx="{number(x)}" cy="{number(y)}" r="3"/>' for x, y in inside]
    return "".join(drawn) + "</g>"


def legend(x, y, entries):
    """Pairs of a name and a colour, and perhaps "dashed"."""
    parts = []
    for i, (name, colour, *dashed) in enumerate(entries):
        at = y + 20 * i
        kind = "curve dashed" if dashed else "curve"
        parts += [f'<g class="{colour}">', line(x, at, x + 24, at, kind), "</g>", text(x + 32, at + 4, name, kind="small")]
    return parts
