"""`ragassay new CORPUS a.pdf b.md …`: a corpus folder with a commented experiment.toml for models in reach or named."""

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

_OURS = {"experiment.toml", "questions.txt"}


def add_new(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "new", "make a corpus folder from documents, with a commented experiment.toml", run_new)
    verb.add_argument("corpus", type=path_of, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument(
        "documents",
        type=path_of,
        nargs="*",
        metavar="DOCUMENT",
        help="to copy into it: PDF, .md, .txt, .html, .docx",
    )
    verb.add_argument("--model", metavar="MODEL", help="use this model (provider:name) for everything")
    verb.add_argument(
        "--base-url", metavar="URL", help="the address of the models' server, such as http://127.0.0.1:8000/v1"
    )


def run_new(options: argparse.Namespace) -> int:
    """Make the folder; status 2, and nothing made, where it exists, a document is none or no model is in reach."""
    from ragassay.files import write_text

    from .models_in_reach import choose_models

    corpus: Path = options.corpus
    if corpus.exists() and any(corpus.iterdir() if corpus.is_dir() else [corpus]):
        raise InputError("is there already", file=corpus, remedy="name a new folder")
    _check_documents(options.documents)
    chosen = choose_models(options.model, options.base_url)
    text, why_not_all = _experiment(chosen, _kinds(options.documents))
    corpus.mkdir(parents=True, exist_ok=True)
    for document in options.documents:
        shutil.copyfile(document, corpus / _name(document))
    write_text(corpus / "experiment.toml", text)
    write_text(corpus / "questions.txt", _QUESTIONS)
    what = "documents" if set(_kinds(options.documents)) - {"pdf"} else "PDFs"
    print(f"{plain(str(corpus))}: {len(options.documents)} {what}, experiment.toml, questions.txt")
    print(plain(f"models: {', '.join(sorted({*chosen.writers, chosen.answer, chosen.judge}))} ({chosen.remark})"))
    if why_not_all:
        print(plain(f"retrievers: bm25 alone, as {why_not_all}"))
    for obstacle in _obstacles(corpus):
        print(plain(f"before a run: {obstacle}"))
    then = f"`ragassay plan {shlex.quote(str(corpus))}`"
    print(plain(f"next: write the experts' questions into {corpus / 'questions.txt'}, then {then}"))
    return 0


def _check_documents(documents: list[Path]) -> None:
    from ragassay.synth.formats.kinds import check_packages, kind_of

    names: dict[str, Path] = {}
    for document in documents:
        if not document.is_file():
            raise InputError("there is no such file", file=document)
        if kind_of(document.name) in {None, "pdf"} and document.read_bytes()[:1024].find(b"%PDF-") < 0:
            if not document.stat().st_size:
                raise InputError("is empty", file=document, remedy="leave it out, or fetch it anew")
            raise InputError("is not a PDF", file=document, remedy="others end in .md, .txt, .html or .docx")
        if (name := _name(document)) in _OURS:
            raise InputError(f"the corpus folder has its own {name}", file=document, remedy="rename it")
        if (other := names.setdefault(name.casefold(), document)) is not document:
            raise InputError(f"has the same name as {other}", file=document, remedy="rename one of them")
    check_packages(_kinds(documents))


def _kinds(documents: list[Path]) -> list[str]:
    from ragassay.synth.formats.kinds import kind_of

    return sorted({kind_of(document.name) or "pdf" for document in documents}) or ["pdf"]


def _name(document: Path) -> str:
    """The name in the corpus folder, where hidden files and other suffixes are passed over."""
    from ragassay.synth.formats.kinds import kind_of

    name = document.name.lstrip(".") or "document"
    return name if kind_of(name) else f"{name}.pdf"


def _experiment(chosen: Chosen, kinds: list[str]) -> tuple[str, str | None]:
    """The text of experiment.toml, and why not every retriever is in it."""
    from ragassay.experiment.settings import RetrievalSettings

    from .models_in_reach import choose_retrievers

    retrievers, embedding, why = choose_retrievers(RetrievalSettings().embedding)
    quota = ", ".join(f"{_toml(name)} = 100" for name in chosen.writers)
    address = f"\n[models.{_toml(chosen.judge)}]\nbase_url = {_toml(chosen.base_url)}\n" if chosen.base_url else ""
    template = Template(Path(__file__).with_name("experiment.toml.txt").read_text(encoding="utf-8"))
    text = template.substitute(
        remark=plain(chosen.remark),
        kinds=json.dumps(kinds),
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
