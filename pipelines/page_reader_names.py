"""Names of the readers of a page, as they are stored with a file.

Without the readers themselves: a question to an index reads no PDF, and imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

STAND_IN = "pypdfium2 with a stand-in font"
# In the order in which they are asked, the first reader of the file left out.
PAGE_READER_NAMES = ("pypdfium2", STAND_IN, "pypdf")


def by_reader(names: Iterable[str]) -> dict[str, list[int]]:
    """Return the numbers of the pages that another reader than the first one read, from 1."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names, start=1):
        if name:
            found.setdefault(name, []).append(number)
    return found


def stored_readers(value: object, pages: int) -> dict[str, tuple[int, ...]]:
    """Return the same, as an index stores it; in a user's Document it may be anything."""
    given = value if isinstance(value, Mapping) else {}
    found = {}
    for name in PAGE_READER_NAMES:
        listed = given.get(name)
        numbers = listed if isinstance(listed, (list, tuple)) else ()
        known = {one for one in numbers if type(one) is int and 0 < one <= pages}
        if known:
            found[name] = tuple(sorted(known))
    return found
