"""The nine stages, in the order in which data moves. `ragassay run` and the Makefile both go by it.

Each is declared in its room; what takes two rooms stands here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError, Obstacles
from ragassay.evaluate.stages import COMPARE, DRAW, EVALUATE, JUDGE, REPORT, check_what_evaluators_load, judge_prompts
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import Check, Load, Means, Stage
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.progress import Progress, counter
from ragassay.records import Passage, Query
from ragassay.retrieval.dependencies import rewrites_file, rewritings_for, screen_files, screen_settings
from ragassay.retrieval.stages import ANSWER, RETRIEVE
from ragassay.synth.stages import INGEST, graded_by, looks_in_corpus, of_quotes
from ragassay.synth.stages import QUESTIONS as WRITING

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

    pools: Any = None

    def pool(passages: Sequence[Passage], texts: Sequence[str], own: Sequence[Collection[str]]) -> Any:
        from ragassay.retrieval.retrievers import Pools

        nonlocal pools
        if pools is None or pools.passages is not passages:
            pools = Pools(workspace, passages, caller, counter(progress, "questions: passages embedded"))
        return pools.of(texts, own)

    def grade(pools: Sequence[tuple[Query, Sequence[Passage]]]) -> Any:
        from ragassay.evaluate.judging.asked_again import grade_pools

        return grade_pools(workspace, pools, caller)

    def goes_on() -> bool:
        from ragassay.evaluate.looks import goes_on

        return goes_on(workspace)

    return Means(caller, progress, embed_passages, embed_queries, pool, grade, goes_on)


UNANSWERED = 0.09
"""Of written questions that are looked up, the share that no passage answers: 19 of 199 claims of SciFact, 4 of 90."""


def _questions_foreseen(workspace: Workspace) -> list[Load]:
    from ragassay.evaluate.make_judgments import of_pools

    loads, settings = WRITING.foreseen(workspace) if WRITING.foreseen else [], workspace.experiment.questions
    if not looks_in_corpus(workspace.experiment):
        return loads
    asked = n_own = len(_own_queries(workspace))
    if settings.source != "own":
        chosen = ceil(sum(settings.quota.values()) / (1 - UNANSWERED))
        asked += min(chosen, settings.n_asked) if settings.from_needs else settings.n_asked
    return [*loads, *of_pools(workspace, asked), *of_quotes(workspace, n_own)]


QUESTIONS = replace(
    WRITING,
    uses=lambda w: [*WRITING.uses(w), *(judge_prompts(w) if looks_in_corpus(w.experiment) else ())],
    foreseen=_questions_foreseen,
)
"""With what the judge is asked by about evidence, where that is looked for in all passages."""


def _variants_lack(workspace: Workspace, run_code: bool) -> Collection[Check]:
    from ragassay.retrieval.variants.screen_variants import variant_checks

    return variant_checks(workspace, run_code=run_code)


def _screening_foreseen(workspace: Workspace) -> list[Load]:
    from ragassay.retrieval.variants.screen_variants import screening_foreseen

    loads = screening_foreseen(workspace)
    if looks_in_corpus(workspace.experiment):
        from ragassay.evaluate.make_judgments import of_finalists

        loads += of_finalists(workspace)
    return loads


def _screen(workspace: Workspace, means: Means) -> StageOutcome:
    from ragassay.evaluate.report.screening import write_screen_page
    from ragassay.evaluate.screening.screen import check_evidence, screen
    from ragassay.retrieval.variants.screen_variants import screen_variants
    from ragassay.retrieval.variants.searching import rewritten_by_models

    check_evidence(workspace)
    told = counter(means.progress, "screen: variants")
    encoded = counter(means.progress, "screen: texts encoded")
    ran = screen_variants(workspace, means.caller, told, rewritten_by_models(workspace, means.caller), encoded)
    said = screen(workspace, means.grade if looks_in_corpus(workspace.experiment) else None)
    write_screen_page(workspace)
    return replace(ran, notices=(*ran.notices, *said.notices), n_failed=ran.n_failed + said.n_failed)


SCREEN = Stage(
    "screen",
    needs=lambda w: [w.passages, w.pages, w.queries],
    uses=lambda w: [
        *(w.own_qrels, *screen_files(w)),
        *([w.found, *judge_prompts(w)] if looks_in_corpus(w.experiment) else []),
    ],
    settings=lambda e: {
        **screen_settings(e),
        **({"questions.evidence": "corpus", **graded_by(e)} if looks_in_corpus(e) else {}),
    },
    makes=lambda w: [
        *(w.screening_runs, w.screen, w.screen_page),
        *([w.found_deeper] if looks_in_corpus(w.experiment) else []),
        *(w.screening / f"{variant.name}.trec" for variant in w.experiment.variants.all),
        *(rewrites_file(w, one) for one in rewritings_for(w.experiment)),
    ],
    run=_screen,
    models=lambda e: {one.model for one in rewritings_for(e)} | set(e.judge.models if looks_in_corpus(e) else ()),
    foreseen=_screening_foreseen,
    lacks=_variants_lack,
    applies=lambda e: bool(e.retriever),
)
"""Finalists' passages are graded by the judge where evidence is looked for in all passages."""


def _evaluators_lack(workspace: Workspace, run_code: bool) -> Iterator[Check]:
    del run_code
    if workspace.experiment.evaluates:
        yield partial(check_what_evaluators_load, workspace, _own_queries(workspace))


def _own_queries(workspace: Workspace) -> Sequence[Query]:
    from ragassay.synth.questions.own import read_test_set

    if workspace.experiment.questions.source == "synthetic":
        return ()
    try:
        return read_test_set(workspace).queries
    except InputError:  # said by another check
        return ()


STAGES = (
    *(INGEST, QUESTIONS, DRAW, SCREEN, RETRIEVE, ANSWER, JUDGE),
    *(replace(EVALUATE, lacks=_evaluators_lack), COMPARE, REPORT),
)


def stages_of(experiment: Experiment) -> tuple[Stage, ...]:
    """Those that an experiment has: without a [[retriever]] nothing is screened."""
    return tuple(stage for stage in STAGES if stage.applies(experiment))


_SHARE_OF_DOCUMENTS = 2.0
_LEAST_ROOM = 20_000_000
"""What ingest writes is the text three times over: 1.3 times the PDF of avr-libc's manual; in bytes."""


def refuse(found: Sequence[InputError]) -> None:
    """Raises Obstacles where there are any."""
    if found:
        raise Obstacles(found)


def file_obstacles(workspace: Workspace) -> list[InputError]:
    """What is wrong with the user's own files, evaluators and disk; no stage can go on without it."""
    checks = [check for stage in STAGES for check in stage.files(workspace)]
    return _found([*checks, partial(_check_results, workspace)])


def asking_obstacles(workspace: Workspace, stages: Sequence[Stage], *, run_code: bool = False) -> list[InputError]:
    """What these stages lack once a model is to be asked: keys, servers, parts of the installation, the user's systems.

    Where every reply is at hand none of it is needed. No model is called and no key sent; the user's own code is only
    read, unless it may `run_code`.
    """
    from ragassay.models.endpoint import base_url_of, check_model

    checks: list[Check] = []
    by_address: dict[str, Check] = {}
    for model in models_called(workspace, stages):
        settings = workspace.experiment.settings_of(model)
        checks.append(partial(check_model, model, settings))
        if address := base_url_of(model, settings):
            from ragassay.models.servers import check_reachable

            by_address.setdefault(address, partial(check_reachable, model, settings))
    checks += by_address.values()
    checks += [check for stage in stages for check in stage.lacks(workspace, run_code)]
    return _found(checks)


def _found(checks: Sequence[Check]) -> list[InputError]:
    """What the checks raise, each sentence once."""
    found: dict[str, InputError] = {}
    for check in checks:
        try:
            check()
        except InputError as error:
            found.setdefault(str(error), error)
    return list(found.values())


def _check_results(workspace: Workspace) -> None:
    """The results folder can be made and written to, and has room for what ingest is about to write."""
    folder = next(place for place in (workspace.results, *workspace.results.absolute().parents) if place.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        why = "may not be written to" if folder.is_dir() else "is not a folder"
        remedy = "mend this, or name another folder with --results"
        raise InputError(f"cannot be used ({folder} {why})", file=workspace.results, remedy=remedy)
    if workspace.passages.exists():
        return
    from ragassay.synth.documents.doc_ids import document_files

    try:
        documents = document_files(workspace)
    except InputError:  # said by another check
        return
    size = sum((workspace.corpus / document).stat().st_size for document in documents)
    wanted, free = max(_LEAST_ROOM, _SHARE_OF_DOCUMENTS * size), shutil.disk_usage(folder).free
    if free < wanted:
        problem = f"{free / 1e6:,.0f} MB are free there, and the documents' text takes about {wanted / 1e6:,.0f} MB"
        raise InputError(problem, file=workspace.results, remedy="make room, or name another folder with --results")


def models_called(workspace: Workspace, stages: Sequence[Stage]) -> list[str]:
    """The models that the stages would call, sorted."""
    return sorted({model for stage in stages for model in stage.models(workspace.experiment)})
