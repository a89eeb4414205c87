"""Every block of a document that says it is from an example stands in the example's output, line by line, and every line
of the output stands in one of the blocks.

usage: document_test.py EXAMPLE DOCUMENT
"""

import pathlib
import re
import subprocess
import sys
import tempfile

example, document = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:])
name = pathlib.Path(example).name
with tempfile.TemporaryDirectory(prefix="oneprobe-example-") as folder:  # some write files
    printed = subprocess.run([example], check=True, capture_output=True, text=True, cwd=folder).stdout
    if any(pathlib.Path(folder).iterdir()):
        sys.exit(f"{name} leaves files behind")
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
