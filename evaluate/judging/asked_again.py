"""What is asked more than once, or only once: a part of the judgments word for word, to see how well the judge agrees
with itself; the further runs of agents; the same text under several ids; agents that join later, in waves; and the
passages in which a question's evidence was looked for. Those are graded by the judge's own prompt of relevance, in
batches, and what was graded so is not asked about again while model and prompt are the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.tables import JudgeSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json, read_json, read_records, write_json, write_records
from ragassay.models.requests import Batch, Reply, Request
from ragassay.prompts import Prompt
from ragassay.records import (
    Answer,
    AnswerRun,
    AssessmentRun,
    Found,
    Game,
    Judgment,
    Passage,
    Query,
    RankedList,
    Record,
    Repeat,
)
from ragassay.text import listed, plain

from ..inputs.findings import Material
from ..inputs.labels import panel_labels
from ..ratings.verdicts import SCORES
from .engine.cases import Evidence, GameCase, Judge, KnownRelevant, ListCase, QueryCase, StepsTo, cases_of
from .engine.evaluator import Evaluator
from .engine.rounds import assess, judged, units
from .judges import stage_prompt
from .judges.games import asked_games
from .judges.relevance import CRITERION, RelevanceBatch
from .panel import Panel, panels_of

Drawn = TypeVar("Drawn")
Asked = GameCase | ListCase
"""What a judge of games is asked about."""

NO_REPEATS = "nothing was asked again (judge.repeats): with token probabilities a repeat gives the same reply"


class AskedAgain(Judge[Repeat]):
    """A judge asked once more, word for word: its requests with a sample number, in batches of their own."""

    def __init__(self, asked_first: Judge[Any], sample: int) -> None:
        self.setup, self.asked_first, self.sample = asked_first.setup, asked_first, sample

    @property
    def batch_label(self) -> str:
        """The judge's own label with `-repeat-N`."""
        return f"{self.asked_first.batch_label}-repeat-{self.sample}"

    def label_of(self, asked: Sequence[Request]) -> str:
        """The same of the judge's label for these."""
        return f"{self.asked_first.label_of(asked)}-repeat-{self.sample}"

    def owed(self, case: Any) -> list[Repeat]:
        """A repeat of each of the judge's records; of a list, of each pair in it."""
        return self._repeats(case, self.asked_first.owed(case))

    def steps(self, case: Any) -> StepsTo[Repeat]:
        """The judge's own steps."""
        steps = self.asked_first.steps(case)
        assert isinstance(steps, Generator), "what asks no model is not asked again"
        replies: Sequence[Reply] | None = None
        while True:
            try:
                asked = steps.send(replies) if replies is not None else next(steps)
            except StopIteration as done:
                return self._repeats(case, done.value)
            replies = yield [replace(request, sample=request.sample + self.sample) for request in asked]

    def _repeats(self, case: Any, rows: Sequence[Any]) -> list[Repeat]:
        told: list[Judgment | Game] = []
        for row in rows:
            if isinstance(row, RankedList):  # kept nowhere else: its first game has its reason
                games = asked_games(case, row)
                told += [game.model_copy(update={"reason": row.reason}) for game in games[:1]] + games[1:]
            else:
                told.append(row)
        return [repeat_of(one, self.sample) for one in told]


def judge_again(
    panels: Sequence[Panel],
    settings: JudgeSettings,
    waves: Sequence[Sequence[QueryCase]],
    games: Sequence[Sequence[Asked]],
    caller: Caller,
    in_turn: Sequence[str] = (),
) -> list[Repeat]:
    """`repeat_share` of the passages (in their batches), of the answers and of the games (each in both orders, or a
    query's lists in all presentations), `repeats` times over, of each judge.

    All in one round; nothing of a judge that gives probabilities, which has no other reply to give. Each wave is drawn
    from by itself, so that one that joins later changes nothing in those before.
    waves: the queries with what each wave brings; games: by wave, those that a judge was asked about. in_turn: of a run
    that may end early, the ids of the queries as they are asked: what is drawn of the first stays when others follow.
    """

    def some(of: Sequence[Drawn], kind: str, query: Callable[[Drawn], str]) -> list[Drawn]:
        return drawn(of, settings, kind, [query(one) for one in of] if in_turn else (), in_turn)

    asked = [panel for panel in panels if panel.mode != "probability"] if settings.repeats else []
    given: list[tuple[Judge[Any], Sequence[Any]]] = []
    of_query = attrgetter("query.id")
    for panel in asked:
        for number, (cases, played) in enumerate(zip(waves, games, strict=True)):
            wave = f":{number}" if number else ""
            grader, passages = panel.passages(cases)
            meetings = set(some(sorted({_meeting(game) for game in played}), f"games{wave}", itemgetter(0)))
            replayed = [game for game in played if _meeting(game) in meetings]
            given += [
                (grader, some(passages, f"passages{wave}", of_query)),
                *((judge, some(units(judge, cases), f"answers{wave}", of_query)) for judge in panel.pointwise),
                *((judge, [game for game in replayed if panel.judge_of(game) is judge]) for judge in panel.of_games),
            ]
    samples = range(1, settings.repeats + 1)
    made = judged([(AskedAgain(judge, sample), again) for sample in samples for judge, again in given], caller)
    return [row for rows in made for row in rows]


def _meeting(game: Asked) -> tuple[str, ...]:
    return game.query.id, *agents_in(game)


def agents_in(game: Asked) -> tuple[str, ...]:
    """Whose answers are compared in it."""
    answers = (game.a, game.b) if isinstance(game, GameCase) else game.answers
    return tuple(answer.agent for answer in answers)


def write_if_any(path: Path, rows: Sequence[Record]) -> None:
    """The file is there only where it has rows; one of an earlier run goes."""
    if rows:
        write_records(path, rows)
    else:
        path.unlink(missing_ok=True)


def drawn(
    cases: Sequence[Drawn], settings: JudgeSettings, kind: str, queries: Sequence[str] = (), in_turn: Sequence[str] = ()
) -> list[Drawn]:
    """`repeat_share` of the cases, rounded up, in their order; seeded.

    in_turn: query ids; the share, rounded up, is then kept after each of them, so that what is drawn of the first is
    the same however many follow. queries: that of each case.
    """
    if not in_turn:
        chosen = random.Random(f"{settings.seed}:repeats:{kind}").sample(
            range(len(cases)), _share(len(cases), settings)
        )
        return [cases[index] for index in sorted(chosen)]
    of: dict[str, list[int]] = {}
    for index, query in enumerate(queries):
        of.setdefault(query, []).append(index)
    n, found = 0, list[int]()
    for query in in_turn:
        mine = of.get(query, [])
        n += len(mine)
        luck = random.Random(f"{settings.seed}:repeats:{kind}:{query}")
        found += luck.sample(mine, _share(n, settings) - len(found))
    return [cases[index] for index in sorted(found)]


def _share(n: int, settings: JudgeSettings) -> int:
    return ceil(round(settings.repeat_share * n, 9))


def repeat_of(row: Judgment | Game, sample: int) -> Repeat:
    """The record of one repeat."""
    if isinstance(row, Judgment):
        return Repeat(**row.model_dump(include=set(Judgment.model_fields)), sample=sample)
    return Repeat(
        query_id=row.query_id,
        subject=f"{row.agent_a}:{row.agent_b}",
        judge=row.judge,
        criterion=f"game-presentation-{row.presentation}" if row.presentation else f"game-first-{row.first}",
        label=None if row.winner is None else SCORES[row.winner],
        reason=row.reason,
        error=row.error,
        probability=row.probability,
        sample=sample,
    )


def repeated_agents(workspace: Workspace) -> tuple[str, ...]:
    """The agents that answer more than once: those that we answer for, where answer.repeats is above 1."""
    if workspace.experiment.answer.repeats == 1:
        return ()
    return workspace.experiment.answered_agents()


def further_runs(workspace: Workspace, material: Material) -> Iterator[tuple[int, Material]]:
    """(run, the material with that run's answers) from run 2; an answer that is not on record is one with an error.

    Agents that answer once have the same answer in every run. Raises InputError with file and line.
    """
    agents = repeated_agents(workspace)
    rows: dict[tuple[str, int, str], Answer] = {}
    for agent in agents:
        path = workspace.answer_runs(agent)
        for row in read_records(path, AnswerRun):
            key = agent, row.run, row.query_id
            if key in rows:
                raise InputError(f"has two answers of run {row.run} to query '{plain(row.query_id)}'", file=path)
            rows[key] = Answer(**row.model_dump(exclude={"run"}))
    for run in range(2, workspace.experiment.answer.repeats + 1):
        given: dict[tuple[str, str], Answer] = {
            (query.id, agent): rows.get((agent, run, query.id))
            or Answer(query_id=query.id, agent=agent, answer=None, error="the run has no answer")
            for agent in agents
            for query in material.asked_of(agent)
        }
        yield run, replace(material, answers={**material.answers, **given})


def assess_runs(
    workspace: Workspace, evaluators: Sequence[Evaluator], material: Material, caller: Caller
) -> list[AssessmentRun]:
    """What the evaluators of answers give every further run; passages are the same in each and are not judged again."""
    agents = set(repeated_agents(workspace))
    judging = [evaluator for evaluator in evaluators if evaluator.unit != "passage"]
    return [
        AssessmentRun(**row.model_dump(), run=run)
        for run, repeated in (further_runs(workspace, material) if judging else ())
        for row in assess(judging, cases_of(repeated), caller)
        if row.subject in agents
    ]


Row = TypeVar("Row", bound=Judgment)
Text = tuple[str, str]


@dataclass(frozen=True)
class AskedOnce:
    """The queries by wave, each with one passage of each text; `others`: (query, passage asked about) to the ids of the
    others that have its text.

    Chunkings of one corpus have passages in common, with the same title and text and an id each. The first of a
    query's, by wave and then by id, is put to the judge, and what it says is said of all.
    """

    waves: tuple[tuple[QueryCase, ...], ...]
    others: Mapping[tuple[str, str], Sequence[str]]

    def of_all(self, rows: Iterable[Row]) -> list[Row]:
        """The records of passages asked about, and after each the same of the others of its text."""
        found: list[Row] = []
        for row in rows:
            others = self.others.get((row.query_id, row.subject), ())
            found += [row, *(row.model_copy(update={"subject": other}) for other in others)]
        return found


def ask_once(waves: Sequence[Sequence[QueryCase]]) -> AskedOnce:
    """The queries without the passages whose text stands in an earlier wave, or earlier in their own."""
    first: dict[tuple[str, Text], str] = {}
    others: dict[tuple[str, str], list[str]] = {}

    def kept(case: QueryCase) -> QueryCase:
        mine = []
        for one in case.passages:
            known = first.setdefault((case.query.id, _text(one)), one.id)
            if known == one.id:
                mine.append(one)
            else:
                others.setdefault((case.query.id, known), []).append(one.id)
        return replace(case, passages=tuple(mine))

    return AskedOnce(tuple(tuple(map(kept, cases)) for cases in waves), others)


def shown_once(rows: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """What is relevant, each text once."""
    found: dict[Text, Evidence] = {}
    for row in rows:
        found.setdefault(_text(row.passage), row)
    return tuple(found.values())


def _text(passage: Passage) -> Text:
    return passage.title, passage.text


Waves = tuple[tuple[str, ...], ...]
"""Agents in the order in which they joined, as `waves.json` keeps them: a list of lists of names.

What a judge is shown to be relevant for an answer, a game or a list is what the agents up to its wave had retrieved;
passages that a wave brings are graded by themselves. So the requests of earlier waves stay as they were.
"""


def waves_of(workspace: Workspace, agents: Sequence[str]) -> Waves:
    """The waves of `agents`; those that `waves.json` does not name are the last one. Without the file, or where an
    agent of the first wave is gone, all are one wave.

    Raises InputError where the file is not such a list.
    """
    known: Any = []
    if workspace.waves.exists() and workspace.experiment.judge.anchors:
        value = read_json(workspace.waves)
        known = value if isinstance(value, list) and all(isinstance(wave, list) for wave in value) else [[None]]
        names = [name for wave in known for name in wave]
        if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
            remedy = "remove it: all agents are then judged as one wave"
            raise InputError("is not a list of lists of agents, each named once", file=workspace.waves, remedy=remedy)
        known = [wave for wave in known if wave]
    if not known or not {*known[0]} <= {*agents}:
        return (tuple(agents),)
    before = {agent for wave in known for agent in wave}
    waves = [*known, [agent for agent in agents if agent not in before]]
    return tuple(kept for wave in waves if (kept := tuple(agent for agent in wave if agent in agents)))


def write_waves(workspace: Workspace, waves: Waves) -> None:
    """Write `waves.json`, atomically."""
    write_json(workspace.waves, [list(wave) for wave in waves])


def cases_by_wave(material: Material) -> list[list[QueryCase]]:
    """By wave, each query with what the wave brings: its answers, and the passages that none before it retrieved."""

    def brought(case: QueryCase, number: int, agents: Sequence[str]) -> QueryCase:
        seen = {*material.pool(case.query.id, number - 1)} if number else set()
        new = {*material.pool(case.query.id, number)} - seen
        return replace(
            case,
            passages=tuple(passage for passage in case.passages if passage.id in new),
            answers=tuple(answer for answer in case.answers if answer.subject in agents),
            failed=tuple(answer for answer in case.failed if answer.agent in agents),
        )

    whole = cases_of(material)
    return [[brought(case, number, agents) for case in whole] for number, agents in enumerate(material.waves)]


def relevant_by_wave(material: Material, relevant: KnownRelevant) -> list[KnownRelevant]:
    """Of what is relevant, by wave, what the agents up to it had retrieved, each text once."""
    return [
        {
            query: shown_once(one for one in rows if one.passage.id in pool)
            for query, rows in relevant.items()
            for pool in [{*material.pool(query, number)}]
        }
        for number in range(len(material.waves))
    ]


def said_of(waves: Waves, settings: JudgeSettings) -> list[str]:
    """A note on each wave that joined later, where answers are ranked together."""
    notes = []
    for number, wave in enumerate(waves[1:] if settings.listwise else (), 1):
        n = sum(len(before) for before in waves[:number])
        against = f"{settings.anchors} of the {n}" if settings.anchors < n else f"the {n}"
        notes.append(f"{plain(listed(wave))} joined later: on each query ranked against {against} agents before")
    return notes


ByJudge = dict[str, list[Judgment]]

Pool = tuple[Query, Sequence[Passage]]
"""A query with what was found for it."""


def grade_pools(workspace: Workspace, pools: Sequence[Pool], caller: Caller) -> tuple[list[Found], list[Judgment]]:
    """(a row for each judge and passage, without where it was found; what the judges say as one of each passage).

    A passage that a judge could not grade has an error in place of a label. Raises InputError, and what the caller
    raises.
    """
    cases = [QueryCase(query, tuple(passages), ()) for query, passages in pools]
    panels = [in_batches(workspace, panel) for panel in panels_of(workspace)]
    made = judged([panel.passages(cases) for panel in panels], caller)
    told = {panel.judge: [row.judgment() for row in rows] for panel, rows in zip(panels, made, strict=True)}
    asked = {panel.judge: _digests(workspace, panel) for panel in panels}
    texts = {(query.id, one.id): (query, one) for query, passages in pools for one in passages}
    rows = [
        Found(
            query_id=row.query_id,
            passage=row.subject,
            found_by="",
            judge=row.judge,
            asked=asked[judge](*texts[row.query_id, row.subject]),
            label=None if row.label is None else int(row.label),
            reason=row.reason,
            error=row.error,
        )
        for judge, judgments in told.items()
        for row in judgments
    ]
    return rows, panel_labels(told)


def in_batches(workspace: Workspace, panel: Panel) -> Panel:
    """The panel as it grades pools: in batches, but for a judge of one token, or whose own prompt shows one passage."""
    settings = workspace.experiment.judge
    if panel.batch is None and (panel.mode == "probability" or settings.relevance_prompt):
        return panel
    ours = stage_prompt("relevance_batch", strict=settings.prompts == "ragassay", ending="")
    prompt = panel.batch.template if panel.batch else Prompt.load(ours)
    return replace(panel, batch=RelevanceBatch(panel.relevance, prompt, settings.pool_batch, settings.seed))


def _digests(workspace: Workspace, panel: Panel) -> Callable[[Query, Passage], str]:
    """What makes of a question and a passage the digest of `found.jsonl`, by what a panel grades passages with."""
    batch, settings = in_batches(workspace, panel).batch, workspace.experiment.judge
    prompts = panel.relevance.template.digest, batch.template.digest if batch else ""
    by = (*prompts, panel.mode, settings.relevance_question, str(settings.yes_threshold))

    def digest(query: Query, passage: Passage) -> str:
        before = [[turn.dump() for turn in query.history]] if query.history else []
        return digest_json([*by, query.text, passage.title, passage.text, *before])[:16]

    return digest


def graded_before(
    workspace: Workspace, once: AskedOnce, panels: Sequence[Panel], caller: Caller
) -> tuple[AskedOnce, ByJudge]:
    """The queries without the passages that `found.jsonl` or `found-deeper.jsonl` grades, and their grades by judge.

    Those count that every judge gave by the prompts, to the question and the passage that it would be asked about now.
    A query stays whole where all that would be asked about it was answered before, alone or in a recorded run: what was
    judged by those labels then stands.
    """
    asked = {panel.judge: _digests(workspace, panel) for panel in panels}
    cases = [case for wave in once.waves for case in wave]
    texts = {(case.query.id, one.id): (case.query, one) for case in cases for one in case.passages}
    known: dict[tuple[str, str], dict[str, Judgment]] = {}
    files = [path for path in (workspace.found, workspace.found_deeper) if path.exists()]
    for row in chain.from_iterable(read_records(path, Found) for path in files):
        key, judge = (row.query_id, row.passage), row.judge
        mine = row.label is not None and judge in asked and key in texts
        if mine and asked[judge](*texts[key]) == row.asked:
            known.setdefault(key, {})[judge] = Judgment(
                query_id=row.query_id,
                subject=row.passage,
                judge=judge,
                criterion=CRITERION,
                label=row.label,
                reason=row.reason,
            )
    known = {key: rows for key, rows in known.items() if len(rows) == len(panels)}
    taken: ByJudge = {panel.judge: [] for panel in panels}
    waves = []
    for wave in once.waves:
        left = []
        for case in wave:
            there = [one.id for one in case.passages if (case.query.id, one.id) in known]
            if there and not _answered(case, panels, caller):
                for panel in panels:
                    taken[panel.judge] += [known[case.query.id, id][panel.judge] for id in there]
                case = replace(case, passages=tuple(one for one in case.passages if one.id not in there))
            left.append(case)
        waves.append(tuple(left))
    return replace(once, waves=tuple(waves)), taken


def _answered(case: QueryCase, panels: Sequence[Panel], caller: Caller) -> bool:
    """Whether all that the judges would be asked first about the query's passages has a reply."""
    batches = []
    for panel in panels:
        judge, cases = panel.passages([case])
        made: list[Any] = [judge.steps(one) for one in cases]
        asked = [request for steps in made for request in next(steps)]
        batches.append(Batch(judge.batch_label, panel.judge, tuple(asked)))
    return not caller.register.missing(batches)
