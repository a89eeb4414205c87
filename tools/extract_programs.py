#!/usr/bin/env python3
"""Takes the programs out of the documents, so that the tests can compile and run them.

    extract_programs.py OUTPUT_FOLDER PROJECT DOCUMENT...

A program is a ```cpp block with a main function. A ```text block right after it is its output. Writes NAME.cpp and, with
an output, NAME.txt for each, and prints their names, one per line. A name is the document's path in the project and a
number: docs_formats_readme_1.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def programs(text):
    """Pairs of a program and its output, which may be None."""
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[1] != "cpp" or not re.search(r"\bint main\(", block[2]):
            continue
        adjacent = following and not text[block.end():following.start()].strip()
        yield block[2], following[2] if adjacent and following[1] == "text" else None


def main():
    folder, project = map(pathlib.Path, sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    for document in map(pathlib.Path, sys.argv[3:]):
        path = "_".join(document.relative_to(project).with_suffix("").parts).lower()
        for number, (program, output) in enumerate(programs(document.read_text(encoding="utf-8")), 1):
            name = f"{path}_{number}"
            (folder / f"{name}.cpp").write_text(program, encoding="utf-8")
            if output is not None:
                (folder / f"{name}.txt").write_text(output, encoding="utf-8")
            print(name)


if __name__ == "__main__":
    main()
