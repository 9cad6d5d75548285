"""Whether the beginning of a model's text can only be an answer, before the rest is there.

A model is told to cite each sentence; thoughts do not begin with a sentence that does.
"""

from __future__ import annotations

import re

from pipelines.text import sentence_spans

_CITATION = re.compile(r"[\[【［]\D{0,12}\d{1,3}[^\]】］\n]{0,12}[\]】］]")


def cites_at_once(lead: str) -> bool:
    """Tell whether the first sentence of a text cites a passage.

    Only what stands before the first citation is looked at: once true, it stays so.
    """
    citation = _CITATION.search(lead)
    return citation is not None and len(sentence_spans(lead[: citation.start()].strip())) <= 1
