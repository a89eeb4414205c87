#!/usr/bin/env python3
"""Makes a website of the documents: every Markdown file as a page, with navigation, in light and dark.

usage: build_site.py OUTPUT_FOLDER

Needs cmark-gfm. The navigation is what docs/README.md lists. Sources that a document links to become pages, too. Fails if
a link of the finished site leads nowhere.
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
from check_links import documents, slug  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parent.parent
INDEX = PROJECT / "docs" / "README.md"
PICTURES = {".svg", ".png"}
HREF = re.compile(r'(href|src)="([^"]+)"')

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Oneprobe</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<nav aria-label="Pages">
<details><summary><b>Oneprobe</b> documentation</summary>
{navigation}
</details>
</nav>
<main id="content">
{body}
<footer>{footer}</footer>
</main>
<script>
// Wide screens show the navigation; narrow ones fold it.
if (matchMedia("(min-width: 60rem)").matches) document.querySelector("nav details").open = true;
</script>
</body>
</html>
"""

STYLE = """:root { color-scheme: light dark; --ground: #fff; --ink: #1f2328; --quiet: #59636e; --edge: #d1d9e0; --shade: #f6f8fa; --link: #0969da }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --ink: #e6edf3; --quiet: #9198a1; --edge: #3d444d; --shade: #161b22; --link: #58a6ff }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
a { color: var(--link) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem }
nav { border-bottom: 1px solid var(--edge); background: var(--shade); padding: .75rem 1rem; font-size: .9rem }
nav summary { cursor: pointer }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .05em; color: var(--quiet); margin: 1.2rem 0 .3rem; border: 0; padding: 0 }
nav ul { list-style: none; margin: 0; padding: 0 } nav ul ul { padding-left: 1rem; border-left: 1px solid var(--edge) }
nav li a { display: block; padding: .2rem 0; text-decoration: none } nav li a:hover { text-decoration: underline }
nav a[aria-current] { font-weight: 600; color: var(--ink) }
main { padding: 1rem; max-width: 58rem; min-width: 0 }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem } h1 { margin-top: .5rem }
h2 { border-bottom: 1px solid var(--edge); padding-bottom: .3rem }
h1 .anchor, h2 .anchor, h3 .anchor, h4 .anchor { color: var(--quiet); text-decoration: none; margin-left: .4rem; opacity: 0; font-weight: 400 }
h1:hover .anchor, h2:hover .anchor, h3:hover .anchor, h4:hover .anchor, .anchor:focus { opacity: 1 }
code, pre { font: .875em/1.45 ui-monospace, monospace }
code { background: var(--shade); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere }
pre { background: var(--shade); border: 1px solid var(--edge); border-radius: 6px; padding: .75rem; overflow-x: auto }
pre code { background: none; padding: 0; overflow-wrap: normal; font-size: 1em }
.wide { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: .9rem } th, td { border: 1px solid var(--edge); padding: .35rem .6rem; text-align: left; vertical-align: top }
thead:not(:has(th:not(:empty))) { display: none }
[align=right] { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; height: auto }
@media (max-width: 40rem) { p:has(> img) { overflow-x: auto } img { max-width: none; width: 42rem } }
footer { margin-top: 3rem; border-top: 1px solid var(--edge); padding-top: 1rem; display: flex; gap: 1rem; justify-content: space-between; flex-wrap: wrap }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
  nav { border-bottom: 0; border-right: 1px solid var(--edge); position: sticky; top: 0; height: 100vh; overflow-y: auto }
  main { padding: 1.5rem 3rem }
}
"""


def page_of(source):
    """Where a document or source stands in the site, relative to its root."""
    place = source.relative_to(PROJECT)
    if place.name == "README.md":
        return place.with_name("index.html")
    return place.with_suffix(".html") if place.suffix == ".md" else place.with_name(place.name + ".html")


def relative(target, page):
    return os.path.relpath(target, page.parent).replace(os.sep, "/")


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
        if target.is_dir():
            target = target / "README.md"
        if target.suffix in PICTURES:
            place = self.output / target.relative_to(PROJECT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, place)
            return relative(target.relative_to(PROJECT), page_of(source))
        if target.suffix != ".md":
            self.sources.add(target)
        return relative(page_of(target), page_of(source)) + (f"#{anchor}" if anchor else "")

    def write(self, source, title, body):
        page = page_of(source)
        place = self.output / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(PAGE.format(
            title=html.escape(title), style=relative(pathlib.Path("site.css"), page),
            navigation=navigation(source, body, self.menu), body=body, footer=neighbours(source, self.menu),
        ), encoding="utf-8")

    def write_document(self, source):
        text = source.read_text(encoding="utf-8")
        body = with_anchors(rendered(text))
        body = re.sub(r"<table>.*?</table>", lambda found: f'<div class="wide">{found[0]}</div>', body, flags=re.DOTALL)
        body = HREF.sub(lambda found: f'{found[1]}="{self.link(source, found[2])}"', body)
        self.write(source, re.search(r"^# (.+)$", text, re.MULTILINE)[1], body)

    def build(self):
        if self.output.exists():
            if any(self.output.iterdir()) and not (self.output / "site.css").is_file():
                sys.exit(f"build_site.py: {self.output} is not empty and no site of ours")
            shutil.rmtree(self.output)
        self.output.mkdir(parents=True)
        (self.output / "site.css").write_text(STYLE, encoding="utf-8")
        for source in documents(PROJECT):
            self.write_document(source)
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
    if shutil.which("cmark-gfm") is None:
        sys.exit("build_site.py: cmark-gfm is missing; it is a Debian package")
    output = pathlib.Path(arguments[0]).resolve()
    Site(output).build()
    broken = list(broken_links(output))
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
