"""What other packages bring: asked for by name, said in a sentence where it cannot be had."""

from __future__ import annotations

import sys

import pytest
from support.plugin import MODULE, Installed
from support.plugin import plugin as plugin

from ragassay.errors import InputError
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.experiment import plugins

NAME = "words_in_bounds"


def test_names_and_packages_are_told_without_loading_what_is_there(plugin: Installed):
    assert plugins.names_of("judges") == [NAME]
    assert plugins.brought_by("judges", NAME) == "ragassay-example 1.0"
    assert plugins.brought_by("judges", "groundedness") is None and plugins.plugin("judges", "gone", Evaluator) is None
    assert MODULE not in sys.modules
    assert plugins.plugins("judges", Evaluator) == {NAME: plugins.plugin("judges", NAME, Evaluator)}
    assert MODULE in sys.modules


def test_two_packages_may_not_bring_the_same_name(plugin: Installed):
    plugin.install("another", "2.1")
    with pytest.raises(InputError, match=f"another 2.1 and ragassay-example 1.0 each bring a judge named '{NAME}'"):
        plugins.plugin("judges", NAME, Evaluator)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (f"{MODULE}:Bounds", f"a judge 'odd' of ragassay-example 1.0: {MODULE}:Bounds is no subclass of Evaluator"),
        (f"{MODULE}:Gone", "cannot be imported .AttributeError"),
        ("no_such_module:Gone", "cannot be imported .ModuleNotFoundError"),
        (f"{MODULE}:__doc__", "is no subclass of Evaluator"),
    ],
)
def test_what_is_no_judge_is_said_with_its_package(plugin: Installed, value: str, said: str):
    plugin.install(judges={"odd": value})
    with pytest.raises(InputError, match=said):
        plugins.plugin("judges", "odd", Evaluator)
