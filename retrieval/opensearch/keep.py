"""The indexes of ours that a server keeps: listed, and removed when asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.errors import InputError
from ragassay.text import plain

from .about import PREFIX, About
from .client import Server
from .index import read_about


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
