"""Settings files: how they are read, and which ones the user trusts."""

from __future__ import annotations

import pytest

from pipelines.errors import ConfigError
from rag_app.config_file import MAX_CONFIG_BYTES, TrustRecord, read_config


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rag.toml"
    path.write_text('window = 2\nprompts = "mine.toml"\nembed_model = "./model"\n')
    return path


def test_values_are_read_and_paths_start_at_the_files_folder(file):
    config = read_config(file, path_fields=["prompts", "cache_dir"])
    assert config.values == {
        "window": 2,
        "prompts": file.parent / "mine.toml",
        "embed_model": str(file.parent / "model"),
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"window = ", "TOML|Invalid"),
        (b"\xff\xfe", "utf-8"),
        (b"x = " + b"[" * 4000, "nested too deeply|cannot be read"),
        (b"#" * (MAX_CONFIG_BYTES + 1), "is larger than"),
        (None, "there is no file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, content, says):
    path = tmp_path / "rag.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        read_config(path)
    assert str(path) in caught.value.message


def test_trust_ends_when_the_file_is_changed_or_moved(file, tmp_path):
    record = TrustRecord(tmp_path / "config")
    assert not record.holds(read_config(file))
    record.add(read_config(file))
    assert record.holds(read_config(file))
    assert record.knows(file)
    moved = tmp_path / "moved.toml"
    moved.write_bytes(file.read_bytes())
    assert not record.holds(read_config(moved))
    file.write_text("window = 3\n")
    assert not record.holds(read_config(file))
    assert record.knows(file)


def test_a_file_is_forgotten_once(file, tmp_path):
    record = TrustRecord(tmp_path / "config")
    record.add(read_config(file))
    assert (record.forget(file), record.forget(file)) == (True, False)
    assert not record.holds(read_config(file))


@pytest.mark.parametrize("content", ["{", "[]", '{"x": 1'])
def test_an_unreadable_record_trusts_no_file_and_is_not_overwritten(file, tmp_path, content):
    record = TrustRecord(tmp_path)
    record.path.write_text(content)
    config = read_config(file)
    assert not record.holds(config)
    with pytest.raises(ConfigError, match="record of trusted files"):
        record.add(config)
    assert record.path.read_text() == content


def test_the_record_is_for_the_user_alone(file, tmp_path):
    record = TrustRecord(tmp_path / "config")
    record.add(read_config(file))
    assert record.path.stat().st_mode & 0o077 == 0
    assert [path.name for path in record.path.parent.iterdir()] == [record.path.name]
