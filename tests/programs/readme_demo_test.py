"""The block of README.md that says it is from `oneprobe demo` stands in the demo's output, line by line."""

import re
import subprocess
import sys

tool, readme = sys.argv[1:]
demo = subprocess.run([tool, "demo"], check=True, capture_output=True, text=True).stdout
blocks = re.findall(r"<!-- from: oneprobe demo -->\n```\n(.*?)```", open(readme, encoding="utf-8").read(), re.DOTALL)
if not blocks:
    sys.exit("README.md has no block from the demo")
for block in blocks:
    if block not in demo:
        sys.exit(f"README.md shows\n{block}\nwhich the demo does not print:\n{demo}")
