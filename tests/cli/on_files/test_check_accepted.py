"""`ragassay check SET --accepted CSV --out FILE`: the accepted questions, in the layout of the set."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from openpyxl import Workbook
from support.sound_sets import rows_of, write_corpus

from ragassay.cli import main

ROWS = [(str(row["id"]), str(row["user_input"])) for row in rows_of("en")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> None:
    write_corpus(tmp_path, "en")


def make(name: str) -> Path:
    """The set in the layout that the name says."""
    path = Path(name)
    objects = [{"id": one, "query": text, "own": {"kept": [1]}} for one, text in ROWS]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in objects), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps({"goldens": objects, "about": "é"}), encoding="utf-8")
    else:
        cells = "".join(f'{one};"{text}\n\n(that is all)"\r\n\r\n' for one, text in ROWS)
        path.write_text(f"id;query\r\n{cells}", encoding="utf-8", newline="")
    return path


def fill(path: Path, verdicts: dict[str, str], **changed: str) -> None:
    """Check the set, and fill the sheet: accept, unless `verdicts` has another word. changed: cells of every row."""
    assert main(["check", str(path), "--corpus", "corpus.jsonl", "--out", "accept.csv"]) == 0
    with Path("accept.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row.update(changed)
        row["verdict"] = verdicts.get(row["id"], "Accept ")
    with Path("accept.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def accepted(path: Path, out: str = "kept") -> int:
    return main(["check", str(path), "--accepted", "accept.csv", "--out", out])


REJECTED = {ROWS[1][0]: "reject", ROWS[3][0]: "REJECT"}


def test_json_lines_are_copied_as_they_stand(capsys: pytest.CaptureFixture[str]):
    path = make("set.jsonl")
    fill(path, REJECTED)
    capsys.readouterr()
    assert accepted(path) == 0 and capsys.readouterr().out == f"kept: {len(ROWS) - 2} of {len(ROWS)} questions\n"
    lines = path.read_text().split("\n")
    assert Path("kept").read_text().splitlines() == [line for at, line in enumerate(lines) if at not in (1, 3)]


def test_a_json_list_keeps_what_stands_around_it():
    path = make("set.json")
    fill(path, REJECTED)
    assert accepted(path, "kept.json") == 0
    found, given = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("kept.json", "set.json"))
    assert found == {**given, "goldens": [row for at, row in enumerate(given["goldens"]) if at not in (1, 3)]}


def test_a_table_keeps_its_header_and_cells_of_several_lines():
    path = make("set.csv")
    fill(path, REJECTED)
    assert accepted(path, "kept.csv") == 0
    with Path("kept.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter=";"))
    assert rows[0] == ["id", "query"]
    assert rows[1:] == [[one, f"{text}\n\n(that is all)"] for at, (one, text) in enumerate(ROWS) if at not in (1, 3)]


@pytest.mark.parametrize(
    ("verdicts", "changed", "said"),
    [
        ({ROWS[2][0]: "maybe"}, {}, "accept.csv:4: the verdict is 'maybe'"),
        ({ROWS[0][0]: ""}, {}, "accept.csv:2: has no verdict"),
        ({one: "reject" for one, _ in ROWS}, {}, "accepts no question"),
        ({}, {"row": "1"}, "accept.csv:3: "),
        ({}, {"row": "99"}, "is not question 99 of the set"),
        ({}, {"id": "other"}, "accept.csv:2: 'other' is not question 1 of the set"),
    ],
)
def test_a_sheet_that_cannot_be_read_back_writes_nothing(
    capsys: pytest.CaptureFixture[str], verdicts: dict[str, str], changed: dict[str, str], said: str
):
    path = make("set.jsonl")
    fill(path, verdicts, **changed)
    assert accepted(path) == 2
    assert said in capsys.readouterr().err and not Path("kept").exists()


def test_rows_that_were_deleted_are_asked_for_and_nothing_given_is_overwritten(capsys: pytest.CaptureFixture[str]):
    path = make("set.jsonl")
    fill(path, {})
    assert accepted(path, "set.jsonl") == 2 and "would be overwritten" in capsys.readouterr().err
    lines = Path("accept.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("accept.csv").write_text("".join(lines[:-1]), encoding="utf-8")
    assert accepted(path) == 2
    assert f"lacks 1 of the set's {len(ROWS)} questions, first '{ROWS[-1][0]}'" in capsys.readouterr().err


def test_of_a_workbook_no_rows_are_copied(capsys: pytest.CaptureFixture[str]):
    fill(make("set.jsonl"), {})
    book = Workbook()
    book.active.append(["question"])
    book.save("set.xlsx")
    assert accepted(Path("set.xlsx")) == 2 and "set.xlsx: is a workbook" in capsys.readouterr().err


def test_options_that_do_not_go_together(capsys: pytest.CaptureFixture[str]):
    path = make("set.jsonl")
    fill(path, {})
    assert main(["check", str(path)]) == 2 and "--corpus is missing" in capsys.readouterr().err
    assert main(["check", str(path), "--accepted", "accept.csv"]) == 2
    assert main(["check", str(path), "--accepted", "accept.csv", "--out", "kept", "--json"]) == 2
    assert not Path("kept").exists()


def test_what_was_made_of_a_question_goes_with_it_and_is_no_row_of_the_sheet(capsys: pytest.CaptureFixture[str]):
    path = make("set.jsonl")
    again = [{"id": f"{one}.case", "query": text.upper(), "metadata": {"perturbed_from": one}} for one, text in ROWS]
    path.write_text(f"{path.read_text()}\n" + "\n".join(map(json.dumps, again)), encoding="utf-8")
    fill(path, REJECTED)
    with Path("accept.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == [one for one, _ in ROWS]
    assert f"note: {len(ROWS)} perturbed questions are left out" in capsys.readouterr().out
    assert accepted(path) == 0
    kept = [one for one, _ in ROWS if one not in REJECTED]
    found = [json.loads(line)["id"] for line in Path("kept").read_text(encoding="utf-8").splitlines()]
    assert found == [*kept, *(f"{one}.case" for one in kept)]
