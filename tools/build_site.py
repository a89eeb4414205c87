#!/usr/bin/env python3
"""Makes a website of the documents: every Markdown file as a page, with navigation, in light and dark.

usage: build_site.py OUTPUT_FOLDER

Needs cmark-gfm, and doxygen for the reference, which is where a link to include/oneprobe leads. The navigation is what
docs/README.md lists. Sources that a document links to become pages, too. Fails if a link of the finished site leads nowhere.
"""

import html
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
from build_reference import Reference  # noqa: E402
from check_links import documents, slug  # noqa: E402
from site_look import PAGE, STYLE, relative  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parent.parent
INDEX = PROJECT / "docs" / "README.md"
HEADERS = PROJECT / "include" / "oneprobe"
REFERENCE = pathlib.PurePosixPath("reference")  # in the site
PICTURES = {".svg", ".png"}
HREF = re.compile(r'(href|src)="([^"]+)"')


def page_of(source):
    """Where a document or source stands in the site, relative to its root."""
    if source == HEADERS:
        return pathlib.Path(REFERENCE / "index.html")
    place = source.relative_to(PROJECT)
    if place.name == "README.md":
        return place.with_name("index.html")
    return place.with_suffix(".html") if place.suffix == ".md" else place.with_name(place.name + ".html")


def rendered(text):
    run = subprocess.run(
        ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink"], input=text,
        capture_output=True, text=True, check=True,
    )
    return run.stdout


def with_anchors(body):
    seen = {}

    def heading(found):
        name = slug(html.unescape(re.sub(r"<[^>]+>", "", found[2])))
        count = seen[name] = seen.get(name, -1) + 1
        name = name if count == 0 else f"{name}-{count}"
        return f'<h{found[1]} id="{name}">{found[2]}<a class="anchor" href="#{name}" aria-label="Link to this section">#</a></h{found[1]}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.DOTALL)


def sections():
    """The navigation: pairs of a title and the documents under it, as docs/README.md lists them."""
    found = []
    for part in re.split(r"^## ", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        rows = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", rest, re.MULTILINE)
        found.append((title, [(name, (INDEX.parent / link).resolve()) for name, link in rows]))
    return found


def navigation(source, body, menu):
    page = page_of(source)
    lines = []
    for title, entries in menu:
        lines.append(f"<h2>{html.escape(title)}</h2><ul>")
        for name, target in entries:
            here = ' aria-current="page"' if target == source else ""
            lines.append(f'<li><a href="{relative(page_of(target), page)}"{here}>{html.escape(name)}</a>')
            if target == source:
                inside = re.findall(r'<h2 id="([^"]+)">(.*?)<a class="anchor"', body, re.DOTALL)
                lines.append("<ul>" + "".join(f'<li><a href="#{i}">{re.sub("<[^>]+>", "", words)}</a></li>' for i, words in inside) + "</ul>")
            lines.append("</li>")
        lines.append("</ul>")
    return "\n".join(lines)


def neighbours(source, menu):
    order = [entry for _, entries in menu for entry in entries]
    place = next((i for i, (_, target) in enumerate(order) if target == source), None)
    page = page_of(source)
    if place is None:
        return f'<a href="{relative(page_of(INDEX), page)}">All pages</a>'
    links = []
    for i, words in ((place - 1, "← {}"), (place + 1, "{} →")):
        if 0 <= i < len(order):
            name, target = order[i]
            links.append(f'<a href="{relative(page_of(target), page)}">{words.format(html.escape(name))}</a>')
    return "".join(links)


class Site:
    def __init__(self, output):
        self.output = output
        self.menu = sections()
        self.sources = set()  # what is not Markdown and linked to

    def link(self, source, link):
        """A link of a document as the site has it."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, _, anchor = urllib.parse.unquote(html.unescape(link)).partition("#")
        target = (source.parent / path).resolve()
        if target.is_dir() and target != HEADERS:
            target = target / "README.md"
        if target.suffix in PICTURES:
            place = self.output / target.relative_to(PROJECT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, place)
            return relative(target.relative_to(PROJECT), page_of(source))
        if target.suffix != ".md" and target != HEADERS:
            self.sources.add(target)
        return relative(page_of(target), page_of(source)) + (f"#{anchor}" if anchor else "")

    def write(self, source, title, body):
        page = page_of(source)
        place = self.output / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(PAGE.format(
            title=html.escape(title), part="documentation", style=relative(pathlib.Path("site.css"), page),
            navigation=navigation(source, body, self.menu), body=body, footer=neighbours(source, self.menu),
        ), encoding="utf-8")

    def write_document(self, source):
        text = source.read_text(encoding="utf-8")
        body = with_anchors(rendered(text))
        body = re.sub(r"<table>.*?</table>", lambda found: f'<div class="wide">{found[0]}</div>', body, flags=re.DOTALL)
        body = HREF.sub(lambda found: f'{found[1]}="{self.link(source, found[2])}"', body)
        self.write(source, re.search(r"^# (.+)$", text, re.MULTILINE)[1], body)

    @staticmethod
    def from_reference(document):
        return relative(page_of(document), REFERENCE / "index.html") if document.is_file() else None

    def build(self):
        if self.output.exists():
            if any(self.output.iterdir()) and not (self.output / "site.css").is_file():
                sys.exit(f"build_site.py: {self.output} is not empty and no site of ours")
            shutil.rmtree(self.output)
        self.output.mkdir(parents=True)
        (self.output / "site.css").write_text(STYLE, encoding="utf-8")
        for source in documents(PROJECT):
            self.write_document(source)
        Reference(self.output / REFERENCE, lambda document: self.from_reference(PROJECT / document)).build()
        for source in sorted(self.sources):
            place = source.relative_to(PROJECT)
            code = html.escape(source.read_text(encoding="utf-8"))
            self.write(source, str(place), f"<h1>{place}</h1>\n<pre><code>{code}</code></pre>")


def broken_links(output):
    """Links of the finished pages that lead nowhere."""
    pages = {page: page.read_text(encoding="utf-8") for page in output.rglob("*.html")}
    ids = {page: set(re.findall(r'id="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in sorted(pages.items()):
        for _, link in HREF.findall(re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.is_file() or (anchor and anchor not in ids.get(target, ())):
                yield f"{page.relative_to(output)}: {link}"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    for program in ("cmark-gfm", "doxygen"):
        if shutil.which(program) is None:
            sys.exit(f"build_site.py: {program} is missing; it is a Debian package")
    output = pathlib.Path(arguments[0]).resolve()
    Site(output).build()
    broken = list(broken_links(output))
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
