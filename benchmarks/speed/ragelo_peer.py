"""RAGElo on the same work, in an environment of its own: RAGELO_PYTHON names its Python.

    python -m venv /tmp/ragelo && /tmp/ragelo/bin/pip install ragelo
    RAGELO_PYTHON=/tmp/ragelo/bin/python .venv/bin/python -m benchmarks.speed.relevance

This file is also the script that RAGElo's Python runs, so at its top it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

NOT_INSTALLED = "not installed (RAGELO_PYTHON names the Python of an environment that has it)"
N_AGENTS = 6


def peer(*arguments: object) -> dict[str, Any] | None:
    """What the script prints for `judge URL N AT_ONCE` or `elo TOURNAMENTS GAMES`; None without RAGELO_PYTHON."""
    python = os.environ.get("RAGELO_PYTHON")
    if not python:
        return None
    command = [python, os.path.abspath(__file__), *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def question(number: int) -> str:
    """The query of judgment `number`: ten passages are pooled for each."""
    return f"How is timer {number // 10} set?"


def passage(number: int) -> str:
    """Its passage, of 150 words; every one is different, so that no two calls are equal."""
    return f"Timer {number} is set by register {number}. " + "It counts the clock of the board. " * 20


def _judge(base_url: str, n: int, at_once: int) -> dict[str, Any]:
    """RAGElo's ReasonerEvaluator over n passages, chat completions as ours, records kept on disk as by default."""
    from ragelo import Experiment, get_llm_provider, get_retrieval_evaluator

    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment("speed", save_path=f"{folder}/speed.json", rich_print=False)
        for number in range(n):
            if number % 10 == 0:
                experiment.add_query(question(number), f"q{number // 10}", should_save=False)
            experiment.add_retrieved_doc(passage(number), f"q{number // 10}", f"p{number}", should_save=False)
        provider = get_llm_provider("ollama", model="judge", api_base=base_url)
        evaluator = get_retrieval_evaluator(
            "reasoner", llm_provider=provider, n_processes=at_once, use_progress_bar=False
        )
        evaluator.evaluate(question(0), passage(n))
        wall_s, cpu_s = time.monotonic(), cpu()
        evaluator.evaluate_experiment(experiment)
        wall_s, cpu_s = time.monotonic() - wall_s, cpu() - cpu_s
        documents = [document for query in experiment for document in query.retrieved_docs.values()]
        judged = sum(bool(document.evaluations) for document in documents)
    return {"wall_s": wall_s, "cpu_s": cpu_s, "records": judged, "version": _version()}


def _elo(tournaments: int, games: int) -> dict[str, Any]:
    """RAGElo's EloRanker, handed its games as it flattens them, so that only the tournaments are timed."""
    from ragelo.agent_rankers.elo_ranker import EloRanker
    from ragelo.types.configurations import EloAgentRankerConfig

    chance = random.Random(7)
    rows = [("q", *_two(chance), chance.choice("ABC")) for _ in range(games)]

    class Ranker(EloRanker):
        def _flatten_evaluations(self, experiment: object) -> list[Any]:
            return rows

    class Experiment:
        def add_evaluation(self, *_: object, **__: object) -> None:
            """The result is not kept."""

    ranker = Ranker(EloAgentRankerConfig(tournaments=tournaments))
    start = time.perf_counter()
    ranker.run(Experiment())
    return {"wall_s": time.perf_counter() - start, "version": _version()}


def _two(chance: random.Random) -> tuple[str, str]:
    a, b = chance.sample(range(N_AGENTS), 2)
    return f"agent-{a:02d}", f"agent-{b:02d}"


def cpu() -> float:
    """CPU seconds of this process so far, in user and system time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _version() -> str:
    from importlib.metadata import version

    return version("ragelo")


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    made = _judge(rest[0], int(rest[1]), int(rest[2])) if verb == "judge" else _elo(int(rest[0]), int(rest[1]))
    print(json.dumps(made))
