from benchmarks.datasets import Question
from benchmarks.pieces import halves


def test_every_second_question_of_a_passage_becomes_a_piece_and_none_is_both():
    questions = [
        Question(str(n), f"question {n}", {passage: 1}) for n, passage in enumerate("aabab")
    ]
    asked, pieces = halves(questions)
    assert [q.id for q in asked] == ["0", "2", "3"]
    assert [q.id for q in pieces] == ["1", "4"]
