"""Tables of `experiment.toml`: `[ingest]`, `[judge]`, `[models]` and `[questions]`, and what every table is."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ..text import did_you_mean
from .mirror import is_server, tells

MODEL_PATTERN = r"^[a-z]+:.+$"
OF_ITS_SECTION = 2
"""Passages of a question's own sections that join its pool: those that BM25 ranks first among them."""
POOL_BATCH = 20
"""Passages that are graded together in a question's pool: all that three rankers find at a depth of 5 or so."""
ModelName = Annotated[str, Field(pattern=MODEL_PATTERN)]
"""`provider:model`, such as `openai:gpt-4o`."""


def file_name(model: str) -> str:
    """What a model is called among files: letters, digits, dot, underscore and hyphen."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model)


class TableError(ValueError):
    """What is wrong with a table among several of a kind (`[[retriever]]`), for which its name tells the line."""

    def __init__(self, problem: str, kind: str, name: str) -> None:
        super().__init__(problem)
        self.kind, self.name = kind, name


class Table(BaseModel):
    """A table: unknown keys are errors. later: keys that were not there in earlier versions."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    later: ClassVar[tuple[str, ...]] = ()

    def shaping(self) -> dict[str, Any]:
        """As JSON, without what came later and is left as it is: a finished stage is not run for it."""
        unset = {key for key in self.later if getattr(self, key) == type(self).model_fields[key].default}
        return self.model_dump(mode="json", exclude=unset)


class IngestSettings(Table):
    """`[ingest]`. kinds: of documents in the corpus folder, or passages alone, which are taken as they are from
    `corpus.jsonl`. loader: `module:name`, what gives the documents in place of the folder. ocr: recognise the text of
    scanned PDFs.
    """

    later = ("kinds", "loader", "ocr")

    reader: Literal["auto", "pdfium", "pypdf"] = "auto"
    kinds: tuple[Literal["pdf", "markdown", "text", "html", "docx", "passages"], ...] = Field(("pdf",), min_length=1)
    loader: str | None = None
    ocr: bool = False
    section_tokens: int = Field(2000, ge=50)
    section_pages: int = Field(10, ge=1)
    passage_words: int = Field(200, ge=10)
    passage_overlap_words: int = Field(40, ge=0)

    @model_validator(mode="after")
    def _go_together(self) -> IngestSettings:
        if self.passage_overlap_words >= self.passage_words:
            raise ValueError("passage_overlap_words must be smaller than passage_words")
        if "passages" in self.kinds and len(set(self.kinds)) > 1:
            raise ValueError('kinds has "passages" alone, or kinds of documents')
        if self.loader is not None and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", self.loader):
            raise ValueError('loader is written as "module:name"')
        if self.loader and self.kinds != ("pdf",):
            raise ValueError("loader gives the documents, kinds does not go with it")
        return self

    @property
    def ready(self) -> bool:
        """Whether passages are taken as they are."""
        return self.kinds == ("passages",)


Factor = Annotated[str, Field(min_length=1)]
AnswerCriterion = Literal["relevance", "accuracy", "completeness", "precision", "answer_correctness"]


class JudgeSettings(Table):
    """`[judge]`. relevant_from: the lowest label of a passage that judges of answers and of games are shown.

    panel: models that all judge; `model` is then one of them, by default the first. second: a model that is asked about
    second_share (0 to 1) of what these judged, drawn with known probabilities.
    """

    later = ("panel", "second")

    model: ModelName
    panel: tuple[ModelName, ...] = ()
    second: ModelName | None = None
    second_share: float = Field(0.2, gt=0, le=1)
    mode: Literal["auto", "label", "probability"] = "auto"
    prompts: Literal["paper", "ragassay"] = "paper"
    criteria: tuple[AnswerCriterion, ...] = Field(
        ("relevance", "accuracy", "completeness", "precision", "answer_correctness"), min_length=1
    )
    relevant_from: int = Field(2, ge=1, le=2)
    games: Literal["all", "adaptive", "listwise", "listwise-adaptive"] = "all"
    orders: int = Field(2, ge=1, le=2)
    presentations: int = Field(2, ge=1, le=8)
    anchors: int = Field(4, ge=0, le=7)
    adaptive_confidence: float = Field(0.95, ge=0.5, lt=1)
    adaptive_max_games: float = Field(0.5, gt=0, le=1)
    factors: tuple[Factor, ...] = Field(
        ("comprehensiveness", "correctness", "helpfulness", "completeness", "accuracy", "depth", "level of detail"),
        min_length=1,
    )
    games_passages: bool = True
    games_notes: bool = True
    games_citations: bool = True
    relevance_batch: int = Field(1, ge=1, le=50)
    relevance_question: Literal["label", "yes-no"] = "label"
    yes_threshold: float = Field(0.5, gt=0, lt=1)
    seed: int = 7
    repeats: int = Field(0, ge=0, le=20)
    repeat_share: float = Field(0.1, gt=0, le=1)
    relevance_prompt: str | None = None
    relevance_batch_prompt: str | None = None
    pointwise_prompt: str | None = None
    correctness_prompt: str | None = None
    games_prompt: str | None = None
    listwise_prompt: str | None = None

    @property
    def pool_batch(self) -> int:
        """Passages of a question's pool that are graded in one request: as a rule a whole pool."""
        return max(self.relevance_batch, POOL_BATCH)

    @property
    def listwise(self) -> bool:
        """Whether answers are ranked together."""
        return self.games in ("listwise", "listwise-adaptive")

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that judges: the panel, or the one."""
        return self.panel or (self.model,)

    @property
    def all_models(self) -> tuple[str, ...]:
        """The same with the second judge, if any."""
        return (*self.models, self.second) if self.second else self.models

    def own_prompts(self) -> list[str]:
        """The prompt files of the user's own, relative to the corpus folder."""
        relevance = (self.relevance_prompt, self.relevance_batch_prompt)
        named = (*relevance, self.pointwise_prompt, self.correctness_prompt, self.games_prompt, self.listwise_prompt)
        return [name for name in named if name]

    @model_validator(mode="before")
    @classmethod
    def _first_of_the_panel(cls, given: Any) -> Any:
        panel = given.get("panel") if isinstance(given, dict) else None
        if isinstance(panel, (list, tuple)) and panel and "model" not in given:
            return {**given, "model": panel[0]}
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> JudgeSettings:
        if len(self.panel) == 1:
            raise ValueError("panel names one model: write it as model, or name others beside it")
        if twice := next((name for name in self.panel if self.panel.count(name) > 1), None):
            raise ValueError(f"panel names {twice} twice")
        if len({file_name(name) for name in self.panel}) < len(self.panel):
            raise ValueError("panel names two models that would share a folder: they differ only in punctuation")
        if self.panel and self.model not in self.panel:
            raise ValueError(f"model is {self.model}, which is not in panel: leave model out, or name it in panel too")
        if self.orders == 1 and self.games != "all":
            raise ValueError(f'orders = 1 goes with games = "all", and games is "{self.games}"')
        if self.second in self.models:
            raise ValueError(f"second is {self.second}, which judges everything already: name another model")
        if self.second is None and self.second_share != JudgeSettings.model_fields["second_share"].default:
            raise ValueError("second_share is of a second judge: name it as second, or leave second_share out")
        if len(set(self.criteria)) < len(self.criteria):
            raise ValueError("criteria names a criterion twice")
        if self.relevance_batch > 1 and self.relevance_prompt and not self.relevance_batch_prompt:
            told = "relevance_prompt shows one passage, and relevance_batch asks about several: "
            raise ValueError(told + "give relevance_batch_prompt as well, or set relevance_batch = 1")
        if self.relevance_batch_prompt and not self.relevance_prompt:
            told = "relevance_batch_prompt shows several passages, and what is left of them is asked about one by one: "
            raise ValueError(told + "give relevance_prompt as well")
        if self.listwise and self.games_prompt and not self.listwise_prompt:
            told = f'games_prompt shows two answers, and games = "{self.games}" ranks all: '
            raise ValueError(told + "give listwise_prompt as well, or leave games_prompt out")
        return self


Price = Literal["input", "output", "cached_input", "cache_write", "search"]
"""What has a price: tokens, and the searches that a rerank server charges."""


NO_MODEL = "file:none"
"""Stands for the model where none is named, for what asks none."""

_KEYS_GO = "write it without (a key goes into OPENAI_API_KEY, ANTHROPIC_API_KEY or RERANK_API_KEY)"


class ModelSettings(Table):
    """`[models."provider:name"]`. What shapes the reply is in the cache key; the rest is not."""

    base_url: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(None, ge=0)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    max_tokens: int | None = Field(None, ge=1)
    timeout_s: float = Field(120.0, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    requests_per_file: int = Field(1000, ge=1)
    context_tokens: int = Field(8192, ge=256)
    threads: int | None = Field(None, ge=1)
    cache_ram_mib: int = Field(512, ge=0)
    prices_usd_per_million: dict[Price, Annotated[float, Field(ge=0)]] | None = None
    mode: Literal["direct", "batch"] = "direct"
    poll_s: float = Field(60.0, gt=0)

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not is_server(value):
            raise ValueError('an address is such as "http://127.0.0.1:8000/v1"')
        if value is not None and (told := tells(value)):
            raise ValueError(f"an address with {told} would be shown in records and errors; {_KEYS_GO}")
        return value

    def sampling(self, sample: int = 0) -> dict[str, float | int]:
        """What is set of how tokens are drawn beside the temperature, as OpenAI names it; each repeat has its seed."""
        given = {"top_p": self.top_p, "seed": self.seed, "presence_penalty": self.presence_penalty}
        known = {name: value for name, value in given.items() if value is not None}
        return known | ({"seed": self.seed + sample} if self.seed is not None else {})


KINDS = {
    "fact": 0.5,
    "several": 0.15,
    "multi-hop": 0.1,
    "comparison": 0.1,
    "keyword": 0.1,
    "conversational": 0.05,
    "unanswerable": 0.0,
}
"""Kinds of questions, and the share of each unless `kinds` says otherwise."""

OPENING, UNDERSPECIFIED = "opening", "underspecified"
"""The move of a conversation's first turn, and of one that leaves open what it asks for."""

MOVES = {
    "follow-up": 0.15,
    "pronoun": 0.24,
    "ellipsis": 0.02,
    "clarification": 0.13,
    "correction": 0.03,
    "switch": 0.05,
    "stands-alone": 0.05,
    "unanswerable": 0.17,
    UNDERSPECIFIED: 0.16,
}
"""Moves of the turns of a conversation behind the first, and the share of each unless `moves` says otherwise.

The shares of clarification, unanswerable and underspecified are those of people's turns in MTRAG-UN (Rosenthal et al.
2026), domain Govt; how the rest is divided follows what stands in them (`benchmarks.retrieval.conversations`).
"""


Column = Literal["question", "answer", "id", "role"]
"""What a column of a table of questions may be."""


class QuestionsSettings(Table):
    """`[questions]`. columns: "question", "answer", "id" or "role" to its heading in a table of the user's own; kinds:
    share of the questions by kind; blind: share written from the need without the text; keep: a file of the corpus
    folder with the ids of questions that are taken first.

    roles: who asks, or "corpus" where a model is to say it. evidence: where it is looked for, in a written question's
    own section by its writer, or in all passages, those of any question, by the judge of [judge]; pool_by: which
    rankers give passages to be graded, BM25 alone where no retriever embeds; pool_depth: how many each; quotes: whether
    the words that answer are then asked for.

    turns: of a conversation, fewest and most; moves: shares of their moves, but for the first.
    """

    later = ("columns",)

    source: Literal["synthetic", "own", "both"] = "synthetic"
    columns: dict[Column, Annotated[str, Field(min_length=1)]] = Field({})
    style: Literal["need", "passage", "conversations"] = "need"
    sections: int = Field(24, ge=1)
    per_section: int = Field(10, ge=1, le=50)
    few_shot: int = Field(3, ge=0)
    seed: int = 7
    quota: dict[ModelName, Annotated[int, Field(ge=1)]] = Field({})
    blind: float = Field(0.5, ge=0, le=1)
    kinds: dict[str, Annotated[float, Field(ge=0, le=1)]] = KINDS
    turns: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(le=20)]] = (3, 8)
    moves: dict[str, Annotated[float, Field(ge=0, le=1)]] = MOVES
    roles: tuple[Annotated[str, Field(min_length=1)], ...] | Literal["corpus"] = ()
    golden_answers: bool = False
    keep: Annotated[str, Field(min_length=1)] | None = None
    evidence: Literal["section", "corpus"] = "corpus"
    pool_by: tuple[Literal["bm25", "knn", "hybrid"], ...] = Field(("hybrid",), min_length=1)
    pool_depth: int = Field(3, ge=1, le=100)
    quotes: bool = False
    prompt: str | None = None
    need_prompt: str | None = None
    linked_prompt: str | None = None
    blind_prompt: str | None = None
    evidence_prompt: str | None = None

    @property
    def from_needs(self) -> bool:
        """Whether models write from needs, so that the test set is chosen out of many questions."""
        return self.style == "need" and self.source != "own"

    @property
    def n_asked(self) -> int:
        """How many questions are asked for of all models, about."""
        each = round(sum(self.turns) / 2) if self.style == "conversations" else self.per_section
        return self.sections * each * len(self.quota)

    @field_validator("turns")
    @classmethod
    def _fewest_first(cls, value: tuple[int, int]) -> tuple[int, int]:
        if value[0] > value[1]:
            raise ValueError(f"are the fewest and the most, as in [3, 8], and {value[0]} is more than {value[1]}")
        return value

    @field_validator("kinds", "moves")
    @classmethod
    def _shares_of_known_kinds(cls, value: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        known = KINDS if info.field_name == "kinds" else MOVES
        if unknown := sorted(set(value) - set(known)):
            what = f"there is no {str(info.field_name)[:-1]} '{unknown[0]}'"
            raise ValueError(f"{what}; {did_you_mean(unknown[0], known)}there are {', '.join(known)}")
        if abs(sum(value.values()) - 1) > 0.001:
            raise ValueError(f"the shares must add up to 1, and add up to {sum(value.values()):.4g}")
        return value

    @field_validator("roles", mode="before")
    @classmethod
    def _sentences_or_the_word(cls, value: object) -> object:
        sentences = isinstance(value, tuple | list) and all(isinstance(one, str) and one for one in value)
        if sentences or value == "corpus":
            return value
        raise ValueError('must be a list of sentences, none of them empty, or "corpus"')

    @model_validator(mode="after")
    def _prompts_of_its_style(self) -> QuestionsSettings:
        if self.style != "passage" and self.prompt:
            raise ValueError('prompt goes with style = "passage"; with style = "need" there is need_prompt')
        if self.style == "conversations":
            for name in ("per_section", "kinds", "blind", "keep", "golden_answers", "need_prompt", "linked_prompt"):
                if name in self.model_fields_set:
                    raise ValueError(f'{name} goes with style = "need"; conversations have turns and moves')
            if self.evidence != "corpus":
                raise ValueError('style = "conversations" goes with evidence = "corpus"')
        elif told := self.model_fields_set & {"turns", "moves"}:
            raise ValueError(f'{min(told)} goes with style = "conversations"')
        if self.quotes and self.evidence != "corpus":
            raise ValueError('quotes goes with evidence = "corpus"; with "section" evidence has the writer\'s quotes')
        if self.style == "passage" and self.roles == "corpus":
            raise ValueError('roles = "corpus" goes with style = "need"')
        for name in ("keep", "need_prompt", "linked_prompt", "blind_prompt", "evidence_prompt"):
            if self.style == "passage" and getattr(self, name):
                raise ValueError(f'{name} goes with style = "need"')
        return self
