"""The test set in the browser: what it shows, and decisions that the questions stage reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from markupsafe import escape
from starlette.testclient import TestClient
from support.made_up_results.texts import HOSTILE, WRITERS
from support.made_up_results.workspace import make_workspace
from support.perturbed_folder import ask_again
from support.workbench import browsing

from ragassay.experiment.workspace import Workspace, id_of_rejected, read_edits
from ragassay.files import read_records, write_records
from ragassay.records import Query, Rejected


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = make_workspace(tmp_path)
    pooled = Query(_id="p-1", text="Which fuse sets the clock?", metadata={"model": "openai:w"})
    write_records(made.pool, [*read_records(made.queries, Query), pooled])
    write_records(made.rejected, [Rejected(text=f"Again? {HOSTILE[0]}", metadata={}, reason="near-duplicate of q001")])
    return made


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with browsing(workspace) as client:
        yield client


def test_the_page_has_counts_pages_reasons_and_nothing_hostile(client: TestClient) -> None:
    page = client.get("/results/test-set").text
    assert "12 questions; 1 more in the pool, 1 rejected." in page
    # 12 questions of 5 pages each, 20 to 101, with 2 pages between one and the next
    assert "60 of 101 pages are asked about" in page
    assert "near-duplicate" in page
    assert not [text for text in HOSTILE if "<" in text and text in page]


def test_the_name_of_a_document_is_text_on_the_page(workspace: Workspace) -> None:
    with workspace.pages.open("a") as stream:
        stream.write(json.dumps({"doc": f"{HOSTILE[-1]}.pdf", "page": 1, "text": "text"}) + "\n")
    with browsing(workspace) as client:
        page = client.get("/results/test-set").text
    assert f"{escape(HOSTILE[-1])}.pdf: 0 of 1 pages are asked about" in page and HOSTILE[-1] not in page


def test_the_list_is_narrowed_and_searched(client: TestClient) -> None:
    client.headers["hx-request"] = "true"
    assert "Which fuse sets the clock?" in client.get("/results/test-set?which=pool&words=CLOCK+fuse").text
    assert "0 questions" in client.get("/results/test-set?which=pool&words=clock+absent").text
    assert "6 questions" in client.get("/results/test-set", params={"model": WRITERS[0]}).text


def test_a_decision_is_on_disk_with_the_person_and_the_last_one_counts(
    workspace: Workspace, client: TestClient
) -> None:
    client.post("/results/labels/who", data={"who": "Ann"})
    client.post("/results/test-set/decide", data={"id": "q002", "action": "reject"})
    part = client.post("/results/test-set/decide", data={"id": "q002", "action": "edit", "text": " What  now? "}).text
    assert "edited by Ann" in part
    one = read_edits(workspace.question_edits)["q002"]
    was = next(query.text for query in read_records(workspace.queries, Query) if query.id == "q002")
    assert (one.action, one.text, one.was, one.person) == ("edit", "What now?", was, "Ann")
    assert len(workspace.question_edits.read_text().splitlines()) == 2
    assert "1 decision waits" in client.get("/results/test-set").text


@pytest.mark.parametrize("given", [{"id": "none", "action": "reject"}, {"id": "q001", "action": "drop"}])
def test_only_questions_there_are_and_decisions_there_are_are_taken(
    workspace: Workspace, client: TestClient, given: dict[str, str]
) -> None:
    assert client.post("/results/test-set/decide", data=given).status_code == 404
    assert not workspace.question_edits.exists()


@pytest.mark.parametrize("text", ["", "  ", "a\u202eb", "x" * 2001])
def test_a_text_that_no_question_can_have_is_refused_with_a_sentence(
    workspace: Workspace, client: TestClient, text: str
) -> None:
    answer = client.post("/results/test-set/decide", data={"id": "q001", "action": "edit", "text": text})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert not workspace.question_edits.exists()


def test_one_that_the_rules_rejected_is_accepted_and_left_out_again(workspace: Workspace, client: TestClient) -> None:
    about = {"model": WRITERS[0], "section": "s1", "kind": "fact"}
    write_records(workspace.rejected, [Rejected(text="And what of the fuse?", metadata=about, reason="too short")])
    id = id_of_rejected("And what of the fuse?", about)
    page = client.get("/results/test-set?which=rejected").text
    assert f'value="{id}"' in page
    assert "It has no evidence in the documents" in page
    assert client.post("/results/test-set/decide", data={"id": id, "action": "accept"}).status_code == 200
    assert read_edits(workspace.question_edits)[id].was == "And what of the fuse?"
    assert "1 decision waits" in client.get("/results/test-set").text
    part = client.post("/results/test-set/decide", data={"id": id, "action": "reject"}).text
    assert "takes it into the set" not in part
    assert "decision waits" not in client.get("/results/test-set").text


def test_a_rejected_text_that_no_query_can_have_is_taken_in_only_with_another(
    workspace: Workspace, client: TestClient
) -> None:
    write_records(workspace.rejected, [Rejected(text="a\u202eb", metadata={}, reason="control characters")])
    id = id_of_rejected("a\u202eb", {})
    assert client.post("/results/test-set/decide", data={"id": id, "action": "accept"}).status_code == 422
    assert not workspace.question_edits.exists()
    given = {"id": id, "action": "edit", "text": "What is b?"}
    assert client.post("/results/test-set/decide", data=given).status_code == 200


def test_questions_in_changed_words_are_a_list_of_their_own(workspace: Workspace) -> None:
    n = ask_again(workspace.queries)
    with browsing(workspace) as client:
        page = client.get("/results/test-set").text
        client.headers["hx-request"] = "true"
        assert f"{n} questions" in client.get("/results/test-set?which=perturbed").text
        assert client.post("/results/test-set/decide", data={"id": "q001.case", "action": "reject"}).status_code == 200
    assert "12 questions; 1 more in the pool" in page and "60 of 101 pages are asked about" in page
    assert f"{n} are the same questions in changed words and are not counted" in page
