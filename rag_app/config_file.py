"""Settings files: reading them, and a record of those in working folders that are trusted.

A file that is named explicitly, or lies in the user's own config folder, may set
anything. One in the working folder may have come with the documents: it is trusted
when the user confirmed exactly these bytes at exactly this path.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.errors import ConfigError
from pipelines.regular_files import read_whole

CONFIG_NAME = "rag.toml"
TRUST_NAME = "trusted.json"
MAX_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class ConfigFile:
    """A settings file.

    Attributes:
        path: as it was named or found.
        values: its settings, by name; relative paths start at its folder.
        sha256: of the bytes that were parsed, in hex.
    """

    path: Path
    values: dict[str, Any]
    sha256: str


def read_config(path: Path, path_fields: Collection[str] = ()) -> ConfigFile:
    """Read a settings file.

    Args:
        path: the file.
        path_fields: settings that are paths.

    Raises:
        ConfigError: it cannot be read, is too large, or is not TOML.
    """
    data = read_whole(path, "the config file", MAX_CONFIG_BYTES)
    try:
        values = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        # The message of a RecursionError is about Python, not about the file.
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(
            f"the config file {path} cannot be read: {reason}", hint="it must be TOML in UTF-8"
        ) from error
    for field in path_fields:
        if isinstance(values.get(field), str):
            values[field] = path.parent.absolute() / _home_expanded(path, field, values[field])
    model = values.get("embed_model")
    if isinstance(model, str) and model.startswith(("./", "../")):
        values["embed_model"] = str(path.parent.absolute() / model)
    presets = values.get("presets")
    for group in (values, *(presets.values() if isinstance(presets, dict) else ())):
        given = group.get("glossary") if isinstance(group, dict) else None
        names = [given] if isinstance(given, str) else given
        if isinstance(names, list):
            group["glossary"] = [_beside(path, name) for name in names]
    return ConfigFile(path, values, hashlib.sha256(data).hexdigest())


def is_glossary_file(name: str) -> bool:
    """Tell whether the name of a glossary names a file, and not one that this program has."""
    return "/" in name or name.casefold().endswith(".json")


def _beside(path: Path, name: object) -> object:
    """Return the name of a glossary; a file is looked for in the folder of a settings file."""
    if not isinstance(name, str) or not is_glossary_file(name):
        return name
    return str(path.parent.absolute() / _home_expanded(path, "glossary", name))


def _home_expanded(path: Path, field: str, value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{path}: {field} = {value!r}: {error}") from None


class TrustRecord:
    """The settings files that the user trusts, recorded in the user's config folder.

    Args:
        folder: the user's config folder; it is made when the first file is trusted.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TRUST_NAME

    def holds(self, file: ConfigFile) -> bool:
        """Tell whether the file is trusted, at its path and with its present content."""
        try:
            return self._entries().get(_place(file.path)) == file.sha256
        except ConfigError:
            return False  # An unreadable record trusts no file.

    def knows(self, path: Path) -> bool:
        """Tell whether the file at this path is trusted with some content."""
        try:
            return _place(path) in self._entries()
        except ConfigError:
            return False

    def add(self, file: ConfigFile) -> None:
        """Trust the file as it was read.

        Raises:
            ConfigError: the record cannot be read or written.
        """
        self._write(self._entries() | {_place(file.path): file.sha256})

    def forget(self, path: Path) -> bool:
        """Remove the file at this path from the record; return whether it was trusted.

        Raises:
            ConfigError: the record cannot be read or written.
        """
        entries = self._entries()
        if entries.pop(_place(path), None) is None:
            return False
        self._write(entries)
        return True

    def _entries(self) -> dict[str, str]:
        try:
            entries = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"the record of trusted files {self.path} cannot be read: {error}",
                hint="remove it, and trust the files again",
            ) from error
        if not isinstance(entries, dict):
            raise ConfigError(
                f"the record of trusted files {self.path} holds no table",
                hint="remove it, and trust the files again",
            )
        return entries

    def _write(self, entries: dict[str, str]) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.path.parent)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                json.dump(entries, file, indent=1)
            Path(temporary).replace(self.path)
        except OSError as error:
            raise ConfigError(
                f"the record of trusted files {self.path} cannot be written: {error.strerror}"
            ) from error


def _place(path: Path) -> str:
    # ASCII, also of a name that is not UTF-8: JSON escapes the rest.
    return str(path.absolute().parent.resolve() / path.name)
