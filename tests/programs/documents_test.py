"""What the documents name exists: every full `oneprobe` call runs, a short one fails for what it leaves out only, every
function, header and test is there, in more than a comment. The demo and the examples are shown; tests/rendered compares with
what they print.

usage: documents_test.py TOOL PROJECT
"""

import io
import pathlib
import re
import shlex
import subprocess
import sys
import tokenize
import unittest

TOOL, PROJECT = sys.argv[1], pathlib.Path(sys.argv[2])
OUTSIDE_DOCS = ("README.md", "ARCHITECTURE.md", "SECURITY.md", "tests/README.md")
DOCUMENTS = [*(PROJECT / name for name in OUTSIDE_DOCS), *sorted((PROJECT / "docs").rglob("*.md"))]
# Seconds after which a call counts as hanging, however much else runs on the machine.
HANGS = 300
SPAN = re.compile(r"`([^`\n]+)`")
# Words in code style that are no names of ours.
FOREIGN = {"find_package", "add_subdirectory", "target_link_libraries", "pkg_config", "linear_probing"}


# Comments, raw strings, strings and characters of C++. A word that is a whole string is a name: in JSON, or in Python.
CPP_PROSE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"((?:[^"\\\n]|\\.)*)"|(?<!\w)'(?:[^'\\\n]|\\.)+'""", re.DOTALL
)


def names_of_cpp(text):
    code = CPP_PROSE.sub(lambda found: f" {found[2]} " if re.fullmatch(r"\w+", found[2] or "") else " ", text)
    return set(re.findall(r"\w+", code))


def names_of_python(text):
    names = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            names.add(token.string)
        elif token.type == tokenize.STRING and (whole := re.fullmatch(r"""\w*(["'])(\w+)\1""", token.string)):
            names.add(whole[2])
    return names


def names_of_cmake(text):
    return set(re.findall(r"\w+", re.sub(r"#[^\n]*", "", text)))


NAMES_OF = {".hpp": names_of_cpp, ".cpp": names_of_cpp, ".py": names_of_python, ".txt": names_of_cmake}


def names_of(path):
    """The names in a source, which are not in its comments nor in its texts."""
    return NAMES_OF[path.suffix](path.read_text(encoding="utf-8"))


def calls(text):
    """Calls in code spans and in code blocks, continued lines joined; steps of a shell have a test of their own."""
    text = re.sub(r"^```sh\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\\\n\s*", " ", text)
    lines = re.findall(r"^\s*(oneprobe [^\n#]+)$", text, re.MULTILINE) + SPAN.findall(text)
    for line in lines:
        words = line.split()
        complete = words[:1] == ["oneprobe"] and any(word.startswith("--") for word in words)
        if complete and not re.search(r"[…]|\b[A-Z]\b|\bNAME\b", line):
            yield line.strip()


class Documents(unittest.TestCase):
    def test_every_call_runs(self):
        found = {call: document for document in DOCUMENTS for call in calls(document.read_text(encoding="utf-8"))}
        full = 0
        for call, document in found.items():
            with self.subTest(document=document.name, call=call):
                run = subprocess.run([TOOL, *shlex.split(call)[1:]], capture_output=True, text=True, timeout=HANGS)
                full += run.returncode == 0
                if run.returncode != 0:
                    self.assertRegex(run.stderr, r"is missing|needs a value|: give |cannot be read: No such file")
        self.assertGreater(full, 20)

    def test_the_demo_and_every_example_are_shown(self):
        shown = {name for path in DOCUMENTS for name in re.findall(r"^<!-- from: (.+) -->$", path.read_text(encoding="utf-8"), re.M)}
        examples = {f"examples/{path.stem}" for path in (PROJECT / "examples").glob("*.cpp")}
        self.assertGreater(len(examples), 3)
        self.assertLessEqual({"oneprobe demo", *examples}, shown)

    def test_a_name_in_a_comment_or_in_a_sentence_is_none(self):
        self.assertEqual(
            names_of_cpp("int a = 1'000; // b\n/* c\nd */ f(\"e\", \"g h\", 'i', \"\\\"j\", R\"x(k)x\", \"// l\"); m"),
            {"int", "a", "1", "000", "f", "e", "m"},
        )
        self.assertEqual(names_of_python('"""a"""\nb = "c"  # d\ne("f g")\n'), {"b", "c", "e"})
        self.assertEqual(names_of_cmake("add(a) # b\nc"), {"add", "a", "c"})

    def test_every_name_exists(self):
        known = {
            name
            for folder in ("include", "src", "apps", "tests", "fuzz", "tools", "integrations")
            for path in (PROJECT / folder).rglob("*")
            if path.suffix in NAMES_OF
            for name in names_of(path)
        }
        files = {
            path.name
            for folder in ("include", "src", "apps", "tests", "fuzz", "tools", "bench", "integrations")
            for path in (PROJECT / folder).rglob("*")
        }
        for document in DOCUMENTS:
            for span in SPAN.findall(document.read_text(encoding="utf-8")):
                name = re.fullmatch(r"(?:[a-z_]+(?:::|\.))*([a-z]\w*_\w+)(?:\(\))?", span)
                if name and name[1] not in FOREIGN and not re.fullmatch(r"[a-z]_\w{1,4}", name[1]):
                    self.assertTrue(name[1] in known, f"{document.name} names {span}")
                if re.fullmatch(r"[\w/.-]+\.(hpp|cpp|py)", span):
                    self.assertIn(pathlib.PurePosixPath(span).name, files, f"{document.name} names {span}")

    def test_every_function_of_the_models_is_on_the_map_of_the_papers(self):
        page = (PROJECT / "docs" / "papers.md").read_text(encoding="utf-8")
        for header in sorted((PROJECT / "include" / "oneprobe" / "model").glob("*.hpp")):
            code = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
            for name in re.findall(r"^\w[\w:<>, ]*? (\w+)\(", code, re.MULTILINE):
                if name != "name_of":
                    self.assertTrue(f"`{name}`" in page, f"{header.name} declares {name}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
