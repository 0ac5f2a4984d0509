"""A corpus read line by line, however often it is gone through, and the fingerprint of what is in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import check_record, first_problem
from ragassay.records import Passage
from ragassay.text import plain


class CorpusFile:
    """The passages of a `corpus.jsonl`, one at a time; each iteration reads the file anew.

    Iterating raises InputError with the line that is not a passage.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Passage]:
        try:
            with self.path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield self._passage(line, number)
        except FileNotFoundError:
            raise InputError("there is no such file", file=self.path) from None
        except (PermissionError, IsADirectoryError) as error:
            raise InputError(f"cannot be read ({error.strerror})", file=self.path) from None

    def _passage(self, line: bytes, number: int) -> Passage:
        try:
            passage = Passage.model_validate(json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8")))
        except ValidationError as error:
            raise InputError(first_problem(error), file=self.path, line=number) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON ({error})", file=self.path, line=number) from None
        check_record(passage, self.path, number)
        return passage


@dataclass(frozen=True)
class Fingerprint:
    """What a corpus holds: how many passages, and the SHA-256 over their ids, titles, texts and metadata, in order."""

    n_passages: int
    sha256: str


def fingerprint(passages: Iterable[Passage], file: Path | None = None) -> Fingerprint:
    """The fingerprint of `passages`.

    Raises InputError where there are none, two share an id, or one cannot be indexed: its id holds white space or is
    longer than the 512 bytes that OpenSearch takes, or its metadata are no JSON.
    """
    total, seen = hashlib.sha256(), set[str]()
    for passage in passages:
        _check_id(passage.id, seen, file)
        seen.add(passage.id)
        fields = (passage.id, passage.title, passage.text, passage.metadata)
        try:
            line = json.dumps(fields, sort_keys=True, allow_nan=False)
        except ValueError as error:
            raise InputError(
                f"the metadata of passage '{plain(passage.id)}' are no JSON ({error})", file=file
            ) from None
        total.update(line.encode() + b"\n")
    if not seen:
        raise InputError("holds no passages", file=file)
    return Fingerprint(len(seen), total.hexdigest())


def _check_id(identifier: str, seen: set[str], file: Path | None) -> None:
    if identifier in seen:
        raise InputError(f"two passages have the id '{plain(identifier)}'", file=file)
    if identifier.split() != [identifier]:
        raise InputError(f"the id '{plain(identifier)}' holds white space, which a TREC run cannot", file=file)
    if len(identifier.encode("utf-8", "surrogatepass")) > 512:
        raise InputError(f"the id '{plain(identifier[:40])}…' is longer than 512 bytes", file=file)
