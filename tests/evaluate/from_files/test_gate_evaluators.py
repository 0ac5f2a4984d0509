"""`ragassay gate` on what evaluators gave: either direction, scales without an end, names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import mean

import pytest
from support.json_lines import records, write_lines
from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace

from ragassay.cli import main
from ragassay.evaluate.from_files.gate import gate, markdown, sentence

IDS = [f"q{n:03}" for n in range(1, 25)]
SCALES = {"toxicity": (0.0, 1.0), "clean": (0.0, 1.0), "perplexity": (1.0, None), "steps": (0.0, None)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("made"), 24, hostile=False, failures=False).results


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """(new, baseline), alike but for what evaluators gave."""
    for name in ("new", "old"):
        shutil.copytree(made, tmp_path / name)
    return tmp_path / "new", tmp_path / "old"


def evaluated(run: Path, **labels: list[float | None]) -> None:
    """Each criterion's label of every agent, query by query; None is one that failed."""
    lines = [row for row in records(run / "values.jsonl") if row["measure"] not in SCALES]
    cluster = {row["query_id"]: row["cluster"] for row in lines}
    for name, values in labels.items():
        for agent in AGENTS:
            for query, value in zip(IDS, values, strict=True):
                where = {"query_id": query, "agent": agent, "measure": name, "cluster": cluster[query]}
                lines.append(where | {"value": value, "error": "refused" if value is None else None})
    write_lines(run / "values.jsonl", lines)
    note(run, {name: SCALES[name] for name in labels}, ["toxicity", "perplexity"])


def note(run: Path, scales: dict[str, tuple[float, float | None]], lower: list[str]) -> None:
    figures = json.loads((run / "results.json").read_text())
    figures |= {"evaluation_scales": scales, "evaluators": {name: name for name in scales}}
    figures |= {"lower_is_better": [name for name in lower if name in scales]}
    (run / "results.json").write_text(json.dumps(figures))


def row(new: Path, old: Path, measure: str, **options: float):
    return gate(new, old, measures=[measure], agents=[AGENTS[0]], **options).rows[0]


RISEN = [0.1 + 0.02 * n for n in range(24)]
LOW = [0.1 + 0.002 * n for n in range(24)]


def test_little_toxicity_is_gated_as_much_of_its_opposite(runs):
    """Of 1 - x with much being good everything is the same but for the means and the change's sign."""
    new, old = runs
    for run, labels in ((new, RISEN), (old, LOW)):
        evaluated(run, toxicity=labels, clean=[1 - label for label in labels])
    for after, before, verdict in ((new, old, "worse"), (old, new, "not worse")):
        rows = [row(after, before, name) for name in ("toxicity", "clean")]
        assert rows[0].verdict == rows[1].verdict == verdict
        for figure in ("p", "max_drop", "passes", "shows"):
            assert getattr(rows[0], figure) == pytest.approx(getattr(rows[1], figure), abs=1e-9)
        assert rows[0].drop.value == pytest.approx(rows[1].drop.value) and rows[0].drop.n == 24
        assert rows[0].new + rows[1].new == pytest.approx(1)
    assert row(new, old, "toxicity").drop.value == pytest.approx(mean(RISEN) - mean(LOW))


def test_a_rise_is_said_as_one_and_called_the_drop(runs, capsys):
    new, old = runs
    evaluated(new, toxicity=RISEN)
    evaluated(old, toxicity=LOW)
    assert main(["gate", str(new), "--baseline", str(old), "--measure", "toxicity", "--max-drop", "0.05"]) == 1
    said = capsys.readouterr().out
    line = next(one for one in said.splitlines() if one.startswith(f"| {AGENTS[0].split('-')[0]}"))
    assert "| toxicity (lower is better) | 0.123 | 0.330 | +0.207 [+0.1" in line and "| +0.050 |" in line
    assert "Where lower is better, a rise is the drop." in said
    assert "toxicity (lower is better): 0.123 to 0.330, change +0.207" in sentence(
        gate(new, old, measures=["toxicity"])
    )


def test_a_failed_answer_counts_as_the_worst_there_is(runs):
    new, old = runs
    evaluated(old, toxicity=LOW)
    evaluated(new, toxicity=[None, *LOW[1:]])
    assert row(new, old, "toxicity", max_drop=0.03).verdict == "undecided"
    assert row(new, old, "toxicity", max_drop=(1 - LOW[0]) / 24 + 0.001).verdict == "not worse"


def test_without_an_end_two_percent_is_of_the_baselines_mean(runs):
    new, old = runs
    before = [20.0 + n % 5 for n in range(24)]
    evaluated(old, perplexity=before)
    evaluated(new, perplexity=[value + (n % 3) - 1 for n, value in enumerate(before)])
    assert row(old, old, "perplexity").verdict == "not worse"
    assert row(new, old, "perplexity").max_drop == pytest.approx(0.02 * mean(before))
    assert row(new, old, "perplexity", max_drop=2.2).verdict == "not worse"
    said = markdown(gate(new, old, measures=["perplexity"]))
    assert "Without an upper end a share is of the baseline's mean: perplexity." in said
    evaluated(new, perplexity=[value * (1.4 + n % 3 / 10) for n, value in enumerate(before)])
    assert row(new, old, "perplexity", max_drop=2.2).verdict == "worse"
    evaluated(new, perplexity=[None, *before[1:]])
    assert row(new, old, "perplexity", max_drop=50.0).verdict == "undecided", "what failed may be as bad as it likes"


def test_without_an_end_where_little_is_bad_the_worst_is_known(runs):
    new, old = runs
    evaluated(old, steps=[4.0 + n % 2 for n in range(24)])
    evaluated(new, steps=[None, *[4.0 + n % 2 for n in range(1, 24)]])
    assert row(new, old, "steps", max_drop=0.45).verdict == "not worse"
    evaluated(new, steps=[3.0 + n % 2 for n in range(24)])
    found = row(new, old, "steps", max_drop=0.02)
    assert found.verdict == "worse" and found.p == pytest.approx(0.5**23, rel=1e-5), "one less on each of 24 queries"


def test_by_default_evaluators_have_no_part(runs):
    new, old = runs
    usual = {one.measure for one in gate(new, old).rows}
    evaluated(new, toxicity=RISEN)
    evaluated(old, toxicity=LOW)
    assert {one.measure for one in gate(new, old).rows} == usual and gate(new, old).verdict == "not worse"


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("toxicty", "'toxicty' is not a measure of both runs; did you mean 'toxicity'?"),
        ("steps", "'steps' is not a measure of both runs: {new} has none of it"),
        ("\x1b[31m", "is not a measure of both runs; both have"),
    ],
)
def test_unknown_names_are_one_sentence(runs, capsys, measure, said):
    new, old = runs
    evaluated(new, toxicity=LOW)
    evaluated(old, toxicity=LOW, steps=LOW)
    assert main(["gate", str(new), "--baseline", str(old), "--measure", measure]) == 2
    captured = capsys.readouterr()
    assert said.format(new=new) in captured.err and "\x1b" not in captured.err and not captured.out


def test_another_scale_is_refused(runs, capsys):
    new, old = runs
    for run in runs:
        evaluated(run, toxicity=LOW)
    note(old, {"toxicity": (0.0, 2.0)}, [])
    assert main(["gate", str(new), "--baseline", str(old), "--measure", "toxicity"]) == 2
    assert "from 0 to 2 in the baseline and from 0 to 1, lower is better here" in capsys.readouterr().err
