#!/usr/bin/env python3
"""The page of `oneprobe explore` in a browser: installs playwright-core, starts the server and runs page_test.mjs.

usage: page_test.py timed|untimed

Runs the tests that measure what the page costs, or all others.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

from served import TOOL, Explorer

HERE = pathlib.Path(__file__).parent


def main():
    scratch = pathlib.Path(os.environ["ONEPROBE_SCRATCH"])
    for program in ("node", "chromium"):
        if shutil.which(program) is None:
            sys.exit(f"{program} was not found; ./run test installs what the tests need")
    modules = scratch / "browser"
    subprocess.run([sys.executable, str(HERE.parents[1] / "tools" / "install_npm.py"), str(HERE / "npm"), str(modules)], check=True)
    shots = scratch / "screenshots"
    shots.mkdir(exist_ok=True)
    script = HERE / "page_test.mjs"
    with Explorer() as explorer:
        if sys.argv[1] == "timed":
            # The server makes its tables in the background: http_test.py sees to it that it does. Here they are waited for.
            for workload in ("churn", "fill-only"):
                for slots in (4, 8, 16):
                    explorer.hurry()
                    urllib.request.urlopen(f"{explorer.address}api/frontier/table?workload={workload}&bucket-capacity={slots}").read()
        settings = dict(
            os.environ,
            ONEPROBE_ADDRESS=explorer.address,
            ONEPROBE_CLI=TOOL,
            ONEPROBE_SERVER=str(explorer.process.pid),
            ONEPROBE_SHOTS=str(shots),
            ONEPROBE_MODULES=str(modules / "node_modules"),
            ONEPROBE_PAGE_TESTS=sys.argv[1],
            CHROMIUM=shutil.which("chromium"),
        )
        done = subprocess.run(["node", "--test-reporter=spec", str(script)], env=settings, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
