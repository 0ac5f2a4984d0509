"""What the claims of `benchmarks.questions.write` are worth beside people's: each way of writing, and half of each.

    python -m benchmarks.questions.worth SCIFACT

"both" is all of them together, "half" is what `[questions] blind = 0.5` gives: of each need the sighted or the blind
claim, by a coin with seed 7, where its evidence was found. "chosen" is what `synth.choosing` makes of all of them: one
claim an abstract, half of them blind, that together look like the eight training claims, which weigh 8 / 28, and like
the avr-libc manual's FAQ; the other half of the shipped defaults are test claims, and left out here. In "all" claims
count several times. The figures are those of `python -m benchmarks.question_worth`. The experts shown to the writer are
the training claims, which take no part.
"""

from __future__ import annotations

import json
import random
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np

from benchmarks.judges.take_replies import WORK
from benchmarks.question_worth.__main__ import main as question_worth
from benchmarks.questions.write import MODEL, NAME, SEED, experts
from benchmarks.questions.write import main as write
from ragassay.experiment.tables import QuestionsSettings
from ragassay.files import read_records, write_records
from ragassay.records import Passage, Query
from ragassay.synth.choosing.choose import choose_queries
from ragassay.synth.choosing.features import DEFAULTS, WEIGHT, Array, Passages, Sample, features_of

WAYS = ("need", "blind")


def with_halves(written: list[Query]) -> list[Query]:
    """The claims, and those of them again, as kind "half", that a coin for each need picks."""
    chance = random.Random(SEED)
    sources = list(dict.fromkeys(str(query.metadata["doc"]) for query in written))
    way = {source: chance.choice(WAYS) for source in sources}
    picked = [query for query in written if query.metadata["kind"] == way[str(query.metadata["doc"])]]
    return [*written, *(_as(query, "half") for query in picked)]


def chosen(written: list[Query], scifact: Path) -> list[Query]:
    """Of the claims, as kind "chosen", one an abstract: those that together look most like people's."""
    passages = Passages([f"{one.title}\n{one.text}" for one in read_records(scifact / "corpus.jsonl", Passage)], "en")
    pool = [_as(query, "fact").model_copy(update={"id": query.id}) for query in written]
    n = len({query.metadata["doc"] for query in written})
    settings = QuestionsSettings(kinds={"fact": 1.0}, blind=0.5, quota={MODEL: n}, seed=SEED)
    looks = {query.id: features_of(query.text, passages, "en") for query in pool}
    shown = np.array([features_of(expert.text, passages, "en") for expert in experts(scifact)], float)
    target = Sample.mixed(shown, _faq(), len(shown) / (len(shown) + WEIGHT))
    kept = {query.id for query in choose_queries(pool, looks, target, settings).queries}
    return [_as(query, "chosen") for query in written if query.id in kept]


def _faq() -> Array:
    value = json.loads(files("ragassay").joinpath("synth", "choosing", DEFAULTS).read_text(encoding="utf-8"))
    return np.array(value["collections"][0]["rows"], float)


def _as(query: Query, kind: str) -> Query:
    return query.model_copy(update={"id": f"{query.id}-{kind}", "metadata": {**query.metadata, "kind": kind}})


def main(folder: Path, *, work: Path = WORK) -> int:
    """Print the tables; 3 where replies are awaited."""
    if status := write(folder):
        return status
    print()
    path = work / NAME / "worth.jsonl"
    written = read_records(work / NAME / "QUESTIONS.jsonl", Query)
    together = [_as(query, "both") for query in written]
    write_records(path, [*with_halves(written), *chosen(written, folder), *together])
    return question_worth([str(folder), str(path)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
