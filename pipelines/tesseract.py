"""Tesseract as the engine of text recognition, through ``tesserocr``. Needs the extra ``ocr``.

Only the process that reads PDFs loads it (``pipelines.worker``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError
from pipelines.layout import Box
from pipelines.ocr import INSTALL, ORIENTATION, Ocr
from pipelines.pictures import Picture
from pipelines.recognition import WIDE_LANGUAGES, SeenWord, has_wide

_MIN_ORIENTATION_CONFIDENCE = 1.0
# Black is what is darker than its surroundings (Sauvola): one threshold for a whole page loses
# what lies in a shadow; words right on pages lit unevenly: .13 to .73 with it, .97 to 1 so.
_VARIABLES = {"thresholding_method": "2"}
# With Tesseract's own .34 and .33, noise in wide tables is taken for text: words right on 20
# pages of reports .965, .983 so. Characters of Japanese lose by it: .989, .975.
_LATIN_VARIABLES = {"thresholding_kfactor": "0.45", "thresholding_window_size": "0.15"}
_REPAIR = f"{INSTALL} --force-reinstall; or without OCR: --no-ocr"
_MIN_DPI = 70  # below it Tesseract takes the picture for one of unknown resolution


class Tesseract:
    """Reads pictures of text; one thread at a time.

    Args:
        ocr: languages, and where their weights lie.

    Raises:
        ConfigError: the engine does not load; by each method, where weights cannot be loaded.
    """

    def __init__(self, ocr: Ocr) -> None:
        try:
            import tesserocr
        except ImportError as error:
            raise ConfigError(
                f"the engine of text recognition does not load: {error}", hint=_REPAIR
            ) from error
        self._names = tesserocr
        self._folder = ocr.folder
        self.languages = ocr.languages
        self._engines: dict[str, Any] = {}

    def words(self, picture: Picture, language: str, seconds: float) -> list[SeenWord]:
        """Return the words of a picture in reading order; none where it takes too long."""
        engine = self._engine(language, self._names.PSM.AUTO)
        _show(engine, picture)
        try:
            if not engine.Recognize(max(1, round(seconds * 1000))):
                return []
            return list(self._seen(engine.GetIterator()))
        finally:
            engine.Clear()

    def turned(self, picture: Picture) -> int:
        """Return by how much a picture is turned clockwise; 0 where that is uncertain."""
        if not Path(self._folder, f"{ORIENTATION}.traineddata").is_file():
            return 0
        engine = self._engine(ORIENTATION, self._names.PSM.OSD_ONLY)
        _show(engine, picture)
        try:
            found = engine.DetectOrientationScript()
        finally:
            engine.Clear()
        if not found or found["orient_conf"] < _MIN_ORIENTATION_CONFIDENCE:
            return 0
        return int(found["orient_deg"]) % 360

    def _engine(self, language: str, mode: Any) -> Any:
        if language not in self._engines:
            try:
                self._engines[language] = self._names.PyTessBaseAPI(
                    path=self._folder, lang=language, psm=mode
                )
            except RuntimeError as error:
                raise ConfigError(
                    f"Tesseract cannot load its weights {language} from {self._folder}",
                    hint=_REPAIR,
                ) from error
            own = {} if language.startswith(WIDE_LANGUAGES) else _LATIN_VARIABLES
            for name, value in (_VARIABLES | own).items():
                self._engines[language].SetVariable(name, value)
        return self._engines[language]

    def _seen(self, at: Any) -> Iterator[SeenWord]:
        """Yield words from an iterator of Tesseract, which goes from character to character."""
        level = self._names.RIL
        line, word, boxes = -1, None, list[Box]()
        while at is not None:
            if at.IsAtBeginningOf(level.TEXTLINE):
                line += 1
            if at.IsAtBeginningOf(level.WORD):
                if word is not None:
                    yield _word(*word, boxes)
                word, boxes = self._begun(at, line), []
            box = at.BoundingBox(level.SYMBOL)
            if box is not None:
                boxes.append(Box(*map(float, box)))
            if not at.Next(level.SYMBOL):
                break
        if word is not None:
            yield _word(*word, boxes)

    def _begun(self, at: Any, line: int) -> tuple[str, Box, float, int] | None:
        level = self._names.RIL
        box = at.BoundingBox(level.WORD)
        if box is None or at.Empty(level.WORD):
            return None
        return at.GetUTF8Text(level.WORD), Box(*box), at.Confidence(level.WORD) / 100, line


def _word(text: str, box: Box, confidence: float, line: int, characters: list[Box]) -> SeenWord:
    return SeenWord(text, box, confidence, line, tuple(characters) if has_wide(text) else ())


def _show(engine: Any, picture: Picture) -> None:
    engine.SetImageBytes(picture.data, picture.width, picture.height, 1, picture.stride)
    engine.SetSourceResolution(max(_MIN_DPI, round(picture.dpi)))
