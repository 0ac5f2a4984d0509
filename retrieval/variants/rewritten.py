"""What a model rewrites for the variants of an experiment, before any of them searches."""

from __future__ import annotations

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import Workspace

from ..rank_queries import read_queries
from ..rewriting.rewrite_queries import rewrite_for_variants, searched_by
from .searching import RewrittenBy


def rewritten_by_models(workspace: Workspace, caller: Caller) -> RewrittenBy:
    """For a variant, what it searches for each query; `rewrites/WAY….jsonl` is written.

    Nothing is asked where no variant wants it. Raises what the caller does.
    """
    queries = read_queries(workspace)
    return searched_by(rewrite_for_variants(workspace, queries, caller), queries, workspace.experiment)
