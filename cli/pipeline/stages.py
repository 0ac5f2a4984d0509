"""The stage graph: what each stage reads, depends on and writes. `ragassay run` and the Makefile both go by it.

Which settings and prompts a stage depends on, its folder's `dependencies` say; what runs it is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.evaluate import dependencies as evaluate
from ragassay.evaluate.report.dependencies import report_settings, report_templates
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.models.endpoint import provider_of
from ragassay.progress import counter
from ragassay.retrieval import dependencies as retrieval
from ragassay.synth import dependencies as synth

from .manifest import told_of

if TYPE_CHECKING:
    from ragassay.calls.caller import Caller


@dataclass(frozen=True)
class Stage:
    """One stage. `needs` must be there, `uses` may be; `settings` are the tables of experiment.toml that matter."""

    name: str
    needs: Callable[[Workspace], list[Path]]
    uses: Callable[[Workspace], list[Path]]
    settings: Callable[[Experiment], dict[str, Any]]
    makes: Callable[[Workspace], list[Path]]
    run: Callable[[Workspace, Caller], StageOutcome]


def stages() -> tuple[Stage, ...]:
    """All stages, in the order in which data moves."""
    return (_ingest(), _questions(), _screen(), _retrieve(), _answer(), _judge(), _evaluate(), _compare(), _report())


def _documents(workspace: Workspace) -> list[Path]:
    from ragassay.synth.documents.doc_ids import document_files

    return [workspace.corpus / doc for doc in document_files(workspace)]


def _ingest() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        del caller
        from ragassay.synth.ingest import ingest

        progress = counter(told_of(workspace, "ingest"), "ingest: pages")
        if not synth.embeds_to_cut(workspace.experiment):
            return ingest(workspace, progress)
        from ragassay.retrieval.retrievers import passage_embedding

        return ingest(workspace, progress, passage_embedding(workspace))

    return Stage(
        "ingest",
        needs=lambda w: [],
        uses=lambda w: [*_documents(w), *synth.own_cuts(w)],
        settings=synth.ingest_settings,
        makes=lambda w: [
            *(w.pages, w.sections, w.passages, w.unreadable, w.suspicious_pages, w.suspicious_pages),
            *([w.readers] if w.experiment.ingest.reader == "auto" else []),
        ],
        run=run,
    )


def _questions() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.synth.make_questions import make_questions

        if not (synth.chooses(workspace.experiment) and synth.embeds(workspace.experiment)):
            return make_questions(workspace, caller)
        from ragassay.retrieval.retrievers import embed_queries

        return make_questions(workspace, caller, partial(embed_queries, workspace, caller=caller))

    return Stage(
        "questions",
        needs=lambda w: [w.sections, *synth.chosen_by(w)],
        uses=lambda w: [w.expert_questions, w.own_queries, *synth.questions_prompts(w), *synth.decided_by_people(w)],
        settings=synth.questions_settings,
        makes=lambda w: [w.pool, w.rejected, w.queries, w.ledger, *synth.chosen_check(w), *synth.roles_written(w)],
        run=run,
    )


def stages_of(experiment: Experiment) -> tuple[Stage, ...]:
    """Those that an experiment has: without a [[retriever]] nothing is screened."""
    return tuple(stage for stage in stages() if stage.name != "screen" or experiment.retriever)


def _screen() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.evaluate.report.screening import write_screen_page
        from ragassay.evaluate.screening.screen import check_evidence, screen
        from ragassay.retrieval.variants.screen_variants import screen_variants
        from ragassay.retrieval.variants.searching import rewritten_by_models

        check_evidence(workspace)
        told = counter(told_of(workspace, "screen"), "screen: variants")
        encoded = counter(told_of(workspace, "screen"), "screen: texts encoded")
        ran = screen_variants(workspace, caller, told, rewritten_by_models(workspace, caller), encoded)
        said = screen(workspace)
        write_screen_page(workspace)
        return replace(ran, notices=(*ran.notices, *said.notices))

    return Stage(
        "screen",
        needs=lambda w: [w.passages, w.pages, w.queries],
        uses=lambda w: [w.own_qrels, *retrieval.screen_files(w)],
        settings=retrieval.screen_settings,
        makes=lambda w: [
            w.screening_runs,
            w.screen,
            w.screen_page,
            *(w.screening / f"{v.name}.trec" for v in w.experiment.variants.all),
            *retrieval.rewrites_made(w),
        ],
        run=run,
    )


def _retrieve() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.retrieval.rank_queries import rank_queries

        what = "texts embedded" if workspace.experiment.retrieval.engine == "embedded" else "passages indexed"
        return rank_queries(workspace, caller, counter(told_of(workspace, "retrieve"), f"retrieve: {what}"))

    return Stage(
        "retrieve",
        needs=lambda w: [w.passages, w.queries, *retrieval.screened(w)],
        uses=retrieval.retrieve_prompts,
        settings=retrieval.retrieve_settings,
        makes=lambda w: [w.rewrites, *_timed(w), *_ranked(w), *retrieval.searches_made(w)],
        run=run,
    )


def _ranked(workspace: Workspace) -> list[Path]:
    """The rankings of agents that we answer for; one that is handed all documents has none."""
    whole = {agent.name for agent in workspace.experiment.table_agents() if agent.variant is None}
    return [workspace.rankings(name) for name in workspace.experiment.answered_agents() if name not in whole]


def _timed(workspace: Workspace) -> list[Path]:
    """Not for models that answer through files, whose replies are not timed."""
    models = {workspace.experiment.answer.model, *(agent.model for agent in workspace.experiment.table_agents())}
    return [] if {provider_of(model) for model in models} == {"file"} else [workspace.search_times]


def _answer() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.retrieval.answer_queries import answer_queries

        return answer_queries(workspace, caller, told_of(workspace, "answer"))

    return Stage(
        "answer",
        needs=lambda w: [
            w.passages,
            w.queries,
            *_ranked(w),
            *retrieval.searches_made(w),
        ],
        uses=lambda w: [w.rewrites, *_timed(w), *retrieval.answer_prompts(w), *retrieval.own_agents(w)],
        settings=retrieval.answer_settings,
        makes=lambda w: [
            *(w.answers(name) for name in w.experiment.agent_names()),
            *_answer_runs(w),
            *(w.rankings(agent.name) for agent in w.experiment.own_agents()),
        ],
        run=run,
    )


def _answer_runs(workspace: Workspace) -> list[Path]:
    if workspace.experiment.answer.repeats == 1:
        return []
    return [workspace.answer_runs(name) for name in workspace.experiment.answered_agents()]


def _judge() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.evaluate.make_judgments import make_judgments

        return make_judgments(workspace, caller)

    return Stage(
        "judge",
        needs=lambda w: [w.passages, w.queries, *(w.answers(name) for name in w.experiment.agent_names())],
        uses=_judge_uses,
        settings=evaluate.judge_settings,
        makes=lambda w: [w.relevance, w.qrels, w.pointwise, w.games, w.lists, w.repeats, *_of_judges(w)],
        run=run,
    )


def _of_judges(workspace: Workspace) -> list[Path]:
    """What each judge of a panel says by itself, and what a second judge says."""
    w, judge = workspace, workspace.experiment.judge
    paths = [path(name) for name in judge.panel for path in (w.judge_relevance, w.judge_pointwise)]
    second = [w.second_drawn, w.second_relevance, w.second_pointwise, w.second_games]
    return [*paths, *(second if judge.second else [])]


def _judge_uses(workspace: Workspace) -> list[Path]:
    """Prompts, and what a second judge's passages are drawn by."""
    names = workspace.experiment.agent_names() if workspace.experiment.judge.second else ()
    return [*evaluate.judge_prompts(workspace), *(workspace.rankings(name) for name in names)]


def _evaluate() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.evaluate.make_judgments import evaluate_answers

        return evaluate_answers(workspace, caller)

    return Stage(
        "evaluate",
        needs=lambda w: [w.passages, w.queries, *_answers(w), *(_answer_runs(w) if w.experiment.judges_runs else [])],
        uses=evaluate.evaluate_prompts,
        settings=evaluate.evaluate_settings,
        makes=lambda w: [
            w.judgments,
            *([w.judgment_runs] if w.experiment.judges_runs else []),
            *([w.judgment_replies] if w.experiment.evaluates and w.experiment.evaluate.keep_replies else []),
        ],
        run=run,
    )


def _compare() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        del caller
        from ragassay.evaluate.compare import compare

        return compare(workspace)

    return Stage(
        "compare",
        needs=lambda w: [w.queries, w.relevance, w.pointwise, w.games, w.judgments, *_answers(w)],
        uses=lambda w: [
            w.sections,
            w.passages,
            w.ledger,
            w.own_qrels,
            w.own_labels,
            *sorted(w.label_samples.glob("*.jsonl")),
            w.repeats,
            w.lists,
            *_of_judges(w),
            *(w.rankings(name) for name in w.experiment.agent_names()),
            *(
                w.manifests / f"{name}.json"
                for name in ("ingest", "questions", "retrieve", "answer", "judge", "evaluate")
            ),
        ],
        settings=evaluate.compare_settings,
        makes=lambda w: [w.figures, w.values],
        run=run,
    )


def _answers(workspace: Workspace) -> list[Path]:
    return [workspace.answers(name) for name in workspace.experiment.agent_names()]


def _report() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        del caller
        from ragassay.evaluate.report.page import report

        return report(workspace)

    return Stage(
        "report",
        needs=lambda w: [w.figures, w.queries, w.passages, w.relevance, w.pointwise, w.games, *_answers(w)],
        uses=_beside_the_report,
        settings=report_settings,
        makes=lambda w: [w.report],
        run=run,
    )


def _beside_the_report(workspace: Workspace) -> list[Path]:
    said = [workspace.validity] if workspace.validity.exists() else []
    checked = synth.chosen_check(workspace)
    there = [
        workspace.rewrites,
        workspace.unreadable,
        workspace.suspicious_pages,
        workspace.lists,
        *_screened(workspace),
        *checked,
        *said,
    ]
    return [*there, *report_templates()]


def _screened(workspace: Workspace) -> list[Path]:
    return [workspace.screen] if workspace.experiment.retriever else []
