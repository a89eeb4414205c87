#!/usr/bin/env python3
"""Checks that every C++ source of the project is formatted, or formats them all.

usage: format_sources.py             exit code 1 and one line for each place that is not formatted
       format_sources.py --in-place  rewrites the files
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The version matters: others lay out some lines differently.
CLANG_FORMAT = "clang-format-14"
SUFFIXES = {".hpp", ".cpp"}


def sources():
    """Every source file that git knows or would add; without git, every one outside build*/."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        # A clone owned by another user is common in containers, and reading its file list is harmless.
        listing = subprocess.run(
            ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout
        paths = {Path(name) for name in listing.split("\0") if name}
    else:
        paths = {path.relative_to(ROOT) for path in ROOT.rglob("*")}
        paths = {path for path in paths if not path.parts[0].startswith("build")}
    # A file may be deleted and not yet committed.
    return sorted(str(path) for path in paths if path.suffix in SUFFIXES and (ROOT / path).is_file())


def main(arguments):
    if arguments not in ([], ["--in-place"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    files = sources()
    if not files:
        print(f"no sources under {ROOT}", file=sys.stderr)
        return 1
    mode = ["-i"] if arguments else ["--dry-run", "-Werror"]
    result = subprocess.run([CLANG_FORMAT, "--style=file", *mode, *files], cwd=ROOT)
    print(f"{len(files)} files {'formatted' if arguments else 'checked'}")
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
