"""`ragassay doctor [CORPUS]`: what is installed and at hand, and a sentence on the mend of what is not."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from ragassay import __version__
from ragassay.errors import InputError
from ragassay.experiment.stage import Stage
from ragassay.experiment.workspace import Workspace
from ragassay.text import plain

from ..pipeline.stages import asking_obstacles, file_obstacles, models_called
from ..terminal import add_corpus, add_json

Status = Literal["ok", "absent", "mend"]


@dataclass(frozen=True)
class Check:
    """What was looked at, and what of it: "ok", "absent" (and nothing needs it), or "mend", with the remedy."""

    what: str
    status: Status
    said: str


PACKAGES = ("anthropic", "bm25s", "langchain-core", "numpy", "openai", "pydantic", "pypdf", "pypdfium2", "scipy")
EXTRAS = {
    "local": ("huggingface_hub", "sentence_transformers", "torch", "xllamacpp"),
    "fast": ("onnx", "onnxruntime"),
    "opensearch": ("opensearchpy",),
    "evaluators": ("jsonschema", "py3langid", "re2", "rouge_score", "sacrebleu"),
    "excel": ("openpyxl",),
    "documents": ("bs4", "docx", "markdownify"),
    "dask": ("dask", "distributed"),
    "ray": ("ray",),
    "remote": ("fsspec", "s3fs"),
    "pandas": ("pandas",),
    "mlflow": ("mlflow", "sqlalchemy", "alembic", "pandas"),
    "otlp": ("opentelemetry",),
    "inspect": ("inspect_ai",),
}
"""The modules that show whether an extra is installed."""

PROGRAMS = {"ocrmypdf": "recognises the text of scanned PDFs"}
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
LEAST_FREE = 1_000_000_000
"""Bytes; with less, a run may well fill the disk."""


def check_installation() -> Iterator[Check]:
    """Versions, extras, keys (whether they are set, never what they are), programs and SQLite."""
    yield Check("python", "ok", platform.python_version())
    yield Check("ragassay", "ok", __version__)
    yield from map(_package, PACKAGES)
    yield from (_extra(name, modules) for name, modules in EXTRAS.items())
    yield from (_set(key) for key in KEYS)
    yield from (_program(name, what) for name, what in PROGRAMS.items())
    yield _full_text_search()


def check_disk(folder: Path) -> Check:
    """Room where results are written; `folder` need not be there yet."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    said = f"{free / 1e9:,.1f} GB are free at {plain(str(there))}"
    if free < LEAST_FREE:
        return Check("disk", "mend", f"{said}; make room, or name another folder with --results")
    return Check("disk", "ok", said)


def check_experiment(workspace: Workspace) -> Iterator[Check]:
    """Each model, OpenSearch, the caches, and whatever else `ragassay plan` would say stands in the way.

    Where replies are on record in the corpus folder, what is lacking for asking models is absent, not to be mended.
    """
    from ..pipeline.stages import stages_of

    stages = stages_of(workspace.experiment)
    recorded = workspace.shipped_replies.is_dir()
    said: set[str] = set()
    for check in _asked(workspace, stages, recorded):
        said.add(check.said.removesuffix(_ON_RECORD))
        yield check
    yield from (Check("corpus", "mend", str(one)) for one in file_obstacles(workspace))
    for one in asking_obstacles(workspace, stages):
        if str(one) not in said:
            yield _lacking("run", one, recorded)
    yield from _caches(workspace)


_ON_RECORD = " (needed only for replies that are not on record)"


def _asked(workspace: Workspace, stages: Sequence[Stage], recorded: bool) -> Iterator[Check]:
    for model in models_called(workspace, stages):
        yield _tried(f"model {model}", partial(_model, workspace, model), recorded)
    if workspace.experiment.retrieval.engine == "opensearch":
        yield _tried("opensearch", partial(_opensearch, workspace), recorded)


def _tried(what: str, look: Callable[[], str], recorded: bool) -> Check:
    try:
        return Check(plain(what), "ok", look())
    except InputError as error:
        return _lacking(plain(what), error, recorded)


def _lacking(what: str, error: InputError, recorded: bool) -> Check:
    return Check(what, "absent", f"{error}{_ON_RECORD}") if recorded else Check(what, "mend", str(error))


def _package(name: str) -> Check:
    try:
        return Check(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Check(name, "mend", f"is not installed; `pip install ragassay` brings {name}")


def _extra(name: str, modules: Sequence[str]) -> Check:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return Check(f"extra {name}", "ok", "installed")
    some = f"lacks {', '.join(missing)}" if len(missing) < len(modules) else "not installed"
    return Check(f"extra {name}", "absent", f'{some}; `pip install "ragassay[{name}]"` brings it')


def _set(key: str) -> Check:
    return Check(key, "ok", "is set") if os.environ.get(key) else Check(key, "absent", "is not set")


def _program(name: str, what: str) -> Check:
    if shutil.which(name):
        return Check(name, "ok", "installed")
    return Check(name, "absent", f"not installed; it {what}")


def _full_text_search() -> Check:
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
    except sqlite3.OperationalError:
        return Check("sqlite", "absent", f"{sqlite3.sqlite_version} without FTS5, which `ragassay serve` searches with")
    return Check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def _model(workspace: Workspace, model: str) -> str:
    """That it can be called, as far as can be told without a call. Raises InputError."""
    from ragassay.models.endpoint import base_url_of, check_model
    from ragassay.models.servers import check_reachable

    settings = workspace.experiment.settings_of(model)
    check_model(model, settings)
    check_reachable(model, settings)
    if address := base_url_of(model, settings):
        return f"somebody answers at {plain(address)}"
    provider = model.partition(":")[0]
    return {"local": "at hand", "file": "asked through files"}.get(provider, "its key is set")


def _opensearch(workspace: Workspace) -> str:
    """The server's version and those of its plugins that retrievers use. Raises InputError."""
    from ragassay.retrieval.search import check_plugins, connect

    experiment = workspace.experiment
    return check_plugins(connect(experiment.retrieval.url, experiment.opensearch), experiment)


def _caches(workspace: Workspace) -> Iterator[Check]:
    kept = {
        "replies": workspace.replies,
        "embeddings": workspace.embeddings,
        "rerank scores": workspace.rerank_scores,
        "workbench": workspace.workbench,
        "recognised PDFs": workspace.recognised,
    }
    for name, folder in kept.items():
        if folder.is_dir():
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            yield Check(f"cache of {name}", "ok", f"{size / 1e6:,.1f} MB in {plain(str(folder))}")


def add_doctor(verb: argparse.ArgumentParser) -> None:
    """Its options."""
    add_corpus(verb, needed=False)
    add_json(verb)


def run_doctor(options: argparse.Namespace) -> int:
    """Print what was looked at, a line each; status 2 where something that is needed is missing. Calls no model."""
    from ..terminal import print_json

    checks = list(_checks(options))
    if options.json:
        print_json([asdict(check) for check in checks])
    for check in [] if options.json else checks:
        print(plain(f"{check.status:7}{check.what}: {check.said}"))
    return InputError.exit_status if any(check.status == "mend" for check in checks) else os.EX_OK


def _checks(options: argparse.Namespace) -> Iterator[Check]:
    from ..pipeline.opening import open_workspace

    yield from check_installation()
    if options.corpus is None:
        yield check_disk(options.results if isinstance(options.results, Path) else Path())
        return
    try:
        workspace = open_workspace(options)
    except InputError as error:
        yield Check("experiment", "mend", str(error))
        return
    yield check_disk(workspace.results)
    yield from check_experiment(workspace)
