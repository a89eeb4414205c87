"""Every block of a document that says it is from an example stands in the example's output, line by line, and every line
of the output stands in one of the blocks.

usage: document_test.py EXAMPLE DOCUMENT
"""

import pathlib
import re
import subprocess
import sys

example, document = sys.argv[1:]
name = pathlib.Path(example).name
printed = subprocess.run([example], check=True, capture_output=True, text=True).stdout
text = pathlib.Path(document).read_text(encoding="utf-8")
blocks = re.findall(rf"<!-- from: examples/{re.escape(name)} -->\n```\n(.*?)```", text, re.DOTALL)
if not blocks:
    sys.exit(f"{document} has no block from {name}")
for block in blocks:
    if block not in printed:
        sys.exit(f"{document} shows\n{block}\nwhich {name} does not print:\n{printed}")
shown = set("".join(blocks).splitlines())
for line in printed.splitlines():
    if line and line not in shown:
        sys.exit(f"{name} prints\n{line}\nwhich {document} does not show")
