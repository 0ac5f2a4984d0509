"""The judge, audited: what it may have got wrong, each as a figure with what it means for the ranking.

Here what failed and what changes from one asking to the next; a place of its own have `position` and `taste`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ragassay.experiment.settings import Experiment
from ragassay.records import Figure, Game, Judgment, Repeat, for_want_of_an_answer

from ..agreement.coefficients import Share, alpha, coincidences
from ..agreement.estimates import Found, Sample
from ..inputs.clusters import Clusters, clusters_of_rows
from ..inputs.findings import Findings
from ..inputs.labels import GAME, Key, Label
from ..judging.asked_again import repeat_of
from ..ratings.leader import leaders, named
from ..ratings.length_control import Controlled
from ..ratings.verdicts import SCORES, Verdict
from ..ratings.win_table import win_rate
from ..results import AmongJudges, Audit, AuditFinding, FailedReplies, JudgeOfPanel, PanelOfJudges
from ..statistics.clustered import interval
from ..statistics.resamples import Resamples, rounded
from .position import audit_echo, audit_places, audit_position
from .taste import audit_family, audit_length, lengths_of, writers_of


def audit_of(
    findings: Findings,
    found: Sequence[Verdict],
    own: Sequence[Verdict],
    experiment: Experiment,
    agents: Sequence[str],
    draws: Resamples,
    control: Callable[[], Controlled] | None = None,
) -> Audit:
    """The audit of the judge, every finding in the report's order; of a panel as one what concerns its verdicts.

    found: the verdicts on `findings.games`, of a panel the majority's; own: each judge's; agents: best first. Of a
    panel that is the effect of length and what failed: places, repeats and families are each judge's own
    (`panel_of_judges`). control: of length, if it has begun (`audit_length`).
    """
    lengths, out = lengths_of(findings.material.answers), findings.material.not_asked
    of_length, length = audit_length(found, lengths, agents, draws, control, out)
    before: tuple[AuditFinding, ...] = ()
    after: tuple[AuditFinding, ...] = ()
    if not findings.judges:
        before = (
            *audit_position(findings.games, agents, draws, found),
            *audit_places(findings.games, agents, draws, found),
            *audit_echo(findings.lists, draws),
            *audit_repeats(findings.repeats, findings.relevance, findings.pointwise, findings.games, draws.clusters),
        )
        writers, queries = writers_of(experiment), findings.material.queries
        after = audit_family(experiment.judge.model, writers, queries, found, agents, draws)
    return Audit(
        findings=(*before, *of_length, *after, audit_failures(found, agents, draws)),
        length=length,
        failures=failed_replies(findings),
        n_identical=sum(one.identical for one in own),
    )


PASSAGES = "passages"
"""What disagreement on the relevance of passages is called; answers have a criterion of that name."""


def panel_of_judges(
    findings: Findings,
    found: Sequence[Verdict],
    own: Sequence[Verdict],
    experiment: Experiment,
    agents: Sequence[str],
    draws: Resamples,
) -> PanelOfJudges | None:
    """The judges in the panel's order; None of a single judge. found, own, agents: as of `audit_of`."""
    if not findings.judges:
        return None
    bootstrap, seed = experiment.compare.bootstrap, draws.seed
    passages = [row for judge in findings.judges.values() for row in judge.relevance]
    answers = [row for judge in findings.judges.values() for row in judge.pointwise]
    of_passages = among_labels(passages, draws.clusters, bootstrap=bootstrap, seed=seed)
    winners = {(one.query_id, one.agent_a, one.agent_b): one.winner for one in found}
    judges = []
    for name in findings.judges:
        alone, mine = findings.of_judge(name), [one for one in own if one.judge == name]
        as_only = experiment.model_copy(update={"judge": experiment.judge.model_copy(update={"model": name})})
        asked = [row for row in (*alone.relevance, *alone.pointwise) if not for_want_of_an_answer(row.error)]
        played = [one for one in mine if not one.unplayed]
        pairs = [(one, winners.get((one.query_id, one.agent_a, one.agent_b))) for one in played]
        both = [(one, theirs) for one, theirs in pairs if one.winner is not None and theirs is not None]
        known = [(one.query_id, float(one.winner == theirs)) for one, theirs in both]
        judge = JudgeOfPanel(
            judge=name,
            failed=draws.mean([(row.query_id, float(row.error is not None)) for row in asked], 0),
            agrees=draws.mean(known, len(pairs) - len(known)),
            leaders=leaders(mine, agents, draws),
            win_rate=win_rate(mine, agents, draws),
            audit=audit_of(alone, mine, mine, as_only, agents, draws).model_copy(update={"failures": ()}),
        )
        judges.append(judge)
    return PanelOfJudges(
        judges=tuple(judges),
        disagreement=(
            *(one.model_copy(update={"criterion": PASSAGES}) for one in of_passages),
            *among_labels(answers, draws.clusters, bootstrap=bootstrap, seed=seed),
            among_verdicts(own, draws.clusters, bootstrap=bootstrap, seed=seed),
        ),
    )


def guessing(audit: Audit) -> tuple[str, ...]:
    """That the judge may repeat the order shown, or guess, where it may: that goes before all else a reader is told."""
    keys = ("order_echoed", "flip_rate")
    return tuple(one.warning for key in keys for one in audit.findings if one.key == key and one.warning)


def judge_guesses(audit: Audit, panel: PanelOfJudges | None = None) -> str:
    """That the judge may be guessing as far as its verdicts tell, by `guessing`, or ''; of a panel, where at least half
    of its judges may be: the others have no majority.

    audit: of the judge, or of the panel as one, which says nothing of a single judge's guessing.
    """
    if panel is None:
        return " ".join(guessing(audit))
    named = [f"{one.judge}: {' '.join(said)}" for one in panel.judges if (said := guessing(one.audit))]
    return " ".join(named) if 2 * len(named) >= len(panel.judges) else ""


def warnings(audit: Audit) -> tuple[str, ...]:
    """What could have changed the winner, for the head of the report."""
    return tuple(finding.warning for finding in audit.findings if finding.warning)


def warnings_of(panel: PanelOfJudges | None) -> tuple[str, ...]:
    """The warnings of each judge's audit, with its name."""
    judges = panel.judges if panel else ()
    return tuple(f"{one.judge}: {row.warning}" for one in judges for row in one.audit.findings if row.warning)


def failed_replies(findings: Findings) -> tuple[FailedReplies, ...]:
    """A row for each stage and model on record.

    The share of the calls has Jeffreys' interval (Brown, Cai and DasGupta, Statistical Science 16(2), 2001).
    """
    from scipy.special import betaincinv

    rows = []
    for row in findings.usage:
        share = Figure(value=None, n=0, n_failed=row.n_failed)
        if row.calls:
            failed, rest = min(row.n_failed, row.calls), max(row.calls - row.n_failed, 0)
            low = float(betaincinv(failed + 0.5, rest + 0.5, 0.025)) if failed else 0.0
            high = float(betaincinv(failed + 0.5, rest + 0.5, 0.975)) if rest else 1.0
            share = rounded(failed / row.calls, row.calls, 0, low, high)
        rows.append(FailedReplies(stage=row.stage, model=row.model, failed=share, n_refused=row.n_refused))
    return tuple(rows)


def audit_failures(found: Sequence[Verdict], agents: Sequence[str], draws: Resamples) -> AuditFinding:
    """The share of the games put to the judge that it failed on, and who would lead had each gone against the leader.

    agents: best first. A warning is set where another agent would then lead, alone or level, had every failed game gone
    as well for it as it could. Games that were not played
    since an answer had failed are no failure of the judge (`figures/pool.py`).
    """
    played = [v for v in found if not v.unplayed]
    n_failed = sum(v.winner is None for v in played)
    share = draws.mean([(v.query_id, float(v.winner is None)) for v in played], 0)
    now = leaders(played, agents, draws) if n_failed else ()
    others = [agent for agent in agents if now and agent not in now]
    rivals = [rival for rival in others if rival in leaders(list(_against(played, now, rival)), agents, draws)]
    said, warning = "No game was played.", None
    if rivals:
        said = f"Had they gone against {named(now)}, {named(rivals)} could lead."
        warning = f"{n_failed:,} of {len(played):,} games failed, enough to matter: had they gone against "
        warning += f"{named(now)}, {named(rivals)} could lead."
    elif n_failed:
        said = f"They are left out of the ratings; even had all of them gone against {named(now)}, no other would lead."
    elif played:
        said = "Every game has a verdict."
    if n := len(found) - len(played):
        said += f" {n:,} more {'was' if n == 1 else 'were'} not played, since an answer had failed."
    return AuditFinding(key="failed_games", figure=share, fair=0.0, sentence=said, warning=warning)


def _against(found: Sequence[Verdict], now: Sequence[str], rival: str) -> Iterable[Verdict]:
    """The verdicts with the failed ones lost by the leaders and won by the rival; what is of neither stays out."""
    for v in found:
        if v.winner is not None or not {v.agent_a, v.agent_b} & {*now, rival}:
            yield v
        elif rival in (v.agent_a, v.agent_b):
            yield replace(v, winner="a" if v.agent_a == rival else "b", error=None)
        else:
            yield replace(v, winner="b" if v.agent_a in now else "a", error=None)


KINDS = {
    "passages": "A label that changes from one asking to the next adds noise to every agent's ranking measures alike; "
    "the intervals already hold it.",
    "answers": "A grade that changes from one asking to the next blurs the means of all agents; the intervals already "
    "hold it.",
    "games": "A verdict that changes from one asking to the next is a coin toss: it draws the agents' ratings together "
    "and calls for more queries, and lifts none.",
}


def audit_repeats(
    repeats: Sequence[Repeat],
    relevance: Iterable[Judgment],
    pointwise: Iterable[Judgment],
    games: Iterable[Game],
    clusters: Clusters,
) -> tuple[AuditFinding, ...]:
    """The consistency of passages', answers' and games' judgments, of those that were repeated; empty without any.

    The first judgment counts with its repeats. A game is compared order by order.
    """
    if not repeats:
        return ()
    firsts: dict[str, dict[Key, float | None]] = {
        "passages": {_key(row): row.label for row in relevance},
        "answers": {_key(row): row.label for row in pointwise},
        "games": {_key(row): row.label for row in (repeat_of(game, 1) for game in games)},
    }
    findings = []
    for kind, first in firsts.items():
        rows: dict[Key, list[float | None]] = {}
        for repeat in sorted(repeats, key=lambda row: (_key(row), row.sample)):
            key = _key(repeat)
            if key in first and (kind == "games") == repeat.criterion.startswith("game-"):
                rows.setdefault(key, [first[key]]).append(repeat.label)
        if rows:
            figure = repeat_consistency(list(rows.values()), clusters.names_of([query for query, _, _ in rows]))
            said, name = KINDS[kind], "repeat_consistency"
            findings.append(AuditFinding(key=name, subject=kind, figure=figure, fair=1.0, sentence=said))
    return tuple(findings)


def _key(row: Judgment) -> Key:
    return row.query_id, row.subject, row.criterion


def repeat_consistency(labels: Sequence[Sequence[float | None]], clusters: Sequence[str]) -> Figure:
    """The mean over items of the share of their pairs of repeats with equal labels (Fleiss 1971's P_i), 0 to 1.

    labels: for each item the label of each repeat, None where it failed. clusters: each item's query or section. The
    items, not the pairs, are what is sampled, and items of one cluster are kept together: the interval is that of
    `evaluate.statistics.clustered`. n: items with at least two labels; n_failed: the others.
    """
    known: list[tuple[float, str]] = []
    for item, cluster in zip(labels, clusters, strict=True):
        counts = Counter(label for label in item if label is not None)
        if (m := counts.total()) >= 2:
            known.append((sum(c * (c - 1) for c in counts.values()) / (m * (m - 1)), cluster))
    failed = len(labels) - len(known)
    if not known:
        return Figure(value=None, n=0, n_failed=failed)
    values = np.array([share for share, _ in known])
    together = clusters_of_rows([name for _, name in known])
    value, low, high = interval(values, np.ones(len(values)), together, (0.0, 1.0))
    return rounded(value, len(known), failed, low, high)


SPLIT = "not_unanimous"
ALPHA = "krippendorff_alpha(ordinal)"
_NOTHING = "nothing was labelled by two judges"
Vote = tuple[Key, str, float | None]
"""What was labelled, by whom, and how; None where that failed."""


def among_labels(
    rows: Iterable[Judgment], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> tuple[AmongJudges, ...]:
    """One for each criterion, of all judges' records in one file. clusters: of the queries."""
    return _among([(_key(row), row.judge, row.label) for row in rows], clusters, bootstrap, seed)


def among_verdicts(
    verdicts: Iterable[Verdict], clusters: Clusters, *, bootstrap: int = 1000, seed: int = 7
) -> AmongJudges:
    """The same of verdicts on games, criterion `game`: a win, a tie and a loss in this order.

    Where a file repeats a game, the k-th of one judge meets the k-th of the others, as in `merge_verdicts`.
    """
    said: list[Vote] = []
    often: Counter[tuple[str, str, str, str]] = Counter()
    for one in verdicts:
        mine = (one.query_id, one.agent_a, one.agent_b, one.judge)
        key = (one.query_id, f"{one.agent_a}:{one.agent_b}:{often[mine]}", GAME)
        said.append((key, one.judge, None if one.winner is None else SCORES[one.winner]))
        often[mine] += 1
    return _among(said, clusters, bootstrap, seed, (GAME,))[0]


def among_people(labels: Iterable[Label], clusters: Clusters) -> tuple[AmongJudges, ...]:
    """The same of people's labels of `labels.csv`, `judges` being the people; games are a criterion like others."""
    return _among([(label.key, label.who, label.value) for label in labels], clusters, 1000, 7)


def _among(
    said: Iterable[Vote], clusters: Clusters, bootstrap: int, seed: int, criteria: Iterable[str] = ()
) -> tuple[AmongJudges, ...]:
    """By criterion, and for `criteria` even where nothing is said."""
    votes: dict[str, dict[Key, dict[str, float | None]]] = {criterion: {} for criterion in criteria}
    for key, who, label in said:
        votes.setdefault(key[2], {}).setdefault(key, {})[who] = label
    return tuple(_on_one(name, votes[name], clusters, bootstrap, seed) for name in sorted(votes))


def _on_one(
    criterion: str, votes: dict[Key, dict[str, float | None]], clusters: Clusters, bootstrap: int, seed: int
) -> AmongJudges:
    judges = tuple(sorted({judge for said in votes.values() for judge in said}))
    keys = sorted(votes)
    units = [[label for label in votes[key].values() if label is not None] for key in keys]
    pairable = [place for place, unit in enumerate(units) if len(unit) > 1]
    found = Found(len(pairable), len(units) - len(pairable))
    if pairable:
        together = clusters_of_rows(clusters.names_of([keys[place][0] for place in pairable]))
        labels = [units[place] for place in pairable]
        split = np.array([float(len(set(unit)) > 1) for unit in labels])
        found.share(Share(SPLIT, split, np.ones(len(split)), _NOTHING), together)
        scale = sorted({label for unit in labels for label in unit})
        places = [[scale.index(label) for label in unit] for unit in labels]
        table = coincidences(places, together.numbers, len(scale))
        why = f"all labels are equal ({scale[0]:g}): nothing is left to agree on"
        Sample.of_coincidences(table, None, bootstrap, seed).figure(found, ALPHA, partial(alpha, level="ordinal"), why)
    else:
        found.leave_out(SPLIT, _NOTHING)
        found.leave_out(ALPHA, _NOTHING)
    return AmongJudges(criterion=criterion, judges=judges, figures=found.figures, undefined=found.undefined)
