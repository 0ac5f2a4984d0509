"""A small corpus folder of two PDFs, and a server that answers everything its experiment asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.loopback.behaviours import Behaviour, reply
from support.pdf_maker import make_pdf
from support.schema_replies import SUBJECTS, VERBS, reply_to

from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace

EXPERIMENT = """\
[ingest]
section_tokens = 200
passage_words = 40
passage_overlap_words = 8

[questions]
style = "passage"
pool_depth = 5
sections = 4
per_section = 4
few_shot = 1
quota = {{ {model} = 4 }}

[retrieval]
retrievers = ["bm25"]
k = 3

[answer]
model = {model}
fusion_queries = 2

[judge]
model = {model}

[compare]
tournaments = 10
bootstrap = 100

[run]
retries = {retries}
max_concurrency = 8
"""


def page(number: int) -> str:
    """About a hundred words on two subjects, no two pages alike."""
    lines = []
    for line in range(12):
        verb, subject = VERBS[(number + line) % len(VERBS)], SUBJECTS[(number * 3 + line) % len(SUBJECTS)]
        lines.append(f"To {verb} {subject}, write {number * 31 + line} to register R{number}{line} and wait.")
    return "\n".join(lines)


def own_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with a key that is none; where in it a corpus can be made."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    return folder / "mine"


def make_corpus(
    folder: Path, model: str, base_url: str | None = None, retries: int = 5, more: str = "", timeout_s: float = 20.0
) -> Path:
    """The folder, ready to run; `more` is added to experiment.toml, `timeout_s` holds for each request."""
    folder.mkdir(parents=True, exist_ok=True)
    make_pdf(folder / "user manual.pdf", [page(n) for n in range(1, 5)])
    make_pdf(folder / "errata.pdf", [page(n) for n in range(5, 7)])
    (folder / "questions.txt").write_text("engineer\tHow do I stop the watchdog from resetting my board?\n")
    text = EXPERIMENT.format(model=json.dumps(model), retries=retries) + more
    if base_url:
        text += f"\n[models.{json.dumps(model)}]\nbase_url = {json.dumps(base_url)}\ntimeout_s = {timeout_s}\n"
    (folder / "experiment.toml").write_text(text)
    return folder


def answer_everything(number: int, body: dict[str, Any]) -> Behaviour:
    """A script for a ScriptedServer: a fitting reply to every request."""
    del number
    return reply(reply_to(body))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but locks, by its relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def edit(corpus: Path, old: str, new: str) -> None:
    """Change experiment.toml, which has what is to be changed."""
    path = corpus / "experiment.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def documents_folder(corpus: Path, tables: str = "") -> Workspace:
    """A folder for documents, with these tables and nobody who is asked; its results are beside it."""
    corpus.mkdir(exist_ok=True)
    models = '[answer]\nmodel = "openai:a"\n[judge]\nmodel = "openai:a"\n[questions]\nsource = "own"\n'
    (corpus / "experiment.toml").write_text(f"{tables}\n{models}", "utf-8")
    return Workspace(corpus, corpus.parent / "results", load_experiment(corpus / "experiment.toml"))
