"""A prompt of the user's own, true or false: `[[evaluate.custom]]` with a name and a prompt."""

from __future__ import annotations

import pytest
from support.verdict_bench import judge_one

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import evaluators_of
from ragassay.evaluate.judging.engine.cases import Setup
from ragassay.experiment.settings import EvaluateSettings

PROMPT = 'Is it polite?\n\n## User\n{{ fence("answer", answer) }}\n'


@pytest.mark.parametrize(
    ("lines", "label", "value"),
    [((), "yes", 1), ((), "no", 0), (('labels = ["false", "true"]',), "true", 1)],
)
def test_a_name_and_a_prompt_are_enough(bench, monkeypatch, lines, label, value):
    (bench.folder / "polite.md").write_text(PROMPT)
    table = ("[[evaluate.custom]]", 'name = "polite"', 'prompt = "polite.md"', *lines)
    replies = {"reason,label": lambda text: {"reason": "So.", "label": label}}
    assert judge_one(bench, monkeypatch, "polite", replies, *table)["polite"].label == value


@pytest.mark.parametrize(
    ("labels", "threshold"), [(("no", "yes"), 0.5), (("bad", "fair", "good"), None), ((1, 2), 1.5)]
)
def test_of_two_labels_the_higher_passes(tmp_path, labels, threshold):
    (tmp_path / "polite.md").write_text(PROMPT)
    custom = {"name": "polite", "prompt": "polite.md", "labels": labels}
    settings = EvaluateSettings.model_validate({"custom": (custom,)})
    (made,) = evaluators_of(settings, Setup("openai:judge", folder=tmp_path), tmp_path / "experiment.toml")
    assert [criterion.threshold for criterion in made.criteria] == [threshold]


JUDGE_OF_ONE_FILE = '''
from ragassay.evaluate.judging.engine.evaluator import LabelJudge


class Polite(LabelJudge):
    """Whether an answer is polite."""

    name = "polite"
    about = "whether it is polite"
    reads = ("answer",)
    labels = ("rude", "polite")
    default_prompt = """Is it polite?

## User
{{ fence("answer", answer) }}
"""
'''


def test_a_judge_with_its_prompt_is_one_file(bench, monkeypatch):
    (bench.folder / "manners.py").write_text(JUDGE_OF_ONE_FILE)
    replies = {"reason,label": lambda text: {"reason": "So.", "label": "polite"}}
    monkeypatch.chdir(bench.folder)
    assert judge_one(bench, monkeypatch, "manners:Polite", replies)["polite"].label == 1


def test_what_is_wrong_with_a_prompt_in_a_class_is_said_with_its_file(tmp_path):
    (tmp_path / "curt.py").write_text(JUDGE_OF_ONE_FILE.replace("## User", "# User"))
    settings = EvaluateSettings.model_validate({"judges": ("curt:Polite",)})
    with pytest.raises(InputError, match=r"curt\.py: a prompt has one line '## User'"):
        for one in evaluators_of(settings, Setup("openai:judge", folder=tmp_path), tmp_path / "experiment.toml"):
            one.prompt()
