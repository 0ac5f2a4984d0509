"""Tests with a bug in place, in a copy of the tree: whether one of them fails."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted.bugs import Bug, Place, Unplantable, find, own_tests

FOUND, ESCAPED, ERROR = "found", "escaped", "error"
PAST_ITS_TIME = "ran past its time"
PASSED, FAILED = 0, 1
"""pytest's exit statuses; all others are errors."""

UNWANTED = ("cacheprovider", "ragassay", "langsmith_plugin")
"""Plugins of pytest: two that import half of what is installed, which takes longer than most tests."""

FIRST = 2
"""How many test files run by themselves first: most bugs need no more, and to collect many takes longer than to run."""


@dataclass(frozen=True)
class Outcome:
    """told: the test that found it, that it hung, or what went wrong; seconds: of the clock."""

    bug: Bug
    kind: str
    told: str = ""
    seconds: float = 0.0


def copy_tree(root: Path, copy: Path) -> None:
    """What git has or would take of the tree, links as links."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if os.path.lexists(root / name):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name, follow_symlinks=False)


def outcome(bug: Bug, copy: Path, limit_s: float) -> Outcome:
    """What the room's own tests say of the bug, those first that are nearest to it; the copy is as before then.

    limit_s: of the clock, for both; a bug under which they run longer is found, and told so.
    """
    begun = time.monotonic()
    try:
        place = find(bug, copy)
        tests = own_tests(bug, place, copy)
    except Unplantable as problem:
        return Outcome(bug, ERROR, str(problem))
    kind, told = ESCAPED, ""
    try:
        _write(copy, place, place.with_bug(bug.new))
        for files in filter(None, (tests[:FIRST], tests[FIRST:])):
            status, output = _pytest(copy, files, limit_s - (time.monotonic() - begun))
            kind, told = judged(status, output)
            if kind != ESCAPED:
                break
    finally:
        _write(copy, place, place.text)
    return Outcome(bug, kind, told, time.monotonic() - begun)


def judged(status: int | None, output: str) -> tuple[str, str]:
    """(kind, what is told) of an exit status of pytest, None where it ran past its time, and of what it printed."""
    if status is None:
        return FOUND, PAST_ITS_TIME
    if status == PASSED:
        return ESCAPED, ""
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::[^\s\[]+)", output, re.MULTILINE)
    if status == FAILED and failed:
        return FOUND, failed[-1]  # above it may be what a test itself had pytest say
    return ERROR, f"pytest ended with status {status}: {output.strip()[-500:]}"


def failing(tests: Sequence[str], copy: Path, limit_s: float) -> dict[str, str]:
    """Of these tests those that fail without any bug, to what is wrong: they have found nothing."""
    wrong = {}
    if tests:
        status, output = _pytest(copy, sorted(set(tests)), limit_s, first=False)
        failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+::[^\s\[]+)", output, re.MULTILINE))
        wrong = {test: "fails without a bug too" for test in tests if test in failed}
        if status != PASSED and not failed:
            wrong = {test: f"without a bug: {judged(status, output)[1]}" for test in tests}
    return wrong


def _pytest(copy: Path, tests: Sequence[str], limit_s: float, *, first: bool = True) -> tuple[int | None, str]:
    """(exit status, output) in the copy, until the first that fails; no status where it runs past its time."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *(["-x"] if first else [])]
    command += [f"-pno:{name}" for name in UNWANTED]
    environment = os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "400", "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        [*command, *tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output = process.communicate(timeout=max(1.0, limit_s))[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""


def _write(copy: Path, place: Place, text: str) -> None:
    """And away with what Python compiled, which it takes for new where size and second are the same."""
    path = copy / place.path
    path.write_text(text, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()
