"""A form in which words are the same however lines, case and quotation marks are set."""

from __future__ import annotations

import re

from pipelines.text import normalise

# Reference marks of a document, as in "measured by Vance [2]".
_REFERENCE = re.compile(r"\[\d{1,3}(?:[,;–-]\s?\d{1,3}){0,8}\]")


def squashed(text: str) -> str:
    """Return a text without white space, case, emphasis and reference marks."""
    return "".join(normalise(_REFERENCE.sub("", text)).replace("*", "").split())
