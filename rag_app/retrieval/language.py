"""Which questions an embedding model understands."""

from __future__ import annotations

from functools import lru_cache

from pipelines.text import is_sentence, scripts_in

# A character of these says about as much as three letters of an alphabet: in
# "東京のGDPとCPI" the Japanese part decides.
_DENSE = {"cjk": 3, "hangul": 3}


# Each arm asks it of the same question.
@lru_cache(maxsize=64)
def knows(scripts: tuple[str, ...], text: str) -> bool:
    """Tell whether a model of these scripts understands a text.

    It does when at least half of what the text says is written in them; digits
    and signs alone are understood by every model. Names in Latin letters say nothing
    of a text that has kana or han: "Oncorhynchus ketaを日本語で？" is Japanese.
    """
    if "*" in scripts:
        return True
    weights = {
        script: letters * _DENSE.get(script, 1) for script, letters in scripts_in(text).items()
    }
    if "cjk" in weights and not is_sentence(text):
        weights.pop("latin", None)
    known = sum(weight for script, weight in weights.items() if script in scripts)
    return 2 * known >= sum(weights.values())
