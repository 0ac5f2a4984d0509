"""`screen.json`: what `ragassay screen` found, in one record."""

from __future__ import annotations

from typing import Any

from ragassay.records import Figure, Record


class VariantFigures(Record):
    """One variant: its settings, its evidence measures at k and at equal context tokens (0 to 1), and what it costs.

    A measure that was not computed is None. tokens: handed over for a query. on_front: whether no other variant is at
    least as good, as fast and as sparing, and better in one of the three. latency in s of a search, index_s in s.
    """

    name: str
    settings: dict[str, Any]
    evidence_recall: Figure | None = None
    evidence_precision: Figure | None = None
    evidence_iou: Figure | None = None
    evidence_ndcg: Figure | None = None
    evidence_mrr: Figure | None = None
    evidence_recall_at_tokens: Figure | None = None
    evidence_precision_at_tokens: Figure | None = None
    evidence_iou_at_tokens: Figure | None = None
    evidence_ndcg_at_tokens: Figure | None = None
    evidence_mrr_at_tokens: Figure | None = None
    tokens: Figure
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    index_s: float | None = None
    index_bytes: int | None = None
    on_front: bool = False


class BeforeAfter(Record):
    """A figure of what was chosen, as it looks on the queries that chose (`before`) and on queries that did not."""

    before: Figure
    after: Figure


class ChosenVariant(Record):
    """The variant with the highest quality of all, and what of that remains when others' queries choose.

    before: of `name` on all queries. after: cross-fitted over halves of the source sections (`n_splits` random ones):
    whatever half of them chooses, on the other half. lead: over the second (`runner_up`; after: the second of the half
    that chose); lead_over_baseline: None without a baseline, or where it leads. sure: whether the queries tell `name`
    from each other variant; untold: those they do not tell it from, best first.
    """

    name: str
    runner_up: str | None = None
    baseline: str | None = None
    mean: BeforeAfter
    lead: BeforeAfter | None = None
    lead_over_baseline: BeforeAfter | None = None
    n_splits: int
    sure: bool
    untold: tuple[str, ...] = ()
    sentence: str


class LevelFigures(Record):
    """One value of a setting. mean: of quality, over the combinations; difference: from the mean of the other values.

    p_holm: two-sided, of a difference of 0, corrected over all effects; None where it is not defined.
    """

    level: str | int | float | bool | None
    mean: Figure
    difference: Figure
    p_holm: float | None


class SettingEffect(Record):
    """What a setting does, averaged over the other settings.

    among: the kind of retriever, or `all` for the kind itself. n_combinations: of the other settings, those that exist
    with each of these levels and so are counted; n_variants: how many variants that is. spread: the highest mean less
    the lowest. matters: whether some level is told from the others.
    """

    among: str
    setting: str
    levels: tuple[LevelFigures, ...]
    n_combinations: int
    n_variants: int
    spread: float | None
    matters: bool
    sentence: str


class ScreenResults(Record):
    """The screening. quality: the measure that chose. said: what it comes to, in sentences, the weightiest first.

    context_tokens: the context at which chunkings meet, in the measures that end in `_at_tokens`.
    """

    quality: str
    n_queries: int
    n_sections: int
    context_tokens: int | None = None
    variants: tuple[VariantFigures, ...]
    finalists: tuple[str, ...]
    chosen: ChosenVariant | None
    effects: tuple[SettingEffect, ...] = ()
    said: tuple[str, ...] = ()
