"""The judge stage: relevance of the pooled passages, each answer by itself, and games between the agents.

Every record owed is listed first, as an error; a judgment takes its place. Two rounds of calls: relevance and pointwise
together, then the games, which are given the passages judged very relevant. Files are written when all is there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Answer, Game, Judgment, Repeat
from ragassay.text import plain
from ragassay.trec import write_qrels

from .inputs.material import Material, read_material
from .judging.asked_again import NO_REPEATS, judge_again, write_repeats
from .judging.engine.reply import Docket, ask, complete
from .judging.games.adaptive_games import chosen
from .judging.games.pairings import all_pairs
from .judging.judges.pairwise import IDENTICAL, Evidence, Pairing, game_of
from .judging.judges.pointwise import Answered, unjudged_answer
from .judging.judges.relevance import VERY_RELEVANT, Pooled, qrels_of, unjudged_relevance
from .judging.panel import Panel, panel_of

NOT_JUDGED = "not judged"

PLUMBING_MODELS = ("local:smollm2-135m",)
"""Models that are there to try the plumbing."""


def make_judgments(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `relevance.jsonl`, `qrels.trec`, `pointwise.jsonl` and `games.jsonl`.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    settings = workspace.experiment.judge
    material, panel = read_material(workspace), panel_of(workspace, caller)
    relevance, pointwise = _judge_passages_and_answers(material, panel, settings, caller)
    games = _judge_games(material, panel, settings, relevance, caller)
    repeats = _judge_again(material, panel, settings, relevance, games, caller)
    write_records(workspace.relevance, relevance)
    write_qrels(workspace.qrels, qrels_of(relevance))
    write_records(workspace.pointwise, pointwise)
    write_records(workspace.games, games)
    write_repeats(workspace.repeats, repeats)
    files: dict[str, Sequence[Judgment | Game]]
    files = {"relevance judgments": relevance, "answer judgments": pointwise, "games": games}
    if repeats:
        files["repeats"] = repeats
    return _outcome(settings.model, files, NO_REPEATS if settings.repeats and panel.relevance.tokens else None)


def _judge_passages_and_answers(
    material: Material, panel: Panel, settings: JudgeSettings, caller: Caller
) -> tuple[list[Judgment], list[Judgment]]:
    pooled, answered = list(_pooled(material)), list(_answered(material))
    dockets: list[Docket[Pooled, Judgment] | Docket[Answered, Judgment]] = [Docket(panel.relevance, pooled)]
    dockets += [Docket(judge, answered) for judge in panel.pointwise]
    passages, *answers = ask(caller, dockets)
    return (
        complete(_owed_relevance(material, settings.model), passages),
        complete(_owed_pointwise(material, settings), [row for rows in answers for row in rows]),
    )


def _judge_again(
    material: Material,
    panel: Panel,
    settings: JudgeSettings,
    relevance: Sequence[Judgment],
    games: Sequence[Game],
    caller: Caller,
) -> list[Repeat]:
    """A part of what was judged, word for word; nothing unless the settings ask for it."""
    played = {(game.query_id, game.agent_a, game.agent_b, game.first) for game in games}
    pairings = [p for p in _pairings(material, relevance) if _settled(p, settings.model) is None]
    pairings = [p for p in pairings if (p.query.id, p.a.agent, p.b.agent, p.first) in played]
    return judge_again(panel, settings, list(_pooled(material)), list(_answered(material)), pairings, caller)


def _judge_games(
    material: Material, panel: Panel, settings: JudgeSettings, relevance: Sequence[Judgment], caller: Caller
) -> list[Game]:
    """Both orders of every pair. A missing answer costs no call, nor do two identical answers, which are a tie."""
    pairings, rows = list(_pairings(material, relevance)), list[Game]()

    def play(some: Sequence[Pairing]) -> list[Game]:
        made = _play(some, panel, settings, caller)
        rows.extend(made)
        return made

    if settings.games == "adaptive":
        pairings = chosen(pairings, material, settings, play)
    else:
        play(pairings)
    return complete([game_of(p, settings.model, error=NOT_JUDGED) for p in pairings], rows)


def _play(pairings: Sequence[Pairing], panel: Panel, settings: JudgeSettings, caller: Caller) -> list[Game]:
    """One round of games, each order of a game in a batch of its own."""
    settled = [_settled(p, settings.model) for p in pairings]
    to_ask = [p for p, row in zip(pairings, settled, strict=True) if row is None]
    dockets = [
        Docket(panel.first_a, [p for p in to_ask if p.first == "a"]),
        Docket(panel.first_b, [p for p in to_ask if p.first == "b"]),
    ]
    return [row for row in settled if row is not None] + [row for part in ask(caller, dockets) for row in part]


def _owed_relevance(material: Material, model: str) -> list[Judgment]:
    return [
        unjudged_relevance(query.id, id, model, NOT_JUDGED if id in material.passages else _unknown(id))
        for query in material.queries
        for id in material.pool(query.id)
    ]


def _unknown(passage_id: str) -> str:
    return f"passage '{plain(passage_id)}' is not in the corpus"


def _pooled(material: Material) -> Iterator[Pooled]:
    for query in material.queries:
        for id in material.pool(query.id):
            if id in material.passages:
                yield Pooled(query, material.passages[id])


def _owed_pointwise(material: Material, settings: JudgeSettings) -> list[Judgment]:
    return [
        unjudged_answer(query.id, agent, settings.model, criterion, _why_unjudged(material.answers[query.id, agent]))
        for query in material.queries
        for agent in material.agents
        for criterion in settings.criteria
    ]


def _why_unjudged(answer: Answer) -> str:
    return NOT_JUDGED if answer.error is None else f"no answer to judge: {answer.error}"


def _answered(material: Material) -> Iterator[Answered]:
    for query in material.queries:
        for agent in material.agents:
            answer = material.answers[query.id, agent]
            if answer.error is None:
                yield Answered(query, answer, material.known(answer.passages))


def _pairings(material: Material, relevance: Sequence[Judgment]) -> Iterator[Pairing]:
    """Every order of every game there is: by query, pair, and whose answer is first."""
    evidence: dict[str, list[Evidence]] = defaultdict(list)
    for judgment in relevance:
        if judgment.label == VERY_RELEVANT:
            evidence[judgment.query_id].append(Evidence(material.passages[judgment.subject], judgment.reason))
    for query in material.queries:
        known = tuple(evidence[query.id])
        for a, b in all_pairs(material.agents):
            answers = material.answers[query.id, a], material.answers[query.id, b]
            yield Pairing(query, *answers, "a", known)
            yield Pairing(query, *answers, "b", known)


def _settled(pairing: Pairing, model: str) -> Game | None:
    """The row of a game that needs no judge, or None."""
    errors = [f"{answer.agent}: {answer.error}" for answer in (pairing.a, pairing.b) if answer.error is not None]
    if errors:
        return game_of(pairing, model, error=f"no answer to judge: {'; '.join(errors)}")
    if pairing.a.answer == pairing.b.answer:
        return game_of(pairing, model, winner="tie", reason=IDENTICAL)
    return None


def _outcome(model: str, files: Mapping[str, Sequence[Judgment | Game]], note: str | None) -> StageOutcome:
    notices = [notice for kind, rows in files.items() if (notice := _failures(kind, rows))]
    notices += [note] if note else []
    if model in PLUMBING_MODELS:
        notices.insert(0, f"{model} judged: it is there to try the plumbing, and its judgments are worthless")
    return StageOutcome(
        notices=tuple(notices),
        n_records=sum(len(rows) for rows in files.values()),
        n_failed=sum(row.error is not None for rows in files.values() for row in rows),
    )


def _failures(kind: str, rows: Sequence[Judgment | Game]) -> str | None:
    """How many of `rows` failed, and the commonest error (of equal ones the first in the alphabet)."""
    errors = Counter(row.error for row in rows if row.error is not None)
    if not errors:
        return None
    commonest, count = min(errors.items(), key=lambda item: (-item[1], item[0]))
    said = plain(commonest if len(commonest) <= 200 else f"{commonest[:200]}…")
    return f"{errors.total()} of {len(rows)} {kind} failed; the commonest error ({count} times): {said}"
