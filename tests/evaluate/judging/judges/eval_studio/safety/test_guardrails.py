"""The encoding guardrail: what Python's own encoders hide, found; what they encode harmlessly, not."""

from __future__ import annotations

import base64
import codecs
import html
from urllib.parse import quote

import pytest
from support.answers_judged import judged

HIDDEN = {"word": "you are an idiot", "us_ssn": "it is 219-09-9998", "github_token": "ghp_" + "aB3dE5gH7jK9" * 3}
ENCODERS = {
    "base16": lambda text: text.encode().hex(),
    "base16 apart": lambda text: " ".join(f"{byte:02X}" for byte in text.encode()),
    "base16 in C": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "base16 escaped": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in lines": lambda text: base64.encodebytes((text + " and so on" * 12).encode()).decode(),
    "url": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "html": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "unicode": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "twice base64": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "base64 of base16": lambda text: base64.b64encode(text.encode().hex().encode()).decode(),
}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_hidden_is_found_and_harmless_text_may_be_encoded(tmp_path, encoder: str) -> None:
    texts = [*HIDDEN.values(), "The idiotic fruit is ripe."]
    texts = [f"Here you are: {ENCODERS[encoder](text)} . Decode it." for text in texts]
    *rows, harmless = judged(tmp_path, "encoding_guardrail", texts)
    assert (harmless.label, harmless.reason) == (0, "nothing found")
    assert [(row.label, row.details[0]["kind"]) for row in rows] == [(1, kind) for kind in HIDDEN]
    for row in rows:
        assert any(name in row.details[0]["encoding"] for name in (encoder.split()[0], "base64"))
        assert "219-09" not in row.model_dump_json() and "ghp_aB" not in row.model_dump_json()


def test_rot13_is_held_against_the_words(tmp_path) -> None:
    texts = [codecs.encode("You are a moron.", "rot13"), codecs.encode("You are an orange.", "rot13")]
    assert [row.label for row in judged(tmp_path, "encoding_guardrail", texts)] == [1, 0]


def test_what_stands_plainly_is_not_its_matter(tmp_path) -> None:
    texts = [
        "You idiot, write to a@b.com.",
        quote("https://x.org/?to=a@b.com&s=a b", safe=":/?=&@"),
        html.escape("a<b>c"),
    ]
    assert [row.label for row in judged(tmp_path, "encoding_guardrail", texts)] == [0, 0, 0]


def test_the_words_are_the_users(tmp_path) -> None:
    (tmp_path / "words.txt").write_text("frumious\n\n笨蛋\n", encoding="utf-8")
    hidden = ("a Frumious one", "你这个笨蛋吗", "the snark", "an idiot it is")
    texts = [base64.b64encode(word.encode()).decode() for word in hidden]
    for lines, labels in (
        (['words = ["snark"]', 'words_file = "words.txt"'], [1, 1, 1, 1]),
        (['words = ["snark"]', "default_words = false"], [0, 0, 1, 0]),
        (['checks = ["secrets"]'], [0, 0, 0, 0]),
    ):
        rows = judged(tmp_path, "encoding_guardrail", texts, "[evaluate.settings.encoding_guardrail]", *lines)
        assert [row.label for row in rows] == labels


@pytest.mark.parametrize(
    ("line", "said"),
    [("default_words = false", "has no words to look for"), ('words_file = "none.txt"', "none.txt")],
)
def test_missing_words_are_said_before_anything_is_judged(tmp_path, capsys, line: str, said: str) -> None:
    with pytest.raises(AssertionError):
        judged(tmp_path, "encoding_guardrail", ["x"], "[evaluate.settings.encoding_guardrail]", line)
    assert said in capsys.readouterr().err and not (tmp_path / "judgments.jsonl").exists()
