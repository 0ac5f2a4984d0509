"""A run that ends once it is decided: the plan of its queries, the looks at what is in, and when to go on.

The whole test set is there before anything is answered, and its sections are put in one order drawn once: with batches
written one after the other a drift between them would make one of two equal agents the best in most runs, shuffled it
does so as rarely as the level says. Each look is recorded, so that a run that was killed looks at the same places and
spends no error twice (`statistics.ladder`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

import numpy as np

from ragassay.arrays import Truths
from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment, RunSettings
from ragassay.experiment.stage import count_queries
from ragassay.experiment.workspace import NotAsked, Part, StageOutcome, Workspace
from ragassay.files import digest_file, digest_json, read_json, read_records, write_json, write_records
from ragassay.records import Query, Record, Taken, grouped

from .human_labels.sheet import check_of_plan
from .inputs.clusters import source_clusters
from .results import Choice
from .statistics.ladder import FEWEST_SECTIONS, LEVEL, Look, whole_sections
from .statistics.resamples import six_digits

AHEAD = 8
"""Of so many sections that come next by the draw, the one that keeps the batch likest to the whole is taken."""


class Drawn(Record):
    """`look.json`: the look that is being worked for, `at` from 0, of those after `ends` queries; told: before it.

    plans: where questions are written look by look, the plan up to each look so far; ends to come are then guesses.
    """

    seldom = ("plans",)

    plan: str
    until: str
    at: int
    ends: tuple[int, ...]
    told: tuple[str, ...]
    plans: tuple[str, ...] = ()

    @property
    def look(self) -> Look:
        """What the ladder is held to."""
        return Look(self.ends, self.at, by_look=bool(self.plans))


def ordered(queries: Sequence[Query], seed: int) -> list[list[Query]]:
    """Whole sections in an order drawn by the seed, whose beginnings have writers and kinds in the shares of all.

    The same for any order of the queries.
    """
    clusters = source_clusters(sorted(queries, key=lambda query: query.id))
    by_id = {query.id: query for query in queries}
    sections = grouped((clusters.names[clusters.number(id)], by_id[id]) for id in clusters.queries)
    left = sorted(sections)
    random.Random(f"{seed}:looks").shuffle(left)
    whole, now = Counter(map(_cell, queries)), Counter[tuple[str, str]]()

    def unlike(name: str) -> float:
        """How far the shares of what is there, with this section, are from the whole's: their absolute differences."""
        new = now + Counter(map(_cell, sections[name]))
        return sum(abs(new[cell] / new.total() - n / whole.total()) for cell, n in whole.items())

    found: list[list[Query]] = []
    while left:
        name = min(left[:AHEAD], key=unlike)
        left.remove(name)
        now += Counter(map(_cell, sections[name]))
        found.append(sections[name])
    return found


def _cell(query: Query) -> tuple[str, str]:
    return str(query.metadata.get("model", "")), str(query.metadata.get("kind", ""))


class _Planned(NamedTuple):
    """queries: in the order in which they are asked, as far as they are written. ends: after how many to look. plans:
    of each look that can be taken, the digest of all that it hangs on."""

    queries: list[Query]
    ends: tuple[int, ...]
    plans: list[str]


def _planned(workspace: Workspace) -> _Planned:
    """Raises InputError where the plan has too few sections at its first look."""
    settings, queries = workspace.experiment.run, read_records(workspace.planned, Query)
    made_by = [planned_by(workspace.experiment), digest_file(workspace.passages)]

    def plan(ends: Sequence[int], flat: Sequence[Query]) -> str:
        return digest_json([*made_by, ends, [[query.id, query.text] for query in flat]])[:16]

    if workspace.experiment.by_look:
        flat, ends, n = _by_look(workspace, queries)
        return _Planned(flat, ends, [plan(ends[: at + 1], flat[: ends[at]]) for at in range(n)])
    sections = ordered(queries, workspace.experiment.questions.seed)
    if settings.max_queries is not None:
        ends_at = zip(sections, accumulate(map(len, sections)), strict=True)
        sections = [one for one, end in ends_at if end <= settings.max_queries]
        if not sections:
            said = f"its first section has more than run.max_queries = {settings.max_queries} queries"
            raise InputError(said, file=workspace.planned, remedy="raise run.max_queries, or leave it out")
    sizes = [len(one) for one in sections]
    ends = whole_sections(sizes, settings.looks)
    first = sum(start < ends[0] for start in accumulate(sizes, initial=0))
    if first < FEWEST_SECTIONS:
        problem = f"its first of {len(ends)} looks has queries from {first} sections, and no agent is told from another"
        remedy = f"ask for more questions, from more sections, or set run.looks below {settings.looks}"
        raise InputError(f"{problem} below {FEWEST_SECTIONS}", file=workspace.planned, remedy=remedy)
    flat = [query for one in sections for query in one]
    return _Planned(flat, ends, [plan(ends, flat)] * len(ends))


def _by_look(workspace: Workspace, queries: Sequence[Query]) -> tuple[list[Query], tuple[int, ...], int]:
    """The queries part by part, where each part ends, and how many parts are written.

    The user's own are dealt out over all parts, whole sections in the order of `ordered`, once those are with their
    part that are of a section that is written about.
    """
    parts = read_records(workspace.parts, Part)
    part_of = {section: at for at, part in enumerate(parts) for section in part.sections}
    by_id = {query.id: query for query in queries}
    written = [[by_id.pop(id) for id in part.queries or ()] for part in parts]
    own: list[list[Query]] = [[] for _ in parts]
    sections = ordered(list(by_id.values()), workspace.experiment.questions.seed) if by_id else []
    known = [part_of.get(str(section[0].metadata.get("section"))) for section in sections]
    for place, section in sorted(zip(known, sections, strict=True), key=lambda pair: pair[0] is None):
        at = min(range(len(parts)), key=lambda at: len(own[at])) if place is None else place
        own[at] += section
    batches = [[*mine, *theirs] for mine, theirs in zip(own, written, strict=True)]
    sizes = [
        len(batch) + (sum(part.quota.values()) if part.queries is None else 0)
        for batch, part in zip(batches, parts, strict=True)
    ]
    n = sum(part.queries is not None for part in parts)
    return [query for batch in batches[:n] for query in batch], tuple(np.cumsum(sizes).tolist()), n


def goes_on(workspace: Workspace) -> bool:
    """Whether the look at all that is written so far, of parts one after the other, was taken and asks for more."""
    _, ends, plans = _planned(workspace)
    taken = _taken(workspace, plans)
    return len(plans) < len(ends) and len(taken) == len(plans) and taken[-1].goes_on


def _taken(workspace: Workspace, plans: Sequence[str]) -> list[Taken]:
    """The looks that were taken at just these plans, up to the first that was not."""
    pairs = zip(taken_of(workspace), plans, strict=False)
    return [one for one, _ in takewhile(lambda pair: pair[0].plan == pair[1], pairs)]


def draw(workspace: Workspace) -> StageOutcome:
    """Write `queries.jsonl`, what is asked up to this look, and `look.json`.

    Raises InputError where the plan has too few sections at its first look, and where people's labels are of another
    test set.
    """
    check_of_plan(workspace, read_records(workspace.planned, Query))
    flat, ends, plans = _planned(workspace)
    taken, others = _taken(workspace, plans), taken_of(workspace)
    at = min(sum(one.goes_on for one in taken), len(plans) - 1)
    told = taken[at - 1].told if at else ()
    write_records(workspace.queries, flat[: ends[at]])
    if workspace.experiment.run.eliminate:
        batches = zip((0, *ends), ends, [(), *(one.told for one in taken[:at])], strict=False)
        out = [(flat[start:end], passed_over(n, known)) for n, (start, end, known) in enumerate(batches)]
        rows = [NotAsked(query_id=query.id, agent=agent) for batch, some in out for query in batch for agent in some]
        write_records(workspace.not_asked, rows)
    else:
        workspace.not_asked.unlink(missing_ok=True)
    until = str(workspace.experiment.run.until)
    so_far = tuple(plans[: at + 1]) if workspace.experiment.by_look else ()
    write_json(workspace.look, Drawn(plan=plans[at], until=until, at=at, ends=ends, told=told, plans=so_far).dump())
    n = len(others) - len(taken)
    new = f"a new plan of looks begins: the {n} in looks.jsonl are of other settings, documents or questions"
    if taken:
        new = f"from look {len(taken) + 1} on a new plan begins: the {n} in looks.jsonl are of other questions"
    return StageOutcome((new,) if n else (), n_records=ends[at])


def passed_over(at: int, told: Sequence[str]) -> tuple[str, ...]:
    """Whom `[run] eliminate` leaves out of the batch of a look, `at` from 0, of the agents told before: every other
    batch. Were they never asked again, those left would be rated on other questions than those that are out."""
    return tuple(told) if at % 2 else ()


def planned_by(experiment: Experiment) -> dict[str, Any]:
    """The settings that make it another plan; those of costs, figures and the report do not."""
    held = experiment.model_dump(mode="json", warnings=False, exclude={"run", "compare", "evaluate"})
    run = experiment.run
    by_look = ["write_by_look", run.looks] if run.write_by_look else []
    return held | {"run": [run.until, run.margin, *([run.eliminate] if run.eliminate else []), *by_look]}


def taken_of(workspace: Workspace, drawn: Drawn | None = None) -> list[Taken]:
    """The looks that were taken, of a plan or of any; none without a file. Raises InputError with the line."""
    if not workspace.looks.exists():
        return []
    plans = drawn and (drawn.plans or (drawn.plan,))
    return [one for one in read_records(workspace.looks, Taken) if plans is None or one.plan in plans]


def drawn_of(workspace: Workspace) -> Drawn | None:
    """The look that is being worked for; None where the run has a fixed length."""
    if workspace.experiment.run.until is None or not workspace.look.exists():
        return None
    return Drawn.model_validate(read_json(workspace.look))


def looked(workspace: Workspace, verdict: Choice) -> tuple[Taken, ...]:
    """The looks of this plan with the one that the verdict is of; none of a run of fixed length."""
    drawn = drawn_of(workspace)
    if drawn is None:
        return ()
    done = verdict.decided or (drawn.until == "good-enough" and verdict.safe)
    near = [verdict.differences[one] for one in verdict.untold or verdict.told if one in verdict.differences]
    others = len(verdict.told) + len(verdict.untold)
    new = Taken(
        plan=drawn.plan,
        look=drawn.at + 1,
        looks=len(drawn.ends),
        queries=drawn.ends[drawn.at],
        planned=drawn.ends[-1],
        leader=verdict.leader,
        told=verdict.told,
        untold=verdict.untold,
        lead=min(near, key=lambda one: one.value if one.value is not None else 1.0, default=None),
        bound=six_digits(drawn.look.bound(LEVEL / max(2, others))),
        decided=verdict.decided,
        safe=verdict.safe,
        goes_on=not done and drawn.at + 1 < len(drawn.ends),
        not_asked=passed_over(drawn.at, drawn.told) if workspace.experiment.run.eliminate else (),
    )
    return (*taken_of(workspace, drawn)[: drawn.at], new)


def take(workspace: Workspace) -> Taken:
    """Record the look that `results.json` is of. Raises InputError where the file cannot be read."""
    rows = [Taken.model_validate(row) for row in read_json(workspace.figures)["looks"]]
    write_records(workspace.looks, rows)
    return rows[-1]


def said(taken: Sequence[Taken]) -> str:
    """What a reader must know of a run that could end early, after these looks."""
    last = taken[-1]
    if last.goes_on:
        return f"This is look {last.look} of {last.looks} at the queries that are in; the run goes on."
    if last.stopped_early:
        saved = last.planned - last.queries
        return (
            f"Stopped early, at look {last.look} of {last.looks}, with {last.queries} of {last.planned} planned "
            f"queries ({saved} saved): after a stop a lead is overstated. More queries would be a new analysis."
        )
    return f"All {last.planned} planned queries are in, after {last.looks} looks."


def passed_over_said(taken: Sequence[Taken]) -> tuple[str, ...]:
    """What a reader must know where agents that were told were asked less (`passed_over`); nothing where none was."""
    n = len({agent for one in taken for agent in one.not_asked})
    if not n:
        return ()
    who = "1 agent that was told from the leader was" if n == 1 else f"{n} agents that were told from the leader were"
    return (
        f"{who} asked every other batch from then on; figures of such are over fewer queries, of two over those "
        "that both were asked",
    )


def after_stop(taken: Sequence[Taken]) -> tuple[str, ...]:
    """What must be said of figures that people's labels correct in a run that has ended; nothing while it goes on."""
    if not taken or not taken[-1].stopped_early:
        return ()
    return (
        "the run stopped by the judge's own verdicts: what people's labels correct after that is a new analysis, which "
        "the looks' bound on errors does not cover",
    )


GUESS = 0.10
"""Points by which the best is guessed to be ahead of each other where no results say it."""
SPREAD = 0.39
"""Standard deviation over queries of the difference of two agents' points, where no results say it: that of six agents
who tie a fifth of their games and share four tenths of their luck (`benchmarks/ratings/tournaments.py`)."""
_PATHS = 2000


class Likely(NamedTuple):
    """How many queries a run is likely to take on average, in 90% of runs at most, and the share that ends early."""

    mean: float
    most: float
    ends_early: float


def likely(n: int, settings: RunSettings, leads: Sequence[float], spread: float, seed: int = 7) -> Likely:
    """By simulated paths of the leader's leads over each other agent, in points, looked at evenly.

    A query's leads are normal, of standard deviation `spread`, and correlated by a half, since the leader is in each.
    """
    from scipy.special import ndtri

    sizes = np.diff(np.linspace(0, n, settings.looks + 1).round().astype(int))
    ends = np.cumsum(sizes)
    generator = np.random.default_rng(seed)
    own, common = (generator.standard_normal((_PATHS, k, len(ends))) for k in (len(leads), 1))
    steps = (own + common) * np.sqrt(0.5) * spread * np.sqrt(sizes) + np.array(leads)[:, None] * sizes
    paths, best = steps.cumsum(axis=-1), settings.until == "best"
    level = LEVEL / 2 if best else LEVEL / max(len(leads), 2)
    looks = [Look(tuple(ends.tolist()), at) for at in range(len(ends))]
    bound = -ndtri([one.bound(level) for one in looks]) * spread * np.sqrt(ends)
    beyond: Truths = paths > bound - (0 if best else settings.margin) * ends
    known: Truths = np.maximum.accumulate(beyond, axis=-1) if best else beyond
    done = np.asarray(known.all(axis=1))
    took = ends[np.where(done.any(axis=1), done.argmax(axis=1), len(ends) - 1)]
    return Likely(float(took.mean()), float(np.percentile(took, 90)), float((took < n).mean()))


def forecast(workspace: Workspace) -> str | None:
    """What a plan says of a run that may end early; None of one of fixed length.

    The leads are those of the results there are; where there are none, `GUESS` over each other agent.
    """
    settings, n = workspace.experiment.run, count_queries(workspace)
    n_others = len(workspace.experiment.agent_names()) - 1
    if settings.until is None or n_others < 1 or n < settings.looks:
        return None
    leads, spread, by = [GUESS] * n_others, SPREAD, f"If the best is {100 * GUESS:g} points ahead of each other"
    if workspace.figures.exists():
        verdict = Choice.model_validate(read_json(workspace.figures)["verdict"])
        if found := [one.value for one in verdict.differences.values() if one.value is not None]:
            leads, by = [max(0.0, one) for one in found], "If agents differ as in the results there are"
    told = likely(n, settings, leads, spread)
    wanted = "the best is known" if settings.until == "best" else f"none is better by {100 * settings.margin:g} points"
    cheaper = "writing, answers and judging" if settings.write_by_look else "answers and judging"
    fewer = " Agents told are then asked every other batch only: that costs less, and is decided less often."
    return (
        f"At most {n} queries, as above, in up to {settings.looks} looks, until {wanted}. {by}, likely "
        f"{told.mean:.0f} of them, in 90% of runs at most {told.most:.0f}: {cheaper} then cost "
        f"{told.mean / n:.0%} of what is above.{fewer if settings.eliminate else ''}"
    )
