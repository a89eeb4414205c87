"""Builds the module with CMake and packs it. See README.md for the packages it needs.

ONEPROBE_BUILD_DIR names a build folder of the project to use instead of one of its own.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent


def version():
    text = (PROJECT / "include" / "oneprobe" / "version.hpp").read_text(encoding="utf-8")
    return re.search(r'ONEPROBE_VERSION_STRING "([^"]+)"', text)[1]


class BinaryDistribution(Distribution):
    """Has a compiled module, though setuptools does not build it."""

    def has_ext_modules(self):
        return True


class BuildWithCMake(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "oneprobe"
        package.mkdir(parents=True, exist_ok=True)
        for module in self.built_modules():
            shutil.copy2(module, package)

    def built_modules(self):
        """The module and nothing else of the project, with as many jobs as the machine has."""
        given = os.environ.get("ONEPROBE_BUILD_DIR")
        folder = pathlib.Path(given) if given else HERE / "build" / "cmake"
        if not given:
            subprocess.run(
                [
                    "cmake", "-S", PROJECT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DONEPROBE_BUILD_CLI=OFF",
                    "-DONEPROBE_BUILD_TESTS=OFF", "-DONEPROBE_BUILD_EXAMPLES=OFF", "-DONEPROBE_PYTHON_REQUIRED=ON",
                    f"-DPython3_EXECUTABLE={sys.executable}",
                ],
                check=True,
            )
        subprocess.run(
            ["cmake", "--build", folder, "--target", "oneprobe_python", "--parallel", str(os.cpu_count() or 1)],
            check=True,
        )
        modules = sorted((folder / "integrations" / "python" / "oneprobe").glob("_oneprobe*.so"))
        if not modules:
            raise RuntimeError(f"CMake built no module in {folder}")
        return modules


setup(
    name="oneprobe",
    version=version(),
    description="Filters and maps that know what each operation may cost",
    license="Apache-2.0",
    python_requires=">=3.9",
    install_requires=["numpy"],
    packages=["oneprobe"],
    package_data={"oneprobe": ["*.pyi", "py.typed"]},
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithCMake},
    zip_safe=False,
)
