"""`[judge]` of `experiment.toml`: who judges passages, answers and games, and how."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .table import ModelName, Table, file_name

Factor = Annotated[str, Field(min_length=1)]
AnswerCriterion = Literal["relevance", "accuracy", "completeness", "precision", "answer_correctness"]


class JudgeSettings(Table):
    """`[judge]`. relevant_from: the lowest label of a passage that judges of answers and of games are shown.

    panel: models that all judge; `model` is then one of them, by default the first. second: a model that is asked about
    second_share (0 to 1) of what these judged, drawn with known probabilities.
    """

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
    def _panel_of_several(self) -> JudgeSettings:
        if len(self.panel) == 1:
            raise ValueError("panel names one model: write it as model, or name others beside it")
        if twice := next((name for name in self.panel if self.panel.count(name) > 1), None):
            raise ValueError(f"panel names {twice} twice")
        if len({file_name(name) for name in self.panel}) < len(self.panel):
            raise ValueError("panel names two models that would share a folder: they differ only in punctuation")
        if self.panel and self.model not in self.panel:
            raise ValueError(f"model is {self.model}, which is not in panel: leave model out, or name it in panel too")
        return self

    @model_validator(mode="after")
    def _one_order_of_all_games(self) -> JudgeSettings:
        if self.orders == 1 and self.games != "all":
            raise ValueError(f'orders = 1 goes with games = "all", and games is "{self.games}"')
        return self

    @model_validator(mode="after")
    def _second_is_another(self) -> JudgeSettings:
        if self.second in self.models:
            raise ValueError(f"second is {self.second}, which judges everything already: name another model")
        if self.second is None and self.second_share != JudgeSettings.model_fields["second_share"].default:
            raise ValueError("second_share is of a second judge: name it as second, or leave second_share out")
        return self

    @model_validator(mode="after")
    def _each_criterion_once(self) -> JudgeSettings:
        if len(set(self.criteria)) < len(self.criteria):
            raise ValueError("criteria names a criterion twice")
        return self

    @model_validator(mode="after")
    def _own_prompts_of_what_is_asked(self) -> JudgeSettings:
        if self.relevance_batch > 1 and self.relevance_prompt and not self.relevance_batch_prompt:
            raise ValueError(
                "relevance_prompt shows one passage, and relevance_batch asks about several: "
                "give relevance_batch_prompt as well, or set relevance_batch = 1"
            )
        if self.relevance_batch_prompt and not self.relevance_prompt:
            raise ValueError(
                "relevance_batch_prompt shows several passages, and what is left of them is asked about one by one: "
                "give relevance_prompt as well"
            )
        if self.listwise and self.games_prompt and not self.listwise_prompt:
            raise ValueError(
                f'games_prompt shows two answers, and games = "{self.games}" ranks all: '
                "give listwise_prompt as well, or leave games_prompt out"
            )
        return self
