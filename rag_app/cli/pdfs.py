"""PDFs named beside the question, as a command asks them: notes, warnings, passwords."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipelines.file_names import printable
from rag_app.cached.indexes import Notices, UnreadPdf
from rag_app.cached.pdfs import open_pdfs
from rag_app.cli.passwords import MAX_PROMPTS, ask_password
from rag_app.cli.session import Session, describe
from rag_app.cli.sources import Source


@contextmanager
def cached_pdfs(paths: Sequence[Path], current: Session) -> Iterator[Source]:
    """Open the cached index of these PDFs, made now where there is none.

    A file that cannot be read is named on stderr, and the others are asked.

    Raises:
        ReadError: none of the files could be read.
    """
    out = current.out

    def complain(unread: UnreadPdf) -> None:
        out.complain(f"warning: {describe(unread.error)['message']}: it was left out")

    def prompt(files: Sequence[Path], tried: int) -> str | None:
        if tried == MAX_PROMPTS:
            return None
        return ask_password(out, list(map(printable, files)), again=tried > 0)

    notices = Notices(out.note, out.note, complain)
    with open_pdfs(paths, current.settings, notices=notices, ask_password=prompt) as opened:
        failed = tuple(one for unread in opened.unread for one in _described(unread))
        yield Source(opened.index, (opened.index,), failed)


def _described(unread: UnreadPdf) -> Iterator[dict[str, str]]:
    about = describe(unread.error)
    yield from ({"file": str(path)} | about for path in unread.paths)
