"""`ragassay gate` on two results folders: its verdicts in either direction, what it refuses and does not depend on."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from statistics import mean
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import t as student
from support.json_lines import records, write_lines
from support.made_up_results.texts import AGENTS, CRITERIA
from support.made_up_results.workspace import make_workspace, stop_early, write_values_again

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.from_files.gate import escaped, gate, markdown, sentence


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("made"), 24, hostile=False, failures=False).results


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """(new, baseline), alike."""
    for name in ("new", "old"):
        shutil.copytree(made, tmp_path / name)
    return tmp_path / "new", tmp_path / "old"


def relabel(run: Path, change) -> None:
    """`change(row)` gives the new fields of a pointwise judgment."""
    rows = records(run / "pointwise.jsonl")
    write_lines(run / "pointwise.jsonl", [row | change(row) for row in rows])
    write_values_again(run)


def status(new: Path, old: Path, *options: str) -> int:
    return main(["gate", str(new), "--baseline", str(old), *options])


def test_the_same_run_is_not_worse(runs, capsys):
    assert status(*runs) == 0
    said = capsys.readouterr().out
    assert said.startswith("## ragassay gate: Not worse") and all(agent in said for agent in AGENTS)


def test_junit_has_a_case_for_each_agent_and_measure(runs, capsys, tmp_path):
    """A row that is worse is a failure, one that is undecided skipped; what is said is the gate's line."""
    new, old = runs
    evaluated(new, toxicity=RISEN)
    evaluated(old, toxicity=LOW)
    target = tmp_path / "gate.xml"
    assert status(*runs, "--measure", "toxicity", "--max-drop", "0.05", "--junit", str(target)) == 1
    (suite,) = ElementTree.parse(target).getroot()
    rows = gate(new, old, measures=["toxicity"], max_drop=0.05).rows
    outcomes = {"worse": ["failure"], "undecided": ["skipped"], "not worse": []}
    assert [(one.get("classname"), [inner.tag for inner in one]) for one in suite] == [
        (row.agent, outcomes[row.verdict]) for row in rows
    ]
    assert "0.123 to 0.330, change +0.207" in next(suite.iter("failure")).get("message")
    assert suite.get("failures") == str(sum(row.verdict == "worse" for row in rows))


def test_what_a_run_that_stopped_early_overstates_is_said(runs, capsys):
    stop_early(runs[1], 40, 80)
    assert status(*runs) == 0
    said = (
        "Of the baseline run: stopped early, with 40 of 80 planned queries: what the leader is ahead by is overstated."
    )
    assert said in capsys.readouterr().out and said in sentence(gate(*runs))


def test_much_worse_is_worse(runs, capsys):
    new, old = runs
    relabel(old, lambda row: {"label": 2} if row["criterion"] == "accuracy" else {})
    relabel(new, lambda row: {"label": 2 * (row["subject"] != AGENTS[0])} if row["criterion"] == "accuracy" else {})
    assert status(new, old) == 1
    assert "**worse**" in capsys.readouterr().out
    assert status(old, new, "--agent", AGENTS[0]) == 0
    assert status(new, old, "--measure", "accuracy", "--agent", AGENTS[1]) == 0


def one_row(new, old, **options):
    """Of one agent on accuracy."""
    (row,) = gate(new, old, measures=["accuracy"], agents=[AGENTS[0]], **options).rows
    return row


def in_sections(run: Path, each: int) -> None:
    """So many queries that follow each other are made from one section."""
    rows = records(run / "queries.jsonl")
    made = [row | {"metadata": {"doc": "d.pdf", "section": f"s{n // each}"}} for n, row in enumerate(rows)]
    write_lines(run / "queries.jsonl", made)
    write_values_again(run)


def drops(new: Path, old: Path, by_query: dict[str, float]) -> None:
    """The label of each query is 2 in the baseline and this much less in the new run."""
    relabel(old, lambda row: {"label": 2})
    relabel(new, lambda row: {"label": 2 - by_query.get(row["query_id"], 0)})


def test_p_is_students_with_the_jackknifes_error_over_sections(runs):
    """Of J sections of one size CR3 is s / sqrt(J - 1), s that of the section means, with J - 1 degrees of freedom.

    Two-sided, that the change is no more than what is tolerated.
    """
    new, old = runs
    for run in runs:
        in_sections(run, 3)
    fallen = {f"q{n:03}": (2, 1, 0, 0, 1, 0)[n // 4] for n in range(1, 24)}
    drops(new, old, fallen)
    means = np.array([fallen.get(f"q{n:03}", 0) for n in range(1, 25)]).reshape(8, 3).mean(axis=1)
    for max_drop in (0.0, 0.2):
        beyond = means.mean() - max_drop
        p = 2 * student.sf(beyond / (means.std(ddof=1) / np.sqrt(7)), 7)
        assert one_row(new, old, max_drop=max_drop).p == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize(("n", "verdict"), [(2, "undecided"), (3, "undecided"), (4, "worse")])
def test_worse_is_at_five_percent_by_the_paired_t_test_of_queries_alone(runs, n, verdict):
    new, old = runs
    drops(new, old, {f"q{number:03}": 1 for number in range(1, n + 1)})
    row = one_row(new, old, max_drop=0.0)
    assert row.verdict == verdict
    assert row.p == pytest.approx(2 * student.sf(np.sqrt(23 * n / (24 - n)), 23), rel=1e-5)
    assert (row.p < 0.05) == (n == 4) and (row.p < 0.1) == (n > 2)


def test_unasked_two_percent_of_the_range_is_tolerated_and_what_that_takes_is_said(runs, capsys):
    """Guenther's number of queries for a two-sided t-test at 5% with a power of 80% (z of 1.96 and 0.8416)."""
    new, old = runs
    relabel(old, lambda row: {"label": 1})
    relabel(new, lambda row: {"label": int(row["query_id"][1:]) % 3})
    (row,) = gate(new, old, measures=["accuracy"], agents=[AGENTS[0]]).rows
    assert (row.verdict, row.max_drop) == ("undecided", 0.04)
    error = np.sqrt(16 / 23 / 24)
    assert row.passes == pytest.approx((student.isf(0.025, 23) + student.isf(0.2, 23)) * error)
    assert row.needed == np.ceil(((1.959964 + 0.841621) * error * np.sqrt(24) / 0.04) ** 2 + 1.959964**2 / 2)
    assert status(new, old, "--measure", "accuracy", "--agent", AGENTS[0]) == 3
    said = capsys.readouterr().out
    assert "Without --max-drop, 2% of a measure's range is tolerated." in said
    assert f"accuracy {row.passes:.3f} or {row.needed:,} queries." in said
    assert status(new, old, "--measure", "accuracy", "--agent", AGENTS[0], "--max-drop", "0.5") == 0
    assert "A drop of 0.5 is tolerated, in each measure's own unit." in capsys.readouterr().out


def test_a_drop_altogether_is_not_passed_unasked_though_less_is_tolerated(runs):
    """Every query's value falls by a little: the drop is beyond noise, and by name alone is so much tolerated."""
    new, old = runs
    relabel(old, lambda row: {"label": 2})
    relabel(new, lambda row: {"label": 2 - (0.010 if int(row["query_id"][1:]) % 2 else 0.012)})
    row = one_row(new, old)
    assert row.verdict == "worse" and row.drop.ci_low > 0
    named = one_row(new, old, max_drop=0.5)
    assert named.verdict == "not worse"
    among = gate(new, old, measures=["RR(rel=2)@5", *CRITERIA]).rows
    assert not any(row.verdict == "not worse" for row in among if row.drop.ci_low and row.drop.ci_low > 0)


def test_what_would_show_has_a_power_of_four_in_five_in_the_first_step_of_holm(runs):
    """Gaps with a known error: a true drop so large gives p below 2.5% of each of six rows in 80% (scipy's t)."""
    new, old = runs
    drops(new, old, {f"q{number:03}": 1 for number in range(1, 5)})
    error = np.sqrt(4 * 20) / 24 / np.sqrt(23)
    for agents, level in (([AGENTS[0]], 0.025), (list(AGENTS), 0.025 / 6)):
        for max_drop in (None, 0.1):
            row = gate(new, old, measures=["accuracy"], agents=agents, max_drop=max_drop).rows[0]
            reach = (student.isf(level, 23) + student.isf(0.2, 23)) * error
            assert row.shows == pytest.approx((max_drop or 0.0) + reach, rel=1e-9)


def test_rows_that_changed_come_first_the_worse_before_the_others(runs):
    new, old = runs
    better = {"subject": sorted(AGENTS)[-1], "criterion": "precision"}

    def label(row):
        if row["criterion"] != "accuracy":
            return 2 if better.items() <= row.items() else 1
        return {AGENTS[3]: 0, AGENTS[1]: 2 if int(row["query_id"][1:]) % 8 else 1}.get(row["subject"], 2)

    relabel(old, lambda row: {"label": 2 if row["criterion"] == "accuracy" else 1})
    relabel(new, lambda row: {"label": label(row)})
    rows = [row.split(" | ") for row in markdown(gate(new, old, max_drop=0.02)).splitlines() if row.startswith("| ")]
    assert [row.agent for row in gate(new, old, measures=["accuracy"]).rows] == sorted(AGENTS)
    assert [(row[0], row[1]) for row in rows[1:3]] == [(f"| {AGENTS[3]}", "accuracy"), (f"| {AGENTS[1]}", "accuracy")]
    assert "**worse**" in rows[1][-1] and "undecided" in rows[2][-1]
    assert (rows[3][0], rows[3][1], rows[3][-1]) == (f"| {better['subject']}", "precision", "not worse |")
    assert {row[4] for row in rows[4:]} == {"on no query"}


def test_the_order_of_queries_and_files_changes_nothing(runs):
    new, old = runs
    relabel(new, lambda row: {"label": 0} if row["query_id"] < "q012" else {})
    first = gate(new, old)
    rng = random.Random(3)
    measures = list(dict.fromkeys(row["measure"] for row in records(new / "values.jsonl")))
    for file in (new / "queries.jsonl", old / "queries.jsonl", new / "values.jsonl", old / "values.jsonl"):
        rows = records(file)
        rng.shuffle(rows)
        write_lines(file, sorted(rows, key=lambda row: measures.index(row["measure"]) if "measure" in row else 0))
    assert gate(new, old) == first
    assert markdown(gate(new, old)) == markdown(first)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[1:], "lacks 1 of the other run's 24 queries (q001)"),
        (lambda rows: [*rows, rows[0] | {"_id": "q999"}], "lacks 1 of the other run's 25 queries (q999)"),
        (lambda rows: [rows[0] | {"text": "Something else?"}, *rows[1:]], "1 queries have another text"),
        (lambda rows: [rows[0] | {"_id": "other"}, *rows[1:]], "lacks 1 of the other run's 24 queries"),
    ],
)
def test_other_queries_are_refused(runs, capsys, change, said):
    new, old = runs
    write_lines(new / "queries.jsonl", change(records(new / "queries.jsonl")))
    assert status(new, old) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--measure", "beauty"), "'beauty' is not a measure of both runs"),
        (("--agent", "nobody"), "'nobody' is not an agent of both runs"),
        (("--max-drop", "-0.1"), "--max-drop is -0.1"),
        (("--max-drop", "nan"), "--max-drop is nan"),
        (("--max-drop", "1"), "--max-drop is 1"),
    ],
)
def test_bad_options_are_refused(runs, capsys, options, said):
    assert status(*runs, *options) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_none_or_has_no_figures_is_refused(runs, tmp_path, capsys):
    new, old = runs
    assert status(new, tmp_path / "nowhere") == 2
    assert "is not a results folder" in capsys.readouterr().err
    (old / "values.jsonl").unlink()
    assert status(new, old) == 2
    said = capsys.readouterr()
    assert "values.jsonl" in said.err and "run `ragassay compare` again" in said.err and not said.out
    (old / "results.json").unlink()
    assert status(new, old) == 2
    assert "there are no figures yet" in capsys.readouterr().err


def test_what_failed_is_named_and_cannot_hide_a_drop(runs):
    new, old = runs
    relabel(old, lambda row: {"label": 2})
    relabel(new, lambda row: {"label": 2})
    lost = {"label": None, "error": "no reply", "reason": None}
    relabel(new, lambda row: lost if row["query_id"] in {"q003", "q007"} and row["subject"] == AGENTS[0] else {})
    found = gate(new, old, measures=["accuracy"], agents=[AGENTS[0]])
    assert (found.verdict, found.rows[0].drop.n, found.rows[0].drop.n_failed) == ("undecided", 22, 2)
    assert "No value in the new run on 2 queries: q003, q007." in markdown(found)
    assert gate(old, new, measures=["accuracy"]).verdict == "not worse"
    relabel(new, lambda row: lost)
    everything = gate(new, old, measures=["accuracy"])
    assert everything.verdict == "undecided" and everything.rows[0].drop.value is None


def test_holm_counts_every_row(runs):
    """One measure alone is worse; among thirty rows the same drop is not beyond noise any more."""
    new, old = runs
    relabel(old, lambda row: {"label": 2})
    hit = {"q001", "q002", "q003", "q004", "q005", "q006", "q007"}
    worse = {"subject": AGENTS[0], "criterion": "accuracy"}
    relabel(new, lambda row: {"label": 1 if row["query_id"] in hit and worse.items() <= row.items() else 2})
    assert gate(new, old, measures=["accuracy"], agents=[AGENTS[0]], max_drop=0.02).verdict == "worse"
    assert gate(new, old, measures=list(CRITERIA), max_drop=0.02).verdict == "undecided"


def test_the_summary_is_written_and_holds_no_markup_of_a_name(runs, tmp_path, capsys):
    target = tmp_path / "summary.md"
    assert status(*runs, "--markdown", str(target)) == 0
    assert target.read_text() == capsys.readouterr().out
    assert escaped("a|b <img src=x> @team `x`\n# h") == r"a\|b \<img src=x\> \@team \`x\` \# h"


def test_a_run_that_shares_no_agent_is_refused(runs):
    new, old = runs
    figures = json.loads((new / "results.json").read_text())
    for agent in AGENTS:
        shutil.copy(new / "answers" / f"{agent}.jsonl", new / "answers" / f"other-{agent}.jsonl")
    (new / "games.jsonl").write_text("")
    (new / "results.json").write_text(json.dumps(figures | {"agents": [f"other-{agent}" for agent in AGENTS]}))
    with pytest.raises(InputError, match="no agent that the new run has too"):
        gate(new, old)


IDS = [f"q{n:03}" for n in range(1, 25)]
SCALES = {"toxicity": (0.0, 1.0), "clean": (0.0, 1.0), "perplexity": (1.0, None), "steps": (0.0, None)}


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


def test_little_toxicity_is_gated_as_much_of_its_opposite_where_it_is_named(runs):
    """Of 1 - x with much being good everything is the same but for the means and the change's sign."""
    new, old = runs
    usual = {one.measure for one in gate(new, old).rows}
    for run, labels in ((new, RISEN), (old, LOW)):
        evaluated(run, toxicity=labels, clean=[1 - label for label in labels])
    assert {one.measure for one in gate(new, old).rows} == usual and gate(new, old).verdict == "not worse"
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
