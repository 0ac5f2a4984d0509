"""A stage of an experiment as one object: what it reads, depends on, writes, asks, lacks, will cost, and how it runs.

Plan, manifest, doctor, run and progress read that object, and nothing else knows a stage's name. The declarations of a
room stand in its `stages.py`, which every rerun imports: what runs a stage is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .settings import Experiment
from .workspace import StageOutcome, Workspace, read_passages

if TYPE_CHECKING:
    from ..progress import Progress
    from ..prompts import Prompt
    from ..records import Found, Judgment, Passage, Query

Check = Callable[[], object]
"""Raises InputError for what stands in a stage's way."""

QUESTION_TOKENS = 40
"""Of a query, where none is there yet."""
DISTINCT_ANSWERS = 0.99
"""The share of (query, agent) whose passages differ from every other agent's of that query."""


@dataclass(frozen=True)
class Load:
    """Calls with one label to one model, and the tokens of all of them together; searches: those of a rerank server."""

    label: str
    model: str
    calls: int
    from_cache: int
    input_tokens: int
    output_tokens: int
    searches: int = 0

    @property
    def kind(self) -> str:
        """What it asks, whichever time: the label up to its first hyphen (`questions`, `listwise`, …), or whole for an
        evaluator, a judge of answers and a rewriting."""
        label = self.label.split("-repeat-")[0]
        whole = label.startswith(("evaluate-", "pointwise-", "rewrites-"))
        return label if whole else label.split("-")[0]


def foreseen_load(label: str, model: str, calls: float, input_tokens: float, items: float = 1) -> Load:
    """So many calls of `input_tokens` each, none in the cache, with replies as long as those of their label are."""
    from ..prompts import reply_tokens

    n = round(calls)
    return Load(label, model, n, 0, round(n * input_tokens), n * reply_tokens(label, round(items)))


def filled_tokens(prompt: Prompt) -> int:
    """The tokens of a prompt with the question in it."""
    from ..prompts import count_tokens

    return count_tokens(prompt.system) + count_tokens(prompt.user) + QUESTION_TOKENS


def count_queries(workspace: Workspace) -> int:
    """How many there are, or will be."""
    from ..files import read_objects, read_records, read_text
    from ..layouts.questions import question_file, read_questions
    from ..records import Query

    questions, most = workspace.experiment.questions, workspace.experiment.run.max_queries
    if workspace.test_set.exists() and not workspace.experiment.by_look:
        n = len(read_records(workspace.test_set, Query))
        return min(n, most) if most and workspace.experiment.run.until else n
    own, path = 0, question_file(workspace.corpus) if questions.source != "synthetic" else None
    if path is not None:
        beir = path == workspace.own_queries
        own = len(list(read_objects(path)) if beir else read_questions(path, questions.columns).queries)
    elif workspace.expert_questions.exists():
        lines = read_text(workspace.expert_questions).split("\n")
        own = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)
    written = sum(questions.quota.values())
    return {"own": own, "synthetic": written, "both": own + written}[questions.source]


def mean_passage_tokens(workspace: Workspace) -> float:
    """Of a passage of [ingest]."""
    from ..prompts import count_tokens

    passages = read_passages(workspace.passages)
    return sum(count_tokens(passage.title + passage.text) for passage in passages) / max(1, len(passages))


@dataclass(frozen=True)
class Means:
    """What a stage is handed to run with: what another room has, so that no room imports its neighbour.

    caller: asks models, a ragassay.calls.caller.Caller. progress: is told how far the stage is. embed_passages: gives
    what makes a row for each text of an embedding by name (None: [retrieval]'s); embed_queries: a row for each.
    pool: of passages, for each text, with the ids of the passages of its own sections, what rankers find, as (id, who
    found it). grade: a Found of each judge and passage of pools, and what the judges say as one.
    goes_on: whether the look at all that is written so far was taken and asks for more.
    """

    caller: Any
    progress: Progress
    embed_passages: Callable[[], Callable[[str | None, Sequence[str]], Any]]
    embed_queries: Callable[[Sequence[str]], Any]
    pool: Callable[[Sequence[Passage], Sequence[str], Sequence[Collection[str]]], Sequence[Sequence[tuple[str, str]]]]
    grade: Callable[[Sequence[tuple[Query, Sequence[Passage]]]], tuple[list[Found], list[Judgment]]]
    goes_on: Callable[[], bool]


@dataclass(frozen=True)
class Stage:
    """One stage. `needs` must be there, `uses` may be; `settings` are the tables of experiment.toml that matter.

    models: those that it calls, but servers that embed and rerank. foreseen: how much it will ask, by label and model;
    None where it asks nothing. files: checks of the user's own files, which no run goes on without. lacks: checks of
    what is needed once a model is to be asked; the user's own code is only read, unless it may be run (the second
    argument). applies: whether an experiment has the stage.
    """

    name: str
    needs: Callable[[Workspace], Sequence[Path]]
    makes: Callable[[Workspace], Sequence[Path]]
    settings: Callable[[Experiment], dict[str, Any]]
    run: Callable[[Workspace, Means], StageOutcome]
    uses: Callable[[Workspace], Sequence[Path]] = lambda workspace: ()
    models: Callable[[Experiment], Iterable[str]] = lambda experiment: ()
    foreseen: Callable[[Workspace], list[Load]] | None = None
    files: Callable[[Workspace], Iterable[Check]] = lambda workspace: ()
    lacks: Callable[[Workspace, bool], Iterable[Check]] = lambda workspace, run_code: ()
    applies: Callable[[Experiment], bool] = lambda experiment: True
