"""``rag trust``: let a settings file that is found beside the documents set everything."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rag_app.cli import options
from rag_app.cli.groups import OutputOptions, with_groups
from rag_app.cli.help import examples
from rag_app.cli.session import session

EXAMPLES = examples("rag trust", "rag trust reports/rag.toml", "rag trust --forget")


@with_groups
def trust(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE]",
            parser=options.a_path,
            help="A settings file; ./rag.toml without this.",
            show_default=False,
        ),
    ] = Path("rag.toml"),
    forget: Annotated[
        bool, typer.Option("--forget", help="Trust it no longer.", rich_help_panel="Trust")
    ] = False,
    *,
    output: OutputOptions,
) -> None:
    """Trust a settings file that is found in the working folder.

    Otherwise it may not name a model, an address, a key, a file or a folder. Trust
    ends when the file is changed or moved; files that it names are not watched.
    """
    with session(**asdict(output), say_ignored=False) as current:
        from rag_app.settings import (
            read_settings_file,
            reserved_fields,
            shown_value,
            trust_record,
        )

        if forget:
            was_trusted = trust_record().forget(file)
            fields: dict[str, str] = {}
        else:
            read = read_settings_file(file)
            trust_record().add(read)
            was_trusted = True
            fields = {name: shown_value(name, v) for name, v in reserved_fields(read).items()}
        if current.out.json:
            current.out.document(
                {"file": str(file), "trusted": not forget, "may_now_set": sorted(fields)}
            )
        elif forget:
            state = "is trusted no longer" if was_trusted else "was not trusted"
            current.out.text(f"{file} {state}")
        else:
            current.out.text(f"{file} is trusted until it is changed or moved; it sets")
            for name, value in fields.items() or {"nothing that needs trust": ""}.items():
                current.out.text(f"{name} = {value}" if value else name, indent=2)
