"""Starting an isolated interpreter: its environment, its libraries, and which one it is."""

import sys
from pathlib import Path

import pytest

from pipelines.errors import ConfigError
from pipelines.interpreter import (
    interpreter,
    isolated_command,
    isolated_environment,
    library_folders,
)


def test_no_key_and_no_python_variable_is_inherited(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = isolated_environment()
    assert not {"OPENAI_API_KEY", "PYTHONPATH"} & environment.keys()
    assert environment["LANG"] == "C.UTF-8"


def test_the_command_is_isolated_and_names_the_module():
    command = isolated_command("pipelines.worker", ["pypdf"])
    assert command[0] == interpreter()
    assert "-I" in command
    assert "pipelines.worker" in command


def test_libraries_beside_the_documents_are_not_found(tmp_path, monkeypatch):
    for folder in ("here", "there"):
        (tmp_path / folder / "library").mkdir(parents=True)
        (tmp_path / folder / "library" / "__init__.py").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "here"), str(tmp_path / "there")])
    assert library_folders(["library"], home="/home") == [str(tmp_path / "there")]
    home = str(tmp_path / "here")
    assert library_folders(["library"], home=home) == [home]


def test_a_program_that_embeds_python_is_not_taken_for_an_interpreter(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    assert Path(interpreter()).name.startswith("python")


def test_without_an_interpreter_the_error_says_where_one_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    with pytest.raises(ConfigError, match="no Python interpreter") as caught:
        interpreter()
    assert str(tmp_path) in caught.value.hint
