"""The rows of texts, from the cache or made: what sparse and late-interaction rankers share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from ragassay.errors import InputError, MissingExtra
from ragassay.models.encoder_kinds import RowEncoder
from ragassay.text import plain

from ..rankers.embedding import CHUNK, Progress
from ..rankers.embedding_cache import Text
from .row_cache import RowCache, Rows, usable

Encode = Callable[[RowEncoder, Sequence[Text]], list[Rows]]
"""The rows of texts of one kind."""


class RowSource:
    """The rows of one model; it is loaded once, when a text needs it, with `load`, and asked by `encode`.

    `what` needs it, and is named where it cannot be had.
    """

    def __init__(
        self,
        model: str,
        cache: RowCache,
        load: Callable[[str], RowEncoder],
        encode: Encode,
        what: str,
        progress: Progress | None = None,
    ) -> None:
        self._model, self._cache, self._load, self._encode = model, cache, load, encode
        self._what, self._progress = what, progress
        self._encoder: RowEncoder | None = None

    def rows(self, texts: Collection[Text]) -> Iterator[Rows]:
        """The rows of each text, memory-mapped, after making those that are missing.

        `texts` are gone through several times. Raises InputError where the model cannot be loaded or gives what is no
        number, and MissingExtra where a text is not in the cache and sentence-transformers is not installed.
        """
        self._make(texts)
        known = self._cache.known()
        return (known[self._cache.key(text)] for text in texts)

    def _make(self, texts: Collection[Text]) -> None:
        known = self._cache.known()
        missing = {key: text for text in texts if (key := self._cache.key(text)) not in known}
        done = 0
        for kind in ("passage", "query"):
            owed = [(key, text) for key, text in missing.items() if text.kind == kind]
            for start in range(0, len(owed), CHUNK):
                keys, chunk = zip(*owed[start : start + CHUNK], strict=True)
                self._cache.add(keys, self._made(chunk, len(missing)))
                done += len(keys)
                if self._progress:
                    self._progress(done, len(missing))

    def _made(self, texts: Sequence[Text], n_missing: int) -> list[Rows]:
        clean = [Text(text.kind, text.text.encode("utf-8", "replace").decode()) for text in texts]
        made = self._encode(self._ready(n_missing), clean)
        if bad := next((text for text, rows in zip(clean, made, strict=True) if not usable(rows)), None):
            raise InputError(f"model '{plain(self._model)}' gives no usable numbers for '{plain(bad.text[:60])}'")
        return made

    def _ready(self, n_missing: int) -> RowEncoder:
        if self._encoder is None:
            try:
                self._encoder = self._load(self._model)
            except ModuleNotFoundError as error:
                what = f"{self._what} needs sentence-transformers for {n_missing} texts not yet encoded"
                raise MissingExtra(f"{what} ({error.name} is not installed), which", "local") from None
        return self._encoder
