"""The stages `retrieve` and `answer`, as files in and files out, with BM25 and a scripted caller."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.json_lines import write_lines
from support.results_folder import results_folder, write

from ragassay.errors import InputError, RepliesMissing
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, read_run
from ragassay.models.requests import Batch, Reply, Request
from ragassay.records import Answer, Passage, Query, Usage
from ragassay.retrieval.agents.answering import Rewrite, Rewritten
from ragassay.retrieval.answer_queries import answer_queries
from ragassay.retrieval.rank_queries import rank_queries
from ragassay.retrieval.rankers.bm25 import Bm25

TEXTS = {
    "progmem": "The PROGMEM attribute places constant data into the flash of the device.",
    "pgm-read": "Use pgm_read_byte to read a byte of data from flash memory.",
    "eeprom": "The EEPROM keeps its content when power is lost; eeprom_write_byte writes to it.",
    "watchdog": "The watchdog timer resets the device when the program hangs.",
    "interrupt": "An interrupt handler is declared with the ISR macro and a vector name.",
    "sleep": "set_sleep_mode selects how deeply the device sleeps to save power.",
}
QUERIES = {"q1": "How is constant data placed into flash?", "q2": "What does the watchdog timer do?", "q3": "zzz qqq"}
REWRITES = {
    "q1": ["read a byte from flash memory", "PROGMEM attribute"],
    "q2": ["reset when the program hangs", "timer reset"],
    "q3": ["xxx", "yyy"],
}

Script = Callable[[str, Request], Reply]


class ScriptedCaller:
    """A caller whose replies a function gives from the batch's label and the request."""

    def __init__(self, script: Script) -> None:
        self.script, self.batches = script, list[Batch]()

    def ask(self, batches: Sequence[Batch]) -> list[list[Reply]]:
        self.batches += batches
        return [[self.script(batch.label, request) for request in batch.requests] for batch in batches]


def answers(label: str, request: Request) -> Reply:
    """Rewrites every query as REWRITES says; answers with the length of the prompt."""
    user = request.messages[-1].content
    if label == "rewrites":
        query_id = next(key for key, text in QUERIES.items() if text in user)
        return Reply(value=Rewritten(queries=REWRITES[query_id]), usage=Usage(input_tokens=7), latency_s=1.0)
    return Reply(text=f"answer of {len(user)}", usage=Usage(input_tokens=100), latency_s=2.0)


def failing(bad: str) -> Script:
    def script(label: str, request: Request) -> Reply:
        if bad in request.messages[-1].content:
            return Reply(error="the model refused", usage=Usage(input_tokens=7))
        return answers(label, request)

    return script


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


def make_workspace(folder: Path, agents: str = '["rag", "rag-fusion"]', k: int = 2, model: str = "file:x") -> Workspace:
    return results_folder(
        folder,
        f'[questions]\nsource = "own"\n[retrieval]\nretrievers = ["bm25"]\nk = {k}\n'
        f'[answer]\nmodel = "{model}"\nagents = {agents}\nfusion_queries = 2\n[judge]\nmodel = "file:x"\n',
        passages=[Passage(id=key, text=text) for key, text in TEXTS.items()],
        queries=[Query(id=key, text=text) for key, text in QUERIES.items()],
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> tuple[Workspace, ScriptedCaller]:
    """Both stages done, for those that only read."""
    workspace, caller = make_workspace(tmp_path_factory.mktemp("done")), ScriptedCaller(answers)
    for stage in (rank_queries, answer_queries):
        outcome = stage(workspace, caller)
        assert (outcome.n_records, outcome.n_failed, outcome.notices) == (6, 0, ())
    return workspace, caller


def read_answers(workspace: Workspace, agent: str) -> dict[str, Answer]:
    return {answer.query_id: answer for answer in read_records(workspace.answers(agent), Answer)}


def test_every_agent_has_a_ranking_of_k_passages_and_an_answer_to_every_query(done) -> None:
    workspace, _ = done
    rag = read_run(workspace.rankings("bm25-rag"))
    assert rag["q2"][0][0] == "watchdog" and len(rag["q1"]) == 2
    for agent in ("bm25-rag", "bm25-rag-fusion"):
        run, found = read_run(workspace.rankings(agent)), read_answers(workspace, agent)
        assert list(found) == list(QUERIES)
        assert all([pid for pid, _ in run.get(key, [])] == list(answer.passages) for key, answer in found.items())


def test_rag_fusion_puts_first_what_the_rewritten_queries_agree_on(done) -> None:
    workspace, _ = done
    row = {rewrite.query_id: rewrite for rewrite in read_records(workspace.rewrites, Rewrite)}["q1"]
    assert row.queries == tuple(REWRITES["q1"])
    fused = read_run(workspace.rankings("bm25-rag-fusion"))["q1"]
    # progmem is 1st for the question and the second rewriting; pgm-read 1st for the first (by counting words)
    assert fused[0][0] == "progmem" and fused[0][1] >= 2 / 61 - 1e-6
    assert {pid for pid, _ in fused} == {"progmem", "pgm-read"}


def test_usage_of_the_rewriting_counts_for_rag_fusion_alone(done) -> None:
    workspace, _ = done
    rag, fusion = read_answers(workspace, "bm25-rag")["q1"], read_answers(workspace, "bm25-rag-fusion")["q1"]
    assert (rag.usage.input_tokens, rag.queries) == (100, ())
    assert (fusion.usage.input_tokens, fusion.queries) == (107, tuple(REWRITES["q1"]))
    assert fusion.usage.cost_usd is None


def test_latency_is_that_of_rewriting_searching_and_answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, caller = make_workspace(tmp_path, model="openai:x"), ScriptedCaller(answers)
    search, texts = Bm25.search, []

    def slow(self: Bm25, queries: Sequence[str], k: int) -> object:
        texts.append(len(queries))
        time.sleep(0.05 * len(queries))
        return search(self, queries, k)

    monkeypatch.setattr(Bm25, "search", slow)
    rank_queries(workspace, caller)
    answer_queries(workspace, caller)
    rag, fusion = read_answers(workspace, "bm25-rag")["q1"], read_answers(workspace, "bm25-rag-fusion")["q1"]
    assert 2.05 <= rag.latency_s < 2.15 and 3.15 <= fusion.latency_s < 3.4
    assert texts[1:] == [1] * 4 + [3] * 4, "one that does not count, then each of the three alone"


def test_without_the_time_of_searching_there_is_no_latency(done) -> None:
    workspace, _ = done
    assert not workspace.search_times.exists()
    assert {answer.latency_s for answer in read_answers(workspace, "bm25-rag").values()} == {None}


def test_agents_with_the_same_passages_share_one_request(done) -> None:
    workspace, caller = done
    (batch,) = [batch for batch in caller.batches if batch.label == "answers"]
    found = [read_answers(workspace, agent) for agent in ("bm25-rag", "bm25-rag-fusion")]
    shown = {(key, answer.passages) for rows in found for key, answer in rows.items()}
    assert len(batch.requests) == len(set(batch.requests)) == len(shown) < 6
    assert found[0]["q3"].answer == found[1]["q3"].answer


def test_nothing_found_is_asked_all_the_same(done) -> None:
    workspace, caller = done
    answer = read_answers(workspace, "bm25-rag")["q3"]
    assert answer.passages == () and answer.error is None
    prompts = [request.messages[-1].content for request in caller.batches[-1].requests]
    assert [QUERIES["q3"] in prompt for prompt in prompts if "No passages were found." in prompt] == [True]


def test_a_query_that_could_not_be_rewritten_is_an_error_of_rag_fusion_only(workspace: Workspace) -> None:
    caller = ScriptedCaller(failing(QUERIES["q2"]))
    ranked = rank_queries(workspace, caller)
    assert ranked.n_failed == 1 and "1 of 3 queries could not be rewritten" in ranked.notices[0]
    assert "q2" not in read_run(workspace.rankings("bm25-rag-fusion"))
    assert "q2" in read_run(workspace.rankings("bm25-rag"))
    answer_queries(workspace, ScriptedCaller(answers))
    failed = read_answers(workspace, "bm25-rag-fusion")["q2"]
    assert failed.error == "rewriting the query failed: the model refused" and failed.usage.input_tokens == 7
    assert read_answers(workspace, "bm25-rag")["q2"].error is None


def test_a_reply_that_failed_is_a_record_with_its_error(workspace: Workspace) -> None:
    rank_queries(workspace, ScriptedCaller(answers))
    outcome = answer_queries(workspace, ScriptedCaller(failing(QUERIES["q1"])))
    assert outcome.n_failed == 2 and outcome.notices[0].startswith("bm25-rag: 1 of 3 answers failed")
    record = read_answers(workspace, "bm25-rag")["q1"]
    assert (record.answer, record.error, len(record.passages)) == (None, "the model refused", 2)


def test_fewer_rewritten_queries_than_asked_are_used_and_said(workspace: Workspace) -> None:
    def one(label: str, request: Request) -> Reply:
        return Reply(value=Rewritten(queries=["PROGMEM attribute"]))

    outcome = rank_queries(workspace, ScriptedCaller(one))
    assert outcome.n_failed == 0 and outcome.notices == ("3 of 3 queries have fewer than 2 rewritten ones beside them",)


def test_rag_alone_asks_for_no_rewriting(tmp_path: Path) -> None:
    workspace, caller = make_workspace(tmp_path, '["rag"]'), ScriptedCaller(answers)
    rank_queries(workspace, caller)
    assert caller.batches == [] and not workspace.rewrites.exists()
    answer_queries(workspace, caller)
    assert [batch.label for batch in caller.batches] == ["answers"]


def test_the_same_run_gives_the_same_bytes(workspace: Workspace) -> None:
    written = []
    for _ in range(2):
        rank_queries(workspace, ScriptedCaller(answers))
        answer_queries(workspace, ScriptedCaller(answers))
        paths = sorted(path for path in workspace.results.rglob("*") if path.is_file())
        written.append({path.name: path.read_bytes() for path in paths if path.parent.name in {"rankings", "answers"}})
    assert written[0] == written[1] and len(written[0]) == 4


def test_k_larger_than_the_corpus_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    caller = ScriptedCaller(answers)
    with pytest.raises(InputError, match=r"retrieval\.k is 7 and the corpus has 6 passages"):
        rank_queries(make_workspace(tmp_path, k=7), caller)
    assert caller.batches == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [([], "holds no queries"), ([{"_id": "q1", "text": "a"}, {"_id": "q1", "text": "b"}], "two queries have the id")],
)
def test_a_test_set_that_cannot_be_used(workspace: Workspace, lines: list[dict[str, str]], said: str) -> None:
    write_lines(workspace.queries, lines)
    with pytest.raises(InputError, match=said):
        rank_queries(workspace, ScriptedCaller(answers))


def test_files_of_different_runs_are_told_apart(workspace: Workspace) -> None:
    rank_queries(workspace, ScriptedCaller(answers))
    write(workspace, queries=[Query(id="new", text="What is new?")])
    with pytest.raises(InputError, match=r"query 'new' is not in it; run `ragassay retrieve` again"):
        answer_queries(workspace, ScriptedCaller(answers))
    workspace.rankings("bm25-rag").write_text("new Q0 nowhere 1 1.0 x\n")
    write(workspace, rewrites=[Rewrite(query_id="new", queries=("a",))])
    with pytest.raises(InputError, match=r"passage 'nowhere' is not in corpus\.jsonl"):
        answer_queries(workspace, ScriptedCaller(answers))


def test_replies_that_are_still_missing_leave_no_answers_file(workspace: Workspace) -> None:
    def missing(label: str, request: Request) -> Reply:
        raise RepliesMissing("wait")

    rank_queries(workspace, ScriptedCaller(answers))
    with pytest.raises(RepliesMissing):
        answer_queries(workspace, ScriptedCaller(missing))
    assert not workspace.answers("bm25-rag").exists()


def test_a_prompt_of_the_users_own(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, '["rag"]')
    text = (
        (workspace.corpus / "experiment.toml")
        .read_text()
        .replace("fusion_queries", 'prompt = "mine.md"\nfusion_queries')
    )
    (workspace.corpus / "mine.md").write_text("Be brief.\n## User\n{{ question }} {{ passages | length }}\n")
    workspace = results_folder(tmp_path, text)
    caller = ScriptedCaller(answers)
    rank_queries(workspace, caller)
    answer_queries(workspace, caller)
    assert read_run(workspace.rankings("bm25-rag"))["q2"][1:] == []  # BM25 finds one passage for it
    assert caller.batches[0].requests[1].messages[1].content == f"{QUERIES['q2']} 1"


def test_a_python_system_is_not_called_while_replies_are_missing(tmp_path: Path) -> None:
    def missing(label: str, request: Request) -> Reply:
        raise RepliesMissing("wait")

    workspace = make_workspace(tmp_path, '["rag"]')
    text = (workspace.corpus / "experiment.toml").read_text()
    ours = '[[agent]]\nname = "ours"\nkind = "python"\ncallable = "never_called:answer"\n'
    (workspace.corpus / "never_called.py").write_text("def answer(query): open(__file__ + '.called', 'w')\n")
    workspace = results_folder(tmp_path, text + ours)
    rank_queries(workspace, ScriptedCaller(answers))
    with pytest.raises(RepliesMissing):
        answer_queries(workspace, ScriptedCaller(missing))
    assert not (workspace.corpus / "never_called.py.called").exists()
