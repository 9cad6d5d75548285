"""Makes the sample PDFs of this folder from the texts in `sources/`.

    python data/make_samples.py [--out FOLDER] [--only NAME] [--font FILE]

The texts are written in a small dialect of Markdown: a header of `key: value` lines between `---`,
then `#` headings, paragraphs, `-` and `1.` lists and `|` tables. Besides:

    ! !! !!!        lines of a title page, from small to large to small
    @page           a new page
    @labels STYLE   a new page, from which page labels start again: `r` is i, ii; `D` is 1, 2;
                    `none` gives the file no labels;
                    anything else is a prefix before 1, 2 ("A-" is A-1, A-2)
    @contents TITLE a table of contents
    @widths 50 25 … the widths of the next table's columns, in per cent
    ^ TEXT          the caption of the next table
    ‖               the page ends here, in the middle of a paragraph

Equal sources give equal bytes: dates and ids are fixed (`invariant`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Annotated

import typer
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_LEFT
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    ActionFlowable,
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)
from reportlab.platypus.tableofcontents import TableOfContents

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
FONT = Path("/usr/share/fonts/opentype/ipaexfont-gothic/ipaexg.ttf")
BREAK = "‖"
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
        self.base = {
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
            head = {"fontName": self.head_font, "alignment": TA_LEFT, "keepWithNext": 1}
            head["textColor"] = HEADING
            centre = {"fontName": self.head_font, "alignment": TA_CENTER, "spaceAfter": 14}
            small = {"fontSize": 9, "leading": 12.5, "spaceAfter": 0, "alignment": TA_LEFT}
            own = {
                "text": {},
                "cell": small,
                "head-cell": small | {"fontName": self.head_font},
                "caption": head | {"fontSize": 9, "leading": 13, "spaceBefore": 4},
                "h1": head
                | {
                    "fontSize": self.big,
                    "leading": self.big + 5,
                    "spaceBefore": 12,
                    "spaceAfter": 9,
                },
                "h2": head | {"fontSize": 12, "leading": 16, "spaceBefore": 8, "spaceAfter": 5},
                "t1": centre | {"fontSize": 15, "leading": 20},
                "t2": centre | {"fontSize": 22, "leading": 28},
                "t3": centre | {"fontSize": 12, "leading": 17, "fontName": self.foot_font},
                "item": {"leftIndent": self.indent, "bulletIndent": 2, "spaceAfter": 5},
            }[name]
            self.made[name] = ParagraphStyle(name, **(self.base | own))
        return self.made[name]


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


class StartLabels(ActionFlowable):
    """Says that the labels start again on the next page."""

    def __init__(self, style: str) -> None:
        super().__init__(("start_labels", style))


def inline(text: str) -> str:
    """Turn **bold** and *italic* into reportlab's tags."""
    marked = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    return re.sub(r"(?<!\w)\*(\S.*?)\*(?!\w)", r"<i>\1</i>", marked)


class Builder:
    """Turns a body into flowables, block by block."""

    def __init__(self, book: Book) -> None:
        self.book, self.styles = book, book.styles
        self.width = book.pagesize[0] - 36 * mm
        self.widths: list[float] = []
        self.caption = ""

    def build(self) -> list[Flowable]:
        """Build the whole body."""
        story: list[Flowable] = []
        for block in re.split(r"\n(?=[@^!#]|\d+\. |- |\n)", self.book.source.body):
            if block.strip():
                story += self.block(block.strip())
        return story

    def block(self, text: str) -> list[Flowable]:
        """Build one block: what its first characters say, else a paragraph."""
        word, _, rest = text.partition(" ")
        if word.startswith("@"):
            return self.directive(word, rest)
        if word == "^":
            caption, _, table = rest.partition("\n")
            self.caption = caption
            return self.table(table) if table else []
        if text.startswith("|"):
            return self.table(text)
        if word in ("#", "##"):
            need = 0 if word == "#" else 70
            heading = Paragraph(inline(rest), self.styles["h1" if word == "#" else "h2"])
            return [CondPageBreak(need), heading] if need else [heading]
        if word in ("!", "!!", "!!!"):
            gap = Spacer(0, 40) if self.book.cover else Spacer(0, 6)
            return [gap, Paragraph(inline(rest), self.styles[f"t{len(word)}"])]
        if re.fullmatch(r"-|\d+\.|（\d+）", word):
            return self.paragraph(rest, "item", "•" if word == "-" else word)
        return self.paragraph(text, "text")

    def directive(self, word: str, rest: str) -> list[Flowable]:
        """Obey one `@` line."""
        if word == "@widths":
            numbers, _, table = rest.partition("\n")
            self.widths = [float(number) / 100 for number in numbers.split()]
            return self.table(table) if table else []
        if word == "@labels":
            return [StartLabels(rest.strip()), PageBreak()]
        if word == "@contents":
            return [Paragraph(rest, self.styles["t2"]), self.contents()]
        return [PageBreak()] if word == "@page" else [Spacer(0, 60)]

    def contents(self) -> TableOfContents:
        """Give a table of contents that shows printed labels."""
        style = self.styles["text"].clone("contents", alignment=TA_LEFT)
        return TableOfContents(levelStyles=[style], dotsMinLevel=0, formatter=self.book.label)

    def paragraph(self, text: str, style: str, bullet: str | None = None) -> list[Flowable]:
        """Build a paragraph, with page ends where it is marked."""
        join = "" if self.book.source.japanese else " "
        parts = [join.join(part.split("\n")) for part in text.split(BREAK)]
        story: list[Flowable] = []
        for number, part in enumerate(parts):
            own = self.styles[style]
            if number < len(parts) - 1:
                own = own.clone(style, spaceAfter=0)
            story += [Paragraph(inline(part), own, bulletText=None if number else bullet)]
            story += [PageBreak()] if number < len(parts) - 1 else []
        return story

    def table(self, text: str) -> list[Flowable]:
        """Build a table from `|` rows; the second row may give the alignment."""
        rows = [line.strip()[1:-1].split("|") for line in text.split("\n")]
        rows = [[cell.strip() for cell in row] for row in rows]
        right = {number for number, cell in enumerate(rows[1]) if cell.endswith("-:")}
        widths = self.widths or [1 / len(rows[0])] * len(rows[0])
        cells = [
            [
                self.cell(cell, "head-cell" if first else "cell", n in right)
                for n, cell in enumerate(row)
            ]
            for first, row in zip([True] + [False] * len(rows), [rows[0], *rows[2:]], strict=False)
        ]
        look = [
            ("BACKGROUND", (0, 0), (-1, 0), SHADE),
            ("LINEABOVE", (0, 0), (-1, 0), 0.8, RULE),
            ("LINEBELOW", (0, 0), (-1, -1), 0.3, RULE),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 2.5),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
        ]
        table = Table(cells, [self.width * share for share in widths], style=look, repeatRows=1)
        caption = [Paragraph(inline(self.caption), self.styles["caption"])] if self.caption else []
        self.caption, self.widths = "", []
        return [*caption, table, Spacer(0, 10)]

    def cell(self, text: str, style: str, right: bool) -> Paragraph:
        """Build one cell."""
        own = self.styles[style]
        return Paragraph(inline(text), own.clone(style, alignment=2) if right else own)


def register_font(path: Path) -> None:
    """Register the Japanese font.

    Raises:
        SystemExit: The font is not there; the message says what to install.
    """
    if not path.is_file():
        raise SystemExit(
            f"{path}: no such font. On Debian: apt-get install fonts-ipaexfont-gothic;"
            " elsewhere give --font, a Japanese font with TrueType outlines."
        )
    pdfmetrics.registerFont(TTFont("Japanese", str(path)))
    pdfmetrics.registerFontFamily("Japanese", *["Japanese"] * 4)


def make(source_path: Path, out: Path, font: Path = FONT) -> Path:
    """Make one PDF from one source and return its path."""
    source = Source.read(source_path)
    if source.japanese:
        register_font(font)
    path = out / source.head["file"]
    book = Book(path, source, Styles(source))
    rl_config.useA85 = 0  # what A85 encodes is a quarter larger
    canvas = partial(Canvas, initialFontName=book.styles.text_font, pageCompression=1)
    book.multiBuild(Builder(book).build(), canvasmaker=canvas)
    return path


def main(
    out: Annotated[Path, typer.Option(help="Folder that the PDFs go into.")] = HERE,
    only: Annotated[str, typer.Option(help="Make only sources whose name contains this.")] = "",
    font: Annotated[Path, typer.Option(help="Font of the Japanese sample.")] = FONT,
) -> None:
    """Make the sample PDFs."""
    for source in sorted(SOURCES.glob("*.md")):
        if only in source.name:
            print(make(source, out, font))


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app()
