"""`[ingest]`: which documents are read, how, and how they are cut."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, model_validator

from .table import Table


class IngestSettings(Table):
    """kinds: of documents in the corpus folder, or passages alone, which are taken as they are from `corpus.jsonl`.
    loader: `module:name`, what gives the documents in place of the folder. ocr: recognise the text of scanned PDFs.
    """

    reader: Literal["auto", "pdfium", "pypdf"] = "auto"
    kinds: tuple[Literal["pdf", "markdown", "text", "html", "docx", "passages"], ...] = Field(("pdf",), min_length=1)
    loader: str | None = None
    ocr: bool = False
    section_tokens: int = Field(2000, ge=50)
    section_pages: int = Field(10, ge=1)
    passage_words: int = Field(200, ge=10)
    passage_overlap_words: int = Field(40, ge=0)

    @model_validator(mode="after")
    def _go_together(self) -> IngestSettings:
        if self.passage_overlap_words >= self.passage_words:
            raise ValueError("passage_overlap_words must be smaller than passage_words")
        if "passages" in self.kinds and len(set(self.kinds)) > 1:
            raise ValueError('kinds has "passages" alone, or kinds of documents')
        if self.loader is not None and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", self.loader):
            raise ValueError('loader is written as "module:name"')
        if self.loader and self.kinds != ("pdf",):
            raise ValueError("loader gives the documents, kinds does not go with it")
        return self

    @property
    def ready(self) -> bool:
        """Whether passages are taken as they are."""
        return self.kinds == ("passages",)

    def shaping(self) -> dict[str, Any]:
        """The settings by which a stage is told to run again; those that came later only where they are set."""
        later = {key: value for key, value in _LATER.items() if getattr(self, key) == value}
        return self.model_dump(mode="json", exclude=set(later))


_LATER: dict[str, Any] = {"kinds": ("pdf",), "loader": None, "ocr": False}
