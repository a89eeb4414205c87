#!/usr/bin/env python3
"""Compiles a program that reads golden files for another machine and runs it there, by emulation.

usage: foreign_machine_test.py MACHINE BUILD_FOLDER XXHASH_INCLUDE_FOLDER PROGRAM GOLDEN_FOLDER [SOURCE...]

SOURCE: what the program needs besides itself and the headers, from the root of the project.
"""

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def find_tool(*names):
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    print(f"skipped: {names[0]} is not installed (./run check installs it)")
    sys.exit(SKIPPED)


def main(machine, build_folder, xxhash_folder, name, golden, *others):
    compiler = find_tool(f"{machine}-linux-gnu-g++")
    emulator = find_tool(f"qemu-{machine}-static", f"qemu-{machine}")

    # The header alone, in a folder of its own: what lies beside it is for this machine.
    headers = Path(build_folder) / "xxhash-header"
    headers.mkdir(exist_ok=True)
    shutil.copy(Path(xxhash_folder) / "xxhash.h", headers)

    program = Path(build_folder) / f"{name}-{machine}"
    sources = [PROJECT / "tests" / "formats" / f"{name}.cpp"] + [PROJECT / other for other in others]
    folders = [f"-I{folder}" for folder in (PROJECT / "include", PROJECT / "src", headers)]
    subprocess.run([compiler, "-std=c++20", "-O1", "-static", *folders, *sources, "-o", program], check=True)
    return subprocess.run([emulator, program, PROJECT / "tests" / "golden" / golden], cwd=build_folder, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 6:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
