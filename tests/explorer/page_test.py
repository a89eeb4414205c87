#!/usr/bin/env python3
"""The page of `oneprobe explore` in a browser: fetches playwright-core by name, starts the server and runs page_test.mjs.

usage: page_test.py timed|untimed

Runs the tests that measure times, or all others.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from served import TOOL, Explorer

PLAYWRIGHT = "playwright-core@1.55.0"


def main():
    scratch = pathlib.Path(os.environ["ONEPROBE_SCRATCH"])
    for program in ("node", "npm", "chromium"):
        if shutil.which(program) is None:
            sys.exit(f"{program} was not found; ./run test installs what the tests need")
    modules = scratch / "browser"
    wanted = modules / PLAYWRIGHT.replace("@", "-")
    if not wanted.exists():
        modules.mkdir(parents=True, exist_ok=True)
        (modules / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", PLAYWRIGHT], cwd=modules, check=True
        )
        wanted.touch()
    shots = scratch / "screenshots"
    shots.mkdir(exist_ok=True)
    script = pathlib.Path(__file__).with_name("page_test.mjs")
    with Explorer() as explorer:
        settings = dict(
            os.environ,
            ONEPROBE_ADDRESS=explorer.address,
            ONEPROBE_CLI=TOOL,
            ONEPROBE_SHOTS=str(shots),
            ONEPROBE_MODULES=str(modules / "node_modules"),
            ONEPROBE_PAGE_TESTS=sys.argv[1],
            CHROMIUM=shutil.which("chromium"),
        )
        done = subprocess.run(["node", "--test-reporter=spec", str(script)], env=settings, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
