"""Where an experiment's files are: the corpus folder the user brings, and the results folder every stage writes to."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ..errors import InputError
from ..files import append_line, digest_json, read_objects, read_records, record_of, while_unchanged
from ..prompts import how_many_fit
from ..records import Id, Passage, Record, StageUsage
from .mirror import Mirror
from .settings import Experiment
from .tables import file_name
from .variant_settings import OURS
from .variants import Variant


class NotAsked(Record):
    """A line of `not-asked.jsonl`: a query that an agent was not asked by plan, which is no failure."""

    query_id: str
    agent: str


class Part(Record):
    """A line of `parts.jsonl`: what questions are written for one look, where `[run] write_by_look` says so.

    part: from 1. sections: ids of those asked about. quota: how many questions of each model. queries: the ids of those
    in the test set, None before they are written.
    """

    part: int
    sections: tuple[str, ...]
    quota: dict[str, int]
    queries: tuple[str, ...] | None = None


class Standing(Record):
    """`progress.json`. what: in words what the stage is at. done, cached, failed: of total, so far.

    spent_usd: since the run began, None while no price is known. left_s: seconds at the pace so far, None while that is
    unknown. errors: what was wrong with those that failed since the stage began, each sentence
    (untrusted text) with how many.
    """

    stage: str
    what: str = ""
    total: int = 0
    done: int = 0
    cached: int = 0
    failed: int = 0
    spent_usd: float | None = None
    left_s: float | None = None
    errors: tuple[tuple[str, int], ...] = ()

    @property
    def ended(self) -> int:
        """How many are over, whichever way."""
        return self.done + self.cached + self.failed


def read_not_asked(path: Path) -> frozenset[tuple[str, str]]:
    """(query id, agent) of each line; none without the file, which is there where the queries are of such a plan.

    Neither an answer nor an error is owed for them: figures of the agent are over the other queries, and differences of
    two agents over those that both were asked. Raises InputError with the line.
    """
    return frozenset((row.query_id, row.agent) for row in (read_records(path, NotAsked) if path.exists() else ()))


def chunking_of(passage: Passage) -> str:
    """The name of the chunking that cut the passage, OURS for [ingest]'s."""
    return str(passage.metadata.get("chunking", OURS))


def read_passages(path: Path, chunking: str = OURS) -> list[Passage]:
    """The passages that one chunking cut, OURS for [ingest]'s, in their order. Raises InputError with the line."""
    return [passage for passage in read_records(path, Passage) if chunking_of(passage) == chunking]


def count_passages(path: Path) -> int:
    """How many passages [ingest] cut, which stand first. Raises InputError with the line."""
    lines = (line.get("metadata") for _, line in read_objects(path))
    return sum(1 for _ in takewhile(lambda one: not (isinstance(one, dict) and "chunking" in one), lines))


def count_by_chunking(path: Path) -> Counter[str]:
    """How many passages each chunking cut. Raises InputError with the line."""
    return Counter(_chunking_in(line) for _, line in read_objects(path))


def digest_passages(path: Path, chunkings: Collection[str]) -> str:
    """SHA-256 of the lines of these chunkings: that of the file, where there are no others."""
    return _digest(path, frozenset(chunkings))


@while_unchanged(256)
def _digest(path: Path, chunkings: frozenset[str]) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for line in stream:
            if not line.strip() or _chunking_in(json.loads(line)) in chunkings:
                digest.update(line)
    return digest.hexdigest()


def _chunking_in(line: dict[str, object]) -> str:
    metadata = line.get("metadata")
    return str(metadata.get("chunking", OURS)) if isinstance(metadata, dict) else OURS


Action = Literal["accept", "edit", "reject"]


class Edit(Record):
    """A line of `question-edits.jsonl`: a person's decision about the question `id`.

    It stays as it was written, has another text, or leaves the set. One that the rules rejected is taken into the set
    by "accept" and, with another text, by "edit".

    text: an edited one's, else None. was: the text that was decided about. at: when, ISO 8601.
    """

    id: str = Field(min_length=1)
    action: Action
    text: str | None = None
    was: str = ""
    person: str = ""
    at: str = ""


def read_edits(path: Path) -> dict[str, Edit]:
    """Question id to the decision that counts, its last; empty without a file. Raises InputError with the line."""
    edits: dict[str, Edit] = {}
    for line, value in read_objects(path) if path.exists() else ():
        one = record_of(value, Edit, path, line, "mend the line or remove it")
        if one.action == "edit" and not (one.text or "").strip():
            raise InputError("edits a question and has no text", file=path, line=line, remedy="give it a text")
        edits[one.id] = one
    return edits


def id_of_rejected(text: str, metadata: Mapping[str, Any]) -> str:
    """What a question of `rejected.jsonl` is called in decisions about it, and in the set once it was taken in.

    Its own id, if a person rejected it; else `r-` and the first ten digits of the SHA-256 of its text, model and
    section, so that it is the same in every run.
    """
    own = metadata.get("id")
    if isinstance(own, str) and own:
        return own
    return f"r-{digest_json([text, metadata.get('model'), metadata.get('section')])[:10]}"


def add_edit(path: Path, one: Edit) -> None:
    """Add a decision, on disk when this returns."""
    append_line(path, one.dump())


class Place:
    """A file or folder of a workspace, by its name in the results folder or in the corpus folder."""

    def __init__(self, name: str, folder: Literal["results", "corpus"] = "results") -> None:
        self.name, self.folder = name, folder

    def __get__(self, workspace: Workspace, owner: type[Workspace]) -> Path:
        return (workspace.results if self.folder == "results" else workspace.corpus) / self.name


@dataclass(frozen=True)
class Workspace:
    """The paths of one experiment and its settings. `corpus` is the user's folder, `results` is `results/NAME`.

    `mirrors` are those of the two that are copies of folders elsewhere (s3://…), `others` the results folders whose
    agents meet ours. `tables`: the settings before the screening's finalists were among the agents, None where none
    are.
    """

    corpus: Path
    results: Path
    experiment: Experiment
    mirrors: tuple[Mirror, ...] = ()
    others: tuple[Path, ...] = ()
    tables: Experiment | None = None

    def push(self) -> None:
        """Write back what has changed in folders that are elsewhere. Raises InputError."""
        for mirror in self.mirrors:
            mirror.push()

    def shown(self, path: Path) -> str:
        """What to call `path` to the user: its address, where it is a copy of what is elsewhere."""
        for mirror in self.mirrors:
            if path.is_relative_to(mirror.folder):
                return f"{mirror.url}/{path.relative_to(mirror.folder).as_posix()}"
        return str(path)

    pages = Place("pages.jsonl")
    sections = Place("sections.jsonl")
    passages = Place("corpus.jsonl")
    unreadable = Place("unreadable.jsonl")
    """One line a PDF of which something could not be read: `doc`, `error`, `pages`."""
    readers = Place("readers.jsonl")
    """With `reader = "auto"`, one line a PDF: what it was read with, and why."""
    suspicious_pages = Place("suspicious-pages.jsonl")
    """One line a page whose text looks wrong: `doc, page, n_pages, reasons[], excerpt`."""
    recognised = Place("recognised")
    """Copies of scanned PDFs with their text recognised, where [ingest] asks for that."""
    pool = Place("pool.jsonl")
    rejected = Place("rejected.jsonl")
    queries = Place("queries.jsonl")
    planned = Place("planned.jsonl")
    """The test set of a run that may end early, as far as it is written; `queries` has what is asked so far."""
    parts = Place("parts.jsonl")
    """What is written for each look, where questions are written look by look: Part's fields."""
    look = Place("look.json")
    """The look that is worked for."""
    looks = Place("looks.jsonl")
    """The looks that were taken."""
    not_asked = Place("not-asked.jsonl")
    """What agents were not asked by plan (`read_not_asked`), where `[run] eliminate` says so."""
    ledger = Place("ledger.jsonl")
    """One line a model and document: `model, doc, asked, written, kept, rejected, failed, sampled`."""
    questions_check = Place("questions-check.json")
    """Whether the written questions look like the experts', with `style = "need"`: QuestionsCheck's fields."""
    found = Place("found.jsonl")
    """One line a question and passage that was graded for its evidence: Found's fields."""
    found_deeper = Place("found-deeper.jsonl")
    """The same of what the screening's finalists hand over and nobody had judged."""
    roles = Place("roles.jsonl")
    """Who asks, where that was written from the corpus: WrittenRole's fields."""
    rewrites = Place("rewrites.jsonl")
    """One line a query: `query_id, queries[], usage, latency_s, error`."""

    @property
    def test_set(self) -> Path:
        """Where the stage `questions` writes what it made."""
        return self.planned if self.experiment.run.until else self.queries

    def searches(self, agent: str) -> Path:
        """What was searched for an agent of a table, one line a query: AgentSearch's fields."""
        return self.results / "searches" / f"{agent}.jsonl"

    def rankings(self, agent: str) -> Path:
        return self.results / "rankings" / f"{agent}.trec"

    screening = Place("screening")
    """What every variant of the tables found: a TREC run each, deeper than what it hands over."""
    screening_runs = Place("screening.jsonl")
    """One line a variant: its settings, and what running it took. VariantRun's fields."""
    screen = Place("screen.json")
    """What the screening says: ScreenResults' fields."""
    screen_page = Place("screen.html")
    """The same as a page."""
    search_times = Place("search-times.jsonl")
    """How long searching takes each built-in agent, where replies are timed as well: SearchTime's fields."""

    def answers(self, agent: str) -> Path:
        return self.results / "answers" / f"{agent}.jsonl"

    def answer_runs(self, agent: str) -> Path:
        """The answers of the runs after the first, where answer.repeats asks for them: Answer's fields and `run`."""
        return self.results / "answer-runs" / f"{agent}.jsonl"

    relevance = Place("relevance.jsonl")
    qrels = Place("qrels.trec")
    pointwise = Place("pointwise.jsonl")
    games = Place("games.jsonl")
    lists = Place("lists.jsonl")
    """The answers ranked together, where the experiment has that: RankedList's fields."""
    waves = Place("waves.json")
    """The agents in the order in which they came to be judged: a list of lists of names."""
    judges = Place("judges")
    """What each judge of a panel says by itself, a folder a judge."""

    def judge_relevance(self, judge: str) -> Path:
        """As `relevance.jsonl`, of one judge of a panel."""
        return self.judges / file_name(judge) / "relevance.jsonl"

    def judge_pointwise(self, judge: str) -> Path:
        """As `pointwise.jsonl`, of one judge of a panel."""
        return self.judges / file_name(judge) / "pointwise.jsonl"

    second = Place("second")
    """What the second judge was asked, and what it said of that."""
    second_drawn = Place("second/drawn.jsonl")
    """Everything that the second judge could have been asked about, and how likely it was drawn: Drawn's fields."""
    second_relevance = Place("second/relevance.jsonl")
    second_pointwise = Place("second/pointwise.jsonl")
    second_games = Place("second/games.jsonl")
    judgments = Place("judgments.jsonl")
    """What the evaluators of `[evaluate]` gave: Assessment's fields."""
    judgment_replies = Place("judgment-replies.jsonl")
    """What was replied for each of them, where `[evaluate] keep_replies` says so: KeptReplies' fields."""
    judgment_runs = Place("judgment-runs.jsonl")
    """What the evaluators gave the answers of further runs: Assessment's fields and `run`."""
    consistency = Place("consistency.json")
    """What `ragassay consistency` found over the runs."""
    repeats = Place("repeats.jsonl")
    """Judgments asked again, where the experiment has them: Judgment's fields and `sample`."""
    figures = Place("results.json")
    values = Place("values.jsonl")
    """Each value by query that `figures` are made of."""
    report = Place("report.html")
    validity = Place("validity.json")
    """How far the test set can be trusted: Validity's fields."""
    validity_page = Place("validity.html")
    workbench = Place("workbench")
    """What `ragassay serve` keeps of this folder: an index of the files beside it, which may be removed."""
    requests = Place("requests")
    batches = Place("batches.jsonl")
    """The record of batches handed in to providers: BatchLine's fields, a line for each step of a batch."""
    batch_requests = Place("batches")
    """The request files of batches whose results are not there yet."""
    replies = Place("replies")
    shipped_replies = Place("replies", "corpus")

    def recorded_replies(self) -> tuple[Path, ...]:
        """Folders with replies that are read and not written: the corpus folder's, and of other results."""
        return (self.shipped_replies, *(other / "replies" for other in self.others))

    embeddings = Place("embeddings")
    rerank_scores = Place("rerank-scores")
    """The scores of cross-encoders, by content."""
    server_calls = Place("server-calls.jsonl")
    """Every call of a server that embeds or reranks, a line each: `ServerCallRow`'s fields."""
    shipped_embeddings = Place("embeddings", "corpus")
    opensearch_rejected = Place("opensearch-rejected.jsonl")
    """The passages that an OpenSearch server would not take, where there are any: Rejection's fields."""
    manifests = Place("manifests")
    own_queries = Place("queries.jsonl", "corpus")
    own_qrels = Place("qrels.tsv", "corpus")
    own_labels = Place("labels.csv", "corpus")
    """What people said of passages, answers and games, one line a label."""
    label_samples = Place("label-samples", "corpus")
    """A file for each sheet drawn for people to label: what could be drawn, and how likely it was."""

    def label_journal(self, sheet: str) -> Path:
        """What was said of a sheet's items in the workbench, a line each, nothing taken out: Said's fields.

        Beside it, `SHEET.taken`: how many of these lines `labels.csv` holds.
        """
        return self.corpus / "label-journals" / f"{sheet}.jsonl"

    question_edits = Place("question-edits.jsonl", "corpus")
    """What people decided about questions in the workbench, the last line of a question counts: Edit's fields."""
    progress = Place("progress.json")
    """While a run is under way, how far its stage is: Standing's fields. Gone when the run has ended."""
    expert_questions = Place("questions.txt", "corpus")

    def prompt_file(self, own: str | None, default: Path) -> Path:
        """The user's prompt (relative to the corpus folder) or ours."""
        return self.corpus / own if own else default


@dataclass(frozen=True)
class StageOutcome:
    """What a stage has to say when it is done.

    `notices` are sentences for the user, the gravest first; `exit_status` is 0, 1 (a smaller set than asked) or
    LEFT_OUT (some input could not be used); `n_failed` counts records closed with an error. `usage`: what the user's
    own systems say that they took, which no cost limit counts.
    """

    notices: tuple[str, ...] = ()
    exit_status: int = 0
    n_records: int = 0
    n_failed: int = 0
    usage: tuple[StageUsage, ...] = ()


class VariantRun(Record):
    """A variant that was run over all queries. Its ranking goes deeper than what it hands over.

    settings: by key, with what its chunking says under `chunking.KEY`. k: how many passages it hands over, None where
    `tokens` says how many tokens. n: queries; n_failed: of them without a ranking; errors: why, by query id.
    latency_p50_s, latency_p95_s: of a search, in seconds, over `n_timed` queries one at a time; None where it could not
    be timed on this machine. index_s: what making the index took, None where its vectors were at hand. key: the digest
    of the passages and settings that these times belong to; measured once, they are kept.
    """

    variant: Id
    table: str
    settings: dict[str, Any]
    k: int | None
    tokens: int | None
    n: int
    n_failed: int
    errors: dict[str, str] = Field(default_factory=dict)
    n_timed: int = 0
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    index_s: float | None = None
    index_bytes: int | None = None
    n_passages: int
    key: str | None = None


def handed_over(ranking: Sequence[str], k: int | None, tokens: int | None, length: Callable[[str], int]) -> int:
    """How many of the first passages (ids) a variant hands over: `k`, or as many as have `tokens` together."""
    if tokens is not None:
        return how_many_fit(map(length, ranking), tokens)
    return len(ranking) if k is None else min(k, len(ranking))


def limits_of(variant: Variant, experiment: Experiment) -> tuple[int | None, int | None]:
    """(k, tokens) of a variant: one of the two, the experiment's k where its table says neither."""
    settings = variant.settings
    if settings.tokens is not None:
        return None, settings.tokens
    return settings.k or experiment.retrieval.k, None


def settings_of(variant: Variant, experiment: Experiment) -> dict[str, Any]:
    """Everything that makes a variant what it is, with the defaults of its kind; None where a setting is not used."""
    settings, default = variant.settings, experiment.retrieval
    said = settings.model_dump(mode="json", exclude={"name", "chunking", "settings"})
    said |= {f"settings.{key}": value for key, value in settings.settings}
    k, tokens = limits_of(variant, experiment)
    if variant.chunking == OURS:
        words, overlap = experiment.ingest.passage_words, experiment.ingest.passage_overlap_words
        cut: dict[str, Any] = {"by": "words", "size": words, "overlap": overlap, "returns": "passage"}
    else:
        own = next(one for one in experiment.chunkings if one.name == variant.chunking)
        cut = {**own.model_dump(mode="json", exclude={"name"}), "size": own.words, "overlap": own.overlap or 0}
    found: dict[str, Any] = {"kind": settings.kind, "chunking": variant.chunking}
    found |= {f"chunking.{key}": value for key, value in cut.items() if value is not None}
    if settings.kind == "knn":
        said["embedding"] = settings.embedding or default.embedding
    if settings.kind == "hybrid":
        said |= {"fusion": settings.fused_by, "of": list(variant.of)}
        said["rrf_k"] = (settings.rrf_k or default.rrf_k) if settings.fused_by == "rrf" else None
    kept = {key: value for key, value in said.items() if value not in (None, [], ())}
    return found | kept | {"k": k, "tokens": tokens}


def says_not_asked(workspace: Workspace) -> list[Path]:
    """The file of what agents were not asked by plan, where a run is to write it."""
    run = workspace.experiment.run
    return [workspace.not_asked] if run.until and run.eliminate else []
