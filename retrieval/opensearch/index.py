"""Making an index: once for each corpus and settings, from where a killed run stopped, with an alias at its end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import digest_bytes, write_records
from ragassay.models.requests import in_parts
from ragassay.records import Passage, Record
from ragassay.text import plain

from ..rankers.analysis import Analyzer
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import indexed_text
from .about import ABOUT, PREFIX, About, index_body
from .client import NotAllowed, Server, is_full_disk, is_passing, reason_of, shown

MAX_ITEMS, MAX_BYTES = 500, 8_000_000
"""Of one request; a single passage may be longer."""

_CONFLICT = 409  # it is there already: an earlier sending of the same request arrived


class Rejection(Record):
    """A passage that the server would not take: HTTP status, kind and reason, in its words."""

    passage: str
    status: int
    kind: str
    reason: str


def send(server: Server, index: str, documents: Mapping[str, Mapping[str, Any]]) -> list[Rejection]:
    """Create documents by _id; one that is there already is left as it is.

    A request or an item that met a busy server (429, 503) is sent again. Returns what the server refused for good.
    Raises InputError where it would refuse everything (login, disk), or was busy to the last.
    """
    lines = {
        identifier: f"{json.dumps({'create': {'_id': identifier}})}\n{json.dumps(document, allow_nan=False)}\n"
        for identifier, document in documents.items()
    }
    batches = in_parts(lines.items(), lambda line: len(line[1]), MAX_BYTES, MAX_ITEMS)
    return [rejection for batch in batches for rejection in _send_batch(server, index, dict(batch))]


def _send_batch(server: Server, index: str, pending: Mapping[str, str]) -> list[Rejection]:
    rejected = list[Rejection]()
    for attempt in range(server.retries + 1):
        body = "".join(pending.values())
        reply = server.call(lambda client, body=body: client.bulk(body=body, index=index))  # type: ignore[misc]
        busy, refused = _sort(server, reply["items"])
        rejected += refused
        if not busy:
            return rejected
        if attempt == server.retries:
            raise server.refusal(*next(iter(busy.values())))
        pending = {identifier: pending[identifier] for identifier in busy}
        server.pause(attempt)
    raise AssertionError("the last attempt returns or raises")


def _sort(server: Server, items: Sequence[Mapping[str, Any]]) -> tuple[dict[str, tuple[int, str]], list[Rejection]]:
    """({_id: (status, reason)} of what is to be sent again, what is refused for good)."""
    busy, refused = dict[str, tuple[int, str]](), list[Rejection]()
    for item in items:
        (result,) = item.values()
        status = int(result["status"])
        if status < 300 or status == _CONFLICT:
            continue
        reason = reason_of(result)
        if status in {401, 403} or is_full_disk(reason):
            raise server.refusal(status, reason)
        if is_passing(status, reason):
            busy[result["_id"]] = (status, reason)
        else:
            kind = str(result["error"]["type"])
            refused.append(Rejection(passage=result["_id"], status=status, kind=kind, reason=shown(reason)))
    return busy, refused


CHUNK = 512
"""Passages analyzed, embedded and looked up at a time."""

LONGEST_TERM = 200
"""Characters; a longer term is indexed and searched by its digest, since Lucene refuses terms above 32,766 bytes."""


@dataclass(frozen=True)
class Sources:
    """What an index is made from: passages (gone through again each time), the terms of each field, their vectors."""

    passages: Iterable[Passage]
    analyzers: Mapping[str, Analyzer]
    embedder: Embedder | None
    replicas: int | None = None


def ensure_index(
    server: Server, about: About, sources: Sources, rejected: Path, progress: Progress | None = None
) -> About:
    """The description of the complete index that `about` asks for, which is made, or gone on with, if it is not there.

    What is in the index already is neither embedded nor sent. Passages that the server refuses are written to the file
    `rejected`, and the index is left incomplete. Raises InputError then, and where the server cannot be used.
    """
    known = read_about(server, about.index)
    if known is not None and known.complete:
        _check_count(server, known)
        _point_alias(server, about.index, about.alias, needed=False)
        return known
    about = _begin(server, about, known, sources)
    if rejections := _fill(server, about, sources, fresh=known is None, progress=progress):
        write_records(rejected, rejections)
        said = f"{len(rejections)} of {about.n_passages} passages; the first, '{plain(rejections[0].passage)}'"
        remedy = f"{rejected} has them all"
        raise InputError(f"OpenSearch refused {said}: {rejections[0].reason}", remedy=remedy)
    if rejected.is_file():  # never a device, whatever name was given
        rejected.unlink()
    index = about.index
    server.call(lambda client: client.indices.refresh(index=index))
    # one that was removed meanwhile and that a bulk made anew, with another mapping, has lost its description
    _check_count(server, about, lost=read_about(server, index) is None)
    _point_alias(server, index, about.alias, needed=True)
    complete = about.model_copy(update={"complete": True})
    _write_about(server, complete)
    return complete


def read_about(server: Server, index: str) -> About | None:
    """What the index (or that of an alias) says of itself; None where it is not there or says nothing of ours."""
    from opensearchpy.exceptions import NotFoundError

    try:
        found = server.call(lambda client: client.get(index=index, id=ABOUT))
    except NotFoundError:
        return None
    if not isinstance(found, Mapping) or "_index" not in found:
        raise server.not_opensearch()
    try:
        return About.model_validate((found.get("_source") or {}).get("about"))
    except ValidationError:
        return None


def existing_index(server: Server, name: str, about: About) -> About:
    """The description of an index that the user named. Raises InputError where it is not what a search needs."""
    known = read_about(server, name)
    shown = f"index '{plain(name)}' at {server.url}"
    if known is None:
        raise InputError(f"there is no {shown} that ragassay made", remedy="see `ragassay opensearch list`")
    if not known.complete:
        raise InputError(f"{shown} is not complete", remedy="run without opensearch.index to go on with it")
    if about.embedding is not None and known.embedding != about.embedding:
        made = f"with the embedding model {plain(known.embedding)}" if known.embedding else "without vectors"
        problem = f"{shown} was made {made}, and {plain(about.embedding)} is asked for"
        raise InputError(problem, remedy="name that model, or run without opensearch.index")
    for what in ("corpus", "language"):
        if getattr(known, what) != getattr(about, what):
            raise InputError(f"{shown} is of another {what}", remedy="run without opensearch.index")
    return known


def term_string(terms: Sequence[str]) -> str:
    """The terms with spaces between, as they are indexed and searched."""
    return " ".join(term if len(term) <= LONGEST_TERM else f"sha256:{digest_bytes(term.encode())}" for term in terms)


def filter_value(key: str, value: str) -> str:
    """How `key` = `value` of a passage's metadata is indexed."""
    return f"{key}={value}"


def _begin(server: Server, about: About, known: About | None, sources: Sources) -> About:
    """Create the index, if it is not there, and its description, with the number of dimensions."""
    dimension = None
    if sources.embedder is not None:
        first = next(iter(sources.passages))
        dimension = int(sources.embedder.vectors([Text("passage", indexed_text(first))]).shape[1])
    about = about.model_copy(update={"dimension": dimension})
    if known is None:
        body = index_body(about, sources.replicas)
        server.call(lambda client: _create(client, about.index, body))
        _write_about(server, about)
    elif known.dimension != dimension:
        problem = f"index '{about.index}' has {known.dimension} dimensions and the embedding model {dimension}"
        raise InputError(problem, remedy=f"`ragassay opensearch remove --index {about.index}`, and run again")
    return about


def _create(client: Any, index: str, body: Mapping[str, Any]) -> None:
    """Create it, or leave it where another run, or a first sending of this request, has just done so."""
    from opensearchpy.exceptions import RequestError

    try:
        client.indices.create(index=index, body=body)
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise


def _fill(server: Server, about: About, sources: Sources, *, fresh: bool, progress: Progress | None) -> list[Rejection]:
    done, rejections = 0, list[Rejection]()
    waiting = iter(sources.passages)
    while chunk := list(islice(waiting, CHUNK)):
        missing = chunk if fresh else _missing(server, about.index, chunk)
        rejections += send(server, about.index, _documents(missing, sources)) if missing else []
        done += len(chunk)
        if progress:
            progress(done, about.n_passages)
    return rejections


def _missing(server: Server, index: str, chunk: Sequence[Passage]) -> list[Passage]:
    """The passages that are not in the index, whether it has been refreshed or not."""
    ids = {"ids": [passage.id for passage in chunk]}
    reply = server.call(lambda client: client.mget(index=index, body=ids, _source=False))
    there = {doc["_id"] for doc in reply["docs"] if doc.get("found")}
    return [passage for passage in chunk if passage.id not in there]


def _documents(passages: Sequence[Passage], sources: Sources) -> dict[str, dict[str, Any]]:
    texts = [indexed_text(passage) for passage in passages]
    fields = {field: map(term_string, analyze(texts)) for field, analyze in sources.analyzers.items()}
    documents: dict[str, dict[str, Any]] = {}
    for passage in passages:
        terms = {field: next(strings) for field, strings in fields.items()}
        documents[passage.id] = {"id": passage.id, **terms, "metadata": list(_filterable(passage.metadata))}
    if sources.embedder is not None:
        vectors = sources.embedder.vectors([Text("passage", text) for text in texts])
        for document, vector in zip(documents.values(), vectors, strict=True):
            document["vector"] = vector.tolist()
    return documents


def _filterable(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Every text, number and truth value of the metadata, by its key; of a list each, of a table by dotted keys."""
    for key, value in metadata.items():
        if isinstance(value, Mapping):
            yield from _filterable({f"{key}.{inner}": part for inner, part in value.items()})
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, bool):
                yield filter_value(key, str(part).lower())
            elif isinstance(part, str | int | float):
                yield filter_value(key, str(part))


def _check_count(server: Server, about: About, *, lost: bool = False) -> None:
    """Raise InputError where the index does not hold the passages that its description says, or has lost that."""
    index, query = about.index, {"query": {"exists": {"field": "id"}}}
    count = int(server.call(lambda client: client.count(index=index, body=query))["count"])
    if lost or count != about.n_passages:
        problem = f"index '{index}' holds {count} passages of {about.n_passages}"
        raise InputError(problem, remedy=f"`ragassay opensearch remove --index {index}`, and run again")


def _write_about(server: Server, about: About) -> None:
    body = {"about": about.dump()}
    server.call(lambda client: client.index(index=about.index, id=ABOUT, body=body))


def _point_alias(server: Server, index: str, alias: str, *, needed: bool) -> None:
    """Move the alias to the index in one step; where it is not `needed`, a login that may not is let off."""
    from opensearchpy.exceptions import NotFoundError

    try:
        if server.call(lambda client: client.get(index=alias, id=ABOUT, _source=False))["_index"] == index:
            return
    except NotFoundError:
        pass
    remove = {"remove": {"index": f"{PREFIX}*", "alias": alias, "must_exist": False}}
    actions = {"actions": [remove, {"add": {"index": index, "alias": alias}}]}
    try:
        server.call(lambda client: client.indices.update_aliases(body=actions))
    except NotAllowed:
        if needed:
            raise


@dataclass(frozen=True)
class Kept:
    """An index on the server. about: None where it does not describe itself yet.

    aliases: what points to it; size_bytes: of all its copies, None where the server does not say.
    """

    index: str
    about: About | None
    aliases: tuple[str, ...]
    size_bytes: int | None

    @property
    def is_old(self) -> bool:
        """Whether it is complete and another index has taken its alias."""
        return self.about is not None and self.about.complete and not self.aliases

    @property
    def told(self) -> str:
        """A line on it, for `ragassay opensearch list`."""
        size = f"{self.size_bytes / 1e6:.1f} MB" if self.size_bytes is not None else "size unknown"
        if (about := self.about) is None:
            return f"{self.index}: {size}, without a description"
        state = "complete" if about.complete else "incomplete"
        holds = f"{about.n_passages} passages, {about.language}, {about.embedding or 'no vectors'}"
        aliases = f"alias {', '.join(self.aliases)}" if self.aliases else "no alias"
        return f"{self.index}: {holds}, {size}, {state}, {aliases}"


def kept_indexes(server: Server) -> list[Kept]:
    """Every index of ours, by name. Raises InputError."""
    pattern = f"{PREFIX}*"
    rows = server.call(lambda client: client.cat.indices(index=pattern, format="json", bytes="b", h="index,store.size"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise server.not_opensearch()
    aliases = server.call(lambda client: client.indices.get_alias(index=pattern))
    return [
        Kept(
            index=row["index"],
            about=read_about(server, row["index"]),
            aliases=tuple(sorted(aliases.get(row["index"], {}).get("aliases", {}))),
            size_bytes=int(row["store.size"]) if row.get("store.size") else None,
        )
        for row in sorted(rows, key=lambda row: str(row["index"]))
    ]


def remove_indexes(server: Server, names: Sequence[str], *, old: bool) -> list[str]:
    """Remove the indexes named, and with `old` each that has lost its alias; what was removed.

    Raises InputError, with nothing removed, where one is not an index of ours.
    """
    kept = {entry.index: entry for entry in kept_indexes(server)}
    if unknown := [name for name in names if name not in kept]:
        problem = f"there is no index '{plain(unknown[0])}' of ragassay at {server.url}"
        raise InputError(problem, remedy="see `ragassay opensearch list`")
    chosen = sorted({*names, *(name for name, entry in kept.items() if old and entry.is_old)})
    for name in chosen:
        server.call(lambda client, name=name: client.indices.delete(index=name))  # type: ignore[misc]
    return chosen
