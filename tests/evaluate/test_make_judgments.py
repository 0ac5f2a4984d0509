"""The judge stage on files: what is owed is there, what failed says so, and what is not needed is not asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.json_lines import records as lines_of
from support.loopback.server import ScriptedServer
from support.plugin import Installed
from support.plugin import plugin as plugin
from support.results_folder import results_folder
from support.scripted_judge import (
    AGENTS,
    CORRECTNESS,
    CRITERIA,
    PASSAGES,
    RECORDED,
    Scripted,
    all_answers,
    answer,
    fair,
    workspace,
)
from support.several_judges import PANEL, ByModel
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main
from ragassay.errors import InputError, RepliesMissing
from ragassay.evaluate.judging.judges import PROMPTS
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.files import read_qrels, read_records
from ragassay.models.requests import Reply
from ragassay.records import Game, Judgment, Passage, Query


def records(space):
    return (
        read_records(space.relevance, Judgment),
        read_records(space.pointwise, Judgment),
        read_records(space.games, Game),
    )


def test_everything_owed_is_judged(tmp_path):
    space, caller = workspace(tmp_path, all_answers()), Scripted(fair)
    outcome = make_judgments(space, caller)
    _, pointwise, games = records(space)
    assert [(j.query_id, j.subject, j.criterion) for j in pointwise] == [
        (q, agent, criterion) for q in ("q1", "q2") for agent in AGENTS for criterion in RECORDED
    ]
    assert [(g.query_id, g.agent_a, g.agent_b, g.first) for g in games[:6]] == [
        ("q1", a, b, first)
        for a, b in (("bm25-rag", "ours"), ("bm25-rag", "theirs"), ("ours", "theirs"))
        for first in "ab"
    ]
    assert [v.winner for v in verdicts(games)][:3] == ["a", "a", "tie"]
    assert read_qrels(space.qrels) == {q: {"p1": 2, "p2": 1, "p3": 0} for q in ("q1", "q2")}
    assert (outcome.n_records, outcome.n_failed, outcome.notices) == (6 + 36 + 12, 0, ())


LATE = [CORRECTNESS, "games-first-a", "games-first-b"]
FOUR = {"criteria": CRITERIA}


@pytest.mark.parametrize(
    ("settings", "rounds"),
    [
        ({}, [["relevance"], ["pointwise", *LATE]]),
        ({"prompts": "ragassay"}, [["relevance", "pointwise"], LATE]),
        ({"prompts": "ragassay", **FOUR}, [["relevance", "pointwise"], LATE[1:]]),
        (FOUR, [["relevance"], ["pointwise", *LATE[1:]]]),
        ({"criteria": ["answer_correctness"]}, [["relevance"], LATE]),
    ],
    ids=str,
)
def test_two_rounds_and_a_batch_for_each_order(tmp_path, settings, rounds):
    caller = Scripted(fair)
    outcome = make_judgments(workspace(tmp_path, all_answers(), **settings), caller)
    assert [[batch.label for batch in batches] for batches in caller.rounds] == rounds
    assert outcome.n_failed == 0
    assert all(batch.model == "openai:j" for batches in caller.rounds for batch in batches)


def test_by_strict_prompts_an_answer_is_graded_against_its_own_passages(tmp_path):
    caller = Scripted(fair)
    make_judgments(workspace(tmp_path, all_answers(), prompts="ragassay"), caller)
    ours = caller.asked("pointwise")[1].messages[-1].content
    assert ours.index(PASSAGES["p3"]) < ours.index(PASSAGES["p2"]) < ours.index("Which header")
    assert PASSAGES["p1"] not in ours


def test_answers_and_games_are_held_against_the_very_relevant_passages_with_the_notes(tmp_path):
    caller = Scripted(fair)
    make_judgments(workspace(tmp_path, all_answers()), caller)
    asked = [caller.asked(label) for label in ("pointwise", *LATE)]
    assert [len(requests) for requests in asked] == [6, 6, 6, 6]
    for request in (request for requests in asked for request in requests):
        text = request.messages[-1].content
        assert PASSAGES["p1"] in text and "Because of what it says." in text
        assert PASSAGES["p2"] not in text and PASSAGES["p3"] not in text


def test_a_pair_may_be_judged_in_one_order_that_is_drawn_for_it(tmp_path):
    """RAGElo's single-order games: half of the requests, either place as often, and nothing is known of flips."""
    queries = tuple(f"q{i}" for i in range(40))
    answers = [answer(query, agent, f"{agent} of {query}", "p1") for query in queries for agent in AGENTS]
    space, caller = workspace(tmp_path, answers, queries=queries, orders=1), Scripted(fair)
    make_judgments(space, caller)
    _, _, games = records(space)
    assert len(games) == len({(g.query_id, g.agent_a, g.agent_b) for g in games}) == 40 * 3
    assert len(caller.asked("games-first-a")) + len(caller.asked("games-first-b")) == 120
    assert 40 <= sum(game.first == "a" for game in games) <= 80
    two = workspace(tmp_path / "two", [a for a in answers if a.agent != "ours"], queries=queries, orders=1)
    make_judgments(two, Scripted(fair))
    alone = {(g.query_id, g.first) for g in records(two)[2] if {g.agent_a, g.agent_b} == {"bm25-rag", "theirs"}}
    assert alone == {(g.query_id, g.first) for g in games if {g.agent_a, g.agent_b} == {"bm25-rag", "theirs"}}
    found = verdicts(games)
    assert all(one.flipped is None and one.winner is not None for one in found)


def test_a_missing_answer_is_an_error_in_every_record_owed_and_costs_no_call(tmp_path):
    answers = [a for a in all_answers() if (a.query_id, a.agent) != ("q2", "theirs")]
    answers[1] = answer("q1", "ours", None, "p2")
    space, caller = workspace(tmp_path, answers), Scripted(fair)
    outcome = make_judgments(space, caller)
    relevance, pointwise, games = records(space)
    assert len(pointwise) == 36 and len(games) == 12 and "p2" in {j.subject for j in relevance}
    failed = {(j.query_id, j.subject) for j in pointwise if j.error}
    assert failed == {("q1", "ours"), ("q2", "theirs")}
    assert all(j.error.startswith("no answer to judge: ") for j in pointwise if j.error)
    assert {(g.query_id, g.agent_a, g.agent_b) for g in games if g.error} == {
        ("q1", "bm25-rag", "ours"), ("q1", "ours", "theirs"), ("q2", "bm25-rag", "theirs"), ("q2", "ours", "theirs"),
    }  # fmt: skip
    assert len(caller.asked("pointwise")) == 4 and len(caller.asked("games-first-a")) == 2
    assert outcome.n_failed == 12 + 8
    assert outcome.notices == (
        "12 of 36 answer judgments are missing for want of an answer, which had failed",
        "8 of 12 games are missing for want of an answer, which had failed",
    )


def test_identical_answers_are_a_tie_without_a_call(tmp_path):
    answers = [answer(q, agent, "The same.", "p1") for q in ("q1", "q2") for agent in AGENTS]
    space, caller = workspace(tmp_path, answers), Scripted(fair)
    make_judgments(space, caller)
    games = read_records(space.games, Game)
    assert len(games) == 12 and {(g.winner, g.reason) for g in games} == {("tie", "the two answers are identical")}
    assert caller.asked("games-first-a") == caller.asked("games-first-b") == []
    same_query = [request for request in caller.asked("pointwise") if "(q1)" in request.messages[-1].content]
    assert len(set(same_query)) == 1  # equal requests, which the caller asks once


def test_failed_relevance_is_unjudged_and_no_evidence(tmp_path):
    def say(label, text):
        return Reply(error="HTTP 500") if label == "relevance" and PASSAGES["p1"] in text else fair(label, text)

    space, caller = workspace(tmp_path, all_answers()), Scripted(say)
    outcome = make_judgments(space, caller)
    assert read_qrels(space.qrels) == {q: {"p2": 1, "p3": 0} for q in ("q1", "q2")}
    assert [j.error for j in read_records(space.relevance, Judgment) if j.subject == "p1"] == ["HTTP 500"] * 2
    assert "No passage was found to be very relevant" in caller.asked("games-first-b")[0].messages[-1].content
    assert outcome.notices == ("2 of 6 relevance judgments failed; the commonest error (2 times): HTTP 500",)


def test_with_a_quarter_of_the_replies_bad_the_rest_stand_unchanged(tmp_path):
    make_judgments(workspace(tmp_path / "good", all_answers()), Scripted(fair))
    asked = iter(range(1000))

    def say(label, text):
        return "I refuse, see section 3" if next(asked) % 4 == 0 else fair(label, text)

    outcome = make_judgments(bad := workspace(tmp_path / "bad", all_answers()), Scripted(say))
    good = workspace(tmp_path / "good", all_answers())
    n_failed = 0
    for before, after in zip(records(good), records(bad), strict=True):
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            if other.error is None and not isinstance(other, Game):
                assert one == other
            n_failed += other.error is not None
    assert n_failed == outcome.n_failed > 0


def test_a_passage_that_the_corpus_lacks_is_owed_and_failed(tmp_path):
    answers = all_answers()
    answers[0] = answer("q1", "bm25-rag", "In util/delay.h.", "nowhere-7", "p1")
    space = workspace(tmp_path, answers)
    make_judgments(space, Scripted(fair))
    [lost] = [j for j in read_records(space.relevance, Judgment) if j.subject == "nowhere-7"]
    assert lost.error == "passage 'nowhere-7' is not in the corpus"


def test_all_failed_is_still_every_record(tmp_path):
    space = workspace(tmp_path, all_answers())
    outcome = make_judgments(space, Scripted(lambda label, text: Reply(error="the provider is down")))
    assert outcome.n_failed == outcome.n_records == 54
    assert space.qrels.read_text() == "" and len(outcome.notices) == 3


def test_of_judges_who_left_the_panel_nothing_stays(tmp_path):
    for panel in (PANEL, PANEL[:1] + PANEL[2:], ()):
        space = workspace(tmp_path, all_answers(), **({"panel": panel} if panel else {}), model=PANEL[0])
        make_judgments(space, ByModel())
        expected = {path for judge in panel for path in (space.judge_relevance(judge), space.judge_pointwise(judge))}
        assert {path for path in space.judges.rglob("*") if path.is_file()} == expected


def test_nothing_is_written_while_replies_are_missing(tmp_path):
    space, caller = workspace(tmp_path, all_answers()), Scripted(fair)
    first, ask = [], caller.ask

    def only_the_first_round(batches):
        if first:
            raise RepliesMissing("12 requests wait")
        first.append(batches)
        return ask(batches)

    caller.ask = only_the_first_round
    with pytest.raises(RepliesMissing):
        make_judgments(space, caller)
    assert not space.relevance.exists() and not space.games.exists()


def tokens(label, text):
    """A judge asked for tokens: relevance by the passage, games always 0.7 for the place A."""
    if label == "relevance":
        p = 0.8 if PASSAGES["p1"] in text else 0.1
        return Reply(probabilities={"0": 1 - p, "1": 0.0, "2": p})
    if label == "pointwise-refusal":
        return Reply(probabilities={"Yes": 0.5, "No": 0.5})
    if label.startswith("pointwise-"):
        return Reply(probabilities={"0": 0.25, "1": 0.5, "2": 0.25})
    return Reply(probabilities={"A": 0.7, "B": 0.3})


@pytest.mark.parametrize(
    ("model", "mode", "asks_tokens"),
    [
        ("local:m.gguf", "auto", True),
        ("local:m.gguf", "label", False),
        ("openai:j", "auto", False),
        ("openai:j", "probability", True),
        ("file:j", "auto", False),
    ],
)
def test_the_mode_says_whether_tokens_are_asked_for(tmp_path, model, mode, asks_tokens):
    space = workspace(tmp_path, all_answers(), model=model, mode=mode)
    caller = Scripted(tokens if asks_tokens else fair)
    outcome = make_judgments(space, caller)
    requests = [r for batches in caller.rounds for batch in batches for r in batch.requests]
    assert all(bool(r.tokens) == asks_tokens and (r.schema is None) == asks_tokens for r in requests)
    assert outcome.n_failed == 0 and outcome.n_records == 54
    if asks_tokens:
        relevance, pointwise, games = records(space)
        assert relevance[0].probability == pytest.approx(0.8) and relevance[0].expected == pytest.approx(1.6)
        assert {j.criterion for j in pointwise} == set(RECORDED)
        assert {j.expected for j in pointwise if j.criterion != "refusal"} == {1.0}
        assert {(j.label, j.expected) for j in pointwise if j.criterion == "refusal"} == {(1, 0.5)}
        assert {v.winner for v in verdicts(games)} == {"tie"} and all(v.flipped for v in verdicts(games))


def test_probabilities_asked_of_a_model_without_them_are_refused(tmp_path):
    with pytest.raises(InputError, match="gives no token probabilities"):
        make_judgments(workspace(tmp_path, all_answers(), model="file:j", mode="probability"), Scripted(tokens))


def test_yes_or_no_is_a_setting(tmp_path):
    space = workspace(
        tmp_path, all_answers(), mode="probability", relevance_question="yes-no", yes_threshold=0.6
    )  # fmt: skip

    def say(label, text):
        p = 0.7 if PASSAGES["p1"] in text else 0.55
        return Reply(probabilities={"Yes": p, "No": 1 - p}) if label == "relevance" else tokens(label, text)

    make_judgments(space, Scripted(say))
    assert read_qrels(space.qrels)["q1"] == {"p1": 2, "p2": 0, "p3": 0}


def test_the_plumbing_model_is_called_worthless(tmp_path):
    space = workspace(tmp_path, all_answers(), model="local:smollm2-135m", mode="label")
    assert "worthless" in make_judgments(space, Scripted(fair)).notices[0]


def test_a_prompt_of_the_user_s_own(tmp_path):
    space = workspace(tmp_path, all_answers(), relevance_prompt="mine.md")
    (space.corpus / "mine.md").write_text("Judge.\n## User\nOURS {{ passage.text }} ? {{ query.text }}")
    caller = Scripted(fair)
    make_judgments(space, caller)
    assert all(r.messages[-1].content.startswith("OURS ") for r in caller.asked("relevance"))


def test_bad_files_are_refused_with_their_place(tmp_path):
    space = workspace(tmp_path, all_answers())
    space.queries.write_text("")
    with pytest.raises(InputError, match="holds no query"):
        make_judgments(space, Scripted(fair))
    space = workspace(tmp_path, [*all_answers(), answer("q1", "ours", "Again.")])
    with pytest.raises(InputError, match="two answers to query 'q1'"):
        make_judgments(space, Scripted(fair))
    space = workspace(tmp_path, all_answers(), queries=("q1", "q1"))
    with pytest.raises(InputError, match="has 'q1' twice"):
        make_judgments(space, Scripted(fair))


OWN = """\
from ragassay.evaluate.judging.engine.evaluator import Evaluator


class Own(Evaluator):
    name = "own"
    judge = "nobody"

    def steps(self, case):
        return [self.assess(case, VALUE)]
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('judges = ["groundednes"]', "there is no judge named 'groundednes'; did you mean 'groundedness'?"),
        ('judges = ["umbrela"]\n[evaluate.settings.umbrela]\nprmpt = "a.md"', "evaluate.settings.umbrela: prmpt"),
        ('judges = ["umbrela"]\n[evaluate.settings.umbrela]\nprompt = "gone.md"', "gone.md: there is no such file"),
        ('judges = ["umbrela"]\n[[evaluate.custom]]\nname = "own"\nprompt = "gone.md"', "gone.md: there is no such"),
        ('judges = ["gone:Own"]', "the module gone cannot be imported"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_is_paid(tmp_path: Path, capsys, more: str, said: str) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=f"[evaluate]\n{more}\n")
        assert main(["run", str(corpus)]) == 2
        assert said in capsys.readouterr().err
        assert not server.requests


def evaluation(tmp_path: Path, base_url: str, more: str) -> list[str]:
    """The words that judge the two answers of an agent; below `[evaluate]` stands `more`."""
    text = EVALUATED.format(more=more, base_url=base_url)
    answers = [one for one in all_answers() if one.agent == AGENTS[0]]
    queries = [Query(id=id, text="Which header?") for id in ("q1", "q2")]
    passages = [Passage(id=id, text=text) for id, text in PASSAGES.items()]
    space = results_folder(tmp_path, text, queries=queries, passages=passages, answers=answers)
    return ["evaluate", str(space.corpus), "--results", str(space.results)]


EVALUATED = """
[questions]
source = "own"
[retrieval]
retrievers = ["bm25"]
[answer]
model = "openai:m"
agents = ["rag"]
[judge]
model = "openai:m"
[models."openai:m"]
base_url = "{base_url}"
[evaluate]
{more}
"""


def test_a_change_of_any_file_of_one_s_own_is_judged_anew(tmp_path: Path, capsys) -> None:
    """Also of a module inside a package, and of a prompt that is called as one of ours is."""
    more = 'judges = ["judges_of_ours:Own", "umbrela"]\n[evaluate.settings.umbrela]\nprompt = "umbrela.md"\n'
    package, prompt = tmp_path / "corpus" / "judges_of_ours", tmp_path / "corpus" / "umbrela.md"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from judges_of_ours.inner import Own\n")
    (package / "inner.py").write_text(OWN.replace("VALUE", "1.0"))
    shutil.copy(PROMPTS / "umbrela_bing.md", prompt)
    with ScriptedServer("openai", answer_everything) as server:
        evaluate = evaluation(tmp_path, server.base_url, more)
        assert main(evaluate) == 0
        assert 1.0 in [row["label"] for row in lines_of(tmp_path / "results/judgments.jsonl")]
        capsys.readouterr()
        (package / "inner.py").write_text(OWN.replace("VALUE", "0.5"))
        main(evaluate)
        assert "evaluate: running (inner.py changed)" in capsys.readouterr().err
        asked = len(server.requests)
        prompt.write_text(prompt.read_text() + "\nOnce more: be strict.\n")
        main(evaluate)
        assert "umbrela.md changed" in capsys.readouterr().err
        assert all("be strict" in str(one.body) for one in server.requests[asked:])
        assert len(server.requests) > asked


def test_one_model_for_everything_is_the_evaluators_too(tmp_path: Path) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        evaluate = evaluation(tmp_path, server.base_url, 'judges = ["no_answer"]\nmodel = "anthropic:dear"\n')
        assert main([*evaluate, "--model", "openai:m"]) == 0
    rows = lines_of(tmp_path / "results/judgments.jsonl")
    assert rows and {row["judge"] for row in rows} == {"openai:m"}


def test_replies_that_a_run_before_kept_go_where_none_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "results/judgment-replies.jsonl"
    with ScriptedServer("openai", answer_everything) as server:
        for more, there in (("keep_replies = true\n", True), ("", False)):
            assert main(evaluation(tmp_path, server.base_url, f'judges = ["no_answer"]\n{more}')) == 0
            assert kept.exists() == there


def test_another_version_of_a_package_judges_anew(tmp_path: Path, capsys, plugin: Installed) -> None:
    evaluate = evaluation(tmp_path, "http://127.0.0.1:9/v1", 'judges = ["words_in_bounds"]\n')
    assert main(evaluate) == 0
    capsys.readouterr()
    assert main(evaluate) == 0 and "evaluate: up to date" in capsys.readouterr().err
    plugin.install(version="1.1")
    assert main(evaluate) == 0
    said = 'evaluate: running (evaluate.judges.words_in_bounds: "ragassay-example 1.0" is now "ragassay-example 1.1"'
    assert said in capsys.readouterr().err
