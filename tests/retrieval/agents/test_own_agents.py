"""A user's own systems: an answers file, RAGElo's CSV, and a Python callable, killed or failing."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.places import ROOT
from support.results_folder import results_folder

from ragassay.errors import InputError
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, read_run
from ragassay.records import Answer, Passage, Query, Usage
from ragassay.retrieval.agents.python_agent import ask_python_agent, load_python_agent
from ragassay.retrieval.agents.worker import answer_of, load_system, ranking_of
from ragassay.retrieval.answer_queries import answer_queries

QUERIES = {"q_1": "What is vaccum optimizer ?", "q_2": "Tell me about ‘always_ram’ parameter?", "q_3": "What is RRF?"}


class NoCaller:
    """No model is asked where only the user's own systems take part."""

    def ask(self, batches: object) -> list[object]:
        raise AssertionError("a model was asked")


def own_workspace(folder: Path, agent: str, at_once: int = 1) -> Workspace:
    return results_folder(
        folder,
        f'[questions]\nsource = "own"\n[answer]\nmodel = "file:x"\nagents = []\n[judge]\nmodel = "file:x"\n'
        f'[run]\nmax_concurrency = {at_once}\n[[agent]]\nname = "ours"\n{agent}\n',
        passages=[Passage(id=key, text=f"text of {key}") for key in ("p1", "p2", "p3")],
        queries=[Query(id=key, text=text) for key, text in QUERIES.items()],
    )


def from_file(folder: Path, name: str, content: str) -> tuple[Workspace, StageOutcome]:
    workspace = own_workspace(folder, f'kind = "file"\npath = "{name}"')
    (workspace.corpus / name).write_text(content)
    return workspace, answer_queries(workspace, NoCaller())


def from_python(folder: Path, module: str, code: str, name: str = "answer", at_once: int = 1) -> list[Answer]:
    workspace = own_workspace(folder, f'kind = "python"\ncallable = "{module}:{name}"', at_once)
    (workspace.corpus / f"{module}.py").write_text(textwrap.dedent(code))
    answer_queries(workspace, NoCaller())
    return read_records(workspace.answers("ours"), Answer)


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_an_answers_file_in_our_layout_with_fields_of_others(tmp_path: Path) -> None:
    first = {
        "query_id": "q_2",
        "answer": "It keeps vectors in RAM.",
        "passages": ["p3", "p1", "p3"],
        "usage": {"input_tokens": 5, "prompt_cost": 1},
        "latency_s": 0.5,
        "trace": [1],
    }
    second = {"query_id": "q_1", "answer": None, "error": "timed out"}
    workspace, outcome = from_file(tmp_path, "ours.jsonl", lines(first, second))
    found = read_records(workspace.answers("ours"), Answer)
    assert [answer.query_id for answer in found] == list(QUERIES)
    assert found[1].answer == first["answer"] and found[1].usage == Usage(input_tokens=5) and found[1].agent == "ours"
    assert [answer.error for answer in found] == ["timed out", None, "no answer in ours.jsonl"]
    assert (outcome.n_records, outcome.n_failed) == (3, 2)
    assert read_run(workspace.rankings("ours")) == {"q_2": [("p3", 1.0), ("p1", 0.5)]}


def test_without_passages_there_is_no_ranking_not_even_an_old_one(tmp_path: Path) -> None:
    workspace, _ = from_file(tmp_path, "ours.jsonl", lines({"query_id": "q_1", "answer": "x", "passages": ["p1"]}))
    assert workspace.rankings("ours").exists()
    workspace, _ = from_file(tmp_path, "ours.jsonl", lines({"query_id": "q_1", "answer": "x"}))
    assert not workspace.rankings("ours").exists()


def test_queries_that_are_not_in_the_test_set_are_named(tmp_path: Path) -> None:
    rows = [{"query_id": key, "answer": "x"} for key in ("a", "q_1", "b", "c", "d")]
    _, outcome = from_file(tmp_path, "ours.jsonl", lines(*rows))
    assert outcome.notices[-1].endswith("left out: 4 (a, b, c, …)")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query_id": "q_1", "answer": "again"}, r"ours\.jsonl:2: answers query 'q_1' again, after line 1"),
        ({"answer": "x"}, r":2: has no query_id"),
        ({"query_id": "q_2"}, r":2: exactly one of answer and error must be set"),
        ({"query_id": "q_2", "answer": "x", "error": "y"}, r":2: exactly one of answer and error must be set"),
        ({"query_id": "q_2", "answer": 3}, r":2: answer: Input should be a valid string"),
        ({"query_id": "q_2", "answer": "x", "passages": ["p9"]}, r":2: passage 'p9' is not in corpus\.jsonl; name"),
        ({"query_id": "q_2", "answer": "x", "latency_s": float("nan")}, r":2: latency_s is nan"),
        ({"query_id": "q_2", "answer": "x", "agent": 4}, r":2: agent is not a string"),
        (
            {"query_id": "q_2", "answer": "x" * 1_000_001},
            r":2: the answer is 1,000,001 characters long, and at most 1,0",
        ),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path, row: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_file(tmp_path, "ours.jsonl", lines({"query_id": "q_1", "answer": "x"}, row))


def test_a_blank_answer_is_an_error_and_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    content = lines({"query_id": "q_1", "answer": " "}, {"query_id": "q_2", "answer": "a \ud800 b"})
    workspace, _ = from_file(tmp_path, "ours.jsonl", content)
    found = read_records(workspace.answers("ours"), Answer)
    assert found[0].error == "the answer is empty" and found[1].answer == "a ? b"


def test_a_missing_answers_file(tmp_path: Path) -> None:
    workspace = own_workspace(tmp_path, 'kind = "file"\npath = "nowhere.jsonl"')
    with pytest.raises(InputError, match=r"nowhere\.jsonl: agent .ours. has no answers yet"):
        answer_queries(workspace, NoCaller())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            'qid,agent,answer\nq_1,other,"no"\nq_1,ours,"Over ""two""\nlines, yes"\nq_2,ours,fine\n',
            ['Over "two"\nlines, yes', "fine", None],
        ),
        ("qid,agent,answer\nq_1,agent_0,a\nq_2,agent_0,b\nq_3,agent_0,c\n", ["a", "b", "c"]),
        (f'query,agent,answer\n"{QUERIES["q_3"]} ",x,c\n"{QUERIES["q_1"]}",x,a\n', ["a", None, "c"]),
    ],
    ids=["the named one of several", "the only one, whatever its name", "by the text of the query"],
)
def test_ragelos_csv(tmp_path: Path, content: str, expected: list[str | None]) -> None:
    workspace, _ = from_file(tmp_path, "ours.csv", content)
    assert [answer.answer for answer in read_records(workspace.answers("ours"), Answer)] == expected


def test_passages_written_out_are_found_in_the_corpus_and_what_is_not_used_is_named(tmp_path: Path) -> None:
    workspace, _ = from_file(tmp_path, "ours.jsonl", lines({"query_id": "q_1", "answer": "x"}))
    known = read_records(workspace.passages, Passage)[1]
    contexts = [known.text, "in no corpus"]
    row = {"user_input": QUERIES["q_2"], "response": "It.", "retrieved_contexts": contexts, "persona_name": "x"}
    workspace, outcome = from_file(tmp_path, "ours.jsonl", lines(row))
    assert read_run(workspace.rankings("ours")) == {"q_2": [(known.id, 1.0)]}
    said = " ".join(outcome.notices)
    assert "read as ragas; not used: persona_name" in said
    assert "passages written out that are not in corpus.jsonl are left out: 1" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("qid,agent,answer\nq_1,a,x\nq_1,b,y\n", r"holds 2 systems and none is named 'ours'.*one of them: a, b"),
        ("qid,agent,text\nq_1,a,x\n", r"ours\.csv:1: has the columns qid, agent, text; it needs answer and qid"),
        ("", r"ours\.csv:1: has the columns nothing"),
        ('qid,agent,answer\nq_1,a,"x\ny"\nq_2,a\n', r"ours\.csv:4: has 2 cells, the header has 3"),
        ('qid,agent,answer\nq_1,a,"x\n', r"ours\.csv:2: is not CSV"),
        ("qid,agent,answer\nq_1,a,x\nq_1,a,y\n", r"ours\.csv:3: answers query 'q_1' again, after line 2"),
    ],
)
def test_a_csv_that_cannot_be_used(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_file(tmp_path, "ours.csv", content)


def test_a_callable_may_give_a_string_a_dict_or_an_answer(tmp_path: Path) -> None:
    code = """
        from ragassay.records import Answer

        def answer(query):
            if "RRF" in query:
                return Answer(query_id="any", agent="any", answer="a sum", queries=("rrf",))
            if "vaccum" in query:
                return "It cleans up."
            return {"answer": "In RAM.", "passages": ["p2"], "latency_s": 0.25, "more": 1}
    """
    found = from_python(tmp_path, "system_of_three_kinds", code)
    assert [answer.answer for answer in found] == ["It cleans up.", "In RAM.", "a sum"]
    assert [(answer.query_id, answer.agent) for answer in found] == [(key, "ours") for key in QUERIES]
    assert found[0].latency_s is not None and found[1].latency_s == 0.25 and found[2].queries == ("rrf",)
    assert read_run(tmp_path / "results/rankings/ours.trec") == {"q_2": [("p2", 1.0)]}


def test_what_a_callable_raises_or_wrongly_returns_is_the_records_error(tmp_path: Path) -> None:
    code = """
        import sys

        def answer(query):
            if "RRF" in query:
                sys.exit(3)
            if "vaccum" in query:
                raise RuntimeError("no route\\nto host")
            return {"answer": "x", "passages": ["p9"]}
    """
    errors = [str(answer.error) for answer in from_python(tmp_path, "system_that_fails", code)]
    assert errors[0] == "RuntimeError: no route" and errors[2] == "SystemExit: 3"
    assert errors[1].startswith("ValueError: passage 'p9' is not in corpus.jsonl")
    assert from_python(tmp_path, "system_of_numbers", "def answer(query): return 3")[0].error == (
        "TypeError: a str, a dict or an Answer is expected, not int"
    )


def test_a_langchain_runnable_is_a_callable_too(tmp_path: Path) -> None:
    code = "from langchain_core.runnables import RunnableLambda\nchain = RunnableLambda(lambda query: query.upper())"
    assert from_python(tmp_path, "system_as_chain", code, "chain")[2].answer == "WHAT IS RRF?"


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("system_not_there", None, r"module system_not_there cannot be imported \(ModuleNotFoundError"),
        ("system_broken", "def answer(:", r"cannot be imported \(SyntaxError"),
        ("system_that_exits", "raise SystemExit(0)", r"cannot be imported \(SystemExit: 0\)"),
        ("system_without_it", "x = 1", r"system_without_it:answer does not exist"),
        ("system_async", "async def answer(query): return query", r"system_async:answer is async"),
        ("json", "def answer(query): return query", r"the module name 'json' is taken"),
    ],
)
def test_a_callable_that_cannot_be_had(tmp_path: Path, monkeypatch, module: str, code: str | None, said: str) -> None:
    """As its process loads it, but here."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    if code is not None:
        (tmp_path / f"{module}.py").write_text(code)
    with pytest.raises(InputError, match=said):
        load_system("ours", f"{module}:answer", tmp_path)


def test_one_that_its_process_cannot_load_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    workspace = own_workspace(tmp_path, 'kind = "python"\ncallable = "system_constant:answer"')
    (workspace.corpus / "system_constant.py").write_text("answer = 1")
    with pytest.raises(InputError, match=r"experiment\.toml: .*system_constant:answer is not a function"):
        answer_queries(workspace, NoCaller())


def test_kept_answers_are_those_of_the_same_code_query_and_corpus(tmp_path: Path) -> None:
    workspace = own_workspace(tmp_path, 'kind = "python"\ncallable = "noting:answer"')
    notes = workspace.corpus / "notes"
    code = f"""
        def answer(query):
            with open({str(notes)!r}, "a") as stream:
                print(query, file=stream)
            return {{"answer": "x", "passages": ["p1"]}} if query != "bad" else None
    """

    def calls_with(code: str, texts: dict[str, str], passages: set[str]) -> list[str]:
        notes.write_text("")
        (workspace.corpus / "noting.py").write_text(textwrap.dedent(code))
        agent = load_python_agent(workspace.experiment.agent[0], workspace)
        ask_python_agent(agent, [Query(id=key, text=text) for key, text in texts.items()], passages)
        agent.close()
        return notes.read_text().splitlines()

    texts = {"q1": "one", "q2": "bad"}
    assert calls_with(code, texts, {"p1"}) == ["one", "bad"]
    assert calls_with(code, texts, {"p1"}) == ["bad"]
    assert calls_with(code, {"q1": "other words"}, {"p1"}) == ["other words"]
    assert calls_with(code, {"q1": "one"}, {"p2"}) == ["one"]
    assert calls_with(code.rstrip() + "  # new\n", {"q1": "other words"}, {"p1"}) == ["other words"]


def test_a_callable_is_called_concurrently(tmp_path: Path) -> None:
    code = """
        from threading import Barrier

        together = Barrier(3, timeout=60)
        def answer(query):
            together.wait()
            return query
    """
    found = from_python(tmp_path, "system_of_three", code, at_once=3)
    assert [answer.answer for answer in found] == list(QUERIES.values())


def test_a_run_killed_midway_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    """The callable notes its calls in a file, and the first time kills the run at the third query."""
    workspace = own_workspace(tmp_path, 'kind = "python"\ncallable = "system_killed:answer"')
    (workspace.corpus / "system_killed.py").write_text(
        "import os, pathlib, signal, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "def answer(query):\n"
        "    with (here / 'calls').open('a') as calls: calls.write(query + '\\n')\n"
        "    if 'RRF' in query and not (here / 'killed').exists():\n"
        "        while len((here.parent / 'results/answers/ours.partial.jsonl').read_text().splitlines()) < 2:\n"
        "            time.sleep(0.02)\n"
        "        (here / 'killed').touch()\n"
        "        os.kill(os.getppid(), signal.SIGKILL)\n"
        "    return 'about ' + query\n"
    )
    program = (
        "import sys, pathlib\n"
        "from ragassay.experiment.reading import load_experiment\n"
        "from ragassay.experiment.workspace import Workspace\n"
        "from ragassay.retrieval.answer_queries import answer_queries\n"
        "corpus, results = map(pathlib.Path, sys.argv[1:])\n"
        "answer_queries(Workspace(corpus, results, load_experiment(corpus / 'experiment.toml')), None)\n"
    )
    command = [sys.executable, "-c", program, str(workspace.corpus), str(workspace.results)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -9
    partial = workspace.results / "answers" / "ours.partial.jsonl"
    with partial.open("a") as stream:
        stream.write('{"key": "torn off he')
    assert not workspace.answers("ours").exists()
    subprocess.run(command, cwd=ROOT, check=True)
    found = read_records(workspace.answers("ours"), Answer)
    assert [answer.answer for answer in found] == [f"about {text}" for text in QUERIES.values()]
    calls = (workspace.corpus / "calls").read_text().splitlines()
    assert sorted(calls) == sorted([*QUERIES.values(), QUERIES["q_3"]])
    assert not partial.exists()


OBJECTS = """
from types import SimpleNamespace as Made

class Node:  # LlamaIndex's: the score stands beside it
    node_id, metadata, text = "d2", {}, "Call sei()."

FOUND = [Made(node=Node(), score=0.5), Made(page_content="Or cli().", metadata={"id": "d1", "score": 0.25})]

class Response:
    source_nodes = FOUND
    def __str__(self):
        return "By sei()."

class Pipeline:
    def inputs(self):
        return {"search": {"query": {"type": str, "is_mandatory": True}, "top_k": {"type": int, "is_mandatory": False}}}
    def walk(self):
        return [("search", None), ("builder", None)]
    def run(self, data, include_outputs_from):
        assert data == {"search": {"query": "How?"}} and include_outputs_from == {"search", "builder"}
        return {"search": {"documents": FOUND}, "builder": {"answers": [Made(data="By sei().")]}}

retriever, engine = Made(retrieve=lambda query: FOUND), Made(query=lambda query: Response(), retrieve=None)
pipeline, message = Pipeline(), Made(invoke=lambda query: Made(content="By sei()."))
nothing = Made(retrieve=lambda query: [])
"""


@pytest.mark.parametrize(
    ("name", "answer", "passages"),
    [
        ("retriever", "Call sei().", ["d2", "d1"]),
        ("engine", "By sei().", ["d2", "d1"]),
        ("pipeline", "By sei().", ["d2", "d1"]),
        ("message", "By sei().", []),
        ("nothing", None, []),
    ],
)
def test_objects_of_libraries_answer_and_rank_as_they_come(tmp_path: Path, name: str, answer: str, passages: list[str]):
    (tmp_path / f"objects_{name}.py").write_text(OBJECTS)
    system, _ = load_system("mine", f"objects_{name}:{name}", tmp_path)
    found = answer_of(system, "How?", "mine")
    assert (found["answer"], list(found["passages"])) == (answer, passages)
    if name in ("retriever", "engine", "pipeline"):
        system, _ = load_system("mine", f"objects_{name}:{name}", tmp_path, "retriever")
        assert ranking_of(system, "How?", 5) == {"ranking": [("d2", 0.5), ("d1", 0.25)]}
