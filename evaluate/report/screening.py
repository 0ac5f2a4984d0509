"""The screening on the report's page, and by itself as `screen.html`, before there are answers and games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_model, write_text
from ragassay.records import Figure
from ragassay.table import Cell, Column, Row, Table
from ragassay.text import one_line, plain

from .plots import Dot, around_0, environment, scatter
from .wording import MISSING, number, p_words, shown

if TYPE_CHECKING:
    from ..screening.screened import ScreenResults, VariantFigures

AT_TOKENS = "_at_tokens"
MEASURES = {
    "evidence_recall": ("recall", "share of the evidence's characters that were handed over"),
    "evidence_ndcg": ("nDCG", "how early new evidence comes, 1 for the best order of the passages found"),
    "evidence_precision": ("precision", "share of the characters handed over that are evidence"),
    "evidence_iou": ("IoU", "evidence that was handed over, of all that is evidence or was handed over"),
    "evidence_mrr": (
        "MRR",
        "mean of 1 / rank of the first passage that holds a whole piece of evidence, or half of which lies in one",
    ),
    "evidence_recall_1": ("recall at grade 1", "recall of all that holds a part of the answer at least"),
    "evidence_mrr_1": ("MRR at grade 1", "MRR where a piece that holds a part of the answer counts too"),
    "unjudged": ("unjudged", "share of the passages handed over that nobody has judged"),
    "evidence_ndcg_low": ("nDCG, lowest", "with the worst grades that what nobody has judged could have"),
    "evidence_ndcg_high": ("nDCG, highest", "with the best grades that what nobody has judged could have"),
    "evidence_recall_high": ("recall, highest", "with all that nobody has judged being relevant"),
}
"""Of each measure of evidence, what it is called and what it means."""


def measure_words(measure: str, results: ScreenResults) -> str:
    """`evidence recall`, `evidence recall at 1,500 tokens`."""
    bare = measure.removesuffix(AT_TOKENS)
    name = f"evidence {MEASURES[bare][0]}" if bare in MEASURES else one_line(measure)
    return f"{name} {at_words(results)}" if measure.endswith(AT_TOKENS) else name


def at_words(results: ScreenResults) -> str:
    """`at 1,500 tokens`, where chunkings meet."""
    return f"at {results.context_tokens:,} tokens" if results.context_tokens else "at equal context"


def duration(seconds: float | None) -> str:
    """In two digits or more: `0.42 ms`, `12 ms`, `1.3 s`."""
    if seconds is None:
        return MISSING
    if seconds >= 0.9995:
        return f"{seconds:,.1f} s"
    thousandths = seconds * 1000
    return f"{thousandths:.{0 if thousandths >= 9.95 else 1 if thousandths >= 0.995 else 2}f} ms"


def size(n_bytes: int | None) -> str:
    """`3.1 MB`, in powers of ten."""
    if n_bytes is None:
        return MISSING
    if n_bytes < 1000:
        return f"{n_bytes} B"
    power, unit = next(each for each in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if n_bytes >= each[0] * 0.9995)
    return f"{n_bytes / power:,.1f} {unit}"


def level_words(level: str | float | bool | None) -> str:
    """A value of a setting."""
    return "none" if level is None else one_line(str(level))


def screening_shown(results: ScreenResults) -> dict[str, Any]:
    """What the template `screening.html.j2` is given."""
    first, *others = sentences(results) or [""]
    return {
        "n": len(results.variants),
        "n_queries": results.n_queries,
        "n_sections": results.n_sections,
        "quality": measure_words(results.quality, results),
        "first": first,
        "others": others,
        "sure": bool(results.chosen and results.chosen.sure),
        "panels": panels(results),
        "key": [(badge, name) for name, badge in badges(results).items()],
        "n_front": sum(variant.on_front for variant in results.variants),
        "before_after": _before_after(results),
        "n_splits": results.chosen.n_splits if results.chosen else 0,
        "finalists": finalists(results),
        "at_tokens": at_words(results),
        **_effects(results),
        "variants": _variants(results),
    }


def badges(results: ScreenResults) -> dict[str, str]:
    """Of each finalist, what it is marked with: B the baseline, the others 1, 2, … in their order."""
    baseline = results.chosen.baseline if results.chosen else None
    others = [name for name in results.finalists if name != baseline]
    marks = {name: str(place) for place, name in enumerate(others, 1)}
    return {name: marks.get(name, "B") for name in results.finalists}


def _mark(badge: str) -> Markup:
    return Markup(f'<b class="nr{" base" if badge == "B" else ""}">{badge}</b>')  # noqa: S704


def sentences(results: ScreenResults) -> list[str]:
    """What is said, without what stands beside it anyway: the effects of settings, and lists of names."""
    effects = {effect.sentence for effect in results.effects}
    finalists = [plain(name) for name in results.finalists]
    untold = [plain(f"{effect.setting} ({effect.among})") for effect in results.effects if not effect.matters]

    def lists(said: str) -> bool:
        return any(names and all(name in said for name in names) for names in (finalists, untold))

    return [said for place, said in enumerate(results.said) if not place or not (said in effects or lists(said))]


@dataclass(frozen=True)
class Panel:
    """One plot. title: what stands against what; missing: how many variants are not in it."""

    title: str
    plot: Markup
    missing: int


@dataclass(frozen=True)
class _Cost:
    """What quality is drawn against. words: of a value; tick: of a round one."""

    title: str
    of: Callable[[VariantFigures], float | None]
    words: Callable[[float], str]
    tick: Callable[[float], str]


_COSTS = (
    _Cost(
        "tokens handed over",
        lambda one: one.tokens.value,
        lambda tokens: f"{number(tokens, 'number')} tokens",
        lambda tokens: f"{tokens:,.0f}",
    ),
    _Cost(
        "latency of a search (median)",
        lambda one: one.latency_p50_s,
        duration,
        lambda seconds: f"{round(seconds, 9):g} s" if seconds >= 0.9995 else f"{round(1000 * seconds, 6):g} ms",
    ),
)


def panels(results: ScreenResults) -> list[Panel]:
    """Quality against tokens, and against latency where any is known; none without a figure of quality."""
    return [panel for cost in _COSTS if (panel := _panel(results, cost))]


def _panel(results: ScreenResults, against: _Cost) -> Panel | None:
    """The rest first, then the front, then the finalists with their intervals and badges."""
    quality_words = measure_words(results.quality, results)
    title = f"{quality_words[:1].upper()}{quality_words[1:]} by {against.title}"
    marks, dots, told = badges(results), list[Dot](), []
    for variant in results.variants:
        quality, cost = _figure(variant, results.quality), against.of(variant)
        if quality is None or quality.value is None or cost is None:
            continue
        name, badge = one_line(variant.name), marks.get(variant.name, "")
        value = number(quality.value, "measure")
        if badge:
            told.append(f"{name} ({badge}): {value} at {against.words(cost)}")
        dots.append(
            Dot(
                Figure(value=cost, n=1),
                quality if badge else Figure(value=quality.value, n=1),
                f"{name}: {value}, {against.words(cost)}",
                "fin" if badge else "on" if variant.on_front else "off",
                badge,
            )
        )
    if not dots:
        return None
    label = f"{title}, {len(dots)} variants. Finalists: {'; '.join(told) or 'none'}."
    order = sorted(dots, key=lambda dot: ("off", "on", "fin").index(dot.css))
    return Panel(title, scatter(order, label, against.tick, "measure"), len(results.variants) - len(dots))


def _figure(variant: VariantFigures, measure: str) -> Figure | None:
    found: Figure | None = getattr(variant, measure, None)
    return found


def _before_after(results: ScreenResults) -> Table | None:
    """What the leader and its leads are worth on the queries that chose it, and on others."""
    chosen = results.chosen
    if chosen is None:
        return None
    told = [(f"{measure_words(results.quality, results)} of {chosen.name}", chosen.mean)]
    if chosen.runner_up and chosen.lead:
        told.append((f"its lead over the second, {chosen.runner_up}", chosen.lead))
    if chosen.baseline and chosen.lead_over_baseline:
        told.append((f"its lead over the baseline, {chosen.baseline}", chosen.lead_over_baseline))
    rows = [(name, shown(pair.before, "measure"), shown(pair.after, "measure")) for name, pair in told]
    return Table("The leader, before and after", [Column(name) for name in ("", "before", "after")], rows)


def finalists(results: ScreenResults) -> Table | None:
    """A row for each figure, with a cell for each finalist."""
    by_name = {variant.name: variant for variant in results.variants}
    there = [by_name[name] for name in results.finalists]
    if not there:
        return None
    rows: list[Row] = []
    for at in ("", AT_TOKENS):
        for measure, (name, meaning) in MEASURES.items():
            figures = [_figure(one, measure + at) for one in there]
            if any(figure is not None for figure in figures):
                words = f"{name} {at_words(results)}" if at else name
                cells = (shown(figure, "measure", "not computed for this variant") for figure in figures)
                rows.append((Cell(words, help=meaning), *cells))
    rows.append((Cell("tokens", help="handed over for a query"), *(shown(one.tokens, "number") for one in there)))
    for name, meaning, words_of in _TIMES:
        rows.append((Cell(name, help=meaning), *(Cell(words_of(one)) for one in there)))
    heads = [_mark(badge) + Markup("<span>{}</span>").format(one_line(name)) for name, badge in badges(results).items()]
    return Table("Finalists", [Column("Evidence"), *map(Column, heads)], rows)


_TIMES: tuple[tuple[str, str, Callable[[VariantFigures], str]], ...] = (
    ("latency p50", "median of a search", lambda one: duration(one.latency_p50_s)),
    ("latency p95", "of 95% of the searches", lambda one: duration(one.latency_p95_s)),
    ("index: time", "of making it, vectors at hand left out", lambda one: duration(one.index_s)),
    ("index: size", "of all that it is made of", lambda one: size(one.index_bytes)),
)


def _effects(results: ScreenResults) -> dict[str, Any]:
    """Those that matter and the others, on one axis, so that their lengths compare."""
    axis = around_0((one.difference for effect in results.effects for one in effect.levels), 3)
    rows = []
    for effect in results.effects:
        for place, one in enumerate(() if effect.matters else effect.levels):
            names = ("", "") if place else (effect.setting, "all kinds" if effect.among == "all" else effect.among)
            figures = shown(one.difference, "measure"), p_words(one.p_holm), replace(shown(one.mean, "measure"), n="")
            rows.append((*names, level_words(one.level), *figures))
    heads = ("Setting", "among", "value", "to the others", "p, corrected", "mean")
    columns = [Column(name, numbers=name != "Setting") for name in heads]
    return {
        "matter": [effect for effect in results.effects if effect.matters],
        "do_not": [effect.sentence for effect in results.effects if not effect.matters],
        "their_figures": Table("Settings that are not told apart", columns, rows),
        "axis": axis,
        "bare": replace(axis, ticks=(0.0,)),
        "level_words": level_words,
    }


def _variants(results: ScreenResults) -> Table:
    """All of them, the highest quality first; those without a value last."""
    marks = badges(results)

    def place(variant: VariantFigures) -> tuple[bool, float, str]:
        figure = _figure(variant, results.quality)
        value = None if figure is None else figure.value
        return (value is None, -(value or 0.0), variant.name)

    rows: list[Row] = []
    for one in sorted(results.variants, key=place):
        badge = marks.get(one.name, "")
        mark = _mark(badge) if badge else Markup("")
        quality = shown(_figure(one, results.quality), "measure", "no query has a value")
        others = [shown(figure, "measure").value for figure in (one.evidence_ndcg, one.evidence_recall_at_tokens)]
        others += [shown(one.tokens, "number").value, duration(one.latency_p50_s)]
        rows.append((one.name, quality, *others, mark + (" front" if one.on_front else "")))
    names = ("nDCG", f"recall {at_words(results)}", "tokens", "latency")
    columns = [Column("Variant"), Column(measure_words(results.quality, results))]
    columns += [*(Column(name, numbers=True) for name in names), Column("")]
    queries = f"{results.n_queries:,} {'query' if results.n_queries == 1 else 'queries'}"
    note = f"Over {queries}, less what failed. Every figure and setting is in screen.json."
    return Table("All variants", columns, rows, [note])


def read_screen(path: Path) -> ScreenResults:
    """The screening of a run. Raises InputError, with what to do, where it is missing or of another layout."""
    from ..screening.screened import ScreenResults

    if not path.is_file():
        raise InputError("there is no screening yet", file=path, remedy="run `ragassay screen` first")
    return read_model(path, ScreenResults, "run `ragassay screen` again")


def write_screen_page(workspace: Workspace) -> None:
    """Write `screen.html` from `screen.json`; without one there is no page. Raises InputError for another layout."""
    if not workspace.screen.exists():
        workspace.screen_page.unlink(missing_ok=True)
        return
    write_text(workspace.screen_page, screen_page(read_screen(workspace.screen), workspace.corpus.resolve().name))


def screen_page(results: ScreenResults, corpus: str) -> str:
    """The page. The same record gives the same bytes."""
    template = environment().get_template("screen.html.j2")
    return template.render(screening=screening_shown(results), corpus=corpus, colour={})
