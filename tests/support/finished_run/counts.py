"""Counts: labels, the ledger, and how many calls each stage owed its models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from support.finished_run.run import Line, Run, lines


def labels(judgments: Iterable[Line]) -> dict[str, int]:
    given = Counter(f"{line['label']:g}" for line in judgments if line["label"] is not None)
    return {label: given[label] for label in ("0", "1", "2")}


def check_ledger(run: Run) -> None:
    """Its rows against the questions themselves, and its own two equations."""
    made = {name: _by_place(run, name) for name in ("pool", "rejected", "queries")}
    per_section = run.setting("questions", "per_section", 10)
    for row in run.ledger:
        place = (row["model"], row["doc"])
        assert row["asked"] + row["extra"] == row["written"] + row["unwritten"] + row["failed"]
        assert row["written"] == row["kept"] + row["rejected"]
        assert (row["kept"], row["rejected"]) == (made["pool"][place], made["rejected"][place])
        assert row["sampled"] == made["queries"][place]
        assert row["asked"] % per_section == 0 and row["failed"] % per_section == 0
    for counted in made.values():
        assert set(counted) <= {(row["model"], row["doc"]) for row in run.ledger}
    sections = min(run.setting("questions", "sections", 24), len(run.sections))
    for model, quota in run.setting("questions", "quota", {}).items():
        own = [row for row in run.ledger if row["model"] == model]
        assert sum(row["asked"] for row in own) == sections * per_section
        assert sum(row["sampled"] for row in own) <= quota


def _by_place(run: Run, name: str) -> Counter[tuple[str, str]]:
    metadata = [line["metadata"] for line in lines(run.results / f"{name}.jsonl")]
    return Counter((at["model"], at["doc"]) for at in metadata if "model" in at)


def jobs(run: Run) -> dict[tuple[str, str], list[bool]]:
    """(stage, model) to whether each distinct request failed: equal requests are asked once."""
    table = _from_needs(run) if run.setting("questions", "style", "need") == "need" else _from_passages(run)
    texts = {query["_id"]: query["text"] for query in run.queries}
    answer, judge = run.setting("answer", "model", ""), run.setting("judge", "model", "")
    if _in_corpus(run):
        table["questions", judge] = table.get(("questions", judge), {}) | _pooled(run)
    if run.rewrites:
        table["retrieve", answer] = {texts[q]: r["error"] is not None for q, r in run.rewrites.items()}
    table["answer", answer] = {
        (texts[q], _shown(run, a["passages"])): a["error"] is not None
        for rows in run.answers.values()
        for q, a in rows.items()
        if not _unanswerable(run, a)
    }
    table["judge", judge] = _judged(run, texts)
    return {place: list(requests.values()) for place, requests in table.items()}


def _in_corpus(run: Run) -> bool:
    return run.setting("questions", "evidence", "corpus") == "corpus"


def _pooled(run: Run) -> dict[Any, bool]:
    """One request for the pool of a question, which fails where its passages, asked about one by one, all do.

    What the judge is asked of them one by one cannot be told from here.
    """
    found: dict[Any, list[bool]] = {}
    for line in lines(run.results / "found.jsonl"):
        found.setdefault(("pool", line["query_id"]), []).append(line["error"] is not None)
    return {query: all(failed) for query, failed in found.items()}


def _from_passages(run: Run) -> dict[tuple[str, str], dict[Any, bool]]:
    """One request for a section and model."""
    per_section = run.setting("questions", "per_section", 10)
    table: dict[tuple[str, str], dict[Any, bool]] = {}
    for row in run.ledger:
        asked, failed = row["asked"] // per_section, row["failed"] // per_section
        requests = table.setdefault(("questions", row["model"]), {})
        requests |= {(row["doc"], number): number < failed for number in range(asked)}
    return table


def _from_needs(run: Run) -> dict[tuple[str, str], dict[Any, bool]]:
    """Of each model and section, or sections asked about together: the needs, the blind questions, the evidence.

    Of a request that brought no need only the reply tells: it is of the model that wrote fewer than it was asked for.
    """
    table: dict[tuple[str, str], dict[Any, bool]] = {("questions", row["model"]): {} for row in run.ledger}
    for line in (*lines(run.results / "pool.jsonl"), *lines(run.results / "rejected.jsonl")):
        about = line["metadata"]
        steps = ("need", *(["blind"] if about["blind"] else []), *([] if _in_corpus(run) else ["evidence"]))
        group = tuple(about.get("sections") or [about["section"]])
        table["questions", about["model"]] |= {(step, group): False for step in steps}
    texts = [str(body["choices"][0]["message"]["content"]) for body in run.replies().values()]
    empty = [text for text in texts if text.startswith('{"needs"') and json.loads(text)["needs"] == []]
    short = [row["model"] for row in run.ledger if row["unwritten"]]
    assert len(short) == 1 or not empty
    return table | {("questions", short[0]): table["questions", short[0]] | dict.fromkeys(enumerate(empty), False)}


def _unanswerable(run: Run, answer: Line) -> bool:
    """RAG-Fusion of a query whose rewriting failed: no answer was asked for."""
    return "fusion" in answer["agent"] and run.rewrites[answer["query_id"]]["error"] is not None


def _judged(run: Run, texts: dict[str, str]) -> dict[Any, bool]:
    owed: dict[Any, bool] = {}
    together = run.setting("judge", "relevance_batch", 1)
    pools: dict[str, list[Line]] = {}
    for line in run.relevance:
        pools.setdefault(texts[line["query_id"]], []).append(line)
    for text, pool in pools.items():
        if together == 1:
            owed |= {("passage", text, _shown(run, [line["subject"]])): line["error"] is not None for line in pool}
        else:
            owed |= {("passages", text, number): False for number in range(-(-len(pool) // together))}
    owed |= {("list", one["query_id"], one["presentation"]): one["error"] is not None for one in run.lists}
    for line in run.pointwise:
        answer = run.answers[line["subject"]][line["query_id"]]
        if answer["error"] is None:
            owed[_asked_of(run, line, answer, texts[line["query_id"]])] = line["error"] is not None
    for game in run.games if not run.lists else ():
        pair = [run.answers[game[side]][game["query_id"]]["answer"] for side in ("agent_a", "agent_b")]
        if None not in pair and pair[0] != pair[1]:
            shown = tuple(pair if game["first"] == "a" else reversed(pair))
            owed["game", texts[game["query_id"]], shown] = game["error"] is not None
    return owed


def _asked_of(run: Run, line: Line, answer: Line, query: str) -> Any:
    """What tells the request behind a judgment of an answer from others. What is relevant is the same of a query."""
    if line["criterion"] in ("answer_correctness", "refusal"):
        return "correctness", query, answer["answer"]
    own_passages = run.setting("judge", "pointwise_prompt", None) is not None
    return "answer", query, answer["answer"], _shown(run, answer["passages"]) if own_passages else ()


def _shown(run: Run, passages: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((run.passages[p]["title"], run.passages[p]["text"]) for p in passages)


def check_usage(run: Run, usage: list[Line]) -> None:
    """Calls, failures and tokens of each stage, from what was owed and from the replies on record."""
    owed = jobs(run)
    assert [(row["stage"], row["model"]) for row in usage] == list(owed)
    n_owed = sum(len(failed) for failed in owed.values())
    again = len(run.replies()) - n_owed
    """More replies on record than requests owed: those are second tries, or (in a shipped run) of no use any more."""
    assert sum(row["calls"] for row in usage) in range(n_owed, n_owed + again + 1)
    for row in usage:
        failed, own = owed[row["stage"], row["model"]], run.replies(row["stage"])
        assert row["n_failed"] == sum(failed), row
        assert row["cost_usd"] is None and row["n_unmeasured"] == len(failed), row
        assert len(failed) <= row["calls"] <= 2 * len(failed)
        measured = [body["usage"] for body in own.values() if body.get("usage")]
        if own:
            assert row["calls"] == len(own), row
        sums = {
            f"{side}_tokens": sum(used[f"{name}_tokens"] for used in measured) or None
            for side, name in (("input", "prompt"), ("output", "completion"))
        }
        assert {name: row[name] for name in sums} == sums, row
