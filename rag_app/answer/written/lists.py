"""The items of a list that a language model wrote, in whatever form it wrote them."""

from __future__ import annotations

import json
import re

from pipelines.text import normalise, sanitise

MAX_ITEM_CHARACTERS = 400
_FENCE = re.compile(r"^[^\S\n]*+(?:```|~~~).*$", re.M)
_MARK = re.compile(
    r"""^\s*+(?:
        [(（\[]?[0-9０-９]{1,2}[.．:：)）\]、]\s*+  # 1.  (2)  ３．  4、
      | [-*+•·・‣–—]\s++                         # bullets
      | (?:query|question|q|クエリ|質問)\s*+(?:[0-9０-９]++\s*+)?[:：]\s*+
    )(?P<item>.*\S)\s*$""",
    re.X | re.I,
)
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_AROUND = "\"'“”‘’「」『』`*_ \t"


def parse_list(reply: str, limit: int, *, cut: bool = False) -> list[str]:
    """Return at most ``limit`` different items of a model's reply, in its order.

    Args:
        reply: as the model wrote it, without thoughts.
        limit: how many items are wanted.
        cut: whether the model was stopped in the middle: its last item is left out then.

    Numbers, bullets, quotes, fences and a preamble are left out; a JSON list is read
    as one. Where some lines are marked as items, only they count.
    Nothing usable gives an empty list.
    """
    text = _FENCE.sub("", sanitise(reply))
    found = _json_items(text) or (_cut_json_items(text) if cut else [])
    items: dict[str, str] = {}
    for raw in found or _line_items(_whole_lines(text) if cut else text):
        item = " ".join(sanitise(raw).split()).strip(_AROUND)
        # Without a letter or digit it is no sentence; a very long one is an essay.
        if any(map(str.isalnum, item)) and len(item) <= MAX_ITEM_CHARACTERS:
            items.setdefault(normalise(item), item)
    return list(items.values())[: max(limit, 0)]


def _json_items(text: str) -> list[str]:
    start, end = text.find("["), text.rfind("]")
    if start < 0 or end < start:
        return []
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return []
    return [item for item in found if isinstance(item, str)]


def _cut_json_items(text: str) -> list[str]:
    """Return the strings of a JSON list that were written to their closing quote."""
    _, opened, rest = text.partition("[")
    written = _JSON_STRING.findall(rest) if opened and rest.lstrip().startswith('"') else []
    return [json.loads(string, strict=False) for string in written]


def _whole_lines(text: str) -> str:
    """Return the lines before the last one, which ends in the middle."""
    return text[: max(text.rfind("\n"), 0)]


def _line_items(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [match["item"] for match in map(_MARK.match, lines) if match]
    return marked or [line for line in lines if not _is_preamble(line)]


def _is_preamble(line: str) -> bool:
    return line.rstrip(_AROUND).endswith((":", "："))
