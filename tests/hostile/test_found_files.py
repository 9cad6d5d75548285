"""A folder that was downloaded: what lies in it beside the PDFs decides nothing of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import IndexDamagedError, ModelNotFoundError
from rag_app.compatibility import new_config, recorded_settings
from rag_app.models.embedding.folder import locate
from rag_app.models.embedding.identity import EmbeddingIdentity
from rag_app.settings import load_settings
from tests.rag_app.models.embedding.test_folder import make_folder
from tests.support.openai_server import OpenAIServer, Reply

QUESTION = "What is the lead time of the valve?"
KEY = "sk-secret-0123456789"
ANSWER = Reply("The lead time is twelve weeks [1].")


def settings_of(server: OpenAIServer, *, llm: bool = True) -> str:
    return ('llm = "like:test"\n' if llm else "") + f'llm_base_url = "{server.url}"\n'


@pytest.fixture
def key(monkeypatch) -> str:
    monkeypatch.setenv("RAG_LLM_API_KEY", KEY)
    return KEY


def test_a_found_file_sends_nothing_anywhere_and_one_line_says_so(rag, index, place, serve, key):
    with serve(ANSWER) as server:
        (place / "rag.toml").write_text(settings_of(server))
        for command in (["ask", QUESTION], ["ask", QUESTION, "pdfs/valve.pdf"], ["info"]):
            done = rag(*command)
            assert done.code == 0
            notes = [line for line in done.err.splitlines() if "ignored" in line]
            assert len(notes) == 1
            assert notes[0].startswith("note: ./rag.toml: llm, llm_base_url ignored")
        assert "none is named" in rag("ingest", "pdfs", "--pipeline", "multi_vector").err
        assert server.requests == []


def test_the_same_file_counts_when_it_is_named_or_trusted(rag, index, place, serve, key):
    with serve(ANSWER) as server:
        (place / "rag.toml").write_text(settings_of(server))
        assert rag("ask", QUESTION, "--config", "rag.toml").code == 0
        assert len(server.chats) == 1
        assert server.chats[0].headers["Authorization"] == f"Bearer {KEY}"
        said = rag("trust")
        assert server.url in said.out
        done = rag("ask", QUESTION)
        assert (done.code, "ignored" in done.err) == (0, False)
        assert len(server.chats) == 2
        assert rag("trust", "--forget").code == 0
        assert "ignored" in rag("ask", QUESTION).err
        assert len(server.chats) == 2


def test_a_found_address_does_not_lead_the_users_own_model_and_key_elsewhere(
    rag, index, place, serve, key, monkeypatch
):
    with serve(ANSWER) as theirs, OpenAIServer(ANSWER) as own:
        (place / "rag.toml").write_text(settings_of(theirs, llm=False))
        monkeypatch.setenv("RAG_LLM", "like:test")
        assert rag("ask", QUESTION).code == 1  # the user's own model has no address
        folder = place.parent / "config"
        folder.mkdir()
        monkeypatch.setattr("rag_app.settings.user_config_path", lambda *_, **__: folder)
        (folder / "rag.toml").write_text(settings_of(own, llm=False))
        assert rag("ask", QUESTION).code == 0
        assert theirs.requests == []
        assert len(own.chats) == 1


def test_trust_shows_what_it_allows_but_no_key(rag, place):
    (place / "rag.toml").write_text(f'llm_api_key = "{KEY}"\nprompts = "p.toml"\nwindow = 1\n')
    done = rag("trust")
    assert done.code == 0
    assert KEY not in done.out + done.err
    assert "p.toml" in done.out
    assert "window" not in done.out
    assert rag("trust", "--json").json["may_now_set"] == ["llm_api_key", "prompts"]
    assert rag("trust", "nowhere.toml").code == 1
    assert rag("trust", "--forget").out == "rag.toml is trusted no longer\n"
    assert rag("trust", "--forget").out == "rag.toml was not trusted\n"


@pytest.mark.parametrize("name", ["minilm", "sentence-transformers/all-MiniLM-L6-v2"])
def test_a_folder_with_the_name_of_a_model_is_not_taken_for_it(place, tmp_path, name):
    shadow = make_folder(place / name)
    found = locate(name, cache_dir=tmp_path / "cache")
    assert found.path != shadow.resolve()
    assert found.canonical_name == "sentence-transformers/all-MiniLM-L6-v2"


def test_a_folder_must_be_spelled_as_a_path_and_the_error_says_how(place):
    make_folder(place / "models" / "mine")
    with pytest.raises(ModelNotFoundError) as caught:
        locate("models/mine")
    assert "write ./models/mine" in caught.value.hint
    assert locate("./models/mine").path == (place / "models" / "mine").resolve()


@pytest.mark.parametrize("name", ["./model", "/tmp/model", "~/model", "..\\model"])
def test_an_index_that_records_a_path_as_its_model_is_refused(place, name):
    config = new_config(load_settings(), EmbeddingIdentity(name, "0" * 64, 384))
    with pytest.raises(IndexDamagedError, match="records a path"):
        recorded_settings(config, load_settings())


def test_an_unknown_model_that_an_index_records_is_not_fetched(place):
    settings = load_settings(embed_download=True)
    for name, fetched in (("nobody/nothing", False), ("intfloat/e5-small-v2", True)):
        config = new_config(settings, EmbeddingIdentity(name, "0" * 64, 384))
        assert recorded_settings(config, settings).embed_download is fetched
    named = load_settings(embed_model="nobody/nothing", embed_download=True)
    assert recorded_settings(config, named).embed_download


def test_neither_a_pipe_nor_a_folder_of_that_name_is_read(place):
    import os

    os.mkfifo("rag.toml")
    assert load_settings().llm is None
    Path("rag.toml").unlink()
    Path("rag.toml").mkdir()
    assert load_settings().llm is None
