"""A run in the browser: states, counts, money, failures in sentences; asked for again only while it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from support.made_up_results.workspace import make_workspace
from support.workbench import browsing

from ragassay.experiment.workspace import Standing
from ragassay.records import StageUsage
from ragassay.workbench.views.progress import StageState

AGAIN = 'hx-trigger="every 2s"'
UNSAFE = "the server <b>hung up</b>"


def at_work(state: Literal["running", "missing"], done: int = 20, **more: Any) -> StageState:
    return StageState("judge", state, at_work=Standing(stage="judge", done=done, total=50, **more))


def usage(cost_usd: float | None) -> StageUsage:
    return StageUsage(
        stage="answer",
        model="openai:<b>m</b>",
        calls=72,
        n_failed=2,
        n_unmeasured=int(cost_usd is None),
        input_tokens=1000,
        output_tokens=50,
        cost_usd=cost_usd,
    )


def test_what_is_done_what_runs_and_what_failed(tmp_path: Path) -> None:
    states = (
        StageState("answer", "done", n_records=72, n_failed=2, notices=("2 calls <i>failed</i>",), usage=(usage(0.4),)),
        at_work("running", what="judge: m", failed=3, left_s=65.0, spent_usd=1.25, errors=((UNSAFE, 3),)),
        StageState("compare", "missing", "not run yet"),
    )
    with browsing(make_workspace(tmp_path), states=lambda _: states) as client:
        page = client.get("/results/progress").text
        part = client.get("/results/progress", headers={"hx-request": "true"}).text
    assert "1 of 3 stages are done" in page
    assert "23 of 50" in page
    assert "3 failed" in page
    assert "1:05 left" in page
    assert "$1.25" in page
    assert "the provider answered 503 five times" in page  # two of the made-up answers
    assert "<b>m</b>" not in page
    assert "<i>failed</i>" not in page
    assert AGAIN in part
    assert "the server &lt;b&gt;hung up&lt;/b&gt; <small>3</small>" in page
    assert "<html" not in part


def test_what_is_as_before_is_not_sent_again(tmp_path: Path) -> None:
    states = [at_work("running")]
    with browsing(make_workspace(tmp_path), states=lambda _: tuple(states)) as client:
        client.headers["hx-request"] = "true"
        (address,) = re.findall(r'hx-get="([^"]+)"', client.get("/results/progress").text)
        assert client.get(address).status_code == 204
        states[0] = at_work("running", 21)
        assert "21 of 50" in client.get(address).text


def test_a_run_that_was_killed_is_said_with_how_to_go_on(tmp_path: Path) -> None:
    states = (at_work("missing"),)
    with browsing(make_workspace(tmp_path), states=lambda _: states) as client:
        page = client.get("/results/progress").text
    assert "The last run was broken off in judge, at 20 of 50." in page
    assert "ragassay run" in page


def test_it_is_seldom_asked_for_again_when_nothing_runs_and_unknown_prices_are_said(tmp_path: Path) -> None:
    states = (StageState("answer", "done", n_records=1, n_failed=0, usage=(usage(0.4), usage(None))),)
    with browsing(make_workspace(tmp_path), states=lambda _: states) as client:
        page = client.get("/results/progress").text
    assert AGAIN not in page
    assert "$0.40" in page
    assert "1 call without a known price" in page
