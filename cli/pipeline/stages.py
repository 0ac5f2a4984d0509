"""The stage graph: what each stage reads, depends on and writes. `ragassay run` and the Makefile both go by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay import __version__
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.progress import StderrProgress, counter

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


_JUDGE_PROMPTS = (
    "pairwise.md",
    "pairwise_token.md",
    "pointwise.md",
    "pointwise_token.md",
    "relevance.md",
    "relevance_token.md",
    "relevance_yes_no.md",
)


def stages() -> tuple[Stage, ...]:
    """All stages, in the order in which data moves."""
    return (_ingest(), _questions(), _retrieve(), _answer(), _judge(), _evaluate(), _compare(), _report())


def _pdfs(workspace: Workspace) -> list[Path]:
    from ragassay.synth.documents.doc_ids import find_documents

    return [workspace.corpus / doc for doc in find_documents(workspace.corpus, workspace.results)]


def _settings(experiment: Experiment, *tables: str, models: tuple[str, ...] = ()) -> dict[str, Any]:
    values: dict[str, Any] = {"ragassay": __version__}
    for table in tables:
        for key, value in getattr(experiment, table).model_dump(mode="json").items():
            values[f"{table}.{key}"] = value
    for model in models:
        shaping = {"base_url", "temperature", "max_tokens", "prices_usd_per_million"}
        settings = experiment.settings_of(model).model_dump(mode="json", include=shaping, exclude_none=True)
        values[f"models.{model}"] = settings
    return values


def _prompts(package: str, *names: str) -> list[Path]:
    folder = _inside(package) / "prompts"
    return [folder / name for name in names] if names else sorted(folder.glob("*.md"))


def _inside(folder: str) -> Path:
    """A folder of the package; it is installed as plain files."""
    return Path(str(files("ragassay"))) / folder


def _own(workspace: Workspace, *names: str | None) -> list[Path]:
    return [workspace.corpus / name for name in names if name]


def _ingest() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        del caller
        from ragassay.synth.ingest import ingest

        return ingest(workspace, counter(StderrProgress(), "ingest: pages"))

    return Stage(
        "ingest",
        needs=lambda w: [],
        uses=_pdfs,
        settings=lambda e: _settings(e, "ingest") | {"corpus.exclude_pages": e.corpus.exclude_pages},
        makes=lambda w: [w.pages, w.sections, w.passages, w.unreadable],
        run=run,
    )


def _questions() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.synth.make_questions import make_questions

        return make_questions(workspace, caller)

    return Stage(
        "questions",
        needs=lambda w: [w.sections],
        uses=lambda w: [
            w.expert_questions,
            w.own_queries,
            *_prompts(
                "synth/questions",
                "questions.md",
                *(["golden_answers.md"] if w.experiment.questions.golden_answers else []),
            ),
            *_own(w, w.experiment.questions.prompt),
        ],
        settings=lambda e: (
            _settings(e, "questions", models=tuple(sorted(e.questions.quota))) | {"corpus.language": e.corpus.language}
        ),
        makes=lambda w: [w.pool, w.rejected, w.queries, w.ledger],
        run=run,
    )


def _retrieve() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.retrieval.rank_queries import rank_queries

        what = "texts embedded" if workspace.experiment.retrieval.engine == "embedded" else "passages indexed"
        return rank_queries(workspace, caller, counter(StderrProgress(), f"retrieve: {what}"))

    return Stage(
        "retrieve",
        needs=lambda w: [w.passages, w.queries],
        uses=lambda w: [*_prompts("retrieval/agents", "rewrite.md"), *_own(w, w.experiment.answer.fusion_prompt)],
        settings=lambda e: (
            _retrieval_settings(e)
            | {f"answer.{key}": getattr(e.answer, key) for key in ("model", "agents", "fusion_queries")}
            | {"corpus.language": e.corpus.language}
        ),
        makes=lambda w: [w.rewrites, *(w.rankings(name) for name, _, _ in w.experiment.built_in_agents())],
        run=run,
    )


def _retrieval_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape rankings; how a server is reached does not, nor do its settings where none is used."""
    served = experiment.retrieval.engine == "opensearch"
    values = _settings(experiment, "retrieval", *(["opensearch"] if served else []), models=(experiment.answer.model,))
    reached = ("alias", "replicas", "timeout_s", "retries", "verify_certificates", "aws_region", "aws_service")
    left_out = {"retrieval.url", *(f"opensearch.{key}" for key in reached)}
    return {key: value for key, value in values.items() if key not in left_out}


def _answer() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.retrieval.answer_queries import answer_queries

        return answer_queries(workspace, caller)

    return Stage(
        "answer",
        needs=lambda w: [
            w.passages,
            w.queries,
            *(w.rankings(name) for name, _, _ in w.experiment.built_in_agents()),
        ],
        uses=lambda w: [
            w.rewrites,
            *_prompts("retrieval/agents", "answer.md"),
            *_own(w, w.experiment.answer.prompt, *(agent.path for agent in w.experiment.agent)),
            *_agent_modules(w),
        ],
        settings=lambda e: _answer_settings(e) | {"agent": [agent.model_dump() for agent in e.agent]},
        makes=lambda w: [
            *(w.answers(name) for name in w.experiment.agent_names()),
            *_answer_runs(w),
            *(w.rankings(agent.name) for agent in w.experiment.agent),
        ],
        run=run,
    )


def _answer_settings(experiment: Experiment) -> dict[str, Any]:
    values = _settings(experiment, "answer", models=(experiment.answer.model,))
    if experiment.answer.repeats == 1:
        del values["answer.repeats"]
    return values


def _answer_runs(workspace: Workspace) -> list[Path]:
    if workspace.experiment.answer.repeats == 1:
        return []
    return [workspace.answer_runs(name) for name, _, _ in workspace.experiment.built_in_agents()]


def _agent_modules(workspace: Workspace) -> list[Path]:
    names = [agent.callable for agent in workspace.experiment.agent if agent.callable]
    return [path for name in names for path in _module_files(workspace, name)]


def _module_files(workspace: Workspace, name: str) -> list[Path]:
    """The user's code that `module:attribute` names: a file, or all files of a package in the corpus folder."""
    path = workspace.corpus / name.partition(":")[0].replace(".", "/")
    package = workspace.corpus / name.partition(":")[0].partition(".")[0]
    inside = sorted(package.rglob("*.py")) if package.is_dir() else []
    return inside or [path.with_name(f"{path.name}.py")]


def _judge() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.evaluate.make_judgments import make_judgments

        return make_judgments(workspace, caller)

    return Stage(
        "judge",
        needs=lambda w: [w.passages, w.queries, *(w.answers(name) for name in w.experiment.agent_names())],
        uses=lambda w: [
            *_prompts("evaluate/judging/judges", *_JUDGE_PROMPTS),
            *_own(
                w,
                w.experiment.judge.relevance_prompt,
                w.experiment.judge.pointwise_prompt,
                w.experiment.judge.games_prompt,
            ),
        ],
        settings=lambda e: _settings(e, "judge", models=(e.judge.model,)),
        makes=lambda w: [w.relevance, w.qrels, w.pointwise, w.games, w.repeats],
        run=run,
    )


def _evaluate() -> Stage:
    def run(workspace: Workspace, caller: Caller) -> StageOutcome:
        from ragassay.evaluate.evaluate_answers import evaluate_answers

        return evaluate_answers(workspace, caller)

    return Stage(
        "evaluate",
        needs=lambda w: [w.passages, w.queries, *_answers(w), *(_answer_runs(w) if w.experiment.judges_runs else [])],
        uses=lambda w: [*_prompts("evaluate/judging/judges"), *_evaluating_files(w)] if w.experiment.evaluates else [],
        settings=lambda e: (
            _settings(e, "evaluate", models=(e.evaluating_model,) if e.evaluates else ())
            | ({"judge.model": e.evaluating_model, "retrieval.embedding": e.retrieval.embedding} if e.evaluates else {})
        ),
        makes=lambda w: [w.judgments, *([w.judgment_runs] if w.experiment.judges_runs else [])],
        run=run,
    )


def _evaluating_files(workspace: Workspace) -> list[Path]:
    """The user's own prompts and modules that `[evaluate]` names."""
    settings = workspace.experiment.evaluate
    modules = [path for name in settings.judges if ":" in name for path in _module_files(workspace, name)]
    return [*_own(workspace, *settings.own_prompts()), *modules]


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
            *(w.rankings(name) for name in w.experiment.agent_names()),
            *(
                w.manifests / f"{name}.json"
                for name in ("ingest", "questions", "retrieve", "answer", "judge", "evaluate")
            ),
        ],
        settings=lambda e: (
            _settings(e, "compare")
            | {"retrieval.k": e.retrieval.k, "judge.criteria": e.judge.criteria, "judge.mode": e.judge.mode}
            | ({"evaluate": e.evaluate.model_dump(mode="json")} if e.evaluates else {})
            | {"corpus.note": e.corpus.note, "agent.writer": {a.name: a.writer for a in e.agent}}
        ),
        makes=lambda w: [w.figures],
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
        uses=lambda w: [w.rewrites, w.unreadable, *_templates()],
        settings=lambda e: {"ragassay": __version__, "retrieval.k": e.retrieval.k},
        makes=lambda w: [w.report],
        run=run,
    )


def _templates() -> list[Path]:
    return sorted(path for path in (_inside("evaluate/report") / "templates").rglob("*") if path.is_file())
