"""The judge's taste: for what its own family of models wrote, and for length.

Models recognise and favour what they wrote themselves (arXiv:2404.13076).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from ragassay.arrays import Floats
from ragassay.cores import Helpers
from ragassay.experiment.settings import Experiment
from ragassay.records import Answer, Figure, Query

from ..inputs.clusters import writer
from ..ratings.leader import leaders, named
from ..ratings.length_control import Controlled, control_length
from ..ratings.verdicts import Verdict
from ..ratings.win_table import Contests, contests
from ..results import AuditFinding, LengthControl
from ..statistics.paired_comparison import LEVEL
from ..statistics.resamples import Resamples, rounded
from ..statistics.sign_flip import flip_p_of_rows

_ALIASES = {"chatgpt": "gpt", "davinci": "gpt", "o": "gpt", "mixtral": "mistral", "ministral": "mistral",
            "codestral": "mistral", "gemma": "gemini", "qwq": "qwen"}  # fmt: skip
"""Names under which a family's models also go; `o` is o1, o3 and their like."""


def family(model: str) -> str:
    """`gpt` of `openai:gpt-4o`, `claude` of `file:claude-judge`: the first word of the model's own name."""
    name = model.split(":", 1)[-1].rsplit("/", 1)[-1].casefold()
    words = re.findall(r"[^\W\d_]+", name)
    first = words[0] if words else name
    return _ALIASES.get(first, first)


def writers_of(experiment: Experiment) -> dict[str, str | None]:
    """Agent to the model that wrote its answers; None where nobody said."""
    built_in = {name: experiment.answer.model for name, _, _ in experiment.built_in_agents()}
    ours = {agent.name: agent.model for agent in experiment.table_agents()}
    return {**built_in, **ours, **{agent.name: agent.writer for agent in experiment.own_agents()}}


def audit_family(
    judge: str,
    writers: Mapping[str, str | None],
    queries: Sequence[Query],
    found: Sequence[Verdict],
    agents: Sequence[str],
    draws: Resamples,
) -> tuple[AuditFinding, ...]:
    """On answers and on questions. `agents` are best first."""
    return (_on_answers(judge, writers, found, agents, draws), *_on_questions(judge, queries, found, agents, draws))


def _on_answers(
    judge: str, writers: Mapping[str, str | None], found: Sequence[Verdict], agents: Sequence[str], draws: Resamples
) -> AuditFinding:
    """Where the family wrote some agents' answers: the share of the games against the others that its own won."""
    known = {agent: family(writer) for agent in agents if (writer := writers.get(agent)) is not None}
    own = [agent for agent in known if known[agent] == family(judge)]
    others = [agent for agent in known if agent not in own]
    unknown = [agent for agent in agents if agent not in known]
    doubt = f" Who wrote the answers of {named(unknown)} is not known (agent.writer)." if unknown else ""
    if not own or not others:
        share = Figure(value=len(own) / len(known) if known else None, n=len(known), n_failed=len(unknown))
        said = f"The judge's family, {family(judge)}, wrote none of the answers."
        if not known:
            said = "Who wrote the answers is not known."
        elif own:
            said = f"The judge's family, {family(judge)}, wrote every answer: its labels may be too kind, but a liking "
            said += "for its own is the same for each agent and does not order them."
        return AuditFinding(key="own_answers", subject=family(judge), figure=share, sentence=said + doubt)
    across = [v for v in found if len({v.agent_a, v.agent_b} & {*own}) == len({v.agent_a, v.agent_b} & {*others}) == 1]
    held = [(v.query_id, score) for v in across if (score := v.score_of(own)) is not None]
    figure = draws.mean(held, len(across) - len(held))
    favoured = figure.ci_low is not None and figure.ci_low > 0.5 and agents[0] in own
    return AuditFinding(
        key="own_answers_win",
        subject=family(judge),
        figure=figure,
        fair=0.5,
        sentence=f"The judge's family, {family(judge)}, wrote the answers of {named(own)}, not those of "
        f"{named(others)}; the share of games won against them holds their quality and any preference alike.{doubt}",
        warning=f"The judge is of the family that wrote the answers of {agents[0]} ({family(judge)}), and sides with "
        f"its own in {100 * (figure.value or 0.0):.0f}% of the games against others: preference and quality cannot be "
        "told apart here. Judge again with a model of another family before you choose."
        if favoured
        else None,
    )


def _on_questions(
    judge: str, queries: Sequence[Query], found: Sequence[Verdict], agents: Sequence[str], draws: Resamples
) -> tuple[AuditFinding, ...]:
    """The share of questions that the family wrote; and how much better the leader does on those, where not all."""
    written = {query.id: family(model) for query in queries if (model := writer(query)) is not None}
    own = {query for query, name in written.items() if name == family(judge)}
    share = draws.figure({query.id: float(query.id in own) for query in queries}, (0.0, 1.0))
    share = Figure(value=share.value, n=share.n)
    if not own or len(own) == len(queries):
        said = f"The judge's family, {family(judge)}, wrote {'all' if own else 'none'} of the questions"
        said += ", so whether it favours who answers them best cannot be seen from within." if own else "."
        return (AuditFinding(key="own_questions", subject=family(judge), figure=share, sentence=said),)
    rest = [v for v in found if v.query_id not in own]
    gap = _gap(found, agents[0], own, draws)
    elsewhere, overall = leaders(rest, agents, draws), leaders(found, agents, draws)
    said = f"On the questions of other writers, {named(elsewhere)} leads"
    said += ", as over all." if elsewhere == overall else f"; over all, {named(overall)}."
    return (
        AuditFinding(key="own_questions", subject=family(judge), figure=share, sentence=said),
        AuditFinding(
            key="own_questions_gap",
            subject=agents[0],
            figure=gap,
            fair=0.0,
            sentence=f"How much more of its games {agents[0]} wins on questions of the judge's family than on others.",
            warning=f"{agents[0]} leads on questions that the judge's own family wrote; on the others "
            f"{named(elsewhere)} leads."
            if _is_clear(gap) and elsewhere != overall
            else None,
        ),
    )


def _is_clear(figure: Figure) -> bool:
    """Whether its interval has no 0 in it."""
    return figure.ci_low is not None and figure.ci_high is not None and (figure.ci_low > 0 or figure.ci_high < 0)


def _gap(found: Sequence[Verdict], agent: str, own: Collection[str], draws: Resamples) -> Figure:
    """The agent's share of games won (a tie is half) on the family's questions less that on the others."""
    at = {query: index for index, query in enumerate(draws.queries)}
    won, played = np.zeros((2, len(at))), np.zeros((2, len(at)))
    mine = [v for v in found if agent in (v.agent_a, v.agent_b)]
    for v in mine:
        if (points := v.score_of([agent])) is not None:
            place = int(v.query_id in own), at[v.query_id]
            won[place] += points
            played[place] += 1
    n = int(played.sum())
    failed = len(mine) - n
    if not played.sum(axis=1).all():
        return Figure(value=None, n=n, n_failed=failed)

    def gap(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = (weights @ won.T) / (weights @ played.T)
        difference: Floats = rates[:, 1] - rates[:, 0]
        return difference

    drawn = gap(draws.weights.astype(np.float64))
    ends = draws.interval(drawn[np.isfinite(drawn)], int((played.sum(axis=0) > 0).sum()))
    return rounded(float(gap(np.ones((1, len(at))))[0]), n, failed, *ends)


Lengths = Mapping[tuple[str, str], int]
"""(query id, agent) to the characters of its answer, where it gave one."""


def lengths_of(answers: Mapping[tuple[str, str], Answer]) -> dict[tuple[str, str], int]:
    """The length of every answer there is, in characters."""
    return {key: len(answer.answer) for key, answer in answers.items() if answer.answer is not None}


def begin_control(
    verdicts: Sequence[Verdict],
    lengths: Lengths,
    agents: Sequence[str],
    draws: Resamples,
    helpers: Helpers,
    table: Contests | None = None,
) -> Callable[[], Controlled]:
    """`control_length` of the verdicts, waited for when it is asked for; table: their contests, if they are at hand."""
    found = _with_lengths(verdicts, lengths)
    if table is None or len(found) < len(verdicts):
        table = contests(found, agents, draws.queries, planned=verdicts)
    rows = zip(table.query, table.a, table.b, strict=True)
    told = ((table.queries[q], table.agents[a], table.agents[b]) for q, a, b in rows)
    gaps = np.array([lengths[q, a] - lengths[q, b] for q, a, b in told], dtype=np.float64)
    return helpers.start(control_length, table, gaps, draws)


def _with_lengths(verdicts: Sequence[Verdict], lengths: Lengths) -> list[Verdict]:
    return [v for v in verdicts if (v.query_id, v.agent_a) in lengths and (v.query_id, v.agent_b) in lengths]


def audit_length(
    verdicts: Sequence[Verdict],
    lengths: Lengths,
    agents: Sequence[str],
    draws: Resamples,
    control: Callable[[], Controlled] | None = None,
    not_asked: Collection[tuple[str, str]] = (),
) -> tuple[tuple[AuditFinding, ...], LengthControl]:
    """The share of decided games that the longer answer won (0.5 is fair), and the effect of length on the log odds.

    A warning is set where length moves the verdicts beyond chance and another agent leads once it is held equal. A game
    without both lengths has no part in it. control: what `begin_control` of the same gave, if it has begun. not_asked:
    (query id, agent) that a plan left out.
    """
    found = _with_lengths(verdicts, lengths)
    won = longer_won(found, lengths)
    share = draws.mean([(query, float(longer)) for query, longer in won], sum(v.winner is None for v in found))
    p = flip_p_of_rows([(query, 1 if longer else -1) for query, longer in won], draws.clusters)
    of_share = f"Over {share.n:,} decided games, longer answers win no more often than shorter ones, beyond chance."
    if share.value is None:
        of_share = "No game was decided between answers of different length."
    elif p is not None and p < LEVEL:
        side = "longer" if share.value > 0.5 else "shorter"
        of_share = f"The {side} answer wins more often than chance: because it is better, or because the judge likes "
        of_share += f"it {side}."
    fitted = (control or begin_control(verdicts, lengths, agents, draws, Helpers(False)))()
    plain, held = _first(fitted.plain, agents), _first(fitted.controlled, agents)
    moved = _is_clear(fitted.effect)
    liked = "longer" if (fitted.effect.value or 0.0) > 0 else "shorter"
    how = f"{named(held)} leads {'with and without' if plain == held else 'with'} length held equal"
    how += "" if plain == held else f", {named(plain)} without"
    said, warning = f"Length does not move the verdicts as far as these games can tell; {how}.", None
    if fitted.effect.value is None:
        said = f"Length cannot be held equal here: {fitted.note}."
    elif moved:
        said = f"Between equal agents, the {liked} answer has the better odds; {how}."
    if moved and plain != held:
        warning = f"The judge may like {liked} answers: {named(plain)} leads by the verdicts, {named(held)} once "
        warning += "length is held equal. Read a few of their answers before you choose."
    findings = (
        AuditFinding(key="longer_wins", figure=share, fair=0.5, p=p, sentence=of_share),
        AuditFinding(key="length_effect", figure=fitted.effect, fair=0.0, sentence=said, warning=warning),
    )
    known = {
        agent: {query: lengths.get((query, agent)) for query in draws.queries if (query, agent) not in not_asked}
        for agent in agents
    }
    return findings, LengthControl(
        mean_length={agent: draws.figure(each) for agent, each in known.items()},
        plain={agent: fitted.plain[agent] for agent in agents},
        controlled={agent: fitted.controlled[agent] for agent in agents},
        note=fitted.note,
    )


def longer_won(found: Sequence[Verdict], lengths: Lengths) -> list[tuple[str, bool]]:
    """(query id, whether the longer answer won) of each game that was decided between answers of unequal length.

    What "the longer answer wins" means everywhere: a game is a pair of answers to a query, decided where its verdict
    over all orders shown names one of them; longer is what has more characters. Lengths of all `found` must be there.
    """
    gaps = [lengths[v.query_id, v.agent_a] - lengths[v.query_id, v.agent_b] for v in found]
    decided = [(v, gap) for v, gap in zip(found, gaps, strict=True) if v.winner in ("a", "b") and gap]
    return [(v.query_id, (gap > 0) == (v.winner == "a")) for v, gap in decided]


def _first(ratings: Mapping[str, Figure], agents: Sequence[str]) -> tuple[str, ...]:
    """The agents with the highest rating; ratings nearer than 1e-6 are the same but for rounding."""
    known = {agent: value for agent in agents if (value := ratings[agent].value) is not None}
    return tuple(agent for agent, value in known.items() if value > max(known.values()) - 1e-6)
