"""Measure any LlamaIndex retriever against questions with known evidence."""

from rag_app.evaluation.bootstrap import Interval, interval
from rag_app.evaluation.questions import Question, load_questions
from rag_app.evaluation.report import EvaluationReport, QuestionResult, compare
from rag_app.evaluation.run import evaluate

__all__ = [
    "EvaluationReport",
    "Interval",
    "Question",
    "QuestionResult",
    "compare",
    "evaluate",
    "interval",
    "load_questions",
]
