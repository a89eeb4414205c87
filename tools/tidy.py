#!/usr/bin/env python3
"""Runs clang-tidy with the checks of .clang-tidy over sources and headers in include/, src/ and apps/.

usage: tidy.py BUILD_DIR          those that differ from where the branch left main, uncommitted ones included
       tidy.py BUILD_DIR --all    all sources, and the headers that they include
       tidy.py BUILD_DIR FILE...  these

BUILD_DIR has been configured with CMAKE_EXPORT_COMPILE_COMMANDS. A header that is named by itself is compiled by itself. Prints
every finding once; exit code 1 if there is one.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CLANG_TIDY = "clang-tidy-14"  # the version matters: others know other checks
FOLDERS = ("include", "src", "apps")
# What a header needs that is compiled by itself.
OF_HEADERS = ("-x", "c++", "-std=c++20", *(f"-I{PROJECT / folder}" for folder in ("include", "src", "apps", "apps/cli")))
FINDING = re.compile(r"^(/[^:]+):(\d+):(\d+): (warning|error): ")


def lines(*command):
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines()


def main_branch():
    """As the server has it, if there is one."""
    known = lines("git", "for-each-ref", "--format=%(refname)", "refs/remotes/origin/main", "refs/heads/main")
    if not known:
        sys.exit("tidy.py: git knows no branch main to compare with; use --all, or name files")
    return known[-1]


def changed():
    base = lines("git", "merge-base", "HEAD", main_branch())[0]
    names = lines("git", "diff", "--name-only", base) + lines("git", "ls-files", "--others", "--exclude-standard")
    return sorted({PROJECT / name for name in names})


def is_ours(path):
    inside = path.is_relative_to(PROJECT) and path.relative_to(PROJECT).parts[0] in FOLDERS
    return inside and path.suffix in (".cpp", ".hpp") and path.is_file()


def compiled(build):
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return sorted({path for entry in entries if is_ours(path := (Path(entry["directory"]) / entry["file"]).resolve())})


def tidy(build, path):
    """The exit code, and what was said."""
    call = [CLANG_TIDY, "-p", build, "--quiet", path]
    if path.suffix == ".hpp":
        call = [CLANG_TIDY, "--quiet", path, "--", *OF_HEADERS]
    done = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, check=False)
    said = done.stdout
    if done.returncode != 0 and not FINDING.search(said):
        said += done.stderr
    return done.returncode, said


def findings(said):
    """What was said, in parts that begin with a place."""
    part = []
    for line in said.splitlines():
        if FINDING.match(line) and part:
            yield "\n".join(part)
            part = []
        part.append(line)
    if part:
        yield "\n".join(part)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build = Path(arguments[0]).resolve()
    known = compiled(build)
    if arguments[1:] == ["--all"]:
        chosen = known
    else:
        named = [Path(name).resolve() for name in arguments[1:]]
        chosen = [path for path in named or changed() if is_ours(path) and (path.suffix == ".hpp" or path in known)]
        for path in sorted(set(named) - set(chosen)):
            print(f"tidy.py: left out: {path}", file=sys.stderr)
    failed, seen = 0, set()
    with ThreadPoolExecutor(int(os.environ.get("ONEPROBE_JOBS", os.cpu_count()))) as pool:
        for code, said in pool.map(lambda path: tidy(build, path), chosen):
            failed |= code != 0
            for finding in findings(said):
                if finding not in seen:
                    seen.add(finding)
                    print(finding.replace(f"{PROJECT}/", ""), flush=True)
    print(f"{len(chosen)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
