"""`experiment.toml`: everything about an experiment in one file. An unknown key or a wrong type is an InputError."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from ..records import Id
from .mirror import is_server, tells
from .plugins import is_own
from .tables import (
    MODEL_PATTERN,
    IngestSettings,
    JudgeSettings,
    ModelName,
    ModelSettings,
    QuestionsSettings,
    Table,
    TableError,
)
from .variant_settings import AgentSettings, Chunking, Grids, RetrieverSettings, SearchSettings
from .variants import BUILT_IN, WHOLE, AnsweredBy, TableAgent, Variants, make_agents


def is_served(embedding: str) -> bool:
    """Whether texts are embedded by an OpenAI-compatible server (`openai:NAME`), not on this machine."""
    return embedding.startswith("openai:")


Backend = Literal["auto", "torch", "onnx", "onnx-int8"]
"""What runs an embedding model's network. auto: ONNX Runtime where it is installed, the model is right in it and no
GPU is there, and else torch. onnx: ONNX Runtime or an error. onnx-int8: the same with 8-bit weights."""


class CorpusSettings(Table):
    language: str = "en"
    note: str = ""
    exclude_pages: dict[str, str] = Field({})


class RetrievalSettings(Table):
    engine: Literal["embedded", "opensearch"] = "embedded"
    url: str | None = None
    retrievers: tuple[Literal["bm25", "knn", "hybrid"], ...] = Field(("bm25", "knn", "hybrid"), min_length=1)
    bm25: Literal["bm25s", "rank-bm25"] = "bm25s"
    embedding: str = "intfloat/multilingual-e5-base"
    embedding_backend: Backend = "auto"
    k: int = Field(5, ge=1)
    rrf_k: int = Field(60, ge=1)

    @property
    def other_vectors(self) -> bool:
        """Whether the backend gives other vectors than torch, on which then depends what depends on the embedding."""
        return self.embedding_backend == "onnx-int8"

    @field_validator("url")
    @classmethod
    def _is_an_address_without_a_login(cls, value: str | None) -> str | None:
        if value is not None and not all(is_server(part.strip()) for part in value.split(",")):
            raise ValueError('an address is such as "http://127.0.0.1:9200"')
        if value is not None and tells(value):
            raise ValueError("the login goes into OPENSEARCH_USER and OPENSEARCH_PASSWORD, not into the address")
        return value

    @model_validator(mode="after")
    def _bm25_of_the_engine(self) -> RetrievalSettings:
        if self.engine == "opensearch" and self.bm25 != "bm25s":
            raise ValueError("bm25 is a choice of the embedded engine; with opensearch Lucene computes it")
        return self


class OpenSearchSettings(Table):
    """`[opensearch]`: how the server of `retrieval.url` is used. Logins stand in the environment."""

    index: str | None = Field(None, min_length=1)
    alias: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    knn_engine: Literal["lucene", "faiss"] = "lucene"
    m: int = Field(16, ge=2, le=100)
    ef_construction: int = Field(100, ge=2, le=10_000)
    ef_search: int = Field(100, ge=1, le=10_000)
    hybrid: Literal["ours", "server"] = "ours"
    filter: dict[str, str] = Field({})
    shards: int = Field(1, ge=1, le=1024)
    replicas: int | None = Field(None, ge=0)
    timeout_s: float = Field(30.0, gt=0)
    retries: int = Field(8, ge=0, le=20)
    verify_certificates: bool = True
    aws_region: str | None = Field(None, min_length=1)
    aws_service: Literal["es", "aoss"] = "es"


class AnswerSettings(Table):
    later = ("repeats",)  # one run of the agents is what there was before there could be several

    model: ModelName
    agents: tuple[Literal["rag", "rag-fusion"], ...] = ("rag", "rag-fusion")
    fusion_queries: int = Field(4, ge=1)
    repeats: int = Field(1, ge=1, le=20)
    prompt: str | None = None
    fusion_prompt: str | None = None


class CustomJudgeSettings(Table):
    """`[[evaluate.custom]]`: a judge that is one prompt. labels: lowest first, whole numbers or words."""

    name: Id
    prompt: str
    of: Literal["answer", "passage"] = "answer"
    labels: tuple[int, ...] | tuple[str, ...] = Field(("no", "yes"), max_length=11)
    needs: tuple[Literal["expected_response"], ...] = ()

    @model_validator(mode="after")
    def _labels_ascend(self) -> CustomJudgeSettings:
        if len(self.labels) < 2:
            raise ValueError("labels names at least two labels")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels names a label twice")
        if not all(str(label).strip() for label in self.labels):
            raise ValueError("labels names a label without a letter")
        if all(isinstance(label, str) and label.isascii() and label.isdigit() for label in self.labels):
            raise ValueError("labels that are numbers stand without quotes")
        if isinstance(self.labels[0], int) and (list(self.labels) != sorted(self.labels) or self.labels[0] < 0):
            raise ValueError("labels that are numbers stand in rising order, from 0")
        return self


class EvaluateSettings(Table):
    """`[evaluate]`: the evaluators that judge every passage and answer besides. model: default, the judge's.

    thresholds: a criterion, or an evaluator, to the label from which it is good enough. max_rows: judge no more answers
    than these, the first queries'. keep_replies: keep each judgment's raw replies in `judgment-replies.jsonl`.
    likelihood_model: says how likely a text is, for `perplexity` and `gptscore_…`; default, `model`.
    """

    later = ("thresholds", "max_rows", "keep_replies", "likelihood_model")

    judges: tuple[str, ...] = ()
    model: ModelName | None = None
    likelihood_model: str | None = Field(None, pattern=r"^(openai|transformers):.+$")
    mode: Literal["auto", "label", "probability"] = "auto"
    prompts: Literal["paper", "ragassay"] = "paper"
    k: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = Field((1, 3, 5), min_length=1)
    custom: tuple[CustomJudgeSettings, ...] = ()
    settings: dict[str, dict[str, Any]] = Field({})
    thresholds: dict[str, float] = Field({})
    max_rows: int | None = Field(None, ge=1)
    keep_replies: bool = False

    def own_prompts(self) -> list[str]:
        """The prompt files of the user's own, relative to the corpus folder."""
        tables = self.settings.values()
        given = [str(value) for table in tables for key, value in table.items() if key.endswith("prompt") and value]
        return [*(one.prompt for one in self.custom), *given]


class CompareSettings(Table):
    tournaments: int = Field(500, ge=1, le=100_000)
    elo_intervals: bool = False
    bootstrap: int = Field(1000, ge=100, le=100_000)
    seed: int = Field(7, ge=0)
    measures: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    matters: dict[str, Annotated[float, Field(gt=0)]] = Field({})
    writes: tuple[Annotated[str, Field(min_length=1)], ...] = ("*",)


FEWEST_SECTIONS = 6
"""Below so many no agent is told from another: not even a win in each is significant at 5% (two-sided sign test:
2 / 2^5 = 6%)."""


class RunSettings(Table):
    later = ("eliminate", "write_by_look")

    max_concurrency: int = Field(32, ge=1, le=1000)
    max_cost_usd: float | None = Field(20.0, gt=0)
    retries: int = Field(5, ge=0, le=20)
    backend: Literal["loky", "dask", "ray"] = "loky"
    scheduler: str | None = Field(None, min_length=1)
    until: Literal["best", "good-enough"] | None = None
    margin: float = Field(0.05, gt=0, lt=1)
    max_queries: int | None = Field(None, ge=1)
    looks: int = Field(8, ge=2, le=20)
    eliminate: Literal["answers"] | None = None
    write_by_look: bool = False

    @model_validator(mode="after")
    def _scheduler_of_a_cluster(self) -> RunSettings:
        if self.backend != "loky" and self.scheduler is None:
            raise ValueError(f'backend = "{self.backend}" needs scheduler, the address of the cluster')
        if self.backend == "loky" and self.scheduler is not None:
            raise ValueError('scheduler goes with backend = "dask" or "ray"')
        return self


_variants = lru_cache(maxsize=8)(Variants)


_NOT_TAKEN = {
    "anthropic": ("seed", "presence_penalty"),
    "rerank": ("temperature", "top_p", "seed", "presence_penalty", "max_tokens"),
}
"""Parameters that a provider does not have."""


class Experiment(Table):
    """The whole file. Models are named by the tables that use them; every other key has a default."""

    corpus: CorpusSettings = CorpusSettings()
    ingest: IngestSettings = IngestSettings()
    questions: QuestionsSettings = QuestionsSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    opensearch: OpenSearchSettings = OpenSearchSettings()
    answer: AnswerSettings
    chunking: Annotated[tuple[Chunking, ...], Grids()] = ()
    retriever: Annotated[tuple[RetrieverSettings, ...], Grids()] = ()
    search: SearchSettings | None = None
    agent: Annotated[tuple[AgentSettings, ...], Grids()] = ()
    judge: JudgeSettings
    evaluate: EvaluateSettings = EvaluateSettings()
    compare: CompareSettings = CompareSettings()
    run: RunSettings = RunSettings()
    models: dict[ModelName, ModelSettings] = Field({})

    @model_validator(mode="after")
    def _names_agree(self) -> Experiment:
        _ = self.variants.all
        names = self.agent_names()
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two agents are named '{twice[0]}'")
        cut_by_ours = (one for one in self.chunking if one.by == "semantic" and not one.embedding)
        if is_served(self.retrieval.embedding) and (cut := next(cut_by_ours, None)):
            said = f"chunking '{cut.name}' needs embedding, a model for this machine: [retrieval]'s is on a server"
            raise TableError(said, "chunking", cut.name)
        if self.search and not self.retriever:
            raise ValueError("[search] screens what [[retriever]] tables say, and there is none")
        if self.run.until and self.not_until:
            raise ValueError(self.not_until)
        if self.search and self.search.baseline:
            self.variants.named(self.search.baseline)
        if unused := sorted(set(self.models) - self.model_names()):
            raise ValueError(f'[models."{unused[0]}"] is a model that no table uses')
        in_batches = sorted(name for name, own in self.models.items() if own.mode == "batch")
        if wrong := [name for name in in_batches if not name.startswith(("openai:", "anthropic:"))]:
            raise ValueError(f'[models."{wrong[0]}"] mode = "batch" is for models of openai: and anthropic:')
        for name, own in self.models.items():
            provider = name.split(":")[0]
            if extra := next((key for key in _NOT_TAKEN.get(provider, ()) if getattr(own, key) is not None), None):
                raise ValueError(f'[models."{name}"] models of {provider}: take no {extra}; leave it out')
        if self.retrieval.engine != "opensearch" and (self.opensearch.filter or self.opensearch.index):
            raise ValueError('opensearch.filter and opensearch.index go with retrieval.engine = "opensearch"')
        if self.retrieval.engine != "opensearch" and self.retrieval.url:
            raise ValueError('retrieval.url goes with retrieval.engine = "opensearch"')
        if self.questions.source != "own" and not self.questions.quota:
            raise ValueError('questions.quota must name the models that write questions (or set source = "own")')
        return self

    def built_in_agents(self) -> tuple[tuple[str, str, str], ...]:
        """(agent name, retriever, kind) of the built-in variants: `bm25-rag`, `hybrid-rag-fusion`, …"""
        kinds, retrievers = self.answer.agents, self.retrieval.retrievers
        return tuple((f"{retriever}-{kind}", retriever, kind) for kind in kinds for retriever in retrievers)

    @property
    def not_until(self) -> str | None:
        """Why a run cannot go until something is known; None where it can."""
        if self.wants_finalists:
            return "until goes with agents that are known: screen first, then name them in [[agent]] tables"
        if self.judge.games in ("adaptive", "listwise-adaptive"):
            return f'until goes with games = "all" or "listwise", not with "{self.judge.games}"'
        return None

    @property
    def by_look(self) -> bool:
        """Whether questions are written look by look."""
        return self.run.until is not None and self.run.write_by_look

    @property
    def not_by_look(self) -> str | None:
        """Why questions cannot be written look by look, where that is asked for; None where they can."""
        settings, named = self.questions, "write_by_look goes with "
        if not self.run.write_by_look:
            return None
        if self.run.until is None:
            return f"{named}until, in [run] or as --until"
        if settings.source == "own":
            return f'{named}questions.source = "synthetic" or "both": your own are not written'
        if settings.style not in ("need", "passage"):
            return f'{named}questions.style = "need" or "passage", not with "{settings.style}"'
        if settings.keep or self.run.max_queries:
            other = "questions.keep" if settings.keep else "run.max_queries"
            why = "chooses among all questions, and write_by_look has not all of them"
            return f"{other} {why}: leave one of the two out"
        return None

    @property
    def searches_vectors(self) -> bool:
        """Whether some agent or variant searches by [retrieval]'s embedding, so that there is one at hand."""
        kinds = {name for _, name, _ in self.built_in_agents()} | {one.settings.kind for one in self.variants.all}
        return bool(kinds & {"knn", "hybrid"})

    @property
    def variants(self) -> Variants:
        """What the tables [[chunking]] and [[retriever]] make."""
        return _variants(self.chunking, self.retriever)

    @property
    def chunkings(self) -> tuple[Chunking, ...]:
        """The ways of cutting beside [ingest]'s, each with a name of its own."""
        return self.variants.chunkings

    def table_agents(self) -> tuple[TableAgent, ...]:
        """The agents of [[agent]] tables that we answer for: one for each variant of the retriever that is named."""
        return tuple(agent for agent in self._agents() if isinstance(agent, TableAgent))

    def own_agents(self) -> tuple[AgentSettings, ...]:
        """The user's own systems."""
        return tuple(agent for agent in self._agents() if isinstance(agent, AgentSettings))

    def answered_agents(self) -> tuple[str, ...]:
        """The names of all agents that we answer for."""
        return (*(name for name, _, _ in self.built_in_agents()), *(agent.name for agent in self.table_agents()))

    def answered_by(self) -> dict[str, AnsweredBy]:
        """Of every agent, in their order, its model and prompt; of a user's own system who is said to write for it."""
        usual = self.answer.prompt or BUILT_IN
        found = {name: AnsweredBy(self.answer.model, usual) for name, _, _ in self.built_in_agents()}
        for one in self.table_agents():
            found[one.name] = AnsweredBy(one.model, one.prompt or (usual if one.variant else WHOLE))
        return found | {one.name: AnsweredBy(one.writer, None) for one in self.own_agents()}

    def agent_names(self) -> tuple[str, ...]:
        """Every agent that takes part, in the order of the tables."""
        return tuple(name for name, _, _ in self.built_in_agents()) + tuple(agent.name for agent in self._agents())

    def _agents(self) -> tuple[TableAgent | AgentSettings, ...]:
        return make_agents(self.agent, self.variants, self.answer.model)

    @property
    def search_settings(self) -> SearchSettings:
        """[search], or its defaults."""
        return self.search or SearchSettings()

    @property
    def wants_finalists(self) -> bool:
        """Whether the best of the screening become agents: where no [[agent]] names a retriever, or [search] is set."""
        return bool(self.retriever) and (self.search is not None or not any(one.retriever for one in self.agent))

    def with_finalists(self, names: Sequence[str]) -> Experiment:
        """With an agent for each of these variants that is one, unless some agent is just that already."""
        known, agents = self.variants.by_name, self.table_agents()
        there = {one.variant.name for one in agents if one.variant and one.is_plain(self.answer.model)}
        taken = {*self.agent_names(), *there}
        new = tuple(AgentSettings(name=name, retriever=name) for name in names if name in known and name not in taken)
        return self.model_copy(update={"agent": (*self.agent, *new)})

    def model_names(self) -> set[str]:
        """Every model that some stage would call."""
        writers = set(self.questions.quota) if self.questions.source != "own" else set()
        rerankers = {one.rerank for one in self.retriever if one.rerank and re.match(MODEL_PATTERN, one.rerank)}
        return (
            writers
            | {self.answer.model, *self.judge.all_models}
            | ({self.evaluating_model} if self.evaluates else set())
            | ({self.evaluate.likelihood_model} if self.evaluate.likelihood_model else set())
            | {agent.model for agent in self.agent if agent.model}
            | {one.rewrite_model for one in self.retriever if one.rewrite_model}
            | {name for name in rerankers if not is_own(name) and not Path(name).exists()}
            | self.servers()
        )

    def servers(self) -> set[str]:
        """The models that are called and do not chat: those that embed or rerank on a server."""
        embedding = {self.retrieval.embedding, *(one.embedding for one in self.chunking)}
        embedding |= {one.embedding for one in self.retriever}
        reranking = {one.rerank for one in self.retriever if one.rerank and one.rerank.startswith("rerank:")}
        return {name for name in embedding if name and is_served(name)} | reranking

    @property
    def evaluates(self) -> bool:
        """Whether there is an evaluator at all."""
        return bool(self.evaluate.judges or self.evaluate.custom)

    @property
    def judges_runs(self) -> bool:
        """Whether evaluators judge further runs of the answers too."""
        return self.evaluates and self.answer.repeats > 1

    @property
    def evaluating_model(self) -> str:
        """The model that evaluators ask."""
        return self.evaluate.model or self.judge.model

    @property
    def likelihood_model(self) -> str:
        """The model that says how likely a text is."""
        return self.evaluate.likelihood_model or self.evaluating_model

    def settings_of(self, model: str) -> ModelSettings:
        """The model's own table, or the defaults."""
        return self.models.get(model, ModelSettings())
