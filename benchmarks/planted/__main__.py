"""Bugs planted one at a time, and whether the room's own tests find them.

    python -m benchmarks.planted [ROOM …] [--jobs N] [--only TEXT] [--limit SECONDS] [--list]

ROOM is a file of benchmarks/planted/ without its ending, or what several begin with, such as evaluate. The bugs are
data (`benchmarks/planted/bugs.py`). Each is planted in a copy of the tree, and pytest runs until a test fails. Exit
status 1 where a bug cannot be planted, where pytest gives no verdict, or where the test that found a bug fails without
it too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from math import ceil
from pathlib import Path
from queue import SimpleQueue

from benchmarks.planted.bugs import Bug, Unplantable, find, own_tests, read_bugs
from benchmarks.planted.runs import ERROR, ESCAPED, FOUND, PAST_ITS_TIME, Outcome, copy_tree, failing, outcome
from benchmarks.speed.aims import note

ROOT = Path(__file__).parents[2]
SHARE = (11, 12)
"""How many are to be found of how many."""


def main(words: Sequence[str], root: Path = ROOT) -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM")
    parser.add_argument("--jobs", type=int, default=1, help="how many bugs at once, each in its own copy")
    parser.add_argument("--only", default="", metavar="TEXT", help="bugs whose name has this text")
    parser.add_argument("--limit", type=float, default=900.0, metavar="SECONDS", help="for one bug")
    parser.add_argument("--list", action="store_true", help="only say where each would be planted")
    options = parser.parse_args(words)
    every = read_bugs()
    for room in options.rooms:
        if not any(bug.file.startswith(room) for bug in every):
            parser.error(f"no bugs in '{room}'; there are {', '.join(sorted({bug.file for bug in every}))}")
    bugs = [bug for bug in every if not options.rooms or bug.file.startswith(tuple(options.rooms))]
    bugs = [bug for bug in bugs if options.only in bug.name]
    if options.list:
        return listed(bugs, root)
    outcomes = run(bugs, root, options.jobs, options.limit)
    print("\n".join(table(outcomes)), flush=True)
    found = sum(one.kind == FOUND for one in outcomes)
    need = ceil(len(outcomes) * SHARE[0] / SHARE[1])
    missed = None if found >= need else "the escaped ones have no test that fails"
    note("bugs planted that the room's own tests find", f"at least {need} of {len(bugs)}", f"{found}", missed=missed)
    return 1 if any(one.kind == ERROR for one in outcomes) else 0


def listed(bugs: Iterable[Bug], root: Path) -> int:
    """Print where each would be planted, or why it cannot be; 1 where one cannot."""
    lacking = 0
    for bug in bugs:
        try:
            place = find(bug, root)
            tests = own_tests(bug, place, root)
            print(f"{bug.file}: {bug.name}: {place.path}:{place.line}, {len(tests)} test files, {tests[0]} first")
        except Unplantable as problem:
            lacking += 1
            print(f"{bug.file}: {bug.name}: {problem}")
    return 1 if lacking else 0


def run(bugs: Sequence[Bug], root: Path, jobs: int, limit_s: float) -> list[Outcome]:
    """What came of each, in their order; how far it is goes to stderr."""
    with ExitStack() as stack:
        copies: SimpleQueue[Path] = SimpleQueue()
        for _ in range(max(1, min(jobs, len(bugs)))):
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="planted-")))
            copy_tree(root, copy)
            copies.put(copy)

        def one(bug: Bug) -> Outcome:
            copy = copies.get()
            try:
                found = outcome(bug, copy, limit_s)
            finally:
                copies.put(copy)
            print(f"{found.kind:8}{found.seconds:5.0f} s  {bug.file}: {bug.name}  {found.told}", file=sys.stderr)
            return found

        with ThreadPoolExecutor(max(1, jobs)) as pool:
            outcomes = list(pool.map(one, bugs))
        tests = [each.told for each in outcomes if each.kind == FOUND and "::" in each.told]
        wrong = failing(tests, copies.get(), time_for(outcomes))
    return [
        replace(each, kind=ERROR, told=f"{each.told} {wrong[each.told]}") if each.told in wrong else each
        for each in outcomes
    ]


def time_for(outcomes: Iterable[Outcome]) -> float:
    """Seconds that the tests that found something may take together, all of them at once."""
    return 600.0 + 2 * sum(each.seconds for each in outcomes)


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Rows by room, and below them the bugs that escaped and those of which nothing is known."""
    lines = ["| room | planted | found | escaped | errors |", "|---|---|---|---|---|"]
    rooms = {
        room: [each for each in outcomes if each.bug.file == room] for room in {each.bug.file for each in outcomes}
    }
    for room, of_room in [*sorted(rooms.items()), ("sum", list(outcomes))]:
        counts = [sum(each.kind == kind for each in of_room) for kind in (FOUND, ESCAPED, ERROR)]
        lines.append(f"| {room} | {len(of_room)} | {' | '.join(map(str, counts))} |")
    hung = [each for each in outcomes if each.told == PAST_ITS_TIME]
    told = [*hung, *(each for kind in (ESCAPED, ERROR) for each in outcomes if each.kind == kind)]
    return [
        *lines,
        "",
        *(f"- {each.kind}: {each.bug.file}: {each.bug.name}. {each.told}".rstrip() for each in told),
        "",
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
