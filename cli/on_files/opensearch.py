"""`ragassay opensearch list` and `remove`: the indexes that a server keeps."""

from __future__ import annotations

import argparse

from ragassay.errors import InputError
from ragassay.text import plain

from ..options import Verbs, add_verb
from .server import add_server, server_settings


def add_opensearch(verbs: Verbs) -> None:
    """The verb and its options."""
    help_text = "list the indexes that ragassay made on an OpenSearch server, or remove some"
    verb = add_verb(verbs, "opensearch", help_text, run_opensearch)
    verb.add_argument("action", choices=["list", "remove"], help="what to do")
    verb.add_argument("--index", action="append", default=[], metavar="NAME", help="with remove: which; repeatable")
    verb.add_argument("--old", action="store_true", help="with remove: each that another index took the alias from")
    add_server(verb)


def run_opensearch(options: argparse.Namespace) -> int:
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


def _line(index: str, about: object, aliases: tuple[str, ...], size_bytes: int | None) -> str:
    from ragassay.retrieval.opensearch.about import About

    size = f"{size_bytes / 1e6:.1f} MB" if size_bytes is not None else "size unknown"
    if not isinstance(about, About):
        return f"{index}: {size}, without a description"
    state = "complete" if about.complete else "incomplete"
    holds = f"{about.n_passages} passages, {about.language}, {about.embedding or 'no vectors'}"
    return f"{index}: {holds}, {size}, {state}, " + (f"alias {', '.join(aliases)}" if aliases else "no alias")
