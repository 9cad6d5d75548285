"""A fake embedding model that knows English and Japanese: a word and its translation are one.

For what a multilingual model makes possible (a Japanese question finds an English
passage), without one: Japanese words of a small dictionary become English words,
then each word is a fixed direction, as in ``HashEmbedding``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.embedding import HashEmbedding, hash_vector

DICTIONARY = {
    "首都": "capital",
    "東京": "tokyo",
    "日本": "japan",
    "保証期間": "warranty period",
    "保証": "warranty",
    "期間": "period",
    "納期": "lead time",
    "部品": "part",
    "売上高": "net sales",
    "売上": "sales",
    "工場": "factory",
    "従業員": "employees",
    "返品": "return",
    "送料": "shipping",
    "年": "year",
    "月": "month",
    "日": "day",
    "何": "what",
    "誰": "who",
    "いつ": "when",
    "どこ": "where",
    "温度": "temperature",
    "圧力": "pressure",
    "点検": "inspection",
    "交換": "replacement",
    "電池": "battery",
    "説明書": "manual",
    "安全": "safety",
    "責任者": "manager",
    "予算": "budget",
}
_LONGEST = max(map(len, DICTIONARY))


def translate(text: str) -> str:
    """Return the text with the dictionary's Japanese words in English, the longest first."""
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        for length in range(min(_LONGEST, len(text) - start), 0, -1):
            word = DICTIONARY.get(text[start : start + length])
            if word is not None:
                yield f" {word} "
                start += length
                break
        else:
            yield text[start]
            start += 1


class BilingualEmbedding(HashEmbedding):
    """``HashEmbedding`` to which a Japanese word of the dictionary is its English one."""

    model_name: str = "bilingual"
    scripts: tuple[str, ...] = ("latin", "cjk")

    def _get_query_embedding(self, query: str) -> list[float]:
        return hash_vector(translate(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return super()._get_text_embedding(translate(text))
