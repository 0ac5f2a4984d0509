"""Labelling in the browser: blind, on disk before the next item, and in labels.csv as a sheet would put it there."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.full_disk import files_of_at_most
from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace
from support.workbench import browsing

from ragassay.evaluate.human_labels.sheet import Drawn, draw_into, known_sheets, read_items, read_said, take_sheet
from ragassay.evaluate.inputs.labels import read_labels, write_labels
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records, write_text
from ragassay.records import Answer

ITEM = re.compile(r'data-item="(i[0-9a-f]{12})"')


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with browsing(workspace) as client:
        client.headers["hx-request"] = "true"
        yield client


def sheet_of(workspace: Workspace, n: int = 30, **given: object) -> tuple[str, dict[str, Drawn]]:
    draw_into(workspace, n=n, seed=3, **given)  # type: ignore[arg-type]
    (sheet,) = known_sheets(workspace)
    return sheet, {item.item: item for item in read_items(workspace.label_samples / f"{sheet}.jsonl")}


def call(client: TestClient, name: str) -> None:
    client.cookies.clear()
    answer = client.post("/results/labels/who", data={"who": name})
    assert answer.status_code == 204, answer.text


def say(client: TestClient, sheet: str, item: str, label: str) -> str:
    answer = client.post(f"/results/labels/{sheet}/say", data={"item": item, "label": label})
    assert answer.status_code == 200, answer.text
    return answer.text


def item_in(page: str) -> str:
    found = ITEM.search(page)
    assert found, page
    return found.group(1)


def test_labels_given_one_by_one_are_those_that_the_filled_sheet_would_give(
    workspace: Workspace, client: TestClient, tmp_path: Path
) -> None:
    sheet, items = sheet_of(workspace)
    call(client, "Ann")
    page, given = client.get(f"/results/labels/{sheet}").text, {}
    while ITEM.search(page):
        item = item_in(page)
        assert not [agent for agent in AGENTS if agent in page], "an agent is named beside an item"
        given[item] = str(len(given) % 3)
        page = say(client, sheet, item, given[item])
        assert len(read_labels(workspace.own_labels)) == len(given), "the label is not on disk when it is answered"
    assert given.keys() == items.keys()
    by_clicks = {row.key: row.value for row in read_labels(workspace.own_labels)}

    other = make_workspace(tmp_path / "other")
    sheet_of(other)
    filled = tmp_path / "filled.csv"
    write_text(filled, "item,label\n" + "".join(f"{item},{label}\n" for item, label in given.items()))
    take_sheet(other, filled, "Ann", "2026-11-22")
    assert by_clicks == {row.key: row.value for row in read_labels(other.own_labels)}


def test_what_is_taken_back_is_gone_from_the_labels_and_comes_again(workspace: Workspace, client: TestClient) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    first = item_in(client.get(f"/results/labels/{sheet}").text)
    second = item_in(say(client, sheet, first, "2"))
    say(client, sheet, second, "1")
    assert item_in(client.post(f"/results/labels/{sheet}/undo").text) == second
    assert len(read_labels(workspace.own_labels)) == 1
    assert item_in(client.post(f"/results/labels/{sheet}/undo").text) == first
    assert not workspace.own_labels.exists()
    assert [one.label for one in read_said(workspace.label_journal(sheet))] == ["2", "1", None, None]


def test_who_comes_back_goes_on_where_they_stopped_and_others_begin_at_the_beginning(
    workspace: Workspace, client: TestClient
) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    first = item_in(client.get(f"/results/labels/{sheet}").text)
    second = item_in(say(client, sheet, first, "skip"))
    with browsing(workspace) as restarted:
        call(restarted, "Ann")
        assert item_in(restarted.get(f"/results/labels/{sheet}").text) == second
        assert item_in(restarted.get(f"/results/labels/{sheet}?again=1").text) == first
        call(restarted, "Bob")
        assert item_in(restarted.get(f"/results/labels/{sheet}").text) == first


def test_a_journal_that_a_kill_cut_short_is_read_and_goes_on(workspace: Workspace, client: TestClient) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    first = item_in(client.get(f"/results/labels/{sheet}").text)
    second = item_in(say(client, sheet, first, "2"))
    workspace.own_labels.unlink()
    journal = workspace.label_journal(sheet)
    journal.write_bytes(
        journal.read_bytes() + b'{"item": "i0',
    )
    assert item_in(client.get(f"/results/labels/{sheet}").text) == second
    assert len(read_labels(workspace.own_labels)) == 1, "the label of before the kill is not in labels.csv"
    say(client, sheet, second, "1")
    assert [json.loads(line)["label"] for line in journal.read_text().splitlines()] == ["2", "1"]


def test_labels_given_while_the_disk_is_full_are_said_and_reach_the_labels_when_there_is_room(
    workspace: Workspace, client: TestClient
) -> None:
    sheet, items = sheet_of(workspace)
    others = "who,when,query,subject,criterion,label\n"
    others += "".join(f"Bob,2026-11-01,q{number},p,relevance,1\n" for number in range(1000))
    write_text(workspace.own_labels, others)
    call(client, "Ann")
    with files_of_at_most(len(others)):
        for item in items:
            answer = client.post(f"/results/labels/{sheet}/say", data={"item": item, "label": "1"})
            assert answer.status_code == 500
            assert "labels.csv: could not be written (File too large)" in answer.text
    assert {row.who for row in read_labels(workspace.own_labels)} == {"Bob"}
    page = client.get(f"/results/labels/{sheet}").text
    assert f"{len(items)} labelled, 0 left" in page
    assert {row.key for row in read_labels(workspace.own_labels) if row.who == "Ann"} == {
        item.key for item in items.values()
    }


def test_what_a_full_disk_kept_out_comes_with_the_next_label(workspace: Workspace, client: TestClient) -> None:
    sheet, items = sheet_of(workspace)
    call(client, "Ann")
    first, second, third = list(items)[:3]
    say(client, sheet, first, "1")
    before = workspace.own_labels.read_bytes()
    say(client, sheet, second, "1")
    workspace.own_labels.write_bytes(before)
    workspace.label_journal(sheet).with_suffix(".taken").write_text("1\n")
    say(client, sheet, third, "1")
    given = [items[name].key for name in (first, second, third)]
    assert [row.key for row in read_labels(workspace.own_labels)] == given


def test_of_a_game_the_label_goes_to_the_answer_that_was_shown_in_that_place(workspace: Workspace) -> None:
    """Every answer is made one of its own, which its number tells."""
    numbers: dict[tuple[str, str], str] = {}
    for agent in AGENTS:
        rows = read_records(workspace.answers(agent), Answer)
        numbers |= {(row.query_id, agent): f"Answer {len(numbers) + at}." for at, row in enumerate(rows)}
        own = (row.model_copy(update={"answer": numbers[row.query_id, agent], "error": None}) for row in rows)
        write_records(workspace.answers(agent), own)
    sheet, items = sheet_of(workspace, 60, kinds=["games"])
    with browsing(workspace) as client:
        client.headers["hx-request"] = "true"
        call(client, "Ann")
        page = client.get(f"/results/labels/{sheet}").text
        while ITEM.search(page):
            item, shown = items[item_in(page)], re.findall(r"Answer \d+\.", page)
            page = say(client, sheet, item.item, "1")
            (row,) = [row for row in read_labels(workspace.own_labels) if row.key == item.key]
            agents = row.subject.split(":")
            assert shown == [numbers[item.query, agent] for agent in (agents if row.label == 1 else agents[::-1])]
    assert {item.swapped for item in items.values()} == {True, False}


def test_a_label_that_the_journal_has_no_room_for_is_not_kept_and_says_so(
    workspace: Workspace, client: TestClient
) -> None:
    sheet, items = sheet_of(workspace)
    call(client, "Ann")
    with files_of_at_most(50):
        answer = client.post(f"/results/labels/{sheet}/say", data={"item": next(iter(items)), "label": "1"})
    assert answer.status_code == 500
    assert f"{sheet}.jsonl: could not be written (File too large); it was not kept" in answer.text
    assert not read_said(workspace.label_journal(sheet)) and not workspace.own_labels.exists()


def test_what_was_changed_by_hand_in_the_labels_stays(workspace: Workspace, client: TestClient) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    item = item_in(client.get(f"/results/labels/{sheet}").text)
    for label in "20":
        item = item_in(say(client, sheet, item, label))
    first, second = read_labels(workspace.own_labels)
    write_labels(workspace.own_labels, [first.model_copy(update={"label": 1.0})])
    client.get(f"/results/labels/{sheet}")
    say(client, sheet, item, "1")
    assert [row.key for row in read_labels(workspace.own_labels)][:1] == [first.key]
    assert [row.label for row in read_labels(workspace.own_labels)] == [1.0, 1.0]
    assert second.key not in {row.key for row in read_labels(workspace.own_labels)}


def test_two_people_labels_and_the_corrected_figures_come_onto_the_page(
    workspace: Workspace, client: TestClient
) -> None:
    sheet, items = sheet_of(workspace, 40, kinds=["answers"], criteria=["accuracy"])
    for who in ("Ann", "Bob"):
        call(client, who)
        for number, item in enumerate(items):
            say(client, sheet, item, str((number + (who == "Bob" and number % 9 == 0)) % 3))
    page = client.get("/results/labels").text
    until = time.monotonic() + 120
    while "Working it out" in page and time.monotonic() < until:
        time.sleep(0.3)
        page = client.get("/results/labels/figures").text
    assert f"{2 * len(items):,} labels by 2 people" in page
    assert "Ann and Bob: kappa" in page
    assert "needed for ± a twentieth of the scale" in page


@pytest.mark.parametrize("name", ["", "=HYPERLINK(1)", "a\x1b[31m", "x" * 61])
def test_a_name_that_a_table_or_a_terminal_would_run_is_refused(client: TestClient, name: str) -> None:
    answer = client.post("/results/labels/who", data={"who": name})
    assert answer.status_code == 422
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("sheet", ["..%2f..%2fetc%2fpasswd", "no-such-sheet", "%00"])
def test_only_sheets_that_were_drawn_are_there(client: TestClient, sheet: str) -> None:
    assert client.get(f"/results/labels/{sheet}").status_code == 404


def test_a_label_of_no_item_or_off_its_scale_is_not_written(workspace: Workspace, client: TestClient) -> None:
    sheet, items = sheet_of(workspace)
    call(client, "Ann")
    assert client.post(f"/results/labels/{sheet}/say", data={"item": "i0", "label": "1"}).status_code == 422
    assert (
        client.post(f"/results/labels/{sheet}/say", data={"item": next(iter(items)), "label": "9"}).status_code == 422
    )
    assert not workspace.label_journal(sheet).exists()


def test_of_two_windows_on_one_item_the_first_label_stands_and_the_second_is_told(
    workspace: Workspace, client: TestClient
) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    page = client.get(f"/results/labels/{sheet}").text
    given = {"item": item_in(page), "said": re.findall(r'name="said" value="(\d+)"', page)[0]}
    answers = [client.post(f"/results/labels/{sheet}/say", data=given | {"label": label}).text for label in "20"]
    assert ["in another window stands" in answer for answer in answers] == [False, True]
    assert item_in(answers[0]) == item_in(answers[1]) != given["item"]
    assert [one.label for one in read_said(workspace.label_journal(sheet))] == ["2"]
    assert len(read_labels(workspace.own_labels)) == 1
    back = client.post(f"/results/labels/{sheet}/undo").text
    again = given | {"said": re.findall(r'name="said" value="(\d+)"', back)[0], "label": "0"}
    assert item_in(back) == given["item"] and again["said"] == "2"
    assert "another window" not in client.post(f"/results/labels/{sheet}/say", data=again).text
    assert [one.label for one in read_said(workspace.label_journal(sheet))] == ["2", None, "0"]


def test_a_second_person_at_the_same_browser_can_say_so(workspace: Workspace, client: TestClient) -> None:
    sheet, _ = sheet_of(workspace)
    call(client, "Ann")
    home = client.get("/results/labels").text
    assert "You are <b>Ann</b>" in home and 'hx-post="/results/labels/who"' in home
    first = item_in(client.get(f"/results/labels/{sheet}").text)
    say(client, sheet, first, "1")
    assert client.post("/results/labels/who", data={"who": "Bob"}).status_code == 204
    assert item_in(client.get(f"/results/labels/{sheet}").text) == first


def test_a_sheet_is_drawn_from_the_page(workspace: Workspace, client: TestClient) -> None:
    given = {"n": "12", "kind": "answers", "criterion": "accuracy"}
    assert client.post("/results/labels/draw", data=given).status_code == 204
    until = time.monotonic() + 60
    while not known_sheets(workspace) and time.monotonic() < until:
        time.sleep(0.2)
    (sheet,) = known_sheets(workspace)
    assert {item.criterion for item in read_items(workspace.label_samples / f"{sheet}.jsonl")} == {"accuracy"}
