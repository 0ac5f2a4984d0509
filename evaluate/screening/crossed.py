"""Settings as they are crossed: a hybrid has those of its members, under the members' kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KIND, OF, CHUNKING = "kind", "of", "chunking"
NAMES = ("name", "table")
"""What says nothing but which variant it is."""


def crossed(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each variant: `k1` of a hybrid's BM25 is `bm25.k1`, its `of` the kinds fused; a list is `0.3/0.7`.

    A hybrid shares its members' chunking. A member that is none of `names` leaves the hybrid's `of` as it is.
    """
    known = dict(zip(names, settings, strict=True))
    return [_with_members(row, known, depth=len(known)) for row in settings]


def _with_members(row: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]], depth: int) -> dict[str, Any]:
    flat = {key: _scalar(level) for key, level in row.items() if key not in NAMES}
    members = [known[name] for name in row.get(OF) or () if name in known]
    if not members or len(members) < len(row[OF]) or not depth:
        return flat
    flat[OF] = "+".join(str(member.get(KIND)) for member in members)
    for place, member in enumerate(members):
        kinds = [str(other.get(KIND)) for other in members]
        kind = kinds[place] if kinds.count(kinds[place]) == 1 else f"{kinds[place]}-{place + 1}"
        part = _with_members(member, known, depth - 1)
        flat |= {f"{kind}.{key}": level for key, level in part.items() if not _is_of_all(key)}
    return flat


def _is_of_all(key: str) -> bool:
    return key == KIND or key.split(".")[0] == CHUNKING


def _scalar(level: Any) -> Any:
    """Lists as text; all else as it is."""
    return "/".join(map(str, level)) if isinstance(level, list | tuple) else level
