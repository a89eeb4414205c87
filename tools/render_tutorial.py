"""Runs every step of a tutorial as by copy and paste, and renders what it prints; `./run render` calls it.

The ```sh blocks of the page are run in one shell, which begins in what looks like a clone of the project with the tool
built. A ```text block after one of them is its output; a line of three dots in it stands for any number of lines. Blocks
after <!-- not run --> are left out. Where there are dots, those lines are written that are most like those on the page: look at them.
"""

import os
import pathlib
import re
import subprocess
import tempfile

from excerpts import updated
from pages import PROJECT, CannotRender

BLOCK = re.compile(r"^(<!-- not run -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A step with a compiler in it takes seconds.
TIME_LIMIT = 500


def steps(text):
    """For each step its commands and the match of its output, which may be None."""
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[2] == "sh" and not block[1]:
            adjacent = following and following[2] == "text" and not text[block.end():following.start()].strip()
            yield block[3], following if adjacent else None


def make_clone(folder, build):
    for path in PROJECT.iterdir():
        if not path.name.startswith(("build", ".")):
            (folder / path.name).symlink_to(path)
    (folder / "build").symlink_to(build)


def outputs(commands, clone):
    """What each of the commands prints, run one after the other in one shell."""
    mark = "=== end of a step, exit code "
    script = clone / "steps.sh"
    script.write_text("".join(f'{text}echo "{mark}$?"\n' for text in commands), encoding="utf-8")
    home = {**os.environ, "LC_ALL": "C", "TMPDIR": str(clone)}
    done = subprocess.run(
        ["bash", "steps.sh"], cwd=clone, env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=TIME_LIMIT, text=True, check=False,
    )
    parts = re.split(rf"^{mark}(\d+)\n", done.stdout, flags=re.MULTILINE)
    printed, codes = parts[0:-1:2], parts[1::2]
    if len(printed) != len(commands):
        raise CannotRender(f"the steps end early:\n{done.stdout}")
    for command, text, code in zip(commands, printed, codes):
        if code != "0":
            raise CannotRender(f"exit code {code}:\n{command}\n{text}")
    return printed


def pages(path, built):
    text = path.read_text(encoding="utf-8")
    found = list(steps(text))
    if len(found) < 5 or sum(block is not None for _, block in found) < 5:
        raise CannotRender(f"{path.name} has {len(found)} steps, which is too few")
    with tempfile.TemporaryDirectory(prefix="oneprobe-tutorial-") as folder:
        clone = pathlib.Path(folder)
        make_clone(clone, built["oneprobe_cli"].parent)
        printed = outputs([commands for commands, _ in found], clone)

    for (commands, block), output in reversed(list(zip(found, printed))):
        if block is None and output:
            raise CannotRender(f"{path.name} does not show what this prints:\n{commands}{output}")
        if block is not None:
            lines = updated(block[3].splitlines(), output.splitlines())
            text = text[:block.start(3)] + "".join(f"{line}\n" for line in lines) + text[block.end(3):]
    return {path: text}
