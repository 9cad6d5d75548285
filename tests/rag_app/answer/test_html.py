"""An answer in a notebook: each statement with its state, nothing of a document as markup."""

from __future__ import annotations

from rag_app.answer.response import Answer, AnswerSentence, Citation, ClosestPassage, Quote


def shown(*statements: AnswerSentence) -> str:
    quote = Quote("Revenue <b>rose</b>.", 0, 20, [4], verified=True)
    citation = Citation(2, "", "a&b.pdf", "", 4, "4", [4], [quote])
    answer = Answer(response="Revenue rose.", sentences=list(statements), citations=[citation])
    return answer._repr_html_()


def test_each_state_is_said_in_words_and_what_fails_is_marked() -> None:
    html = shown(
        AnswerSentence("A.", [2], "quoted"),
        AnswerSentence("B.", [2], "supported", notes=["computed: 5 is 7 less 2"]),
        AnswerSentence("C.", [2], "unsupported", ["9 does not stand in what it cites"]),
    )
    assert "A. [2]<br><small>word for word in what it cites</small>" in html
    assert "its facts stand in what it cites; computed: 5 is 7 less 2" in html
    assert "<mark>C. [2]</mark><br><small>not supported; 9 does not stand" in html
    assert html.count("<mark>") == 1


def test_words_of_documents_and_models_are_no_markup() -> None:
    html = shown(AnswerSentence("<script>x</script>", [2], "quoted"))
    assert "<script>" not in html
    assert "Revenue &lt;b&gt;rose&lt;/b&gt;." in html
    assert 'value="2">a&amp;b.pdf, page 4' in html


def test_a_refusal_is_its_text_alone() -> None:
    assert Answer(response="No <answer>.", outcome="refused")._repr_html_() == (
        "<p>No &lt;answer&gt;.</p>"
    )


def test_the_closest_passages_come_with_file_page_and_heading() -> None:
    near = ClosestPassage("", "a.pdf", "", 6, "6", [6], "<Data>", ["Weight < 3 kg"], [])
    answer = Answer(response="Nothing answers.\n\nMore", outcome="closest", closest=[near])
    html = answer._repr_html_()
    assert html.startswith("<p>Nothing answers.</p>")
    assert "a.pdf, page 6: &lt;Data&gt;" in html
    assert "<blockquote>Weight &lt; 3 kg</blockquote>" in html
