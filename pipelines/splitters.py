"""Any LlamaIndex splitter as a source of exact spans."""

from __future__ import annotations

from llama_index.core.schema import Document, MetadataMode, TransformComponent

from pipelines.errors import ConfigError
from pipelines.splitting import Span, trim


def splitter_spans(splitter: TransformComponent, text: str, within: Span) -> list[Span]:
    """Return the spans of what a splitter makes of a part of a text.

    Its own offsets are not used: they are wrong for repeated text, and absent
    when splitters are chained. Each chunk is looked for from the start of the
    one before.

    Raises:
        ConfigError: a chunk is not verbatim in the text.
    """
    offset, end = within
    part = text[offset:end]
    spans: list[Span] = []
    earliest = 0
    apart = getattr(splitter, "chunk_overlap", None) == 0
    for node in splitter([Document(text=part)]):
        chunk = node.get_content(metadata_mode=MetadataMode.NONE).strip()
        if not chunk:
            continue
        at = part.find(chunk, earliest)
        at = part.find(chunk) if at < 0 else at
        if at < 0:
            raise ConfigError(
                f"{type(splitter).__name__} changes the text: "
                f"{chunk[:60]!r} is not in the document as it stands",
                hint="use a splitter that only cuts, such as SentenceSplitter",
            )
        earliest = at + (len(chunk) if apart else 1)
        start, stop = trim(text, offset + at, offset + at + len(chunk))
        spans.append((start, stop))
    # A hierarchical splitter gives one span at several levels.
    return list(dict.fromkeys(spans))
