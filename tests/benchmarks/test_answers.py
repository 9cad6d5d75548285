"""How an answer to a natural question is judged, and how coefficients are fitted."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from benchmarks import answers, answers_fit, natural
from benchmarks.answers_fit import Example, fit_answer, fit_rank
from rag_app.answer.ranking import Features
from rag_app.answer.response import Answer, AnswerSentence, Citation, ClosestPassage

ASKED = natural.NaturalQuestion("how heavy", "en", "a.pdf", ("2.85 kg",), (6,), "report")


def citation(page):
    return Citation(1, "", "a.pdf", "", page, str(page), [page], [])


def answered(*texts, page=6):
    sentences = [AnswerSentence(text, [1], "quoted") for text in texts]
    return Answer(response="…", sentences=sentences, citations=[citation(page)])


def test_the_first_statement_and_any_are_judged_by_the_words_on_the_page():
    judged = natural.judge(ASKED, answered("Size 3 m", "Weight ２.85 kg"))
    assert (judged.first, judged.shown, judged.outcome) == (False, True, "answered")
    assert not natural.judge(ASKED, answered("Weight 2.85 kg", page=1)).shown


def test_the_closest_passages_are_shown_and_not_called_an_answer():
    near = ClosestPassage("", "a.pdf", "", 6, "6", [6], "Data", ["Weight 2.85 kg"], [])
    judged = natural.judge(ASKED, Answer(response="…", outcome="closest", closest=[near]))
    shares = natural.summary([judged])
    assert (judged.first, shares["nothing_useful"], shares["wrong_called_answered"]) == (True, 0, 0)


def test_the_table_counts_what_is_wrong_and_what_is_no_use():
    wrong = natural.judge(ASKED, answered("Size 3 m"))
    refused = natural.judge(ASKED, Answer(response="no", outcome="refused"))
    shares = natural.summary([wrong, refused])
    assert (shares["wrong_called_answered"], shares["nothing_useful"]) == (0.5, 0.5)
    assert "| natural, report | shown | 0.0 |" in answers.table({"natural": {"report": shares}})


def test_each_question_lies_in_the_half_that_its_hash_gives():
    questions = natural.read_questions()
    assert len(questions) >= 150
    assert sum(not one.answers for one in questions) >= 50
    assert len({one.question for one in questions}) == len(questions)
    for one in questions:
        odd = sha256(one.question.encode()).digest()[0] % 2
        assert one.half == ("decide" if odd else "report")
    assert min(Counter((one.half, one.lang) for one in questions).values()) > 20


def test_each_one_page_text_holds_the_answers_to_its_questions():
    texts = natural.read_texts()
    assert len(texts) >= 20
    for one in natural.read_questions():
        if one.document in texts:
            held = natural.squeezed(texts[one.document])
            assert all(natural.squeezed(words) in held for words in one.answers), one.question


def features(own):
    return Features(own, own, 1 - own, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0)


def examples(count):
    good = Example("words", True, 1.0, [(features(0.9), True), (features(0.2), False)])
    bad = Example("words", False, 1.0, [(features(0.3), False)])
    return [good, bad] * count


def test_what_the_right_sentences_have_more_of_counts_for_them():
    rank = fit_rank(examples(30), "words")
    assert rank["own"] > 0
    assert rank["meaning"] == 0


def test_few_of_the_questions_that_nothing_answers_are_answered():
    listed = examples(30)
    rank = fit_rank(listed, "words")
    answer = fit_answer(listed, "words", rank)
    names = answers_fit.ANSWER_FEATURES

    def total(one):
        values = answers_fit._row(one, names, "words")
        return answer["constant"] + sum(
            answer[name] * value for name, value in zip(names, values, strict=True)
        )

    assert total(features(0.3)) < 0 < total(features(0.9))
