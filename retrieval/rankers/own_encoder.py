"""A LangChain `Embeddings` of the user's own as a model that embeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ragassay.errors import InputError
from ragassay.experiment.own_code import load_own_object, own_identity, said
from ragassay.text import plain


class OwnEncoder:
    """The object `python:module:name`, loaded when a text needs it; it gets texts as they are, without prefixes.

    It runs in this process: what it asks and pays is in no plan and no limit.
    """

    prompts: Mapping[str, str | None] = {"query": "", "document": ""}

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder, self.identity = name, folder, own_identity(name, folder)

    def encode_query(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any:
        """(texts, dimensions). Raises InputError with what the user's code raised."""
        del prompt, batch_size, show_progress_bar
        own = self._own
        return self._rows(lambda: [own.embed_query(text) for text in inputs], len(inputs))

    def encode_document(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any:
        """As `encode_query`."""
        del prompt, batch_size, show_progress_bar
        own = self._own
        return self._rows(lambda: own.embed_documents(list(inputs)), len(inputs))

    @cached_property
    def _own(self) -> Any:
        return load_own_object(self._name, self._folder, "embed_documents")

    def _rows(self, embed: Callable[[], Any], n: int) -> Any:
        try:
            rows = np.asarray(embed(), dtype=np.float32)
        except (Exception, SystemExit) as error:
            raise InputError(f"{plain(self._name)} cannot embed ({said(error)})") from error
        if rows.ndim != 2 or len(rows) != n:
            raise InputError(f"{plain(self._name)} gives an array of {rows.shape} for {n} texts")
        return rows
