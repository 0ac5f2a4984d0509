"""Code of others: what packages bring is asked for by name, and the user's own leaves the process as it was."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.plugin import MODULE, Installed
from support.plugin import plugin as plugin
from support.results_folder import experiment

from ragassay import Layout, Measure, Ranker
from ragassay.errors import InputError
from ragassay.evaluate.judging.engine.evaluator import Evaluator
from ragassay.experiment.plugins import brought_by, importable, names_of, own_identity, plugins
from ragassay.experiment.plugins import plugin as brought
from ragassay.experiment.reading import own_modules
from ragassay.experiment.workspace import Workspace

NAME = "words_in_bounds"


def test_names_and_packages_are_told_without_loading_what_is_there(plugin: Installed):
    assert names_of("judges") == [NAME]
    assert brought_by("judges", NAME) == "ragassay-example 1.0"
    assert brought_by("judges", "groundedness") is None and brought("judges", "gone", Evaluator) is None
    assert MODULE not in sys.modules
    assert plugins("judges", Evaluator) == {NAME: brought("judges", NAME, Evaluator)}
    assert MODULE in sys.modules


def test_two_packages_may_not_bring_the_same_name(plugin: Installed):
    plugin.install("another", "2.1")
    with pytest.raises(InputError, match=f"another 2.1 and ragassay-example 1.0 each bring a judge named '{NAME}'"):
        brought("judges", NAME, Evaluator)


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
        brought("judges", "odd", Evaluator)


@pytest.mark.parametrize(
    ("group", "base", "value"),
    [("measures", Measure, "BothFirst"), ("layouts", Layout, "Helpdesk"), ("retrievers", Ranker, "Shortest")],
)
def test_an_entry_has_the_name_of_its_class(plugin: Installed, group: str, base: type, value: str):
    plugin.install(**{group: {"other": f"{MODULE}:{value}"}})
    with pytest.raises(InputError, match=r"'other' of ragassay-example 1.0 has the name '\w+' in its class; name it"):
        brought(group, "other", base)


def test_the_path_of_modules_and_the_working_folder_are_as_before(tmp_path: Path):
    before, home = list(sys.path), Path.cwd()
    with pytest.raises(ZeroDivisionError), importable(tmp_path):
        assert sys.path[0] == str(tmp_path.resolve())
        sys.path.append("elsewhere")
        os.chdir(tmp_path)
        raise ZeroDivisionError
    assert (sys.path, Path.cwd()) == (before, home)


def test_what_stands_for_own_code_in_a_cache_changes_with_it(tmp_path: Path):
    own = tmp_path / "mine.py"
    own.write_text("class Encoder: ...\n")
    before = own_identity("python:mine:Encoder", tmp_path)
    own.write_text("class Encoder:\n    size = 2\n")
    assert own_identity("python:mine:Encoder", tmp_path) != before
    assert own_identity("python:json:loads", tmp_path) == "python:json:loads"


def test_a_module_of_a_package_is_all_of_its_files_however_deep(tmp_path: Path):
    names = ["pack/__init__.py", "pack/deep/__init__.py", "pack/deep/one.py", "alone.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = own_modules(Workspace(tmp_path, tmp_path, experiment()), "pack.deep.one:make", "alone:make")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in found) == sorted(names)
