"""`ragassay new CORPUS a.pdf …`: a corpus folder with a commented experiment.toml for the models in reach or named."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb, path_of

if TYPE_CHECKING:
    from .models_in_reach import Chosen

_QUESTIONS = """\
# One real question a line, from the people whose questions matter; three or more. They set the tone of the generated
# questions. A role may stand before the question, divided by a tab:  account manager<TAB>What does … cost?
"""


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "new", "make a corpus folder from PDFs, with a commented experiment.toml", run)
    verb.add_argument("corpus", type=path_of, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument("pdfs", type=path_of, nargs="*", metavar="PDF", help="documents to copy into it")
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument(
        "--base-url", metavar="URL", help="the address of the models' server, such as http://127.0.0.1:8000/v1"
    )


def run(options: argparse.Namespace) -> int:
    """Make the folder; status 2, and nothing made, where it exists, a PDF cannot be copied or no model is in reach."""
    from ragassay.files import write_text

    from .models_in_reach import choose_models

    corpus: Path = options.corpus
    if corpus.exists() and any(corpus.iterdir() if corpus.is_dir() else [corpus]):
        raise InputError("is there already", file=corpus, remedy="name a new folder")
    _check_pdfs(options.pdfs)
    chosen = choose_models(options.model, options.base_url)
    text, why_not_all = _experiment(chosen)
    corpus.mkdir(parents=True, exist_ok=True)
    for pdf in options.pdfs:
        shutil.copyfile(pdf, corpus / _name(pdf))
    write_text(corpus / "experiment.toml", text)
    write_text(corpus / "questions.txt", _QUESTIONS)
    print(f"{plain(str(corpus))}: {len(options.pdfs)} PDFs, experiment.toml, questions.txt")
    print(plain(f"models: {', '.join(sorted({*chosen.writers, chosen.answer, chosen.judge}))} ({chosen.remark})"))
    if why_not_all:
        print(plain(f"retrievers: bm25 alone, as {why_not_all}"))
    for obstacle in _obstacles(corpus):
        print(plain(f"before a run: {obstacle}"))
    then = f"`ragassay plan {shlex.quote(str(corpus))}`"
    print(plain(f"next: write the experts' questions into {corpus / 'questions.txt'}, then {then}"))
    return 0


def _check_pdfs(pdfs: list[Path]) -> None:
    names: dict[str, Path] = {}
    for pdf in pdfs:
        if not pdf.is_file():
            raise InputError("there is no such file", file=pdf)
        if pdf.read_bytes()[:1024].find(b"%PDF-") < 0:
            raise InputError("is not a PDF", file=pdf)
        if (other := names.setdefault(_name(pdf).casefold(), pdf)) is not pdf:
            raise InputError(f"has the same name as {other}", file=pdf, remedy="rename one of them")


def _name(pdf: Path) -> str:
    """The name in the corpus folder, where hidden files and other suffixes are passed over."""
    name = pdf.name.lstrip(".") or "document"
    return name if name.lower().endswith(".pdf") else f"{name}.pdf"


def _experiment(chosen: Chosen) -> tuple[str, str | None]:
    """The text of experiment.toml, and why not every retriever is in it."""
    from ragassay.experiment.settings import RetrievalSettings

    from .models_in_reach import choose_retrievers

    retrievers, embedding, why = choose_retrievers(RetrievalSettings().embedding)
    quota = ", ".join(f"{_toml(name)} = 100" for name in chosen.writers)
    address = f"\n[models.{_toml(chosen.judge)}]\nbase_url = {_toml(chosen.base_url)}\n" if chosen.base_url else ""
    template = Template(Path(__file__).with_name("experiment.toml.txt").read_text(encoding="utf-8"))
    text = template.substitute(
        remark=plain(chosen.remark),
        quota=quota,
        retrievers=json.dumps(retrievers),
        embedding=_toml(embedding),
        answer=_toml(chosen.answer),
        judge=_toml(chosen.judge),
        own=address,
    )
    return text, why


def _toml(text: str) -> str:
    """Printable text in quotes, as TOML has it: JSON's way, but for what JSON would write as pairs of escapes."""
    return json.dumps(text, ensure_ascii=False)


def _obstacles(corpus: Path) -> list[InputError]:
    """What a run would be refused for, but for the questions, which are still to be written."""
    from ragassay.experiment.reading import load_experiment
    from ragassay.experiment.workspace import Workspace

    from ..pipeline.obstacles import asking_obstacles
    from ..pipeline.stages import stages_of

    workspace = Workspace(corpus, Path("results") / corpus.name, load_experiment(corpus / "experiment.toml"))
    return asking_obstacles(workspace, [stage.name for stage in stages_of(workspace.experiment)])
