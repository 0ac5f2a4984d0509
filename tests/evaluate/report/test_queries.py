"""What the page has room for: never more than the room, and never more of a query than of one that matters more."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from support.made_up_results.page import Page
from support.made_up_results.texts import AGENTS, CRITERIA
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.report.page import report
from ragassay.evaluate.report.queries import AnswerView, Detail, GameView, QueryView, fit, game_tables, worst
from ragassay.files import read_records, write_records
from ragassay.records import Game, Judgment, Query

LENGTHS = st.lists(st.tuples(*[st.integers(0, 50)] * 3, st.integers(0, 3)), max_size=12)


@given(LENGTHS, st.integers(0, 900), st.randoms())
def test_what_is_shown_fits_and_goes_by_the_order(lengths, room, rng):
    order = rng.sample(range(len(lengths)), len(lengths))
    sizes = {key: 7 * key for key in range(4)}

    def render(i, detail):
        needs = frozenset({lengths[i][3]}) if detail >= Detail.TEXTS else frozenset()
        return Markup("x" * sum(lengths[i][:detail])), needs

    details, shown = fit(len(lengths), order, render, sizes, room)
    shared = {lengths[i][3] for i, detail in enumerate(details) if (detail or 0) >= Detail.TEXTS}
    assert sum(map(len, shown)) + sum(sizes[key] for key in shared) <= room
    reached = [details[i] or 0 for i in order]
    assert reached == sorted(reached, reverse=True)
    assert [len(text) for text in shown] == [sum(one[: d or 0]) for one, d in zip(lengths, details, strict=True)]
    if room >= 10_000:
        assert set(details) <= {Detail.REASONS}


def test_100_queries_and_six_agents_stay_below_1_5_mb_with_every_label_and_game(tmp_path: Path):
    made = make_workspace(tmp_path, 100, hostile=False, failures=False, long=True)
    report(made)
    html = made.report.read_text(encoding="utf-8")
    assert 1_300_000 < len(html.encode()) < 1_500_000
    assert html.count('<details class="q"') == 100
    part = html[html.index('<section id="queries">') : html.index('<section id="usage">')]
    labelled = len(re.findall(r'<td class="l[012]">', part))
    assert labelled == 100 * len(AGENTS) * len(CRITERIA) == len(read_records(made.pointwise, Judgment))
    letters = "".join(re.findall(r'<td class="[WLTF]">([WLTF]+)</td>', part))
    assert len(letters) == len(read_records(made.games, Game))
    pooled = re.findall(r'<li><b>P\d+</b> <b class="lb l[012]">', part)
    assert len(pooled) == len(read_records(made.relevance, Judgment))
    text = Page(html).text
    said = re.search(
        r"Texts of answers and passages: of the first (\d+).*Reasons of the judge: of the first (\d+)", text
    )
    assert said and int(said[1]) == html.count("<h3>Answers</h3>") > int(said[2]) > 0
    for name in ("relevance.jsonl", "pointwise.jsonl", "games.jsonl", "answers/", "corpus.jsonl"):
        assert name in said.string[said.start() : said.end() + 300]


def game(a: str, b: str, first: str, winner: str | None, **more: object) -> Game:
    error = "no reply" if winner is None else None
    return Game.model_validate(
        {"query_id": "q", "agent_a": a, "agent_b": b, "first": first, "winner": winner, "error": error, "judge": "j"}
        | more
    )


def test_a_game_is_a_letter_an_order_as_the_row_s_agent_sees_it(tmp_path: Path):
    from ragassay.evaluate.ratings.verdicts import verdicts

    played = {
        ("y", "x"): [game("x", "y", "a", "b"), game("x", "y", "b", "b")],
        ("y", "z"): [game("y", "z", "b", "b"), game("y", "z", "a", "a")],
        ("x", "z"): [game("x", "z", "a", "tie"), game("x", "z", "b", None)],
    }
    views = [GameView(pair, verdicts(rows), rows) for pair, rows in played.items()]
    (table,) = game_tables(views, ["y", "x", "z"])
    assert table.columns == ("x", "z")
    cells = {name: [(met.letters, met.verdict) if met else None for met in row] for name, row in table.rows}
    assert cells == {"y": [("WW", "W"), ("WL", "T")], "x": [None, ("TF", "F")]}


def failed(label: float | None) -> dict[str, str]:
    return {"error": "no reply"} if label is None else {}


def view(number: int, made_of: str | None = None, **labels: tuple[float | None, ...]) -> QueryView:
    """A query with each agent's labels; of a failed answer, none."""
    query = Query(id=f"q{number}", text="Why?", metadata={"perturbed_from": made_of} if made_of else {})
    answers = []
    for agent, given_labels in labels.items():
        rows = [
            Judgment(query_id=query.id, subject=agent, criterion="accuracy", label=label, judge="j", **failed(label))
            for label in given_labels
        ]
        answers.append(AnswerView(agent, None, [], rows, ()))
    return QueryView(number, query, "", "", (), None, answers, [], [], 0, 0.0, 0)


def test_the_worst_queries_are_those_of_the_lowest_mean_over_the_agents_that_have_a_label():
    views = [
        view(1, a=(2, 2), b=(2, 2)),
        view(2, a=(1, 2), b=(0, 0), c=(None,)),
        view(3, a=(0,), b=(0,), c=(0,)),
        view(4, a=(None,), b=()),
        view(5, made_of="q3", a=(0,), b=(0,)),
        view(6, a=(0,), b=(1.5,)),
    ]
    found = [(one.view.number, one.mean, one.n, one.best, one.agents) for one in worst(views)]
    assert found == [
        (3, 0.0, 3, 0.0, ("a", "b", "c")),
        (2, 0.75, 2, 1.5, ("a",)),
        (6, 0.75, 2, 1.5, ("b",)),
    ]
    many = worst([view(number, a=(0,)) for number in range(20, 0, -1)])
    assert [one.view.number for one in many] == list(range(1, 9))


def test_a_long_query_is_cut_among_the_worst_and_n_stands_beside_its_mean(tmp_path: Path):
    made = make_workspace(tmp_path, 4, hostile=False, failures=False)
    rows = read_records(made.queries, Query)
    write_records(made.queries, [row.model_copy(update={"text": f"<b>{'w ' * 5000}"}) for row in rows])
    report(made)
    html = made.report.read_text(encoding="utf-8")
    part = html[html.index('<section id="worst">') : html.index('<section id="more">')]
    head, *rows_shown = [[cell.strip() for cell in row.cells] for row in Page(html).rows if row.section == "worst"]
    assert "&lt;b&gt;w w" in part and len(part) < 8 * 1200
    assert head == ["Query", "All agents", "n", "Best"]
    assert rows_shown and {cells[2] for cells in rows_shown} == {str(len(AGENTS))}
