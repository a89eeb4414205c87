#!/usr/bin/env python3
"""Every link inside the documents leads somewhere: the file exists, and so does the heading behind a #.

usage: check_links.py [PROJECT]

Looks at all Markdown files, at links and at pictures; addresses on the network are not visited. A page in docs/ must be
reachable from docs/README.md. Prints what is broken; exit code 1 if something is.
"""

import pathlib
import re
import sys
import urllib.parse

INLINE = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^\s)>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
ATTRIBUTE = re.compile(r"\b(?:href|src|srcset)=\"([^\"]+)\"")
DEFINITION = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
FOLDERS = ("docs", "examples", "integrations", "tests")


def without_code(text):
    """The text without code blocks and code spans, in which brackets are no links."""
    text = re.sub(r"^(```+|~~~+).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "``", text, flags=re.DOTALL)


def slug(heading):
    """The anchor that GitHub, and tools/build_site.py, give a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def anchors(text):
    blocks = re.sub(r"^(```+|~~~+).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    found, seen = set(ANCHOR.findall(blocks)), {}
    for heading in HEADING.findall(blocks):
        name = slug(heading)
        found.add(name if name not in seen else f"{name}-{seen[name]}")
        seen[name] = seen.get(name, 0) + 1
    return found


def links(text):
    text = without_code(text)
    return INLINE.findall(text) + ATTRIBUTE.findall(text) + DEFINITION.findall(text)


def documents(project):
    found = sorted(project.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((project / folder).rglob("*.md"))
    return found


def check(project):
    """The complaints, and the documents that each document links to."""
    complaints, leads_to = [], {}
    for document in documents(project):
        here = document.relative_to(project)
        reached = leads_to.setdefault(document, set())
        for link in links(document.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (document.parent / path).resolve() if path else document
            if not target.exists() or not target.is_relative_to(project):
                complaints.append(f"{here}: no file '{path}'")
                continue
            reached.add(target / "README.md" if target.is_dir() else target)
            if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                complaints.append(f"{here}: no heading '#{anchor}' in {target.relative_to(project)}")
    return complaints, leads_to


def unreachable(project, leads_to):
    """Pages of docs/ that no way of links from its index leads to."""
    index = project / "docs" / "README.md"
    found, todo = set(), [index]
    while todo:
        page = todo.pop()
        if page not in found and page in leads_to:
            found.add(page)
            todo += leads_to[page]
    pages = set((project / "docs").rglob("*.md"))
    return [f"{page.relative_to(project)}: no way leads there from docs/README.md" for page in sorted(pages - found)]


def main(arguments):
    project = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    complaints, leads_to = check(project)
    complaints += unreachable(project, leads_to)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
