"""RAGElo: our experiment, read by it: answers, labels and who won."""

from pathlib import Path
from typing import Any


def read_experiment(folder: Path) -> dict[str, Any]:
    from ragelo import Experiment

    made = Experiment.load("ragassay", str(folder / "experiment.json"))
    return {
        query.qid: {
            "query": query.query,
            "answers": {name: one.text for name, one in query.answers.items()},
            "labels": {id: int(one.evaluation.score) for id, one in query.retrieved_docs.items() if one.evaluation},
            "judged": sorted(id for id, game in query.pairwise_games.items() if game.evaluations),
        }
        for query in made
    }


def experiment(results: Path) -> dict[str, Any]:
    """What should be read."""
    from ragassay.evaluate.from_files.collections.collection import read_folder

    made = read_folder(results)
    games = {(one.query_id, "-".join(sorted((one.agent_a, one.agent_b)))) for one in made.games}
    return {
        id: {
            "query": query.text,
            "answers": {name: rows[id].answer or "" for name, rows in made.answers.items() if id in rows},
            "labels": {one: n for one, n in made.qrels.get(id, {}).items() if one in made.passages},
            "judged": sorted(pair for asked, pair in games if asked == id),
        }
        for id, query in made.queries.items()
    }


READS = {"read_experiment": ("ragelo-experiment", "experiment")}
