#!/usr/bin/env python3
"""The documents, and the comments and strings of the sources, use none of the words in BANNED: elements, keys and callers are *it*.

usage: words_test.py
"""

import io
import re
import sys
import tempfile
import tokenize
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# What is not to be written, and what to write instead. Words of a phrase may be in two lines.
BANNED = {
    "somebody": "name it: an element, a caller, another process",
    "somebody's": "another process's, an attacker's",
    "somebody else's": "another library, another process's",
    "someone": "name it: an element, a caller, another process",
    "nobody": "no element, no caller, no thread",
    "anybody": "any element, any caller",
    "anybody's": "any caller's",
    "everybody": "every element, every caller",
    "whoever": "code that, a caller that, a process that",
    "whom": "which elements, what",
    "who": "which, what; an element that, a caller that",
    "he": "it",
    "him": "it",
    "his": "its",
    "beforehand": "in advance",
    "in vain": "needlessly",
    "asks of": "checks, requires",
    "asked of": "looked up in, requested from, required of",
    "is told": "gets, learns",
    "are told": "get, learn",
    "handed on": "passed on",
    "hands on": "passes on",
    "dearer": "more expensive",
}

# Uses that are right where they are: (file, word).
ALLOWED = set()

PAGES = ("*.md", "docs/**/*.md", "tests/README.md", ".github/**/*.md")
FOLDERS = ("include", "src", "apps", "integrations", "examples", "bench", "fuzz", "tools")
SUFFIXES = (".hpp", ".cpp", ".py", ".md")
SKIPPED = ("docs/benchmarks/",)

BY_WORDS = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(r"\s+".join(map(re.escape, words.split())) for words in sorted(BANNED, key=len, reverse=True))
    + r")(?![\w-])",
    re.IGNORECASE,
)
CPP = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)\""""
    r"""|(?<!\w)'(?:[^'\\\n]|\\.)+'""",
    re.DOTALL,
)
COMMENT_MARK = re.compile(r"^[ \t]*(?://[/!]?<?|/\*+|\*+/?)", re.MULTILINE)


def blank(code):
    """The same lines, with nothing that a phrase could span."""
    return re.sub(r"\S", "\0", code)


def prose_of_cpp(source):
    """Comments and strings, each in its line. Neighbours read as one text."""
    parts, end = [], 0
    for found in CPP.finditer(source):
        parts.append(blank(source[end : found.start()]))
        end = found.end()
        if found["comment"] is not None:
            parts.append(COMMENT_MARK.sub(" ", found["comment"]))
        elif found["raw"] is not None:
            parts.append(found["raw"])
        elif found["text"] is not None:
            parts.append(found["text"].replace("\\n", " "))
        else:
            parts.append(blank(found[0]))
    return "".join([*parts, blank(source[end:])])


def prose_of_python(source):
    """Comments and docstrings, each in its line."""
    lines = source.splitlines()
    prose = ["\0"] * len(lines)
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        first, column = token.start
        if token.type == tokenize.COMMENT:
            # One that is alone in its line goes on with the line above.
            prose[first - 1] = ("\0" if lines[first - 1][:column].strip() else "") + token.string.lstrip("#")
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            prose[first - 1 : token.end[0]] = token.string.replace('"""', " ").split("\n")
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return "\n".join(prose)


PROSE_OF = {".md": str, ".hpp": prose_of_cpp, ".cpp": prose_of_cpp, ".py": prose_of_python}


def files(project):
    found = {path for pattern in PAGES for path in project.glob(pattern)}
    found |= {path for folder in FOLDERS for path in (project / folder).rglob("*") if path.suffix in SUFFIXES}
    return {name: path for path in sorted(found) if not (name := path.relative_to(project).as_posix()).startswith(SKIPPED)}


def complaints(project):
    """One line for each banned word."""
    found = []
    for name, path in files(project).items():
        prose = PROSE_OF[path.suffix](path.read_text(encoding="utf-8"))
        for hit in BY_WORDS.finditer(prose):
            words = " ".join(hit[0].lower().split())
            if (name, words) not in ALLOWED:
                line = prose.count("\n", 0, hit.start()) + 1
                found.append(f"{name}:{line}: '{words}'; write: {BANNED[words]}")
    return found


class Words(unittest.TestCase):
    def found(self, name, text):
        """The words found where this file has this text: line and word."""
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder)
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return [tuple(one.split("; write")[0].split(":", 1)[1].split(": ", 1)) for one in complaints(project)]

    def test_documents_and_sources_have_none(self):
        self.assertGreater(len(files(ROOT)), 400)
        self.assertEqual("\n".join(complaints(ROOT)), "")

    def test_every_use_that_is_allowed_is_there(self):
        for name, words in ALLOWED:
            prose = PROSE_OF[Path(name).suffix]((ROOT / name).read_text(encoding="utf-8"))
            self.assertIn(words, [" ".join(hit[0].lower().split()) for hit in BY_WORDS.finditer(prose)], name)

    def test_each_word_is_found_in_a_document(self):
        for words in BANNED:
            for text in (words, words.capitalize(), words.replace(" ", "\n"), f"*{words}*,"):
                self.assertEqual(self.found("docs/deep/a.md", f"One line.\n{text}\n"), [("2", f"'{words}'")], text)

    def test_other_words_are_not(self):
        text = "the, then, whole, whose, history, busybody, in vainglory, he-man, told\n\nis\n\ntells of asks\n"
        self.assertEqual(self.found("docs/a.md", text), [])
        self.assertEqual(self.found("elsewhere/a.md", "nobody\n"), [])
        self.assertEqual(self.found("docs/benchmarks/a.md", "nobody\n"), [])

    def test_comments_and_strings_of_cpp_are_read_and_code_is_not(self):
        self.assertEqual(self.found("include/a.hpp", "enum class lock { nobody, who };  // none\nconst char c = '\"';\n"), [])
        for text in (
            "int a;  // nobody\n", "/// nobody\n", "/* x\n   nobody */\n", 'f("nobody");\n', 'f(R"x(a "\nnobody)x");\n', "f('\"');  // nobody\n",
        ):
            self.assertEqual([word for _, word in self.found("src/a.cpp", f"int who;\n{text}")], ["'nobody'"], text)

    def test_phrases_over_two_lines_are_found(self):
        self.assertEqual(self.found("src/a.cpp", "  // reads in\n  // vain\n"), [("1", "'in vain'")])
        self.assertEqual(self.found("src/a.cpp", 'f("reads in "\n  "vain");\n'), [("1", "'in vain'")])
        self.assertEqual(self.found("integrations/a.py", "# reads in\n# vain\n"), [("1", "'in vain'")])
        self.assertEqual(self.found("src/a.cpp", "// reads in\nint vain;\nint x;  // in\nf(); // vain\n"), [])

    def test_comments_and_docstrings_of_python_are_read_and_other_strings_are_not(self):
        self.assertEqual(self.found("integrations/a.py", 'who = ["nobody"]\nf("nobody")\n'), [])
        text = '"""A module.\n\nnobody\n"""\n\n\ndef f():\n    """nobody"""\n    return 1  # nobody\n'
        self.assertEqual(self.found("integrations/a.py", text), [(line, "'nobody'") for line in ("3", "8", "9")])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
