"""How a model is asked: for reasons and labels, or for the probabilities of single tokens."""

from __future__ import annotations

from typing import Literal

from ragassay.errors import InputError
from ragassay.models.endpoint import gives_probabilities

from .engine.question import Mode


def mode_of(table: Literal["judge", "evaluate"], model: str, wished: Literal["auto", "label", "probability"]) -> Mode:
    """For probabilities where that is wished, and in "auto" of local models.

    A hosted model that gives probabilities is still asked for reasons and labels in "auto", since it judges well by
    them and the report shows the reasons. Raises InputError where the mode of `[table]` is not to be had of the model.
    """
    if wished == "label":
        return "label"
    gives = gives_probabilities(model)
    if wished == "probability" and not gives:
        raise InputError(
            f'{table}.mode is "probability", but {model} gives no token probabilities',
            remedy='set mode = "label" or "auto", or name another model',
        )
    return "probability" if gives and (wished == "probability" or model.startswith("local:")) else "label"
