"""Embedding models behind a server: the same vectors, bounded batches, our errors, no key shown."""

from __future__ import annotations

import asyncio
import json
import pickle

import numpy as np
import pytest

from pipelines.errors import (
    ConfigError,
    EmbeddingError,
    EmbeddingRefusedError,
    IndexMismatchError,
    ModelNotFoundError,
)
from pipelines.text import count_tokens
from rag_app.cli.app import run
from rag_app.index import Index
from rag_app.models import retrying
from rag_app.models.embedding.load import describe_embedding, load_embedding
from rag_app.models.embedding.server import MAX_BATCH_TOKENS, batches_of
from rag_app.settings import Settings, load_settings
from tests.support.connections import run_closing
from tests.support.embedding import DIMENSION, hash_vector
from tests.support.embedding_server import NAME, sent, vectors_by
from tests.support.openai_server import Failure, Garbage, Json, OpenAIServer, Stall
from tests.support.pdfs import make_pdf

KEY = "sk-very-secret-0123456789"
TEXTS = [
    "The valve leaks.",
    "東京は日本の首都です。",
    "Net sales grew to $4.2 billion.",
    "a" * 3000,
]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(retrying, "_DELAY_SECONDS", 0.0)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    return load_embedding(Settings(cache_dir=tmp_path_factory.mktemp("cache")))


def hashed(texts):
    return [hash_vector(text) for text in texts]


def like(server, **settings):
    return Settings(embed_model=f"like:{NAME}", embed_base_url=server.url, **settings)


def rows(*vectors):
    return Json({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]})


# The same as on this machine.


def test_a_server_of_minilm_gives_the_vectors_that_minilm_gives_here(minilm):
    with OpenAIServer(vectors_by(minilm.get_text_embedding_batch)) as server:
        served = load_embedding(like(server))
        there = served.get_text_embedding_batch(TEXTS)
        question = served.get_query_embedding("How long?")
    assert np.allclose(there, minilm.get_text_embedding_batch(TEXTS), atol=1e-6)
    assert np.allclose(question, minilm.get_query_embedding("How long?"), atol=1e-6)


def test_an_index_of_a_server_of_minilm_finds_what_one_of_minilm_finds(minilm, tmp_path):
    pages = [f"The valve of engine {n} opens at {n} bar.\n{'It leaks. ' * n}" for n in range(1, 9)]
    pdf = make_pdf(tmp_path / "manual.pdf", pages)
    questions = ["At which pressure does engine 7 open?", "Which engine leaks most?", "bar"]
    found = []
    with OpenAIServer(vectors_by(minilm.get_text_embedding_batch)) as server:
        for name, options in (
            ("here", {"embed_model": minilm, "settings": Settings()}),
            ("there", {"settings": like(server, embed_scripts=("latin",))}),
        ):
            with Index.create(tmp_path / name, **options) as index:
                assert index.ingest(pdf).ok
                retriever = index.as_retriever(similarity_top_k=5, strict=True)
                hits = [hit for q in questions for hit in retriever.retrieve(q)]
                found.append([(hit.node.node_id, round(hit.score, 6)) for hit in hits])
    assert found[0] == found[1]


def test_async_gives_the_same_and_leaves_no_connection_open():
    with OpenAIServer(vectors_by(hashed)) as server:
        model = load_embedding(like(server))

        async def ask():
            return await asyncio.gather(
                model.aget_query_embedding("one"), model.aget_text_embedding_batch(["two", "three"])
            )

        query, texts = run_closing(ask())
        assert query == model.get_query_embedding("one")
        assert texts == model.get_text_embedding_batch(["two", "three"])


def test_instructions_of_a_known_model_are_put_before_the_texts():
    with OpenAIServer(lambda r: rows(*hashed(r.body["input"]))) as server:
        name = "like:intfloat/multilingual-e5-small"
        model = load_embedding(Settings(embed_model=name, embed_base_url=server.url))
        model.get_query_embedding("why")
        model.get_text_embedding("because")
        assert describe_embedding(model).text_instruction == "passage: "
    assert sent(server)[:2] == [["query: why"], ["passage: because"]]
    plain = Settings(embed_model=name, embed_base_url=server.url, query_instruction="")
    assert load_embedding(plain).scripts == ("*",)


# Batches.


def test_batches_are_bounded_by_texts_and_by_tokens():
    assert [len(batch) for batch in batches_of(["a"] * 70, 32)] == [32, 32, 6]
    long = "word " * (MAX_BATCH_TOKENS // 3)
    batches = list(batches_of([long] * 5, 32))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    assert all(sum(map(count_tokens, batch)) <= MAX_BATCH_TOKENS for batch in batches)
    huge = "word " * (2 * MAX_BATCH_TOKENS)
    assert list(batches_of(["a", huge, "b"], 32)) == [["a"], [huge], ["b"]]
    assert list(batches_of([], 32)) == []


def test_the_size_of_a_batch_is_a_setting():
    with OpenAIServer(vectors_by(hashed)) as server:
        load_embedding(like(server, embed_batch_size=3)).get_text_embedding_batch(list("abcdefgh"))
    assert [len(batch) for batch in sent(server)] == [3, 3, 2]


def test_a_batch_that_the_server_refuses_is_sent_in_halves_and_stays_in_order():
    texts = [f"text {n}" for n in range(10)]
    with OpenAIServer(vectors_by(hashed, max_texts=3)) as server:
        found = load_embedding(like(server)).get_text_embedding_batch(texts)
    assert np.allclose(found, hashed(texts))
    assert max(len(batch) for batch in sent(server)[1:]) <= 5


def test_a_text_that_is_refused_alone_is_our_error_with_the_servers_words():
    with OpenAIServer(Failure(413, "input too long: 600 tokens")) as server:
        model = load_embedding(like(server))
        with pytest.raises(EmbeddingRefusedError, match="600 tokens") as raised:
            model.get_text_embedding_batch(["a", "b", "c", "d"])
    assert "embed_max_tokens" in raised.value.hint
    assert [len(batch) for batch in sent(server)] == [4, 2, 1]


def test_a_text_is_cut_at_the_tokens_that_are_set():
    with OpenAIServer(vectors_by(hashed)) as server:
        model = load_embedding(like(server, embed_max_tokens=4))
        model.get_text_embedding_batch(["one two three four five six", "one"])
    [texts] = sent(server)
    assert texts == ["one two three four", "one"]


# What the server sends.


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (rows([1.0, 2.0]), "1 vectors for 2 texts"),
        (rows([1.0], [2.0], [3.0]), "3 vectors for 2 texts"),
        (rows([1.0, 2.0], [1.0]), "vectors of 1, 2 numbers"),
        (rows([], []), "vectors of 0 numbers"),
        (rows("AAAA", "AAAA"), "vectors of 0 numbers"),
        (rows([1.0, float("nan")], [1.0, 1.0]), "no finite number"),
        (rows([1.0, float("inf")], [1.0, 1.0]), "no finite number"),
        (rows([1.0, None], [1.0, 1.0]), "no finite number"),
        (rows([1.0, True], [1.0, 1.0]), "no finite number"),
        (rows([1.0, "2"], [1.0, 1.0]), "no finite number"),
        (rows([1, 10**400], [1, 1]), "no finite number"),
        (rows([[1.0]], [[1.0]]), "no finite number"),
        (rows([0.0, 0.0], [1.0, 1.0]), "a vector of zeros"),
        (Json({"data": [{"index": 0, "embedding": [1]}] * 2}), "two vectors for text number 0"),
        (Json({"data": [{"index": -1, "embedding": [1]}] * 2}), "text number -1"),
        (Json({"data": [{"index": "0", "embedding": [1]}] * 2}), "text number 0 of 2"),
        (Json({"data": [{"index": 0}, {"index": 1}]}), "no answer of the OpenAI protocol"),
        (Json({"data": {"0": [1]}}), "no answer of the OpenAI protocol"),
        (Json({"data": [1, 2]}), "no answer of the OpenAI protocol"),
        (Json([[0.1], [0.2]]), "no answer of the OpenAI protocol"),
        (Json({"error": "loading"}), "no answer of the OpenAI protocol"),
        (Garbage(), "no answer of the OpenAI protocol"),
        (Garbage(b"[" * 100_000, "application/json"), "no answer of the OpenAI protocol"),
    ],
)
def test_an_answer_that_is_none_is_our_error_after_one_retry(behaviour, words):
    with OpenAIServer(behaviour) as server:
        with pytest.raises(EmbeddingError, match=words) as raised:
            load_embedding(like(server)).get_text_embedding_batch(["a", "b"])
        assert raised.value.retryable
        assert "embed_base_url" in raised.value.hint
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "kind", "requests", "words"),
    [
        (Failure(401, f"bad key {KEY}"), EmbeddingRefusedError, 1, "embed_api_key"),
        (Failure(404, "nothing here"), ModelNotFoundError, 1, "embed_model"),
        (Failure(400, "unknown model x"), ModelNotFoundError, 1, "RAG_EMBED_MODEL"),
        (Failure(429, "slow down"), EmbeddingError, 2, "wait"),
        (Failure(429, "no money", code="insufficient_quota"), EmbeddingError, 1, "nothing left"),
        (Failure(500, "oops"), EmbeddingError, 2, "ask again later"),
        (Failure(302, "elsewhere"), EmbeddingError, 2, "embed_base_url"),
    ],
)
def test_failures_are_told_as_those_of_language_models(behaviour, kind, requests, words):
    with OpenAIServer(behaviour) as server:
        with pytest.raises(kind) as raised:
            load_embedding(like(server, embed_api_key=KEY)).get_query_embedding("a")
        assert type(raised.value) is kind
        assert words in raised.value.hint
        assert KEY not in str(raised.value)
        assert "llm_" not in str(raised.value)
        assert len(server.requests) == requests


def test_one_failure_is_made_good_by_the_retry():
    with OpenAIServer(Failure(503), vectors_by(hashed)) as server:
        assert load_embedding(like(server)).get_query_embedding("a") == pytest.approx(
            hash_vector("a")
        )


def test_a_server_that_is_not_there_is_named_with_its_setting():
    with OpenAIServer() as server:
        settings = like(server)
    with pytest.raises(EmbeddingError, match="cannot be reached") as raised:
        load_embedding(settings).get_query_embedding("a")
    assert "embed_base_url" in raised.value.hint


def test_a_server_that_says_nothing_is_given_up():
    with OpenAIServer(Stall()) as server:
        settings = like(server, embed_timeout=0.05)
        with pytest.raises(EmbeddingError, match=r"within 0\.05 s") as raised:
            load_embedding(settings).get_query_embedding("a")
        assert "embed_timeout" in raised.value.hint
        assert len(server.requests) == 1


def test_vectors_of_another_length_than_before_are_refused():
    answers = [rows([1.0, 2.0]), rows([1.0, 2.0, 3.0])]
    with OpenAIServer(*answers) as server:
        model = load_embedding(like(server))
        model.get_query_embedding("a")
        with pytest.raises(EmbeddingError, match="3 numbers, and before of 2"):
            model.get_query_embedding("b")


# The index.


@pytest.fixture
def pdf(tmp_path):
    return make_pdf(tmp_path / "a.pdf", ["The valve leaks oil into the sea."])


def test_the_index_records_name_and_dimension_and_no_address_or_key(pdf, tmp_path):
    with OpenAIServer(vectors_by(hashed)) as server:
        settings = like(server, embed_api_key=KEY)
        with Index.create(tmp_path / "index", settings=settings) as index:
            assert index.ingest(pdf).ok
            config = index.info().config
            port = server.url.split(":")[-1].split("/")[0]
    assert (config.embed_model, config.dimension) == (f"like:{NAME}", DIMENSION)
    for file in (tmp_path / "index").rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert KEY.encode() not in content
        assert f"127.0.0.1:{port}".encode() not in content


def test_an_index_that_is_opened_with_another_dimension_is_refused(pdf, tmp_path):
    folder = tmp_path / "index"
    with OpenAIServer(vectors_by(hashed)) as server:
        Index.create(folder, settings=like(server)).close()
    short = vectors_by(lambda texts: [[1.0, 2.0]] * len(texts))
    words = f"{DIMENSION} in the index, 2 wanted"
    with OpenAIServer(short) as server, pytest.raises(IndexMismatchError, match=words):
        Index.open(folder, settings=like(server))


def test_while_the_server_is_down_words_answer_and_the_result_says_so(pdf, tmp_path):
    with OpenAIServer(vectors_by(hashed)) as server:
        settings = like(server)
        with Index.create(tmp_path / "index", settings=settings) as index:
            assert index.ingest(pdf).ok
    with Index.open(tmp_path / "index", settings=settings) as index:
        found = index.as_retriever().retrieve_detailed("Does the valve leak?")
        assert len(found.nodes) == 1
        parts = {one.part: one.reason for one in found.degraded}
        assert set(parts) == {"vectors:child-256"}
        assert "cannot be reached" in parts["vectors:child-256"]


def test_an_ingest_while_the_server_is_down_says_so_and_changes_nothing(pdf, tmp_path):
    with OpenAIServer(vectors_by(hashed)) as server:
        settings = like(server)
        Index.create(tmp_path / "index", settings=settings).close()
    with Index.open(tmp_path / "index", settings=settings) as index:
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            index.ingest(pdf)
        assert index.info().sources == ()


def test_a_server_that_fails_meanwhile_fails_the_file_and_the_next_run_goes_on(pdf, tmp_path):
    probe = rows(hash_vector("dimension"))
    with (
        OpenAIServer(probe, Failure(500), Failure(500), vectors_by(hashed)) as server,
        Index.create(tmp_path / "index", settings=like(server)) as index,
    ):
        first = index.ingest(pdf)
        assert "the server failed" in str(first.failed[0].error)
        assert index.ingest(pdf).ok


def test_no_question_goes_to_a_server_that_only_the_index_names(pdf, tmp_path, monkeypatch):
    """An index from elsewhere must not make a question cost money, or leave the machine."""
    monkeypatch.chdir(tmp_path)
    with OpenAIServer(vectors_by(hashed)) as server:
        settings = like(server)
        with Index.create(tmp_path / "index", settings=settings) as index:
            assert index.ingest(pdf).ok
        asked = len(server.requests)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with Index.open(tmp_path / "index", settings=load_settings()) as index:
            with pytest.raises(
                ConfigError, match=f"like:{NAME}, which a server computes"
            ) as raised:
                index.as_retriever()
            assert "--embed-model" in raised.value.hint
            assert index.as_retriever("bm25").retrieve("valve")
        assert len(server.requests) == asked
        monkeypatch.setenv("RAG_EMBED_BASE_URL", server.url)
        with Index.open(tmp_path / "index", settings=load_settings()) as index:
            assert index.as_retriever(strict=True).retrieve("valve")
        assert KEY not in str([request.headers for request in server.requests])


# Names, addresses, keys.


def test_like_without_an_address_says_which_setting():
    with pytest.raises(ConfigError, match="address of its server") as raised:
        load_embedding(Settings(embed_model="like:x"))
    assert "embed_base_url" in raised.value.hint


def test_openai_without_key_says_which_variable():
    with pytest.raises(EmbeddingRefusedError, match="needs a key") as raised:
        load_embedding(Settings(embed_model="openai:text-embedding-3-small"))
    assert "OPENAI_API_KEY" in raised.value.hint


def test_a_kind_without_a_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("openai:", "like:"):
        with pytest.raises(ConfigError, match="like:MODEL"):
            load_settings(embed_model=name)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"embed_api_key": KEY}, KEY),
        ({"embed_api_key": KEY, "llm_api_key": "sk-other-key-123"}, KEY),
        ({"llm": "like:x", "llm_api_key": KEY, "llm_base_url": "{url}"}, KEY),
        ({"llm": "like:x", "llm_api_key": KEY, "llm_base_url": "http://127.0.0.1:9/v1"}, None),
        ({"llm": "openai:x", "llm_api_key": KEY}, None),
        ({}, None),
    ],
)
def test_a_key_is_sent_to_the_server_that_it_was_set_for(settings, key):
    with OpenAIServer(vectors_by(hashed)) as server:
        filled = {name: value.format(url=server.url) for name, value in settings.items()}
        load_embedding(like(server, **filled)).get_query_embedding("a")
        sent_keys = [request.headers.get("Authorization") for request in server.requests]
    assert sent_keys == [f"Bearer {key}" if key else None]


def test_openais_key_of_the_environment_serves_a_named_model_of_openai_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    named = load_settings(embed_model="openai:text-embedding-3-small")
    assert named.embed_api_key is not None
    assert named.embed_api_key.get_secret_value() == KEY
    assert load_settings().embed_api_key is None
    assert load_settings(embed_model="like:x").embed_api_key is None
    away = load_settings(embed_model="openai:x", embed_base_url="http://127.0.0.1:9/v1")
    assert away.embed_api_key is None


def test_the_key_is_in_no_representation_and_no_file():
    with OpenAIServer(vectors_by(hashed)) as server:
        settings = like(server, embed_api_key=KEY)
        model = load_embedding(settings)
        model.get_query_embedding("a")
        shown = [repr(settings), repr(model), str(model), repr(model._server), model.to_json()]
        shown += [json.dumps(model.to_dict()), str(describe_embedding(model)), repr(vars(model))]
        assert KEY not in "".join(shown)
        with pytest.raises(TypeError, match="holds a key"):
            pickle.dumps(model._server)
        assert KEY.encode() not in pickle.dumps(model)


def test_the_command_line_uses_a_server_and_shows_no_key(pdf, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_EMBED_API_KEY", KEY)
    monkeypatch.setenv("RAG_CACHE_DIR", str(tmp_path / "cache"))
    refuses = Failure(401, f"Incorrect API key provided: {KEY}")
    with OpenAIServer(vectors_by(hashed)) as server:
        where = ["--embed-model", f"like:{NAME}", "--embed-base-url", server.url]
        assert run(["ingest", str(pdf), *where]) == 0
        capfd.readouterr()
        assert run(["search", "Does the valve leak?", *where, "--json"]) == 0
        [first] = json.loads(capfd.readouterr().out)["results"]
        assert {match["arm"] for match in first["matched"]} >= {"vectors:child-256"}
        assert server.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
        server.script = [refuses]
        assert run(["ask", "Does the valve leak?", *where, "--verbose"]) == 1
    out, err = capfd.readouterr()
    assert "all-minilm: the server refused the key: Incorrect API key provided: ***" in err
    assert KEY not in out + err
