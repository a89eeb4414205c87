#!/usr/bin/env python3
"""Checks which files include which. Prints file:line and the rule broken; exit code 1 if any is.

usage: check_includes.py [ROOT]      ROOT defaults to the project this script lies in
"""

import re
import sys
from pathlib import Path, PurePosixPath

# The rooms of the library and the rooms each may include besides itself. A room is a folder of include/oneprobe/, the folder of
# its name in detail/, and the folder of its name in src/.
SHARED = {"base", "hash", "plans", "placement", "io"}
ROOMS = {
    "base": set(),
    "hash": {"base"},
    "plans": {"base"},
    "placement": {"base", "hash"},
    "io": {"base", "plans"},
    "simd": {"base"},
    "filter": SHARED | {"simd"},
    "map": SHARED,
    "one_probe": SHARED | {"map"},
    "page_store": SHARED | {"one_probe"},
    "baseline": SHARED | {"map", "one_probe"},
    "balancer": SHARED,
    "model": {"base"},
    "plan": {"base", "plans", "model"},
    "sim": {"base", "hash", "plans", "placement"},
}
# Where a file is in another room than its folder says. The parameters and the answers of a product are plain structs, which products
# and the planner share.
ROOM_OF = {
    "version.hpp": "base", "key_hash.hpp": "base", "hash_feed.hpp": "base", "scheme_kind.hpp": "base", "erase_outcome.hpp": "base", "memory.hpp": "base",
    "files.hpp": "base", "hash.hpp": "hash", "universal_hash.hpp": "hash", "balancer.hpp": "balancer", "balancer_plan.hpp": "plans",
    "filter/block_rules.hpp": "base",
    "filter/plan.hpp": "plans", "filter/default_plan.hpp": "plans", "map/default_plan.hpp": "plans", "filter/results.hpp": "plans", "map/plan.hpp": "plans", "map/results.hpp": "plans",
    "map/chain_plan.hpp": "plans", "one_probe/plan.hpp": "plans", "one_probe/results.hpp": "plans",
    "one_probe/interpolation_plan.hpp": "plans", "page_store/plan.hpp": "plans",
    "detail/planning": "plans", "detail/generated": "plans", "detail/simd/isa.hpp": "base",
}
# It includes the public headers of all products.
UMBRELLA = "oneprobe.hpp"
# Compiled parts with a header of their own, <part>/<name>, for the users named; they are neither installed nor promised. What
# measures and what shows the library is compiled as users compile it.
INTERNAL_PARTS = {"handles": SHARED | {"filter", "map"}}
USERS_OF_INTERNAL_PARTS = ("apps", "integrations", "tests", "fuzz")
NEVER_WITH_INTERNAL_PARTS = ("apps/cli/bench/", "integrations/python/bench/")
# What shows how the library is used does not name what is inside it.
NEVER_INSIDE = ("examples",)

# Folders that use the library. They see everything public, and the library never sees them.
USERS = ("apps", "integrations", "bench", "tests", "fuzz", "examples")

# Folders that are compiled with themselves as an include folder, so that their files find shared headers from below.
INCLUDE_ROOTS = ("tests", "apps/cli", "apps")

# What looks inside a program (tests, fuzzers) or is a part of it (the explorer) includes its headers as the program does.
TESTS_OF_PROGRAMS = {
    "tests/unit/cli": "apps/cli", "tests/calls": "apps/cli", "fuzz": "apps/cli", "apps/explorer": "apps/cli",
}

# Boost stays inside the compiled parts; the benchmarks measure it as a peer.
BOOST_ALLOWED = (
    "src/model/", "src/plan/", "src/sim/", "bench/", "apps/cli/bench/boost_bloom.cpp",
    "apps/cli/bench/table_peers/boost_flat_map.cpp",
)

STANDARD_HEADERS = set(
    """
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal
    cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem
    format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator
    latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random
    ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
    stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex typeinfo
    unordered_map unordered_set utility valarray variant vector version
    """.split()
)
# Vector instructions and memory mapping have no header in the standard library.
PLATFORM_HEADERS = {
    "arm_neon.h", "cpuid.h", "emmintrin.h", "fcntl.h", "immintrin.h", "sys/mman.h", "sys/random.h", "sys/stat.h", "sys/types.h",
    "unistd.h",
}
LIBRARY_MAY_USE = STANDARD_HEADERS | PLATFORM_HEADERS | {"xxhash.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE_SUFFIXES = {".hpp", ".cpp", ".h", ".inc", ".ipp"}


def normalised(path):
    """The path with '..' resolved; None if it leaves the project."""
    parts = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def room_of(path):
    """The room of a file under include/oneprobe/ or src/: its name, '' if it has none, None if it is elsewhere."""
    parts = path.parts
    if parts[:2] == ("include", "oneprobe"):
        name = "/".join(parts[2:])
        for length in range(len(parts), 2, -1):
            if room := ROOM_OF.get("/".join(parts[2:length])):
                return room
        if name == UMBRELLA:
            return UMBRELLA
        folders = parts[3:-1] if parts[2] == "detail" else parts[2:-1]
        return folders[0] if folders and folders[0] in ROOMS else ""
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 and parts[1] in ROOMS | INTERNAL_PARTS else ""
    return None


def included_file(root, including, quoted, name):
    """The project file an #include names, relative to the root; None if it is not one of ours."""
    if quoted:
        beside = normalised(including.parent / name)
        if beside is not None and (root / beside).is_file():
            return beside
        for folder in INCLUDE_ROOTS:
            if including.is_relative_to(folder) and (root / folder / name).is_file():
                return PurePosixPath(folder) / name
        for tests, program in TESTS_OF_PROGRAMS.items():
            if including.is_relative_to(tests) and (root / program / name).is_file():
                return PurePosixPath(program) / name
        if name.split("/")[0] in INTERNAL_PARTS:
            return PurePosixPath("src") / name
    if name.startswith("oneprobe/"):
        return PurePosixPath("include") / name
    return None


def broken_rule(root, including, quoted, name):
    """What is wrong with one #include, or None."""
    if name.startswith("boost/") and not str(including).startswith(BOOST_ALLOWED):
        return f"Boost may be used only in {', '.join(BOOST_ALLOWED)}"

    room = room_of(including)
    target = included_file(root, including, quoted, name)

    if target is None:
        if quoted:
            return f'"{name}" is neither beside this file nor a public header'
        if room is None or name.startswith("boost/"):
            return None
        if name not in LIBRARY_MAY_USE:
            return f"the library uses the standard library and xxhash.h only, not <{name}>"
        return None

    if target.parts[0] == "include" and not (root / target).is_file():
        return f"there is no public header {name}"
    if name.split("/")[0] in INTERNAL_PARTS:
        if not (root / target).is_file():
            return f"there is no header {target}"
        part = target.parts[1]
        if including.parts[0] in USERS_OF_INTERNAL_PARTS and not str(including).startswith(NEVER_WITH_INTERNAL_PARTS):
            return None
        return f"{part} is for {', '.join(USERS_OF_INTERNAL_PARTS)}, and not where the library is measured or shown"

    target_room = room_of(target)
    if room is None:  # a user of the library
        if str(including).startswith(NEVER_INSIDE) and name.startswith("oneprobe/detail/"):
            return f"{name} is inside the library; {', '.join(NEVER_INSIDE)} show what is public"
        if target.parts[0] == "src":
            return "src/ is private to the library"
        program = TESTS_OF_PROGRAMS.get(str(including.parent))
        if program is not None and target.is_relative_to(program):
            return None
        if target_room is None and target.parts[0] != including.parts[0]:
            return f"{including.parts[0]}/ may not include from {target.parts[0]}/"
        return None

    if target_room is None:
        return f"the library may not include from {target.parts[0]}/"
    if target.parts[0] == "src" and including.parts[:2] != target.parts[:2]:
        return f"{'/'.join(target.parts[:2])}/ is private to its part of the library"
    if not target_room:
        return f"{name} belongs to no room"
    if room == UMBRELLA:
        return None
    rooms = ROOMS | INTERNAL_PARTS
    if target_room != room and target_room not in rooms[room]:
        allowed = ", ".join(sorted(rooms[room])) or "nothing else"
        return f"{room} may not include {target_room} (it may include: {allowed})"
    return None


def project_files(root):
    for folder in ("include", "src") + USERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield PurePosixPath(path.relative_to(root).as_posix())


def circle(root):
    """Headers of the library of which each includes the next and the last the first; nothing if there are none."""
    included = {}
    for path in sorted((root / "include").rglob("*.hpp")):
        names = (match.group(2) for match in map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines()) if match)
        included[path.relative_to(root / "include").as_posix()] = [name for name in names if name.startswith("oneprobe/")]
    done = set()

    def visit(header, way):
        if header in way:
            return way[way.index(header):]
        if header in done:
            return None
        done.add(header)
        return next((found for name in included.get(header, ()) if (found := visit(name, [*way, header]))), None)

    return next((found for header in included if (found := visit(header, []))), None)


def check(root):
    """All violations under root as 'file:line: rule', and the number of files looked at."""
    violations = []
    count = 0
    for path in project_files(root):
        count += 1
        if room_of(path) == "":
            violations.append(f"{path}:1: belongs to no room (the rooms: {', '.join(ROOMS)})")
            continue
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            match = INCLUDE.match(line)
            if match:
                rule = broken_rule(root, path, match.group(1) == '"', match.group(2))
                if rule:
                    violations.append(f"{path}:{number}: {rule}")
    if headers := circle(root):
        violations.append(f"include/{headers[0]}:1: includes itself by way of {', '.join(headers[1:]) or 'nothing else'}")
    return violations, count


def main(arguments):
    if len(arguments) > 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    violations, count = check(root)
    for violation in violations:
        print(violation)
    if count == 0:
        print(f"no source files under {root}", file=sys.stderr)
        return 1
    print(f"{count} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
