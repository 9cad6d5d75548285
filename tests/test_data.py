"""The sample documents are what their README says, and they answer their questions."""

import importlib.util
import json
import re
import sys
import unicodedata
from collections import Counter
from contextlib import closing
from functools import cache
from pathlib import Path

import pypdf
import pypdfium2
import pytest

DATA = Path(__file__).parents[1] / "data"
FERRIES = "marrowby-ferries-annual-report-2025.pdf"
REVIEW = "larkfield-reservoir-review.pdf"
MANUAL = "AX-450B_service_manual_rev7.pdf"
RULES = "shiomi-touki-shugyo-kisoku.pdf"
FILES = (FERRIES, REVIEW, MANUAL, RULES)
KINDS = {"fact", "identifier", "paraphrase", "page_break", "table", "unanswerable"}
QUESTIONS = [
    json.loads(line) for line in (DATA / "questions.jsonl").read_text("utf-8").splitlines()
]
SENTENCE_END = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)[.!?](?=\s|$)|。")
# Words that say nothing about what is asked: function words and question words.
FUNCTION_WORDS = """
    a about after all an and any anybody are as at be been before being but by can cannot could
    did do does down for from had has have he her him his how i if in into is it its just long many
    may much must my no not now of off on one or our out over own per shall she should so some
    somebody such than that the their them then there these they this those to under up was we
    were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(FUNCTION_WORDS.split())


@cache
def pages_by_pypdf(path):
    return tuple(page.extract_text() for page in pypdf.PdfReader(path).pages)


@cache
def pages_by_pdfium(path):
    with closing(pypdfium2.PdfDocument(path)) as document:
        return tuple(
            document[number].get_textpage().get_text_range() for number in range(len(document))
        )


READERS = {"pypdf": pages_by_pypdf, "pypdfium2": pages_by_pdfium}


def squeeze(text):
    """The text without differences of width, case and white space."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


@cache
def bodies(path):
    """Page texts without running heads and feet: lines that recur but for their number."""
    pages = [page.splitlines() for page in pages_by_pdfium(path)]

    def shape(line):
        return re.sub(r"[\divx]+", "#", line)

    seen = Counter(shape(line) for lines in pages for line in {lines[0], lines[-1]})
    return tuple(
        "\n".join(line for line in lines if seen[shape(line)] < len(pages) / 2) for lines in pages
    )


def crossing_sentence(path, page):
    """The sentence that begins on a page and ends on the next, or "" (`page` from 1)."""
    before, after = bodies(path)[page - 1].strip(), bodies(path)[page].strip()
    ends = list(SENTENCE_END.finditer(before))
    tail = before[ends[-1].end() :] if ends else before
    first = SENTENCE_END.search(after)
    return f"{tail} {after[: first.end()]}" if tail.strip() and first else ""


def stem(word):
    """A crude stem, which would rather join two words than miss that they are one."""
    for suffix in ("ingly", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "er", "s", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return stem(word[: -len(suffix)])
    return word[:-1] if len(word) > 3 and word[-1] in {word[-2], "y"} else word


def content(text):
    """Stems of English content words; of Japanese, kanji and katakana runs and their bigrams."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words = {stem(word) for word in re.findall(r"[a-z0-9]+", text) if word not in STOP_WORDS}
    runs = re.findall(r"[一-龯々]+|[ァ-ヺー]+", text)
    return words | {run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))}


def of_kind(kind):
    return [question for question in QUESTIONS if question["kind"] == kind]


def is_japanese(question):
    return re.search("[ぁ-ん]", question["question"]) is not None


def named(questions):
    return pytest.mark.parametrize("question", questions, ids=[q["id"] for q in questions])


# The documents


def test_samples_are_small_and_together_have_enough_pages():
    assert {path.name for path in DATA.glob("*.pdf")} == set(FILES)
    counts = [len(pages_by_pypdf(DATA / name)) for name in FILES]
    assert sum(counts) >= 25
    assert all((DATA / name).stat().st_size < 300_000 for name in FILES)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        (FERRIES, ["i", "ii", "iii", *map(str, range(1, 11)), "A-1", "A-2"]),
        (REVIEW, [str(number) for number in range(1, 11)]),
        (RULES, ["i", "ii", *map(str, range(1, 10))]),
    ],
)
def test_page_labels_of_sample_are_the_printed_ones(name, labels):
    reader = pypdf.PdfReader(DATA / name)
    assert reader.page_labels == labels
    for label, text in list(zip(labels, pages_by_pdfium(DATA / name), strict=True))[1:]:
        assert re.search(rf"(?<![\w-]){label}(?!\w)", text.splitlines()[-1])


def test_manual_has_no_page_labels():
    assert "/PageLabels" not in pypdf.PdfReader(DATA / MANUAL).trailer["/Root"]


@pytest.mark.parametrize("name", FILES)
def test_no_page_of_sample_is_empty_or_has_unknown_characters(name):
    for read in READERS.values():
        for text in read(DATA / name):
            assert len(text.strip()) > 30
            assert not re.search("[\x00-\x08\ufffd\ufffe\uffff]", text)


def test_review_breaks_a_sentence_at_every_page_end():
    """Case 12: a sentence that runs over a page break."""
    count = len(pages_by_pdfium(DATA / REVIEW))
    assert count - 1 >= 8
    for page in range(1, count):
        assert crossing_sentence(DATA / REVIEW, page), page
    assert bodies(DATA / REVIEW)[0].endswith("grew to")
    assert bodies(DATA / REVIEW)[1].startswith("$4.2 million")


def generator():
    """The module that makes the samples."""
    pytest.importorskip("reportlab", reason="the generator needs reportlab")
    spec = importlib.util.spec_from_file_location("make_samples", DATA / "make_samples.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(DATA))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DATA))
    return module


@pytest.mark.parametrize("source", sorted(path.name for path in (DATA / "sources").glob("*.md")))
def test_committed_sample_is_what_the_generator_makes(source, tmp_path):
    samples = generator()
    if samples.Source.read(DATA / "sources" / source).japanese and not samples.FONT.is_file():
        pytest.skip(f"{samples.FONT} is not installed (fonts-ipaexfont-gothic)")
    made = samples.make(DATA / "sources" / source, tmp_path)
    assert pages_by_pdfium(made) == pages_by_pdfium(DATA / made.name)
    assert pypdf.PdfReader(made).page_labels == pypdf.PdfReader(DATA / made.name).page_labels


def test_generator_without_the_font_says_what_to_install(tmp_path):
    with pytest.raises(SystemExit, match="apt-get install"):
        generator().make(DATA / "sources" / "shugyo-kisoku.md", tmp_path, tmp_path / "none.ttf")


# The questions


def test_questions_are_enough_in_each_language_and_kind():
    kinds = Counter(question["kind"] for question in QUESTIONS)
    japanese = [question for question in QUESTIONS if is_japanese(question)]
    assert set(kinds) == KINDS
    assert len(QUESTIONS) - len(japanese) >= 40
    assert len(japanese) >= 20
    assert kinds["paraphrase"] >= 8
    assert kinds["page_break"] >= 8
    for part in (japanese, [q for q in QUESTIONS if q not in japanese]):
        assert sum(question["kind"] == "unanswerable" for question in part) >= 3
        assert {question["kind"] for question in part} == KINDS


def test_questions_have_unique_ids_and_texts_and_just_the_documented_keys():
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        assert list(question) == ["id", "question", "answer", "evidence", "kind"]
        assert (question["id"][:2] == "ja") == is_japanese(question)
        assert all(list(place) == ["file", "page"] for place in question["evidence"])


def test_unanswerable_questions_and_no_others_lack_answer_and_evidence():
    for question in QUESTIONS:
        unanswerable = question["kind"] == "unanswerable"
        assert (question["answer"] is None) == unanswerable
        assert (question["evidence"] == []) == unanswerable


@pytest.mark.parametrize("reader", READERS)
@named([q for q in QUESTIONS if q["kind"] not in ("unanswerable", "page_break")])
def test_answer_stands_on_every_evidence_page(question, reader):
    for place in question["evidence"]:
        text = READERS[reader](DATA / place["file"])[place["page"] - 1]
        assert squeeze(question["answer"]) in squeeze(text)


@named(of_kind("page_break"))
def test_answer_of_page_break_question_is_in_the_sentence_across_the_break(question):
    first, second = question["evidence"]
    assert first["file"] == second["file"]
    assert second["page"] == first["page"] + 1
    sentence = crossing_sentence(DATA / first["file"], first["page"])
    assert squeeze(question["answer"]) in squeeze(sentence)


@named(of_kind("paraphrase"))
def test_paraphrase_shares_no_content_word_with_its_evidence_pages(question):
    asked = content(question["question"])
    assert asked
    for place in question["evidence"]:
        text = pages_by_pdfium(DATA / place["file"])[place["page"] - 1]
        assert not asked & content(text)
