"""How far a run is, told to another process: the file of the running stage, and every stage's state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.json_lines import write_lines
from support.made_up_results.workspace import make_workspace

from ragassay.cli.pipeline.manifest import (
    WrittenProgress,
    digests,
    read_standing,
    standing_at,
    write_manifest,
)
from ragassay.cli.pipeline.opening import locked
from ragassay.cli.pipeline.stages import stages_of
from ragassay.cli.verbs.serve import states_of
from ragassay.experiment.workspace import StageOutcome, Standing, Workspace
from ragassay.files import read_json


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


def test_the_file_is_written_at_most_once_a_second_and_at_the_end(tmp_path: Path) -> None:
    now, path = [100.0], tmp_path / "progress.json"
    told = WrittenProgress(path, "judge", lambda: now[0])
    told.start("judge: file:m", 10)
    seen = []
    for step in range(6):
        now[0] += 0.4
        told.advance("failed" if step == 1 else "done", 0.1 * (step + 1), "it\nhung" if step == 1 else None)
        one = Standing.model_validate(read_json(path))
        seen.append(one.done + one.failed)
    assert seen == [0, 0, 3, 3, 3, 6]  # at 0, 1.2 and 2.4 s
    told.advance("cached", None)
    told.stop()
    one = Standing.model_validate(read_json(path))
    assert (one.stage, one.what, one.total) == ("judge", "judge: file:m", 10)
    assert (one.done, one.failed, one.cached, one.spent_usd) == (5, 1, 1, pytest.approx(0.6))
    assert one.left_s == pytest.approx(3 * 2.4 / 6)
    told.start("judge: file:n", 1)
    assert Standing.model_validate(read_json(path)).spent_usd == pytest.approx(0.6)  # of the run, not of this step
    told.advance("failed", None, "it hung")
    told.stop()
    assert Standing.model_validate(read_json(path)).errors == (("it hung", 2),)


def test_a_stage_runs_only_while_its_run_holds_the_folder(workspace: Workspace) -> None:
    with locked(workspace), standing_at(workspace, "judge"):
        one = read_standing(workspace)
        assert one is not None
        assert one.stage == "judge"
        assert [state.name for state in states_of(workspace) if state.state == "running"] == ["judge"]
        left = workspace.progress.read_bytes()
    assert not workspace.progress.exists()
    workspace.progress.write_bytes(left)  # as a kill leaves it
    assert read_standing(workspace) is None
    (broken,) = (state for state in states_of(workspace) if state.broken_off)
    assert (broken.name, broken.state) == ("judge", "missing")
    assert broken.at_work == Standing(stage="judge")
    with locked(workspace):
        assert not workspace.progress.exists()


def test_states_say_what_the_next_run_would_do(workspace: Workspace) -> None:
    assert {state.state for state in states_of(workspace)} == {"missing"}
    (workspace.corpus / "a.pdf").write_bytes(b"%PDF-1.4")
    for stage in stages_of(workspace.experiment):
        inputs = digests([*stage.needs(workspace), *stage.uses(workspace)], workspace.results)
        write_manifest(workspace, stage, inputs, StageOutcome(notices=("a notice",), n_records=7, n_failed=2))
    states = {state.name: state for state in states_of(workspace)}
    assert {name: state.state for name, state in states.items() if name != "compare"} == dict.fromkeys(
        ("ingest", "questions", "retrieve", "answer", "judge", "evaluate", "report"), "done"
    )
    assert (states["judge"].n_records, states["judge"].n_failed) == (7, 2)
    write_lines(workspace.question_edits, [{"id": "q001", "action": "reject"}])
    (questions,) = (state for state in states_of(workspace) if state.name == "questions")
    assert (questions.state, questions.why) == ("stale", "question-edits.jsonl is new")
