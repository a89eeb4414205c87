"""Renders the blocks of the documents that show what a program prints; `./run render` calls it.

- Behind `<!-- from: oneprobe ... -->` stands a part of what that call of the tool prints; a line of three dots in it stands
  for any number of lines.
- All blocks of a page behind `<!-- from: examples/NAME -->` are together what that example prints.
- A ```text block right behind a program, a ```cpp block with a main function, is what that prints. Every program is run.
"""

import re
import shlex
import subprocess
import tempfile

from excerpts import part, shares
from extract_programs import name_of, programs
from pages import DOCS, PROJECT, CannotRender

FROM = re.compile(r"<!-- from: ((?:oneprobe|examples/)[^>]*) -->\n```\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOCUMENTS = (PROJECT / "README.md", *sorted(DOCS.rglob("*.md")))
TIME_LIMIT = 240


def runs_of(path):
    """What has to be run for a page: its call, the target that is built for it, and the places of its output."""
    text = path.read_text(encoding="utf-8")
    if text.count("<!-- from: ") != len(FROM.findall(text)):
        raise CannotRender(f"{path.name} says of something that is no block of oneprobe or of examples/ where it is from")
    found = {}
    for block in FROM.finditer(text):
        call = block[1]
        target = call.replace("examples/", "oneprobe_example_") if call.startswith("examples/") else "oneprobe_cli"
        found.setdefault((call, target), []).append(block.span(2))
    for number, (_, output) in enumerate(programs(text), 1):
        target = f"oneprobe_program_{name_of(path, PROJECT)}_{number}"
        found[f"the program {number} of the page", target] = [output.span(2)] if output else []
    return found


def targets(path):
    return tuple(sorted({target for _, target in runs_of(path)}))


def output_of(call, executable):
    words = shlex.split(call)[1:] if call.startswith("oneprobe") else []
    with tempfile.TemporaryDirectory(prefix="oneprobe-render-") as folder:  # some write files
        run = subprocess.run(
            [executable, *words], cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL
        )
    if run.returncode != 0:
        raise CannotRender(f"{call}: exit code {run.returncode}\n{run.stderr}")
    return run.stdout.splitlines()


def pages(path, built):
    text = path.read_text(encoding="utf-8")
    changes = []
    for (call, target), places in runs_of(path).items():
        printed = output_of(call, built[target])
        blocks = [text[begin:end].splitlines() for begin, end in places]
        if target == "oneprobe_cli":
            shown = [part(block, printed) for block in blocks]
        else:
            shown = shares(blocks, printed)
        changes += zip(places, shown)
    for (begin, end), lines in sorted(changes, reverse=True):
        text = text[:begin] + "".join(f"{line}\n" for line in lines) + text[end:]
    return {path: text}
