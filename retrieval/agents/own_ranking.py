"""What a user's own retriever gives back, in the process that it runs in, made into ids with falling scores."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.own_code import said
from ragassay.text import plain

LARGEST_ID = 512
"""Characters."""


def ranking_system(target: object) -> Any:
    """The target, or how a LangChain retriever is asked: called with a query's text and k.

    Raises InputError for a function of other arguments; what is no function is given back.
    """
    if inspect.isroutine(target):
        _check_arguments(target)
        return target
    if target is None or inspect.isclass(target):
        return None
    from langchain_core.retrievers import BaseRetriever

    return (lambda query, k: target.invoke(query)) if isinstance(target, BaseRetriever) else target


def ranking_of(system: Callable[..., object], query: str, k: int) -> dict[str, Any]:
    """`ranking`, at most `k` pairs of id and score, best first, or `error`: what it raises or wrongly gives."""
    try:
        return {"ranking": own_ranking(system(query, k), k)}
    except BaseException as error:  # noqa: BLE001 - the user's own code may raise anything; it becomes the query's error
        return {"error": said(error)}


def own_ranking(given: object, k: int) -> list[tuple[str, float]]:
    """The first `k` of ids, (id, score) pairs or LangChain documents, each id once, at its first place.

    Where there are no scores, a passage gets 1/rank. Raises ValueError or TypeError, with a phrase for the user, for
    anything else, and for scores that are not finite or rise.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"a list of passage ids or of (id, score) is expected, not {type(given).__name__}")
    pairs = [_pair(item) for item in given]
    scores = [score for _, score in pairs if score is not None]
    if scores and len(scores) < len(pairs):
        raise ValueError("some passages have a score and others none")
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not a finite number")
    if any(later > earlier for earlier, later in pairwise(scores)):
        raise ValueError("the scores rise: give the best first, a higher score to a better one")
    first: dict[str, float | None] = {}
    for identifier, score in pairs:
        first.setdefault(identifier, score)
    ranked = [(i, 1 / rank if score is None else score) for rank, (i, score) in enumerate(first.items(), 1)]
    return sorted(ranked[:k], key=lambda pair: (-pair[1], pair[0]))


def _pair(item: object) -> tuple[str, float | None]:
    if isinstance(item, str):
        return _id(item), None
    if isinstance(item, Sequence) and len(item) == 2:
        if isinstance(item[1], bool | str | bytes) or not hasattr(item[1], "__float__"):
            raise TypeError(f"a score is a {type(item[1]).__name__}, not a number")
        return _id(item[0]), float(item[1])
    metadata = getattr(item, "metadata", None)
    if isinstance(metadata, dict):
        score = metadata.get("score")
        return _id(metadata.get("id") or getattr(item, "id", None)), None if score is None else float(score)
    raise TypeError(f"a passage id or (id, score) is expected, not {type(item).__name__}")


def _id(value: object) -> str:
    if isinstance(value, str) and 0 < len(value) <= LARGEST_ID:
        return value
    raise TypeError(f"a passage's id is {plain(repr(value))[:60]}, not its _id in corpus.jsonl")


def _check_arguments(function: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("query", 1)
    except TypeError:
        name = getattr(function, "__name__", "the function")
        raise InputError(
            f"{name} cannot be called with a query's text and k alone", remedy="give it these two parameters"
        ) from None
