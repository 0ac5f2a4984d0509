"""A sheet from a run, filled and taken back: blind, safe to open, and corrected figures from it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from support.made_up_results.workspace import make_workspace

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.human_labels.frame import shown
from ragassay.evaluate.human_labels.sheet import Drawn, Sheet, draw_sheet, sample_files, take_sheet, write_sheet
from ragassay.evaluate.inputs.findings import Findings, read_findings
from ragassay.evaluate.inputs.labels import read_labels
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.results import Results
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.text import safe_cell

CRITERIA = ("accuracy", "precision")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, 12, failures=False)


def _draw(findings: Findings, n: int = 100, seed: int = 7) -> Sheet:
    return draw_sheet(findings, CRITERIA, 5, n=n, seed=seed)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _judges(findings: Findings) -> dict[tuple[str, str, str], str]:
    """What the judge would write into the sheet's column."""
    told = {(r.query_id, r.subject, r.criterion): f"{r.label:g}" for r in (*findings.relevance, *findings.pointwise)}
    cells = {"a": "1", "b": "2", "tie": "0"}
    games = {
        (v.query_id, f"{v.agent_a}:{v.agent_b}", "game"): cells[v.winner]
        for v in verdicts(findings.games)
        if v.winner is not None
    }
    return told | games


def _filled(workspace: Workspace, out: Path, sheet: Sheet) -> Path:
    """The sheet as someone fills it who says of everything what the judge says."""
    told, items = _judges(read_findings(workspace)), {row.item: row for row in sheet.frame}
    rows = _rows(out)
    for row in rows:
        item = items[row["item"]]
        cell = told[item.key]
        row["label"] = {"1": "2", "2": "1"}.get(cell, cell) if item.swapped else cell
    return _write(out.with_name("filled.csv"), rows)


def test_the_sheet_names_no_agent_no_judge_and_no_label(workspace: Workspace, tmp_path: Path) -> None:
    findings = read_findings(workspace, read=read_records)
    out = tmp_path / "sheet.csv"
    write_sheet(workspace, _draw(findings), out)
    text = out.read_text(encoding="utf-8")
    assert not [name for name in (*findings.material.agents, workspace.experiment.judge.model) if name in text]
    texts = tuple(safe_cell(passage.text) for passage in findings.material.passages.values())
    assert any(row["text"].endswith(texts) for row in _rows(out))
    assert {row["label"] for row in _rows(out)} == {""}
    assert len(_rows(out)) == pytest.approx(100, abs=12)


def test_passages_come_by_whole_queries_and_everything_is_drawn_by_agent(workspace: Workspace) -> None:
    findings = read_findings(workspace)
    drawn = [row for row in _draw(findings, n=200).frame if row.drawn]
    for query in {row.query for row in drawn if row.kind == "passages"}:
        assert sorted(r.subject for r in drawn if r.query == query and r.kind == "passages") == shown(
            findings, query, 5
        )
    for criterion in CRITERIA:
        assert {row.subject for row in drawn if row.criterion == criterion} == set(findings.material.agents)


def test_of_a_game_either_answer_may_stand_first_and_the_frame_says_which(workspace: Workspace) -> None:
    """Each agent answers with its name."""
    findings = read_findings(workspace)
    answers = {key: row.model_copy(update={"answer": key[1]}) for key, row in findings.material.answers.items()}
    sheet = _draw(replace(findings, material=replace(findings.material, answers=answers)))
    items, seen = {row.item: row for row in sheet.frame}, set[bool]()
    for name, _, first, second, _, _ in sheet.rows:
        item = items[name]
        if item.kind == "games":
            told = [second, first] if item.swapped else [first, second]
            assert told == item.subject.split(":")
            seen.add(item.swapped)
    assert seen == {True, False}


def test_the_same_seed_draws_the_same_another_does_not_ask_again_and_a_sheet_is_written_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    findings = read_findings(workspace, read=read_records)
    sheet = _draw(findings)
    assert sheet == _draw(findings) and _draw(findings, seed=8).rows != sheet.rows
    known = [row.key for row in sheet.frame if row.drawn]
    again = draw_sheet(findings, CRITERIA, 5, n=100, seed=8, known=known)
    keys = {row.item: row.key for row in again.frame}
    assert again.rows and not {keys[row[0]] for row in again.rows} & set(known)
    write_sheet(workspace, sheet, tmp_path / "sheet.csv")
    with pytest.raises(InputError, match="drawn before"):
        write_sheet(workspace, sheet, tmp_path / "sheet.csv")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", " =1", "\t=1", "＝1", "\n@x", "\tx"])
def test_no_cell_can_become_a_formula_and_others_stay_as_they_are(text: str) -> None:
    assert safe_cell(text).startswith("'") and safe_cell("a = b - c\n- d") == "a = b - c\n- d"


def test_labels_come_back_under_what_they_are_of(workspace: Workspace, tmp_path: Path) -> None:
    sheet, out = _draw(read_findings(workspace, read=read_records)), tmp_path / "sheet.csv"
    write_sheet(workspace, sheet, out)
    told = _judges(read_findings(workspace))
    assert take_sheet(workspace, _filled(workspace, out, sheet), "ann", "2026-11-20") == (len(sheet.rows), 0)
    labels = read_labels(workspace.own_labels)
    games = {"1": 1.0, "2": 0.0, "0": 0.5}
    assert len(labels) == len(sheet.rows)
    for label in labels:
        said = told[label.key]
        assert label.value == (games[said] if label.criterion == "game" else float(said))
    assert take_sheet(workspace, _filled(workspace, out, sheet), "ann", "2026-11-21")[0] == len(sheet.rows)
    assert len(read_labels(workspace.own_labels)) == len(sheet.rows)


def test_empty_cells_are_counted_and_bad_ones_refused(workspace: Workspace, tmp_path: Path) -> None:
    sheet, out = _draw(read_findings(workspace, read=read_records)), tmp_path / "sheet.csv"
    write_sheet(workspace, sheet, out)
    assert take_sheet(workspace, out, "ann", "") == (0, len(sheet.rows))
    rows = _rows(out)
    for cell, says in (("seven", "not a number|not 1, 2 or 0"), ("7", "off the scale|not 1, 2 or 0")):
        with pytest.raises(InputError, match=says):
            take_sheet(workspace, _write(tmp_path / "bad.csv", [rows[0] | {"label": cell}]), "ann", "")
    with pytest.raises(InputError, match="no item of a sheet"):
        take_sheet(workspace, _write(tmp_path / "bad.csv", [rows[0] | {"item": "i0"}]), "ann", "")
    assert read_labels(workspace.own_labels) == ()


def _corrected(workspace: Workspace, tmp_path: Path, n: int) -> Results:
    findings, out = read_findings(workspace, read=read_records), tmp_path
    sheet = draw_sheet(findings, workspace.experiment.judge.criteria, 5, n=n, seed=7)
    write_sheet(workspace, sheet, out / "sheet.csv")
    take_sheet(workspace, _filled(workspace, out / "sheet.csv", sheet), "ann", "2026-11-20")
    compare(workspace)
    return read_results(workspace.figures)


def test_people_who_say_what_the_judge_says_change_no_value(workspace: Workspace, tmp_path: Path) -> None:
    results = _corrected(workspace, tmp_path, 5000)
    assert results.corrected is not None
    told = {figure.measure for figure in results.corrected.figures}
    assert told == {"RR(rel=2)@5", "RR(rel=1)@5", "nDCG@5", *workspace.experiment.judge.criteria, "win_rate"}
    assert any(figure.other for figure in results.corrected.figures)
    for figure in results.corrected.figures:
        assert figure.corrected.value == pytest.approx(figure.judged.value)
        assert (figure.corrected.ci_low or 0) < (figure.corrected.ci_high or 0)
        assert figure.n_labels > 0
    for agent, row in results.pointwise.items():
        for criterion, mean in row.items():
            same = [f for f in results.corrected.figures if (f.measure, f.agent, f.other) == (criterion, agent, None)]
            assert [f.judged for f in same] == [mean]


def test_too_few_labels_say_so_and_without_labels_nothing_is_said(workspace: Workspace, tmp_path: Path) -> None:
    results = _corrected(workspace, tmp_path, 12)
    assert results.corrected is not None
    assert {figure.corrected.value for figure in results.corrected.figures} == {None}
    assert "too few labels" in results.corrected.notes[0]
    assert results.corrected.notes[0] in results.notices
    report(workspace)
    assert "both columns speak of this test set" in workspace.report.read_text(encoding="utf-8")
    workspace.own_labels.unlink()
    compare(workspace)
    report(workspace)
    assert read_results(workspace.figures).corrected is None
    assert 'id="corrected"' not in workspace.report.read_text(encoding="utf-8")


def test_labels_without_a_sheet_count_alike_and_labels_no_sheet_drew_are_left_out(workspace: Workspace) -> None:
    findings = read_findings(workspace)
    rows = [f"ann,,{row.query_id},{row.subject},{row.criterion},1\n" for row in findings.pointwise[:200]]
    text = "who,when,query,subject,criterion,label\n" + "".join(rows)
    workspace.own_labels.write_text(text + "ann,,elsewhere,p1,relevance,1\n", encoding="utf-8")
    compare(workspace)
    results = read_results(workspace.figures)
    assert results.corrected is not None and results.corrected.n_unused == 1
    assert any("taken as drawn at random" in note for note in results.corrected.notes)
    write_sheet(workspace, _draw(findings, n=12), workspace.corpus / "sheet.csv")
    (path,) = sample_files(workspace)
    drawn = {row.key for row in read_records(path, Drawn) if row.drawn}
    compare(workspace)
    again = read_results(workspace.figures)
    labelled = {(row.query_id, row.subject, row.criterion) for row in findings.pointwise[:200]}
    assert again.corrected is not None and again.corrected.n_unused == 201 - len(drawn & labelled)
