"""`ragassay doctor [CORPUS]`: what is installed and at hand, and a sentence on the mend of what is not."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from ragassay import __version__
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.text import plain

from ..pipeline.stages import asking_obstacles, file_obstacles, models_called, stages_of
from ..terminal import add_shared, print_json

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
    for name in PACKAGES:
        try:
            yield Check(name, "ok", importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Check(name, "mend", f"is not installed; `pip install ragassay` brings {name}")
    for name, modules in EXTRAS.items():
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        some = f"lacks {', '.join(missing)}" if len(missing) < len(modules) else "not installed"
        lacking = f'{some}; `pip install "ragassay[{name}]"` brings it'
        yield Check(f"extra {name}", "absent" if missing else "ok", lacking if missing else "installed")
    for key in KEYS:
        yield Check(key, "ok", "is set") if os.environ.get(key) else Check(key, "absent", "is not set")
    for name, what in PROGRAMS.items():
        there = shutil.which(name)
        yield Check(name, "ok" if there else "absent", "installed" if there else f"not installed; it {what}")
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        yield Check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")
    except sqlite3.OperationalError:
        yield Check("sqlite", "absent", f"{sqlite3.sqlite_version} without FTS5, which `ragassay serve` searches with")


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
    stages = stages_of(workspace.experiment)
    recorded = workspace.shipped_replies.is_dir()

    def lacking(what: str, error: InputError) -> Check:
        return Check(what, "absent", f"{error}{_ON_RECORD}") if recorded else Check(what, "mend", str(error))

    looks = {f"model {one}": partial(_model, workspace, one) for one in models_called(workspace, stages)}
    if workspace.experiment.retrieval.engine == "opensearch":
        looks["opensearch"] = partial(_opensearch, workspace)
    said: set[str] = set()
    for what, look in looks.items():
        try:
            yield Check(plain(what), "ok", look())
        except InputError as error:
            said.add(str(error))
            yield lacking(plain(what), error)
    yield from (Check("corpus", "mend", str(one)) for one in file_obstacles(workspace))
    yield from (lacking("run", one) for one in asking_obstacles(workspace, stages) if str(one) not in said)
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


_ON_RECORD = " (needed only for replies that are not on record)"


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


def add_doctor(verb: argparse.ArgumentParser) -> None:
    add_shared(verb, "[CORPUS]", "--results", "--json")


def run_doctor(options: argparse.Namespace) -> int:
    """Print what was looked at, a line each; status 2 where something that is needed is missing. Calls no model."""
    from ..pipeline.opening import open_workspace

    checks = [*check_installation()]
    if options.corpus is None:
        checks.append(check_disk(options.results if isinstance(options.results, Path) else Path()))
    else:
        try:
            workspace = open_workspace(options)
        except InputError as error:
            checks.append(Check("experiment", "mend", str(error)))
        else:
            checks += [check_disk(workspace.results), *check_experiment(workspace)]
    if options.json:
        print_json([asdict(check) for check in checks])
    for check in [] if options.json else checks:
        print(plain(f"{check.status:7}{check.what}: {check.said}"))
    return InputError.exit_status if any(check.status == "mend" for check in checks) else os.EX_OK
