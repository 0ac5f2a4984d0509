"""One verdict on a game from those of several judges: the majority's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragassay.records import Winner

from ..inputs.panel_labels import PANEL, check_vote, why_no_majority
from .verdicts import Verdict


def merge_verdicts(verdicts: Iterable[Verdict], panel: Sequence[str]) -> list[Verdict]:
    """A verdict of `PANEL` on each game that a judge of the panel was asked about, as they first come in `verdicts`.

    Each judge's verdict is its own from both orders (`verdicts.verdicts`). The winner is whom more than half of the
    verdicts given name; without such a majority it is a tie. More than half of the panel must have given a verdict,
    else there is no winner and the error says what each of the others lacks. Orders are each judge's own matter, so
    that `flipped`, `lean` and `probability` are None. Where a file repeats a game, the k-th of one judge meets the k-th
    of the others. Raises InputError for a judge who is not of the panel.
    """
    games: dict[tuple[str, str, str, int], dict[str, Verdict]] = {}
    often: Counter[tuple[str, str, str, str]] = Counter()
    for one in verdicts:
        pair = (one.query_id, one.agent_a, one.agent_b)
        said = games.setdefault((*pair, often[(*pair, one.judge)]), {})
        check_vote(one.judge, said, panel, f"'{one.agent_a}' against '{one.agent_b}' for query '{one.query_id}'")
        said[one.judge] = one
        often[(*pair, one.judge)] += 1
    return [_merged(said, panel) for said in games.values()]


def panel_verdicts(verdicts: Sequence[Verdict], panel: Sequence[str]) -> list[Verdict]:
    """The verdicts that figures are made from: those of the one judge as they are, or of several the majority's."""
    return merge_verdicts(verdicts, panel) if len(panel) > 1 else list(verdicts)


def _merged(said: Mapping[str, Verdict], panel: Sequence[str]) -> Verdict:
    one = next(iter(said.values()))
    given = [said[judge].winner for judge in panel if judge in said]
    errors = {
        judge: "it was not asked" if judge not in said else said[judge].error or ""
        for judge in panel
        if judge not in said or said[judge].winner is None
    }
    why = why_no_majority(errors, panel)
    return Verdict(
        query_id=one.query_id,
        agent_a=one.agent_a,
        agent_b=one.agent_b,
        judge=PANEL,
        winner=None if why else _majority([winner for winner in given if winner is not None]),
        flipped=None,
        error=why,
        n_orders=max(each.n_orders for each in said.values()),
    )


def _majority(winners: Sequence[Winner]) -> Winner:
    winner, times = Counter(winners).most_common(1)[0]
    return winner if 2 * times > len(winners) else "tie"
