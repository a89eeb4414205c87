#!/usr/bin/env python3
"""Everything in documents, pictures and sources that is made from something else, and what makes it: the list of them all.

usage: render.py BUILD_DIR [WORD...]       builds what it needs, writes what has changed, and says which files; WORDs choose by
                                           what names contain
       render.py --check NAME BUILD_DIR    compares, writes nothing; exit code 1 if something would be written
       render.py --list                    the names, the label of the test of each, and what is to be built for it

`./run render` is the first, every test `rendered.NAME` the second, and tests/rendered/CMakeLists.txt reads the list.
"""

import difflib
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, NamedTuple

sys.dont_write_bytecode = True
import draw_benchmarks  # noqa: E402
import draw_concepts  # noqa: E402
import draw_filter_frontier  # noqa: E402
import render_benchmarks  # noqa: E402
import render_blocks  # noqa: E402
import render_choosing  # noqa: E402
import render_integrations  # noqa: E402
import render_mutants  # noqa: E402
import render_readme  # noqa: E402
import render_redis  # noqa: E402
import render_sources  # noqa: E402
import render_trials  # noqa: E402
import render_tutorial  # noqa: E402
from pages import DOCS, PROJECT, CannotRender  # noqa: E402

INCLUDE = PROJECT / "include" / "oneprobe" / "detail" / "generated"
SHOWN_LINES = 60


class Rendered(NamedTuple):
    name: str  # of its test
    pages: Callable  # from what is built, path by target, to the text of every file
    targets: tuple = ()  # what is to be built for it
    label: str = "source"  # of its test; what takes minutes is long, and rendered when it is asked for


def recorded(name, script):
    return Rendered(name, lambda built: script.pages())


def in_sources(name, target, header, label="source"):
    return Rendered(name, lambda built: render_sources.pages(INCLUDE / header, built[target]), (target,), label)


def blocks_of(path):
    name = render_blocks.name_of(path, PROJECT).replace("-", "_")
    return Rendered(
        f"{name}_shows_what_is_printed", lambda built: render_blocks.pages(path, built), render_blocks.targets(path)
    )


# The list has three parts, one rendered after the other, since the tool is built from the first, and pages of the second are
# also in the third. Within a part no file is rendered twice.
SOURCES = (
    in_sources("the_default_plans_are_what_the_planner_says", "oneprobe_default_plans", "default_filter_plan_table.hpp", "source.long"),
    in_sources("the_default_tables_are_what_the_planner_says", "oneprobe_default_tables", "default_table_designs.hpp"),
    in_sources("the_tag_refusals_are_what_the_model_says", "oneprobe_tag_refusals", "tag_refusals_table.hpp"),
)
RECORDED = (
    recorded("the_benchmark_page_is_what_was_recorded", render_benchmarks),
    recorded("the_trials_page_is_what_was_recorded", render_trials),
    recorded("the_guide_shows_what_was_recorded", render_choosing),
    recorded("the_pages_of_the_integrations_are_what_was_recorded", render_integrations),
    recorded("the_readme_claims_what_was_recorded", render_readme),
    recorded("the_redis_page_is_what_was_recorded", render_redis),
    recorded("the_page_of_faults_is_what_the_list_says", render_mutants),
    recorded("the_benchmarks_are_drawn_as_recorded", draw_benchmarks),
    recorded("the_frontier_of_filters_is_drawn_as_recorded", draw_filter_frontier),
)
PRINTED = (
    Rendered(
        "the_concepts_are_drawn_as_computed", lambda built: draw_concepts.pages(built["oneprobe_cli"]), ("oneprobe_cli",)
    ),
    Rendered(
        "the_tutorial_works_by_copy_and_paste", lambda built: render_tutorial.pages(DOCS / "tutorial.md", built),
        ("oneprobe_cli",),
    ),
    *(blocks_of(path) for path in render_blocks.DOCUMENTS if render_blocks.targets(path)),
)
LIST = SOURCES + RECORDED + PRINTED


def what_is_built(build):
    """Where every target of the list is."""
    lines = (build / "rendered_targets.txt").read_text(encoding="utf-8").splitlines()
    return {target: pathlib.Path(path) for target, path in (line.split(" ", 1) for line in lines)}


def changes(rendered, build):
    """The files that are not as they would be written: their text and what it would be."""
    for path, wanted in rendered.pages(what_is_built(build)).items():
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text != wanted:
            yield path, text, wanted


def check(rendered, build):
    differs = 0
    for path, text, wanted in changes(rendered, build):
        name = path.relative_to(PROJECT)
        lines = list(difflib.unified_diff(text.splitlines(), wanted.splitlines(), str(name), "rendered", lineterm="", n=1))
        print("\n".join(lines[:SHOWN_LINES] + ["..."] * (len(lines) > SHOWN_LINES)))
        asked = f" {rendered.name}" if "long" in rendered.label else ""
        print(f"{name} is not what would be written; `./run render{asked}` writes it")
        differs = 1
    return differs


def build_programs(chosen, build):
    """What was not configured, for want of a package, is left out."""
    wanted = {target for one in chosen for target in one.targets} & set(what_is_built(build))
    if wanted:
        call = ["cmake", "--build", build, "--parallel", str(os.cpu_count()), "--target", *sorted(wanted)]
        done = subprocess.run(call, stdout=None if sys.stdout.isatty() else subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{done.stdout or ''}what is to be shown cannot be built")


def write(rendered, build):
    """The exit code; whatever fails, the others are written."""
    missing = set(rendered.targets) - set(what_is_built(build))
    if missing:
        print(f"left out: {rendered.name}, which needs {', '.join(sorted(missing))}", file=sys.stderr)
        return 0
    try:
        for path, _, wanted in changes(rendered, build):
            path.write_text(wanted, encoding="utf-8")
            print(f"changed {path.relative_to(PROJECT)}", flush=True)
    except (CannotRender, subprocess.SubprocessError) as failure:
        print(f"{rendered.name}: {failure}", file=sys.stderr)
        return 1
    return 0


def write_all(build, words):
    chosen = [one for one in LIST if (any(word in one.name for word in words) if words else "long" not in one.label)]
    if not chosen:
        names = "\n".join(one.name for one in LIST)
        raise SystemExit(f"nothing that is rendered is called like {' or '.join(words)}; there are\n{names}")
    failed = 0
    for part in (SOURCES, RECORDED, PRINTED):
        of_part = [one for one in chosen if one in part]
        build_programs(of_part, build)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = max([failed, *pool.map(lambda one: write(one, build), of_part)])
    return failed


def main(arguments):
    if arguments == ["--list"]:
        for one in LIST:
            print(";".join((one.name, one.label, *one.targets)))
        return 0
    if len(arguments) == 3 and arguments[0] == "--check":
        build = pathlib.Path(arguments[2]).resolve()
        try:
            return max([check(one, build) for one in LIST if one.name == arguments[1]])
        except CannotRender as failure:
            return str(failure)
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return write_all(pathlib.Path(arguments[0]).resolve(), arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
