"""`paired`: the gate and the workbench say the same of the same two runs, and the interval where few values changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.figures.values import read_values, write_values
from ragassay.evaluate.from_files.gate import gate
from ragassay.evaluate.inputs.clusters import Clusters, clusters_of_rows
from ragassay.evaluate.statistics.clustered import intervals
from ragassay.evaluate.statistics.paired import gap_intervals, paired
from ragassay.evaluate.statistics.resamples import holm
from ragassay.experiment.workspace import Workspace
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index
from ragassay.workbench.moved import moved

ALONE = clusters_of_rows([str(n) for n in range(12)])
ROW = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0, np.nan]), min_size=12, max_size=12)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Workspace]:
    return tuple(make_workspace(tmp_path_factory.mktemp(name), 24, hostile=False) for name in ("old", "new"))


@pytest.mark.parametrize("seed", range(4))
def test_the_gate_and_compare_give_one_p_and_one_verdict(made: tuple[Workspace, Workspace], seed: int):
    """Two runs of random values: some rows shifted, some with failures, some without a change, queries in sections."""
    rng = np.random.default_rng(seed)
    each = (1, 2, 3, 1)[seed % 4]
    for run, workspace in enumerate(made):
        queries = [json.loads(line) for line in workspace.queries.read_text("utf-8").splitlines()]
        for place, row in enumerate(queries):
            row["metadata"]["section"] = f"s{place // each}"
        workspace.queries.write_text("".join(json.dumps(row) + "\n" for row in queries), "utf-8")
        ids = [row["_id"] for row in queries]
        table = {name: dict(rows) for name, rows in read_values(workspace.values).measures.items()}
        shift = np.random.default_rng(100 + seed)
        for name, rows in table.items():
            width = 2.0 if name in ("relevance", "accuracy", "completeness", "precision") else 1.0
            for agent in rows:
                base, moves = shift.random(24), shift.choice([0.0, 0.0, -0.4, 0.4, 1.0])
                noise = 0.0 if moves == 1.0 else 0.2 * rng.normal(size=24)
                found = width * np.clip(base + noise + (moves * run if moves < 1 else 0.0), 0, 1)
                lost = rng.random(24) < 0.1 * (seed % 2)
                rows[agent] = {q: None if gone else float(v) for q, v, gone in zip(ids, found, lost, strict=True)}
        clusters = Clusters.named(
            ids, [f"section {row['metadata']['doc']} {row['metadata']['section']}" for row in queries]
        )
        write_values(workspace.values, table, list(table["accuracy"]), ids, clusters)
    indexes = []
    for workspace in made:
        path = workspace.workbench / f"{seed}.sqlite"
        build(workspace, path)
        indexes.append(Index(path))
    rows = {(row.measure.name, row.agent): row for row in moved(indexes[0], indexes[1])}
    gated = gate(made[1].results, made[0].results, measures=list(table)).rows
    assert {(row.measure, row.agent) for row in gated} == set(rows)
    keys = list(rows)
    adjusted = dict(zip(keys, holm([rows[key].p for key in keys]), strict=True))
    verdicts = set()
    for row in gated:
        theirs = rows[row.measure, row.agent]
        assert row.p == adjusted[row.measure, row.agent]
        assert (row.verdict == "worse") is (theirs.said == "worse")
        assert theirs.said != "better" or row.verdict == "not worse" or row.lacking_new
        ends = (row.drop.value, row.drop.ci_low, row.drop.ci_high)
        assert ends == (-theirs.difference.value, -theirs.difference.ci_high, -theirs.difference.ci_low)
        assert (row.drop.n, row.drop.n_failed) == (theirs.difference.n, theirs.difference.n_failed)
        verdicts.add(theirs.said)
    assert {"better", "worse", "not told apart"} <= verdicts


@given(st.lists(ROW, min_size=1, max_size=4))
def test_p_is_the_paired_t_tests_and_told_by_holms(rows: list[list[float]]):
    gaps = np.array(rows)
    found = paired(gaps, ALONE, [1.0] * len(rows), [int(np.isnan(row).sum()) for row in gaps])
    assert [row.adjusted for row in found] == holm([row.p for row in found])
    for row, one in zip(gaps, found, strict=True):
        known = row[~np.isnan(row)]
        assert (one.difference.n, one.difference.n_failed) == (len(known), 12 - len(known))
        if len(known) > 1 and np.ptp(known) > 0:
            assert one.p == pytest.approx(ttest_1samp(known, 0).pvalue)
        elif len(known) and known[0]:
            assert one.p == pytest.approx(2 * 0.5 ** len(known)), "all of one sign: two of all choices are as far"
        else:
            assert one.p is None
        if len(known) < 6:
            assert one.told == "too few"


@given(ROW, st.floats(0.0, 0.9))
def test_beyond_shifts_the_hypothesis_either_way_and_turning_the_gaps_turns_the_verdict(row, beyond):
    gaps = np.array([row, [-value for value in row]])
    one, turned = paired(gaps, ALONE, [1.0, 1.0], [0, 0], beyond=[beyond, beyond])
    assert one.p == turned.p
    assert {"more": "less", "less": "more"}.get(one.told, one.told) == turned.told
    known = gaps[0][~np.isnan(gaps[0])]
    if len(known) > 1 and np.ptp(known) > 0 and known.mean() > beyond:
        assert one.p == pytest.approx(min(1.0, 2 * ttest_1samp(known, beyond, alternative="greater").pvalue))
    if len(known) > 1 and np.ptp(known) > 0 and abs(known.mean()) <= beyond:
        assert one.p == pytest.approx(1)


def test_rows_are_corrected_together():
    gaps = np.random.default_rng(1).normal(0.3, 0.4, size=(4, 12))
    found = paired(gaps, ALONE, [None] * 4, [0] * 4)
    assert [row.adjusted for row in found] == holm([row.p for row in found])


@pytest.mark.parametrize("n", [20, 60, 200])
def test_where_few_values_changed_the_interval_reaches_as_far_as_the_exact_one_of_their_share(n: int):
    """One rise and k falls of 1 among n: Student's upper end is nearer than what k falls alone leave possible."""
    clusters = clusters_of_rows([str(place) for place in range(n)])
    for falls in (0, 1, 2):
        row = np.zeros((1, n))
        row[0, :falls], row[0, n - 1] = -1.0, 1.0
        _, low, high = gap_intervals(row, clusters, 1.0)
        student = intervals(row, np.ones(n), clusters, (-1.0, 1.0), difference=True)
        exact = binomtest(falls, n).proportion_ci(0.95, "exact")
        assert low[0] <= student[1][0] and high[0] >= student[2][0]
        assert -low[0] >= 0.6 * (exact.high - 1 / n) > 0, (falls, low)


def test_where_much_changes_the_interval_is_students():
    gaps = np.random.default_rng(2).uniform(-0.5, 0.5, size=(5, 300))
    clusters = clusters_of_rows([str(place) for place in range(300)])
    _, low, high = gap_intervals(gaps, clusters, 1.0)
    student = intervals(gaps, np.ones(300), clusters, (-1.0, 1.0), difference=True)
    assert np.all(low <= student[1]) and np.all(high >= student[2])
    assert np.all((high - low) / (student[2] - student[1]) < 1.03)


def test_an_interval_that_leaves_out_0_keeps_its_end_towards_it():
    row = np.zeros((1, 24))
    row[0, :8] = -1.0
    clusters = clusters_of_rows([str(place) for place in range(24)])
    _, low, high = gap_intervals(row, clusters, 1.0)
    student = intervals(row, np.ones(24), clusters, (-1.0, 1.0), difference=True)
    assert high[0] == student[2][0] < 0 and low[0] <= student[1][0]


def test_no_rows_and_no_values_are_no_verdict(tmp_path: Path):
    assert paired(np.zeros((0, 12)), ALONE, [], []) == ()
    (row,) = paired(np.full((1, 12), np.nan), ALONE, [1.0], [12])
    assert (row.difference.value, row.difference.n_failed, row.p, row.told) == (None, 12, None, "too few")
