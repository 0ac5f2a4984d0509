"""The step of the questions stage that chooses the test set out of what was written, and holds it against experts'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.experiment.corpus import read_passages
from ragassay.experiment.workspace import Workspace
from ragassay.records import Query, QuestionsCheck

from ..questions.expert import ExpertQuestion
from .best_passage import Passages
from .choose import choose_queries
from .features import features_of
from .people import people
from .told_apart import questions_check


@dataclass(frozen=True)
class ByLooks:
    """The questions chosen, how they look beside the experts', and sentences for the user."""

    queries: Sequence[Query]
    check: QuestionsCheck
    notices: Sequence[str]


def choose_by_looks(workspace: Workspace, pool: Sequence[Query], experts: Sequence[ExpertQuestion]) -> ByLooks:
    """Choose from `pool` by the settings of `[questions]`. Raises InputError where the passages cannot be read."""
    language, settings = workspace.experiment.corpus.language, workspace.experiment.questions
    passages = Passages([passage.text for passage in read_passages(workspace.passages)], language)
    of_experts = [features_of(expert.text, passages, language) for expert in experts]
    of_pool = {query.id: features_of(query.text, passages, language) for query in pool}
    chosen = choose_queries(pool, of_pool, people(of_experts), settings)
    check = questions_check(
        of_experts,
        [of_pool[query.id] for query in chosen.queries],
        distance=chosen.distance,
        drawn=chosen.drawn,
        seed=settings.seed,
    )
    return ByLooks(chosen.queries, check, [*chosen.notices, *([check.said] if check.said else [])])
