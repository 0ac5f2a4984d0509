"""The user's own code: which files a stage runs again for, and that nothing of the process stays changed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from support.results_folder import experiment

from ragassay.experiment.own_code import importable, own_identity
from ragassay.experiment.reading import own_modules
from ragassay.experiment.workspace import Workspace


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
