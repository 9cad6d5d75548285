"""What a reader wrote on a page: values of form fields, notes, comments, stamps.

PDFium's text of a page is what the page itself draws: what was filled in or added later lies
beside it. Links and pop-ups (which repeat the note that they belong to) say nothing of their
own; hidden annotations and passwords are left out.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any

from pipelines.cleaning import sanitise

MAX_ANNOTATIONS = 2000  # of one page that are looked at
MAX_VALUE_CHARACTERS = 10_000  # a longer one is cut
MAX_PAGE_CHARACTERS = 100_000
MAX_OPTIONS = 1000  # of one list
_MAX_VALUE_BYTES = 4_000_000  # a longer one is left out
# Annotation flags (PDF 32000-1, 12.5.3) and a flag of text fields (12.7.4.3).
_HIDDEN, _NO_VIEW, _PASSWORD = 1 << 1, 1 << 5, 1 << 13
# A text at least so long that the page draws too is not said twice; shorter ones may well be
# on it for another reason.
_MIN_REPEATED_CHARACTERS = 16
# Names that programs give to the state of a checked box.
_JUST_CHECKED = re.compile(r"(?i)(?:on|yes|true|checked|selected|\d{1,3})\Z")
_PLACE_IN_FORM = re.compile(r"\[\d{1,9}\]\Z")
_NAME_OF_NOTHING = re.compile(r"(?i)(?:text|textfield|field|undefined|f\d*|c\d*)?[\W_\d]*\Z")


def added_to(page: Any) -> str:
    """Return what was filled in and added to a page, each on a line.

    Args:
        page: as pypdfium2 has it; values of fields need the forms of its document.
    """
    import pypdfium2.raw as pdfium

    if pdfium.FPDFPage_GetAnnotCount(page) < 1:
        return ""
    lines: dict[str, None] = {}
    left = MAX_PAGE_CHARACTERS
    for line in filter(None, _lines(page)):
        left -= len(line)
        if left < 0:
            break
        lines[line] = None
    return "\n".join(lines)


def with_added(text: str, added: str) -> str:
    """Return a page's text with what was added at its end, unless the page says it too.

    Args:
        text: what the page itself draws, or OCR sees on it.
        added: by lines.
    """
    if not added:
        return text
    drawn = _squeezed(text)
    lines = [line for line in added.split("\n") if not _is_repeated(_squeezed(line), drawn)]
    return "\n\n".join(filter(None, (text.rstrip(), "\n".join(lines)))) if lines else text


def _is_repeated(line: str, drawn: str) -> bool:
    return len(line) >= _MIN_REPEATED_CHARACTERS and line in drawn


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _lines(page: Any) -> Iterator[str]:
    """Yield what each annotation says, in their order; ``""`` where it says nothing."""
    import pypdfium2.raw as pdfium

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if not pdfium.FPDFAnnot_GetFlags(annotation) & (_HIDDEN | _NO_VIEW):
                yield _said(page, annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _said(page: Any, annotation: Any) -> str:
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
        return ""
    if kind != pdfium.FPDF_ANNOT_WIDGET:
        return _text(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
    form = page.pdf.formenv
    return _field(form, annotation) if form else ""


def _field(form: Any, annotation: Any) -> str:
    """Return the value of a form field, with what the field is called."""
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    value = ""
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        # Its state; what PDFium itself tells needs a page that was drawn.
        value = _text(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS")
        value = "" if value == "Off" else _JUST_CHECKED.sub("checked", value)
    elif kind in (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        chosen = ", ".join(_chosen(form, annotation))
        value = chosen or _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    elif kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and not _is_password(form, annotation):
        value = _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    if not any(map(str.isalnum, value)):
        return ""
    name = _name(form, annotation)
    return f"{name}: {value}" if name else value


def _is_password(form: Any, annotation: Any) -> bool:
    import pypdfium2.raw as pdfium

    return bool(pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD)


def _chosen(form: Any, annotation: Any) -> Iterator[str]:
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFAnnot_GetOptionCount(form, annotation)
    for index in range(min(count, MAX_OPTIONS)):
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, index):
            yield _text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, index)


def _name(form: Any, annotation: Any) -> str:
    """Return what people are told that the field is; else its name, where that is a word."""
    import pypdfium2.raw as pdfium

    told = _text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    if told:
        return told.rstrip(" :：")
    name = _text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    own = _PLACE_IN_FORM.sub("", name.rpartition(".")[2])
    return "" if _NAME_OF_NOTHING.match(own) else " ".join(own.replace("_", " ").split())


def _text(get: Callable[..., int], *of: Any) -> str:
    """Return a text that PDFium writes into a buffer, on one line, sanitised and cut."""
    import pypdfium2.raw as pdfium

    size = get(*of, None, 0)
    if not 2 < size <= _MAX_VALUE_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(*of, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    text = buffer.raw[: size - 2].decode("utf-16-le", "replace")
    return " ".join(sanitise(text).split())[:MAX_VALUE_CHARACTERS]
