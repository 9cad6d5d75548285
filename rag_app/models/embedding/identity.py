"""The identity of an embedding model, which an index records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingIdentity:
    """All that decides a vector, and the texts that the model can read.

    Attributes:
        name: the hub's name, or the model's own; never a path.
        fingerprint: sha256 of the weights (``""``: not known, e.g. behind an API).
        dimension: length of a vector, in numbers.
        query_instruction, text_instruction: put in front of what is embedded.
        scripts: scripts that the model knows; ``("*",)`` is all.
        precision: number format of the runtime; recorded, but not compared.
        max_tokens: tokens read of a text, of the model's own tokenizer; None: not known.
    """

    name: str
    fingerprint: str
    dimension: int
    query_instruction: str = ""
    text_instruction: str = ""
    scripts: tuple[str, ...] = ("*",)
    precision: str = "float32"
    max_tokens: int | None = None

    def knows(self, script: str) -> bool:
        """Tell whether text in this script may be embedded; ``none`` (digits only) may."""
        return "*" in self.scripts or script in self.scripts or script == "none"

    def same_model(self, other: EmbeddingIdentity) -> bool:
        """Tell whether vectors of both can be compared.

        The weights decide; the name only where one of them has no fingerprint. The
        instruction of passages is compared, because the stored vectors contain it;
        the precision, the instruction of queries and the length are not.
        """
        if self.fingerprint and other.fingerprint:
            same = self.fingerprint == other.fingerprint
        else:
            same = self.name == other.name
        return (
            same
            and self.dimension == other.dimension
            and self.text_instruction == other.text_instruction
        )
