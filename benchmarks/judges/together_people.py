"""Answers ranked together beside answers in pairs: which puts a right answer above a wrong one more often?

    python -m benchmarks.judges.together_people DATA

DATA holds nq301 (castorini/qa-eval) and llmbar (princeton-nlp/LLMBar), each with its SOURCE.md. Drawn with seed 7:

- nq301: 100 questions with the answers of seven systems, all of which people accepted or not, at least one of each.
  The answers to a question are ranked together, in two presentations; those to the first 36 also play in pairs.
- llmbar: 60 pairs, 12 of each of the five sets, of which people say which is better: as lists of two, and as pairs.

What is counted are pairs of a right and a wrong answer (a better and a worse one) that are not the same text. Replies
are recorded (benchmarks/replies); without them the requests are written to results/benchmarks/together_people, lists
and pairs in folders of their own, and the status is 3.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.judges.agreement import LLMBAR, read_tsv, shown
from benchmarks.judges.take_replies import KEPT, WHO_JUDGED, WORK, awaited, judging, open_caller, open_work
from ragassay.errors import RepliesMissing
from ragassay.evaluate.inputs.findings import Material
from ragassay.evaluate.judging.games import play_lists, play_pairs
from ragassay.evaluate.judging.panel import panel_of
from ragassay.evaluate.ratings.verdicts import SCORES, verdicts
from ragassay.evaluate.statistics.clustered import Values, estimate
from ragassay.evaluate.statistics.paired_comparison import pair_by_query, t_p
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Answer, Figure, Game, Query

NAME = "together_people"
SEED, QUESTIONS, IN_PAIRS, OF_EACH = 7, 100, 36, 12
BARE = {"games_passages": False, "games_notes": False, "games_citations": False}
"""There are no passages, and no citations."""

Better = frozenset[tuple[str, str, str]]
"""Query, the right answer's agent, the wrong one's."""


@dataclass(frozen=True)
class Labelled:
    """Answers, and the pairs of them of which people's labels say which is better; pairs: on which games are played."""

    name: str
    material: Material
    better: Better
    in_pairs: tuple[str, ...]


def nq301(folder: Path) -> Labelled:
    """Questions all of whose answers have one label of people's, at least one of each kind."""
    said: dict[tuple[str, str], set[str]] = {}
    for row in read_tsv(folder / "NQ301_human.tsv"):
        said.setdefault((bare(row["Question"]), bare(row["Model answer"])), set()).add(row["Acceptable?"])
    answers: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("model_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            answers.setdefault(row["question"], {})[path.stem.removeprefix("model_")] = row["prediction"]
    right: dict[str, dict[str, bool]] = {}
    for question, given in answers.items():
        labels = {agent: said.get((bare(question), bare(text)), set()) for agent, text in given.items()}
        if all(len(each) == 1 for each in labels.values()):
            right[question] = {agent: each == {"Yes"} for agent, each in labels.items()}
    fit = [question for question, labels in right.items() if len(set(labels.values())) == 2]
    drawn = random.Random(SEED).sample(fit, QUESTIONS)
    better = {
        (f"nq-{number}", a, b)
        for number, question in enumerate(drawn, 1)
        for a in answers[question]
        for b in answers[question]
        if right[question][a] and not right[question][b] and answers[question][a] != answers[question][b]
    }
    made = material({f"nq-{number}": (question, answers[question]) for number, question in enumerate(drawn, 1)})
    return Labelled("nq301", made, frozenset(better), tuple(f"nq-{number}" for number in range(1, IN_PAIRS + 1)))


def llmbar(folder: Path) -> Labelled:
    """Some of each set, the two outputs as agents `one` and `two`."""
    chance, rows, better = random.Random(SEED), {}, set()
    for name in LLMBAR:
        pairs = json.loads((folder / f"{name}.dataset.json").read_text(encoding="utf-8"))
        for place in sorted(chance.sample(range(len(pairs)), OF_EACH)):
            row, id = pairs[place], f"{name}-{place + 1}"
            rows[id] = (row["input"], {"one": row["output_1"], "two": row["output_2"]})
            better.add((id, "one", "two") if row["label"] == 1 else (id, "two", "one"))
    return Labelled("llmbar", material(rows), frozenset(better), tuple(rows))


def material(rows: Mapping[str, tuple[str, Mapping[str, str]]]) -> Material:
    """Query to its text and each agent's answer, as judges are given it."""
    queries = tuple(Query(id=id, text=text) for id, (text, _) in rows.items())
    agents = tuple(sorted({agent for _, answers in rows.values() for agent in answers}))
    answers = {
        (id, agent): Answer(query_id=id, agent=agent, answer=text)
        for id, (_, given) in rows.items()
        for agent, text in given.items()
    }
    return Material(queries, agents, {}, answers)


def bare(text: str) -> str:
    """The letters and digits, which all files spell alike."""
    return "".join(filter(str.isalnum, text)).casefold()


def games(labelled: Labelled, way: str, work: Path, kept: Path) -> list[Game]:
    """Every list of the material, or every pair of the part that plays in pairs. Raises RepliesMissing."""
    wanted = judging({"games": "listwise" if way == "lists" else "all", **BARE})
    workspace = open_work(NAME, f"{labelled.name}-{way}", work, judge=wanted)
    caller, settings, panel = open_caller(workspace, kept), workspace.experiment.judge, panel_of(workspace)
    if way == "lists":
        return list(play_lists(labelled.material, {}, [panel], settings, caller).games)
    some = tuple(query for query in labelled.material.queries if query.id in labelled.in_pairs)
    part = Material(some, labelled.material.agents, {}, labelled.material.answers)
    return list(play_pairs(part, {}, [panel], settings, caller).games)


def scores(labelled: Labelled, played: Sequence[Game]) -> dict[str, list[float | None]]:
    """By query, what each pair of a right and a wrong answer gave the right one: 1 above, 0.5 tied, 0 below."""
    found: dict[str, list[float | None]] = {}
    for one in verdicts(played):
        for a, b in ((one.agent_a, one.agent_b), (one.agent_b, one.agent_a)):
            if (one.query_id, a, b) in labelled.better:
                score = None if one.winner is None else SCORES[one.winner]
                turned = score if score is None or a == one.agent_a else 1 - score
                found.setdefault(one.query_id, []).append(turned)
    return found


def share(found: Mapping[str, Sequence[float | None]], which: float | None = None) -> Figure:
    """The share of pairs with the score `which`, or the mean score; each pair counts the same, questions are
    resampled."""
    draws = resamples(tuple(found), 1000, SEED)
    rows = [(query, score) for query, each in found.items() for score in each]
    known = [(query, score if which is None else float(score == which)) for query, score in rows if score is not None]
    return draws.mean(known, len(rows) - len(known))


def by_question(found: Mapping[str, Sequence[float | None]]) -> Values:
    """The mean score of each question's pairs; None where one failed."""
    return {query: None if None in each else sum(filter(None, each)) / len(each) for query, each in found.items()}


def page(labelled: Sequence[Labelled], played: Mapping[tuple[str, str], Sequence[Game]]) -> Iterator[str]:
    """The table of all ways, and the differences between ways on the same questions."""
    yield "| set | judged | requests | questions | right above wrong | tied | below | mean score | pairs | failed |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    below: list[str] = []
    for one in labelled:
        ways = ways_of(played[one.name, "lists"], played[one.name, "pairs"])
        made = {name: scores(one, rows) for name, rows in ways.items()}
        for name, found in made.items():
            cells = [shown(share(found, which)) for which in (1.0, 0.5, 0.0, None)]
            figure = share(found)
            n = requests(one, ways[name])
            yield f"| {one.name} | {name} | {n} | {len(found)} | {' | '.join(cells)} | {figure.n} | {figure.n_failed} |"
        below += differences(one.name, made)
    yield ""
    yield "| set | mean score of a question, difference | value | p | questions |"
    yield "|---|---|--:|--:|--:|"
    yield from below


def ways_of(lists: Sequence[Game], pairs: Sequence[Game]) -> dict[str, list[Game]]:
    """The rows of each way of judging; "part": lists on the questions that also play in pairs."""
    both = {game.query_id for game in pairs}
    first = [game for game in lists if game.presentation == 1]
    ways = {"lists, one presentation": first, "lists, two presentations": list(lists)}
    if len(both) < len({game.query_id for game in lists}):
        ways |= {f"{name}, that part": [g for g in rows if g.query_id in both] for name, rows in list(ways.items())}
    one_order = [game for game in pairs if game.first == "a"]
    return {**ways, "pairs, one order": one_order, "pairs, both orders": list(pairs)}


def requests(one: Labelled, rows: Sequence[Game]) -> int:
    """What was put to the judge: lists, or pairs of different texts, equal ones once."""
    if rows[0].presentation is not None:
        return len({(game.query_id, game.presentation) for game in rows if game.place_a})
    text = {key: answer.answer for key, answer in one.material.answers.items()}
    pairs = ((g.query_id, g.first, text[g.query_id, g.agent_a], text[g.query_id, g.agent_b]) for g in rows)
    shown = {(query, *(two if first == "a" else two[::-1])) for query, first, *two in pairs if two[0] != two[1]}
    return len(shown)


def differences(name: str, made: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Iterator[str]:
    """Each way of lists against pairs in both orders, on the same questions."""
    pairs = by_question(made["pairs, both orders"])
    for way, found in made.items():
        if way.startswith("lists") and set(found) == set(pairs):
            paired = pair_by_query(by_question(found), pairs)
            by_section = estimate(paired.clusters.sums(paired.gaps), paired.clusters.sizes)
            p = float(t_p(by_section, len(paired.gaps)))
            yield f"| {name} | {way} − pairs, both orders | {shown(paired.difference(2.0))} | {p:.3f} | {len(pairs)} |"


def main(data: Path, *, work: Path = WORK, kept: Path = KEPT) -> int:
    """Print the tables, or where replies are awaited write all requests and give 3."""
    labelled = [nq301(data / "nq301"), llmbar(data / "llmbar")]
    played: dict[tuple[str, str], list[Game]] = {}
    for one in labelled:
        for way in ("lists", "pairs"):
            try:
                played[one.name, way] = games(one, way, work, kept)
            except RepliesMissing as missing:
                print(awaited(NAME, f"{one.name}, {way}", missing), file=sys.stderr)
    if len(played) < 2 * len(labelled):
        return RepliesMissing.exit_status
    for text in page(labelled, played):
        print(text)
    print(f"\n{WHO_JUDGED}; cost and latency were not measured.")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
