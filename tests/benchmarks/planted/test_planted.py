"""Planted bugs: where they are planted, in which way, and what pytest's exit statuses say of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.places import ROOT

from benchmarks.planted.__main__ import listed, table
from benchmarks.planted.bugs import Bug, Unplantable, find, own_tests, read_bugs
from benchmarks.planted.runs import ERROR, ESCAPED, FOUND, Outcome, copy_tree, failing, judged, outcome

CODE = """def mean(values):
    if values:
        total = sum(
            values,  # all of them
        )
        return total / len(values)
    raise ValueError("no values")
"""
TEST = """from ragassay.room.means import mean


def test_the_mean_of_two():
    assert mean([1, 3]) == 2
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "room/means.py": CODE,
        "room/__init__.py": "",
        "tests/room/test_means.py": TEST,
        "tests/room/test_other.py": "def test_nothing():\n    assert [1]\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "ragassay").mkdir()
    (tmp_path / "ragassay" / "room").symlink_to("../room")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def bug(old: str, new: str) -> Bug:
    return Bug("room", "a bug", old, new, ("room",), ("tests/room",))


def planted(root: Path, old: str, new: str) -> str:
    return find(bug(old, new), root).with_bug(new)


def test_a_piece_of_a_line_is_replaced_and_the_rest_stays(root: Path) -> None:
    assert planted(root, "total / len(values)", "total") == CODE.replace("total / len(values)", "total")


def test_how_lines_break_and_how_far_they_are_indented_does_not_count(root: Path) -> None:
    was = "        total = sum(\n            values,  # all of them\n        )\n        return total / len(values)\n"
    now = "        if True:\n            return 0\n        pass\n"
    new = "\n  if True:\n      return 0\n  pass\n"
    assert planted(root, "total = sum(values)\nreturn total / len( values )", new) == CODE.replace(was, now)


def test_words_are_whole(root: Path) -> None:
    for old in ("otal / len(values)", "return tota", "deff mean", "returntotal"):
        with pytest.raises(Unplantable, match=r"^gone: its code stands nowhere in room$"):
            find(bug(old, "0"), root)


def test_what_stands_twice_is_planted_nowhere(root: Path) -> None:
    (root / "room" / "sub").mkdir()
    (root / "room" / "sub" / "more.md").write_text("\n\nthe total / len(values)\n")
    with pytest.raises(Unplantable, match=r"^ambiguous: room/means.py:6, room/sub/more.md:3$"):
        find(bug("total / len(values)", "total"), root)
    assert listed([bug("total / len(values)", "total")], root) == 1
    assert listed([bug("return total / len(values)", "return total")], root) == 0


def test_tests_near_the_bug_come_first_and_none_is_an_error(root: Path) -> None:
    (root / "room" / "means.py").write_text(f"{CODE}\ndef of_two(a, b):\n    return mean([a, b])\n\n\nx = of_two\n")
    (root / "tests" / "room" / "test_a.py").write_text("from ragassay.room import means\n")
    (root / "tests" / "room" / "test_b.py").write_text("from ragassay.room.means import x\n")
    (root / "tests" / "room" / "test_c.py").write_text("from ragassay.room.means import of_two\n")
    place = find(bug("values,", "0"), root)
    names = ["means", "c", "b", "a", "other"]
    assert own_tests(bug("", ""), place, root) == [f"tests/room/test_{name}.py" for name in names]
    with pytest.raises(Unplantable, match="tests/gone is gone"):
        own_tests(Bug("room", "", "", "", ("room",), ("tests/gone",)), place, root)


def test_found_escaped_and_what_pytest_cannot_say(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # ours would load the whole package
    copy = tmp_path_factory.mktemp("copy")
    copy_tree(root, copy)
    assert (copy / "ragassay" / "room").is_symlink()
    test = "tests/room/test_means.py::test_the_mean_of_two"
    for old, new, kind, told in [
        ("total / len(values)", "total * len(values)", FOUND, test),
        ('raise ValueError("no values")', "return 0", ESCAPED, ""),
        ("def mean(values):", "def mean(values=given):", ERROR, "pytest ended with status 1"),
        ("def mean(values):", "def mean(values:", ERROR, "room/means.py:1 would not be Python"),
        ("def median(values):", "", ERROR, "gone"),
    ]:
        found = outcome(bug(old, new), copy, 60.0)
        assert (found.kind, found.told[: len(told)]) == (kind, told)
        assert (copy / "room" / "means.py").read_text() == CODE
    assert failing([test], copy, 60.0) == {}
    (copy / "room" / "means.py").write_text(CODE.replace("/", "*"))
    assert failing([test], copy, 60.0) == {test: "fails without a bug too"}


@pytest.mark.parametrize(
    ("status", "output", "kind"),
    [
        (0, "", ESCAPED),
        (1, "FAILED tests/a.py::test_b[c - d] - assert", FOUND),
        (1, "ERROR tests/a.py::test_b - no fixture", FOUND),
        (1, "Traceback", ERROR),
        (2, "ERROR tests/a.py", ERROR),
        (4, "", ERROR),
        (5, "no tests ran", ERROR),
        (-9, "", ERROR),
        (None, "", FOUND),
    ],
)
def test_exit_statuses(status: int | None, output: str, kind: str) -> None:
    assert judged(status, output)[0] == kind


def test_the_table_counts_by_room_and_names_what_escaped() -> None:
    one = bug("a", "b")
    lines = table([Outcome(one, FOUND, "t::x"), Outcome(one, ESCAPED), Outcome(one, ERROR, "gone")])
    assert lines[2:] == ["| room | 3 | 1 | 1 | 1 |", "| sum | 3 | 1 | 1 | 1 |", "", "- escaped: room: a bug.",
                         "- error: room: a bug. gone", ""]  # fmt: skip


def test_the_lists_can_be_read_and_name_rows_of_where_it_is_decided() -> None:
    page = (ROOT / "docs" / "where-it-is-decided.md").read_text("utf-8")
    rows = set(re.findall(r"^\| (.+?) \|", page, re.MULTILINE))
    assert {one.row for one in read_bugs()} - {""} <= rows


@pytest.mark.parametrize("line", ["old = 'a'", "old = 'b'\nnew = ' b'", "old = 'a'\nnew = 'b'\nseed = 1"])
def test_a_bug_that_lacks_something_or_changes_nothing_is_an_error(tmp_path: Path, line: str) -> None:
    (tmp_path / "room.toml").write_text(f"room = 'r'\ntests = ['t']\n[[bug]]\nname = 'n'\n{line}\n")
    with pytest.raises(ValueError, match=r"^room.toml: n: "):
        read_bugs(tmp_path)
