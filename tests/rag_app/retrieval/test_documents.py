"""Documents that the question names come first, softly."""

from __future__ import annotations

import dataclasses

import pytest
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from rag_app.retrieval.catalogue import Catalogues, read_catalogue
from rag_app.retrieval.documents import MIN_LOG_ODDS_RATIO, TIERS, lower_log_odds_ratio
from rag_app.retrieval.retriever import JoinedRetriever, StrategyRetriever
from rag_app.retrieval.strategy import STRATEGIES
from rag_app.store.sqlite.snapshot import SqliteSnapshot
from tests.rag_app.retrieval.conftest import make_store, paged, prepare
from tests.support.embedding import HashEmbedding

COMPANIES = ["Adobe", "Boeing", "Foot Locker", "Nike"]


def report(company, year):
    first = f"{company} Inc. Annual report. Fiscal year {year}. All rights are reserved by law."
    body = [
        f"Note {n}. The revenue and the cash of the year grew. Steel, {n}." * 4 for n in range(5)
    ]
    return [first, *(f"{page} {company} says so." for page in body)]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    texts = {
        f"{company.upper().replace(' ', '')}_{year}_10K.pdf": report(company, year)
        for company in COMPANIES
        for year in (2019, 2020)
    }
    store = make_store(tmp_path_factory.mktemp("reports") / "index", texts, {})
    yield store
    store.close()


def retriever(store, **options):
    return StrategyRetriever(store, embed_model=HashEmbedding(), **options)


def named(store, question, **options):
    result = retriever(store, **options).retrieve_detailed(question)
    return [document.name for document in result.preference.documents]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How did Nike's revenue grow?", {"NIKE_2019_10K.pdf", "NIKE_2020_10K.pdf"}),
        ("Revenue of foot locker?", {"FOOTLOCKER_2019_10K.pdf", "FOOTLOCKER_2020_10K.pdf"}),
        ("ＮＩＫＥ revenue", {"NIKE_2019_10K.pdf", "NIKE_2020_10K.pdf"}),
        ("How did the revenue of the year grow?", set()),
        ("Who wrote Hamlet?", set()),
    ],
)
def test_documents_are_named_by_words_that_are_theirs(reports, question, names):
    assert set(named(reports, question)) == names


def test_a_year_glued_to_letters_chooses_among_the_companys_reports(reports):
    assert named(reports, "What was Boeing's revenue in FY2020?")[0] == "BOEING_2020_10K.pdf"


def test_the_named_document_is_found_where_the_words_alone_do_not_tell(reports):
    question = "What was the cash of Adobe in 2020?"
    found = retriever(reports).retrieve(question)
    assert found[0].node.metadata["file_name"] == "ADOBE_2020_10K.pdf"


def names_by_tier(store, result):
    """Return the files whose passages each tier of each arm found."""
    with store.snapshot() as snapshot:
        return {
            (ranking.arm.name, ranking.tier): {
                snapshot.nodes([found.passage_id])[found.passage_id].metadata["file_name"]
                for found in ranking.found
            }
            for ranking in result.rankings
        }


def test_each_tier_finds_passages_of_its_own_documents(reports):
    result = retriever(reports).retrieve_detailed("What was the cash of Boeing in 2020?")
    files = names_by_tier(reports, result)
    documents = result.preference.documents
    best = [one.name for one in documents if one.score >= TIERS[1] * documents[0].score]
    assert best == ["BOEING_2020_10K.pdf"]
    for arm in ("vectors:child-256", "words:parent"):
        assert len(files[arm, 0]) == 8
        assert files[arm, 1] == {one.name for one in documents}
        assert files[arm, 2] == {"BOEING_2020_10K.pdf"}


def test_tiers_of_the_same_documents_are_searched_once(reports, monkeypatch):
    asked = []
    real = SqliteSnapshot.search_words

    def search(self, kind, terms, depth, within=None):
        asked.append(within)
        return real(self, kind, terms, depth, within)

    monkeypatch.setattr(SqliteSnapshot, "search_words", search)
    question = "How did Nike's revenue grow?"
    alone = retriever(reports, glossary=["none"])
    alone.retrieve(question)  # what the words of the question name is known now
    asked.clear()
    result = alone.retrieve_detailed(question)
    everywhere, first, second = [r for r in result.rankings if r.arm.how == "words"]
    assert len(asked) == 2
    assert [everywhere.tier, first.tier, second.tier] == [0, 1, 2]
    assert first.found == second.found
    assert set(first.found) < set(everywhere.found)


def test_the_preference_is_soft(reports):
    """Other documents are still found, and the question's own words still decide there."""
    result = retriever(reports, similarity_top_k=60).retrieve_detailed("Cash of Adobe 2020")
    assert len({found.node.metadata["file_name"] for found in result.nodes}) > 1


def test_the_preference_is_off_by_argument_and_by_strategy(reports):
    question = "How did Nike's revenue grow?"
    assert named(reports, question, prefer_documents=False) == []
    off = dataclasses.replace(STRATEGIES["hybrid"], prefer_documents=False)
    assert named(reports, question, strategy=off) == []
    assert named(reports, question, strategy="bm25") == []


def test_a_filter_holds_inside_the_preference(reports):
    filters = MetadataFilters(
        filters=[MetadataFilter(key="file_name", value="BOEING_2019_10K.pdf")]
    )
    assert named(reports, "How did Nike's revenue grow?", filters=filters) == []
    nike = MetadataFilters(
        filters=[
            MetadataFilter(
                key="file_name", operator="in", value=["NIKE_2019_10K.pdf", "BOEING_2019_10K.pdf"]
            )
        ]
    )
    result = retriever(reports, filters=nike).retrieve_detailed("How did Nike's revenue grow?")
    assert result.nodes[0].node.metadata["file_name"] == "NIKE_2019_10K.pdf"
    files = {found.node.metadata["file_name"] for found in result.nodes}
    assert files <= {"NIKE_2019_10K.pdf", "BOEING_2019_10K.pdf"}


def test_one_document_or_documents_of_one_passage_have_no_preference(build):
    one = build({"nike.pdf": report("Nike", 2020)})
    assert named(one, "Nike") == []
    notes = build({f"{name}.pdf": [f"A note on {name}."] for name in ("nike", "boeing", "adobe")})
    assert named(notes, "nike") == []


def test_a_document_without_pages_is_named_by_its_beginning_and_title(build):
    def body(name):
        return f"Manual of the {name}. " + f"The {name} is red and it is made of steel. " * 40

    store = build({f"d{n}": body(name) for n, name in enumerate(("Zephyr", "Mistral", "Bora"))})
    assert named(store, "Is the Mistral red?") == ["d1"]


def test_japanese_documents_are_named_by_title(build):
    body = "この規程は会社の従業員に適用する。費用は会社が負担する。" * 12
    store = build(
        {"安全規程.pdf": [f"安全について。{body}"], "旅費規程.pdf": [f"旅費について。{body}"]},
        scripts=("latin",),
    )
    assert named(store, "旅費規程では費用を誰が負担しますか。") == ["旅費規程.pdf"]


def test_a_catalogue_is_made_once_for_a_generation(build, monkeypatch):
    store = build({f"{c}.pdf": report(c, 2020) for c in ("Nike", "Boeing")})
    made = []
    monkeypatch.setattr(
        "rag_app.retrieval.catalogue.read_catalogue",
        lambda snapshot: made.append(snapshot.generation) or read_catalogue(snapshot),
    )
    for _ in range(3):
        assert named(store, "Nike") == ["Nike.pdf"]
    assert len(made) == 1
    with store.writer() as writer:
        writer.put(prepare(paged("Adobe.pdf", report("Adobe", 2020), {}), store.config))
    assert named(store, "Adobe") == ["Adobe.pdf"]
    assert len(made) == 2
    assert Catalogues.of(store) is Catalogues.of(store)


def test_several_indexes_are_preferred_by_the_best_of_all(build):
    parts = [
        StrategyRetriever(
            build({f"{c}.pdf": report(c, 2020) for c in companies}),
            embed_model=HashEmbedding(),
            origin=origin,
        )
        for origin, companies in {"A": COMPANIES[:2], "B": COMPANIES[2:]}.items()
    ]
    result = JoinedRetriever(parts).retrieve_detailed("How did Nike's revenue grow?")
    assert [(d.origin, d.name) for d in result.preference.documents] == [("B", "Nike.pdf")]
    assert result.nodes[0].node.metadata["origin"] == "B"


@pytest.mark.parametrize(
    ("counts", "above"),
    [
        ((100, 100, 0, 5000), True),
        ((2, 2, 0, 5000), True),
        ((10, 10, 0, 10), True),
        ((1, 10, 0, 30), False),
        ((5, 10, 15, 30), False),
        ((0, 10, 15, 30), False),
        ((10, 10, 30, 30), False),
    ],
)
def test_a_word_names_documents_only_when_that_is_no_chance(counts, above):
    assert (lower_log_odds_ratio(*counts) >= MIN_LOG_ODDS_RATIO) is above


def test_a_word_that_stands_once_by_chance_prefers_nothing(build):
    body = ["The pump is red. " * 20, "The valve is blue. " * 20, "The tank is grey. " * 20]
    store = build(
        {
            "north.pdf": ["A plan. The board took a decision.", *body],
            "south.pdf": ["A plan. The crew made a report.", *body],
        }
    )
    assert named(store, "Who took over the tank?") == []


def test_a_folder_names_its_documents(build):
    body = ["The pump is red. " * 30, "The valve is blue. " * 30, "The tank is grey. " * 30]
    store = build(
        {
            f"/home/me/{company}/{year}.pdf": [f"{year} {n}.", *body]
            for n, (company, year) in enumerate(
                (company, year) for company in ("zephyr", "mistral") for year in (2019, 2020)
            )
        }
    )
    assert set(named(store, "Which pump had Mistral?")) == {
        "/home/me/mistral/2019.pdf",
        "/home/me/mistral/2020.pdf",
    }
