"""Measures by name: those that are here, found by themselves, and those that an installed package brings."""

from __future__ import annotations

import json
import sys

import pytest
from support.made_up_results.workspace import make_workspace
from support.plugin import plugin as plugin

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.query_values import check_measures
from ragassay.evaluate.from_files.rate import score_files
from ragassay.evaluate.measures.measure import Judged, built_in, compared, from_labels, in_runs, measure, named
from ragassay.evaluate.report.wording import measure_help, measure_name
from ragassay.evaluate.stages import compare_settings
from ragassay.experiment.workspace import Workspace

WILD = """
from ragassay.evaluate.measures.measure import Measure


class Wild(Measure):
    name = "Wild"

    def value(self, labels, others):
        return 2 / others.count(0)
"""


@pytest.fixture
def brought(plugin):
    """The package of tests/data/plugin, with one measure more that is no good and one that has a name of ours."""
    (plugin.folder / "wild.py").write_text(WILD)
    plugin.install(measures={"Wild": "wild:Wild", "RR": "wild:Wild"})
    yield plugin
    sys.modules.pop("wild", None)


def judged(spelling, labels, passages, failed=()):
    rows = None if passages is None else [(name, -float(n)) for n, name in enumerate(passages)]
    return measure(spelling).values(Judged(["q"], {"q": labels}, {"q": rows}, {"q": list(failed)}))["q"]


def test_ours_are_found_in_their_folder_and_every_run_has_what_they_say():
    assert {"RR", "nDCG", "R(section)"} <= {kind.name for kind in built_in()}
    assert [str(one) for one in in_runs(5)] == ["RR(rel=2)@5", "RR(rel=1)@5", "nDCG@5", "R(section)@5"]
    assert compared(5) == ["RR(rel=2)@5", "RR(rel=1)@5"]
    assert compared(5, ["P", "nDCG@5"]) == ["RR(rel=2)@5", "RR(rel=1)@5", "nDCG@5", "P@5"]
    assert from_labels(5) == ["RR(rel=2)@5", "RR(rel=1)@5", "nDCG@5"]


@pytest.mark.parametrize(
    ("key", "heading", "says"),
    [
        ("RR(rel=2)@5", "MRR@5 very", "judged 'very' relevant"),
        ("RR@5", "MRR@5 somewhat", "judged 'somewhat' or 'very' relevant"),
        ("nDCG@5", "nDCG@5", "nDCG@5: graded gain of the ranking"),
        ("R(section)@5", "section recall@5", "share of the source sections"),
        ("P(rel=2)@5", "P very@5", "P(rel=2)@5"),
        ("R@100", "R@100", "R@100"),
    ],
)
def test_columns_of_the_report_are_named_by_the_measure(key, heading, says):
    assert measure_name(key) == heading and says in measure_help(key)


def test_where_a_label_is_missing_that_could_count_there_is_no_value(brought):
    assert judged("BothFirst@3", {"a": 2, "b": 2, "c": 0}, "abc") == 1.0
    assert judged("BothFirst@3", {"a": 2, "b": 1, "c": 0}, "abc") == 0.0
    assert judged("BothFirst@3", {"a": 2, "b": 2}, "abc") is None, "c has no label"
    assert judged("BothFirst@2", {"a": 2, "b": 2}, "abc") == 1.0, "c is beyond the cutoff"
    assert judged("BothFirst@2", {"a": 2, "b": 2}, "ab", failed="z") is None
    assert judged("BothFirst@3", {"a": 2}, None) is None, "retrieval failed"
    assert judged("BothFirst@3", {"a": 2}, "") == 0.0, "nothing was retrieved"
    # nor may anything be open of what is not weighed up
    assert judged("R(rel=2)@2", {"a": 2, "b": 0, "x": 2}, "ab") == 0.5
    assert judged("R(rel=2)@2", {"a": 2, "x": 2}, "ab", failed="z") is None


def test_a_measure_of_a_package_scores_a_run(brought, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 2\nq2 0 a 2\n")
    (tmp_path / "run").write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 a 1 1 x\n")
    found = score_files(tmp_path / "qrels", tmp_path / "run", ["BothFirst", "RR@5"])
    assert (found["BothFirst"].value, found["BothFirst"].n) == (0.5, 2)
    assert found["RR@5"].value == 1.0, "ours, though a package brings one of this name"


@pytest.mark.parametrize(
    ("labels", "says"),
    [({"a": 2, "x": 2}, r"failed \(ZeroDivisionError"), ({"a": 2, "x": 0}, "gave 2, which is not from 0 to 1")],
)
def test_a_measure_of_a_package_that_fails_is_refused_with_the_query(brought, labels, says):
    assert judged("Wild@1", {"a": 2, "x": 0, "y": 0}, "a") == 1.0
    with pytest.raises(InputError, match=f"Wild@1, on query 'q', {says}"):
        judged("Wild@1", labels, "a")


def test_a_measure_that_nobody_brings_is_told_which_packages_bring(brought):
    with pytest.raises(InputError, match=r"'BothLast' is not a measure known here.*packages bring BothFirst, RR and W"):
        measure("BothLast")


def with_measures(tmp_path, *named, **matters):
    space = make_workspace(tmp_path)
    settings = space.experiment.compare.model_copy(update={"measures": named, "matters": matters})
    experiment = space.experiment.model_copy(update={"compare": settings})
    return Workspace(space.corpus, space.results, experiment)


def test_compare_has_the_measures_that_are_named_and_compares_agents_on_them(brought, tmp_path):
    space = with_measures(tmp_path, "BothFirst", "P(rel=1)@2")
    check_measures(space)
    compare(space)
    results = json.loads(space.figures.read_text(encoding="utf-8"))
    k = space.experiment.retrieval.k
    for figures in results["retrieval"].values():
        assert {f"BothFirst@{k}", "P(rel=1)@2"} <= figures.keys()
    assert {f"BothFirst@{k}", "P(rel=1)@2"} <= {row["measure"] for row in results["comparisons"]}
    assert f'"measure": "BothFirst@{k}"' in space.values.read_text(encoding="utf-8")
    assert measure_name(f"BothFirst@{k}") == f"BothFirst@{k}"
    assert measure_help(f"BothFirst@{k}").endswith(": whether the first two passages are both very relevant")
    said = compare_settings(space.experiment)["compare.measures"]
    assert said == {"BothFirst": "ragassay-example 1.0", "P(rel=1)@2": None}
    assert "compare.measures" not in compare_settings(make_workspace(tmp_path / "other").experiment)


@pytest.mark.parametrize(
    ("named", "says"),
    [("mrr", "'mrr@5' is not a measure known here"), ("P@50", "looks beyond the"), ("AP@0", "is not a measure")],
)
def test_what_cannot_be_compared_is_said_before_anything_is_paid(tmp_path, named, says):
    with pytest.raises(InputError, match=f"compare.measures: .*{says}"):
        check_measures(with_measures(tmp_path, named))


def test_what_matters_may_be_of_a_measure_that_is_named(tmp_path):
    space = with_measures(tmp_path, "P")
    check_measures(with_measures(tmp_path / "2", "P", **{f"P@{space.experiment.retrieval.k}": 0.1}))
    assert named("accuracy") is None and named("RR@5").name == "RR"
