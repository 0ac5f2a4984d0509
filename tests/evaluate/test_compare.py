"""The stage `compare` on files: every figure from other code, and what failed moves nothing but by being missing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations
from math import nan
from statistics import fmean

import pytest
from support.compared import CRITERIA, Made, experiment, quarter
from support.finished_run.tables import figures_of
from support.json_lines import records
from support.places import ROOT

from ragassay.errors import LEFT_OUT, InputError
from ragassay.files import write_json


def reciprocal(labels, ranked, least):
    return next((1 / rank for rank, p in enumerate(ranked, 1) if labels[p] >= least), 0.0)


def test_every_figure_by_other_code_and_rag_is_tested_against_rag_fusion_for_each_retriever(tmp_path):
    made = Made(tmp_path)
    made.ranked["knn-rag"]["q00"] = []
    made.write()
    results = made.compare()
    for agent in made.agents:
        rows = results.retrieval[agent]
        for least in (1, 2):
            assert (rows[f"RR(rel={least})@5"].n, rows[f"RR(rel={least})@5"].n_failed) == (12, 0), "nothing found is 0"
            expected = fmean(reciprocal(made.labels[q], made.ranked[agent][q], least) for q in made.labels)
            assert rows[f"RR(rel={least})@5"].value == pytest.approx(expected)
        # Passages 0 to 2 start before the section's end at 1000.
        assert rows["R(section)@5"].value == pytest.approx(
            fmean(bool({"p0", "p1", "p2"} & set(r)) for r in made.ranked[agent].values())
        )
        for criterion in CRITERIA:
            grades = [grade for (_, a, c), grade in made.grades.items() if (a, c) == (agent, criterion)]
            assert results.pointwise[agent][criterion].value == pytest.approx(fmean(grades))
            assert results.pointwise_labels[agent][criterion] == {str(n): grades.count(n) for n in (0, 1, 2)}
        assert results.answers[agent]["latency_s"].value == pytest.approx(
            fmean(0.5 * (n + len(agent)) for n in range(12))
        )
        tokens = results.answers[agent]["output_tokens"]
        assert (tokens.value, tokens.n) == (pytest.approx(fmean(n + len(agent) for n in range(12))), 12)
        won = [
            made.winners[q, a, b, "a"] == made.winners[q, a, b, "b"] == ("a" if agent == a else "b")
            for q in made.labels
            for a, b in combinations(sorted(made.agents), 2)
            if agent in (a, b)
        ]
        assert results.win_rate[agent].value == pytest.approx(fmean(won))
        assert results.answers[agent]["answered"].value == 1 and results.answers[agent]["cost_usd"].value is None
    for a, b in combinations(sorted(made.agents), 2):
        orders = [(made.winners[q, a, b, "a"], made.winners[q, a, b, "b"]) for q in made.labels]
        assert results.wins[a][b].value == pytest.approx(fmean(pair == ("a", "a") for pair in orders))
        assert results.wins[b][a].value == pytest.approx(fmean(pair == ("b", "b") for pair in orders))
    pairs = [(q, a, b) for q in made.labels for a, b in combinations(sorted(made.agents), 2)]
    assert results.flip_rate.value == pytest.approx(
        fmean(made.winners[*p, "a"] != made.winners[*p, "b"] for p in pairs)
    )
    assert results.first_shown_wins.value == pytest.approx(
        fmean(key[3] == winner for key, winner in made.winners.items())
    )
    measures = ["RR(rel=2)@5", "RR(rel=1)@5", *CRITERIA, "points"]
    names = [(t.agent_a, t.agent_b, t.measure) for t in results.tests]
    assert names == [(f"{r}-rag", f"{r}-rag-fusion", m) for r in ("bm25", "knn") for m in measures]
    for test in results.tests:
        if test.measure in CRITERIA:
            a, b = (results.pointwise[agent][test.measure].value for agent in (test.agent_a, test.agent_b))
            assert test.difference.value == pytest.approx(a - b, abs=1e-8)
    labels = [label for row in made.labels.values() for label in row.values()]
    assert results.relevance_labels == {str(n): labels.count(n) for n in (0, 1, 2)} and results.n_relevance_failed == 0


def test_agents_stand_best_first_and_the_verdict_names_the_first(tmp_path):
    made = Made(tmp_path, n=40)
    made.winners = {key: made.winners[*key[:3], "a"] for key in made.winners}
    made.write()
    results = made.compare()
    for of_agent in (results.points, results.bradley_terry):
        strengths = [of_agent[agent].value for agent in results.agents]
        assert strengths == sorted(strengths, reverse=True)
    assert results.verdict.leader == results.agents[0] == "bm25-rag-fusion"
    assert (*results.verdict.possible_best, *results.verdict.told) == results.agents == tuple(results.verdict.p_best)
    assert results.rating_detail.ranks[results.agents[0]] == (1, len(results.verdict.possible_best))
    assert sum(results.verdict.p_best.values()) == pytest.approx(1)
    assert list(results.retrieval) == list(results.pointwise) == list(results.elo) == list(results.agents)


def test_a_quarter_failed_moves_no_mean_but_by_what_failed(tmp_path):
    made = Made(tmp_path, bad=lambda kind, *key: kind != "answer" and quarter(kind, *key))
    results = made.compare()
    for agent in made.agents:
        for criterion in CRITERIA:
            owed = [(q, made.grades[q, agent, criterion]) for q in made.labels]
            known = [grade for q, grade in owed if not quarter("pointwise", q, agent, criterion)]
            figure = results.pointwise[agent][criterion]
            assert (figure.n, figure.n_failed) == (len(known), 12 - len(known))
            assert figure.value == pytest.approx(fmean(known))
        for least in (1, 2):
            known = []
            for q, row in made.labels.items():
                labels = [{p: end if quarter("relevance", q, p) else n for p, n in row.items()} for end in (0, 2)]
                ends = [reciprocal(each, made.ranked[agent][q], least) for each in labels]
                known += ends[:1] if ends[0] == ends[1] else []
            figure = results.retrieval[agent][f"RR(rel={least})@5"]
            assert (figure.n, figure.n_failed) == (len(known), 12 - len(known))
            assert figure.value == pytest.approx(fmean(known))
    failed = {key for key in made.winners if quarter("game", *key)}
    for a, b in combinations(sorted(made.agents), 2):
        held = [q for q in made.labels if not {(q, a, b, "a"), (q, a, b, "b")} & failed]
        figure = results.wins[a][b]
        assert (figure.n, figure.n_failed) == (len(held), 12 - len(held))
        assert figure.value == pytest.approx(
            fmean(made.winners[q, a, b, "a"] == made.winners[q, a, b, "b"] == "a" for q in held)
        )
    assert results.first_shown_wins.n_failed == len(failed)
    assert results.n_relevance_failed == sum(quarter("relevance", q, p) for q, row in made.labels.items() for p in row)


def test_failed_answers_are_not_zeros(tmp_path):
    made = Made(tmp_path, bad=lambda kind, *key: kind == "answer" and key[0] == "knn-rag" and key[1] < "q03")
    made.ranked["knn-rag"] = {q: r for q, r in made.ranked["knn-rag"].items() if q >= "q03"}
    made.write()
    figures = made.compare()
    answered, latency = figures.answers["knn-rag"]["answered"], figures.answers["knn-rag"]["latency_s"]
    assert (answered.value, answered.n, answered.n_failed) == (0.75, 9, 3)
    assert (latency.n, latency.n_failed) == (9, 3)
    for measure in ("RR(rel=2)@5", "nDCG@5", "R(section)@5"):
        assert (figures.retrieval["knn-rag"][measure].n, figures.retrieval["knn-rag"][measure].n_failed) == (9, 3)


def test_games_that_an_agent_has_no_answer_to_are_no_doubt_of_the_other_s_lead(tmp_path):
    """It wins 25 of 25. Of 15 more that the other has no answer to it could lose none; had the judge failed, all."""

    def verdict(root, *failing):
        silent = {f"q{n:02d}" for n in range(15)}

        def fails(kind, *key):
            return kind in failing and "bm25-rag" in key[:2] and not silent.isdisjoint(key)

        made = Made(root, n=40, bad=fails, setup=experiment(["bm25"]))
        made.winners = dict.fromkeys(made.winners, "b")
        made.write()
        return made.compare().verdict

    answers, judge = verdict(tmp_path / "1", "answer", "game"), verdict(tmp_path / "2", "game")
    assert (answers.leader, answers.decided) == ("bm25-rag-fusion", True)
    assert (judge.leader, judge.decided) == ("bm25-rag-fusion", False)


def test_everything_failed(tmp_path):
    results = Made(tmp_path, bad=lambda *_: True).compare()
    assert results.verdict.leader is None and not results.verdict.decided
    assert results.verdict.sentence == "Nothing can be said about which agent answers best: all 72 games failed."
    figures = [f for table in (results.pointwise, results.wins) for row in table.values() for f in row.values()]
    figures += [*results.elo.values(), *results.bradley_terry.values(), *results.win_rate.values(), results.flip_rate]
    assert {figure.value for figure in figures} == {None} and all(figure.n_failed for figure in figures)
    assert {row["answered"].value for row in results.answers.values()} == {0}


def test_one_agent_has_nothing_to_be_compared_with(tmp_path):
    setup = experiment(["bm25"], answer={"agents": ["rag"]})
    results = Made(tmp_path, setup=setup).compare()
    assert results.verdict.sentence == "bm25-rag is the only agent, so there is nothing to compare it with."
    assert results.agents == ("bm25-rag",) and results.tests == () and results.retrieval["bm25-rag"]


def test_queries_and_their_copies_from_the_same_section_count_once(tmp_path):
    """So every table knows of sections. Not so: latencies (made up by number), Elo (its orders are drawn), the paired
    t-tests (of queries), needed queries, agreement (Krippendorff's alpha counts pairs), and where copies count for more
    (Kish 1965): where all are alike, in corrected differences, and in the leader's, whose errors are the
    jackknife's."""
    one, twice = (Made(tmp_path / str(n), n=12 * n) for n in (1, 2))
    for made in (one, twice):
        sections = [{"section": f"s{i % 12}"} for i, _ in enumerate(made.queries)]
        made.queries = [q.model_copy(update={"metadata": at}) for q, at in zip(made.queries, sections, strict=True)]
    of = {f"q{i:02d}": f"q{i % 12:02d}" for i in range(24)}
    twice.ranked = {agent: {q: one.ranked[agent][of[q]] for q in of} for agent in twice.agents}
    twice.labels = {q: one.labels[of[q]] for q in of}
    twice.grades = {(q, *rest): one.grades[of[q], *rest] for q, *rest in twice.grades}
    twice.winners = {(q, *rest): one.winners[of[q], *rest] for q, *rest in twice.winners}
    before, after = (ends_of_intervals(made) for made in (one, twice))
    assert before.keys() == after.keys()
    tables = "retrieval pointwise boxes points wins win_rate flip_rate bradley_terry pool audit first_shown_wins"
    assert {place[0] for place in before} == {*tables.split(), "comparisons", "corrected"}
    assert {place: ends for place, ends in after.items() if ends != pytest.approx(before[place], nan_ok=True)} == {}


def ends_of_intervals(made):
    """Place to value and both ends; people have said something else of each answer's accuracy."""
    made.write()
    said = [f"ann,,{q},{a},{c},{(grade + 1) % 3}\n" for (q, a, c), grade in made.grades.items() if c == "accuracy"]
    made.workspace.own_labels.write_text("who,when,query,subject,criterion,label\n" + "".join(said))
    results = made.compare().dump()
    results["comparisons"] = [row for row in results["comparisons"] if row["measure"] != "points"]
    results["corrected"] = [figure for figure in results["corrected"]["figures"] if figure["other"] is None]
    figures = {place: figure for place, figure in figures_of(results) if figure["value"] not in (0, 1)}
    return {
        place: [nan if figure[end] is None else figure[end] for end in ("value", "ci_low", "ci_high")]
        for place, figure in figures.items()
        if place[0] not in ("answers", "elo", "tests") and "needed" not in place
    }


def steady(winners):
    """Whoever wins in one order wins in the other, but for one pair in seven."""
    turned = {key: place % 7 == 0 for place, key in enumerate(winners) if key[3] == "a"}
    other = {"a": "b", "b": "a"}
    again = {key: winners[*key[:3], "a"] for key in winners}
    return {key: other[won] if key[3] == "b" and turned[*key[:3], "a"] else won for key, won in again.items()}


def test_a_fair_run_has_an_audit_no_warning_and_the_settings_that_figures_depend_on(tmp_path):
    made = Made(tmp_path, setup=experiment(judge={"model": "openai:j", "mode": "label"}))
    made.winners = steady(made.winners)
    made.write()
    results = made.compare()
    judge = {"answer_model": "openai:m", "judge_model": "openai:j", "judge_mode": "label", "games": "all"}
    retrieval = {"k": 5, "retrieval_engine": "embedded", "embedding": "intfloat/multilingual-e5-base", "rrf_k": 60}
    figures = {"tournaments": 40, "k_factor": 16.0, "initial_rating": 500.0, "bootstrap": 200, "confidence": 0.95}
    assert results.settings == retrieval | judge | figures | {"seed": 7}
    assert (results.corpus, results.note, results.n_queries) == ("results", "", 12)
    assert results.notices == ()
    assert [row.key for row in results.audit.findings][:2] == ["flip_rate", "first_favoured"]
    assert results.audit.findings[0].figure == results.flip_rate


def test_a_judge_that_guesses_is_named_before_anything_else(tmp_path):
    made = Made(tmp_path, n=30)
    made.winners = {key: random.Random(str(key)).choice(["a", "b", "tie"]) for key in made.winners}
    made.write()
    write_json(made.workspace.manifests / "questions.json", {"notices": ["fewer than asked"], "exit_status": 1})
    results = made.compare()
    assert results.notices[0].startswith("The judge may be guessing: ") and results.notices[1] == "fewer than asked"
    assert made.outcome.notices[0] == results.notices[0]
    assert len(set(results.notices)) == len(results.notices)


def test_refusals_are_counted_and_a_judgment_that_failed_is_none(tmp_path):
    made = Made(tmp_path, bad=lambda kind, *key: kind == "answer" and key == ("knn-rag", "q05"))
    made.grades |= {
        (q.id, a, "refusal"): int(a == "knn-rag" and q.id < "q03") for q in made.queries for a in made.agents
    }
    was = made.bad
    made.bad = lambda kind, *key: (
        was(kind, *key) or (kind == "pointwise" and key[:2] in {("q00", "knn-rag"), ("q05", "knn-rag")})
    )
    made.write()
    results = made.compare()
    assert list(results.refusals) == list(results.agents)
    figure = results.refusals["knn-rag"]
    assert (figure.value, figure.n, figure.n_failed) == (pytest.approx(2 / 10), 10, 2)
    assert figure.ci_low <= 0.2 <= figure.ci_high
    assert {results.refusals[a].value for a in made.agents if a != "knn-rag"} == {0.0}
    assert not any("refusal" in row for row in results.pointwise.values()), "it is no grade"
    assert Made(tmp_path / "old").compare().refusals == {}


def test_people_score_the_rankings_beside_the_judge(tmp_path):
    made = Made(tmp_path)
    made.workspace.own_qrels.write_text("query-id\tcorpus-id\tscore\nq00\tp1\t1\nq01\tp2\t1\nelsewhere\tp1\t1\n")
    people = made.compare().retrieval_people
    for agent in made.agents:
        rows = [made.ranked[agent]["q00"], made.ranked[agent]["q01"]]
        places = [1 / (row.index(p) + 1) if p in row else 0 for row, p in zip(rows, ("p1", "p2"), strict=True)]
        assert people[agent]["RR(rel=1)@5"].value == pytest.approx(fmean(places))
        assert people[agent]["RR(rel=1)@5"].n == 2 and "RR(rel=2)@5" not in people[agent]


def test_people_s_labels_of_which_none_is_of_the_test_set_change_the_exit_status(tmp_path):
    made = Made(tmp_path)
    made.compare()
    assert made.outcome.exit_status == 0
    made.workspace.own_qrels.write_text("query-id\tcorpus-id\tscore\nelsewhere\tp1\t1\n")
    results = made.compare()
    assert made.outcome.exit_status == LEFT_OUT
    [said] = [one for one in made.outcome.notices if "labels no query of the test set" in one]
    assert said in results.notices and results.retrieval_people == {}


def test_why_a_value_is_missing_stands_beside_it(tmp_path):
    lost = {("answer", "knn-rag", "q05"), *(("pointwise", q, "knn-rag", "accuracy") for q in ("q01", "q05"))}
    made = Made(tmp_path, bad=lambda *key: key in lost)
    del made.ranked["knn-rag"]["q05"]
    made.write()
    made.compare()
    rows = {
        (row["query_id"], row["measure"]): row for row in records(made.workspace.values) if row["agent"] == "knn-rag"
    }
    assert rows["q01", "accuracy"]["error"] == rows["q05", "accuracy"]["error"] == "refused", "the judgment's own"
    assert rows["q05", "RR(rel=2)@5"]["error"] == "there is no answer: the provider failed"
    assert rows["q02", "accuracy"]["error"] is None


def test_notices_and_usage_of_the_stages_before_are_carried_along(tmp_path):
    made = Made(tmp_path)
    made.winners = steady(made.winners)
    made.write()
    row = {"stage": "judge", "model": "openai:j", "calls": 3, "n_failed": 1, "n_unmeasured": 0, "cost_usd": 0.5}
    row |= {"input_tokens": 9, "output_tokens": 2, "n_refused": 1, "cached_tokens": 5, "cache_write_tokens": 2}
    write_json(made.workspace.manifests / "ingest.json", {"stage": "ingest", "notices": ["one"], "exit_status": 0})
    write_json(made.workspace.manifests / "questions.json", {"notices": ["fewer than asked"], "exit_status": 1})
    write_json(made.workspace.manifests / "judge.json", {"notices": ["one"], "usage": [row], "exit_status": 0})
    results = made.compare()
    assert results.notices == ("fewer than asked", "one")
    assert [usage.dump() for usage in results.usage] == [row]
    made.workspace.manifests.joinpath("judge.json").write_text("[1]")
    with pytest.raises(InputError, match=r"judge.json: is not a stage's manifest"):
        made.compare()


def test_a_game_of_an_agent_that_is_not_there_is_refused(tmp_path):
    made = Made(tmp_path)
    made.winners["q00", "bm25-rag", "nobody", "a"] = "a"
    made.write()
    with pytest.raises(InputError, match="has a game of agent 'nobody', which this experiment does not have"):
        made.compare()


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes_under_any_hash_seed_and_where_other_processes_help(tmp_path):
    made = Made(tmp_path, bad=quarter)
    made.compare()
    first = made.workspace.figures.read_bytes()
    code = (
        "import sys; from pathlib import Path; from ragassay.evaluate import compare; compare._LARGE = 0;"
        "from ragassay.evaluate.inputs.findings import read_findings;"
        "from ragassay.experiment.settings import Experiment;"
        "from ragassay.experiment.workspace import Workspace; c, r, e = sys.argv[1:];"
        "w = Workspace(Path(c), Path(r), Experiment.model_validate_json(e));"
        "assert compare.helpers_for(read_findings(w), w.experiment).wanted; compare.compare(w)"
    )
    w = made.workspace
    arguments = [str(w.corpus), str(w.results), w.experiment.model_dump_json(exclude_unset=True)]
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "99"},
    )
    assert w.figures.read_bytes() == first
