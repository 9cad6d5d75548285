"""A name → the folder of an embedding model on this machine, and the facts in its files.

No heavy import: only JSON files are read. The network is used only where ``download``
allows it.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipelines.errors import ModelNotFoundError
from pipelines.optional import needed
from rag_app.models.embedding.known import KnownModel, find_by_name, find_by_sha256

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SHARDS = ("*.safetensors", "pytorch_model-*.bin")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ModelFolder:
    """The files of one model, as sentence-transformers lays them out.

    Attributes:
        path: the folder.
        name: the name that the user gave.
        cache_dir: where fingerprints are remembered; None: nowhere.
    """

    path: Path
    name: str
    cache_dir: Path | None = None

    @cached_property
    def modules(self) -> list[dict[str, Any]]:
        """The modules of ``modules.json``, in order; none for a plain transformer."""
        value = self._read("modules.json")
        return [entry for entry in value if isinstance(entry, dict)] if value else []

    @property
    def body(self) -> str:
        """Where the transformer's files lie below the folder: ``""``, or ``"0_Transformer/"``."""
        path = self.modules[0].get("path") if self.modules else ""
        return f"{path}/" if path else ""

    @cached_property
    def weights(self) -> tuple[Path, ...]:
        """The files with the weights, in the order of their names."""
        folder = self.path / self.body
        for name in _WEIGHTS:
            if (folder / name).is_file():
                return (folder / name,)
        for pattern in _SHARDS:
            if found := tuple(sorted(folder.glob(pattern))):
                return found
        return ()

    @cached_property
    def fingerprint(self) -> str:
        """Sha256 of the weights, in hex (of the files' digests when there are several)."""
        digests = [_digest(path, self.cache_dir) for path in self.weights]
        if len(digests) == 1:
            return digests[0]
        return hashlib.sha256("".join(digests).encode()).hexdigest()

    @cached_property
    def settings_digest(self) -> str:
        """A digest of the files around the weights, which changes with any of them."""
        files = sorted(path for path in self.path.rglob("*") if path.suffix in (".json", ".txt"))
        stats = [(str(path.relative_to(self.path)), path.stat()) for path in files]
        parts = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def known(self) -> KnownModel | None:
        """The model's entry in the table of known models, by its weights or a name."""
        return (
            find_by_sha256(self.fingerprint)
            or find_by_name(self.name)
            or next(filter(None, map(find_by_name, self._own_names())), None)
        )

    @property
    def canonical_name(self) -> str:
        """The name that an index records: the hub's, else the folder's; never a path."""
        published = find_by_sha256(self.fingerprint) or find_by_name(self.name)
        if published:
            return published.hub
        return self.path.name if is_path(self.name) else self.name

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Instructions in the model's own files, by their names there."""
        prompts = self.json("config_sentence_transformers.json").get("prompts")
        return dict(prompts) if isinstance(prompts, dict) else {}

    def json(self, name: str) -> dict[str, Any]:
        """Return a JSON file of the folder; empty when there is none.

        Raises:
            ModelNotFoundError: the file does not parse.
        """
        value = self._read(name)
        return value if isinstance(value, dict) else {}

    def _read(self, name: str) -> Any:
        path = self.path / name
        if not path.is_file():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelNotFoundError(f"embed_model: {path} cannot be read: {error}") from error

    def instructions(self, query: str | None, text: str | None) -> tuple[str, str]:
        """Return the instructions of query and text: given, else known, else in its files."""
        known = self.known
        stated = self.prompts
        if query is None:
            query = known.query_instruction if known else stated.get("query", "")
        if text is None:
            stated_text = stated.get("document") or stated.get("passage") or stated.get("text", "")
            text = known.text_instruction if known else stated_text
        return query, text

    def check(self) -> None:
        """Check that the weights of a known package are the published ones.

        Raises:
            ModelNotFoundError: they are others.
        """
        expected = find_by_name(self.name)
        if expected and expected.sha256 and expected.sha256 != self.fingerprint:
            raise ModelNotFoundError(
                f"the weights of {expected.hub} in {self.path} are not the published ones: "
                f"sha256 {self.fingerprint}, expected {expected.sha256}",
                hint="install the package again, or name the folder itself as embed_model",
            )

    def _own_names(self) -> list[str]:
        stated = self.json(f"{self.body}config.json").get("_name_or_path", "")
        # A snapshot of the hub lies in models--OWNER--NAME/snapshots/REVISION.
        above = [parent.name for parent in self.path.parents if parent.name.startswith("models--")]
        return [self.path.name, *above, str(stated).rstrip("/")]


def locate(name: str, *, cache_dir: Path | None = None, download: bool = False) -> ModelFolder:
    """Find a model: by short name, as a local folder, or by hub name if it was downloaded.

    Args:
        name: as in ``Settings.embed_model``; a folder is spelled as a path (``./mine``),
            so that one in the working folder never stands for a model of the same name.
        cache_dir: where fingerprints are remembered.
        download: whether the hub may be asked.

    Raises:
        ModelNotFoundError: it is not on this machine, or its weights are not those
            of the model named; the error says what to do.
    """
    known = find_by_name(name)
    if is_path(name):
        path = Path(name).expanduser()
        if not path.is_dir():
            raise ModelNotFoundError(f"embed_model: there is no folder {name}")
        found = ModelFolder(path.resolve(), name, cache_dir)
    elif known and known.package and (packaged := _package_folder(known.package)):
        found = ModelFolder(packaged, name, cache_dir)
        found.check()
    else:
        hub = known.hub if known else name
        found = ModelFolder(_hub_folder(hub, download=download), name, cache_dir)
    if not found.weights or not (found.path / f"{found.body}config.json").is_file():
        raise ModelNotFoundError(
            f"embed_model: {found.path} holds no model (config.json and model.safetensors)"
        )
    return found


def is_path(name: str) -> bool:
    """Tell whether a model's name is written as a path, not as a name on the hub."""
    return name.startswith((".", "/", "~")) or "\\" in name or Path(name).is_absolute()


def _package_folder(module: str) -> Path | None:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _hub_folder(name: str, *, download: bool) -> Path:
    with needed(
        f"embed_model: finding {name} by its name on the hub",
        "huggingface-hub",
        otherwise="give a local folder; minilm is always here",
    ):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                name,
                local_files_only=not download,
                ignore_patterns=["*.onnx*", "*.h5", "*.msgpack", "*.ot", "openvino/*", "onnx/*"],
            )
        )
    except HFValidationError as error:
        raise ModelNotFoundError(
            f"embed_model: {name!r} is neither a folder nor a model's name",
            hint=f"for the folder of this name write ./{name}" if Path(name).is_dir() else "",
        ) from error
    except (LocalEntryNotFoundError, OSError) as error:
        if Path(name).is_dir():
            raise ModelNotFoundError(
                f"embed_model: the model {name} is not on this machine",
                hint=f"for the folder of this name write ./{name}",
            ) from error
        tried = "could not be fetched from the hub" if download else "is not on this machine"
        raise ModelNotFoundError(
            f"embed_model: the model {name} {tried}",
            hint=f"fetch it once with `hf download {name}` (or set embed_download = true while "
            "there is a network), or give a local folder; minilm is always here",
        ) from error


def _digest(path: Path, cache_dir: Path | None) -> str:
    """Return the sha256 of a file; computed again only when its size or time changed."""
    stat = path.stat()
    stamp = [str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino]
    name = hashlib.sha256(json.dumps(stamp).encode()).hexdigest()[:32]
    memory = cache_dir / "models" / f"{name}.sha256" if cache_dir else None
    if memory is not None:
        try:
            remembered = memory.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            remembered = ""
        if len(remembered) == 64:
            return remembered
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if memory is not None:
        write_private(memory, digest.encode())
    return digest


def write_private(path: Path, content: bytes) -> bool:
    """Write a file of the cache whole or not at all, readable by its owner only.

    Returns False where it cannot be written, which is not an error for a cache.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except OSError:
        return False
    return True
