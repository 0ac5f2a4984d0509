"""`ragassay rate`: the agents of a file of games."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ragassay.text import plain

from ..options import Verbs, add_draws, add_json, add_sections, add_verb, path_of
from ..printing import print_figures, print_json

_GAMES = "games: JSON Lines, .json, .csv or .tsv, in our columns, RAGElo's or LMSYS's; an order is not needed"


def add_rate(verbs: Verbs) -> None:
    """The verb and its options."""
    verb = add_verb(verbs, "rate", "rate agents from a file of pairwise games", run_rate)
    verb.add_argument("--games", type=path_of, required=True, metavar="FILE", help=_GAMES)
    verb.add_argument(
        "--method", choices=["elo", "bradley-terry"], default="bradley-terry", help="default: bradley-terry"
    )
    verb.add_argument(
        "--ties",
        choices=["davidson", "half"],
        default="davidson",
        help="of Bradley-Terry: Davidson's tie parameter, or a tie as half a win for each; default: davidson",
    )
    verb.add_argument("--k-factor", type=float, default=4.0, metavar="K", help="of Elo; default: 4")
    verb.add_argument(
        "--initial", type=float, default=500.0, metavar="R", help="the rating all start from; default: 500"
    )
    verb.add_argument("--tournaments", type=int, default=500, metavar="N", help="of Elo, shuffled; default: 500")
    add_draws(verb)
    add_sections(verb)
    add_json(verb)


def run_rate(options: argparse.Namespace) -> int:
    """Print each agent's rating with its interval and n, and how sure the order is."""
    from ragassay.evaluate.from_files.rate import rate_file
    from ragassay.records import Figure

    result = rate_file(
        options.games,
        options.method,
        k_factor=options.k_factor,
        initial=options.initial,
        tournaments=options.tournaments,
        seed=options.seed,
        bootstrap=options.bootstrap,
        ties=options.ties,
        sections=options.sections,
    )
    if options.json:
        print_json(result)
        return 0
    ratings = {name: Figure.model_validate(figure) for name, figure in result["ratings"].items()}
    print_figures(ratings, more=_order(result), interval_digits=".4g")
    print(plain(result["verdict"]["sentence"]))
    if result.get("triples"):
        print(f"{result['intransitive_triples']:,} of {result['triples']:,} triples of agents run in a circle")
    if result.get("note"):
        print(f"note: {plain(result['note'])}")
    return 0


def _order(result: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Columns on how sure the order is, agent to text."""
    ranks = {agent: str(low) if low == high else f"{low} to {high}" for agent, (low, high) in result["ranks"].items()}
    points = {agent: f"{row['value']:.3f}" for agent, row in result["points"].items() if row["value"] is not None}
    chances = {agent: f"{chance:.3f}" for agent, chance in result["verdict"]["p_best"].items()}
    return {"points": points, "P(best)": chances, "rank": ranks}
