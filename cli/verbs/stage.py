"""`ragassay ingest CORPUS`, `questions`, `retrieve`, …: one stage; `judge`, which takes files too, has a module."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from ..options import Verbs, add_experiment, add_verb
from .judge import add_judge

_BEFORE_JUDGE = {
    "ingest": "read the PDFs of CORPUS into pages, sections and passages",
    "questions": "have models write questions about sections, and sample the test set from them",
    "screen": "run every variant of [[retriever]] and hold it against the evidence, without a judge",
    "retrieve": "rank the passages for every query by every agent",
    "answer": "have every agent answer every query",
}
_AFTER_JUDGE = {
    "evaluate": "have the evaluators of [evaluate] grade passages and answers",
    "compare": "compute every figure: MRR, win rates, Elo, Bradley-Terry, intervals, tests",
    "report": "write report.html",
}


def add_stage(verbs: Verbs) -> None:
    """A verb for each stage, in the order in which data moves."""
    _add(verbs, _BEFORE_JUDGE)
    add_judge(verbs)
    _add(verbs, _AFTER_JUDGE)


def _add(verbs: Verbs, stages: Mapping[str, str]) -> None:
    for name, what in stages.items():
        verb = add_verb(verbs, name, f"stage: {what}", run_stage)
        verb.set_defaults(stage=name)
        add_experiment(verb)


def run_stage(options: argparse.Namespace) -> int:
    """Bring the stage up to date; what it reads must be there."""
    from ..pipeline.runner import run_one

    return run_one(options)
