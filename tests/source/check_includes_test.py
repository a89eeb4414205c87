#!/usr/bin/env python3
"""tools/check_includes.py finds what it must find and accepts what is allowed."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import check_includes  # noqa: E402

# Headers that the cases below include.
HEADERS = """
    hash.hpp balancer.hpp oneprobe.hpp filter/plan.hpp filter/a.hpp map/a.hpp one_probe/a.hpp page_store/a.hpp baseline/a.hpp
    model/a.hpp sim/a.hpp plan/a.hpp detail/planning/a.hpp
    detail/base/a.hpp detail/hash/a.hpp detail/placement/a.hpp detail/io/a.hpp detail/simd/a.hpp detail/filter/a.hpp detail/map/a.hpp
""".split()


class CheckIncludes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name)
        cls.files = {f"include/oneprobe/{header}": "#pragma once\n" for header in HEADERS}
        for name in ("src/model/detail.hpp", "src/handles/a.hpp", "tests/support.hpp", "apps/cli/options.hpp"):
            cls.files[name] = "#pragma once\n"
        for name, text in cls.files.items():
            cls.write(name, text)

    @classmethod
    def write(cls, name, text):
        (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
        (cls.root / name).write_text(text, encoding="utf-8")

    def violations(self, path, line):
        """What is found when `path` has `line` as its third line."""
        self.write(path, f"// first line\n\n{line}\n")
        found, count = check_includes.check(self.root)
        self.assertEqual(count, len(self.files.keys() | {path}))
        if path in self.files:
            self.write(path, self.files[path])
        else:
            (self.root / path).unlink()
        return found

    def assert_broken(self, path, line, words):
        found = self.violations(path, line)
        self.assertEqual(len(found), 1, f"{path}: {line}: {found}")
        self.assertTrue(found[0].startswith(f"{path}:3: "), found[0])
        self.assertIn(words, found[0])

    def assert_allowed(self, path, line):
        self.assertEqual(self.violations(path, line), [], f"{path}: {line}")

    # A header of each room.
    HEADER = {
        "plans": "detail/planning/a.hpp", "balancer": "balancer.hpp",
        **{room: f"detail/{room}/a.hpp" for room in ("base", "hash", "placement", "io", "simd")},
        **{room: f"{room}/a.hpp" for room in ("filter", "map", "one_probe", "page_store", "baseline", "model", "plan", "sim")},
    }

    def test_each_room_may_include_exactly_its_own_list(self):
        self.assertEqual(self.HEADER.keys(), check_includes.ROOMS.keys())
        for room, allowed in check_includes.ROOMS.items():
            path = "include/oneprobe/" + self.HEADER[room].replace("a.hpp", "b.hpp")
            for other in check_includes.ROOMS:
                line = f'#include "oneprobe/{self.HEADER[other]}"'
                if path.endswith(f"/{self.HEADER[other]}"):
                    continue  # itself
                if other == room or other in allowed:
                    self.assert_allowed(path, line)
                else:
                    self.assert_broken(path, line, f"{room} may not include {other}")

    def test_a_room_and_its_folder_in_detail_are_one(self):
        self.assert_allowed("include/oneprobe/filter/b.hpp", '#include "oneprobe/detail/filter/a.hpp"')
        self.assert_allowed("include/oneprobe/detail/filter/b.hpp", '#include "oneprobe/filter/a.hpp"')
        self.assert_broken("include/oneprobe/filter/b.hpp", '#include "oneprobe/detail/map/a.hpp"', "filter may not include map")
        self.assert_broken("include/oneprobe/detail/map/b.hpp", '#include "oneprobe/filter/a.hpp"', "map may not include filter")

    def test_plain_structs_of_a_product_are_for_products_and_planner(self):
        for path in ("include/oneprobe/map/b.hpp", "include/oneprobe/plan/b.hpp", "src/plan/b.cpp"):
            self.assert_allowed(path, '#include "oneprobe/filter/plan.hpp"')
        self.assert_broken("include/oneprobe/filter/plan.hpp", '#include "oneprobe/filter/a.hpp"', "plans may not include filter")

    def test_examples_show_what_is_public(self):
        self.assert_allowed("examples/b.cpp", "#include <oneprobe/filter/a.hpp>")
        self.assert_broken("examples/b.cpp", "#include <oneprobe/detail/filter/a.hpp>", "inside the library")

    def test_the_rules_that_must_never_be_relaxed(self):
        for room, other in [
            ("placement", "filter"), ("placement", "map"), ("filter", "map"), ("map", "filter"), ("filter", "plan"),
            ("map", "plan"), ("one_probe", "plan"), ("page_store", "map"), ("base", "hash"), ("hash", "placement"), ("model", "plan"),
        ]:
            path = "include/oneprobe/" + self.HEADER[room].replace("a.hpp", "b.hpp")
            self.assert_broken(path, f"#include <oneprobe/{self.HEADER[other]}>", f"{room} may not include {other}")

    def test_the_compiled_parts_follow_the_rules_of_their_room(self):
        self.assert_allowed("src/plan/b.cpp", '#include "oneprobe/model/a.hpp"')
        self.assert_broken("src/model/b.cpp", '#include "oneprobe/plan/a.hpp"', "model may not include plan")

    def test_relative_paths_do_not_get_around_the_rooms(self):
        self.assert_broken("include/oneprobe/filter/b.hpp", '#include "../map/a.hpp"', "filter may not include map")

    def test_the_umbrella_is_over_everything_and_under_nothing(self):
        self.assert_allowed("include/oneprobe/oneprobe.hpp", '#include "oneprobe/page_store/a.hpp"')
        self.assert_broken("include/oneprobe/filter/b.hpp", '#include "oneprobe/oneprobe.hpp"', "filter may not include oneprobe.hpp")

    def test_boost_stays_inside_the_compiled_parts(self):
        boost = "#include <boost/math/special_functions/gamma.hpp>"
        self.assert_allowed("src/model/b.cpp", boost)
        for path in ("include/oneprobe/model/b.hpp", "src/hash/b.cpp", "apps/cli/b.cpp", "tests/unit/b.cpp"):
            self.assert_broken(path, boost, "Boost may be used only in")

    def test_the_library_uses_the_standard_library_and_xxhash_only(self):
        for header in ("vector", "cstdint", "xxhash.h", "immintrin.h"):
            self.assert_allowed("include/oneprobe/detail/base/b.hpp", f"#include <{header}>")
        for header in ("fmt/format.h", "nlohmann/json.hpp", "stdint.h"):
            self.assert_broken("include/oneprobe/detail/base/b.hpp", f"#  include <{header}>", "standard library and xxhash.h only")
        self.assert_broken("src/model/b.cpp", "#include <fmt/format.h>", "standard library and xxhash.h only")

    def test_private_headers_stay_in_their_part(self):
        self.assert_allowed("src/model/b.cpp", '#include "detail.hpp"')
        self.assert_broken("src/plan/b.cpp", '#include "../model/detail.hpp"', "private to its part")
        self.assert_broken("tests/unit/b.cpp", '#include "../../src/model/detail.hpp"', "src/ is private")

    def test_an_internal_part_is_for_our_own_programs_where_nothing_is_measured(self):
        line = '#include "handles/a.hpp"'
        for path in ("apps/cli/b.cpp", "integrations/python/src/b.cpp", "tests/unit/b.cpp", "fuzz/b.cpp"):
            self.assert_allowed(path, line)
        for path in ("bench/b.cpp", "examples/b.cpp", "apps/cli/bench/b.cpp", "integrations/python/bench/b.cpp",
                     "include/oneprobe/filter/b.hpp", "src/plan/b.cpp"):
            self.assert_broken(path, line, "not where the library is measured or shown")
        self.assert_broken("apps/cli/b.cpp", '#include "../../src/handles/a.hpp"', "src/ is private")
        self.assert_broken("apps/cli/b.cpp", '#include "handles/nowhere.hpp"', "there is no header src/handles/nowhere.hpp")
        self.assert_allowed("src/handles/b.cpp", '#include "a.hpp"')
        for room in ("detail/base", "filter", "map"):
            self.assert_allowed("src/handles/b.cpp", f'#include "oneprobe/{room}/a.hpp"')
        self.assert_broken("src/handles/b.cpp", '#include "oneprobe/plan/a.hpp"', "handles may not include plan")

    def test_the_library_never_includes_its_users(self):
        self.assert_broken("src/model/b.cpp", '#include "../../apps/cli/options.hpp"', "may not include from apps/")
        self.assert_broken("include/oneprobe/filter/b.hpp", '#include "../../../tests/support.hpp"', "may not include from tests/")

    def test_users_include_everything_public_and_their_own_files(self):
        for header in HEADERS:
            self.assert_allowed("tests/unit/b.cpp", f'#include "oneprobe/{header}"')
        self.assert_allowed("tests/unit/b.cpp", '#include "support.hpp"')
        self.assert_allowed("apps/cli/b.cpp", '#include "options.hpp"')
        self.assert_allowed("apps/cli/model/b.cpp", '#include "options.hpp"')
        self.assert_allowed("tests/unit/cli/b.cpp", '#include "options.hpp"')
        self.assert_broken("tests/unit/b.cpp", '#include "../../apps/cli/options.hpp"', "tests/ may not include from apps/")
        self.assert_broken("bench/b.cpp", '#include "support.hpp"', "neither beside this file nor a public header")
        self.assert_allowed("apps/cli/b.cpp", "#include <CLI/CLI.hpp>")
        self.assert_broken("bench/b.cpp", '#include "../tests/support.hpp"', "bench/ may not include from tests/")

    def test_a_header_that_includes_itself_is_found(self):
        found = self.violations("include/oneprobe/filter/a.hpp", '#include "oneprobe/filter/a.hpp"')
        self.assertEqual(found, ["include/oneprobe/filter/a.hpp:1: includes itself by way of nothing else"])

    def test_a_circle_of_headers_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for header, other in (("a", "b"), ("b", "c"), ("c", "a")):
                path = Path(folder) / "include" / "oneprobe" / "filter" / f"{header}.hpp"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f'#include "oneprobe/filter/{other}.hpp"\n', encoding="utf-8")
            found, _ = check_includes.check(Path(folder))
            self.assertEqual(len(found), 1, found)
            self.assertIn("includes itself by way of oneprobe/filter/b.hpp, oneprobe/filter/c.hpp", found[0])

    def test_an_include_of_nothing_is_found(self):
        self.assert_broken("tests/unit/b.cpp", '#include "oneprobe/filter/nowhere.hpp"', "no public header")
        self.assert_broken("src/model/b.cpp", '#include "nowhere.hpp"', "neither beside this file nor a public header")

    def test_a_file_outside_all_rooms_is_found(self):
        for path in ("include/oneprobe/gadgets/b.hpp", "include/oneprobe/b.hpp", "src/b.cpp", "src/gadgets/b.cpp"):
            found = self.violations(path, "")
            self.assertEqual(len(found), 1)
            self.assertIn(f"{path}:1: belongs to no room", found[0])


if __name__ == "__main__":
    unittest.main()
