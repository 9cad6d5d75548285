"""The real thing: a small model behind a real OpenAI-compatible server on this machine.

It is asked for form, citations and streaming, not for wisdom.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from rag_app.answer.engine import CitedQueryEngine
from rag_app.answer.queries import generate_queries
from rag_app.models.llm import load_llm
from rag_app.settings import Settings
from tests.support import smollm
from tests.support.passages import FixedRetriever, evidence_of, node

PAGES = (
    "The pumping station at Kobe was opened in 1998. It has 12 pumps, and each pump moves "
    "4,200 litres of water an hour.",
    "The filters of the pumping station are changed every 90 days. The manager is Ms. Ito.",
)
ASKED = "How many pumps does the pumping station at Kobe have?"


@pytest.fixture(scope="session")
def llm(tmp_path_factory):
    missing = smollm.missing_packages()
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (make .venv installs them)")
    with smollm.served(tmp_path_factory.mktemp("smollm")) as url:
        yield load_llm(
            Settings(
                llm=f"like:{smollm.NAME}",
                llm_base_url=url,
                llm_context_window=8192,
                llm_max_tokens=40,
                llm_timeout=120,
            )
        )


@pytest.fixture
def engine(llm):
    nodes = [node(PAGES[0]), node(PAGES[1], start=len(PAGES[0]) + 1, pages=[2])]

    def make(**options):
        evidence = evidence_of(*PAGES)
        return CitedQueryEngine(FixedRetriever(nodes), llm=llm, evidence=evidence, **options)

    return make


def check_form(answer):
    """What holds of every answer, whatever the model wrote."""
    assert answer.mode == "llm"
    assert answer.model == smollm.NAME
    assert answer.usage.llm_calls == 1
    assert answer.usage.completion_tokens > 0
    if answer.outcome == "refused":
        return
    assert answer.outcome == "answered"
    assert answer.sentences
    numbers = [citation.number for citation in answer.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {n for s in answer.sentences for n in s.citations} == set(numbers)
    for sentence in answer.sentences:
        assert sentence.verified == (bool(sentence.citations) and not sentence.problems)
    for quote in (quote for citation in answer.citations for quote in citation.quotes):
        assert quote.verified
        assert " ".join(PAGES)[quote.start : quote.end] == quote.text


def test_an_answer_of_a_real_model_is_cited_and_checked(engine):
    answer = engine().query(ASKED)
    check_form(answer)
    assert "12" in str(answer)
    assert answer.citations[0].page == 1


def test_a_real_model_streams_its_words(engine):
    response = engine(streaming=True).query(ASKED)
    times, pieces = [], []
    for delta in response.response_gen:
        times.append(time.monotonic())
        pieces.append(delta)
    check_form(response)
    assert len(pieces) > 5
    assert times[-1] > times[0], "words come one after the other"
    assert "".join(pieces) == str(response)
    assert response.timings_ms["first_words"] < response.timings_ms["total"]


def test_a_real_model_streams_without_blocking(engine):
    async def ask():
        response = await engine(streaming=True).aquery(ASKED)
        pieces = [delta async for delta in response.async_response_gen()]
        return response, pieces

    response, pieces = asyncio.run(ask())
    check_form(response)
    assert "".join(pieces) == str(response)


def test_a_real_model_writes_queries_or_nothing(llm):
    """Case 16, with a model that knows little of lists."""
    queries = generate_queries(llm, ASKED, 2)
    assert len(queries) <= 2
    assert all(query == query.strip() and not query[0].isdigit() for query in queries)
