"""What is wrong in experiment.toml is said with its line, whatever it is; what is right is taken as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.experiment.reading import load_experiment

SOUND = """\
[questions]
quota = { "openai:m" = 4 }

[answer]
model = "openai:m"

[retrieval]
retrievers = ["bm25"]
k = 3

[judge]
model = "openai:m"

[[agent]]
name = "first"
kind = "file"
path = "first.jsonl"

[[agent]]
name = "second"
kind = "file"
path = "second.jsonl"

[models."openai:m"]
base_url = "http://127.0.0.1:8000/v1"
temperature = 0

[corpus]
language = "de"
"""


def load(folder: Path, text: str | bytes):
    path = folder / "experiment.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_experiment(path)


def test_a_sound_file_with_bom_and_crlf_reads_the_same(tmp_path: Path):
    plain = load(tmp_path, SOUND)
    assert load(tmp_path, b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode()) == plain
    assert plain.settings_of("openai:m").temperature == 0.0


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("temperature = 0", "top_p = 0", 26, "top_p"),
        ("temperature = 0", "top_p = 1.1", 26, "top_p"),
        ("temperature = 0", "seed = -1", 26, "seed"),
        ("temperature = 0", "seed = 4.0", 26, "seed"),
        ("temperature = 0", "presence_penalty = 2.5", 26, "presence_penalty"),
        ("k = 3", "k = true", 9, "retrieval.k: must be a whole number"),
        ("k = 3", 'k = "3"', 9, "retrieval.k: must be a whole number"),
        ("k = 3", "k = 3.0", 9, "retrieval.k: must be a whole number"),
        ("k = 3", "[retrieval.k]\nx = 1", 9, "retrieval.k: must be a whole number"),
        ('["bm25"]', '"bm25"', 8, "retrieval.retrievers: must be a list in square brackets"),
        ('["bm25"]', "[]", 8, "retrieval.retrievers: must not be empty"),
        ('["bm25"]', "[1]", 8, "retrieval.retrievers.0"),
        ('{ "openai:m" = 4 }', '["openai:m"]', 2, "questions.quota: must be a table"),
        (
            '{ "openai:m" = 4 }',
            '{ "openai:m" = 4 }\nkinds = { fact = 0.5, keyword = 0.4 }',
            3,
            "questions.kinds: the shares must add up to 1, and add up to 0.9",
        ),
        (
            '{ "openai:m" = 4 }',
            '{ "openai:m" = 4 }\nkinds = { fact = 0.5, riddle = 0.5 }',
            3,
            "questions.kinds: there is no kind 'riddle'; there are fact, several, multi-hop, comparison, keyword",
        ),
        ('{ "openai:m" = 4 }', '{ "openai:m" = 4 }\nkinds = { fact = -1, keyword = 2 }', 3, "questions.kinds.fact"),
        ('{ "openai:m" = 4 }', '{ "openai:m" = 4 }\nblind = 1.5', 3, "questions.blind"),
        ('{ "openai:m" = 4 }', '{ "openai:m" = 4 }\nprompt = "p.md"', 1, 'prompt goes with style = "passage"'),
        (
            '{ "openai:m" = 4 }',
            '{ "openai:m" = 4 }\nstyle = "passage"\nblind_prompt = "p.md"',
            1,
            'blind_prompt goes with style = "need"',
        ),
        (
            '{ "openai:m" = 4 }',
            '{ "openai:m" = 4 }\nstyle = "passage"\nroles = "corpus"',
            1,
            'roles = "corpus" goes with style = "need"',
        ),
        (
            '{ "openai:m" = 4 }',
            '{ "openai:m" = 4 }\nroles = "corpsu"',
            3,
            'questions.roles: must be a list of sentences, none of them empty, or "corpus"',
        ),
        ('{ "openai:m" = 4 }', '{ "openai:m" = 4 }\nroles = ["a nurse", ""]', 3, "questions.roles: must be a list of"),
        ('{ "openai:m" = 4 }', '{ "openai:m" = "4" }', 2, "questions.quota.openai:m: must be a whole number"),
        ('"http://127.0.0.1:8000/v1"', "5", 25, "models.openai:m.base_url: must be text in quotes"),
        ('"http://127.0.0.1:8000/v1"', '"127.0.0.1:8000"', 25, "models.openai:m.base_url: an address is such as"),
        ('"http://127.0.0.1:8000/v1"', '""', 25, "an address is such as"),
        ('"http://127.0.0.1:8000/v1"', '"http://[::1"', 25, "an address is such as"),
        ('"http://127.0.0.1:8000/v1"', '"http://h:99999/"', 25, "an address is such as"),
        ('"http://127.0.0.1:8000/v1"', '"file:///etc/passwd"', 25, "an address is such as"),
        ('"http://127.0.0.1:8000/v1"', '"http://me:pass@h/v1"', 25, "an address with a login would be shown"),
        (
            '"http://127.0.0.1:8000/v1"',
            '"http://h/v1?key=abc"',
            25,
            'an address with a query ("?…"), which may be a key',
        ),
        ('path = "first.jsonl"', 'paths = "x"', 17, "'agent.0.paths'; did you mean 'path'? known here: name, kind"),
        ("temperature = 0", "temperatur = 0", 26, "'models.openai:m.temperatur'; did you mean 'temperature'? known"),
        ("[retrieval]", "[retrival]", 7, "unknown key 'retrival'; did you mean 'retrieval'? known here: corpus"),
        ("temperature = 0", 'temperature = "0"', 26, "models.openai:m.temperature: must be a number"),
        (
            "temperature = 0",
            "prices_usd_per_million = { input = -1.0 }",
            26,
            "models.openai:m.prices_usd_per_million.input",
        ),
        ('name = "first"', 'name = "a b"', 15, "agent.0.name: may hold letters, digits"),
        ('name = "second"', 'name = "a b"', 20, "agent.1.name: may hold letters, digits"),
        ('kind = "file"\npath = "first.jsonl"', 'kind = "file"', 14, 'agent.0: kind = "file" needs path'),
        ('[judge]\nmodel = "openai:m"', "[judge]", 11, "'judge.model' is missing"),
        ('language = "de"', 'language = "de"\n[compare]\nseed = -1', 31, "compare.seed"),
        ('language = "de"', 'language = "de"\n[opensearch]\nfilter = { doc = "a" }', None, "opensearch.filter and"),
        ("[retrieval]", '[retrieval]\nurl = "http://127.0.0.1:9200"', None, "retrieval.url goes"),
        ('language = "de"', 'language = "de"\n[compare]\ntournaments = 1000000000000', 31, "compare.tournaments"),
        ('language = "de"', "language = " + "9" * 5000, None, "is not TOML"),
        ('language = "de"', "language = " + "[" * 9000 + "]" * 9000, None, "is not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int | None, says: str):
    assert SOUND.count(old) == 1 or old.startswith('["')
    with pytest.raises(InputError) as raised:
        load(tmp_path, SOUND.replace(old, new, 1))
    assert raised.value.line == line and says in str(raised.value) and "\n" not in str(raised.value)
