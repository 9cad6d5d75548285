"""A name → a folder: what is found, what is refused, and what is remembered."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from pipelines.errors import ModelNotFoundError
from rag_app.models.embedding import folder as module
from rag_app.models.embedding.folder import ModelFolder, locate, write_private

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def make_folder(
    path: Path, *, config: object = None, prompts: dict[str, str] | None = None
) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config or {"model_type": "bert"}))
    (path / "model.safetensors").write_bytes(b"weights")
    if prompts:
        (path / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("name", ["minilm", MINILM, "all-MiniLM-L6-v2"])
def test_locate_finds_the_default_in_its_package(name: str, tmp_path: Path) -> None:
    found = locate(name, cache_dir=tmp_path)
    assert found.fingerprint == MINILM_SHA256
    assert found.canonical_name == MINILM


def test_locate_a_local_folder_takes_its_own_name(tmp_path: Path) -> None:
    found = locate(str(make_folder(tmp_path / "mine")))
    assert found.canonical_name == "mine"
    assert len(found.fingerprint) == 64


@pytest.mark.usefixtures("no_network")
def test_locate_an_unknown_hub_name_says_what_to_do_without_asking_the_network() -> None:
    with pytest.raises(ModelNotFoundError, match="hf download nobody/nothing") as caught:
        locate("nobody/nothing")
    assert "embed_download" in caught.value.hint
    assert not caught.value.retryable


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["./nowhere", "~/nowhere", "/nowhere"])
def test_locate_a_missing_folder_is_not_taken_for_a_hub_name(name: str) -> None:
    with pytest.raises(ModelNotFoundError, match="no folder"):
        locate(name)


def test_locate_what_is_no_name_at_all_raises() -> None:
    with pytest.raises(ModelNotFoundError, match="neither a folder nor a model's name"):
        locate("not a name")


def test_locate_a_folder_without_a_model_raises(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="holds no model"):
        locate(str(tmp_path))


def test_locate_with_download_asks_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked = []

    def fetch(name: str, *, local_files_only: bool, **_: object) -> str:
        asked.append((name, local_files_only))
        return str(make_folder(tmp_path / "snapshot"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    locate("intfloat/e5-small-v2", download=True)
    assert asked == [("intfloat/e5-small-v2", False)]


def test_locate_with_download_and_no_network_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def fail(name: str, **_: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(ModelNotFoundError, match="could not be fetched"):
        locate("intfloat/e5-small-v2", download=True)


def test_other_weights_under_the_packages_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_package_folder", lambda _: make_folder(tmp_path / "model"))
    with pytest.raises(ModelNotFoundError, match=f"expected {MINILM_SHA256}"):
        locate("minilm")


def test_a_config_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "mine")
    (path / "config.json").write_text("{")
    with pytest.raises(ModelNotFoundError, match=r"config\.json cannot be read"):
        ModelFolder(path, "mine").json("config.json")


# Instructions: stock LlamaIndex has them for exact hub names of BGE alone.


def test_instructions_of_a_local_e5_are_known_by_the_folders_name(tmp_path: Path) -> None:
    found = locate(str(make_folder(tmp_path / "multilingual-e5-small")))
    assert found.instructions(None, None) == ("query: ", "passage: ")


def test_instructions_are_known_by_the_name_in_the_config(tmp_path: Path) -> None:
    config = {"_name_or_path": "intfloat/e5-base-v2"}
    found = locate(str(make_folder(tmp_path / "tuned", config=config)))
    assert found.instructions(None, None) == ("query: ", "passage: ")
    assert found.canonical_name == "tuned"  # tuned weights are not the published model


def test_instructions_are_known_inside_the_hubs_cache(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "models--BAAI--bge-small-en-v1.5" / "snapshots" / "abc")
    assert locate(str(path)).instructions(None, None)[0].startswith("Represent this sentence")


def test_instructions_of_an_unknown_model_are_those_that_its_files_state(tmp_path: Path) -> None:
    prompts = {"query": "Q: ", "document": "D: "}
    found = locate(str(make_folder(tmp_path / "mine", prompts=prompts)))
    assert found.instructions(None, None) == ("Q: ", "D: ")


def test_explicit_instructions_win_even_empty_ones(tmp_path: Path) -> None:
    found = locate(str(make_folder(tmp_path / "multilingual-e5-small")))
    assert found.instructions("", "x: ") == ("", "x: ")


# The fingerprint is remembered, and not trusted for another file.


def test_the_fingerprint_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_folder(tmp_path / "mine")
    first = locate(str(path), cache_dir=tmp_path / "cache").fingerprint
    monkeypatch.setattr(module.hashlib, "file_digest", None)
    assert locate(str(path), cache_dir=tmp_path / "cache").fingerprint == first


def test_the_fingerprint_of_changed_weights_is_another(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "mine")
    first = locate(str(path), cache_dir=tmp_path / "cache").fingerprint
    (path / "model.safetensors").write_bytes(b"other weights")
    assert locate(str(path), cache_dir=tmp_path / "cache").fingerprint != first


def test_a_damaged_memory_is_computed_again(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "mine")
    first = locate(str(path), cache_dir=tmp_path / "cache").fingerprint
    for file in (tmp_path / "cache" / "models").iterdir():
        file.write_bytes(b"\xff")
    assert locate(str(path), cache_dir=tmp_path / "cache").fingerprint == first


def test_sharded_weights_have_one_fingerprint(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "mine")
    (path / "model.safetensors").rename(path / "model-00001-of-00002.safetensors")
    (path / "model-00002-of-00002.safetensors").write_bytes(b"more")
    found = ModelFolder(path, "mine")
    assert len(found.weights) == 2
    assert len(found.fingerprint) == 64


def test_a_model_in_a_folder_below_is_found(tmp_path: Path) -> None:
    path = tmp_path / "old"
    make_folder(path / "0_Transformer")
    module_type = "sentence_transformers.models.Transformer"
    (path / "modules.json").write_text(json.dumps([{"path": "0_Transformer", "type": module_type}]))
    assert locate(str(path)).body == "0_Transformer/"


def test_the_cache_is_private_and_an_unwritable_one_is_no_error(tmp_path: Path) -> None:
    target = tmp_path / "models" / "x"
    assert write_private(target, b"1")
    assert target.stat().st_mode & 0o077 == 0
    assert target.parent.stat().st_mode & 0o077 == 0
    (tmp_path / "file").write_bytes(b"")
    assert not write_private(tmp_path / "file" / "x", b"1")
