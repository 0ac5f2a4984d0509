"""`ragassay opensearch list` and `remove`: the indexes that a server keeps."""

from __future__ import annotations

import argparse

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.settings import OpenSearchSettings
from ragassay.files import first_problem
from ragassay.text import plain


def opensearch(options: argparse.Namespace) -> int:
    """List the indexes of ours on a server, or remove those named and, with --old, those without an alias."""
    from ragassay.retrieval.opensearch.client import connect
    from ragassay.retrieval.opensearch.keep import kept_indexes, remove_indexes

    server = connect(options.url, server_settings(options))
    if options.action == "list":
        if options.index or options.old:
            raise InputError("`ragassay opensearch list` takes no --index and no --old")
        for entry in kept_indexes(server):
            print(plain(_line(entry.index, entry.about, entry.aliases, entry.size_bytes)))
        return 0
    if not options.index and not options.old:
        raise InputError("nothing to remove", remedy="give --index NAME (see `ragassay opensearch list`) or --old")
    for name in remove_indexes(server, options.index, old=options.old):
        print(f"removed {plain(name)}")
    return 0


def server_settings(options: argparse.Namespace) -> OpenSearchSettings:
    """The settings that the options of a verb give, the rest by default."""
    given = {
        "hybrid": getattr(options, "hybrid", None),
        "knn_engine": getattr(options, "knn_engine", None),
        "ef_search": getattr(options, "ef_search", None),
        "index": getattr(options, "index_name", None),
        "aws_region": options.aws_region,
        "filter": _filter(getattr(options, "filter", None) or []),
    }
    try:
        return OpenSearchSettings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise InputError(first_problem(error).replace("_", "-"), remedy="correct the option of that name") from None


def _filter(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if not pair.partition("=")[1]:
            raise InputError(f"--filter '{plain(pair)}' is not KEY=VALUE")
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _line(index: str, about: object, aliases: tuple[str, ...], size_bytes: int | None) -> str:
    from ragassay.retrieval.opensearch.about import About

    size = f"{size_bytes / 1e6:.1f} MB" if size_bytes is not None else "size unknown"
    if not isinstance(about, About):
        return f"{index}: {size}, without a description"
    state = "complete" if about.complete else "incomplete"
    holds = f"{about.n_passages} passages, {about.language}, {about.embedding or 'no vectors'}"
    return f"{index}: {holds}, {size}, {state}, " + (f"alias {', '.join(aliases)}" if aliases else "no alias")
