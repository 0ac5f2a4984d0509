"""What the claims of `benchmarks.questions.write` are worth beside people's: each way of writing, and half of each.

    python -m benchmarks.questions.worth SCIFACT

"both" is all of them together, "half" is what `[questions] blind = 0.5` gives: of each need the sighted or the blind
claim, by a coin with seed 7, where its evidence was found. In "all" claims count several times. The figures are those
of `python -m benchmarks.question_worth`. The experts shown to the writer are the training claims, which take no part.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from benchmarks.judges.take_replies import WORK
from benchmarks.question_worth.__main__ import main as question_worth
from benchmarks.questions.write import NAME, SEED
from benchmarks.questions.write import main as write
from ragassay.files import read_records, write_records
from ragassay.records import Query

WAYS = ("need", "blind")


def with_halves(written: list[Query]) -> list[Query]:
    """The claims, and those of them again, as kind "half", that a coin for each need picks."""
    chance = random.Random(SEED)
    sources = list(dict.fromkeys(str(query.metadata["doc"]) for query in written))
    way = {source: chance.choice(WAYS) for source in sources}
    picked = [query for query in written if query.metadata["kind"] == way[str(query.metadata["doc"])]]
    return [*written, *(_as(query, "half") for query in picked)]


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
    write_records(path, [*with_halves(written), *together])
    return question_worth([str(folder), str(path)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
