"""Requests of JSON to a server of models."""

from __future__ import annotations

import pickle

import pytest
from pydantic import SecretStr

from pipelines.errors import ConfigError, LLMServerError
from rag_app.models import retrying
from rag_app.models.json_server import JsonServer
from rag_app.models.service import RERANKING
from tests.support.connections import run_closing
from tests.support.openai_server import Failure, Garbage, Json, OpenAIServer

KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(retrying, "_DELAY_SECONDS", 0.0)


def asked(server):
    return JsonServer(RERANKING, "m", server.url, 30.0, SecretStr(KEY))


def test_an_answer_is_what_the_reader_makes_of_it_sync_and_async():
    with OpenAIServer(Json({"a": [1]})) as server:
        model = asked(server)
        assert model.post("/x", {"q": 1}, lambda answer: answer["a"]) == [1]
        assert run_closing(model.apost("/x", {"q": 1}, lambda answer: answer["a"])) == [1]
        assert [request.body for request in server.requests] == [{"q": 1}] * 2


def test_one_failure_is_made_good_and_two_are_our_error():
    with OpenAIServer(Failure(503), Json(1)) as server:
        assert asked(server).post("/x", {}, lambda answer: answer) == 1
    with OpenAIServer(Garbage()) as server, pytest.raises(LLMServerError, match="rerank protocol"):
        run_closing(asked(server).apost("/x", {}, lambda answer: answer))


def test_an_address_without_a_host_is_refused_and_the_key_is_written_nowhere():
    with pytest.raises(ConfigError, match="names no server"):
        JsonServer(RERANKING, "m", "http://", 1.0)
    model = JsonServer(RERANKING, "m", "http://a/v1", 1.0, SecretStr(KEY))
    assert KEY not in repr(model)
    with pytest.raises(TypeError, match="holds a key"):
        pickle.dumps(model)
