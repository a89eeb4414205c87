"""What the documents name exists: every full `oneprobe` call runs, a short one fails for what it leaves out only, every
function, header and test is there. The demo and the examples are shown; tests/rendered compares with what they print.

usage: documents_test.py TOOL PROJECT
"""

import pathlib
import re
import shlex
import subprocess
import sys
import unittest

TOOL, PROJECT = sys.argv[1], pathlib.Path(sys.argv[2])
DOCUMENTS = [PROJECT / "README.md", PROJECT / "ARCHITECTURE.md", *sorted((PROJECT / "docs").rglob("*.md"))]
SPAN = re.compile(r"`([^`\n]+)`")
# Words in code style that are no names of ours.
FOREIGN = {"find_package", "add_subdirectory", "target_link_libraries", "pkg_config", "linear_probing"}


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
                run = subprocess.run([TOOL, *shlex.split(call)[1:]], capture_output=True, text=True, timeout=60)
                full += run.returncode == 0
                if run.returncode != 0:
                    self.assertRegex(run.stderr, r"is missing|needs a value|: give |cannot be read: No such file")
        self.assertGreater(full, 20)

    def test_the_demo_and_every_example_are_shown(self):
        shown = {name for path in DOCUMENTS for name in re.findall(r"^<!-- from: (.+) -->$", path.read_text(encoding="utf-8"), re.M)}
        examples = {f"examples/{path.stem}" for path in (PROJECT / "examples").glob("*.cpp")}
        self.assertGreater(len(examples), 3)
        self.assertLessEqual({"oneprobe demo", *examples}, shown)

    def test_every_name_exists(self):
        sources = "\n".join(
            path.read_text(encoding="utf-8")
            for folder in ("include", "src", "apps", "tests", "fuzz", "tools", "integrations")
            for path in (PROJECT / folder).rglob("*")
            if path.suffix in {".hpp", ".cpp", ".py", ".txt"}
        )
        known = set(re.findall(r"\w+", sources))
        files = {
            path.name
            for folder in ("include", "src", "apps", "tests", "fuzz", "tools", "bench", "integrations")
            for path in (PROJECT / folder).rglob("*")
        }
        for document in DOCUMENTS:
            for span in SPAN.findall(document.read_text(encoding="utf-8")):
                name = re.fullmatch(r"(?:[a-z_]+(?:::|\.))*([a-z]\w*_\w+)(?:\(\))?", span)
                if name and name[1] not in FOREIGN and not re.fullmatch(r"[a-z]_\w{1,4}", name[1]):
                    self.assertIn(name[1], known, f"{document.name} names {span}")
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
