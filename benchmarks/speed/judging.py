"""How near judging comes to the ideal wall time, and what a call costs in CPU.

    python -m benchmarks.speed.judging [ANSWERS] [JUDGES]

ANSWERS (1,000) answers, four a query, each with three passages, against a loopback server of 200 ms latency, 32 calls
at a time, after one call that loads the SDK. JUDGES are names with commas; by default all that ask the judge and load
no model of their own. The ideal is calls x 0.2 s / 32.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.servers.latency import LatencyServer
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.evaluate.judging.catalog import built_in, experiment_evaluators
from ragassay.evaluate.judging.engine.cases import AnswerCase, QueryCase
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.evaluate.judging.engine.rounds import assess
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Message
from ragassay.records import Answer, Passage, Query

LATENCY_S, AT_ONCE, A_QUERY = 0.2, 32, 4


def material(n_answers: int) -> list[QueryCase]:
    """Queries with four answers each; every text is different, so that no two calls are equal."""
    cases = []
    for number in range(n_answers // A_QUERY):
        query = Query(
            id=f"q{number}", text=f"How is timer {number} set?", metadata={"expected_response": f"By {number}."}
        )
        passages = tuple(
            Passage(id=f"p{number}-{i}", text=f"Timer {number} is set by register {number}{i}. " + "It counts. " * 60)
            for i in range(3)
        )
        answers = tuple(
            AnswerCase(query, Answer(query_id=query.id, agent=f"agent-{a}", answer=_answer(number, a)), passages)
            for a in range(A_QUERY)
        )
        cases.append(QueryCase(query, passages, answers))
    return cases


def _answer(number: int, agent: int) -> str:
    return f"Timer {number} is set by register {number}{agent} [1]. It counts up to {agent} [2]."


def asking_alone() -> Iterator[str]:
    """The judges that ask the judge and load no model of their own."""
    for name, kind in built_in().items():
        if kind.asks == "judge" and kind.check_at_hand is Evaluator.check_at_hand:
            yield name


def main() -> None:
    """Print a table of one line."""
    n_answers = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    names = sys.argv[2].split(",") if len(sys.argv) > 2 else [*asking_alone()]
    os.environ["OPENAI_API_KEY"] = "none"
    with LatencyServer(LATENCY_S) as server, tempfile.TemporaryDirectory() as folder:
        experiment = Experiment.model_validate(
            {
                "questions": {"source": "own"},
                "answer": {"model": "openai:judge"},
                "judge": {"model": "openai:judge"},
                "evaluate": {"judges": tuple(names), "mode": "label"},
                "run": {"max_concurrency": AT_ONCE},
                "models": {"openai:judge": {"base_url": server.base_url}},
            }
        )
        workspace = Workspace(Path(folder), Path(folder) / "results", experiment)
        caller = Caller(workspace, "evaluate", ReplyCache(workspace.replies))
        evaluators, cases = experiment_evaluators(workspace), material(n_answers)
        caller.ask([Batch("warm-up", "openai:judge", (Request((Message("user", "Hello."),)),))])
        wall, cpu = time.monotonic(), _cpu_s()
        rows = assess(evaluators, cases, caller)
        wall, cpu = time.monotonic() - wall, _cpu_s() - cpu
        calls = sum(usage.calls for usage in caller.usage()) - 1
    ideal = calls * LATENCY_S / AT_ONCE
    failed = sum(row.error is not None for row in rows)
    print("| judges | answers | calls | records | without a value | wall s | ideal s | ratio | CPU ms a call |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(
        f"| {len(names)} | {n_answers} | {calls} | {len(rows)} | {failed} | {wall:.1f} | {ideal:.1f} | "
        f"{wall / ideal:.2f} | {1000 * cpu / calls:.2f} |"
    )


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
