"""What a chart shows, read back from its SVG by its own axes: nothing here knows how it is styled.

    picture = Picture(path)
    picture.faults(series_of(csv_path))      # [] if every number is where the axes say
"""

import csv
import itertools
import math
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
PIXEL = 1.0  # one unit of the drawing
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
LETTER = 0.5  # width of a letter as a share of its size: less than most fonts have


def series_of(path):
    """(kind, [(x, y, error)]) of each series beside a chart; a number that cannot be shown is None."""
    found = []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not found or found[-1][:2] != (row["series"], row["kind"]):
                found.append((row["series"], row["kind"], []))
            found[-1][2].append(tuple(float(row[name]) if row[name] else None for name in ("x", "y", "standard_error")))
    return found


def value_of(label):
    """The number that a label of an axis says."""
    text = re.sub(r"(?<=\d)[,\s   ](?=\d)", "", label.strip().replace("−", "-"))
    power = re.fullmatch(r"(-?)(?:([\d.]+)×)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", text)
    if power:
        return (-1 if power[1] else 1) * float(power[2] or 1) * 10.0 ** int(power[3].translate(SUPERSCRIPTS))
    try:
        return float(text)
    except ValueError:
        return None


def walks_of(path):
    """The corners of each piece of a path of straight lines."""
    pieces, x, y = [], 0.0, 0.0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(each) for each in NUMBER.findall(rest)]
        kind, relative = command.upper(), command.islower()
        if kind == "Z":
            pieces[-1].append(pieces[-1][0])
            x, y = pieces[-1][0]
            continue
        if kind not in "MLHV":
            raise ValueError(f"a path with {command}")
        for at in range(0, len(numbers), 2 if kind in "ML" else 1):
            if kind in "ML":
                x, y = numbers[at] + relative * x, numbers[at + 1] + relative * y
            elif kind == "H":
                x = numbers[at] + relative * x
            else:
                y = numbers[at] + relative * y
            if kind == "M" and at == 0:
                pieces.append([])
            pieces[-1].append((x, y))
    return pieces


class Box:
    def __init__(self, corners):
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        self.left, self.right, self.top, self.bottom = min(xs), max(xs), min(ys), max(ys)
        self.centre = (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def holds(self, x, y, spare=2 * PIXEL):
        return self.left - spare <= x <= self.right + spare and self.top - spare <= y <= self.bottom + spare


class Text:
    def __init__(self, element, size):
        self.says = "".join(element.itertext())
        self.x, self.y = float(element.get("x")), float(element.get("y"))
        length = len(self.says) * LETTER * size
        left = self.x - {"middle": length / 2, "end": length}.get(element.get("text-anchor"), 0)
        self.box = Box([(left, self.y - 0.7 * size), (left + length, self.y)])


class Scale:
    """From values to places, through the labels of an axis."""

    def __init__(self, labels, form):
        self.form = form
        values = [form(value) for value, _ in labels]
        places = [place for _, place in labels]
        (self.first, self.first_place), (last, last_place) = min(zip(values, places)), max(zip(values, places))
        self.slope = (last_place - self.first_place) / (last - self.first)
        self.fits = all(abs(self.place(value) - place) < PIXEL / 2 for value, place in labels)

    def place(self, value):
        """None for what the axis does not have."""
        if value is None or (self.form is math.log10 and value <= 0):
            return None
        return self.first_place + (self.form(value) - self.first) * self.slope


def scales_of(labels):
    """One, or two if the labels are too few to tell a linear axis from a logarithmic one."""
    found = []
    for form in (float, math.log10):
        if len(labels) >= 2 and (form is float or min(labels)[0] > 0):
            scale = Scale(labels, form)
            if scale.fits:
                found.append(scale)
    return found


class Picture:
    def __init__(self, path):
        root = xml.parse(path).getroot()
        left, top, width, height = map(float, root.get("viewBox").split())
        self.title = root.find(SVG + "title").text
        self.page = Box([(left, top), (left + width, top + height)])
        self.walks, self.strokes, self.marks, self.bars, self.texts, self.lines = [], [], [], [], [], []
        sizes = self.sizes_of("".join(each.text or "" for each in root.iter(SVG + "style")))
        self.read(root, sizes)
        flat = [line for line in self.lines if line[0][1] == line[1][1]]
        upright = [line for line in self.lines if line[0][0] == line[1][0]]
        self.frame = Box([corner for line in flat + upright for corner in line])
        self.across = scales_of(self.labels(upright, 0))
        self.upward = scales_of(self.labels(flat, 1))
        self.marks = [mark for mark in self.marks if self.frame.holds(*mark.centre)]
        self.bars = [bar for bar in self.bars if self.frame.holds(bar.left, bar.top) and self.frame.holds(bar.right, bar.bottom)]

    @staticmethod
    def sizes_of(style):
        """Sizes of letters by class; "" is that of all others."""
        sizes = {found[1]: float(found[2]) for found in re.finditer(r"\.(\w+)\{[^}]*font-size:([\d.]+)px", style)}
        return {"": float(re.search(r"font:([\d.]+)px", style)[1]), **sizes}

    def read(self, element, sizes):
        for each in element:
            name = each.tag.removeprefix(SVG)
            number = lambda key: float(each.get(key, 0))
            if name == "g":
                self.read(each, sizes)
            elif name == "line":
                self.lines.append(((number("x1"), number("y1")), (number("x2"), number("y2"))))
            elif name == "path":
                pieces = walks_of(each.get("d"))
                self.walks += pieces
                self.strokes.append(Box([corner for piece in pieces for corner in piece]))
            elif name == "polyline":
                numbers = [float(found) for found in NUMBER.findall(each.get("points"))]
                self.walks.append(list(zip(numbers[::2], numbers[1::2])))
            elif name == "polygon":
                numbers = [float(found) for found in NUMBER.findall(each.get("points"))]
                self.marks.append(Box(list(zip(numbers[::2], numbers[1::2]))))
            elif name == "circle":
                self.marks.append(Box([(number("cx") - number("r"), number("cy") - number("r")),
                                       (number("cx") + number("r"), number("cy") + number("r"))]))
            elif name == "rect":
                self.bars.append(Box([(number("x"), number("y")), (number("x") + number("width"), number("y") + number("height"))]))
            elif name == "text" and each.get("x"):
                self.texts.append(Text(each, sizes.get(each.get("class"), sizes[""])))

    def labels(self, lines, axis):
        """(value, place) of each line that has a label at its end: below it, or on its left."""
        found = set()
        for line in lines:
            for text in self.texts:
                beside = abs((text.x, text.box.centre[1])[axis] - line[0][axis]) < 2 * PIXEL
                end = (max(line[0][1], line[1][1]), min(line[0][0], line[1][0]))[axis]
                away = (text.y - end, end - text.x)[axis]
                if beside and 0 < away < 30 and (value := value_of(text.says)) is not None:
                    found.add((value, line[0][axis]))
        return sorted(found)

    def faults(self, series):
        """What is not where its numbers are, or nothing; of two ways to read the axes the better one."""
        if not self.across or not self.upward:
            return ["the axes are not labelled evenly"]
        return min((list(self.faults_by(series, *scales)) for scales in itertools.product(self.across, self.upward)), key=len)

    def faults_by(self, series, across, upward):
        bars = sorted({across.place(x) for _, kind, points in series if kind == "bars" for x, _, _ in points})
        room = min((b - a for a, b in zip(bars, bars[1:])), default=0 if not bars else self.frame.right - self.frame.left)
        shapes = {"marks": self.marks, "bars": self.bars}
        choices = {"marks": [], "bars": []}  # for each number, the shapes that may stand for it
        for name, kind, points in series:
            places = [(across.place(x), upward.place(y)) for x, y, _ in points]
            if kind in ("line", "steps"):
                for piece in pieces_of(places, kind):
                    if not any(is_near(piece, walk) for walk in self.walks):
                        yield f"{name!r}: no curve through {piece[0]} and {len(piece) - 1} more corners"
                continue
            for (x, y), (_, value, error) in zip(places, points):
                if x is None or y is None:
                    continue
                foot = upward.place(0) if upward.form is float else self.frame.bottom
                choices[kind].append([
                    i for i, (middle, head, stands) in enumerate(map(self.ends(kind, y, foot), shapes[kind]))
                    if stands and abs(middle - x) <= max(PIXEL, room / 2) and abs(head - y) <= PIXEL])
                if not choices[kind][-1]:
                    yield f"{name!r}: none of the {kind} is at {x:.1f}, {y:.1f}"
                if error and (upper := upward.place(value + error)) is not None:
                    lower = upward.place(value - error)
                    lower = self.frame.bottom if lower is None else lower
                    if not any(abs(stroke.centre[0] - x) <= max(PIXEL, room / 2) and abs(stroke.top - upper) <= PIXEL
                               and abs(stroke.bottom - lower) <= PIXEL for stroke in self.strokes):
                        yield f"{name!r}: no error bar at {x:.1f} from {upper:.1f} to {lower:.1f}"
        for kind, all_choices in choices.items():
            pairs = pairs_of(all_choices)
            if not len(pairs) == len(all_choices) == len(shapes[kind]):
                yield f"{len(pairs)} pairs of {len(all_choices)} numbers and {len(shapes[kind])} {kind}"
        for a, b in itertools.combinations(self.bars, 2):
            if min(a.right, b.right) - max(a.left, b.left) > PIXEL:
                yield f"bars at {a.left} and {b.left} overlap"

    @staticmethod
    def ends(kind, y, foot):
        """Of a shape: where it is across and upward, and whether it stands where it has to."""
        if kind == "marks":
            return lambda mark: (*mark.centre, True)
        if y <= foot:
            return lambda bar: (bar.centre[0], bar.top, abs(bar.bottom - foot) <= PIXEL)
        return lambda bar: (bar.centre[0], bar.bottom, abs(bar.top - foot) <= PIXEL)

    def text_faults(self):
        """Texts that leave the drawing, and texts on each other."""
        for text in self.texts:
            if not self.page.holds(text.box.left, text.box.top) or not self.page.holds(text.box.right, text.box.bottom):
                yield f"{text.says!r} is not inside"
        for a, b in itertools.combinations(self.texts, 2):
            across = min(a.box.right, b.box.right) - max(a.box.left, b.box.left)
            down = min(a.box.bottom, b.box.bottom) - max(a.box.top, b.box.top)
            if across > PIXEL and down > PIXEL:
                yield f"{a.says!r} and {b.says!r} overlap"


def pieces_of(places, kind):
    """The corners that a curve has, broken where a number cannot be shown."""
    pieces, broken = [], True
    for x, y in places:
        if x is None or y is None:
            broken = True
            continue
        if broken:
            pieces.append([])
        elif kind == "steps":
            pieces[-1].append((x, pieces[-1][-1][1]))
        pieces[-1].append((x, y))
        broken = False
    return pieces


def pairs_of(choices):
    """As many pairs as there can be of a number and a shape that it may have: by augmenting paths."""
    owner = {}

    def give(number, seen):
        for shape in choices[number]:
            if shape not in seen:
                seen.add(shape)
                if shape not in owner or give(owner[shape], seen):
                    owner[shape] = number
                    return True
        return False

    for number in range(len(choices)):
        give(number, set())
    return owner


def is_near(piece, walk):
    return len(piece) == len(walk) and all(math.dist(a, b) <= PIXEL for a, b in zip(piece, walk))
