r"""Names of files as text that can be stored, compared, printed, and given back.

On most systems a name is any bytes but NUL and "/": it need not be text, it may hold
a new line or an escape sequence that steers a terminal, and the same letters may be
composed or decomposed (macOS writes "é" as two characters). One form of every name
is kept, shown and accepted:

- What is not text, or would not be seen as it is, is written as an escape:
  ``\xNN`` a byte that is not UTF-8, or a control character below 128;
  ``\uNNNN`` and ``\UNNNNNNNN`` another control, a mark that reverses the direction of
  text, an invisible character; the same for white space that would be lost when words
  are laid out (at an end, or one after another).
- A name that needs none of these, and holds nothing that reads like one, stays as it
  is. In all others a backslash is written ``\\``.

So no two names share a form, and every form can be turned back into its name.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePath

_BYTE = 0xDC00  # os.fsdecode puts a byte that is not UTF-8 here, added to its value
_SPACE = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
    # Of a run of white space the first stays, unless it stands at an end of a name.
    f"|(?<![^/])(?:{_SPACE})|(?<={_SPACE})(?:{_SPACE})|(?:{_SPACE})(?![^/])"
)
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ESCAPE = re.compile(r"\\(?:\\|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_EITHER = re.compile(rf"\\|{_UNSEEN.pattern}")


def printable(name: str | bytes | os.PathLike[str]) -> str:
    """Return the one form of a name or path that is stored and shown (see the module)."""
    text = os.fsdecode(name)
    if not _UNSEEN.search(text) and not _ESCAPE.search(text):
        return text
    return _EITHER.sub(_escaped, text)


def original(printed: str) -> str:
    """Return the name that a printed form stands for, as ``os`` and ``open`` take it."""
    return _ESCAPE.sub(_unescaped, printed) if "\\" in printed else printed


def storable(text: str) -> str:
    r"""Return the text as UTF-8 can hold it: a lone surrogate is written ``\uNNNN``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def escaped(text: str) -> str:
    """Return a message as UTF-8 without characters that steer a terminal; its lines stay.

    Names in it should be printable already: these escapes cannot be turned back.
    """
    return _STEERING.sub(_escaped, text)


def composed(text: str) -> str:
    """Return the text under Unicode's NFC, in which names are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def base_name(printed: str) -> str:
    """Return the printed file name of a printed path; the path itself where it has none."""
    return printable(PurePath(original(printed)).name) or printed


def short_path(name: str) -> str:
    """Return a printed path as short as it can be said from here; other names as they are."""
    whole = original(name)
    if not PurePath(whole).is_absolute():
        return name
    relative = printable(os.path.relpath(whole))
    # With a hyphen in front it would be taken for an option where it is given back.
    relative = f"./{relative}" if relative.startswith("-") else relative
    return min(relative, name, key=len)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return the printed form of a path, absolute, links not followed: how it is recorded."""
    return printable(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links


def absolute_form(given: str) -> str:
    """Return a path that somebody gave, printed or raw, as an absolute one in the same form."""
    return os.path.normpath(os.path.join(printable(os.getcwd()), given))  # noqa: PTH109, PTH118


def forms(given: str) -> tuple[str, ...]:
    """Return the printed names that somebody may mean: as given, then read as printed or raw."""
    return tuple(dict.fromkeys((given, printable(original(given)), printable(given))))


def meant(given: Collection[str], known: Collection[str]) -> list[str]:
    """Return which of the known names somebody means.

    Args:
        given: the printed forms of the given name, the likeliest first.
        known: printed names.

    Returns:
        The first form that is known exactly; otherwise all names that are equal under
        NFC to the first form that has any. Empty: none.
    """
    for form in given:
        if form in known:
            return [form]
    for form in given:
        key = composed(form)
        if same := [name for name in known if composed(name) == key]:
            return same
    return []


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\\":
        return r"\\"
    if code < 0x80 or _BYTE + 0x80 <= code <= _BYTE + 0xFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescaped(match: re.Match[str]) -> str:
    kind, digits = match[0][1], match[0][2:]
    if kind == "\\":
        return "\\"
    code = int(digits, 16)
    if kind == "x" and code >= 0x80:
        code += _BYTE
    return chr(code) if code < 0x110000 else match[0]
