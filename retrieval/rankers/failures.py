"""What a ranker does where one query fails: the others keep their rankings, and the failed one its reason.

A `Ranker` that can fail for single queries raises `QueriesFailed`, which carries what was found for the others. So a
caller that does not know of failures stops at the first, and none takes a failure for a ranking of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.calls.served import Failed as Failed

from .ranker import Ranker, Ranking


class QueriesFailed(Exception):
    """Some queries have no ranking; `found` has for each query, in order, its ranking or why there is none."""

    def __init__(self, found: Sequence[Ranking | Failed]) -> None:
        errors = [row.error for row in found if isinstance(row, Failed)]
        super().__init__(f"{len(errors)} of {len(found)} queries have no ranking: {errors[0] if errors else ''}")
        self.found = list(found)


def search_each(ranker: Ranker, queries: Sequence[str], k: int) -> list[Ranking | Failed]:
    """What `ranker.search` finds, with the queries that failed in their places. Other errors are raised on."""
    try:
        return list(ranker.search(queries, k))
    except QueriesFailed as error:
        return error.found


def all_found(found: Sequence[Ranking | Failed]) -> list[Ranking]:
    """The rankings. Raises QueriesFailed where a query has none."""
    rankings = [row for row in found if not isinstance(row, Failed)]
    if len(rankings) < len(found):
        raise QueriesFailed(found)
    return rankings
