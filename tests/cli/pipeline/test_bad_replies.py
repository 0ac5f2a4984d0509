"""A quarter of the judge's replies are bad: no mean moves but by what failed, and every count says so."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from support.bad_replies import JUDGES, spoil
from support.finished_run.run import Run
from support.loopback.server import ScriptedServer
from support.made_up_results.page import Page
from support.results_folder import scored
from support.small_corpus import edit, make_corpus

from ragassay.cli import main
from ragassay.evaluate.measures.measure import Judged
from ragassay.evaluate.measures.measure import measure as measure_of
from ragassay.evaluate.ratings.verdicts import Verdict, verdicts
from ragassay.records import Game

Keyed = dict[tuple[str, ...], dict[str, Any]]


def run_with(folder: Path, bad: tuple[str, ...]) -> Run:
    """A whole run on the small corpus against a server that spoils a quarter of the replies of these schemas."""
    with ScriptedServer("openai", spoil(bad)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        corpus = make_corpus(folder / "mine", "openai:m", server.base_url)
        edit(corpus, '"openai:m" = 4', '"openai:m" = 12')
        assert main(["run", str(corpus), "--results", str(folder / "results" / "mine")]) == 0
    return Run(corpus, folder / "results" / "mine")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(tmp_path_factory.mktemp("good"), ())


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_with(tmp_path_factory.mktemp("spoiled"), JUDGES)


def keyed(rows: list[dict[str, Any]], *names: str) -> Keyed:
    return {tuple(row[name] for name in names): row for row in rows}


def judged(run: Run) -> tuple[Keyed, Keyed, Keyed]:
    return (
        keyed(run.relevance, "query_id", "subject"),
        keyed(run.pointwise, "query_id", "subject", "criterion"),
        keyed(run.games, "query_id", "agent_a", "agent_b", "first"),
    )


def test_what_was_not_spoiled_is_the_same(good: Run, spoiled: Run) -> None:
    for name in ("queries.jsonl", "rankings/bm25-rag.trec", "rankings/bm25-rag-fusion.trec"):
        assert (good.results / name).read_text() == (spoiled.results / name).read_text()
    texts = [[{q: a["answer"] for q, a in rows.items()} for rows in run.answers.values()] for run in (good, spoiled)]
    assert texts[0] == texts[1]


def test_each_record_is_as_it_was_or_an_error_and_about_a_quarter_are_errors(good: Run, spoiled: Run) -> None:
    for before, after in zip(judged(good), judged(spoiled), strict=True):
        assert list(before) == list(after)
        assert all(row["error"] is None for row in before.values())
        value = "winner" if "winner" in next(iter(after.values())) else "label"
        for key, row in after.items():
            assert (row[value] is None) != (row["error"] is None)
            assert row[value] in (None, before[key][value]), "a failure became a label or a winner"
            assert row["error"] is None or row["reason"] is None
        assert 0.04 < fmean(row["error"] is not None for row in after.values()) < 0.5


def test_means_are_those_of_the_labels_that_are_left(good: Run, spoiled: Run) -> None:
    before, after = judged(good)[1], judged(spoiled)[1]
    for agent, criteria in spoiled.figures["pointwise"].items():
        for criterion, figure in criteria.items():
            owed = [key for key in after if key[1:] == (agent, criterion)]
            left = [before[key]["label"] for key in owed if after[key]["error"] is None]
            assert figure["value"] == pytest.approx(fmean(left))
            assert (figure["n"], figure["n_failed"]) == (len(left), len(owed) - len(left))
            whole = good.figures["pointwise"][agent][criterion]
            assert whole["n"] + whole["n_failed"] == figure["n"] + figure["n_failed"]
            counts = spoiled.figures["pointwise_labels"][agent][criterion]
            assert counts == {label: left.count(float(label)) for label in ("0", "1", "2")}
    assert any(f["n_failed"] for criteria in spoiled.figures["pointwise"].values() for f in criteria.values())


def test_ranking_measures_are_those_of_the_queries_that_no_failure_touches(good: Run, spoiled: Run) -> None:
    """A query counts where no label the missing judgments might have had would change it; then it is as it was."""
    n_failed = 0
    for agent, measures in spoiled.figures["retrieval"].items():
        for name, figure in measures.items():
            if name.startswith("R(section)"):
                assert figure == good.figures["retrieval"][agent][name], "no label enters it"
                continue
            before, after = (by_query(run, agent, name) for run in (good, spoiled))
            left = [before[query] for query, value in after.items() if value is not None]
            assert figure["value"] == (pytest.approx(fmean(left)) if left else None)
            assert (figure["n"], figure["n_failed"]) == (len(left), len(spoiled.query_ids) - len(left))
            n_failed += figure["n_failed"]
    assert n_failed


def by_query(run: Run, agent: str, measure: str) -> dict[str, float]:
    rankings = {query: scored(row or ()) for query, row in run.rankings[agent].items()}
    failed: dict[str, list[str]] = {}
    for row in run.relevance:
        if row["error"] is not None:
            failed.setdefault(row["query_id"], []).append(row["subject"])
    return measure_of(measure).values(Judged(run.query_ids, run.qrels, rankings, failed))


def test_a_missing_judgment_is_unjudged_in_the_qrels(spoiled: Run) -> None:
    labelled = {(q, p) for q, row in spoiled.qrels.items() for p in row}
    assert labelled == {key for key, row in judged(spoiled)[0].items() if row["label"] is not None}
    errors = [row for row in spoiled.relevance if row["error"] is not None]
    assert spoiled.figures["n_relevance_failed"] == len(errors) > 0
    assert sum(spoiled.figures["relevance_labels"].values()) == len(labelled)


def test_no_tie_and_no_win_comes_of_a_failed_game(good: Run, spoiled: Run) -> None:
    before = {verdict.query_id: verdict for verdict in verdicts(map(Game.model_validate, good.games))}
    left = [v for v in verdicts(map(Game.model_validate, spoiled.games)) if v.winner is not None]
    assert all((v.winner, v.flipped) == (before[v.query_id].winner, before[v.query_id].flipped) for v in left)
    failed = len(before) - len(left)
    assert 0 < failed < len(before)
    for agent, figure in spoiled.figures["win_rate"].items():
        assert figure["value"] == pytest.approx(fmean(won_by(agent, v) for v in left))
        assert (figure["n"], figure["n_failed"]) == (len(left), failed)
    flips, asked = spoiled.figures["flip_rate"], [v for v in left if not v.identical]
    assert 0 < len(asked) < len(left), "where two answers are the same text the judge is not asked, and cannot flip"
    assert flips["value"] == pytest.approx(fmean(bool(v.flipped) for v in asked))
    assert (flips["n"], flips["n_failed"]) == (len(asked), failed)
    _check_ratings(spoiled, left, failed)


def won_by(agent: str, verdict: Verdict) -> bool:
    return agent == {"a": verdict.agent_a, "b": verdict.agent_b}.get(str(verdict.winner))


def _check_ratings(spoiled: Run, left: list[Verdict], failed: int) -> None:
    for kind in ("elo", "bradley_terry"):
        for figure in spoiled.figures[kind].values():
            assert (figure["n"], figure["n_failed"]) == (len(left), failed)


def test_single_games_that_failed_are_counted_in_the_position_bias(spoiled: Run) -> None:
    decided = [game for game in spoiled.games if game["winner"] in ("a", "b")]
    figure = spoiled.figures["first_shown_wins"]
    assert figure["value"] == pytest.approx(fmean(game["winner"] == game["first"] for game in decided))
    errors = sum(game["error"] is not None for game in spoiled.games)
    assert (figure["n"], figure["n_failed"]) == (len(decided), errors)


def test_the_run_and_the_report_say_how_many_failed(good: Run, spoiled: Run) -> None:
    page = Page((spoiled.results / "report.html").read_text())
    told = " ".join(page.text.split())
    kinds = ("relevance judgments", "answer judgments", "games")
    for kind, rows in zip(kinds, judged(spoiled), strict=True):
        errors = sum(row["error"] is not None for row in rows.values())
        notice = f"{errors} of {len(rows)} {kind} failed"
        assert any(said.startswith(notice) for said in spoiled.figures["notices"]) and notice in told
    assert not any("failed" in said for said in good.figures["notices"])
    usage = {row["stage"]: row for row in spoiled.figures["usage"]}
    assert usage["judge"]["n_failed"] > 0 and usage["answer"]["n_failed"] == 0
    second_tries = usage["judge"]["calls"] - {row["stage"]: row for row in good.figures["usage"]}["judge"]["calls"]
    assert second_tries == usage["judge"]["n_failed"], "each bad reply is asked for once more, and no other"


def test_a_second_run_does_not_ask_again(spoiled: Run) -> None:
    """The server is gone: what failed stays failed, at no cost."""
    before = (spoiled.results / "results.json").read_bytes()
    (spoiled.results / "results.json").unlink()
    for path in (spoiled.results / "manifests").glob("*.json"):
        path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
        assert main(["run", str(spoiled.corpus), "--results", str(spoiled.results)]) == 0
    assert (spoiled.results / "results.json").read_bytes() == before
