"""`ragassay new CORPUS a.pdf …`: a corpus folder with a commented experiment.toml for the models in reach."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
from pathlib import Path
from string import Template

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb, path_of

_SMALLEST, _WITHOUT_NETWORK = "local:smollm2-135m", "all-MiniLM-L6-v2"
_OLLAMA = "http://127.0.0.1:11434"

_QUESTIONS = """\
# One real question a line, from the people whose questions matter; three or more. They set the tone of the generated
# questions. A role may stand before the question, divided by a tab:  account manager<TAB>What does … cost?
"""


def add(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "new", "make a corpus folder from PDFs, with a commented experiment.toml", run)
    verb.add_argument("corpus", type=path_of, metavar="CORPUS", help="the folder to make, such as corpora/mine")
    verb.add_argument("pdfs", type=path_of, nargs="*", metavar="PDF", help="documents to copy into it")


def run(options: argparse.Namespace) -> int:
    """Make the folder; status 2, and nothing made, where it exists or a PDF cannot be copied."""
    from ragassay.files import write_text

    corpus: Path = options.corpus
    if corpus.exists() and any(corpus.iterdir() if corpus.is_dir() else [corpus]):
        raise InputError("is there already", file=corpus, remedy="name a new folder")
    _check_pdfs(options.pdfs)
    corpus.mkdir(parents=True, exist_ok=True)
    for pdf in options.pdfs:
        shutil.copyfile(pdf, corpus / _name(pdf))
    models, remark = _models_in_reach()
    write_text(corpus / "experiment.toml", _experiment(models, remark))
    write_text(corpus / "questions.txt", _QUESTIONS)
    print(f"{plain(str(corpus))}: {len(options.pdfs)} PDFs, experiment.toml, questions.txt")
    print(f"models: {', '.join(sorted(set(models.values())))} ({remark})")
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


def _models_in_reach() -> tuple[dict[str, str], str]:
    """The models for writing, answering and judging, and why these."""
    openai, anthropic = bool(os.environ.get("OPENAI_API_KEY")), bool(os.environ.get("ANTHROPIC_API_KEY"))
    if openai and anthropic:
        chosen = {"first": "openai:gpt-4o", "second": "anthropic:claude-sonnet-4-5", "answer": "openai:gpt-4o"}
        return chosen | {"judge": "anthropic:claude-sonnet-4-5"}, "both keys are in the environment"
    if openai:
        chosen = {"first": "openai:gpt-4o", "second": "openai:gpt-4o-mini", "answer": "openai:gpt-4o-mini"}
        return chosen | {"judge": "openai:gpt-4o"}, "OPENAI_API_KEY is in the environment"
    if anthropic:
        names = {"first": "claude-sonnet-4-5", "second": "claude-haiku-4-5", "answer": "claude-haiku-4-5"}
        chosen = {part: f"anthropic:{name}" for part, name in names.items()}
        return chosen | {"judge": "anthropic:claude-sonnet-4-5"}, "ANTHROPIC_API_KEY is in the environment"
    if served := _ollama_models():
        name = f"openai:{served[0]}"
        return dict.fromkeys(("first", "second", "answer", "judge"), name), f"Ollama serves it at {_OLLAMA}"
    name = _SMALLEST
    return dict.fromkeys(("first", "second", "answer", "judge"), name), (
        "no key and no Ollama found: this one tries the plumbing only, its verdicts are worthless"
    )


def _ollama_models() -> list[str]:
    import urllib.request

    try:
        with urllib.request.urlopen(f"{_OLLAMA}/api/tags", timeout=0.5) as response:  # noqa: S310
            return sorted(str(model["name"]) for model in json.load(response)["models"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _experiment(models: dict[str, str], remark: str) -> str:
    from ragassay.experiment.settings import RetrievalSettings

    quota = {models["first"]: 100}
    quota.setdefault(models["second"], 100)
    writers = ", ".join(f"{json.dumps(name)} = {number}" for name, number in quota.items())
    ollama = remark.startswith("Ollama")
    address = f'\n[models.{json.dumps(models["judge"])}]\nbase_url = "{_OLLAMA}/v1"\n' if ollama else ""
    template = Template(Path(__file__).with_name("experiment.toml.txt").read_text(encoding="utf-8"))
    return template.substitute(
        remark=remark,
        quota=writers,
        embedding=json.dumps(_WITHOUT_NETWORK if models["judge"] == _SMALLEST else RetrievalSettings().embedding),
        answer=json.dumps(models["answer"]),
        judge=json.dumps(models["judge"]),
        own=address,
    )
