#!/usr/bin/env python3
"""tools/public_names.py finds public names without a sentence, and takes each kind of sentence for one."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))
import public_names  # noqa: E402

HEADER = """{essay}#pragma once
namespace oneprobe::inline v0_1{inner} {{
{code}
}}  // namespace
"""


class PublicNames(unittest.TestCase):
    def lacking(self, code, essay="", inner="", path="filter/own.hpp", others=()):
        """The names without a sentence in a header with this code, with their lines counted from the first of the code."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            text = HEADER.format(essay=essay, inner=inner, code=code.strip("\n"))
            for place, words in [(path, text), *others]:
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(words, encoding="utf-8")
            names, _ = public_names.read(root)
        self.assertTrue(names)
        first = essay.count("\n") + 2
        return [(name.full, name.line - first) for name in names if not name.why]

    def assert_lacking(self, code, *expected, **more):
        self.assertEqual(self.lacking(code, **more), list(expected), code)

    def assert_complete(self, code, **more):
        self.assert_lacking(code, **more)

    def test_every_kind_of_name_needs_a_sentence(self):
        self.assert_lacking("class silent {};", ("silent", 1))
        self.assert_lacking("struct silent;\nstruct silent {};", ("silent", 2))
        self.assert_lacking("int silent(int x);", ("silent", 1))
        self.assert_lacking("using silent = int;", ("silent", 1))
        self.assert_lacking("inline constexpr int silent = 1;", ("silent", 1))
        self.assert_lacking("template <class T>\nconcept silent = sizeof(T) > 1;", ("silent", 2))
        self.assert_lacking("enum class silent { quiet };", ("silent", 1), ("silent::quiet", 1))
        self.assert_lacking("#define ONEPROBE_SILENT 1", ("ONEPROBE_SILENT", 1))
        self.assert_lacking("int silent();", ("model::silent", 1), inner="::model")

    def test_so_does_every_member(self):
        self.assert_lacking("""
/// A class.
class told {
 public:
  explicit told(int size);
  int silent() const;
  template <class T>
  requires(sizeof(T) > 1) int also_silent(const T& value) noexcept;
  using word = int;
  static constexpr int most = 1;
  struct inner {
    int field = 0;
  };
};
""", ("told::told", 4), ("told::silent", 5), ("told::also_silent", 7), ("told::word", 8), ("told::most", 9), ("told::inner", 10), ("told::inner::field", 11))

    def test_a_sentence_stands_above_or_behind(self):
        self.assert_complete("""
/// An enum.
enum class told : unsigned char {
  one,  // the first
  two,  // the second, of which
        // there is more to say
};

/// A struct
/// of two lines.
template <class T>
struct also_told {
  int field = 0;  // a field
  /// Another.
  int other = 1;
};
/// A function, with '//' in a literal.
inline const char* address() { return "http://"; }
""")

    def test_other_comments_are_no_sentences(self):
        self.assert_lacking("/// REQUIRES: x > 0.\nint silent(int x);", ("silent", 2))
        self.assert_complete("/// Does it. REQUIRES: x > 0.\nint told(int x);")
        self.assert_lacking("// A thought.\nint silent();", ("silent", 2))
        self.assert_lacking("/// A struct.\nstruct told {\n  // parts\n  int silent = 0;\n};  // behind it", ("told::silent", 4))
        self.assert_lacking("int silent(int x) {\n  int y = x;  // a local one\n  return y;\n}", ("silent", 1))

    def test_what_is_not_public_needs_none(self):
        self.assert_complete("""
namespace detail {
struct hidden {};
int hidden_too();
}  // namespace detail
/// A class.
class told {
 protected:
  int for_derived();

 private:
  struct state {};
  int hidden_ = 0;
};
""")
        self.assert_complete("/// A struct.\nstruct told {};", others=[("detail/filter/own.hpp", "#pragma once\nnamespace oneprobe {\nstruct hidden {};\n}\n")])

    def test_a_class_of_detail_is_public_as_a_base(self):
        base = "#pragma once\nnamespace oneprobe {\n/// A base.\nclass base {\n public:\n  int silent();\n};\nclass hidden {};\n}\n"
        lacking = self.lacking("/// A class.\nclass told : public base {};", others=[("detail/filter/own.hpp", base)])
        self.assertEqual([name for name, _ in lacking], ["base::silent"])

    def test_what_public_declarations_name_of_detail_is_public(self):
        inside = """#pragma once
namespace oneprobe {
struct shape {
  int silent = 0;
};
class scheme {
 public:
  void unseen();
};
enum class access { read };
template <class T>
concept plain = sizeof(T) > 1;
struct hidden {};
namespace detail {
struct hidden_too {};
}
}
"""
        lacking = self.lacking("""
/// A class.
template <plain T, class Scheme = scheme>
struct told {
  shape field;            // a field
  detail::hidden_too one;  // another
};
/// Opens.
void open(access how, const char* hidden);
""", others=[("detail/filter/own.hpp", inside)])
        self.assertEqual({name for name, _ in lacking}, {"shape", "shape::silent", "scheme", "access", "access::read", "plain"})

    def test_special_members_and_the_standards_words_need_none(self):
        self.assert_complete("""
/// A class.
class told {
 public:
  told() = default;
  told(const told&) = delete;
  told(told&& other) noexcept;
  told& operator=(told other);
  ~told();
  bool empty() const;
  friend bool operator==(const told&, const told&) = default;
  friend void swap(told& a, told& b);
};
""")

    def test_the_essay_tells_what_the_header_is_named_for(self):
        essay = "// What it does.\n//\n//   own_plan    the plan of it\n"
        self.assert_complete("class own {};\nstruct own_plan {};", essay=essay)
        self.assert_complete("class own_filter {};", essay=essay)
        self.assert_lacking("class other {};", ("other", 1), essay=essay)
        self.assert_lacking("class own {};", ("own", 1))

    def test_overloads_share_a_sentence(self):
        self.assert_complete("/// Told.\nint told(int x);\n\nint told(double x);")
        self.assert_lacking("int told(int x);\n\n/// The same for others.\nint told(double x);", ("told", 1))
        self.assert_lacking("/// Told.\nint told(int x);\nstruct other {\n  int told();\n};", ("other", 3), ("other::told", 4))

    def test_declarations_below_one_sentence_share_it(self):
        self.assert_complete("/// Both.\nint one();\nint two();")
        self.assert_complete("/// Both.\nusing one = int;\nusing two = int;")
        self.assert_complete("/// Both.\ninline constexpr int one = 1;\ninline constexpr long two = 2;")
        self.assert_complete("/// A point.\nstruct point {\n  int x = 0;  // left to right\n};\npoint one();\npoint two();")
        self.assert_lacking("/// One.\nint one();\n\nint two();", ("two", 4))
        self.assert_lacking("/// One.\nint one();\ndouble two();", ("two", 3))
        self.assert_lacking("/// One.\nint one();\nusing two = int;", ("two", 3))
        self.assert_lacking("/// A point.\nstruct point {};\nint two();", ("two", 3))

    def test_fields_do_not(self):
        self.assert_lacking("/// A point.\nstruct point {\n  /// Left to right.\n  int x = 0;\n  int y = 0;\n};", ("point::y", 5))
        self.assert_complete("/// A point: x is left to right, y bottom to top.\nstruct point {\n  int x = 0;\n  int y = 0;\n};")

    def test_what_is_called_as_its_type_needs_none(self):
        plan = "/// A plan.\nstruct own_plan {};\n/// A class.\nclass told {\n public:\n"
        self.assert_complete(plan + "  const own_plan& plan() const;\n};")
        self.assert_lacking(plan + "  own_plan other() const;\n};", ("told::other", 6))
        self.assert_lacking(plan + "  own_plan plan(int size) const;\n};", ("told::plan", 6))

    def test_a_concept_tells_of_members(self):
        concept = """
/// What counts.
template <class Counter>
concept counter = requires(Counter& counts) {
  Counter(1);
  counts.raise();
};
"""
        members = " {\n public:\n  explicit told(int start);\n  void raise();\n};"
        self.assert_complete(concept + "/// A counter.\nclass told" + members)
        self.assert_lacking(concept + "/// A class.\nclass told" + members, ("told::told", 10), ("told::raise", 11))

    def test_a_base_class_tells_of_members(self):
        self.assert_complete("""
/// A base.
struct base {
  /// Does it.
  void run();
};
/// Derived.
struct told : base {
  void run();
};
""")

    def test_a_call_says_the_place_and_the_name(self):
        with tempfile.TemporaryDirectory() as folder:
            header = Path(folder) / "filter" / "own.hpp"
            header.parent.mkdir()
            header.write_text(HEADER.format(essay="", inner="", code="/// Told.\nint told();\n\nint silent();"), encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(public_names.main([folder]), 1)
            self.assertIn("filter/own.hpp:6: silent has no sentence\n", out.getvalue())
            header.write_text(HEADER.format(essay="", inner="", code="/// Told.\nint told();"), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(public_names.main([folder]), 0)


if __name__ == "__main__":
    unittest.main()
