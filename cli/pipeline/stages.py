"""The nine stages, in the order in which data moves. `ragassay run` and the Makefile both go by it.

Each is declared in its room; what takes two rooms stands here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.evaluate.stages import COMPARE, EVALUATE, JUDGE, REPORT, check_what_evaluators_load
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import Check, Load, Means, Stage
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.progress import Progress, counter
from ragassay.records import Query
from ragassay.retrieval.dependencies import screen_files, screen_settings
from ragassay.retrieval.rewriting import rewrites_file, rewritings_for
from ragassay.retrieval.stages import ANSWER, RETRIEVE
from ragassay.synth.stages import INGEST, QUESTIONS

if TYPE_CHECKING:
    from ragassay.calls.caller import Caller


def means_of(workspace: Workspace, caller: Caller, progress: Progress) -> Means:
    """What a stage is handed to run with; what embeds is imported when it is asked for."""

    def embed_passages() -> Any:
        from ragassay.retrieval.retrievers import passage_embedding

        return passage_embedding(workspace)

    def embed_queries(texts: Sequence[str]) -> Any:
        from ragassay.retrieval.retrievers import embed_queries

        return embed_queries(workspace, texts, caller=caller)

    return Means(caller, progress, embed_passages, embed_queries)


def _variants_lack(workspace: Workspace, run_code: bool) -> Collection[Check]:
    from ragassay.retrieval.variants.screen_variants import variant_checks

    return variant_checks(workspace, run_code=run_code)


def _screening_foreseen(workspace: Workspace) -> list[Load]:
    from ragassay.retrieval.foreseen import of_screening

    return of_screening(workspace)


def _screen(workspace: Workspace, means: Means) -> StageOutcome:
    from ragassay.evaluate.report.screening import write_screen_page
    from ragassay.evaluate.screening.screen import check_evidence, screen
    from ragassay.retrieval.variants.screen_variants import screen_variants
    from ragassay.retrieval.variants.searching import rewritten_by_models

    check_evidence(workspace)
    told = counter(means.progress, "screen: variants")
    encoded = counter(means.progress, "screen: texts encoded")
    ran = screen_variants(workspace, means.caller, told, rewritten_by_models(workspace, means.caller), encoded)
    said = screen(workspace)
    write_screen_page(workspace)
    return replace(ran, notices=(*ran.notices, *said.notices))


SCREEN = Stage(
    "screen",
    needs=lambda w: [w.passages, w.pages, w.queries],
    uses=lambda w: [w.own_qrels, *screen_files(w)],
    settings=screen_settings,
    makes=lambda w: [
        *(w.screening_runs, w.screen, w.screen_page),
        *(w.screening / f"{variant.name}.trec" for variant in w.experiment.variants.all),
        *(rewrites_file(w, one) for one in rewritings_for(w.experiment)),
    ],
    run=_screen,
    models=lambda e: {one.model for one in rewritings_for(e)},
    foreseen=_screening_foreseen,
    lacks=_variants_lack,
    applies=lambda e: bool(e.retriever),
)


def _evaluators_lack(workspace: Workspace, run_code: bool) -> Iterator[Check]:
    del run_code
    if workspace.experiment.evaluates:
        yield partial(check_what_evaluators_load, workspace, _own_queries(workspace))


def _own_queries(workspace: Workspace) -> Sequence[Query]:
    from ragassay.synth.questions.own import read_own_queries

    if workspace.experiment.questions.source == "synthetic":
        return ()
    try:
        return read_own_queries(workspace.own_queries)
    except InputError:  # said by another check
        return ()


STAGES = (
    *(INGEST, QUESTIONS, SCREEN, RETRIEVE, ANSWER, JUDGE),
    *(replace(EVALUATE, lacks=_evaluators_lack), COMPARE, REPORT),
)


def stages_of(experiment: Experiment) -> tuple[Stage, ...]:
    """Those that an experiment has: without a [[retriever]] nothing is screened."""
    return tuple(stage for stage in STAGES if stage.applies(experiment))
