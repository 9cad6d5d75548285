"""How the pages of the samples look: typefaces, running heads and feet, page labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_LEFT
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate

HEADING = colors.HexColor("#16425b")
INK = colors.HexColor("#1d2733")
RULE = colors.HexColor("#8793a1")
SHADE = colors.HexColor("#eef1f4")


@dataclass(frozen=True)
class Source:
    """One text with its header."""

    head: dict[str, str]
    body: str

    @classmethod
    def read(cls, path: Path) -> Source:
        """Split a source file into its header and its body."""
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        pairs = (line.split(": ", 1) for line in head.strip().splitlines())
        return cls({key: value.strip() for key, value in pairs}, body)

    @property
    def japanese(self) -> bool:
        """Whether the text needs the Japanese font and line breaking."""
        return self.head["language"] == "ja"


@dataclass
class Styles:
    """The typefaces and paragraph styles of one document."""

    source: Source
    made: dict[str, ParagraphStyle] = field(default_factory=dict)

    def __post_init__(self) -> None:
        japanese = self.source.japanese
        self.indent = 38 if japanese else 20
        self.text_font = "Japanese" if japanese else "Times-Roman"
        self.head_font = "Japanese" if japanese else "Helvetica-Bold"
        self.foot_font = "Japanese" if japanese else "Helvetica"
        size = float(self.source.head.get("size", 10.5))
        self.big = float(self.source.head.get("h1", 17))
        align = TA_LEFT if self.source.head.get("align") == "left" else TA_JUSTIFY
        self.base: dict[str, Any] = {
            "fontName": self.text_font,
            "fontSize": size,
            "leading": size * (1.6 if japanese else 1.43),
            "textColor": INK,
            "wordWrap": "CJK" if japanese else None,
            "alignment": TA_LEFT if japanese else align,
            "spaceAfter": 7,
            "bulletFontName": self.text_font,
            "bulletFontSize": size,
        }

    def __getitem__(self, name: str) -> ParagraphStyle:
        if name not in self.made:
            self.made[name] = ParagraphStyle(name, **(self.base | self._own()[name]))
        return self.made[name]

    def _own(self) -> dict[str, dict[str, Any]]:
        """Give what each style changes of the base."""
        font = {"fontName": self.head_font}
        head = font | {"alignment": TA_LEFT, "keepWithNext": 1, "textColor": HEADING}
        title = font | {"alignment": TA_CENTER, "spaceAfter": 14}
        small = {"fontSize": 9, "leading": 12.5, "spaceAfter": 0, "alignment": TA_LEFT}
        big = {"fontSize": self.big, "leading": self.big + 5}
        return {
            "text": {},
            "cell": small,
            "head-cell": small | font,
            "caption": head | {"fontSize": 9, "leading": 13, "spaceBefore": 4},
            "h1": head | big | {"spaceBefore": 12, "spaceAfter": 9},
            "h2": head | {"fontSize": 12, "leading": 16, "spaceBefore": 8, "spaceAfter": 5},
            "t1": title | {"fontSize": 15, "leading": 20},
            "t2": title | {"fontSize": 22, "leading": 28},
            "t3": title | {"fontSize": 12, "leading": 17, "fontName": self.foot_font},
            "item": {"leftIndent": self.indent, "bulletIndent": 2, "spaceAfter": 5},
        }


def label_of(page: int, sections: dict[int, str]) -> str:
    """Give the printed label of a physical page; `sections` maps first pages to label styles."""
    first = max((start for start in sections if start <= page), default=page)
    if first not in sections:
        return ""
    style, number = sections[first], page - first + 1
    if style == "r":
        return ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")[number]
    return str(number) if style in ("D", "none") else f"{style}{number}"


class Book(BaseDocTemplate):
    """A document with running heads, page labels and a table of contents."""

    def __init__(self, path: Path, source: Source, styles: Styles) -> None:
        width, height = (float(side) * mm for side in source.head["page"].split())
        head = source.head
        super().__init__(
            str(path),
            pagesize=(width, height),
            title=head["title"],
            author=head["author"],
            subject=head["subject"],
            lang=head["language"],
            invariant=1,
        )
        self.source, self.styles = source, styles
        self.sections = {1: head["labels"]}
        self.cover = "@cover" in source.body
        margin = 18 * mm
        frame = Frame(margin, 20 * mm, width - 2 * margin, height - 41 * mm, 0, 0, 0, 0)
        self.addPageTemplates(
            PageTemplate("page", [frame], onPage=self._head, onPageEnd=self._foot)
        )

    def label(self, page: int) -> str:
        """Give the printed label of a physical page."""
        return label_of(page, self.sections)

    def handle_start_labels(self, style: str) -> None:
        """Let the labels start again on the next page."""
        self.sections[self.page + 1] = style

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 - reportlab's hook
        """Put headings into the table of contents and the outline."""
        name = getattr(getattr(flowable, "style", None), "name", "")
        if name not in ("h1", "h2"):
            return
        text, level = flowable.getPlainText(), int(name == "h2")
        key = f"{self.page}-{text}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(text, key, level, closed=True)
        if level == 0:
            self.notify("TOCEntry", (0, escape(text), self.page, key))

    def _head(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        if self.page in self.sections and self.sections[self.page] != "none":
            style = self.sections[self.page]
            kind = {"r": "ROMAN_LOWER", "D": "ARABIC"}.get(style, "ARABIC")
            prefix = None if style in "rD" else style
            canvas.addPageLabel(self.page - 1, kind, 1, prefix)
        if self.cover and self.page == 1:
            return
        left, right = self.source.head["head"].split(" | ")
        width, height = self.pagesize
        top = height - 13 * mm
        canvas.setFont(self.styles.foot_font, 8)
        canvas.setFillColor(INK)
        canvas.drawString(18 * mm, top, left)
        canvas.drawRightString(width - 18 * mm, top, right)
        canvas.setStrokeColor(RULE)
        canvas.line(18 * mm, top - 4, width - 18 * mm, top - 4)

    def _foot(self, canvas: Canvas, _: BaseDocTemplate) -> None:
        if self.cover and self.page == 1:
            return
        canvas.setFont(self.styles.foot_font, 8)
        canvas.setFillColor(INK)
        text = self.source.head["foot"].format(label=self.label(self.page))
        canvas.drawCentredString(self.pagesize[0] / 2, 11 * mm, text)
