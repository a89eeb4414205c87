"""Every step of a tutorial works by copy and paste, and prints what the page shows.

usage: tutorial_test.py PROJECT BUILD_FOLDER PAGE [--write]

The ```sh blocks of the page are run in one shell, which begins in what looks like a clone of the project with the tool
built. A ```text block after one of them is its output; a line of three dots in it stands for any number of lines. Blocks
after <!-- not run --> are left out. --write puts the outputs into the page as they are now; where there are dots, the lines that
are most like those on the page: look at them.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^(<!-- not run -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOTS = "..."
# A step with a compiler in it takes seconds.
TIME_LIMIT = 500


def steps(text):
    """For each step its commands and the match of its output, which may be None."""
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[2] == "sh" and not block[1]:
            adjacent = following and following[2] == "text" and not text[block.end():following.start()].strip()
            yield block[3], following if adjacent else None


def make_clone(folder, project, build):
    for path in project.iterdir():
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
        sys.exit(f"the steps end early:\n{done.stdout}")
    for command, text, code in zip(commands, printed, codes):
        if code != "0":
            sys.exit(f"exit code {code}:\n{command}\n{text}")
    return printed


def stands_in(wanted, printed):
    """Whether the lines are those printed, with any number of others where there are dots."""
    if DOTS not in wanted:
        return wanted == printed
    first = wanted.index(DOTS)
    head, rest = wanted[:first], wanted[first + 1:]
    if printed[:first] != head:
        return False
    return any(stands_in(rest, printed[i:]) for i in range(first, len(printed) + 1)) if rest else True


def likeness(wanted, printed):
    def without_numbers(lines):
        return re.sub(r"[\d.,]+", "0", "\n".join(lines))

    return difflib.SequenceMatcher(None, without_numbers(wanted), without_numbers(printed)).ratio()


def most_like(wanted, printed):
    """The wanted lines as they are printed now: between dots, as many lines in a row that are most like those wanted."""
    found, begin = [], 0
    for chunk in re.split(rf"^{re.escape(DOTS)}$\n?", "\n".join(wanted), flags=re.MULTILINE):
        lines = chunk.splitlines()
        if lines:
            begin = max(
                range(begin, max(begin + 1, len(printed) - len(lines) + 1)),
                key=lambda i, lines=lines: likeness(lines, printed[i:i + len(lines)]),
            )
            found += printed[begin:begin + len(lines)]
            begin += len(lines)
        found.append(DOTS)
    return found[:-1]


def main():
    project, build, page = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    text = page.read_text(encoding="utf-8")
    found = list(steps(text))
    if len(found) < 5 or sum(block is not None for _, block in found) < 5:
        sys.exit(f"{page.name} has {len(found)} steps, which is too few")
    with tempfile.TemporaryDirectory(prefix="oneprobe-tutorial-") as folder:
        clone = pathlib.Path(folder)
        make_clone(clone, project, build)
        printed = outputs([commands for commands, _ in found], clone)

    failed = False
    for (commands, block), output in reversed(list(zip(found, printed))):
        wanted = "" if block is None else block[3]
        if stands_in(wanted.splitlines(), output.splitlines()):
            continue
        if "--write" in sys.argv and block is not None:
            lines = wanted.splitlines()
            shown = "".join(f"{line}\n" for line in most_like(lines, output.splitlines())) if DOTS in lines else output
            text = text[:block.start(3)] + shown + text[block.end(3):]
            print(f"--- changed\n{shown}")
            continue
        failed = True
        print(f"--- the step\n{commands}--- shows\n{wanted}--- and prints\n{output}")
    if "--write" in sys.argv:
        page.write_text(text, encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
