"""The reranker that a name stands for, and whether it can be had.

`rerank:NAME` is a server's, `openai:…`, `anthropic:…`, `local:…` and `file:…` are chat models that order lists,
`python:module:name` is the user's own, and anything else a cross-encoder, by folder or hub name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.own_code import check_own_object, is_own
from ragassay.experiment.table import MODEL_PATTERN
from ragassay.experiment.workspace import Workspace
from ragassay.models.cross_encoders import check_pair_scorer
from ragassay.models.endpoint import PROVIDERS, check_model
from ragassay.models.reachable import check_reachable, why_unreachable
from ragassay.models.rerank_server import PREFIX, RerankServer, check_rerank_server
from ragassay.text import plain

from ..rankers.embedding import model_identity
from .compressor import CompressorReranker
from .cross_encoder import CrossEncoderReranker, Progress
from .listwise import ListwiseReranker
from .reranker import Reranker
from .score_cache import ScoreCache
from .server import ServerReranker

Kind = Literal["cross-encoder", "server", "listwise", "python"]


def kind_of(name: str) -> Kind:
    """What a reranker's name stands for. Raises InputError for a provider that does not exist."""
    if Path(name).is_dir() or not re.match(MODEL_PATTERN, name):
        return "cross-encoder"
    if name.startswith(PREFIX):
        return "server"
    if is_own(name):
        return "python"
    if name.partition(":")[0] in PROVIDERS:
        return "listwise"
    known = f"{PREFIX}NAME, {':…, '.join(PROVIDERS)}:…, python:module:name"
    raise InputError(f"'{plain(name)}' names no reranker", remedy=f"write {known}, or a cross-encoder's name")


def open_reranker(name: str, workspace: Workspace, caller: Caller, progress: Progress | None = None) -> Reranker:
    """The reranker of that name; nothing is loaded or asked yet. Raises InputError where there can be none."""
    kind = kind_of(name)
    if kind == "server":
        return ServerReranker(RerankServer(name, workspace.experiment.settings_of(name)), caller)
    if kind == "listwise":
        return ListwiseReranker(name, caller)
    if kind == "python":
        check_own_object(name, workspace.corpus)
        return CompressorReranker(name, workspace.corpus)
    return CrossEncoderReranker(name, ScoreCache(model_identity(name), workspace.rerank_scores), progress=progress)


def check_reranker(name: str, workspace: Workspace) -> None:
    """Raises InputError where it could not rerank: no model, no key, no server, no module. Nothing is loaded."""
    kind, settings = kind_of(name), workspace.experiment.settings_of(name)
    if kind == "server":
        check_rerank_server(name, settings)
        if why := why_unreachable(f"{str(settings.base_url).rstrip('/')}/models"):
            problem = f"{plain(name)}: nobody answers at {plain(str(settings.base_url))} ({why})"
            raise InputError(problem, remedy="start the server there, or correct its base_url")
    elif kind == "listwise":
        check_model(name, settings)
        check_reachable(name, settings)
    elif kind == "python":
        check_own_object(name, workspace.corpus)
    else:
        check_pair_scorer(name)
