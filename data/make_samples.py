"""Makes the sample PDFs of this folder from the texts in `sources/`.

    python data/make_samples.py [--out FOLDER] [--only NAME] [--font FILE]

The texts are written in a small dialect of Markdown: a header of `key: value` lines between `---`,
then `#` headings, paragraphs, `-` and `1.` lists and `|` tables. Besides:

    @cover          the first page is a title page, without running head and foot
    ! !! !!!        lines of a title: above it, the title, below it
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
from functools import partial
from html import escape
from pathlib import Path
from typing import Annotated

import typer
from reportlab import rl_config
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    ActionFlowable,
    CondPageBreak,
    Flowable,
    PageBreak,
    Paragraph,
    Spacer,
    Table,
)
from reportlab.platypus.tableofcontents import TableOfContents
from sample_layout import RULE, SHADE, Book, Source, Styles

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
FONT = Path("/usr/share/fonts/opentype/ipaexfont-gothic/ipaexg.ttf")
BREAK = "‖"
TABLE_LOOK = [
    ("BACKGROUND", (0, 0), (-1, 0), SHADE),
    ("LINEABOVE", (0, 0), (-1, 0), 0.8, RULE),
    ("LINEBELOW", (0, 0), (-1, -1), 0.3, RULE),
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ("TOPPADDING", (0, 0), (-1, -1), 2.5),
    ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
]


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
        if word == "#":
            return [Paragraph(inline(rest), self.styles["h1"])]
        if word == "##":
            return [CondPageBreak(70), Paragraph(inline(rest), self.styles["h2"])]
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
        if word == "@page":
            return [PageBreak()]
        if word == "@cover":
            return [Spacer(0, 60)]
        raise ValueError(f"{word}: no such directive")

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
        styles = ["head-cell", *["cell"] * (len(rows) - 2)]
        cells = [
            [self.cell(cell, style, number in right) for number, cell in enumerate(row)]
            for style, row in zip(styles, [rows[0], *rows[2:]], strict=True)
        ]
        columns = [self.width * share for share in widths]
        table = Table(cells, columns, style=TABLE_LOOK, repeatRows=1)
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
