"""The command line: the verbs in the order of `ragassay --help`. Nothing heavy is imported here."""

from __future__ import annotations

import argparse

from .on_files import (
    agree,
    agree_systems,
    calibrate,
    consistency,
    gate,
    meta_eval,
    opensearch,
    plot,
    rate,
    score,
    search,
)
from .options import STATUS
from .verbs import completion, demo, export, judges, label_sheet, model, new, plan, replies, run, stage

EXPERIMENT = (demo, new, run, plan, stage, judges, replies, label_sheet, model)
ON_FILES = (search, opensearch, score, rate, plot, consistency, gate, agree, agree_systems, calibrate, meta_eval)


def build_parser(version: str) -> argparse.ArgumentParser:
    """The whole command line; each verb's namespace carries its `run` as `handler`."""
    parser = argparse.ArgumentParser(
        prog="ragassay",
        description="Make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best.",
        epilog=STATUS,
    )
    parser.add_argument("--version", action="version", version=f"ragassay {version}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for module in (*EXPERIMENT, *ON_FILES, export):
        module.add(verbs)
    completion.add(verbs, parser)
    return parser
