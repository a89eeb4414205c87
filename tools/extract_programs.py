#!/usr/bin/env python3
"""Takes the programs out of the documents, so that the tests can compile and run them.

    extract_programs.py OUTPUT_FOLDER PROJECT DOCUMENT...

A program is a ```cpp block with a main function. A ```text block right after it is its output. Writes NAME.cpp for each, and
prints their names, one per line. A name is the document's path in the project and a
number: docs_formats_readme_1.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def programs(text):
    """Pairs of a program and the match of its output, which may be None."""
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[1] != "cpp" or not re.search(r"\bint main\(", block[2]):
            continue
        adjacent = following and not text[block.end():following.start()].strip()
        yield block[2], following if adjacent and following[1] == "text" else None


def name_of(document, project):
    return "_".join(document.relative_to(project).with_suffix("").parts).lower()


def main():
    folder, project = map(pathlib.Path, sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    for document in map(pathlib.Path, sys.argv[3:]):
        for number, (program, _) in enumerate(programs(document.read_text(encoding="utf-8")), 1):
            source = folder / f"{name_of(document, project)}_{number}.cpp"
            # What is as it was need not be compiled again.
            if not source.is_file() or source.read_text(encoding="utf-8") != program:
                source.write_text(program, encoding="utf-8")
            print(source.stem)


if __name__ == "__main__":
    main()
