"""Making an index: once for each corpus and settings, from where a killed run stopped, with an alias at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.digests import digest_bytes
from ragassay.errors import InputError
from ragassay.files import write_records
from ragassay.records import Passage
from ragassay.text import plain

from ..rankers.analysis import Analyzer
from ..rankers.embedding import Embedder, Progress
from ..rankers.embedding_cache import Text
from ..rankers.ranker import indexed_text
from .about import ABOUT, PREFIX, About, index_body
from .bulk import Rejection, send
from .client import Server
from .errors import NotAllowed

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
    rejections = _fill(server, about, sources, fresh=known is None, progress=progress)
    if rejections:
        write_records(rejected, rejections)
        said = f"{len(rejections)} of {about.n_passages} passages; the first, '{plain(rejections[0].passage)}'"
        remedy = f"{rejected} has them all"
        raise InputError(f"OpenSearch refused {said}: {rejections[0].reason}", remedy=remedy)
    if rejected.is_file():  # never a device, whatever name was given
        rejected.unlink()
    return _finish(server, about)


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
    about = about.model_copy(update={"dimension": _dimension(sources)})
    if known is not None:
        if known.dimension != about.dimension:
            problem = (
                f"index '{about.index}' has {known.dimension} dimensions and the embedding model {about.dimension}"
            )
            raise InputError(problem, remedy=f"`ragassay opensearch remove --index {about.index}`, and run again")
        return about
    body = index_body(about, sources.replicas)
    server.call(lambda client: _create(client, about.index, body))
    _write_about(server, about)
    return about


def _create(client: Any, index: str, body: Mapping[str, Any]) -> None:
    """Create it, or leave it where another run, or a first sending of this request, has just done so."""
    from opensearchpy.exceptions import RequestError

    try:
        client.indices.create(index=index, body=body)
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise


def _dimension(sources: Sources) -> int | None:
    if sources.embedder is None:
        return None
    first = next(iter(sources.passages))
    return int(sources.embedder.vectors([Text("passage", indexed_text(first))]).shape[1])


def _fill(server: Server, about: About, sources: Sources, *, fresh: bool, progress: Progress | None) -> list[Rejection]:
    done, rejections = 0, list[Rejection]()
    for chunk in _chunks(sources.passages):
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
    documents: dict[str, dict[str, Any]] = {
        passage.id: {
            "id": passage.id,
            **{field: next(terms) for field, terms in fields.items()},
            "metadata": list(_filterable(passage.metadata)),
        }
        for passage in passages
    }
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


def _finish(server: Server, about: About) -> About:
    """Count what is there, point the alias to it, and only then call it complete.

    An index that was removed meanwhile and that a bulk made anew, with another mapping, has lost its description.
    """
    index = about.index
    server.call(lambda client: client.indices.refresh(index=index))
    _check_count(server, about, lost=read_about(server, index) is None)
    _point_alias(server, index, about.alias, needed=True)
    complete = about.model_copy(update={"complete": True})
    _write_about(server, complete)
    return complete


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


def _chunks(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    chunk = list[Passage]()
    for passage in passages:
        chunk.append(passage)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
