"""Text without characters that do not belong in text.

Imports ``re`` alone: the process that reads PDFs needs it, and has to start quickly.
"""

from __future__ import annotations

import re

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def sanitise(text: str) -> str:
    r"""Return the text without lone surrogates, NUL and control characters.

    Line ends become ``\n``; ``\n`` and ``\t`` stay.
    """
    return _UNWANTED.sub("", _LINE_END.sub("\n", text))
