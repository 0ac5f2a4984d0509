"""Files and folders that are not what they should be, and terminals that cannot show what they are given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loopback.behaviours import hang
from support.loopback.server import ScriptedServer
from support.pdf_maker import make_pdf
from support.small_corpus import edit, make_corpus, page

from ragassay.cli import main
from ragassay.cli.pipeline import manifest
from ragassay.files import write_text


def a_file(results: Path) -> None:
    results.parent.mkdir()
    results.write_text("x")


def below_a_file(results: Path) -> None:
    results.parent.write_text("x")


def a_loop(results: Path) -> None:
    results.parent.symlink_to(results.parent.name)


def a_folder_for_an_output(results: Path) -> None:
    (results / "pages.jsonl").mkdir(parents=True)


def a_folder_for_the_lock(results: Path) -> None:
    (results / ".lock").mkdir(parents=True)


def a_file_for_the_requests(results: Path) -> None:
    results.mkdir(parents=True)
    (results / "requests").write_text("x")


@pytest.mark.parametrize(
    "spoil",
    [a_file, below_a_file, a_loop, a_folder_for_an_output, a_folder_for_the_lock, a_file_for_the_requests],
    ids=lambda function: function.__name__,
)
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, spoil: Callable[[Path], None], capsys):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    spoil(tmp_path / "results" / "mine")
    assert main(["run", str(corpus)]) == 2
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert last.startswith("ragassay: results/mine") and "cannot be used" in last
    assert not list(tmp_path.rglob("*.part"))


def test_what_steers_a_terminal_is_shown_and_not_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(tmp_path / "no\x1b[31mred\nline")]) == 2
    said = capsys.readouterr().err
    assert "no\\x1b[31mred" in said and "\x1b" not in said and said.count("\n") == 1


@pytest.mark.parametrize("options", [["--results", ""], ["--max-cost", "nan"], ["--max-cost", "0"], ["--model", ""]])
def test_options_that_mean_nothing_are_refused(tmp_path: Path, options: list[str]):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    try:
        code: object = main(["run", str(corpus), *options])
    except SystemExit as ended:
        code = ended.code
    assert code == 2 and not (tmp_path / "results").exists()


def test_the_corpus_folder_itself_is_no_place_for_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    (corpus / "queries.jsonl").write_text('{"_id": "q1", "text": "mine?"}\n')
    assert main(["run", "mine", "--results", "../" + tmp_path.name + "/mine"]) == 2
    assert "is the corpus folder itself" in capsys.readouterr().err
    assert (corpus / "queries.jsonl").read_text() == '{"_id": "q1", "text": "mine?"}\n'


def test_k_larger_than_the_corpus_is_said_before_a_question_is_asked(tmp_path: Path, capsys):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    edit(corpus, "k = 3", "k = 300")
    for verb in ("run", "plan"):
        assert main([verb, str(corpus)]) == 2
        assert "retrieval.k is 300" in capsys.readouterr().err
    assert not (tmp_path / "results" / "mine" / "requests").exists()


def test_an_unknown_language_and_a_broken_prompt_are_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    settings = corpus / "experiment.toml"
    sound = settings.read_text()
    settings.write_text(sound + '\n[corpus]\nlanguage = "klingon"\n')
    assert main(["run", str(corpus)]) == 2
    assert "experiment.toml: corpus.language: 'klingon'" in capsys.readouterr().err
    (corpus / "mine.md").write_text("Judge.\n## User\n\n{% if %}\n")
    settings.write_text(sound.replace("[judge]", '[judge]\npointwise_prompt = "mine.md"'))
    assert main(["run", str(corpus)]) == 2
    assert "mine.md:4: is not a Jinja2 template" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_folder_that_may_not_be_read_is_not_passed_over(tmp_path: Path, monkeypatch, capsys):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    make_pdf(corpus / "more" / "a.pdf", [page(7)])
    scandir = os.scandir

    def forbidding(place: str) -> object:
        if Path(place).name == "more":
            raise PermissionError(13, "Permission denied", place)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", forbidding)
    assert main(["ingest", str(corpus)]) == 2
    assert "more: cannot be used (Permission denied)" in capsys.readouterr().err


def test_a_file_that_may_not_be_read_has_no_digest(tmp_path: Path):
    def forbidden(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    write_text(tmp_path / "a.pdf", "x")
    assert manifest.digests([tmp_path / "a.pdf"], tmp_path, forbidden) == {"a.pdf": None}


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write_text(pipe, "through")
        assert reader.communicate(timeout=60)[0] == "through"
    assert pipe.is_fifo() and os.listdir(tmp_path) == ["pipe"]


def test_a_terminal_without_the_characters_shows_them_escaped(tmp_path: Path):
    games = tmp_path / "games.jsonl"
    games.write_text('{"query_id": "q", "agent_a": "\\u7532", "agent_b": "B", "first": "a", "winner": "a"}\n')
    for layout in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "ragassay", "rate", "--games", str(games), "--bootstrap", "100", *layout],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0 and "\\u7532" in done.stdout, done.stderr


@pytest.mark.parametrize("words", [["--help"], ["agree", "--help"], []])
def test_the_help_is_there_where_a_terminal_lacks_its_characters(words: list[str]):
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", *words],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (0 if words else 2) and "\\u2026" in done.stdout and not done.stderr


def test_exit_statuses_into_a_closed_pipe_are_no_traceback():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", "help", "exits"], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_second_ctrl_c_does_not_wait_for_calls_under_way(tmp_path: Path):
    with ScriptedServer("openai", [hang()]) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, timeout_s=600.0)
        command = [sys.executable, "-m", "ragassay", "run", str(corpus)]
        environment = {**os.environ, "OPENAI_API_KEY": "sk-test-not-a-key"}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not server.requests and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        wait_until_it_waits(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr
        while "Ctrl-C again" not in (said := process.stderr.readline()):
            assert said, "it ended"
        wait_until_it_waits(process)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "what was received is kept" in rest and "Traceback" not in rest


def wait_until_it_waits(process: subprocess.Popen[str]) -> None:
    """Until nothing moves in it: a signal just before Python waits for a lock is seen only when that is opened."""
    status, before, now = Path(f"/proc/{process.pid}/status"), "", "-"
    while (now != before or "State:\tS" not in now) and process.poll() is None:
        time.sleep(0.1)
        before, now = now, status.read_text()


def test_new_names_its_copies_so_that_ingest_sees_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    make_pdf(tmp_path / "manual", [page(1)])
    make_pdf(tmp_path / ".hidden.pdf", [page(2)])
    assert main(["new", "my corpus", "manual", ".hidden.pdf", "--model", "file:m"]) == 0
    assert "`ragassay plan 'my corpus'`" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "my corpus").glob("*.pdf")) == ["hidden.pdf", "manual.pdf"]
    make_pdf(tmp_path / "manual.pdf", [page(3)])
    assert main(["new", "other", "manual", "manual.pdf"]) == 2
    assert "has the same name as" in capsys.readouterr().err and not (tmp_path / "other").exists()


def test_files_of_one_name_are_told_apart(tmp_path: Path):
    """A prompt of one's own may be called as ours is: a change of either is seen."""
    own, ours = tmp_path / "corpus" / "umbrela.md", tmp_path / "prompts" / "umbrela.md"
    for path in (own, ours):
        path.parent.mkdir()
        path.write_text("one")
    before = manifest.digests([own, ours], tmp_path / "results")
    assert list(before) == ["prompts/umbrela.md", "umbrela.md"]
    own.write_text("two")
    after = manifest.digests([own, ours], tmp_path / "results")
    assert manifest.why_run(known(before), before, {}, {}) is None
    assert manifest.why_run(known(before), after, {}, {}) == "umbrela.md changed"


def known(inputs: dict[str, str | None]) -> manifest.Manifest:
    return manifest.Manifest(stage="evaluate", inputs=inputs, settings={}, outputs={})
