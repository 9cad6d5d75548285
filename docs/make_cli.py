"""Write docs/cli.md: the help page of every command, as the program prints it."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from rag_app.cli.app import run

PAGE = Path(__file__).parent / "cli.md"
COMMANDS = (
    "",
    "ingest",
    "ask",
    "search",
    "explain",
    "info",
    "repair",
    "remove",
    "merge",
    "eval",
    "trust",
    "cache",
)
CACHE = ("cache info", "cache clear")
HEAD = """# The command line

Made by `python docs/make_cli.py`; a test compares it with the program.

`rag` and `python -m rag_app` are the same. Results go to stdout, everything else (notes,
warnings, progress, errors) to stderr. With `--json` stdout holds JSON only: see
[json.md](json.md).

| exit code | meaning |
|---|---|
| 0 | done; for `ask`: answered |
| 1 | an error: one line on stderr says what, which file, and what to do |
| 2 | wrong usage: options that do not exist or do not go together |
| 3 | `ask`: not answered: the documents do not say (the closest passages are shown) |
| 130 | interrupted by Ctrl-C; what was finished is kept (a second Ctrl-C ends at once) |
| 143, 129 | the same by SIGTERM, or because the terminal was closed (SIGHUP) |
| 141 | whoever read stdout has gone (`rag search … \\| head -1`) |

Every option can be set for good in `rag.toml` or by an environment variable; the key of a
server is never an option, so that no list of processes shows it: `RAG_LLM_API_KEY` for the
language model, `RAG_EMBED_API_KEY` for the embedding model, `RAG_RERANK_API_KEY` for the
reranker, or `OPENAI_API_KEY` for `--llm openai:…` and `--embed-model openai:…`,
`COHERE_API_KEY` and `JINA_API_KEY` for rerankers of theirs. `--verbose`, or
`RAG_LOG_LEVEL=debug`, shows the traceback of an error.

A `rag.toml` that is only found in the working folder may have come with the documents. It
may set how documents are cut and searched (`reader`, `parent_size`, `child_sizes`, `window`,
`strategy`, `similarity_top_k`, `prefer_documents`, `prefer_tables`, `rerank_fused`, presets
without `rerank` and `glossary`) and
nothing else: no model, no address, no key, no file or folder. What is ignored is said on
stderr. It may set everything after `rag trust`, as long as its content stays the same, or
with `--config rag.toml`. The
`rag.toml` in your own config folder may set everything, and is read below the found one.
"""


def page() -> str:
    """Return the whole page."""
    return HEAD + "".join(_section(command) for command in (*COMMANDS, *CACHE))


def _section(command: str) -> str:
    return f"\n## rag {command}\n".replace(" \n", "\n") + f"\n```\n{_help(command)}\n```\n"


def _help(command: str) -> str:
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        with contextlib.redirect_stdout(io.StringIO()) as written:
            run([*command.split(), "--help"])
    finally:
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns
    return written.getvalue().strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
