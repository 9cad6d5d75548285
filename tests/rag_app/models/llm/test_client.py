"""Models by name, their context window, their key."""

from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import ChatMessage

from pipelines.errors import ConfigError, LLMAuthError
from rag_app.models.llm.calls import chat
from rag_app.models.llm.client import OPENAI_WINDOW, SMALL_WINDOW, load_llm
from rag_app.settings import Settings
from tests.support.openai_server import MODEL, OpenAIServer, Reply

KEY = "sk-very-secret-0123456789"
HELLO = [ChatMessage(role="user", content="hello")]


def like(server: OpenAIServer, **settings: object):
    return load_llm(Settings(llm=f"like:{MODEL}", llm_base_url=server.url, **settings))


def test_no_model_named_is_none_whatever_keys_lie_in_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert load_llm(Settings()) is None


def test_openai_without_key_says_which_variable():
    with pytest.raises(LLMAuthError, match="OPENAI_API_KEY"):
        load_llm(Settings(llm="openai:gpt-4o"))


def test_like_without_address_says_which_setting():
    with pytest.raises(ConfigError, match="llm_base_url"):
        load_llm(Settings(llm="like:mine"))


def test_a_model_of_another_protocol_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"gpt-5\.4-pro"):
        load_llm(Settings(llm="openai:gpt-5.4-pro", llm_api_key=KEY))


@pytest.mark.parametrize(
    ("name", "window"), [("gpt-4", 8192), ("gpt-4o", 128_000), ("gpt-99-unheard", OPENAI_WINDOW)]
)
def test_openai_model_names_known_or_not_have_a_window(name, window):
    llm = load_llm(Settings(llm=f"openai:{name}", llm_api_key=KEY, llm_max_tokens=99))
    assert llm.metadata.context_window == window
    assert llm.metadata.num_output == 99
    assert llm.metadata.is_chat_model


@pytest.mark.parametrize(
    ("name", "temperature", "tokens"), [("gpt-4o", 0.0, 512), ("o3-mini", 1.0, 512 + 8192)]
)
def test_reasoning_models_keep_their_own_temperature_and_have_room_to_think(
    name, temperature, tokens
):
    with OpenAIServer() as server:
        llm = load_llm(Settings(llm=f"openai:{name}", llm_api_key=KEY, llm_base_url=server.url))
        chat(llm, HELLO)
    body = server.chats[0].body
    assert body["temperature"] == temperature
    assert body["max_completion_tokens"] == tokens
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    "entry",
    [
        {"max_model_len": 2222},
        {"context_length": 2222},
        {"context_window": 2222},
        {"meta": {"n_ctx": 2222, "n_ctx_train": 9999}},
    ],
)
def test_window_is_asked_of_the_server_where_it_tells(entry):
    models = [{"id": "other", "context_length": 5}, {"id": MODEL, **entry}]
    with OpenAIServer(models=models) as server:
        llm = like(server)
        assert llm.metadata.context_window == 2222
        assert llm.metadata.context_window == 2222
    assert [request.path for request in server.requests] == ["/v1/models"]


@pytest.mark.parametrize("name", [MODEL, "/models/test.gguf"])
def test_llama_cpp_tells_the_window_that_it_serves_whatever_the_model_is_called(name):
    models = [{"id": name, "meta": {"n_ctx_train": 131_072}}]
    props = {"default_generation_settings": {"n_ctx": 2222}, "total_slots": 4}
    with OpenAIServer(models=models, props=props) as server:
        assert like(server).metadata.context_window == 2222
    assert [request.path for request in server.requests] == ["/v1/models", "/props"]


@pytest.mark.parametrize(
    "props", [None, {}, {"default_generation_settings": 7}, {"default_generation_settings": {}}]
)
def test_a_window_of_training_counts_where_no_other_is_told(props):
    models = [{"id": MODEL, "meta": {"n_ctx_train": 2222}}]
    with OpenAIServer(models=models, props=props) as server:
        assert like(server).metadata.context_window == 2222


@pytest.mark.parametrize(
    "models", [None, [], [{"id": MODEL}], [{"id": MODEL, "max_model_len": "many"}], [7]]
)
def test_a_server_that_does_not_tell_is_taken_for_a_small_model(models):
    with OpenAIServer(models=models) as server:
        assert like(server).metadata.context_window == SMALL_WINDOW


def test_a_window_in_the_settings_is_not_asked_for():
    with OpenAIServer() as server:
        assert like(server, llm_context_window=777).metadata.context_window == 777
    assert server.requests == []


def test_loading_a_model_sends_nothing():
    with OpenAIServer() as server:
        like(server)
    assert server.requests == []


def test_a_local_server_gets_no_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer() as server:
        chat(like(server), HELLO)
    assert KEY not in str(server.chats[0].headers)


def test_the_key_reaches_its_server_and_no_representation():
    """Case 23, for the model: the key is in no output."""
    with OpenAIServer(Reply("hi")) as server:
        llm = like(server, llm_api_key=KEY)
        chat(llm, HELLO)
    assert server.chats[0].headers["Authorization"] == f"Bearer {KEY}"
    shown = [repr(llm), str(llm), str(llm.to_dict()), llm.model_dump_json(), str(llm.to_payload())]
    assert not any(KEY in text for text in shown)


def test_answers_and_models_have_a_size_limit(monkeypatch):
    from pipelines.errors import LLMServerError
    from rag_app.models import bounded_http

    with OpenAIServer(Reply("x" * 5000)) as server:
        client = bounded_http.bounded_client(5, limit=1000)
        with client, pytest.raises(LLMServerError, match="does not end"):
            client.post(f"{server.url}/chat/completions", json={"messages": []})
