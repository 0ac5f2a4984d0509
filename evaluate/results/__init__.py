"""`results.json`: every figure of the report, in one record that `compare` writes and `report` reads."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ragassay.records import Figure, LedgerRow, Record, StageUsage

from .audit import Audit, AuditFinding, FailedReplies, Failures, LengthControl
from .comparisons import NOT_DISTINGUISHABLE, PRACTICALLY_EQUAL, Comparison, NeededQueries, PairedTest, PairVerdict
from .corrections import CorrectedFigure, Corrections, JudgeAgreement, SecondJudgeResults
from .measures import POINTS, WIN_RATE, Box, Boxes, Figures
from .models_by_prompts import ModelByPrompt
from .panel import AmongJudges, JudgeOfPanel, PanelOfJudges
from .perturbed import Perturbed
from .pool import AgentPool, Bounds, LeftOut
from .sources import OrdersCompared, WrittenAndReal
from .thresholds import ByThreshold, Insight, Problem, ThresholdShares
from .verdict import Choice, Claim, FailuresAtBottom

__all__ = [
    "NOT_DISTINGUISHABLE",
    "POINTS",
    "PRACTICALLY_EQUAL",
    "WIN_RATE",
    "AgentPool",
    "AmongJudges",
    "Audit",
    "AuditFinding",
    "Bounds",
    "Box",
    "Boxes",
    "ByThreshold",
    "Choice",
    "Claim",
    "Comparison",
    "CorrectedFigure",
    "Corrections",
    "FailedReplies",
    "Failures",
    "FailuresAtBottom",
    "Figures",
    "Insight",
    "JudgeAgreement",
    "JudgeOfPanel",
    "LeftOut",
    "LengthControl",
    "ModelByPrompt",
    "NeededQueries",
    "OrdersCompared",
    "PairVerdict",
    "PairedTest",
    "PanelOfJudges",
    "PassOrFail",
    "Perturbed",
    "Problem",
    "RatingDetail",
    "Results",
    "SecondJudgeResults",
    "ThresholdShares",
    "WrittenAndReal",
]


class RatingDetail(Record):
    """What is said beside the ratings. `ranks`: agent to the interval of its rank, from 1 (best), by points: the
    possible bests from 1, the others below all that are told above them, and none below one that it is told above.

    ties: how ties entered, by Davidson's model (with its `tie_parameter`, 0 where none was seen) or as half wins.
    triples: how many three agents have a majority between every two; intransitive: those that beat in a circle.
    """

    ranks: dict[str, tuple[int, int]]
    ties: Literal["davidson", "half"]
    tie_parameter: float | None
    triples: int
    intransitive: int


_OF_EVALUATORS = (
    "evaluator_families",
    "lower_is_better",
    "thresholds",
    "threshold_shares",
    "evaluator_tags",
    "problems",
    "insights",
)


class PassOrFail(Record):
    """Agent Evaluation's verdicts on one agent's answers.

    passed: the share that pass; n_failed could not be decided. root_causes: the first judge failed to how many answers
    failed of it. fixes: root cause to what to do about it.
    """

    passed: Figure
    root_causes: dict[str, int]
    fixes: dict[str, str]


class Results(Record):
    """The whole file. Agents are keys, best first by points.

    points: the mean over an agent's opponents of win 1, tie 1/2, loss 0, on each query and over the queries. wins: row
    agent to column agent to the share of their verdicts that the row agent won (ties are neither's win). win_rate: the
    share of all an agent's verdicts that it won, each pair weighing the same (`win_table`). flip_rate: the share of the
    pairs judged in several orders whose winner changed with the order. first_shown_wins: the share of single decided
    games won by the answer shown first. elo and bradley_terry: ratings from one initial rating, 400 points to a factor
    of ten in the odds. answers: agent to `answered` (share), `latency_s`, `output_tokens`, `cost_usd` (means an
    answer). evaluations: what the evaluators of `[evaluate]` gave (which one: `evaluators`), on the scales of
    `evaluation_scales` (the ends, the upper null where there is none); of passages the mean label of an agent's, and P,
    AP, RR by them. evaluator_families: evaluator to its family. lower_is_better: those of them of which little is good.
    thresholds: criterion to the label from which it is good enough. threshold_shares: how many answers are, and what
    the others fail of. evaluator_tags: what of NIST AI RMF and SR 11-7 they bear on, each tag with its evaluators.
    problems, insights: in sentences. boxes: the spread of every measure over queries. pointwise_labels: agent to
    criterion to label ("0", "1", "2", "failed") to how many. relevance_labels likewise. refusals: agent to the share of
    its answers that decline; empty where that was not asked. panel: where several judges judge. All labels and verdicts
    are then the majority's, flip_rate is over each judge's verdicts, and audit says of the panel only what is not one
    judge's; None, and not in the file, of one judge. second: likewise, where there is a second judge. sources:
    likewise, where some queries are written and some real. perturbed: likewise, where some were made of others: all
    other figures are then of the originals alone. classification: likewise, where answers are judged as classes: agent
    to accuracy, precision, recall and F1. models_by_prompts: likewise, where agents answer by two models and two
    prompts at least.
    """

    format: int = 1
    corpus: str
    note: str = ""
    notices: tuple[str, ...] = ()
    settings: dict[str, str | int | float | None]
    agents: tuple[str, ...]
    n_queries: int
    verdict: Choice
    retrieval: Figures
    retrieval_people: Figures = Field(default_factory=dict)
    relevance_labels: dict[str, int]
    n_relevance_failed: int
    pointwise: Figures
    pointwise_labels: dict[str, dict[str, dict[str, int]]]
    refusals: dict[str, Figure] = Field(default_factory=dict)
    evaluations: Figures = Field(default_factory=dict)
    evaluation_scales: dict[str, tuple[float, float | None]] = Field(default_factory=dict)
    evaluators: dict[str, str] = Field(default_factory=dict)
    evaluator_families: dict[str, str] = Field(default_factory=dict)
    lower_is_better: tuple[str, ...] = ()
    thresholds: dict[str, float] = Field(default_factory=dict)
    threshold_shares: ByThreshold = Field(default_factory=dict)
    evaluator_tags: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    insights: tuple[Insight, ...] = ()
    pass_or_fail: dict[str, PassOrFail] = Field(default_factory=dict)
    boxes: Boxes = Field(default_factory=dict)
    answers: dict[str, dict[str, Figure]]
    points: dict[str, Figure]
    wins: Figures
    win_rate: dict[str, Figure]
    flip_rate: Figure
    first_shown_wins: Figure
    elo: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    bradley_terry_note: str | None = None
    rating_detail: RatingDetail | None = None
    tests: tuple[PairedTest, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    pool: dict[str, AgentPool] = Field(default_factory=dict)
    pool_people: dict[str, AgentPool] = Field(default_factory=dict)
    audit: Audit | None = None
    comparisons: tuple[Comparison, ...] = ()
    corrected: Corrections | None = None
    failures: Failures | None = None
    failures_at_bottom: FailuresAtBottom | None = None
    panel: PanelOfJudges | None = None
    second: SecondJudgeResults | None = None
    sources: WrittenAndReal | None = None
    perturbed: Perturbed | None = None
    classification: Figures | None = None
    models_by_prompts: tuple[ModelByPrompt, ...] = ()

    def dump(self) -> dict[str, Any]:
        """As of every record; without what only some runs bring: a panel, two kinds of queries, evaluators, …"""
        bringing = ("panel", "second", "sources", "perturbed", "classification")
        absent = {name for name in bringing if getattr(self, name) is None}
        absent |= {name for name in (*_OF_EVALUATORS, "models_by_prompts") if not getattr(self, name)}
        return self.model_dump(mode="json", by_alias=True, exclude=absent)
