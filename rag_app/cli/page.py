"""``rag show``: the page that a source of the last answer stands on, with its quotes marked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.file_names import printable
from rag_app import bounds
from rag_app.cli import options
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import session

if TYPE_CHECKING:
    from rag_app.answer.response import Citation

EXAMPLES = examples("rag show 1", "rag show 2 --output page.png --scale 3")


@with_groups
def show_page(
    number: Annotated[
        int,
        typer.Argument(
            metavar="N",
            parser=options.number_in(bounds.PASSAGES),
            help="The number of the source, as the last answer gave it.",
            show_default=False,
        ),
    ] = 1,
    page: Annotated[
        int | None,
        typer.Option(
            "--page",
            metavar="N",
            parser=options.number_in(bounds.PAGES),
            help="Another page of the file than that of the best quote.",
            rich_help_panel="Picture",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=options.a_path,
            help="Where the PNG is written; without this, a new file in the working folder.",
            rich_help_panel="Picture",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        float,
        typer.Option(
            "--scale",
            metavar="X",
            parser=options.number_in(bounds.SCALE),
            help="Pixels per point (1/72 inch); 2 without this.",
            rich_help_panel="Picture",
            show_default=False,
        ),
    ] = 2.0,
    password: options.Password = None,
    *,
    output: OutputOptions,
) -> None:
    """Draw the page of a source of the last answer, its quotes marked, as a PNG file.

    The page is drawn from the file as it is now; where that is another one than was
    read, or is gone, this is said.
    """
    with session(**asdict(output), pdf_password=password) as current:
        from rag_app.answer.shown_pages import CHANGED
        from rag_app.cli.last_answer import source_of

        source = source_of(current.settings.cache_dir, number)
        secret = current.settings.pdf_password
        words = secret.get_secret_value() if secret is not None else None
        image = source.page_image(scale, page=page, password=words)
        if out is None:
            place = image.save_as_new(Path(), f"{_stem(source)}-page-{image.page}")
        else:
            place = image.save(out)
        if current.out.json:
            current.out.document(_document(source, image, place, words))
            return
        current.out.text(f"{printable(place)}: {image.file}, page {image.page}")
        if image.changed:
            current.out.complain(f"note: {CHANGED}")
        elif not image.marked and source.quotes:
            current.out.complain("note: no quote of this source was found on the page")


def _stem(source: Citation) -> str:
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in Path(source.file).stem)
    return kept.lstrip(".")[:100] or "source"


def _document(source: Citation, image: Any, place: Path, password: str | None) -> dict[str, Any]:
    table = None if image.changed else source.find_table(password=password)
    return {
        "image": str(place),
        "file": image.file,
        "page": image.page,
        "width": image.width,
        "height": image.height,
        "marked": image.marked,
        "changed": image.changed,
        "rectangles": [
            [asdict(one) for one in quote] for quote in source.find_rectangles(password=password)
        ],
        "table": table.to_dict() if table is not None else None,
    }
