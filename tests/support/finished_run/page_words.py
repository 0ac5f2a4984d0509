"""Whether every value of results.json stands on the page, worded here and not by the code under test."""

from __future__ import annotations

from typing import Any

from support.made_up_results.page import Page, Row

Figure = dict[str, Any]
DASH = "–"


def check_page(page: Page, results: dict[str, Any]) -> None:
    """Raises AssertionError for the first value that is not in its row and column."""
    agents = results["agents"]
    for agent in agents:
        _ranking(page, results, agent)
        _answers(page, results, agent)
        _games(page, results, agent)
    assert [row.cells[0].strip() for row in page.of("ranking", "") if row.cells[0].strip() in agents] == agents
    for figure in (results["flip_rate"], results["first_shown_wins"]):
        assert words(figure, 1, 100, "%") in " ".join(page.text.split())
    _verdict(page, results["verdict"])
    for text in (results["verdict"]["sentence"], results["note"], *results["notices"]):
        said, told = " ".join(text.split()), " ".join(page.text.split())
        assert said in told or said[:1].upper() + said[1:] in told, text
    _labels(page, results)
    _tests(page, results)
    _run(page, results)


def _verdict(page: Page, verdict: dict[str, Any]) -> None:
    """One row for the leader, and one for each other with how far it is behind and whether it is told."""
    for agent, chance in verdict["p_best"].items():
        row = next(row for row in page.of("verdict", agent) if row.cells[0].split()[0] == agent)
        assert row.cells[-1].strip() == f"{100 * chance:.1f}%"
        if agent == verdict["leader"]:
            continue
        assert row.cells[0].split()[1:] == (["told"] if agent in verdict["told"] else ["may", "be", "the", "best"])
        _says(row.cells[2], verdict["differences"][agent], 1, 100, said=page.text)


def words(figure: Figure, digits: int, times: int = 1, sign: str = "") -> str:
    """What a cell says of a figure: value, interval, n, how many failed."""
    value, low, high = (figure[name] for name in ("value", "ci_low", "ci_high"))
    parts = [DASH if value is None else _number(value * times, digits) + sign]
    if low is not None:
        parts.append(f"[{_number(low * times, digits)}, {_number(high * times, digits)}]")
    parts.append(f"n {figure['n']:,}")
    return " ".join([*parts, f"{figure['n_failed']:,} failed"] if figure["n_failed"] else parts)


def _number(value: float, digits: int) -> str:
    text = f"{abs(value):,.{digits}f}"
    return f"−{text}" if value < 0 and float(text.replace(",", "")) else text


def _says(cell: str, figure: Figure, digits: int, times: int = 1, sign: str = "", *, said: str = "") -> None:
    """said: the heading, or what stands by the table, where n may be said once for all that it is the same for."""
    told, wanted, n = " ".join(cell.split()).lstrip("$"), words(figure, digits, times, sign), f"n {figure['n']:,}"
    if figure["value"] is None and told != wanted:
        assert told.startswith(DASH) and f"{figure['n_failed']:,} failed" in told, (told, wanted)
        return
    once = n in " ".join(said.split())
    assert told == wanted or (once and told == wanted.replace(f" {n}", "", 1)), (told, wanted)


def _row(page: Page, section: str, agent: str, wanted: int = 0) -> Row:
    return [row for row in page.of(section, agent) if row.cells[0].strip() == agent][wanted]


def _ranking(page: Page, results: dict[str, Any], agent: str) -> None:
    row = _row(page, "ranking", agent)
    cells, heads = row.cells[1:], row.heads[1:]
    for cell, head, (name, digits, times) in zip(
        cells[:2], heads[:2], (("points", 1, 100), ("bradley_terry", 0, 1)), strict=True
    ):
        _says(cell, results[name][agent], digits, times, said=head)
    if "Answered" in heads[-1]:
        _says(cells[-1], results["answers"][agent]["answered"], 1, 100, "%", said=heads[-1])
        cells, heads = cells[:-1], heads[:-1]
    else:
        assert results["answers"][agent]["answered"]["value"] == 1 and "All agents answered all" in page.text
    for cell, head in zip(cells[2:], heads[2:], strict=True):
        name = head.split(" n ")[0].strip()
        graded = results["pointwise"][agent].get(name.lower().replace(" ", "_"))
        names = {"MRR@": "RR(rel=2)@", "nDCG@": "nDCG@"}
        ranked = next((row for key, row in results["retrieval"][agent].items() if _named(key, name, names)), None)
        assert graded or ranked, name
        _says(cell, graded or ranked, 2 if graded else 3, said=head)
    row = _row(page, "retrieval", agent)
    for cell, head, figure in zip(row.cells[1:], row.heads[1:], results["retrieval"][agent].values(), strict=True):
        _says(cell, figure, 3, said=head)
    if detail := results["rating_detail"]:
        low, high = detail["ranks"].get(agent, ("", ""))
        ranks = _row(page, "ratings", agent).cells[-1].strip()
        assert ranks == (f"{low}" if low == high else f"{low}–{high}") or low == ""
        for number, (kind, digits, times) in enumerate((("points", 1, 100), ("bradley_terry", 0, 1))):
            shown = " ".join(_row(page, "ratings", agent, number).cells[-2 if number == 0 else -1].split())
            assert words(results[kind][agent], digits, times).startswith(shown) and shown
    folded = _row(page, "ratings", agent, 2 if detail else -1)
    _says(folded.cells[1], results["elo"][agent], 0, said=folded.heads[1] + page.text)
    _says(folded.cells[2], results["win_rate"][agent], 1, 100, "%", said=folded.heads[2] + page.text)


def _named(key: str, name: str, begins: dict[str, str]) -> bool:
    """Whether a heading such as `MRR@5 very` is that of a measure's key."""
    cut = [(long, name.removeprefix(short).split()[0]) for short, long in begins.items() if name.startswith(short)]
    return any(key == f"{long}{k}" for long, k in cut)


def _answers(page: Page, results: dict[str, Any], agent: str) -> None:
    plots = [str(given["aria-label"]) for tag, given in page.tags if tag == "svg"]
    graded = results["pointwise"][agent]
    for number, (criterion, figure) in enumerate(graded.items()):
        _says(_row(page, "answers", agent, number).cells[-1], figure, 2, said=page.text)
        counts = results["pointwise_labels"][agent][criterion] | {"failed": figure["n_failed"]}
        assert f"{agent}: " + ", ".join(f"{label} {count:,}" for label, count in counts.items()) in plots
    row = _row(page, "answers", agent, len(graded))
    shown = {
        head.split()[0].capitalize(): (cell, head) for cell, head in zip(row.cells[1:], row.heads[1:], strict=True)
    }
    taken = results["answers"][agent]
    kinds = {
        "Answered": ("answered", 1, 100, "%"),
        "Latency": ("latency_s", 1, 1, " s"),
        "Cost": ("cost_usd", 4, 1, ""),
    }
    for head, (name, digits, times, sign) in kinds.items():
        if head in shown:
            _says(shown[head][0], taken[name], digits, times, sign, said=shown[head][1] + page.text)
        else:
            assert all(row[name]["value"] is None for row in results["answers"].values()), name
    if results["refusals"]:
        _says(shown["Refusals"][0], results["refusals"][agent], 1, 100, "%", said=shown["Refusals"][1] + page.text)


def _games(page: Page, results: dict[str, Any], agent: str) -> None:
    row = _row(page, "games", agent)
    for other, cell, head in zip(results["agents"], row.cells[1:], row.heads[1:], strict=True):
        if other == agent:
            assert not cell.strip()
        else:
            _says(cell, results["wins"][agent][other], 1, 100, "%", said=head + page.text)


def _labels(page: Page, results: dict[str, Any]) -> None:
    counts = results["relevance_labels"] | {"failed": results["n_relevance_failed"]}
    spread = "passages: " + ", ".join(f"{label} {count:,}" for label, count in counts.items())
    assert spread in [given.get("aria-label") for tag, given in page.tags if tag == "svg"], spread


def _tests(page: Page, results: dict[str, Any]) -> None:
    rows = [row for row in page.rows if row.section == "tests"][1:]
    for row, test in zip(rows, results["tests"], strict=True):
        points = test["measure"] == "points"
        _says(row.cells[3], test["difference"], 1 if points else 3, 100 if points else 1, said=row.heads[3] + page.text)
        p, df = test["p"], test["df"]
        assert [cell.strip() for cell in row.cells[1:3]] == [test["agent_a"], test["agent_b"]]
        assert [cell.strip() for cell in row.cells[4:7]] == [
            DASH if test["t"] is None else _number(test["t"], 2),
            DASH if df is None else str(df),
            DASH if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
        ]


def _run(page: Page, results: dict[str, Any]) -> None:
    """The ledger, usage and settings."""
    for model in dict.fromkeys(row["model"] for row in results["ledger"]):
        own = [row for row in results["ledger"] if row["model"] == model]
        total, *by_document = page.of("ledger", model)
        shown = [
            {key: sum(row[key] for row in own) for key in ("asked", "written", "kept", "rejected", "sampled")},
            *own,
        ]
        for row, wanted in zip([total, *by_document], shown, strict=True):
            cells = [cell.strip() for cell in row.cells]
            assert [cells[-3], cells[-2], cells[-1]] == [f"{wanted[key]:,}" for key in ("kept", "rejected", "sampled")]
            assert f"{wanted['asked']:,}" in cells and f"{wanted['written']:,}" in cells
    rows = [row for row in page.rows if row.section == "usage"][1:]
    for row, used in zip(rows[:-1], results["usage"], strict=True):
        calls = f"{used['calls']:,}" + (f" {used['n_failed']:,} failed" if used["n_failed"] else "")
        tokens = [used["input_tokens"], used["output_tokens"]]
        assert " ".join(row.cells[2].split()) == calls
        assert [cell.strip() for cell in row.cells[3:5]] == ["not measured" if t is None else f"{t:,}" for t in tokens]
    assert rows[-1].cells[2].split()[0] == f"{sum(used['calls'] for used in results['usage']):,}"
    settings = page.text[page.text.index("Settings", page.text.index("Usage and cost")) :]
    for key, value in results["settings"].items():
        assert key.replace("_", " ") in settings and (DASH if value is None else str(value)) in settings
