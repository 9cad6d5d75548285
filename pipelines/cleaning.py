"""Text without characters that do not belong in text.

Imports ``re`` alone: the process that reads PDFs needs it, and has to start quickly.
"""

from __future__ import annotations

import re

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)

# What steers a terminal, whole, so that nothing of it stays behind as letters: OSC, DCS and
# the like up to their end; CSI with its parameters; ESC and one letter.
_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)


def without_sequences(text: str) -> str:
    """Return the text without escape sequences of a terminal (colours, titles, links, pastes)."""
    return _SEQUENCE.sub("", text)


def sanitise(text: str) -> str:
    r"""Return the text without lone surrogates, NUL and control characters.

    Line ends become ``\n``; ``\n`` and ``\t`` stay.
    """
    return _UNWANTED.sub("", _LINE_END.sub("\n", text))
