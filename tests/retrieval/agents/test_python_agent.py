"""A user's callable that does what none should: the others are not harmed, and what it did is on record."""

from __future__ import annotations

import os
import sys

import pytest

from ragassay.experiment.own_code import importable
from ragassay.experiment.settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.records import Query
from ragassay.retrieval.agents.python_agent import ask_python_agent, load_python_agent

QUERIES = [Query(_id="q1", text="How?"), Query(_id="q2", text="Why?")]


@pytest.fixture
def ask(make_workspace, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    name = f"unruly_{abs(hash(request.node.name))}"
    workspace: Workspace = make_workspace()
    workspace.corpus.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(workspace.corpus.parent)

    def answers_of(code: str):
        (workspace.corpus / f"{name}.py").write_text(code)
        agent = AgentSettings(name="ours", kind="python", callable=f"{name}:answer")
        with importable(workspace.corpus):
            return ask_python_agent(load_python_agent(agent, workspace), QUERIES, set())

    yield answers_of
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        ("BaseException('gone')", "BaseException: gone"),
        ("GeneratorExit()", "GeneratorExit"),
        ("__import__('asyncio').CancelledError()", "CancelledError"),
        ("SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_whatever_it_raises_is_the_records_error(ask, raised: str, says: str):
    assert [answer.error for answer in ask(f"def answer(q): raise {raised}")] == [says, says]


def test_ctrl_c_is_not_an_answer(ask):
    with pytest.raises(KeyboardInterrupt):
        ask("def answer(q): raise KeyboardInterrupt")


def test_it_may_leave_the_working_folder_and_nobody_follows(ask):
    home = os.getcwd()
    assert [a.answer for a in ask("import os\nos.chdir('/')\ndef answer(q):\n    os.chdir('/')\n    return q")] == [
        "How?",
        "Why?",
    ]
    assert os.getcwd() == home


def test_it_may_clear_the_path_of_modules(ask):
    before = list(sys.path)
    assert ask("import sys\nsys.path.clear()\ndef answer(q): return q")[0].answer == "How?"
    assert sys.path == before
