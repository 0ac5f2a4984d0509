"""Our Bradley-Terry (a tie half a win) and Elo beside evalica's golden files: the largest differences.

    python -m benchmarks.ratings.evalica_goldens FOLDER

FOLDER has simple.csv, food.csv, llmfao.csv (left, right, winner) and NAME-golden.csv (algorithm, item, score). Scores
of Bradley-Terry are strengths over their sum, those of Elo one pass in the order of the file (initial 1000, K 4).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from ragassay.evaluate.ratings import elo
from ragassay.evaluate.ratings.bradley_terry import log_strengths
from ragassay.evaluate.ratings.win_table import Contests

SCORE = {"left": 1.0, "tie": 0.5, "right": 0.0}


def rows_of(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def contests_of(path: Path) -> Contests:
    """The games in the order of the file."""
    games = [row for row in rows_of(path) if row["winner"] in SCORE]
    names = tuple(sorted({row[side] for row in games for side in ("left", "right")}))
    at = {name: index for index, name in enumerate(names)}
    a, b = (np.array([at[row[side]] for row in games]) for side in ("left", "right"))
    score = np.array([SCORE[row["winner"]] for row in games])
    return Contests(names, ("q",), a, b, np.zeros(len(games), dtype=np.intp), score)


def main() -> None:
    """Print a line a file."""
    folder = Path(sys.argv[1])
    for name in ("simple", "food", "llmfao"):
        contests = contests_of(folder / f"{name}.csv")
        golden: dict[str, dict[str, float]] = {}
        for row in rows_of(folder / f"{name}-golden.csv"):
            golden.setdefault(row["algorithm"], {})[row["item"]] = float(row["score"])
        strength = np.exp(log_strengths(contests.wins_by_query().sum(axis=0)[None]).log[0])
        rating = elo.play(contests, elo.Circles(np.arange(len(contests.a))[None], 1), 4.0, 1000.0)[0]
        theirs = np.array([golden["bradley_terry"][item] for item in contests.agents])
        apart = np.abs(strength / strength.sum() - theirs).max()
        of_elo = np.abs(rating - np.array([golden["elo"][item] for item in contests.agents])).max()
        print(f"{name:8} {len(contests.agents):3} items  bradley_terry {apart:.1e}  elo {of_elo:.1e}")


if __name__ == "__main__":
    main()
