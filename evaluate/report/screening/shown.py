"""What the page says of a screening: its sentences, the front, the leader before and after, finalists, effects, all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from ragassay.records import Figure
from ragassay.text import one_line, plain

from ...screening.records import BeforeAfter, ScreenResults, SettingEffect, VariantFigures
from ..plots import axis_labels, scale, whisker
from ..wording import Shown, shown
from .picture import badges, panels
from .wording import AT_TOKENS, MEASURES, at_words, duration, level_words, measure_words, p_words, size


@dataclass(frozen=True)
class Row:
    """A line of a table: its name, what that means, and a figure for each column."""

    name: str
    help: str
    cells: tuple[Shown, ...]


@dataclass(frozen=True)
class Level:
    """A value of a setting: how far it is from the others, and its mean, over the same queries."""

    name: str
    plot: Markup
    difference: Shown
    p: str
    mean: Shown


@dataclass(frozen=True)
class Effect:
    """A setting: its name, what it is among, a sentence, and its levels."""

    setting: str
    among: str
    sentence: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Line:
    """A variant in the table of all."""

    name: str
    badge: str
    on_front: bool
    quality: Shown
    others: tuple[str, ...]


def screening_shown(results: ScreenResults) -> dict[str, Any]:
    """What the template `screening.html.j2` is given."""
    first, *others = sentences(results) or [""]
    quality = measure_words(results.quality, results)
    return {
        "n": len(results.variants),
        "n_queries": results.n_queries,
        "n_sections": results.n_sections,
        "quality": quality,
        "first": first,
        "others": others,
        "sure": bool(results.chosen and results.chosen.sure),
        "panels": panels(results),
        "key": [(badge, name) for name, badge in badges(results).items()],
        "n_front": sum(variant.on_front for variant in results.variants),
        "before_after": list(_before_after(results)),
        "n_splits": results.chosen.n_splits if results.chosen else 0,
        "finalists": list(_finalists(results)),
        "at_tokens": at_words(results),
        **_effects(results),
        "columns": ["nDCG", f"recall {at_words(results)}", "tokens", "latency"],
        "lines": _lines(results),
    }


def sentences(results: ScreenResults) -> list[str]:
    """What is said, without what stands beside it anyway: the effects of settings, and lists of names."""
    effects = {effect.sentence for effect in results.effects}
    finalists = [plain(name) for name in results.finalists]
    untold = [plain(f"{effect.setting} ({effect.among})") for effect in results.effects if not effect.matters]

    def lists(said: str) -> bool:
        return any(names and all(name in said for name in names) for names in (finalists, untold))

    first, others = results.said[:1], results.said[1:]
    return [*first, *(said for said in others if said not in effects and not lists(said))]


def _before_after(results: ScreenResults) -> Iterator[Row]:
    chosen = results.chosen
    if chosen is None:
        return
    name, quality = one_line(chosen.name), measure_words(results.quality, results)
    yield _two(f"{quality} of {name}", chosen.mean)
    if chosen.runner_up and chosen.lead:
        yield _two(f"its lead over the second, {one_line(chosen.runner_up)}", chosen.lead)
    if chosen.baseline and chosen.lead_over_baseline:
        yield _two(f"its lead over the baseline, {one_line(chosen.baseline)}", chosen.lead_over_baseline)


def _two(name: str, pair: BeforeAfter) -> Row:
    return Row(name, "", (shown(pair.before, "measure"), shown(pair.after, "measure")))


def _finalists(results: ScreenResults) -> Iterator[Row]:
    """A row for each figure, with a cell for each finalist."""
    by_name = {variant.name: variant for variant in results.variants}
    rows = [by_name[name] for name in results.finalists]
    for at in ("", AT_TOKENS):
        for measure, (name, meaning) in MEASURES.items():
            if any(getattr(row, measure + at) is not None for row in rows):
                words = f"{name} {at_words(results)}" if at else name
                absent = "not computed for this variant"
                yield Row(words, meaning, tuple(shown(getattr(row, measure + at), "measure", absent) for row in rows))
    yield Row("tokens", "handed over for a query", tuple(shown(row.tokens, "number") for row in rows))
    yield Row("latency p50", "median of a search", tuple(_bare(duration(row.latency_p50_s)) for row in rows))
    yield Row("latency p95", "of 95% of the searches", tuple(_bare(duration(row.latency_p95_s)) for row in rows))
    yield Row("index: time", "of making it, vectors at hand left out", tuple(_bare(duration(r.index_s)) for r in rows))
    yield Row("index: size", "of all that it is made of", tuple(_bare(size(row.index_bytes)) for row in rows))


def _bare(words: str) -> Shown:
    return Shown(words, "", "", "")


def _effects(results: ScreenResults) -> dict[str, Any]:
    """Those that matter and the others, on one axis, so that their lengths compare."""
    axis = scale([Figure(value=0.0, n=1)] + [one.difference for effect in results.effects for one in effect.levels], 3)
    bare = replace(axis, ticks=(0.0,))

    def made(effect: SettingEffect) -> Effect:
        among = "all kinds" if effect.among == "all" else one_line(effect.among)
        levels = [
            Level(
                level_words(one.level),
                whisker(one.difference, bare, 4, level_words(one.level), "measure"),
                shown(one.difference, "measure"),
                p_words(one.p_holm),
                replace(shown(one.mean, "measure"), n=""),
            )
            for one in effect.levels
        ]
        return Effect(one_line(effect.setting), among, effect.sentence, tuple(levels))

    return {
        "matter": [made(effect) for effect in results.effects if effect.matters],
        "do_not": [made(effect) for effect in results.effects if not effect.matters],
        "axis": axis_labels(axis, "measure"),
    }


def _lines(results: ScreenResults) -> list[Line]:
    """The highest quality first; those without a value last."""
    marks = badges(results)

    def place(variant: VariantFigures) -> tuple[bool, float, str]:
        value = _value(getattr(variant, results.quality, None))
        return (value is None, -(value or 0.0), variant.name)

    return [
        Line(
            name=one_line(variant.name),
            badge=marks.get(variant.name, ""),
            on_front=variant.on_front,
            quality=shown(getattr(variant, results.quality, None), "measure", "no query has a value"),
            others=_others(variant),
        )
        for variant in sorted(results.variants, key=place)
    ]


def _others(variant: VariantFigures) -> tuple[str, ...]:
    measures = (variant.evidence_ndcg, variant.evidence_recall_at_tokens)
    values = [shown(figure, "measure").value for figure in measures]
    return (*values, shown(variant.tokens, "number").value, duration(variant.latency_p50_s))


def _value(figure: Figure | None) -> float | None:
    return None if figure is None else figure.value
