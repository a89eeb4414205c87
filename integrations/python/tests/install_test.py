"""`pip install .` works without a network, and what it installs can be imported and used.

usage: install_test.py FOLDER [PLACE]

The environment's ONEPROBE_BUILD_DIR keeps the module from being compiled once more. With PLACE it is compiled there, from
nothing but the sources.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv[1]).resolve()
PROJECT = FOLDER.parent.parent
PLACE = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None


def link_all(source, target, but):
    """Links in `target` to what is in `source`, but for some names and for what was built."""
    target.mkdir(parents=True, exist_ok=True)
    for each in source.iterdir():
        link = target / each.name
        if each.name not in but and not each.name.startswith((".", "build")) and not link.is_symlink():
            link.symlink_to(each)


class InstallTest(unittest.TestCase):
    def test_pip_installs_a_package_that_works(self):
        with tempfile.TemporaryDirectory() as name:
            # Where setuptools may leave what it builds on the way; the rest of the project is found from there.
            project = (PLACE or pathlib.Path(name)) / "project"
            copy = project / "integrations" / "python"
            shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"),
                            dirs_exist_ok=True)
            environment = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
            if PLACE:
                environment.pop("ONEPROBE_BUILD_DIR", None)
                environment.pop("PYTHONPATH", None)
                link_all(PROJECT, project, {"integrations"})
                link_all(PROJECT / "integrations", project / "integrations", {"python"})
            else:
                (project / "include").symlink_to(PROJECT / "include")
            target = pathlib.Path(name) / "installed"
            subprocess.run(
                [
                    sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--root-user-action=ignore", "--target", target, copy,
                ],
                check=True, env=environment,
            )
            there = {path.name for path in (target / "oneprobe").iterdir()}
            self.assertLessEqual({"__init__.py", "__init__.pyi", "model.pyi", "py.typed"}, there)
            program = "import oneprobe; s = oneprobe.Filter(10, .01); s.add('a'); print('a' in s, oneprobe.__version__)"
            run = subprocess.run(
                [sys.executable, "-c", program], cwd=name, env={**os.environ, "PYTHONPATH": str(target)}, check=True,
                capture_output=True, text=True,
            )
            version = next(target.glob("oneprobe-*.dist-info")).name.split("-")[1].removesuffix(".dist")
            self.assertEqual(run.stdout.split(), ["True", version])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
