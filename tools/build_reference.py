#!/usr/bin/env python3
"""Makes the reference: a page for each public header with every name in it and what the header says of it, and a search.

usage: build_reference.py OUTPUT_FOLDER

Needs doxygen. What is public, and what is said of it: tools/public_names.py.
"""

import html
import json
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
import public_names  # noqa: E402
from public_names import PROJECT, TYPE_KINDS  # noqa: E402
from site_look import PAGE, STYLE, relative  # noqa: E402

# The rooms, as ARCHITECTURE.md has them.
ROOMS = (
    ("", "Keys, memory, files, work on resources"), ("filter", "Filters"), ("map", "Tables"), ("one_probe", "Summaries"),
    ("page_store", "Page store"), ("plan", "Planning"), ("model", "Predicting"), ("sim", "Simulating"),
    ("baseline", "For comparison"), ("detail", "Inside"),
)
NOT_PROMISED = {"baseline"}
INSIDE = "Names that public declarations use. The header they stand in is not promised: the public headers include it."
KIND_WORDS = {"typedef": "alias", "define": "macro", "variable": "constant"}

STYLE_OF_REFERENCE = STYLE + """
.entry { margin: 1.25rem 0 } .entry > pre { margin: 0 0 .4rem } .entry > p { margin: .4rem 0 } .entry pre a { text-decoration: none } .entry pre a:hover { text-decoration: underline }
main { max-width: 64rem }
.members { margin-left: 1.5rem } .kind { color: var(--quiet); font-weight: 400; font-size: .75em; margin-left: .5rem }
.wide td:first-child code { background: none; padding: 0; overflow-wrap: normal }
:target { scroll-margin-top: 1rem } .entry:target, tr:target { outline: 2px solid var(--link); outline-offset: 4px }
.search { width: 100%; padding: .4rem .5rem; margin: .75rem 0 0; font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--edge); border-radius: 6px }
.search:focus-visible { outline: 2px solid var(--link) }
.found { max-height: 60vh; overflow-y: auto } .found small { display: block; color: var(--quiet) } .found:not(:empty) + .pages { display: none }
nav li a { overflow-wrap: anywhere }
.lines a { display: inline-block; width: 3.5rem; color: var(--quiet); text-decoration: none; user-select: none } .lines span:target { background: var(--edge) }
"""

SEARCH = """<input class="search" type="search" placeholder="Search all names" aria-label="Search all names" data-root="{root}">
<ul class="found" aria-live="polite"></ul>
"""

SEARCH_SCRIPT = """// The search: all words typed must be in the name; names that begin with them come first.
const box = document.querySelector(".search"), list = document.querySelector(".found"), root = box.dataset.root;
function load() {
  if (document.querySelector("script[data-names]")) return;
  const script = document.createElement("script");
  script.src = root + "names.js";
  script.dataset.names = "";
  script.onload = search;
  document.head.append(script);
}
function rank(name, words) {
  const last = name.slice(name.lastIndexOf("::") + 1).replace(":", "").toLowerCase();
  return (last === words[0] ? 0 : last.startsWith(words[0]) ? 1 : 2) * 1000 + name.length;
}
function search() {
  const words = box.value.toLowerCase().split(/[\\s:]+/).filter(Boolean);
  const names = window.oneprobeNames || [];
  const hits = words.length === 0 ? [] : names.filter(([name]) => words.every(word => name.toLowerCase().includes(word)));
  hits.sort((a, b) => rank(a[0], words.slice(-1)) - rank(b[0], words.slice(-1)));
  list.replaceChildren(...hits.slice(0, 40).map(([name, place, sentence]) => {
    const item = document.createElement("li"), link = document.createElement("a"), words = document.createElement("small");
    link.href = root + place;
    link.textContent = name;
    words.textContent = sentence;
    item.append(link, words);
    return item;
  }));
  if (words.length !== 0 && hits.length === 0 && names.length !== 0) list.innerHTML = "<li>Nothing has such a name.</li>";
}
box.addEventListener("focus", load, {once: true});
box.addEventListener("input", () => { load(); search(); });
"""


def blocks_of(lines):
    """The paragraphs, list items and programs of a comment: pairs of "p", "li" or "pre" and its text."""
    blocks, begin = [], True
    for line in lines:
        line = line[1:] if line.startswith(" ") else line
        if not line.strip():
            begin = True
            if blocks and blocks[-1][0] == "pre":
                blocks[-1][1].append("")
            continue
        inside = blocks[-1][0] if blocks else ""
        if line.startswith("- "):
            blocks.append(("li", [line[2:]]))
        elif inside == "li" and line.startswith("  ") and not begin:
            blocks[-1][1].append(line.strip())
        elif line.startswith("  "):
            if inside == "pre":
                blocks[-1][1].append(line[2:])
            else:
                blocks.append(("pre", [line[2:]]))
        elif begin or inside != "p":
            blocks.append(("p", [line]))
        else:
            blocks[-1][1].append(line)
        begin = False
    return [(kind, "\n".join(text).rstrip() if kind == "pre" else " ".join(text)) for kind, text in blocks]


def first_sentence(lines):
    for kind, text in blocks_of(lines):
        if kind == "p":
            found = re.match(r".*?[.:;](?= [A-Z`]|$)", text)
            return (found[0] if found else text).rstrip(":;")
    return ""


class Reference:
    """The pages, in a folder. `document(path)` is the address of a document of the project from the folder, if it has one."""

    def __init__(self, output, document=lambda path: None):
        self.output = output
        self.document = document
        names, headers = public_names.read()
        self.names = names
        self.headers = headers
        self.pages = sorted({name.header for name in names} | {path for path in headers if public_names.is_public(path)}, key=self.order)
        self.anchors, taken = {}, set()
        for name in self.names:
            anchor = base = name.full.replace("::", ".").replace(" ", "")
            count = 1
            while (name.header, anchor) in taken:
                count += 1
                anchor = f"{base}-{count}"
            taken.add((name.header, anchor))
            self.anchors[id(name)] = anchor
        self.by_full, self.by_name = {}, {}
        for name in self.names:
            self.by_full.setdefault(name.full, name)
            if name.parent is None:
                self.by_name.setdefault(name.name, []).append(name)

    @staticmethod
    def order(path):
        rooms = [room for room, _ in ROOMS]
        room = Reference.room(path)
        return (rooms.index(room) if room in rooms else len(rooms), path)

    @staticmethod
    def room(path):
        """The room of a header: filter of filter/plan.hpp, detail of detail/filter/parts.hpp."""
        parts = pathlib.PurePosixPath(path).parts
        return parts[0] if len(parts) > 1 else ""

    # ---- links ----

    def page(self, header):
        return pathlib.PurePosixPath(header).with_suffix(".html")

    def address(self, name, header):
        """Where a name is, from the page of a header."""
        anchor = "#" + self.anchors[id(name)]
        return anchor if name.header == header else relative(self.page(name.header), self.page(header)) + anchor

    def link(self, name, header, words=None):
        return f'<a href="{html.escape(self.address(name, header))}">{html.escape(words or name.full)}</a>'

    def meant(self, word, at, sure):
        """The name that a word of the text about a name, or of an essay, means; None: it is just a word. Sure is what stands in
        backticks; there, too, a single plain word is a name only if a type has it."""
        plain = re.fullmatch(r"[a-z]+", word) is not None
        if plain and not sure:
            return None
        sure = sure or word.endswith("()")
        word = word.removesuffix("()")
        header, scope = at
        while True:
            found = self.by_full.get(f"{scope}::{word}" if scope else word)
            if found is not None and (sure or found.parent is None) and (not plain or found.kind in TYPE_KINDS + ("enum", "concept")):
                return found
            if not scope:
                break
            scope = scope.rpartition("::")[0]
        known = self.by_name.get(word, [])
        return known[0] if known and not plain and (len(known) == 1 or known[0].header == header) else None

    def linked(self, text, at, sure=False, but=None):
        """Text with links where it names headers, documents and public names, but one."""
        parts, end = [], 0
        for found in re.finditer(r"[\w/-]+\.(?:hpp|md)\b|(?<![\w.>])[A-Za-z_]\w*(?:::\w+)*(?:\(\))?", text):
            word, address = found[0], None
            if word.endswith(".hpp"):
                if word in self.headers and word in self.pages:
                    address = relative(self.page(word), self.page(at[0]))
            elif word.endswith(".md"):
                target = self.document(word)
                address = None if target is None else relative(pathlib.PurePosixPath(target), self.page(at[0]))
            else:
                meant = self.meant(word, at, sure)
                address = None if meant is None or meant is but or but is not None and word == but.name + "()" else self.address(meant, at[0])
            parts.append(html.escape(text[end:found.start()], quote=False))
            parts.append(html.escape(word, quote=False) if address is None else f'<a href="{html.escape(address)}">{html.escape(word)}</a>')
            end = found.end()
        parts.append(html.escape(text[end:], quote=False))
        return "".join(parts)

    def prose(self, text, at):
        parts = re.split(r"`([^`]+)`", text)
        for i, part in enumerate(parts):
            if i % 2:
                parts[i] = f"<code>{self.linked(part, at, sure=True)}</code>"
            else:
                parts[i] = re.sub(r"(?<![\w*])\*(\w[^*\n]*?\w|\w)\*(?![\w*])", r"<em>\1</em>", self.linked(part, at))
        return "".join(parts)

    def text(self, lines, at):
        out, items = [], []
        for kind, text in blocks_of(lines) + [("end", "")]:
            if kind == "li":
                items.append(f"<li>{self.prose(text, at)}</li>")
                continue
            if items:
                out.append("<ul>" + "".join(items) + "</ul>")
                items = []
            if kind == "p":
                out.append(f"<p>{self.prose(text, at)}</p>")
            elif kind == "pre":
                out.append(f'<pre class="program"><code>{self.linked(text, at)}</code></pre>')
        return "\n".join(out)

    # ---- names ----

    def declaration(self, name):
        header = self.headers[name.header]
        if name.kind == "define":
            return header.code(name.line - 1).strip()
        if name.kind == "concept":
            return header.definition(name.line)
        if name.kind == "enumerator":
            found = re.search(rf"\b{name.name}\b(?: = [^,}}]+)?", header.code(name.line - 1))
            return found[0].strip() if found else name.name
        if name.kind in TYPE_KINDS + ("enum",):
            return header.head(name.line)
        return header.declaration(name.line) + ";"

    def said(self, name, inline=False):
        """What is said of a name, as HTML."""
        at = (name.header, name.full if name.members else name.scope)
        if name.own:
            return self.text(name.own, at)
        if name.elsewhere is None:
            if "essay" not in name.why or inline:
                return ""
            line = "line" in name.why
            return f"<p>{self.prose(self.summary(name), at)}.</p>" if line else "<p>The top of this page is about it.</p>"
        other = self.link(name.elsewhere, name.header)
        if name.why == "its type says it":
            return f"<p>{other}: {self.prose(self.summary(name.elsewhere), at)}</p>"
        if name.why == "its type's sentence names it":
            return ""
        return f"<p>As {other} says.</p>"

    def summary(self, name):
        if name.own:
            return first_sentence(name.own)
        if "essay" in name.why:
            essay = self.headers[name.header].essay
            for line in essay:
                found = re.match(rf"\s*{name.name}(?:<[^>]*>)?\s{{2,}}(\w.*)", line)
                if found:
                    return found[1]
            return first_sentence(essay)
        if name.elsewhere is not None:
            return self.summary(name.elsewhere)
        return ""

    def entry(self, leader, followers=()):
        """A name, or several with one sentence: declarations, and what is said."""
        scope = (leader.header, leader.scope)
        all_names = (leader, *followers)
        places = "".join(f'<a id="{html.escape(self.anchors[id(one)])}"></a>' for one in followers)
        code = "\n".join(self.linked(self.declaration(one), scope, but=one) for one in all_names)
        return (
            f'<div class="entry" id="{html.escape(self.anchors[id(leader)])}">{places}<pre class="declaration"><code>{code}</code></pre>\n'
            f"{self.said(leader)}</div>"
        )

    def rows(self, names, columns):
        out = [f'<div class="wide"><table><thead><tr><th>{columns[0]}</th><th>{columns[1]}</th></tr></thead><tbody>']
        for name in names:
            code = self.linked(self.declaration(name).removesuffix(";"), (name.header, name.scope))
            words = re.sub(r"^<p>(.*?)</p>", r"\1", self.said(name, inline=True), count=1, flags=re.DOTALL)
            out.append(f'<tr id="{html.escape(self.anchors[id(name)])}"><td><code>{code}</code></td><td>{words}</td></tr>')
        out.append("</tbody></table></div>")
        return "\n".join(out)

    def entries(self, names):
        """Entries of functions, constants and aliases; those with one sentence together."""
        shared = {}
        for name in names:
            if name.elsewhere is not None and name.elsewhere in names and name.why in ("an overload", "a sentence for several"):
                shared.setdefault(id(name.elsewhere), []).append(name)
        followers = {id(name) for group in shared.values() for name in group}
        quiet = [name for name in names if name.why in ("a special member", "as in the standard library")]
        out = [
            self.entry(name, shared.get(id(name), ()))
            for name in names if id(name) not in followers and name not in quiet
        ]
        if quiet:
            places = "".join(f'<a id="{html.escape(self.anchors[id(one)])}"></a>' for one in quiet)
            code = "\n".join(self.linked(self.declaration(one), (one.header, one.scope)) for one in quiet)
            out.append(f'<div class="entry">{places}<p>As in the standard library:</p><pre class="declaration"><code>{code}</code></pre></div>')
        return "\n".join(out)

    def members(self, owner):
        enumerators = [name for name in owner.members if name.kind == "enumerator"]
        fields = [name for name in owner.members if name.kind == "variable" and "static" not in self.declaration(name).split()]
        enums = [name for name in owner.members if name.kind == "enum"]
        types = [name for name in owner.members if name.kind in TYPE_KINDS]
        others = [name for name in owner.members if name not in enumerators + fields + enums + types]
        out = [self.type_section(one, 3) for one in enums]
        if enumerators:
            out.append(self.rows(enumerators, ("Value", "Says")))
        if fields:
            out.append(self.rows(fields, ("Field", "Says")))
        if others:
            out.append(self.entries(others))
        out += [self.type_section(one, 3) for one in types]
        for base in owner.bases:
            found = next((one for one in self.by_name.get(base, []) if one.kind in TYPE_KINDS), None)
            if found is not None:
                seen, links = {owner.name}, []
                for member in found.members:
                    if member.name not in seen and member.name != found.name and member.why not in ("a special member",):
                        seen.add(member.name)
                        links.append(self.link(member, owner.header, member.name))
                out.append(f"<p>From {self.link(found, owner.header)}: <code>" + "</code>, <code>".join(links) + "</code>.</p>")
        return '<div class="members">' + "\n".join(out) + "</div>" if out else ""

    def type_section(self, name, level):
        kind = KIND_WORDS.get(name.kind, name.kind)
        anchor = html.escape(self.anchors[id(name)])
        heading = (
            f'<h{level} id="{anchor}">{html.escape(name.full)}<span class="kind">{kind}</span>'
            f'<a class="anchor" href="#{anchor}" aria-label="Link to this name">#</a></h{level}>'
        )
        declaration = self.declaration(name)
        code = self.linked(declaration, (name.header, name.scope), but=name)
        # A bare `struct x` is in the heading already.
        shown = f'<pre class="declaration"><code>{code}</code></pre>\n' if len(declaration.split()) > 2 else ""
        return f'{heading}\n<div class="entry">{shown}{self.said(name)}</div>\n{self.members(name)}'

    # ---- pages ----

    def navigation(self, here, header):
        """For the page `here`, with the names of the header if it is the page of one."""
        out, room = ['<div class="pages">'], None
        home = ' aria-current="page"' if here == pathlib.PurePosixPath("index.html") else ""
        out.append(f'<h2>Reference</h2><ul><li><a href="{relative(pathlib.PurePosixPath("index.html"), here)}"{home}>All headers</a></li>')
        up = self.document("docs/README.md")
        if up is not None:
            out.append(f'<li><a href="{relative(pathlib.PurePosixPath(up), here)}">Documentation</a></li>')
        for path in self.pages:
            if self.room(path) != room:
                room = self.room(path)
                out.append(f"</ul><h2>{html.escape(dict(ROOMS).get(room, room))}</h2><ul>")
            current = ' aria-current="page"' if path == header else ""
            out.append(f'<li><a href="{relative(self.page(path), here)}"{current}>{html.escape(path.removeprefix(room + "/"))}</a>')
            if path == header:
                inside = dict.fromkeys(name.full for name in self.names if name.header == path and name.parent is None)
                out.append("<ul>" + "".join(f"<li>{self.link(self.first(path, full), header)}</li>" for full in inside) + "</ul>")
            out.append("</li>")
        out.append("</ul></div>")
        root = relative(pathlib.PurePosixPath("."), here) + "/"
        return SEARCH.format(root="" if root == "./" else root) + "\n".join(out)

    def first(self, header, full):
        return next(name for name in self.names if name.header == header and name.full == full)

    def write(self, page, title, header, body, footer=""):
        place = self.output / page
        place.parent.mkdir(parents=True, exist_ok=True)
        root = relative(pathlib.PurePosixPath("."), page)
        script = f'<script src="{root}/search.js"></script>'
        place.write_text(PAGE.format(
            title=html.escape(title), style=f"{root}/reference.css", part="reference", navigation=self.navigation(page, header),
            body=body + script, footer=footer,
        ), encoding="utf-8")

    def write_header(self, path):
        header, page = self.headers[path], self.page(path)
        source = f"{relative(pathlib.PurePosixPath('.'), page)}/source/{path}.html"
        top = [name for name in self.names if name.header == path and name.parent is None]
        types = [name for name in top if name.kind in TYPE_KINDS + ("enum", "concept")]
        out = [f"<h1>{html.escape(path)}</h1>"]
        if public_names.is_public(path):
            out.append(f'<pre class="include"><code>#include "oneprobe/{html.escape(path)}"</code></pre>')
            if self.room(path) in NOT_PROMISED:
                out.append("<p>There to compare with: not part of the interface that versions promise.</p>")
        else:
            out.append(f"<p>{INSIDE}</p>")
        main = next((name for name in types if "essay" in name.why), None)
        out.append(self.text(header.essay, (path, main.full if main else self.namespace(path))))
        for name in types:
            out.append(self.type_section(name, 2))
        for kind, title in (("typedef", "Aliases"), ("function", "Functions"), ("variable", "Constants"), ("define", "Macros")):
            some = [name for name in top if name.kind == kind]
            if some:
                out.append(f'<h2 id="{title.lower()}">{title}</h2>\n' + self.entries(some))
        footer = f'<a href="{html.escape(source)}">The header itself</a>'
        self.write(page, path, path, "\n".join(out), footer)

    def namespace(self, path):
        return next((name.scope for name in self.names if name.header == path and name.parent is None), "")

    def write_source(self, path):
        page = pathlib.PurePosixPath("source") / f"{path}.html"
        lines = "\n".join(
            f'<span id="L{i}"><a href="#L{i}">{i}</a>{html.escape(line)}</span>' for i, line in enumerate(self.headers[path].lines, 1)
        )
        self.write(page, path, None, f'<h1>{html.escape(path)}</h1>\n<pre class="lines"><code>{lines}</code></pre>')

    def write_index(self):
        out = [
            "<h1>Reference</h1>",
            "<p>Every public name and what its header says of it, by header. All of them are in the namespace <code>oneprobe</code>; "
            'what is in its namespace <code>detail</code> is not listed and not promised. <code>#include "oneprobe/oneprobe.hpp"</code> has all products.</p>',
        ]
        for room, title in ROOMS:
            paths = [path for path in self.pages if self.room(path) == room]
            out.append(f'<h2 id="{room or "base"}">{html.escape(title)}</h2>')
            if room in NOT_PROMISED:
                out.append("<p>There to compare with: not part of the interface that versions promise.</p>")
            if room == "detail":
                out.append(f"<p>{INSIDE}</p>")
            out.append('<div class="wide"><table><thead><tr><th>Header</th><th>Names</th></tr></thead><tbody>')
            for path in paths:
                words = self.prose(first_sentence(self.headers[path].essay), ("index.hpp", self.namespace(path)))
                names = dict.fromkeys(name.full for name in self.names if name.header == path and name.parent is None)
                links = ", ".join(f'<code>{self.link(self.first(path, full), "index.hpp")}</code>' for full in names)
                out.append(f'<tr><td><a href="{self.page(path)}">{html.escape(path)}</a></td><td>{words}<br>{links}</td></tr>')
            out.append("</tbody></table></div>")
        self.write(pathlib.PurePosixPath("index.html"), "Reference", None, "\n".join(out))

    def build(self):
        for path in self.pages:
            self.write_header(path)
            self.write_source(path)
        self.write_index()
        first_of = {}
        for name in self.names:
            first_of.setdefault((name.header, name.full), name)
        found = [
            [name.full, f"{self.page(name.header)}#{self.anchors[id(name)]}", re.sub(r"[`*]", "", self.summary(name))]
            for name in first_of.values()
        ]
        (self.output / "names.js").write_text(f"window.oneprobeNames = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n", encoding="utf-8")
        (self.output / "search.js").write_text(SEARCH_SCRIPT, encoding="utf-8")
        (self.output / "reference.css").write_text(STYLE_OF_REFERENCE, encoding="utf-8")


def prepared(output):
    """An empty folder; what is there is taken away if it is a reference."""
    if output.exists():
        if any(output.iterdir()) and not (output / "names.js").is_file():
            sys.exit(f"build_reference.py: {output} is not empty and no reference of ours")
        shutil.rmtree(output)
    output.mkdir(parents=True)
    return output


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    Reference(prepared(pathlib.Path(arguments[0]).resolve())).build()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
