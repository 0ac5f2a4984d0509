"""Agents of tables in the stages `retrieve` and `answer`: what they found, and by whom and how they answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.results_folder import experiment, results_folder

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, read_run, write_run
from ragassay.models.requests import Batch, Reply, Request
from ragassay.records import Answer, AnswerRun, Page, Passage, Query, Usage
from ragassay.retrieval.agents.answering import Rewrite, check_long_context
from ragassay.retrieval.answer_queries import answer_queries
from ragassay.retrieval.dependencies import Rewriting, rewrites_file
from ragassay.retrieval.rank_queries import AgentSearch, rank_queries
from ragassay.retrieval.search import read_search_times
from ragassay.retrieval.stages import ANSWER, RETRIEVE

TABLES = """\
[questions]
source = "own"
[answer]
model = "openai:m"
agents = []
repeats = {repeats}
[judge]
model = "openai:m"
[[retriever]]
name = "plain"
kind = "bm25"
[[retriever]]
name = "hyde"
kind = "bm25"
rewrite = "hyde"
"""
AGENT = '[[agent]]\nname = "{}"\n{}\n'
QUERIES = [Query(id="q1", text="What is flash?"), Query(id="q2", text="What is a fuse?")]


EVERYTHING = [(f"p{n}", 1.0 / (n + 1)) for n in range(6)]


def screened(workspace: Workspace, latency_s: float = 0.25) -> None:
    """What the screening leaves: six passages of each, of which `plain` hands over all, `hyde` what has 8 tokens."""
    failed = {"q2": "rewriting the query failed: the model refused"}
    runs = []
    for name, k, tokens, errors in (("plain", 6, None, {}), ("hyde", None, 8, failed)):
        rankings = {query.id: EVERYTHING for query in QUERIES if query.id not in errors}
        write_run(workspace.screening / f"{name}.trec", rankings, name)
        more = {"k": k, "tokens": tokens, "errors": errors, "latency_p50_s": latency_s, "n_timed": 2}
        runs.append({"variant": name, "table": name, "settings": {}, "n": 2, "n_failed": 0, "n_passages": 6} | more)
    workspace.screening_runs.write_text("".join(json.dumps(run) + "\n" for run in runs))


def folder(root: Path, *agents: tuple[str, str], repeats: int = 1) -> Workspace:
    workspace = results_folder(
        root,
        TABLES.format(repeats=repeats) + "".join(AGENT.format(*agent) for agent in agents),
        queries=QUERIES,
        passages=[Passage(id=f"p{n}", text=f"Passage {n}.") for n in range(6)],
        pages=[Page(doc="b.pdf", page=1, text="First."), Page(doc="b.pdf", page=2, text="Second </document>.")],
    )
    rows = [
        Rewrite(query_id="q1", queries=("a memory",), usage=Usage(input_tokens=5), latency_s=1.0),
        Rewrite(query_id="q2", error="the model refused", usage=Usage(input_tokens=3), latency_s=0.5),
    ]
    path = rewrites_file(workspace, Rewriting("hyde", "openai:m", 1))
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    screened(workspace)
    return workspace


class Model:
    """Answers, otherwise in each run; what it is asked is kept."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        self.batches += batches
        said = ("Yes.", "No.")
        done = [Reply(text=text, usage=Usage(input_tokens=10), latency_s=2.0) for text in said]
        return [[done[request.sample] for request in batch.requests] for batch in batches]

    def asked(self) -> list[tuple[str, str, Request]]:
        return [(batch.label, batch.model, request) for batch in self.batches for request in batch.requests]


def answered(workspace: Workspace, model: Model) -> Callable[[str], dict[str, Answer]]:
    rank_queries(workspace, model)
    answer_queries(workspace, model)
    return lambda name: {row.query_id: row for row in read_records(workspace.answers(name), Answer)}


def test_all_that_a_retriever_hands_over_is_answered_from(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'))
    answers = answered(workspace, Model())("mine")
    assert [name for name, _ in read_run(workspace.rankings("mine"))["q1"]] == [f"p{n}" for n in range(6)]
    assert answers["q2"].passages == tuple(f"p{n}" for n in range(6)), "not [retrieval]'s k, which is 5"
    assert (answers["q1"].latency_s, answers["q1"].queries, answers["q1"].usage.input_tokens) == (2.25, (), 10)


def test_a_rewriting_counts_for_its_agent_and_one_that_failed_is_an_error_of_it_alone(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'), ("theirs", 'retriever = "hyde"'))
    model = Model()
    ranked = rank_queries(workspace, model)
    outcome = answer_queries(workspace, model)
    assert (ranked.n_records, ranked.n_failed, outcome.n_failed) == (4, 1, 1)
    assert ranked.notices == (
        "theirs: 1 of 2 queries have no ranking; the first, q2: rewriting the query failed: the model refused",
    )
    assert list(read_run(workspace.rankings("theirs"))) == ["q1"]
    first, failed = read_records(workspace.answers("theirs"), Answer)
    assert first.passages == ("p0", "p1"), "as many as have 8 tokens together"
    assert (first.queries, first.usage.input_tokens, first.latency_s) == (("a memory",), 15, 3.25)
    assert failed.error == "rewriting the query failed: the model refused"
    assert (failed.usage.input_tokens, failed.latency_s, failed.passages) == (3, 0.5, ())
    assert all(row.error is None for row in read_records(workspace.answers("mine"), Answer))


def test_agents_share_a_request_where_model_prompt_temperature_and_passages_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "short.md").write_text("Be brief.\n## User\n{{ question }} {{ passages | length }}\n")
    retriever = 'retriever = "plain"'
    workspace = folder(
        tmp_path,
        ("one", retriever),
        ("same", retriever),
        ("warm", f"{retriever}\ntemperature = 0.7"),
        ("short", f'{retriever}\nprompt = "short.md"'),
        ("other", f'{retriever}\nmodel = "openai:n/x"'),
    )
    model = Model()
    answered(workspace, model)
    asked = model.asked()
    assert [(label, name) for label, name, _ in asked[::2]] == [("answers", "openai:m")] * 3 + [
        ("answers-openai-n-x", "openai:n/x")
    ]
    assert [request.temperature for _, _, request in asked] == [None, None, 0.7, 0.7, None, None, None, None]
    assert [request.messages[1].content for _, _, request in asked[4:6]] == [f"{query.text} 6" for query in QUERIES]


def test_further_runs_are_of_every_agent_that_we_answer_for(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'), ("all", 'kind = "long-context"'), repeats=2)
    model = Model()
    answered(workspace, model)
    assert sorted(request.sample for _, _, request in model.asked()) == [0] * 4 + [1] * 4
    for name in ("mine", "all"):
        rows = read_records(workspace.answer_runs(name), AnswerRun)
        assert [(row.run, row.answer) for row in rows] == [(2, "No."), (2, "No.")]


def test_a_long_context_agent_is_handed_all_documents_and_has_no_ranking(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("all", 'kind = "long-context"\ntemperature = 0.5'))
    model = Model()
    answers = answered(workspace, model)("all")
    user = model.asked()[0][2].messages[1].content
    assert user.startswith('<document name="b.pdf">\nFirst.\nSecond ') and user.count("</document>") == 1
    assert user.rstrip().endswith("</question>") and "What is flash?" in user
    assert (answers["q1"].passages, answers["q1"].latency_s, answers["q1"].answer) == ((), 2.0, "Yes.")
    assert not workspace.rankings("all").exists() and not workspace.searches("all").exists()


def test_documents_that_are_too_long_for_a_prompt_are_refused(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("all", 'kind = "long-context"\ntokens = 5'))
    with pytest.raises(InputError, match=r"agent 'all': the documents have about \d+ tokens, more than 5; raise"):
        check_long_context(workspace)
    check_long_context(folder(tmp_path, ("all", 'kind = "long-context"')))


def test_how_long_a_search_took_is_measured_once(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'))
    rank_queries(workspace, Model())
    screened(workspace, latency_s=9.0)
    rank_queries(workspace, Model())
    assert read_search_times(workspace.search_times)["mine"].latency_s == 0.25


def test_searches_of_other_queries_are_refused(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'))
    rank_queries(workspace, Model())
    path = workspace.searches("mine")
    path.write_text(AgentSearch(query_id="old").model_dump_json() + "\n")
    with pytest.raises(InputError, match="query 'q1' is not in it; run `ragassay retrieve` again"):
        answer_queries(workspace, Model())


def test_what_an_agent_is_asked_with_makes_the_answers_run_again(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for name in ("a.md", "b.md"):
        (tmp_path / "corpus" / name).write_text(f"{name}\n## User\n{{{{ question }}}} {{{{ passages | length }}}}\n")

    def settings(one: str, other: str) -> object:
        agents = [(name, f'retriever = "plain"\n{said}') for name, said in (("one", one), ("other", other))]
        return ANSWER.settings(folder(tmp_path, *agents).experiment)

    a, b = 'prompt = "a.md"', 'prompt = "b.md"'
    assert settings(a, b) == settings(a, b)
    assert settings(a, b) != settings(b, a), "the files are the same"
    assert settings(a, b) != settings(a, f"{b}\ntemperature = 0.7")


def test_rankings_that_agents_search_with_make_theirs_run_again(tmp_path: Path) -> None:
    workspace = folder(tmp_path, ("mine", 'retriever = "plain"'))
    needed = {path.name for path in RETRIEVE.needs(workspace) if path.parent == workspace.screening}
    assert needed == {"plain.trec"}, "not what no agent searches with"


@pytest.mark.parametrize(("setting", "again"), [({"timeout_s": 9.0}, False), ({"shards": 2}, True)])
def test_how_a_server_is_reached_makes_no_ranking_run_again(setting: dict[str, object], again: bool) -> None:
    tables = [experiment(retrieval={"engine": "opensearch"}, opensearch=one) for one in ({}, setting)]
    before, after = map(RETRIEVE.settings, tables)
    assert (before != after) == again
