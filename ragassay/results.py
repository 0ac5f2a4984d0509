"""`results.json`: every figure of the report, in one record that `compare` writes and `report` reads."""

from __future__ import annotations

from pydantic import Field

from ragassay.records import Figure, Record

Figures = dict[str, dict[str, Figure]]
"""Agent to the figure's own spelling (`RR(rel=2)@5`, `accuracy`) to the figure.

A figure's `value` is over `n`; `n_failed` more were owed and failed. Shares run from 0 to 1.
"""


class PairedTest(Record):
    """A paired t-test of two agents on one measure, over the queries on which both have a value.

    `difference` is the mean of a - b; `t`, `df` and `p` (two-sided) are None where the test is not defined.
    """

    measure: str
    agent_a: str
    agent_b: str
    difference: Figure
    t: float | None
    df: int | None
    p: float | None


class StageUsage(Record):
    """What one stage used of one model; `n_unmeasured` calls came with no usage or a price that is not known."""

    stage: str
    model: str
    calls: int
    n_failed: int
    n_unmeasured: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class LedgerRow(Record):
    """`ledger.jsonl`: asked + extra = written + unwritten + failed, and written = kept + rejected.

    `unwritten` is by how much replies were shorter than asked, `extra` by how much longer; `failed` is what the calls
    without a reply were to write; `sampled` is what of `kept` is in the test set.
    """

    model: str
    doc: str
    asked: int
    written: int
    kept: int
    rejected: int
    failed: int
    sampled: int
    unwritten: int = 0
    extra: int = 0


class Verdict(Record):
    """What to choose. `sure` is False where the leader cannot be told from the next agent with these queries."""

    best: str | None
    runner_up: str | None
    sure: bool
    sentence: str
    p_best: dict[str, float] = Field(default_factory=dict)


class Results(Record):
    """The whole file. Agents are keys, best first by Bradley-Terry (by Elo where it has no finite rating).

    wins: row agent to column agent to the share of their verdicts that the row agent won (ties are neither's win).
    win_rate: the share of all an agent's verdicts that it won. flip_rate: the share of the pairs judged in both orders
    whose winner changed with the order. first_shown_wins: the share of single decided games won by the answer shown
    first. elo and bradley_terry: ratings from one initial rating, 400 points to a factor of ten in the odds.
    answers: agent to `answered` (share), `latency_s`, `output_tokens`, `cost_usd` (means an answer).
    pointwise_labels: agent to criterion to label ("0", "1", "2", "failed") to how many. relevance_labels likewise.
    """

    format: int = 1
    corpus: str
    note: str = ""
    notices: tuple[str, ...] = ()
    settings: dict[str, str | int | float | None]
    agents: tuple[str, ...]
    n_queries: int
    verdict: Verdict
    retrieval: Figures
    retrieval_people: Figures = Field(default_factory=dict)
    relevance_labels: dict[str, int]
    n_relevance_failed: int
    pointwise: Figures
    pointwise_labels: dict[str, dict[str, dict[str, int]]]
    answers: dict[str, dict[str, Figure]]
    wins: Figures
    win_rate: dict[str, Figure]
    flip_rate: Figure
    first_shown_wins: Figure
    elo: dict[str, Figure]
    bradley_terry: dict[str, Figure]
    bradley_terry_note: str | None = None
    tests: tuple[PairedTest, ...] = ()
    usage: tuple[StageUsage, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
