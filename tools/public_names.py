#!/usr/bin/env python3
"""The public names of the library and what the headers say of them; by itself: checks that each has a sentence.

usage: public_names.py [INCLUDE_FOLDER]      INCLUDE_FOLDER defaults to include/oneprobe of the project

Prints header:line and the name for each public name without a sentence; exit code 1 if there is one. Needs doxygen.

Doxygen reads the headers, but those in detail/, and says which names there are and where. What is said of them are the comments
as they stand:

- `///` lines above a declaration, and `//` behind it with its further lines below;
  What begins with REQUIRES is no sentence: first comes what a function does. A letter of the papers is one for a field;
- the essay at the top of a header, about what the header is named for: `standard_filter` in filter/standard.hpp. A line of it
  with a name, two blanks at least and words is a sentence about that name.

A name needs no sentence of its own where

- it is a special member (constructors without a parameter, copies, moves, destructors), or its meaning is the standard library's:
  operators of comparison, and the names in STANDARD below;
- it is an overload of a function above it that has one;
- several declarations stand below one sentence, with no line between: functions or aliases of one type, constants, macros; or a
  struct and then the functions that answer with it. Fields and enumerators have a sentence each, unless
- the sentence of their struct or enum names them;
- it is a field or a function without parameters that is called as its type, as `plan` of a filter_plan, which has a sentence;
- it is a member of a class whose own sentence names a concept, and the concept has it; or of the same name in a public base
  class, where there is a sentence.

A type, concept or alias in detail/ is public where a public declaration names it: structs and enums with their members, classes as
a name to write, unless a public class is derived from them. Names in a namespace `detail` never are.
"""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PROJECT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = PROJECT / "include" / "oneprobe"
DOXYFILE = pathlib.Path(__file__).resolve().with_suffix(".doxyfile")
STANDARD = set(
    """
    begin end size empty swap value_type key_type mapped_type size_type difference_type iterator const_iterator reference
    const_reference pointer iterator_category iterator_concept hasher key_equal
    """.split()
)
MARK = re.compile(r"COMMENT(\d+)")
TYPE_KINDS = ("class", "struct", "union")
SHARING = ("function", "typedef", "variable", "define")  # what may stand below one sentence


@dataclasses.dataclass
class Name:
    kind: str  # class, struct, union, concept, enum, enumerator, function, variable, typedef, define
    scope: str  # of namespaces and classes, without oneprobe::
    name: str
    header: str  # relative to include/oneprobe
    line: int
    own: list  # paragraphs and programs, as the lines of a comment
    parent: "Name | None" = None
    type: str = ""
    parameters: tuple = ()
    bases: tuple = ()
    words: frozenset = frozenset()  # of its types: its own, those of parameters and of template parameters
    members: list = dataclasses.field(default_factory=list)
    why: str = ""  # why there is a sentence, or none is needed; empty: it lacks one
    elsewhere: "Name | None" = None  # whose sentence is about this one, too
    above: bool = False  # its own sentence stands above, not behind it

    @property
    def full(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


# --- headers --------------------------------------------------------------------------------------


def comment_start(line):
    """Where `//` begins that is not within a literal; -1: nowhere."""
    quote, i = "", 0
    while i < len(line):
        letter = line[i]
        if quote:
            if letter == "\\":
                i += 1
            elif letter == quote:
                quote = ""
        elif letter == '"' or (letter == "'" and not (i and line[i - 1].isalnum())):
            quote = letter
        elif line.startswith("//", i):
            return i
        i += 1
    return -1


class Header:
    """A header: its essay, its comments by the line they begin in, and a copy for Doxygen."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.splitlines()
        self.comments = {}
        copy = [re.sub(r"\boneprobe::inline v\d+_\d+\b", "oneprobe", line) for line in self.lines]
        i = 0
        while i < len(copy) and copy[i].startswith("//"):
            i += 1
        self.essay = [line[2:] for line in self.lines[:i]]
        copy[:i] = [""] * i
        concept = False
        while i < len(copy):
            line = copy[i]
            start = comment_start(line)
            code = line[:start].rstrip() if start >= 0 else line.rstrip()
            concept = (concept or re.match(r"\s*concept\b", code) is not None) and not code.endswith(";")
            if start < 0:
                i += 1
                continue
            first = i
            if not code:
                marker = "///" if line.startswith("///", start) else "//"
                words = []
                while i < len(copy) and re.match(r"\s*///" if marker == "///" else r"\s*//(?!/)", copy[i]):
                    words.append(copy[i].strip()[len(marker):])
                    copy[i] = ""
                    i += 1
                if marker == "///":
                    self.comments[first + 1] = words
                    copy[i - 1] = f"/// COMMENT{first + 1}"
                continue
            words = [line[start + 2:]]
            i += 1
            while i < len(copy) and re.match(r" *//(?!/)", copy[i]) and copy[i].index("//") == start:
                words.append(copy[i].strip()[2:])
                copy[i] = ""
                i += 1
            copy[first] = code
            # A sentence behind a declaration; not what is said behind braces, directives and the parts of a concept.
            if not concept and not re.search(r"^\s*[}#]|\{$|^ *(public|private|protected):", code):
                self.comments[first + 1] = words
                copy[first] = f"{code}  ///< COMMENT{first + 1}"
        self.copy = "\n".join(copy) + "\n"

    def code(self, index):
        """A line without its comment."""
        line = self.lines[index]
        start = comment_start(line)
        return line if start < 0 else line[:start].rstrip()

    def extent(self, line):
        """The first and the last line of the declaration that has a name in this line, without its body; and it as it is written."""
        first = line - 1
        while first > 0:
            above = self.code(first - 1).strip()
            if not above or above.startswith("#") or re.search(r"[;{}]$|^(public|private|protected):$", above):
                break
            # One enumerator behind another.
            if re.fullmatch(r"\w+( = [^,()]+)?,", above) and re.match(r"\s*\w+( = .*)?,?$", self.code(first)):
                break
            first -= 1
        last, depth, kept = first, 0, []
        while last < len(self.lines):
            code = self.code(last)
            end = None
            for place, letter in enumerate(code):
                if letter in "([":
                    depth += 1
                elif letter in ")]":
                    depth -= 1
                elif depth == 0 and (
                    letter in ";{" or (letter == ":" and ":" not in (code[place - 1:place], code[place + 1:place + 2]))
                ):
                    end = place
                    break
            kept.append(code[:end])
            if end is not None:
                break
            last += 1
        kept = [code.rstrip() for code in kept if code.strip()]
        indent = min((len(code) - len(code.lstrip()) for code in kept), default=0)
        return first + 1, last + 1, "\n".join(code[indent:] for code in kept)

    def declaration(self, line):
        return self.extent(line)[2]

    def head(self, line):
        """A class or an enum up to its brace, as it is written."""
        first, last = self.extent(line)[0] - 1, line - 1
        while not re.search(r"[{;]", self.code(last)):
            last += 1
        kept = [self.code(i) for i in range(first, last + 1)]
        kept[-1] = re.split(r" ?[{;]", kept[-1])[0]
        indent = min(len(code) - len(code.lstrip()) for code in kept)
        return "\n".join(code[indent:] for code in kept)

    def closing_line(self, line):
        """Where the class that begins in this line ends."""
        depth, last = 0, line - 1
        while last < len(self.lines):
            code = self.code(last)
            depth += code.count("{") - code.count("}")
            if depth == 0 and code.endswith(";"):
                break
            last += 1
        return last + 1

    def definition(self, line):
        """The same with what follows, up to the semicolon: of a concept."""
        first = line - 1
        while first > 0 and self.code(first - 1).strip().startswith(("template", "requires")):
            first -= 1
        last, depth = first, 0
        while last < len(self.lines):
            code = self.code(last)
            depth += code.count("{") - code.count("}")
            if depth == 0 and code.endswith(";"):
                break
            last += 1
        return "\n".join(self.lines[first:last + 1])


def read_headers(root):
    """The headers of a folder include/oneprobe, by their path in it."""
    places = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.hpp"))]
    return {place: Header(place, (root / place).read_text(encoding="utf-8")) for place in places}


def is_public(header):
    return not header.startswith("detail/")


# --- what Doxygen says ----------------------------------------------------------------------------


def doxygen(headers):
    """The compounds of Doxygen's XML of these headers."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path, header in headers.items():
            place = folder / "oneprobe" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(header.copy, encoding="utf-8")
        subprocess.run(["doxygen", DOXYFILE], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for path in sorted((folder / "xml").glob("*.xml")):
            for compound in xml.parse(path).getroot().iter("compounddef"):
                yield compound


def text_of(element):
    return "" if element is None else " ".join("".join(element.itertext()).split())


def is_inside(scope):
    return any(part in ("detail", "std") or part.startswith("@") for part in scope.split("::"))


def words_of_types(element):
    """The words of the types in a declaration, which may be names; of template parameters also what they are by default."""
    texts = [text_of(element.find("type"))] + [text_of(parameter.find("type")) for parameter in element.findall("param")]
    for parameter in element.iterfind("templateparamlist/param"):
        texts += [text_of(parameter.find("type")), text_of(parameter.find("defval"))]
    texts += [text_of(base) for base in element.findall("basecompoundref")]
    return frozenset(word for text in texts for word in re.findall(r"(?<![\w:])(?:oneprobe::)?(\w+)(?!\w|::)", text))


class Reader:
    def __init__(self, headers):
        self.headers = headers
        self.names = []
        self.types = {}  # by full name

    def place(self, element):
        location = element.find("location")
        if location is None:
            return "", 0
        file = location.get("declfile") or location.get("file")
        line = location.get("declline") or location.get("line")
        path = pathlib.PurePosixPath(file)
        parts = path.parts
        return "/".join(parts[len(parts) - 1 - parts[::-1].index("oneprobe") + 1:]), int(line)

    def said(self, element, header, line):
        """The comments of a name, and whether one of them stands above it."""
        marks = []
        for part in ("briefdescription", "detaileddescription"):
            marks += [int(mark) for mark in MARK.findall(text_of(element.find(part)))]
        lines = []
        for mark in dict.fromkeys(marks):
            lines += ([""] if lines else []) + self.headers[header].comments.get(mark, [])
        return lines, any(mark < line for mark in marks)

    def add(self, element, kind, scope, name, parent=None, inside=False, **more):
        header, line = self.place(element)
        if header not in self.headers or not (is_public(header) or parent is not None or inside or more.get("bases") is not None):
            return None
        declaration = self.headers[header].declaration(line) if kind == "function" else ""
        if re.search(rf"[\w>]::{re.escape(name)}\s*\(", declaration):
            return None  # a member, defined below its class
        own, above = self.said(element, header, line)
        found = Name(kind, scope, name, header, line, own, parent, above=above, words=words_of_types(element), **more)
        self.names.append(found)
        if parent is not None:
            parent.members.append(found)
        return found

    def read(self):
        compounds = {compound.get("id"): compound for compound in doxygen(self.headers)}
        # Classes first, outer before inner, so that members find them.
        types = [c for c in compounds.values() if c.get("kind") in TYPE_KINDS]
        inside = {}  # types of detail/, by name
        for compound in sorted(types, key=lambda c: c.findtext("compoundname").count("::")):
            full = compound.findtext("compoundname")
            if is_public(self.place(compound)[0]):
                self.read_type(compound)
            elif full.count("::") == 1 and not is_inside(full):
                inside[full.split("::")[-1]] = compound
        while wanted := {base for made in self.types.values() for base in made.bases} & inside.keys():
            for base in wanted:
                self.read_type(inside.pop(base))
        for compound in compounds.values():
            kind, full = compound.get("kind"), compound.findtext("compoundname")
            if kind == "concept":
                scope, _, name = self.without_oneprobe(full).rpartition("::")
                if not is_inside(scope):
                    self.add(compound, "concept", scope, name)
            elif kind == "namespace" and not is_inside(full):
                if full.split("::")[0] == "oneprobe":
                    self.read_members(compound, self.without_oneprobe(full), None)
            elif kind == "file":
                self.read_macros(compound)
        self.read_inside(compounds, inside)
        self.names.sort(key=lambda name: (name.header, name.line))
        for name in self.names:
            name.members.sort(key=lambda member: member.line)
        return self.names

    def read_inside(self, compounds, types):
        """What public declarations name of detail/."""
        named = set().union(*(name.words for name in self.names)) - {name.name for name in self.names if name.parent is None}
        for word in sorted(named & types.keys()):
            self.read_type(types[word], inside=True)
        for compound in compounds.values():
            full = compound.findtext("compoundname")
            if compound.get("kind") == "concept" and full.removeprefix("oneprobe::") in named:
                self.add(compound, "concept", "", full.removeprefix("oneprobe::"), inside=True)
            elif compound.get("kind") == "namespace" and full == "oneprobe":
                self.read_members(compound, "", None, named)

    @staticmethod
    def without_oneprobe(full):
        return "" if full == "oneprobe" else full.removeprefix("oneprobe::")

    def read_type(self, compound, inside=False):
        full = compound.findtext("compoundname")
        if not full.startswith("oneprobe::") or is_inside(full) or compound.get("prot") != "public" or "<" in full:
            return
        scope, _, name = self.without_oneprobe(full).rpartition("::")
        parent = self.types.get(scope)
        outer = "oneprobe::" + scope
        # Within a class that is not public, or is not ours to tell.
        if scope and parent is None and scope not in ("model", "sim"):
            return
        bases = tuple(re.sub(r"<.*", "", text_of(base)).split("::")[-1] for base in compound.findall("basecompoundref") if base.get("prot") == "public")
        made = self.add(compound, compound.get("kind"), scope, name, parent, inside, bases=bases)
        if made is not None:
            self.types[made.full] = made
            if inside and made.kind == "class":
                return
            self.read_members(compound, made.full, made)

    def read_members(self, compound, scope, parent, named=None):
        """The members of a class or namespace; of detail/ those enums and aliases that are named."""
        for member in compound.iter("memberdef"):
            kind = member.get("kind")
            if member.get("prot") != "public" or kind not in ("function", "variable", "typedef", "enum", "friend"):
                continue
            name = member.findtext("name")
            if kind == "friend":
                if "class" in text_of(member.find("type")) or "struct" in text_of(member.find("type")):
                    continue
                kind = "function"
            if not name or name.startswith("@"):
                continue
            parameters = tuple(text_of(parameter.find("type")) for parameter in member.findall("param"))
            inside = named is not None
            if inside and (kind not in ("enum", "typedef") or name not in named or is_public(self.place(member)[0])):
                continue
            made = self.add(member, kind, scope, name, parent, inside, type=text_of(member.find("type")), parameters=parameters)
            if made is not None and kind == "enum":
                self.read_enumerators(member, made)

    def read_enumerators(self, member, enum):
        header = self.headers[enum.header]
        line = enum.line
        for value in member.findall("enumvalue"):
            name = value.findtext("name")
            # Doxygen does not say where an enumerator stands: in the next line that begins with it.
            while not re.match(rf".*\b{re.escape(name)}\b", header.code(line - 1)) or (line == enum.line and not re.search(rf"\{{.*\b{name}\b", header.code(line - 1))):
                line += 1
            made = Name("enumerator", enum.full, name, enum.header, line, self.said(value, enum.header, line)[0], enum)
            enum.members.append(made)
            self.names.append(made)

    def read_macros(self, compound):
        for member in compound.iter("memberdef"):
            if member.get("kind") == "define" and (member.findtext("name") or "").startswith("ONEPROBE_"):
                self.add(member, "define", "", member.findtext("name"))


# --- what needs no sentence -----------------------------------------------------------------------


def words_of(lines):
    return set(re.findall(r"\w+", "\n".join(lines)))


def is_special(name):
    if name.kind != "function" or name.parent is None:
        return False
    if name.name.startswith("~"):
        return True
    own = name.parent.name
    if name.name in (own, "operator="):
        of_itself = all(re.fullmatch(rf"(const )?{own}(<[^>]*>)? ?&{{0,2}}", parameter) for parameter in name.parameters)
        return of_itself and len(name.parameters) <= 1
    return False


def is_standard(name):
    return name.name in STANDARD or re.fullmatch(r"operator ?(==|!=|<=>|<|<=|>|>=)", name.name) is not None


def named_for(name, headers):
    """The words about a name in the essay of its header, if there are any."""
    if name.parent is not None or name.kind == "define":
        return None
    path = pathlib.PurePosixPath(name.header)
    essay = headers[name.header].essay
    room = path.parent.name.removesuffix("s")
    if name.kind in TYPE_KINDS + ("typedef",) and essay and name.name in (path.stem, f"{path.stem}_{room}", f"{room}_{path.stem}"):
        return "the essay is about it"
    for line in essay:
        if re.match(rf"\s*{name.name}(<[^>]*>)?\s{{2,}}\w", line):
            return "a line of the essay is about it"
    return None


def judge(names, headers):
    """Says of every name why it needs no (further) sentence; leaves `why` empty where it lacks one."""
    types = {name.name: name for name in names if name.kind in TYPE_KINDS + ("enum",)}
    concepts = {name.name: name for name in names if name.kind == "concept"}

    for name in names:
        if name.own and not " ".join(name.own).lstrip().startswith("REQUIRES"):
            name.why = "its own"
        elif is_special(name):
            name.why = "a special member"
        elif is_standard(name):
            name.why = "as in the standard library"
        else:
            name.why = named_for(name, headers) or ""

    overloads = {}
    for name in names:
        if name.why == "its own" and name.kind == "function":
            overloads.setdefault((name.header, name.full), name)
    share_sentences(names, headers)
    for name in names:
        if not name.why and name.kind == "function":
            other = overloads.get((name.header, name.full))
            if other is not None and other.line < name.line:
                name.why, name.elsewhere = "an overload", other
        if not name.why and name.kind in ("enumerator", "variable") and name.parent is not None:
            if name.name in words_of(name.parent.own):
                name.why, name.elsewhere = "its type's sentence names it", name.parent
        if not name.why and name.parent is not None and name.kind in ("function", "variable", "typedef"):
            said = words_of(name.parent.own)
            concept = next((concept for concept in concepts if concept in said and requires(headers, concepts[concept], name)), None)
            named_as = type_of(name, types)
            if concept:
                name.why, name.elsewhere = "a concept says it", concepts[concept]
            elif named_as is not None:
                name.why, name.elsewhere = "its type says it", named_as
            else:
                base = inherited(name, types)
                if base is not None:
                    name.why, name.elsewhere = "the base class says it", base
    return names


def requires(headers, concept, name):
    """Whether a concept, or its comment, has a member of a class."""
    definition = headers[concept.header].definition(concept.line)
    if name.name == name.parent.name:
        return re.search(r"^  [A-Z]\w*\(", definition, re.MULTILINE) is not None
    if name.name == "operator()":
        return re.search(r"\{ \w+\(", definition) is not None
    return name.name in words_of(concept.own + [definition])


def type_of(name, types):
    """The type, if a name is called as it: a field, or a function without parameters."""
    type = re.sub(r"\b(const|constexpr|static|virtual)\b|[&*]| *<.*>", " ", name.type).split()
    if name.parameters or len(type) != 1:
        return None
    type = type[0].split("::")[-1]
    if not (type == name.name or type.endswith("_" + name.name)):
        return None
    found = types.get(type)
    return found if found is not None and found.why else None


def inherited(name, types):
    for base in name.parent.bases:
        found = types.get(base)
        if found is None:
            continue
        for member in found.members:
            if member.name == name.name and member.why:
                return member
        deeper = inherited(dataclasses.replace(name, parent=found), types)
        if deeper is not None:
            return deeper
    return None


def share_sentences(names, headers):
    """Names that stand right below others, with the same sentence."""
    first_of = {}  # the name with the sentence, by the line where a declaration that it may be for ends
    for name in names:
        header = headers[name.header]
        first, last, declaration = (name.line, name.line, "") if name.kind == "define" else header.extent(name.line)
        if name.kind in TYPE_KINDS:
            if name.own:
                first_of[name.header, header.closing_line(name.line)] = name
            continue
        if name.kind not in SHARING:
            continue
        head = first_of.get((name.header, first - 1))
        if name.above and name.why == "its own":
            head = name
        elif head is not None and not goes_with(head, name, declaration):
            head = None
        if head is None:
            continue
        first_of[name.header, last] = head
        if not name.why:
            name.why, name.elsewhere = "a sentence for several", head


def goes_with(head, name, declaration):
    if head.kind in TYPE_KINDS:
        return name.kind == "function" and head.name in words_of([name.type])
    if head.kind != name.kind:
        return False
    if name.kind == "variable":
        return re.search(r"\bconstexpr\b", declaration) is not None
    return name.kind == "define" or head.type == name.type


def read(root=HEADERS):
    """The public names in the headers of a folder, in order, and the headers by their path in it."""
    if shutil.which("doxygen") is None:
        sys.exit("public_names.py: doxygen is missing; it is a Debian package")
    headers = read_headers(root)
    return judge(Reader(headers).read(), headers), headers


def main(arguments):
    if len(arguments) > 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0]) if arguments else HEADERS
    names, _ = read(root)
    if not names:
        sys.exit(f"public_names.py: no public names in {root}")
    lacking = [name for name in names if not name.why]
    for name in lacking:
        print(f"{name.header}:{name.line}: {name.full} has no sentence")
    print(f"{len(names)} public names, {len(lacking)} without a sentence")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
