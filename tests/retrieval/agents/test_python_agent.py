"""A user's callable that does what none should: the others are not harmed, and what it did is on record."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.places import ROOT

from ragassay.errors import InputError
from ragassay.experiment.settings import RunSettings
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.records import Query, Usage
from ragassay.retrieval.agents.isolated import Isolated
from ragassay.retrieval.agents.python_agent import ask_python_agent, load_python_agent

QUERIES = [Query(_id=f"q{number}", text=text) for number, text in enumerate(("How?", "Why?", "BAD?", "When?"), 1)]
FINE = ["How?", "Why?", None, "When?"]
PROC = Path("/proc/self/stat").exists()
"""Where the system tells of processes that ended and that nobody waited for, as in a container."""


@pytest.fixture
def ask(make_workspace, monkeypatch: pytest.MonkeyPatch):
    workspace: Workspace = make_workspace()
    workspace.corpus.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(workspace.corpus.parent)

    def answers_of(code: str, *, at_once: int = 4, timeout_s: float = 60, queries=QUERIES, progress=None):
        (workspace.corpus / "unruly.py").write_text(textwrap.dedent(code))
        run = RunSettings(max_concurrency=at_once)
        ours = Workspace(workspace.corpus, workspace.results, workspace.experiment.model_copy(update={"run": run}), ())
        agent = load_python_agent(
            AgentSettings(name="ours", kind="python", callable="unruly:answer", timeout_s=timeout_s), ours
        )
        try:
            return ask_python_agent(agent, queries, set(), progress)
        finally:
            agent.close()

    return answers_of


def bad(does: str, before: str = "") -> str:
    """A callable that does this where the query is BAD?, and says the query else."""
    return f"{before}\ndef answer(q):\n    if q == 'BAD?':\n        {does}\n    return q\n"


def test_whatever_it_raises_is_the_records_error(ask):
    said = {
        "BaseException('gone')": "BaseException: gone",
        "GeneratorExit()": "GeneratorExit",
        "__import__('asyncio').CancelledError()": "CancelledError",
        "SystemExit(3)": "SystemExit: 3",
        "KeyboardInterrupt": "KeyboardInterrupt",
        "type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()": "Mute",
    }
    queries = [Query(_id=f"q{number}", text=raised) for number, raised in enumerate(said)]
    assert [answer.error for answer in ask("def answer(q): raise eval(q)", queries=queries)] == list(said.values())


def test_a_query_that_comes_to_a_process_ended_before_is_asked_in_another(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    later = "import os, threading\ndef answer(q):\n    q == 'Later' and threading.Timer(0.2, os._exit, [3]).start()\n"
    (tmp_path / "later.py").write_text(f"{later}    return q\n")
    system = Isolated("ours", "later:answer", str(tmp_path), 4, 60.0)
    try:
        system.load()
        assert system.ask("Later")["answer"] == "Later"
        time.sleep(1.5)
        assert system.ask("How?")["answer"] == "How?"
    finally:
        system.close()


@pytest.mark.parametrize(
    ("does", "says", "at_once"),
    [
        ("import os; os._exit(3)", "the process ended with status 3", 1),
        ("import os; os.abort()", "the process was ended by signal 6", 4),
        ("import ctypes; ctypes.string_at(0)", "the process was ended by signal 11", 4),
        ("import os; os.fork() or __import__('time').sleep(99); os._exit(9)", "ended with status 9", 4),
        ("import os; os.closerange(3, 99)", "the process ended with status", 4),
    ],
)
def test_a_query_that_ends_the_process_is_an_error_and_all_others_are_answered(ask, does: str, says: str, at_once: int):
    answers = ask(bad(does), at_once=at_once)
    assert [answer.answer for answer in answers] == FINE
    assert says in str(answers[2].error)


def test_the_last_it_printed_is_told_where_it_ends(ask):
    answers = ask(bad("import os; os.write(2, b'no \\x1b[31m memory\\n'); os._exit(3)"))
    assert str(answers[2].error).endswith(r"; the last it printed: no \x1b[31m memory")


@pytest.mark.parametrize(
    ("hangs", "at_once"),
    [("import time; time.sleep(999)", 1), ("import re; re.match('(a+)+$', 'a' * 99 + 'b')", 4), ("input()", 4)],
)
def test_a_query_that_hangs_is_an_error_in_time_and_all_others_are_answered(
    ask, monkeypatch: pytest.MonkeyPatch, hangs: str, at_once: int
):
    monkeypatch.setattr("ragassay.retrieval.agents.isolated.SIGN_OF_LIFE_S", 2.0)
    started = time.monotonic()
    answers = ask(bad(hangs), timeout_s=1, at_once=at_once)
    assert time.monotonic() - started < 30
    assert [answer.answer for answer in answers] == FINE
    assert answers[2].error in {"no answer within 1 s (timeout_s)", "EOFError: EOF when reading a line"}


def test_those_under_way_beside_one_that_hangs_are_answered_and_asked_once(ask, tmp_path: Path):
    notes = tmp_path / "notes"
    code = f"""
        import time
        def answer(q):
            open({str(notes)!r}, "a").write(q)
            time.sleep({{"BAD?": 99, "How?": 2.5}}.get(q, 0))
            return q
    """
    assert [answer.answer for answer in ask(code, timeout_s=3, at_once=2)] == FINE
    assert sorted(notes.read_text()) == sorted("How?Why?BAD?When?")


def test_what_always_ends_its_process_is_not_asked_for_ever(ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ragassay.retrieval.agents.isolated.PATIENCE", 3)
    queries = [Query(_id=f"q{number}", text="?") for number in range(20)]
    errors = [answer.error for answer in ask("def answer(q): __import__('os')._exit(1)", at_once=2, queries=queries)]
    assert None not in errors
    assert errors[-1] == "not asked: its process ended at 3 queries in a row"


def test_an_answer_too_large_is_an_error_and_its_bytes_are_not_taken(ask):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers = ask(bad("return 'x' * 80_000_000"))
    assert [answer.answer for answer in answers] == FINE
    assert answers[2].error == "ValueError: the answer is too large (80.0 MB, at most 1 MB)"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000, "KiB"
    assert "too large" in str(ask(bad("return {'answer': 'x', 'queries': ['y' * 1000] * 1001}"))[2].error)
    assert len(str(ask(bad("return 'x' * 999_000"))[2].answer)) == 999_000


def test_what_is_written_without_end_to_where_answers_go_ends_the_process(ask):
    answers = ask(bad("import os\n        for fd in range(3, 30):\n            try: os.write(fd, b'x' * 3_000_000)\n"
                      "            except OSError: pass"))  # fmt: skip
    assert [answer.answer for answer in answers] == FINE
    assert "where answers are expected" in str(answers[2].error)


def test_what_it_prints_and_where_it_goes_harms_nobody(ask, capfd: pytest.CaptureFixture[str]):
    home, path = os.getcwd(), list(sys.path)
    before = "import os, sys\nprint('loud', flush=True)\nos.write(1, b'louder')\nos.chdir('/')\nsys.path.clear()"
    answers = ask(bad("print('{}', flush=True); os.write(2, b'e' * 300_000); os.chdir('/'); return 'BAD?'", before))
    assert [answer.answer for answer in answers] == ["How?", "Why?", "BAD?", "When?"]
    assert (os.getcwd(), sys.path) == (home, path)
    assert capfd.readouterr() == ("", "")


def test_it_has_the_environment_as_it_was(ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "of mine")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    answers = ask("import os\ndef answer(q): return os.environ['MY_KEY'] + str(os.environ.get('PYTHONPATH'))")
    assert answers[0].answer == "of mineNone"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os; os._exit(5)", r"agent 'ours': the module of unruly:answer cannot be imported \(the process ended"),
        ("import ctypes; ctypes.string_at(0)", r"cannot be imported \(the process was ended by signal 11\)"),
    ],
)
def test_an_import_that_ends_the_process_is_said(ask, code: str, says: str):
    with pytest.raises(InputError, match=says):
        ask(code)


def test_a_parameter_history_is_handed_what_was_said_before(ask):
    history = [{"role": "user", "text": "US?"}, {"role": "assistant", "text": "Yes.", "by": "reference"}]
    queries = [Query.model_validate({"_id": "t", "text": "And Canada?", "history": history}), QUERIES[0]]
    given = ask("def answer(q, history):\n    return q + repr(history)", queries=queries)
    told = [{"role": "user", "text": "US?"}, {"role": "assistant", "text": "Yes."}]
    assert [one.answer for one in given] == [f"And Canada?{told}", "How?[]"]


def test_tokens_and_cost_by_the_meter(ask):
    code = """
        from ragassay.retrieval.agents.own_agents import Meter
        def answer(q, meter: Meter):
            meter.add(input_tokens=100, cost_usd=0.25)
            meter.add(input_tokens=20, output_tokens=7, cost_usd=0.5)
            if q == "BAD?":
                raise RuntimeError("after it was paid")
            if q == "Why?":
                meter.add(output_tokens=-1)
            return {"answer": q, "usage": {"output_tokens": 9}} if q == "When?" else q
    """
    how, why, broken, when = ask(code)
    counted = Usage(input_tokens=120, output_tokens=7, cost_usd=0.75)
    assert (how.usage, broken.usage, broken.error) == (counted, counted, "RuntimeError: after it was paid")
    assert why.error == "ValueError: meter.add: output_tokens is -1, it must be at least 0"
    assert when.usage == Usage(output_tokens=9)
    assert ask("def answer(q, meter=None): return q")[0].usage == Usage()
    assert ask("def answer(q): return q")[0].usage == Usage()


def test_the_progress_names_the_agent_and_counts(ask):
    class Told(list):
        def start(self, what, total):
            self.append((what, total))

        def advance(self, outcome, spent_usd, error=None):
            self.append(outcome if error is None else (outcome, error))

        def show(self):
            self.append("show")

        def stop(self):
            self.append("stop")

    told = Told()
    ask(bad("return None"), at_once=1, progress=told)
    none = "TypeError: a str, a dict or an Answer is expected, not NoneType"
    said = [one for one in told if one != "show"]  # a slow machine is shown while it waits
    assert (said[0], said[-1]) == (("answer: agent ours", 4), "stop")
    assert said.count("done") == 3 and said.count(("failed", none)) == 1 and len(said) == 6


def gone(pid: int, within_s: float = 20) -> bool:
    """Whether no such process lives any more, or will soon."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] if PROC else ""
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("where", ["while it answers", "while it is imported"])
def test_a_killed_run_leaves_no_process_behind_not_even_those_that_the_system_started(
    tmp_path: Path, make_workspace, where: str
):
    workspace: Workspace = make_workspace()
    workspace.corpus.mkdir(parents=True, exist_ok=True)
    pids = tmp_path / "pids"
    body = f"""
        import json, os, subprocess, time
        def hang(q=None):
            started = subprocess.Popen(["sleep", "999"])
            open({str(pids)!r} + "-", "w").write(json.dumps([os.getpid(), started.pid]))
            os.rename({str(pids)!r} + "-", {str(pids)!r})
            time.sleep(999)
        answer = hang
    """
    (workspace.corpus / "hangs.py").write_text(textwrap.dedent(body) + ("hang()\n" if "imported" in where else ""))
    program = (
        "import sys, pathlib\n"
        "from ragassay.retrieval.agents.isolated import Isolated\n"
        "system = Isolated('ours', 'hangs:answer', sys.argv[1], 1, 300.0)\n"
        "system.load()\n"
        "system.ask('How?')\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program, str(workspace.corpus)], cwd=ROOT)
    while not pids.exists():
        assert run.poll() is None
        time.sleep(0.05)
    run.kill()
    run.wait()
    assert all(gone(pid) for pid in json.loads(pids.read_text()))
