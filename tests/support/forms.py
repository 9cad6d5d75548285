"""PDFs with form fields and annotations, each written as its object says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.hostile_pdfs import Objects, one_page, page, pdf

_FIRST = 10
_RECT = b"/Rect [72 500 272 520]"


def pdf_with(
    annotations: Sequence[bytes], *, content: bytes | None = None, more: Mapping[int, bytes] = {}
) -> bytes:
    """Return a page with annotations.

    Args:
        annotations: what stands in each dictionary beside its place; the first is object 10.
        content: of the page; ``None``: a plain line of text.
        more: further objects.
    """
    objects: Objects = one_page() if content is None else one_page(content)
    numbers = range(_FIRST, _FIRST + len(annotations))
    references = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[1] = b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[" + references + b"]/DR<<>>>>>>"
    objects[4] = page().removesuffix(b">>") + b"/Annots[" + references + b"]>>"
    for number, annotation in zip(numbers, annotations, strict=True):
        objects[number] = b"<</Type/Annot" + _RECT + annotation + b">>"
    return pdf(objects | dict(more))


def field(kind: bytes, name: bytes, rest: bytes) -> bytes:
    """Return a form field: ``Tx``, ``Btn``, ``Ch``."""
    return b"/Subtype/Widget/FT/%b/T(%b)%b" % (kind, name, rest)
