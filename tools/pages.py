"""What the scripts that render share: tables, and the places of a page that are filled in."""

import pathlib
import re

PROJECT = pathlib.Path(__file__).resolve().parent.parent
DOCS = PROJECT / "docs"


class CannotRender(Exception):
    """What is to be done by hand first."""


def table(columns, cells):
    text = "| " + " | ".join(columns) + " |\n"
    text += "|---" + "|---:" * (len(columns) - 1) + "|\n"
    for row in cells:
        text += "| " + " | ".join(row) + " |\n"
    return text


def filled_in(renders_of_pages, script):
    """Pages of docs/ with what each of their functions renders in the place that is marked with its name."""
    pages = {}
    for name, renders in renders_of_pages.items():
        path = DOCS / name
        page = path.read_text(encoding="utf-8")
        for render in renders:
            place = render.__name__.replace("_", " ")
            begin, end = f"<!-- {place}: rendered by tools/{script} -->\n", f"<!-- end of {place} -->"
            text = begin + "\n" + render() + "\n" + end
            page, count = re.subn(re.escape(begin) + ".*?" + re.escape(end), lambda _, text=text: text, page, flags=re.DOTALL)
            if count != 1:
                raise CannotRender(f"{path.relative_to(PROJECT)} has no place for {place}")
        pages[path] = page
    return pages
