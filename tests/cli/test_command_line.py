"""The command line as a newcomer meets it: help, and one clear sentence for whatever is wrong with the input."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.json_lines import records
from support.pdf_maker import make_encrypted_pdf, make_pdf
from support.small_corpus import make_corpus, page

from ragassay.cli import OLD, build_parser, main

VERBS = ["new", "run", "plan", "ingest", "questions", "retrieve", "answer", "judge", "compare", "report"]
VERBS += ["replies", "label-sheet", "model", "search", "score", "rate", "agree", "agree systems", "gate"]
VERBS += ["evaluate", "judge --list", "export", "plot", "consistency", "agree meta-eval", "opensearch", "demo"]
VERBS += ["completion", "agree calibrate", "check", "screen"]
VERBS += ["check validity", "archive", "doctor", "import", "perturb", "serve"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main([*verb.split(), "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0 and "exit status" in text and len(text) > 200


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("rnu x", "run"),
        ("sistems a b", "agree systems"),
        ("run x --modle y", "--model"),
        ("plan x --max-cots=5", "--max-cost"),
        ("search a b --engine opensearc", "opensearch"),
        ("score --qrels a --run b --measure nDGC@10", "nDCG@10"),
    ],
)
def test_what_is_misspelt_is_said_with_what_it_may_have_been(words: str, meant: str, capsys):
    try:
        status = main(words.split())
    except SystemExit as ended:
        status = ended.code
    assert status == 2 and f"did you mean '{meant}'?" in capsys.readouterr().err


def test_no_verb_is_without_a_test_of_its_help():
    actions = next(a for a in build_parser("0")._actions if a.metavar == "VERB")
    assert sorted(actions.choices) == sorted(VERBS)


def test_the_help_names_every_verb_on_one_screen(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    words = set(re.findall(r"[a-z-]+", "\n".join(lines)))
    assert {word for verb in VERBS for word in verb.split()} <= words


@pytest.mark.parametrize(("old", "now"), OLD.items())
def test_an_old_name_goes_on_working_and_says_the_new_one(old: str, now: str, capsys: pytest.CaptureFixture[str]):
    said = []
    for words in ([old, "--help"], ["help", *now.split()]):
        with pytest.raises(SystemExit):
            main(words)
        said.append(capsys.readouterr())
    assert said[0].out == said[1].out and f"usage: ragassay {now} " in said[0].out
    assert f"`{old}` is now `ragassay {now}`" in said[0].err and not said[1].err


def test_exit_statuses_are_said_once(capsys: pytest.CaptureFixture[str]):
    assert main(["help", "exits"]) == 0
    assert re.findall(r"^  (\d)  ", capsys.readouterr().out, re.MULTILINE) == list("0123456")


def test_help_loads_nothing_heavy():
    code = "import sys; from ragassay.cli import main; main([]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "numpy", "pydantic", "langchain_core", "openai", "anthropic", "rich", "shtab"} & set(loaded)


def broken(corpus: Path) -> None:
    (corpus / "errata.pdf").write_bytes(b"%PDF-1.4 this is no more than a beginning")


def encrypted(corpus: Path) -> None:
    make_encrypted_pdf(corpus / "errata.pdf", [page(1)])


def textless(corpus: Path) -> None:
    make_pdf(corpus / "errata.pdf", ["", ""])


@pytest.mark.parametrize("spoil", [broken, encrypted, textless])
def test_a_pdf_that_cannot_be_read_is_named_and_the_good_ones_go_on(
    tmp_path: Path, spoil: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    spoil(corpus)
    assert main(["ingest", str(corpus)]) == 5
    assert "errata.pdf" in capsys.readouterr().out
    assert {row["metadata"]["doc"] for row in records(tmp_path / "results/mine/corpus.jsonl")} == {"user manual.pdf"}
    assert main(["ingest", str(corpus)]) == 5, "the status stays when there is nothing to do"


def no_pdfs(corpus: Path) -> None:
    for pdf in corpus.glob("*.pdf"):
        pdf.unlink()


def empty_questions(corpus: Path) -> None:
    (corpus / "questions.txt").write_text("\n# nothing\n")


def binary_questions(corpus: Path) -> None:
    (corpus / "questions.txt").write_bytes(b"What?\n\x00\x01\xff")


def edit(old: str, new: str) -> Callable[[Path], None]:
    def change(corpus: Path) -> None:
        path = corpus / "experiment.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    change.__name__ = new or "nothing"
    return change


def same_ids(corpus: Path) -> None:
    make_pdf(corpus / "user-manual.pdf", [page(1)])


def no_experiment(corpus: Path) -> None:
    (corpus / "experiment.toml").unlink()


def foreign_callable(corpus: Path) -> None:
    with (corpus / "experiment.toml").open("a") as stream:
        stream.write('[[agent]]\nname = "ours"\nkind = "python"\ncallable = "nowhere"\n')


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (no_pdfs, "no PDF"),
        (empty_questions, "questions.txt"),
        (binary_questions, "questions.txt:2: is"),
        (edit("k = 3", "kk = 3"), "experiment.toml:16: unknown key 'retrieval.kk'"),
        (edit("k = 3", 'k = "three"'), "experiment.toml:16: retrieval.k"),
        (edit("k = 3", "k = 0"), "experiment.toml:16: retrieval.k"),
        (edit("[judge]", "[judge"), "experiment.toml:22: is not TOML"),
        (edit("retries = 5", "retries = 99"), "experiment.toml:30: run.retries"),
        (edit('"file:m"', '"acme:m"'), "'acme:m' has no known provider"),
        (edit('"file:m"', '"file:"'), "experiment.toml"),
        (edit('"file:m"', '"openai: "'), "experiment.toml"),
        (edit('"file:m"', '"m"'), "provider:model"),
        (edit('"file:m"', '"anthropic:m"'), "ANTHROPIC_API_KEY"),
        (edit('"file:m"', '"local:nowhere.gguf"'), "nowhere.gguf"),
        (foreign_callable, "module:name"),
        (same_ids, "user-manual.pdf"),
        (no_experiment, "experiment.toml"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_bad_input_is_one_sentence_and_status_2(tmp_path: Path, spoil: Callable[[Path], None], says: str, capsys):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    spoil(corpus)
    assert main(["run", str(corpus)]) == 2
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert last.startswith("ragassay: ") and says in last
    assert not list(tmp_path.rglob("*.part")), "something was half-written"


def test_a_corpus_that_is_not_there(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "nowhere"]) == 2
    assert "nowhere: there is no such folder" in capsys.readouterr().err


def test_new_makes_a_folder_that_runs_as_far_as_its_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pdf = make_pdf(tmp_path / "手册 (v2) [draft].pdf", [page(1), page(2)])
    assert main(["new", "corpora/mine", str(pdf)]) == 0
    assert "openai:gpt-4o" in capsys.readouterr().out
    assert main(["new", "corpora/mine", str(pdf)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["ingest", "corpora/mine"]) == 0
    assert main(["questions", "corpora/mine"]) == 2
    assert "questions.txt" in capsys.readouterr().err
    assert "sk-test" not in (tmp_path / "corpora/mine/experiment.toml").read_text()


def test_new_refuses_what_is_not_a_pdf_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "a.pdf").write_text("hello")
    assert main(["new", "corpora/mine", "a.pdf"]) == 2
    assert "is not a PDF" in capsys.readouterr().err
    (tmp_path / "b.pdf").touch()
    assert main(["new", "corpora/mine", "b.pdf"]) == 2
    assert "b.pdf: is empty; leave it out" in capsys.readouterr().err
    assert not (tmp_path / "corpora").exists()


def test_replies_that_are_no_replies_are_refused_with_their_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    (tmp_path / "bad.jsonl").write_text('{"custom_id": "x", "response": {"body": {}}}\nhello\n{}\n')
    assert main(["replies", "bad.jsonl", str(corpus)]) == 2
    assert "bad.jsonl:2: is not a line of Batch output" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
