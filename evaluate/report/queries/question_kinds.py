"""The report's line on kinds of questions: what the test set has of each, beside the share that was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragassay.records import Query
from ragassay.text import one_line

from ...inputs.sources import writer


def kinds_line(queries: Sequence[Query], asked: Mapping[str, float]) -> str:
    """`Of 36 written queries by kind, with the share asked for: 18 fact (50%), …`; "" where no kind is known.

    asked: the share of the written queries that each kind was to have; empty where none was asked for.
    """
    written = [query for query in queries if writer(query)]
    n = Counter(str(query.metadata.get("kind") or "") for query in written)
    unknown = n.pop("", 0)
    if not n or not asked:
        return ""
    named = [kind for kind, share in asked.items() if share > 0 or n[kind]] + sorted(set(n) - set(asked))
    told = [f"{n[kind]:,} {one_line(kind)} ({100 * asked.get(kind, 0.0):.3g}%)" for kind in named]
    told += [f"{unknown:,} of no known kind"] if unknown else []
    return f"Of {len(written):,} written queries by kind, with the share asked for: {', '.join(told)}"
