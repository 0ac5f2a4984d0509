"""`ragassay agree` and `agree-systems` on plain files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.stats import kendalltau, spearmanr, ttest_rel
from sklearn.metrics import cohen_kappa_score

from ragassay.cli import main

HUMAN = [0, 1, 2, 2, 0, 1, 2, 1, 0, 0, 2, 1]
JUDGE = [0, 2, 2, 1, 0, 1, 2, 0, 0, 1, 2, 1]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in a folder of its own: status, what was printed, what was complained of."""

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        text = capsys.readouterr()
        return status, text.out, text.err

    return call


def table(path: Path, kind: str) -> str:
    """The labels as a file of this kind; one label of each rater is missing."""
    rows = [(f"q{i // 2}", str(a), str(b)) for i, (a, b) in enumerate(zip(HUMAN, JUDGE, strict=True))]
    rows += [("q9", "", "1"), ("q9", "2", "")]
    names = ("query_id", "human", "judge")
    if kind == "jsonl":
        lines = [
            json.dumps({n: (int(x) if x.isdigit() else x or None) for n, x in zip(names, r, strict=True)}) for r in rows
        ]
    else:
        lines = [{"csv": ",", "tsv": "\t"}[kind].join(row) for row in [names, *rows]]
    file = path / f"labels.{kind}"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_a_table_of_any_kind_gives_the_same_figures(tmp_path: Path, run: Run, kind: str):
    status, out, err = run(
        "agree", "--labels", table(tmp_path, kind), "--human", "human", "--judge", "judge", "--relevant", "2", "--json"
    )
    found = json.loads(out)
    (pair,) = found["pairs"]
    assert status == 0 and not err and found["by"] == "query_id" and found["relevant"] == "2"
    assert (pair["n_pairs"], pair["n_missing"], pair["n_clusters"]) == (12, 2, 6)
    kappa = pair["figures"]["kappa(quadratic)"]
    assert kappa["value"] == pytest.approx(cohen_kappa_score(HUMAN, JUDGE, weights="quadratic"))
    assert kappa["n_failed"] == 2 and -1 <= kappa["ci_low"] < kappa["value"] < kappa["ci_high"] <= 1
    assert pair["figures"]["precision(rel=2)"]["value"] == pytest.approx(3 / 4)


def test_what_is_printed_says_what_is_missing_and_the_same_every_time(tmp_path: Path, run: Run):
    arguments = ("agree", "--labels", table(tmp_path, "csv"), "--human", "human", "--judge", "judge")
    status, out, _ = run(*arguments)
    assert status == 0 and "12 pairs of 6 queries, 2 more lack a label" in out
    for name in ("kappa", "kappa(linear)", "krippendorff_alpha(ordinal)", "tau_b", "rho", "off_by_one", "bias"):
        assert re.search(rf"{re.escape(name)}  +-?\d\.\d{{4}}  +-?\d\.\d{{4}} to", out), name
    assert run(*arguments)[1] == out


def test_two_files_of_qrels(tmp_path: Path, run: Run):
    for name, labels, extra in (("human", HUMAN, "q0 0 only-human 1\n"), ("judge", JUDGE, "")):
        rows = [f"q{i // 2} 0 d{i} {label}\n" for i, label in enumerate(labels)]
        (tmp_path / name).write_text("".join(rows) + extra)
    status, out, _ = run("agree", "--qrels", "human", "--qrels", "judge", "--json")
    (pair,) = json.loads(out)["pairs"]
    assert status == 0 and (pair["n_pairs"], pair["n_missing"], pair["n_clusters"]) == (12, 1, 6)
    assert pair["figures"]["kappa"]["value"] == pytest.approx(cohen_kappa_score(HUMAN, JUDGE))


def test_measured_values_print_no_matrix_of_all_values(tmp_path: Path, run: Run):
    rows = [(512 + 7 * i, 494 + 9 * i) for i in range(12)]
    (tmp_path / "flow.csv").write_text("mini,large\n" + "".join(f"{a},{b}\n" for a, b in rows))
    status, out, _ = run("agree", "--labels", "flow.csv", "--human", "mini", "--judge", "large")
    assert status == 0 and "different labels: which met which is in --json" in out and "rows: people's" not in out


def test_a_label_of_the_scale_that_never_occurs_is_said(tmp_path: Path, run: Run):
    (tmp_path / "gap.csv").write_text("human,judge\n" + "0,0\n1,1\n3,1\n3,3\n0,1\n" * 3)
    arguments = ("agree", "--labels", "gap.csv", "--human", "human", "--judge", "judge")
    assert "2 never occurs" in " ".join(run(*arguments)[1].split())
    assert "never occurs" not in run(*arguments, "--scale", "0,1,2,3")[1]


def test_all_labels_equal(tmp_path: Path, run: Run):
    (tmp_path / "same.csv").write_text("query_id,human,judge\n" + "".join(f"q{i},1,1\n" for i in range(9)))
    status, out, _ = run("agree", "--labels", "same.csv", "--human", "human", "--judge", "judge")
    assert status == 0 and "all labels are equal (1)" in out
    assert re.search(r"agreement  +1\.0000", out) and not re.search(r"(?m)^kappa|nan", out)
    status, out, _ = run("agree", "--labels", "same.csv", "--human", "human", "--judge", "judge", "--json")
    (pair,) = json.loads(out)["pairs"]
    assert pair["figures"]["kappa"]["value"] is None and "all labels are equal" in pair["undefined"]["kappa"]


def test_the_plot_is_one_page_that_needs_nothing_else(tmp_path: Path, run: Run):
    labels = tmp_path / "labels.csv"
    labels.write_text("human,<b>judge\n" + "".join(f"{a},{b}\n" for a, b in zip(HUMAN, JUDGE, strict=True)))
    status, out, _ = run(
        "agree", "--labels", "labels.csv", "--human", "human", "--judge", "<b>judge", "--plot", "out.html"
    )
    page = (tmp_path / "out.html").read_text()
    assert status == 0 and "each row was resampled alone" in out
    assert page.count("<circle") == len(set(zip(HUMAN, JUDGE, strict=True)))
    assert "<b>" not in page and "&lt;b&gt;judge" in page and "src=" not in page and "http" not in page


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        ("human,judge\n1,1\n", ["--judge", "nope"], "has no column 'nope'; its columns are human, judge"),
        ("human,judge\n1,1\n2,high\n", [], r"labels.csv:3: label 'high' in column 'judge' is not a number"),
        ("human,judge\n1,1\n", ["--judge", "human"], "named twice, and one rater"),
        ("human,judge\n1,\n,1\n", [], "no row has a label of both"),
        ("human,judge\n1,\n2,\n", [], "column 'judge' holds no label"),
        ("human,judge\nyes,good\nno,bad\n", [], "share no label"),
        ("human,judge\n1,1,1\n", [], "labels.csv:2: has 3 cells, the header 2"),
        ("human,human,judge\n1,1,1\n", [], "two columns 'human'"),
        ('human,judge\n1,"1\n', [], "is not a table"),
        ("human,judge\n", [], "has no rows"),
        ("", [], "has no rows"),
        ("human,judge\n1,1\n", ["--by", "query"], "has no column 'query'"),
        ("human,judge\n1,1\n", ["--relevant", "high"], "--relevant is 'high'"),
        ("human,judge\nyes,yes\n", ["--relevant", "2"], "--relevant is '2', which is no label there"),
        ("human,judge\nyes,no\nno,no\nyes,yes\n", ["--plot", "p.html"], "needs labels that are numbers"),
        ("human,judge\n1,1\n", ["--scale", "a,b"], "--scale has 'a'"),
        ("human,judge\n1,1\n", ["--bootstrap", "0"], "--bootstrap is 0"),
        ("human,judge,q\n1,1,\n", ["--by", "q"], "labels.csv:2: has no 'q'"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, run: Run, text: str, arguments: list[str], says: str):
    (tmp_path / "labels.csv").write_text(text)
    judge = [] if "--judge" in arguments else ["--judge", "judge"]
    status, out, err = run("agree", "--labels", "labels.csv", "--human", "human", *judge, *arguments)
    assert status == 2 and not out and err.count("\n") == 1 and says in err
    assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize(
    "arguments", [["--labels", "x.csv", "--human", "a"], [], ["--qrels", "a"], ["--qrels", "a", "--labels", "b"]]
)
def test_a_command_that_is_not_whole_says_what_it_lacks(run: Run, arguments: list[str]):
    status, _, err = run("agree", *arguments)
    assert status == 2 and err.count("\n") == 1 and "--qrels" in err


def test_qrels_without_a_common_pair(tmp_path: Path, run: Run):
    (tmp_path / "a").write_text("q1 0 d1 1\n")
    (tmp_path / "b").write_text("q1 0 d2 1\n")
    status, _, err = run("agree", "--qrels", "a", "--qrels", "b")
    assert status == 2 and "shares no pair" in err


def systems(folder: Path, n: int = 4) -> None:
    """Three systems that put the one relevant passage first, second and third, for `n` queries; a judge that errs."""
    (folder / "runs").mkdir()
    for place, name in enumerate(("good", "fair", "poor")):
        order = ["x", "y", "z"]
        order.insert(place, "hit")
        lines = [f"q{q} Q0 {p} {rank} {9 - rank} {name}\n" for q in range(n) for rank, p in enumerate(order, 1)]
        (folder / "runs" / f"{name}.trec").write_text("".join(lines))
    (folder / "human").write_text("".join(f"q{q} 0 hit 1\n" for q in range(n)))
    (folder / "judge").write_text("q0 0 hit 1\nq1 0 hit 1\nq2 0 x 1\nq3 0 hit 1\nq8 0 hit 1\n")


def test_systems_under_two_sets_of_labels(tmp_path: Path, run: Run):
    systems(tmp_path)
    arguments = ("agree", "systems", "--qrels", "human", "--qrels", "judge", "--runs", "runs", "--measure", "RR@10")
    status, out, _ = run(*arguments, "--json")
    found = json.loads(out)
    assert status == 0 and list(found["scores"]) == ["good", "fair", "poor"] and found["n_queries"] == 4
    assert found["scores"]["poor"] == [pytest.approx(1 / 3), pytest.approx((3 * (1 / 3) + 1) / 4)]
    sides = list(zip(*found["scores"].values(), strict=True))
    assert found["figures"]["tau_b"]["value"] == pytest.approx(kendalltau(*sides).statistic)
    assert found["figures"]["tau_b"]["ci_low"] is not None
    status, out, _ = run(*arguments)
    assert status == 0 and "1 of 5 queries have labels in one file only" in out and "tau_b" in out


def test_queries_of_a_section_are_resampled_together(tmp_path: Path, run: Run):
    """Of 5 sections of 4 alike the interval is that of 5 queries, up to how a resample of either comes to be drawn."""
    systems(tmp_path, 20)
    ids = [f"q{q}" for q in range(20)]
    (tmp_path / "judge").write_text("".join(f"{q} 0 {'x' if q < 'q13' else 'hit'} 1\n" for q in ids))
    sections = {q: f"s{place // 4}" for place, q in enumerate(sorted(ids))}
    rows = [json.dumps({"_id": q, "text": "?", "metadata": {"section": sections[q]}}) for q in ids]
    (tmp_path / "queries.jsonl").write_text("".join(f"{row}\n" for row in rows))
    arguments = ("agree", "systems", "--qrels", "human", "--qrels", "judge", "--runs", "runs", "--measure", "RR@10")
    found = [json.loads(run(*arguments, "--json", *more)[1]) for more in ((), ("--sections", "queries.jsonl"))]
    alone, together = (each["figures"]["tau_b"] for each in found)
    assert alone["value"] == together["value"] == 1.0 and together["ci_low"] < alone["ci_low"]
    status, _, err = run("agree", "systems", "--scores", "judge", "--sections", "queries.jsonl")
    assert status == 2 and "--sections" in err


@pytest.mark.parametrize(("n", "n_other", "low"), [(30, 11, 1 / 3), (20, 4, (2 / 3) ** 0.5)])
def test_one_order_is_as_sure_as_its_resamples(tmp_path: Path, run: Run, n: int, n_other: int, low: float):
    """The judge finds the second passage on some queries; how many a resample has of these is binomial.

    Of 30 with 11 of them 0.8% of the resamples have a tau-b below 1/3 and 4.6% at most that (the percentile: 1.9%); of
    20 with 4 only 0.3% (1.6%) have any below 1, and the nearest that these have is that of one tie: sqrt(2/3).
    """
    systems(tmp_path, n)
    (tmp_path / "judge").write_text("".join(f"q{q} 0 {'x' if q < n_other else 'hit'} 1\n" for q in range(n)))
    arguments = ("agree", "systems", "--qrels", "human", "--qrels", "judge", "--runs", "runs", "--measure", "RR@10")
    status, out, _ = run(*arguments, "--json", "--bootstrap", "4000")
    tau = json.loads(out)["figures"]["tau_b"]
    assert status == 0 and (tau["value"], tau["ci_high"]) == (1.0, 1.0)
    assert tau["ci_low"] == pytest.approx(low, abs=1e-6)


def test_systems_from_a_table_of_scores(tmp_path: Path, run: Run):
    (tmp_path / "scores.csv").write_text("system,people,judge\nb,0.4,0.6\na,0.5,0.7\nc,0.1,0.65\n")
    status, out, _ = run("agree", "systems", "--scores", "scores.csv", "--json")
    found = json.loads(out)
    assert status == 0 and list(found["scores"]) == ["a", "b", "c"]
    assert found["figures"]["tau_b"]["value"] == pytest.approx(1 / 3)
    assert found["figures"]["rho"]["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("system,people\na,1\n", "has 2 columns"),
        ("system,people,judge\na,1,x\nb,1,2\n", "scores.csv:2: score 'x' is not a number"),
        ("system,people,judge\na,1,2\na,1,2\n", "'a' a second time"),
        ("system,people,judge\na,1,2\n", "one system"),
    ],
)
def test_a_bad_table_of_scores(tmp_path: Path, run: Run, text: str, says: str):
    (tmp_path / "scores.csv").write_text(text)
    status, _, err = run("agree", "systems", "--scores", "scores.csv")
    assert status == 2 and says in err and err.count("\n") == 1


def test_systems_that_cannot_be_compared(tmp_path: Path, run: Run):
    systems(tmp_path)
    (tmp_path / "other").write_text("q7 0 hit 1\n")
    base = ("agree", "systems", "--qrels", "human", "--runs", "runs", "--measure")
    for arguments, says in (
        ([*base, "RR@10", "--qrels", "other"], "shares no query"),
        ([*base, "RR@10", "--qrels", "human"], "named twice"),
        ([*base, "RR@10"], "given 1 times"),
        ([*base, "quality", "--qrels", "judge"], "not a measure"),
        (["agree", "systems", "--runs", "runs"], "needs --qrels twice"),
        ([*base[:4], "--qrels", "judge", "--runs", "nowhere", "--measure", "RR@10"], "not a folder"),
    ):
        status, _, err = run(*arguments)
        assert status == 2 and says in err and err.count("\n") == 1


LABELS = "who,when,query,subject,criterion,label\n"


def sheet(folder: Path) -> None:
    """Labels as `label-sheet --take` writes them, and what the judge said of the same answers."""
    said = zip(HUMAN, JUDGE, strict=True)
    labels, judged = [], []
    for i, (human, judge) in enumerate(said):
        labels.append(f"ann,,q{i},bm25-rag,accuracy,{human}\n")
        row = {"query_id": f"q{i}", "subject": "bm25-rag", "judge": "j", "criterion": "accuracy", "label": judge}
        judged.append(json.dumps(row | {"reason": "", "error": None}))
    (folder / "labels.csv").write_text(LABELS + "".join(labels))
    (folder / "pointwise.jsonl").write_text("\n".join(judged) + "\n")


def test_the_labels_of_our_own_sheet_meet_the_judges_files(tmp_path: Path, run: Run):
    sheet(tmp_path)
    status, out, err = run("agree", "--labels", "labels.csv", "--judgments", "pointwise.jsonl", "--json")
    (pair,) = json.loads(out)["accuracy"]["pairs"]
    assert status == 0 and not err
    assert pair["figures"]["tau_b"]["value"] == pytest.approx(kendalltau(HUMAN, JUDGE).statistic)
    assert pair["p"]["tau_b"] == pytest.approx(kendalltau(HUMAN, JUDGE).pvalue, rel=1e-5)
    assert pair["p"]["rho"] == pytest.approx(spearmanr(HUMAN, JUDGE).pvalue, rel=1e-5)
    assert pair["p"]["bias"] == pytest.approx(ttest_rel(JUDGE, HUMAN).pvalue, rel=1e-5)
    status, out, err = run("agree", "--labels", "labels.csv", "--judgments", "pointwise.jsonl", "--plot", "plot.html")
    assert status == 0 and "accuracy: judge against people" in out and "paired t-test" in out
    assert "accuracy: judge against people" in (tmp_path / "plot.html").read_text()


@pytest.mark.parametrize(
    ("label", "options", "says"),
    [
        ("q0,bm25-rag,accuracy,7", ["--judgments", "pointwise.jsonl"], "labels.csv:2"),
        ("other,bm25-rag,accuracy,1", ["--judgments", "pointwise.jsonl"], "labels nothing that is judged in"),
        ("q0,bm25-rag,accuracy,1", ["--judgments", "nowhere.jsonl"], "nowhere.jsonl"),
        ("q0,bm25-rag,accuracy,1", ["--judgments", "pointwise.jsonl", "--human", "x"], "--judgments goes with"),
        ("q0,bm25-rag,accuracy,1", [], "--judgments FILE"),
    ],
)
def test_a_sheet_that_cannot_be_joined_is_one_sentence(
    tmp_path: Path, run: Run, label: str, options: list[str], says: str
):
    sheet(tmp_path)
    (tmp_path / "labels.csv").write_text(f"{LABELS}ann,,{label}\n")
    status, out, err = run("agree", "--labels", "labels.csv", *options)
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1


def test_agree_systems_has_scipys_p(tmp_path: Path, run: Run):
    scores = [(0.1, 0.2), (0.3, 0.1), (0.5, 0.6), (0.7, 0.5), (0.9, 0.8), (0.95, 0.7)]
    rows = "".join(f"s{i},{a},{b}\n" for i, (a, b) in enumerate(scores))
    (tmp_path / "scores.csv").write_text("system,one,other\n" + rows)
    status, out, _ = run("agree", "systems", "--scores", "scores.csv", "--json")
    expected = kendalltau(*zip(*scores, strict=True)).pvalue
    assert status == 0 and json.loads(out)["p"]["tau_b"] == pytest.approx(expected, rel=1e-5)


def test_systems_by_year(tmp_path: Path, run: Run):
    """A system of two years stands in both, each with the order of its own year; years as numbers."""
    years = {"2024": [(0.1, 0.2), (0.3, 0.1), (0.5, 0.6), (0.7, 0.5)], "999": [(0.9, 0.8), (0.4, 0.7), (0.2, 0.1)]}
    rows = [f"s{i},{year},{a},{b}\n" for year, scores in years.items() for i, (a, b) in enumerate(scores)]
    (tmp_path / "scores.csv").write_text("system,year,people,judge\n" + "".join(rows))
    arguments = ("agree", "systems", "--scores", "scores.csv", "--by", "year")
    status, out, _ = run(*arguments, "--json")
    found = json.loads(out)
    assert status == 0 and list(found) == ["999", "2024"]
    for year, scores in years.items():
        expected = kendalltau(*zip(*scores, strict=True)).statistic
        assert found[year]["figures"]["tau_b"]["value"] == pytest.approx(expected, abs=1e-6)
        assert (found[year]["first"], found[year]["figures"]["tau_b"]["n"]) == ("people", len(scores))
    out = run(*arguments)[1]
    assert out.index("year 999") < out.index("year 2024") < out.index("order of the systems")
    assert re.search(r"2024  +4  +0\.3333", out)


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (
            "system,year,people,judge\na,1,1,1\n",
            [],
            "has 4 columns, a table of scores has 3 (system, score, score); one",
        ),
        ("system,year,people,judge\na,1,1,1\n", ["--by", "era"], "has no column 'era'; its columns are system, year"),
        ("system,year,people,judge\na,1,1,1\nb,2,1,1\n", ["--by", "year"], "one system of year 1"),
        ("system,year,people,judge\na,1,1,1\nb,,1,1\n", ["--by", "year"], "scores.csv:3: has no 'year'"),
    ],
)
def test_systems_that_cannot_be_divided(tmp_path: Path, run: Run, text: str, arguments: list[str], says: str):
    (tmp_path / "scores.csv").write_text(text)
    status, out, err = run("agree", "systems", "--scores", "scores.csv", *arguments)
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1
