"""`ragassay agree CORPUS`: labels and judgments found by themselves, games among them, as compare says it too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score
from support.results_folder import answer, game, judgment, results_folder, write

from ragassay.cli import main
from ragassay.evaluate.compare import compare
from ragassay.evaluate.report.page import read_results, report
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query

EXPERIMENT = """[questions]
source = "own"
[answer]
model = "openai:m"
[judge]
model = "openai:j"
criteria = ["accuracy"]
[retrieval]
retrievers = ["bm25"]
"""
A, B = "bm25-rag", "bm25-rag-fusion"
VERDICTS = "aabbtatbabtaab"
"""Of bm25-rag against bm25-rag-fusion in both orders, t a tie, query by query."""
PEOPLE = {"a": 1.0, "t": 0.5, "b": 0.0}
SAID = "aabbttabbbaaat"
WORDS = {"a": "a", "t": "tie", "b": "b"}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Fourteen queries of seven sections, two agents, an answer and a game each; the last query's game failed."""
    n = len(VERDICTS)
    queries = [
        Query.model_validate({"_id": f"q{i:02}", "text": f"What is {i}?", "metadata": {"doc": "d", "section": i // 2}})
        for i in range(n)
    ]
    accuracy = [
        judgment(q.id, agent, "accuracy", (i + len(agent)) % 3) for i, q in enumerate(queries) for agent in (A, B)
    ]
    games = [
        game(q.id, A, B, None if i == n - 1 else WORDS[VERDICTS[i]], first)
        for i, q in enumerate(queries)
        for first in ("a", "b")
    ]
    made = results_folder(
        tmp_path,
        EXPERIMENT,
        queries=queries,
        passages=[Passage.model_validate({"_id": "p", "text": "It is.", "metadata": {"doc": "d"}})],
        rankings={agent: {q.id: ["p"] for q in queries} for agent in (A, B)},
        answers=[answer(q.id, agent, "It is.", "p") for q in queries for agent in (A, B)],
        relevance=[judgment(q.id, "p", "relevance", 1) for q in queries],
        pointwise=accuracy,
        games=games,
        rewrites=[],
    )
    lines = ["who,when,query,subject,criterion,label"]
    # the agents are told the other way round, so that 0 says that the one first in the alphabet was better
    lines += [f"ann,,q{i:02},{B}:{A},game,{1 - PEOPLE[said]:g}" for i, said in enumerate(SAID)]
    lines += [f"ann,,{row.query_id},{row.subject},accuracy,{i % 3}" for i, row in enumerate(accuracy)]
    lines += [f"bea,,{row.query_id},{row.subject},accuracy,{i % 3}" for i, row in enumerate(accuracy)]
    made.own_labels.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def agree(*options: object) -> int:
    return main(["agree", *map(str, options)])


def test_a_corpus_says_all_that_people_labelled_games_too(workspace: Workspace, capsys):
    assert agree(workspace.corpus, "--results", workspace.results, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["accuracy", "game"], "nobody labelled a passage"
    (pair,) = found["game"]["pairs"]
    people, judge = ([WORDS[one] for one in side[:-1]] for side in (SAID, VERDICTS))
    assert (pair["n_pairs"], pair["n_missing"], pair["n_clusters"]) == (13, 1, 7)
    figures = {name: figure["value"] for name, figure in pair["figures"].items()}
    assert figures["kappa"] == pytest.approx(cohen_kappa_score(people, judge), abs=1e-6)
    order = ["b", "tie", "a"]
    assert figures["kappa(linear)"] == pytest.approx(cohen_kappa_score(people, judge, labels=order, weights="linear"))
    same = sum(a == b for a, b in zip(people, judge, strict=True))
    assert figures["agreement"] == pytest.approx(same / 13, abs=1e-6)
    kappa = pair["figures"]["kappa"]
    assert kappa["ci_low"] < kappa["value"] < kappa["ci_high"] and (kappa["n"], kappa["n_failed"]) == (13, 1)
    assert "bias" in pair["undefined"] and set(pair["p"]) == {"tau_b", "rho"}
    assert pair["confusion"]["labels"] == order
    assert agree(workspace.corpus, "--results", workspace.results) == 0
    out = capsys.readouterr().out
    assert "game: judge against people: 13 pairs of 7 sections, 1 more lack a label" in out
    assert "p (whole sections permuted): tau_b" in out


def test_a_results_folder_and_the_files_themselves_say_the_same(workspace: Workspace, capsys):
    found = []
    named = [workspace.results / name for name in ("pointwise.jsonl", "games.jsonl")]
    for options in (
        [workspace.corpus, "--results", workspace.results],
        [workspace.results, "--labels", workspace.own_labels],
        ["--labels", workspace.own_labels, *(part for path in named for part in ("--judgments", path))],
    ):
        assert agree(*options, "--json") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    for name, alone in found[2].items():
        figures = [each[name]["pairs"][0]["figures"]["kappa"] for each in (found[0], found[2])]
        assert figures[0]["value"] == figures[1]["value"] and alone["by"] == "query", "there is no queries.jsonl"


def test_the_report_has_the_row_of_the_games(workspace: Workspace, capsys):
    compare(workspace)
    report(workspace)
    results = read_results(workspace.figures)
    assert results.corrected is not None
    row = next(one for one in results.corrected.agreement if one.criterion == "game")
    assert agree(workspace.corpus, "--results", workspace.results, "--json") == 0
    (pair,) = json.loads(capsys.readouterr().out)["game"]["pairs"]
    assert row.dump()["figures"] == pair["figures"] and row.p == pair["p"]
    page = workspace.report.read_text(encoding="utf-8")
    assert "winner of a game" in page.split('id="agreement"')[1]


def test_of_several_people_and_judges_most_must_say_so_for_a_winner(workspace: Workspace, capsys):
    """As a win rate counts it: a and a tie make a tie (0.75 is not above it)."""
    write(
        workspace,
        games=[
            game("q00", A, B, winner, first, judge=judge)
            for judge, winner in (("one", "a"), ("other", "tie"))
            for first in ("a", "b")
        ],
    )
    rows = [f"{who},,q00,{A}:{B},game,{label}" for who, label in (("ann", 1), ("bea", 1), ("cay", 0.5), ("dan", 1))]
    workspace.own_labels.write_text("\n".join(["who,when,query,subject,criterion,label", *rows]) + "\n")
    assert agree(workspace.corpus, "--results", workspace.results, "--json") == 0
    confusion = json.loads(capsys.readouterr().out)["game"]["pairs"][0]["confusion"]
    assert confusion["counts"][confusion["labels"].index("a")][confusion["labels"].index("tie")] == 1


def test_results_without_a_corpus_are_refused(workspace: Workspace, capsys):
    assert agree("--labels", workspace.own_labels, "--human", "label", "--results", workspace.results) == 2
    assert "--results goes with CORPUS" in capsys.readouterr().err


def test_where_the_judge_failed_on_all_of_it_that_is_said(workspace: Workspace, capsys):
    write(workspace, games=[game(f"q{i:02}", A, B, None) for i in range(14)])
    assert agree(workspace.corpus, "--results", workspace.results) == 0
    assert "note: game: the judge failed on all 14 things that people labelled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "there are no labels of people"),
        (["--labels", "{corpus}/labels.csv", "--results", "{corpus}/nothing"], "holds none of relevance.jsonl"),
        (["--labels", "{corpus}/labels.csv", "--human", "x"], "CORPUS goes with --labels alone"),
    ],
)
def test_what_is_missing_is_one_sentence_with_a_remedy(workspace: Workspace, capsys, options, said):
    kept = workspace.own_labels
    if not options:
        kept.unlink()
    given = [option.format(corpus=workspace.corpus) for option in options]
    results = [] if "--results" in given else ["--results", str(workspace.results)]
    assert agree(workspace.corpus, *results, *given) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
