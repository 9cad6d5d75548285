from __future__ import annotations

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import Document

from rag_app.index import Index
from tests.support.openai_server import Reply
from tests.support.pdfs import make_pdf

RESULT_KEYS = [
    "rank", "score", "origin", "file", "page", "page_label", "pages", "text", "node_id", "matched",
]  # fmt: skip


def test_json_has_the_documented_shape(rag, index):
    done = rag("search", "lead time of the valve", "--json")
    assert (done.code, done.err) == (0, "")
    document = done.json
    assert list(document) == ["query", "strategy", "degraded", "results"]
    assert (document["query"], document["strategy"]) == ("lead time of the valve", "hybrid")
    first = document["results"][0]
    assert list(first) == RESULT_KEYS
    assert (first["rank"], first["origin"], first["file"]) == (1, "", "valve.pdf")
    assert (first["page"], first["page_label"]) == (2, "1")
    assert "twelve weeks" in first["text"]
    match = first["matched"][0]
    assert {"arm", "rank", "score", "text"} <= set(match)
    scores = [result["score"] for result in document["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("command", "rows", "key"),
    [("search", "results", "node_id"), ("explain", "fused", "passage_id")],
)
def test_pdfs_are_searched_as_an_index_of_them_is(rag, index, two, command, rows, key):
    words = (command, "lead time of the valve", "--json")
    beside, by_index = rag(*words, *two), rag(*words)
    assert (beside.code, by_index.code) == (0, 0)
    found = [[row[key] for row in one.json[rows]] for one in (beside, by_index)]
    assert found[0] == found[1] != []


def test_a_pdf_that_cannot_be_read_is_named_and_the_others_are_searched(rag, two, place):
    (place / "odd.pdf").write_bytes(b"no PDF")
    done = rag("search", "lead time of the valve", *two, "odd.pdf", "--json")
    assert done.code == 0
    assert done.json["results"][0]["file"] == "valve.pdf"
    assert [one["file"] for one in done.json["files_failed"]] == ["odd.pdf"]


@pytest.mark.parametrize("command", ["search", "explain"])
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("lead time", "pdfs/valve.pdf", "--index", "x"), "give PDFs or --index, not both"),
        (("lead time", "--password", "p"), "--password opens PDFs"),
        (("pdfs/valve.pdf", "lead time"), "the question comes before the files"),
        ((" ", "pdfs/valve.pdf"), "the question is empty"),
    ],
)
def test_pdfs_that_do_not_go_with_the_other_words_are_a_usage_error(
    rag, two, command, words, advice
):
    done = rag(command, *words)
    assert (done.code, done.out) == (2, "")
    assert advice in done.err


def test_text_names_place_and_what_matched(rag, index):
    done = rag("search", "lead time of the valve")
    assert done.code == 0
    assert done.out.startswith("1. valve.pdf, page 2 (1)")
    assert "words:parent #1" in done.out
    assert "twelve weeks" in done.out


def test_nothing_found_is_said(rag, index):
    done = rag("search", "zzzz", "--strategy", "bm25")
    assert (done.code, done.out) == (0, "nothing found\n")


def test_top_k_limits(rag, index):
    assert len(rag("search", "the", "-k", "1", "--json").json["results"]) == 1


def test_file_and_page_filter(rag, index, pdfs):
    """Case 22: no hit from another file."""
    for name in ("crane.pdf", pdfs / "crane.pdf", "pdfs/crane.pdf"):
        found = rag("search", "lead time valve crane", "--file", name, "--json").json["results"]
        assert [result["file"] for result in found] == ["crane.pdf"]
    found = rag("search", "the valve crane", "--page", "2", "--json").json["results"]
    assert [result["file"] for result in found] == ["valve.pdf"]


def test_a_filter_on_an_unknown_key_names_the_known_ones(rag, index):
    done = rag("search", "valve", "--where", "colour=red")
    assert done.code == 1
    assert "colour" in done.err
    assert "file_name" in done.err


@pytest.mark.parametrize("command", ["search", "ask", "explain"])
def test_a_file_that_is_not_there_is_an_error_that_names_a_like_one(rag, index, command):
    done = rag(command, "lead time", "--file", "valves.pdf")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "error: no file of the index is called 'valves.pdf' (did you mean 'valve.pdf'?)\n"
    )


def test_filters_that_no_passage_fits_are_an_error(rag, index):
    done = rag("ask", "lead time", "--file", "crane.pdf", "--page", "2")
    assert done.code == 1
    assert "no passage fits" in done.err


def test_where_filters_by_metadata(rag, index):
    found = rag("search", "valve crane", "--where", "file_name~CRANE", "--json").json["results"]
    assert [result["file"] for result in found] == ["crane.pdf"]


def test_several_indexes_are_searched_together(rag, pdfs):
    rag("ingest", pdfs / "valve.pdf", "--index", "A")
    rag("ingest", pdfs / "crane.pdf", "--index", "B")
    done = rag("search", "valve crane", "--index", "A", "--index", "B", "--json")
    origins = {result["file"]: result["origin"] for result in done.json["results"]}
    assert origins == {"valve.pdf": "A", "crane.pdf": "B"}
    assert ", in A" in rag("search", "valve", "-i", "A", "-i", "B").out


def test_the_same_index_twice_is_one(rag, index):
    found = rag("search", "valve", "-i", ".rag", "-i", "./.rag", "--json").json["results"]
    assert {result["origin"] for result in found} == {""}


def test_no_index_is_an_error_that_says_what_to_do(rag):
    done = rag("search", "valve")
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert "rag ingest" in done.err


@pytest.mark.parametrize("command", ["search", "explain"])
def test_an_empty_question_is_wrong_usage(rag, command):
    done = rag(command, "  ")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: the question is empty (see 'rag {command} --help')\n"


def test_an_unknown_strategy_is_an_error_that_names_the_known(rag, index):
    done = rag("search", "valve", "--strategy", "hybird")
    assert done.code == 1
    assert "did you mean 'hybrid'" in done.err


def test_queries_without_a_model_is_an_error(rag, index):
    done = rag("search", "valve", "--queries", "3")
    assert done.code == 1
    assert "--llm" in done.err


def test_escape_sequences_of_a_document_never_reach_the_terminal(rag, place):
    make_pdf(place / "evil.pdf", ["Ordinary words about valves."], title="\x1b]0;owned\x07Valves")
    rag("ingest", "evil.pdf")
    done = rag("search", "valves \x1b[31m", "--strategy", "bm25")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert "\x1b" not in rag("explain", "valves \x1b[2J").out
    assert "\x1b" not in rag("search", "valves \x1b[2J", "--json").out


def test_explain_shows_every_arm_and_the_fused_list(rag, index):
    done = rag("explain", "lead time of the valve")
    assert done.code == 0
    for part in ("Fused", "words:parent", "vectors:child-256", "valve.pdf"):
        assert part in done.out


def test_explain_json_has_arms_and_fused(rag, index):
    document = rag("explain", "lead time", "--top", "1", "--json").json
    assert {"question", "strategy", "arms", "fused", "degraded"} <= set(document)
    assert all(len(arm["rows"]) <= 1 for arm in document["arms"])


def test_a_document_without_pages_has_no_page(rag, index, model):
    document = Document(text="The pump turns at ninety revolutions.", id_="note-1")
    with Index.open(index, embed_model=model) as opened:
        opened.ingest(document)
    found = rag("search", "pump revolutions", "-k", "1", "--json").json["results"][0]
    assert (found["page"], found["page_label"], found["pages"]) == (None, None, [])
    assert rag("search", "pump revolutions", "-k", "1").code == 0


class Last(BaseNodePostprocessor):
    """Prefers what was found last."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return nodes[::-1]


def test_rerank_chooses_from_the_first_passages(rag, index):
    plain = rag("search", "valve crane", "--json").json["results"]
    turned = rag("search", "valve crane", "--rerank", f"{__name__}:Last", "--json").json["results"]
    assert [one["node_id"] for one in turned] == [one["node_id"] for one in plain[::-1]]
    assert len(plain) > 1
    shown = rag("explain", "valve crane", "--rerank", f"{__name__}:Last", "--json").json
    assert shown["postprocessors"] == ["Last"]
    assert [row["fused_rank"] for row in shown["chosen"]] == [2, 1]
    asked = rag("ask", "What is the lead time of the valve?", "--rerank", f"{__name__}:Last")
    assert "twelve weeks" in asked.out


def test_a_preset_reranks_and_none_switches_it_off(rag, index, place):
    (place / "own.toml").write_text(
        f'[presets.turned]\nbase = "hybrid"\nrerank = "{__name__}:Last"\n'
    )
    own = ("--config", "own.toml", "--strategy", "turned", "--json")
    plain = rag("search", "valve crane", "--json").json["results"]
    turned = rag("search", "valve crane", *own).json["results"]
    off = rag("search", "valve crane", "--rerank", "none", *own).json["results"]
    assert [one["node_id"] for one in turned] == [one["node_id"] for one in plain[::-1]]
    assert off == plain


def test_a_reranker_that_is_none_is_one_line(rag, index):
    done = rag("search", "valve", "--rerank", "cross-encoder")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: there is no reranker 'cross-encoder' (it is package.module:")


WAIT = "How long must one wait for the valve?"


@pytest.fixture
def waiting(place):
    """A glossary beside the index: what people call the lead time."""
    file = place / "waiting.json"
    file.write_text('{"terms": {"wait": ["lead time", "weeks from the date of the order"]}}')
    return file


def test_json_names_the_terms_of_a_glossary_that_the_question_has(rag, index, waiting):
    done = rag("search", WAIT, "--glossary", "accounting", "--glossary", "./waiting.json", "--json")
    assert (done.code, done.err) == (0, "")
    [term] = done.json["glossary"]
    assert (term["glossary"], term["sort"], term["term"]) == ("waiting", "terms", "wait")
    matched = done.json["results"][0]["matched"]
    assert {match.get("query") for match in matched} >= {"; ".join(term["prints"])}
    assert "glossary" not in rag("search", WAIT, "--json").json
    shown = rag("explain", WAIT, "--glossary", "waiting.json")
    assert "wait (waiting): lead time; weeks from the date of the order" in shown.out
    asked = rag("ask", WAIT, "--glossary", "waiting.json", "--json")
    assert asked.json["glossary"] == [term]


def test_a_preset_names_a_glossary_beside_its_file_and_none_switches_it_off(rag, index, waiting):
    own = waiting.parent / "sub"
    own.mkdir()
    waiting.rename(own / waiting.name)
    (own / "own.toml").write_text(
        '[presets.ours]\nbase = "hybrid"\nglossary = ["waiting.json"]\nprefer_tables = false\n'
    )
    given = ("--config", "sub/own.toml", "--strategy", "ours", "--json")
    assert [t["term"] for t in rag("search", WAIT, *given).json["glossary"]] == ["wait"]
    assert "glossary" not in rag("search", WAIT, "--glossary", "none", *given).json


def test_a_glossary_that_is_none_is_one_line(rag, index, waiting):
    waiting.write_text("{}")
    for name, says in (
        ("waiting.json", "the glossary waiting.json has 0 terms"),
        ("acounting", "there is no glossary 'acounting' (known: accounting, "),
        ("gone.json", "the glossary gone.json does not read: No such file"),
    ):
        done = rag("search", WAIT, "--glossary", name)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"error: {says}")
        assert done.err.count("\n") == 1


def test_a_document_without_a_name_is_called_by_its_id(rag, index, model):
    with Index.open(index, embed_model=model) as opened:
        opened.ingest(Document(id_="minutes-7", text="The quorum is nine members."))
    [found] = rag("search", "quorum members", "-k", "1", "--json").json["results"]
    assert found["file"] == "minutes-7"
    [citation] = rag("ask", "How many members is the quorum?", "--json").json["citations"]
    assert (citation["file"], citation["page"]) == ("minutes-7", None)
    assert "minutes-7" in rag("explain", "quorum members").out


def test_generated_queries_are_listed(rag, index, serve):
    with serve(Reply("1. delivery time of valves\n2. weeks until delivery")) as server:
        model = ("--llm", "like:test", "--base-url", server.url)
        document = rag("search", "lead time", "--queries", "3", *model, "--json").json
    assert document["queries"] == ["delivery time of valves", "weeks until delivery"]
