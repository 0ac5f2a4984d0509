"""A `screen.json` made by hand: four variants, two of them finalists, one without a value, and two settings."""

from __future__ import annotations

from typing import Any

from ragassay.evaluate.screening.screened import (
    BeforeAfter,
    ChosenVariant,
    LevelFigures,
    ScreenResults,
    SettingEffect,
    VariantFigures,
)
from ragassay.records import Figure

LONG = "hybrid-words-size_160-k1_1.2-b_0.75-weights_0.3-0.7-and-then-some-more"


def figure(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Figure:
    return Figure(value=value, ci_low=low, ci_high=high, **{"n": 40, **more})


def variant(name: str, recall: Figure, tokens: float, latency_s: float | None, **more: Any) -> VariantFigures:
    settings = {"kind": "bm25"}
    return VariantFigures(
        name=name, settings=settings, evidence_recall=recall, tokens=figure(tokens), latency_p50_s=latency_s, **more
    )


def made_up_screen(best: str = LONG, **changed: Any) -> ScreenResults:
    """`best` leads before `plain`, the baseline; `dear` is on the front's other side, `broken` failed everywhere."""
    rows = (
        variant("plain", figure(0.512, 0.411, 0.613), 812, 0.00042, latency_p95_s=0.0011, index_bytes=2_340_000),
        variant(
            best,
            figure(0.731, 0.642, 0.803, n=38, n_failed=2),
            1507,
            0.0184,
            latency_p95_s=1.27,
            evidence_ndcg=figure(0.688, 0.6, 0.75),
            evidence_recall_at_tokens=figure(0.705, 0.61, 0.79),
            index_s=3.21,
            index_bytes=981,
            on_front=True,
        ),
        variant("dear", figure(0.655, 0.55, 0.74), 4096, None),
        variant("broken", figure(None, n=0, n_failed=40), 0, None),
    )
    lead = BeforeAfter(before=figure(0.076, 0.01, 0.142), after=figure(0.031, -0.04, 0.102))
    over = BeforeAfter(before=figure(0.219, 0.12, 0.318), after=figure(0.183, 0.07, 0.296))
    chosen = ChosenVariant(
        name=best,
        runner_up="dear",
        baseline="plain",
        mean=BeforeAfter(before=rows[1].evidence_recall or figure(None), after=figure(0.694, 0.59, 0.78)),
        lead=lead,
        lead_over_baseline=over,
        n_splits=200,
        sure=False,
        untold=("dear",),
        sentence=f"{best} leads, but cannot be told from dear.",
    )
    effects = (
        SettingEffect(
            among="bm25",
            setting="chunking.size",
            levels=(_level(80, 0.477, -0.164, 0.0004), _level(160, 0.641, 0.164, 0.0004)),
            n_combinations=6,
            n_variants=12,
            spread=0.164,
            matters=True,
            sentence="chunking.size of bm25 matters: 160 is 0.164 better.",
        ),
        SettingEffect(
            among="all",
            setting="kind",
            levels=(_level("bm25", 0.533, -0.017, 0.62), _level(None, 0.55, 0.017, None)),
            n_combinations=2,
            n_variants=4,
            spread=0.017,
            matters=False,
            sentence="kind: nothing is told apart.",
        ),
    )
    made = ScreenResults(
        quality="evidence_recall",
        n_queries=40,
        n_sections=13,
        context_tokens=1200,
        variants=rows,
        finalists=("plain", best),
        chosen=chosen,
        effects=effects,
        said=(chosen.sentence, f"To answers and games: plain and {best}.", *(one.sentence for one in effects)),
    )
    return made.model_copy(update=changed)


def _level(level: str | int | None, mean: float, difference: float, p: float | None) -> LevelFigures:
    ends = difference - 0.05, difference + 0.05
    return LevelFigures(level=level, mean=figure(mean), difference=figure(difference, *ends), p_holm=p)
