"""Rerankers behind a server: both protocols, checked scores, our errors, no key shown."""

from __future__ import annotations

import json

import pytest

from pipelines.errors import ConfigError, RerankError, RetrievalError
from rag_app.cli.app import run
from rag_app.index import Index
from rag_app.models import retrying
from rag_app.models.rerank.server import load_rerank_server
from rag_app.retrieval.rerank import load_reranker
from rag_app.settings import Settings, load_settings
from tests.support.embedding import HashEmbedding
from tests.support.openai_server import Failure, Garbage, Json, OpenAIServer, Stall
from tests.support.pdfs import make_pdf
from tests.support.rerank_server import NAME, scores_by, shared_words, tei_scores_by

KEY = "sk-very-secret-0123456789"
QUESTION = "which valve leaks"
TEXTS = [
    "the crane lifts",
    "the valve leaks oil",
    "a valve",
    "the engine leaks",
    "which valve leaks",
]
SCORES = [0.0, 2 / 3, 1 / 3, 1 / 3, 1.0]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(retrying, "_DELAY_SECONDS", 0.0)


def scores(server, kind="like", texts=TEXTS, **settings):
    given = Settings(rerank_base_url=server.url, **settings)
    return load_rerank_server(kind, NAME, given).scores(QUESTION, texts)


@pytest.mark.parametrize("kind", ["like", "cohere", "jina"])
def test_scores_come_in_the_order_of_the_texts(kind):
    with OpenAIServer(scores_by(shared_words)) as server:
        assert scores(server, kind) == pytest.approx(SCORES)
    [request] = server.requests
    assert request.body["top_n"] == len(TEXTS)
    assert ("return_documents" in request.body) == (kind == "jina")


def test_tei_gets_batches_of_the_size_that_it_takes():
    texts = TEXTS * 20
    with OpenAIServer(tei_scores_by(shared_words)) as server:
        assert scores(server, "tei", texts) == pytest.approx(SCORES * 20)
    assert [len(request.body["texts"]) for request in server.requests] == [32, 32, 32, 4]
    assert all(request.body["truncate"] for request in server.requests)


def test_no_texts_need_no_request():
    with OpenAIServer() as server:
        assert scores(server, texts=[]) == []
    assert server.requests == []


def results(*pairs):
    return Json({"results": [{"index": i, "relevance_score": s} for i, s in pairs]})


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (results((0, 1.0)), "1 scores for 2 passages"),
        (results((0, 1.0), (1, 1.0), (2, 1.0)), "3 scores for 2 passages"),
        (results((0, 1.0), (0, 1.0)), "once each of 0 to 1"),
        (results((0, 1.0), (2, 1.0)), "once each of 0 to 1"),
        (results((0, 1.0), (-1, 1.0)), "once each of 0 to 1"),
        (results((0, 1.0), (True, 1.0)), "once each of 0 to 1"),
        (results((0, 1.0), ("1", 1.0)), "once each of 0 to 1"),
        (results((0, 1.0), (1, float("nan"))), "no finite number"),
        (results((0, 1.0), (1, float("-inf"))), "no finite number"),
        (results((0, 1.0), (1, None)), "no finite number"),
        (results((0, 1.0), (1, True)), "no finite number"),
        (results((0, 1.0), (1, 10**301)), "no finite number"),
        (results((0, 1.0), (1, "0.5")), "no finite number"),
        (Json({"results": [{"index": 0}, {"index": 1}]}), "no answer of the rerank protocol"),
        (Json({"results": {"0": 1}}), "no answer of the rerank protocol"),
        (Json({"data": []}), "no answer of the rerank protocol"),
        (Json([0.1, 0.2]), "no answer of the rerank protocol"),
        (Json("yes"), "no answer of the rerank protocol"),
        (Garbage(), "no answer of the rerank protocol"),
    ],
)
def test_an_answer_that_is_none_is_our_error_after_one_retry(behaviour, words):
    with OpenAIServer(behaviour) as server:
        with pytest.raises(RerankError, match=words) as raised:
            scores(server, texts=["a", "b"])
        assert "rerank_base_url" in raised.value.hint
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "requests", "words", "hint"),
    [
        (Failure(401, f"bad key {KEY}"), 1, "refused the key", "rerank_api_key"),
        (Failure(404, "nothing"), 1, "does not know this model", "RAG_RERANK"),
        (Failure(413, "too long"), 1, "refused the request: too long", "rerank_depth"),
        (Failure(429, "slow"), 2, "no more requests", "wait"),
        (Failure(500), 2, "the server failed", "later"),
        (Stall(), 1, "within 0.05 s", "rerank_timeout"),
    ],
)
def test_failures_are_told_as_those_of_language_models(behaviour, requests, words, hint):
    seconds = 0.05 if isinstance(behaviour, Stall) else 30.0
    with OpenAIServer(behaviour) as server:
        with pytest.raises(RerankError, match=words) as raised:
            scores(server, rerank_api_key=KEY, rerank_timeout=seconds)
        assert hint in raised.value.hint
        assert KEY not in str(raised.value)
        assert "llm_" not in str(raised.value)
        assert len(server.requests) == requests


# Names, addresses, keys.


@pytest.mark.parametrize("kind", ["like", "tei"])
def test_a_server_without_an_address_says_which_setting(kind):
    with pytest.raises(ConfigError, match="address of its server") as raised:
        load_reranker(f"{kind}:x", 5)
    assert "rerank_base_url" in raised.value.hint


@pytest.mark.parametrize("kind", ["cohere", "jina"])
def test_a_public_service_without_key_says_which_variable(kind):
    with pytest.raises(ConfigError, match="needs a key") as raised:
        load_reranker(f"{kind}:x", 5, Settings())
    assert f"{kind.upper()}_API_KEY" in raised.value.hint


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"rerank": "cohere:x"}, "cohere"),
        ({"rerank": "jina:x"}, "jina"),
        ({"rerank": "like:x"}, None),
        ({"rerank": "cohere:x", "rerank_base_url": "http://127.0.0.1:9"}, None),
        ({"rerank": "cohere:x", "rerank_api_key": "mine"}, "mine"),
        ({"presets": {"a": {"base": "hybrid", "rerank": "jina:x"}}}, "jina"),
        ({"rerank": "cohere:x", "presets": {"a": {"rerank": "jina:x"}}}, None),
        ({}, None),
    ],
)
def test_a_key_of_the_environment_goes_to_its_own_service_alone(
    settings, key, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COHERE_API_KEY", "cohere")
    monkeypatch.setenv("JINA_API_KEY", "jina")
    found = load_settings(**settings).rerank_api_key
    assert (found.get_secret_value() if found else None) == key


def test_the_key_of_another_model_is_sent_only_to_the_same_address():
    with OpenAIServer(scores_by(shared_words)) as server:
        scores(server, llm="like:x", llm_base_url=server.url, llm_api_key=KEY)
        scores(server, llm="like:x", llm_base_url="http://127.0.0.1:9/v1", llm_api_key=KEY)
    keys = [request.headers.get("Authorization") for request in server.requests]
    assert keys == [f"Bearer {KEY}", None]


# In an index.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An index that is only read."""
    tmp_path = tmp_path_factory.mktemp("forty")
    pages = [f"The valve of engine {n} leaks oil into the sea." for n in range(40)]
    files = [make_pdf(tmp_path / f"{n}.pdf", [page]) for n, page in enumerate(pages)]
    with Index.create(tmp_path / "index", embed_model=HashEmbedding()) as index:
        assert index.ingest(files).ok
    return tmp_path / "index"


def last_engine(question, text):
    return next((int(word) for word in text.split() if word.isdigit()), -1)


def opened(folder, server, **settings):
    given = Settings(rerank=f"like:{NAME}", rerank_base_url=server.url, **settings)
    return Index.open(folder, embed_model=HashEmbedding(), settings=given)


def files(nodes):
    return [one.node.metadata["file_name"] for one in nodes]


def test_the_first_thirty_are_scored_and_the_best_returned(folder):
    plain = Index.open(folder, embed_model=HashEmbedding())
    first = files(plain.as_retriever(similarity_top_k=30).retrieve(QUESTION))
    with OpenAIServer(scores_by(last_engine)) as server, opened(folder, server) as index:
        found = index.as_retriever(similarity_top_k=3).retrieve_detailed(QUESTION)
        assert len(server.requests[0].body["documents"]) == 30
    best = sorted(first, key=lambda name: -int(name.partition(".")[0]))[:3]
    assert files(found.nodes) == best
    assert [one.score for one in found.nodes] == [float(name.partition(".")[0]) for name in best]
    assert found.postprocessors == (f"like:{NAME}",)
    assert not found.degraded
    plain.close()


@pytest.mark.parametrize("behaviour", [Failure(500), Failure(401), results((0, 1.0)), Garbage()])
def test_one_that_fails_is_reported_and_the_fused_order_stays(folder, behaviour):
    with OpenAIServer(behaviour) as server, opened(folder, server) as index:
        found = index.as_retriever().retrieve_detailed(QUESTION)
        plain = index.as_retriever(node_postprocessors=[]).retrieve(QUESTION)
        assert list(found.nodes) == plain
        [degraded] = found.degraded
        assert degraded.part == f"postprocessor:like:{NAME}"
        assert degraded.reason.startswith(f"{NAME}: ")
        assert degraded.hint
        with pytest.raises(RetrievalError, match=f"like:{NAME} failed"):
            index.as_retriever(strict=True).retrieve(QUESTION)


def test_the_command_line_reranks_explains_and_shows_no_key(folder, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_RERANK_API_KEY", KEY)
    monkeypatch.setattr("rag_app.facade.opening.load_embedding", lambda *_: HashEmbedding())
    monkeypatch.setattr("rag_app.cli.sources.begin", lambda *_: None)
    with OpenAIServer(scores_by(last_engine)) as server:
        named = ["--index", str(folder), "--rerank", f"like:{NAME}"]
        where = [*named, "--rerank-base-url", server.url]
        assert run(["explain", QUESTION, *where, "--json"]) == 0
        shown = json.loads(capfd.readouterr().out)
        assert shown["postprocessors"] == [f"like:{NAME}"]
        assert [row["reranked_rank"] for row in shown["chosen"]] == [1, 2, 3, 4, 5]
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
        server.script = [Failure(401, f"wrong: {KEY}")]
        assert run(["search", QUESTION, *where, "--verbose"]) == 0
        out, err = capfd.readouterr()
        assert "the server refused the key" in err
        assert run(["search", QUESTION, *named]) == 1
        out, err = out + capfd.readouterr().out, err + capfd.readouterr().err
    assert KEY not in out + err
