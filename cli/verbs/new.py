"""`ragassay new CORPUS a.pdf b.md …`, a corpus folder with a commented experiment.toml for models in reach or named,
and questions of one's own; and `ragassay model fetch`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.tables import MODEL_PATTERN, Column, ModelSettings
from ragassay.files import first_problem
from ragassay.layouts.questions import HEADINGS, SUFFIXES, read_questions
from ragassay.models.encoders import OFFLINE_MODEL, check_encoder
from ragassay.models.endpoint import provider_of, providers
from ragassay.models.servers import served_models, why_unreachable
from ragassay.text import listed, plain

from ..terminal import add, add_shared, path_of


def add_model(verb: argparse.ArgumentParser) -> None:
    add(verb, "action", "fetch: download it, resumably, and keep its sha256 on record", choices=["fetch"])
    add(verb, "name MODEL", "local:hf:OWNER/REPO/FILE.gguf")


def run_model(options: argparse.Namespace) -> int:
    """Fetch the model named, resumably, and say where it lies."""
    from ragassay.models.local.fetch import fetch

    print(f"{options.name}: {fetch(options.name)}")
    return 0


OLLAMA = "http://127.0.0.1:11434"


@dataclass(frozen=True)
class Chosen:
    """The models that write, answer and judge, the address of all of them where they have one, and why these."""

    writers: tuple[str, ...]
    answer: str
    judge: str
    remark: str
    base_url: str | None = None


def choose_models(model: str | None, base_url: str | None) -> Chosen:
    """The model named for everything; or one that is served at `base_url`; or what keys and Ollama offer.

    Raises InputError where none is in reach, or what is named cannot be meant.
    """
    if base_url:
        try:
            ModelSettings.model_validate({"base_url": base_url})
        except ValidationError as error:
            problem = first_problem(error).replace("Value error, ", "").removeprefix("base_url: ")
            raise InputError(f"--base-url {plain(base_url)}: {problem}") from None
    if model:
        return _named(model, base_url)
    if base_url:
        return _served(base_url)
    openai, anthropic = bool(os.environ.get("OPENAI_API_KEY")), bool(os.environ.get("ANTHROPIC_API_KEY"))
    if openai and anthropic:
        gpt, claude = "openai:gpt-4o", "anthropic:claude-sonnet-4-5"
        return Chosen((gpt, claude), gpt, claude, "both keys are in the environment")
    if openai:
        big, small = "openai:gpt-4o", "openai:gpt-4o-mini"
        return Chosen((big, small), small, big, "OPENAI_API_KEY is in the environment")
    if anthropic:
        big, small = "anthropic:claude-sonnet-4-5", "anthropic:claude-haiku-4-5"
        return Chosen((big, small), small, big, "ANTHROPIC_API_KEY is in the environment")
    if why_unreachable(f"{OLLAMA}/v1/models"):
        raise InputError(
            f"no model is in reach: no key is in the environment, and nobody answers at {OLLAMA} (Ollama)",
            remedy="export OPENAI_API_KEY=… or ANTHROPIC_API_KEY=…, or start a server and give its --base-url, or name "
            "a model with --model: local:PATH.gguf on this machine, file:NAME to answer requests through files",
        )
    return _served(f"{OLLAMA}/v1")


def choose_retrievers(embedding: str) -> tuple[tuple[str, ...], str, str | None]:
    """(retrievers, embedding model, why not all) that can be used here; `embedding` is taken where it is to be had."""
    why = None
    for model in (embedding, OFFLINE_MODEL):
        try:
            check_encoder(model, "knn")
        except InputError as error:
            why = why or str(error)
        else:
            return ("bm25", "knn", "hybrid"), model, None
    return ("bm25",), embedding, why


def _named(model: str, base_url: str | None) -> Chosen:
    """The model for everything; at an address a name without its provider is that of an OpenAI-compatible server."""
    name = f"openai:{model}" if base_url and model.partition(":")[0] not in providers() else model
    if provider_of(name) in {"local", "file"} and base_url:
        raise InputError(f"--base-url goes with openai: and anthropic:, not with {plain(name)}", remedy="leave it out")
    if not _is_name(name):
        raise InputError(f"--model {plain(name)}: a model is named provider:model, such as openai:gpt-4o")
    return Chosen((name,), name, name, "named with --model" + (f", at {plain(base_url)}" if base_url else ""), base_url)


def _served(base_url: str) -> Chosen:
    names = [f"openai:{name}" for name in served_models(base_url) if "embed" not in name.lower()]
    usable = [name for name in names if _is_name(name)]
    if not usable:
        raise InputError(f"{plain(base_url)} serves no model", remedy="load one there, or name it with --model")
    remark = f"the first of {len(usable)} at {plain(base_url)}: " if len(usable) > 1 else f"served at {plain(base_url)}"
    others = listed(usable[:8]) if len(usable) > 1 else ""
    return Chosen((usable[0],), usable[0], usable[0], remark + others, base_url)


def _is_name(name: str) -> bool:
    """Whether it can stand in experiment.toml."""
    return name.isprintable() and re.fullmatch(MODEL_PATTERN, name) is not None


_QUESTIONS = """\
# One real question a line, from the people whose questions matter; three or more. They set the tone of the generated
# questions. A role may stand before the question, divided by a tab:  account manager<TAB>What does … cost?
"""

_OURS = {"experiment.toml", "questions.txt"}


def add_new(verb: argparse.ArgumentParser) -> None:
    add(verb, "corpus CORPUS", "the folder to make, such as corpora/mine", type=path_of)
    add(verb, "documents DOCUMENT", "to copy into it: PDF, .md, .txt, .html, .docx", type=path_of, nargs="*")
    add(
        verb,
        "--questions FILE",
        "your own, which are then the test set: .txt (one a line), .csv, .tsv, .xlsx, .json or .jsonl",
        type=path_of,
    )
    add(
        verb,
        "--column WHAT=HEADING",
        "which column is the question, answer, id or role, where its heading does not tell: question=Frage",
        action="append",
        default=[],
    )
    add_shared(verb, "--model")
    add(verb, "--base-url URL", "the address of the models' server, such as http://127.0.0.1:8000/v1")


def run_new(options: argparse.Namespace) -> int:
    """Make the folder; status 2, and nothing made, where it exists, a document or the file of questions cannot be read
    or no model is in reach.
    """
    from ragassay.experiment.reading import load_experiment
    from ragassay.experiment.workspace import Workspace
    from ragassay.files import write_text

    from ..pipeline.stages import asking_obstacles, stages_of

    corpus: Path = options.corpus
    if corpus.exists() and any(corpus.iterdir() if corpus.is_dir() else [corpus]):
        raise InputError("is there already", file=corpus, remedy="name a new folder")
    kinds = _check_documents(options.documents)
    own = _own_questions(options.questions, options.column)
    chosen = choose_models(options.model, options.base_url)
    text, why_not_all = _experiment(chosen, kinds, own)
    corpus.mkdir(parents=True, exist_ok=True)
    for document in options.documents:
        shutil.copyfile(document, corpus / _name(document))
    write_text(corpus / "experiment.toml", text)
    if own:
        shutil.copyfile(options.questions, corpus / own.name)
    else:
        write_text(corpus / "questions.txt", _QUESTIONS)
    what = ("document" if set(kinds) - {"pdf"} else "PDF") + "s" * (len(options.documents) > 1)
    name = own.name if own else "questions.txt"
    print(f"{plain(str(corpus))}: {len(options.documents)} {what}, experiment.toml, {name}")
    if own:
        print(own.told)
    print(plain(f"models: {', '.join(sorted({*chosen.writers, chosen.answer, chosen.judge}))} ({chosen.remark})"))
    if why_not_all:
        print(plain(f"retrievers: bm25 alone, as {why_not_all}"))
    workspace = Workspace(corpus, Path("results") / corpus.name, load_experiment(corpus / "experiment.toml"))
    for obstacle in asking_obstacles(workspace, stages_of(workspace.experiment)):
        print(plain(f"before a run: {obstacle}"))
    write = "" if own else f"write the experts' questions into {corpus / 'questions.txt'}, then "
    print(plain(f"next: {write}`ragassay plan {shlex.quote(str(corpus))}`"))
    return 0


@dataclass(frozen=True)
class _Own:
    """Questions of one's own: the file's name in the corpus folder, which column is what, and how they were read."""

    name: str
    columns: Mapping[Column, str]
    told: str


def _own_questions(path: Path | None, columns: list[str]) -> _Own | None:
    """What `--questions` and `--column` name, read as a run will read it."""
    from ragassay.synth.questions.own import read_expert_questions, read_own_queries

    given = [one.partition("=") for one in columns]
    told = {what: heading for what in HEADINGS for name, _, heading in given if name == what}
    if wrong := ["".join(one) for one in given if one[0] not in HEADINGS or not one[2]]:
        problem = f"--column {plain(wrong[0])} is not WHAT=HEADING"
        raise InputError(problem, remedy=f"write --column question=HEADING; there are {listed([*HEADINGS])}")
    if len({name for name, _, _ in given}) < len(given):
        twice = next(name for n, (name, _, _) in enumerate(given) if name in [one[0] for one in given[:n]])
        raise InputError(f"--column {twice} is given twice", remedy="name one heading for it")
    if path is None:
        if columns:
            raise InputError("--column goes with --questions", remedy="name the file")
        return None
    if not path.exists():
        raise InputError("there is no such file", file=path)
    suffix = path.suffix.lower()
    if suffix in {".txt", ""} or path.name == "queries.jsonl":
        if columns:
            raise InputError("--column goes with a table or objects", file=path, remedy="leave it out")
        beir = path.name == "queries.jsonl"
        n = len(read_own_queries(path) if beir else read_expert_questions(path))
        name = path.name if beir else "questions.txt"
        return _Own(name, {}, f"{name}: {n:,} question{'s' * (n != 1)}")
    if suffix not in SUFFIXES:
        raise InputError("is no file of questions", file=path, remedy=f"its name ends in .txt, {', '.join(SUFFIXES)}")
    return _Own(f"questions{suffix}", told, read_questions(path, told).told)


def _check_documents(documents: list[Path]) -> list[str]:
    """The kinds of the documents, sorted. Raises InputError where one cannot be taken."""
    from ragassay.synth.formats import check_packages, kind_of

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
    kinds = sorted({kind_of(document.name) or "pdf" for document in documents}) or ["pdf"]
    check_packages(kinds)
    return kinds


def _name(document: Path) -> str:
    """The name in the corpus folder, where hidden files and other suffixes are passed over."""
    from ragassay.synth.formats import kind_of

    name = document.name.lstrip(".") or "document"
    return name if kind_of(name) else f"{name}.pdf"


def _experiment(chosen: Chosen, kinds: list[str], own: _Own | None) -> tuple[str, str | None]:
    """The text of experiment.toml, and why not every retriever is in it."""
    from ragassay.experiment.settings import RetrievalSettings

    retrievers, embedding, why = choose_retrievers(RetrievalSettings().embedding)
    columns = ", ".join(f"{what} = {_toml(name)}" for what, name in own.columns.items()) if own else ""
    address = f"\n[models.{_toml(chosen.judge)}]\nbase_url = {_toml(chosen.base_url)}\n" if chosen.base_url else ""
    template = Template(Path(__file__).with_name("experiment.toml.txt").read_text(encoding="utf-8"))
    text = template.substitute(
        remark=plain(chosen.remark),
        kinds=json.dumps(kinds),
        source=_toml("own" if own else "synthetic"),
        columns=f"{{ {columns} }}" if columns else "{}",
        quota=", ".join(f"{_toml(name)} = 100" for name in chosen.writers),
        retrievers=json.dumps(retrievers),
        embedding=_toml(embedding),
        answer=_toml(chosen.answer),
        judge=_toml(chosen.judge),
        own=address,
    )
    return text, why


def _toml(text: str) -> str:
    """Text in quotes, as TOML has it: JSON's way, but for what JSON would write as pairs of escapes or as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
