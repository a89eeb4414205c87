#!/usr/bin/env python3
"""Installs the packages of npm that a lock file names, each with its checksum, into a folder of the build, once.

usage: install_npm.py FOLDER TARGET

FOLDER has package.json and package-lock.json; TARGET then has node_modules. To write a lock file without addresses:

  npm install --package-lock-only --omit-lockfile-registry-resolved=true --ignore-scripts --save-exact PACKAGE@VERSION
"""

import json
import pathlib
import shutil
import subprocess
import sys

FILES = ("package.json", "package-lock.json")


def unpinned(lock):
    """What in a lock file leaves open what is installed, or where it is from."""
    for name, package in lock["packages"].items():
        if name and not package.get("integrity", "").startswith("sha512-"):
            yield f"{name} has no checksum"
        if "resolved" in package:
            yield f"{name} has an address, which is the user's to choose"


def install(folder, target):
    """Does nothing if TARGET has all of it."""
    lock = folder / "package-lock.json"
    wrong = list(unpinned(json.loads(lock.read_text(encoding="utf-8"))))
    if wrong:
        sys.exit(f"{lock}: {'; '.join(wrong)}")
    whole = target / "installed-lock.json"
    if whole.exists() and whole.read_bytes() == lock.read_bytes():
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm was not found; ./run test installs what the tests need")
    target.mkdir(parents=True, exist_ok=True)
    whole.unlink(missing_ok=True)
    for name in FILES:
        shutil.copy(folder / name, target / name)
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=target, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stdout)
    shutil.copy(lock, whole)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    install(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
