"""Parts of what a program prints, as documents show them: found again when the program prints something else."""

import difflib
import re

DOTS = "..."  # a line of a document that stands for any number of lines
TIME = re.compile(r" in \S+ s, .* per second")  # another one each time


def stands_in(shown, printed):
    """Whether the lines are those printed, with any number of others where there are dots."""
    if DOTS not in shown:
        return shown == printed
    first = shown.index(DOTS)
    head, rest = shown[:first], shown[first + 1:]
    if printed[:first] != head:
        return False
    return any(stands_in(rest, printed[i:]) for i in range(first, len(printed) + 1)) if rest else True


def place(shown, printed, begin=0):
    """From where to where the lines stand in what is printed, behind `begin`; or those lines that are most like them."""
    count = len(shown)
    for at in range(begin, len(printed) - count + 1):
        if printed[at:at + count] == shown:
            return at, at + count

    def words(lines):
        return [" ".join(re.sub(r"[\d.,]+", "0", line).split()) for line in lines]

    ours, theirs = words(shown), words(printed)
    matcher = difflib.SequenceMatcher(lambda line: not line, ours, theirs[begin:], autojunk=False)
    *matches, _ = matcher.get_matching_blocks()
    if matches:  # what is before the first and behind the last of them has as many lines as before
        first, last = matches[0], matches[-1]
        return max(begin, begin + first.b - first.a), min(len(printed), begin + last.b + count - last.a)

    def likeness(at):
        return difflib.SequenceMatcher(None, "\n".join(ours), "\n".join(theirs[at:at + count])).ratio()

    at = max(range(begin, max(begin + 1, len(printed) - count + 1)), key=likeness)
    return at, min(at + count, len(printed))


def with_times_of(shown, printed):
    """What is printed, but where a line differs in its time only, the line that is shown."""
    known = {TIME.sub("", line): line for line in shown if TIME.search(line)}
    return [known.get(TIME.sub("", line), line) if TIME.search(line) else line for line in printed]


def updated(shown, printed):
    """The lines shown, as they are printed now. Without dots that is all that is printed."""
    printed = with_times_of(shown, printed)
    if DOTS not in shown:
        return printed
    if stands_in(shown, printed):
        return shown
    dots = [-1, *(at for at, line in enumerate(shown) if line == DOTS), len(shown)]
    found, end = [], 0
    for before, behind in zip(dots, dots[1:]):
        if behind > before + 1:
            begin, stop = place(shown[before + 1:behind], printed, end)
            begin, end = begin if before >= 0 else 0, stop if behind < len(shown) else len(printed)
            found += printed[begin:end]
        found.append(DOTS)
    return found[:-1]


def part(shown, printed):
    """The same for lines that stand somewhere in what is printed."""
    return updated([DOTS, *shown, DOTS], printed)[1:-1]


def shares(blocks, printed):
    """All that is printed, cut where each of the blocks begins; without empty lines at the ends."""
    begins = [place(block, printed)[0] for block in blocks]
    order = sorted(range(len(blocks)), key=begins.__getitem__)
    found = {}
    for at, index in enumerate(order):
        begin = begins[index] if at > 0 else 0
        end = begins[order[at + 1]] if at + 1 < len(order) else len(printed)
        found[index] = "\n".join(printed[begin:end]).strip("\n").splitlines()
    return [found[index] for index in range(len(blocks))]
