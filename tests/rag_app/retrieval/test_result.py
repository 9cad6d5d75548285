"""Parts of a search that took no part, in words."""

from __future__ import annotations

import pytest

from rag_app.retrieval.result import Degraded


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Degraded("queries", "failed", "no answer"), "queries failed: no answer"),
        (
            Degraded("vectors:parent", "silent", "it knows Latin only", "use words"),
            "vectors:parent took no part: it knows Latin only (use words)",
        ),
    ],
)
def test_a_part_names_itself_the_reason_and_the_hint(part, words):
    assert str(part) == words
