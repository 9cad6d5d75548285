"""The sources of the last answer, kept in the user's cache for ``rag show``.

Names, pages and quotes; no question, no key, no password. For the user alone (mode 0600).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import ConfigError, ReadError
from pipelines.regular_files import open_regular

if TYPE_CHECKING:
    from rag_app.answer.response import Citation

_FILE = "last-answer.json"
_MAX_BYTES = 4_000_000


def remember(cache: Path, answer: Mapping[str, Any]) -> None:
    """Keep the citations of an answer, or the closest passages; a cache that cannot be is none."""
    sources = answer["citations"] or answer["closest"]
    kept = [
        {
            **{key: one[key] for key in ("file", "page", "pages", "read_by", "content_hash")},
            "path": str(Path(one["path"]).absolute()) if one["path"] else "",
            "quotes": [{key: q[key] for key in ("text", "pages")} for q in one["quotes"]],
        }
        for one in sources
    ]
    draft = cache / f"{_FILE}.{secrets.token_hex(8)}.new"
    with contextlib.suppress(OSError):
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                json.dump(kept, file, ensure_ascii=False)
            draft.replace(cache / _FILE)
        finally:
            draft.unlink(missing_ok=True)


def recall(cache: Path) -> Sequence[Citation]:
    """Return what was kept of the last answer, numbered as it was shown.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    from rag_app.answer.response import Citation, Quote

    try:
        with open_regular(cache / _FILE) as file:  # opening a pipe would wait for a writer
            kept = json.loads(file.read(_MAX_BYTES))
        return [
            Citation(
                number=number,
                origin="",
                file=str(one["file"]),
                path=str(one["path"]),
                page=one["page"] if one["page"] is None else int(one["page"]),
                page_label=None,
                pages=[int(page) for page in one["pages"]],
                quotes=[
                    Quote(str(q["text"]), None, None, [int(page) for page in q["pages"]], False)
                    for q in one["quotes"]
                ],
                read_by="ocr" if one["read_by"] == "ocr" else "text",
                content_hash=str(one["content_hash"]),
            )
            for number, one in enumerate(kept, start=1)
        ]
    except (OSError, ReadError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(
            "there is no last answer to show", hint='ask first: rag ask "…" report.pdf'
        ) from error


def source_of(cache: Path, number: int) -> Citation:
    """Return one source of the last answer.

    Raises:
        ConfigError: there is no last answer, or it has no source of this number.
    """
    sources = recall(cache)
    if not 0 < number <= len(sources):
        count = len(sources)
        known = f"it has {count}" if count else "it has none"
        raise ConfigError(f"the last answer has no source {number}: {known}")
    return sources[number - 1]
