#!/usr/bin/env python3
"""Completion scripts and the manual page know every command and option; a mistyped word gets the nearest one."""

import subprocess
import unittest

from tool import MODELS, run


def bash_answers(*words):
    """What bash offers for the last of these words."""
    script = run("--completion", "bash").stdout + (
        f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _oneprobe\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "--norc"], input=script, capture_output=True, text=True, check=True)
    return done.stdout.split()


class Completion(unittest.TestCase):
    def test_names_are_completed(self):
        self.assertEqual(bash_answers("oneprobe", "pl"), ["plan"])
        self.assertEqual(set(bash_answers("oneprobe", "model", "")) & set(MODELS), set(MODELS))

    def test_options_are_those_of_the_command(self):
        self.assertEqual(bash_answers("oneprobe", "plan", "filter", "--fp"), ["--fpr"])
        self.assertEqual(bash_answers("oneprobe", "plan", "filter", "--elements", "1M", "--bytes", "2", "--fp"), ["--fpr"])
        self.assertNotIn("--fpr", bash_answers("oneprobe", "plan", "table", "--f"))

    def test_anything_else_is_a_file(self):
        self.assertEqual(bash_answers("oneprobe", "filter", "info", "/etc/hostn"), ["/etc/hostname"])

    def test_the_script_for_zsh_has_the_same_words(self):
        script = run("--completion", "zsh").stdout
        self.assertTrue(script.startswith("#compdef oneprobe\n"))
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)
        for name in MODELS:
            self.assertIn(f'(" model {name}") compadd -- --', script)

    def test_other_shells_are_refused(self):
        outcome = run("--completion", "fish")
        self.assertEqual((outcome.code, outcome.stdout), (2, ""))
        self.assertEqual(outcome.stderr, "oneprobe: --completion must be bash or zsh; found 'fish'\n")


class Manual(unittest.TestCase):
    def test_it_is_a_manual_page_without_faults(self):
        page = run("--manual").stdout
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True)
        # A page without a date is a choice: the same sources make the same page.
        faults = [line for line in lint.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(faults, [])

    def test_it_has_the_help_of_every_command(self):
        read = subprocess.run(["mandoc", "-T", "ascii"], input=run("--manual").stdout, capture_output=True, text=True)
        text = read.stdout.replace("_\b", "")
        for line in run("plan", "filter", "--help").stdout.splitlines():
            self.assertIn(line.strip(), text)


class Suggestions(unittest.TestCase):
    def test_the_nearest_word_is_named(self):
        for call, meant in (
            ("plan filter --element 5", "'--element'; did you mean --elements?"),
            ("plan filter --elemnets=5", "'--elemnets=5'; did you mean --elements?"),
            ("pln", "'pln'; did you mean plan?; one of"),
            ("model flud", "'flud'; did you mean fluid?; one of"),
            # Also where a name of another place stands behind it.
            ("plna filter --elements 5 --fpr 0.1", "oneprobe: unknown name 'plna'; did you mean plan?"),
            ("plan fliter table", "oneprobe plan: unknown name 'fliter'; did you mean filter?"),
            ("help paln", "'paln'; did you mean plan?"),
        ):
            outcome = run(call)
            self.assertEqual((outcome.code, outcome.stdout), (2, ""), call)
            self.assertIn(meant, outcome.stderr)
            self.assertEqual(outcome.stderr.count("\n"), 1)

    def test_where_none_is_near_none_is_named(self):
        self.assertNotIn("did you mean", run("plan filter --xyzzy").stderr)


if __name__ == "__main__":
    unittest.main()
