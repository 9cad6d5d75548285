"""Settings: the only module that reads environment variables and the config file.

``load_settings`` joins four layers, the first that names a field wins:

1. arguments of the call (options of the command line),
2. environment variables: ``RAG_`` + the field's name in capitals,
3. the config file (TOML): the given one, else that of ``RAG_CONFIG``, else
   ``./rag.toml`` over ``rag.toml`` in the user's config folder,
4. the defaults below.

``./rag.toml`` may have come with the documents. Unless it is trusted (``rag trust``),
it may only set the fields marked ``FOUND_MAY_SET``: how documents are cut and searched.
It cannot name a model, an address, a key, a file or a folder.

Tuples are comma-separated in the environment. Relative paths in a config file are
relative to its folder. A secret appears in no representation, dump or error.
"""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_config_path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from pipelines.errors import ConfigError
from pipelines.file_names import printable
from rag_app import bounds
from rag_app.bounds import Bounds
from rag_app.config_file import CONFIG_NAME, ConfigFile, TrustRecord, read_config

APP = "rag_app"
PREFIX = "RAG_"
CONFIG_VARIABLE = "RAG_CONFIG"
# Keys of a preset that load code or read files: they need a trusted file, as such a setting does.
_OWNER_SETS_IN_PRESETS = frozenset({"rerank", "glossary"})
KEYS = ("llm_api_key", "embed_api_key", "rerank_api_key")
"""Settings that hold the key of a server."""
OPENAI_URL = "https://api.openai.com/v1"
_SECRETS = frozenset({*KEYS, "pdf_password"})
_SERVED = ("openai", "like")
RERANK_URLS: Mapping[str, str | None] = {
    "cohere": "https://api.cohere.com/v2",
    "jina": "https://api.jina.ai/v1",
    "like": None,
    "tei": None,
}
"""Kinds of servers of rerankers, and the addresses of those that are public services."""
_TUPLES = frozenset({"embed_scripts", "child_sizes", "glossary"})
_PATHS = frozenset({"prompts", "cache_dir"})
# An empty instruction is a value ("no instruction"); elsewhere empty means unset.
_EMPTY_IS_A_VALUE = frozenset({"query_instruction", "text_instruction"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FoundFile:
    """Whether a settings file that nobody named or trusted may set a field."""

    may_set: bool


# Every field is marked with one of these. An unmarked field counts as OWNER_SETS.
FOUND_MAY_SET = FoundFile(may_set=True)
# Loads a model, uses a network, reads or writes a file, costs money, uses more of the
# machine, or decides what the user is shown.
OWNER_SETS = FoundFile(may_set=False)


def _in(allowed: Bounds) -> BeforeValidator:
    """Return what holds a field within bounds; None passes where the field may be None."""
    return BeforeValidator(lambda value: value if value is None else allowed.parsed(value))


def _cache_dir() -> Path:
    return user_cache_path(APP, appauthor=False)


class Settings(BaseModel):
    """All settings with their defaults; frozen.

    Each number has a smallest and a largest value, those of :mod:`rag_app.bounds`.

    Attributes:
        embed_model: ``minilm``, another short name of ``rag_app.models.embedding.known``, a name
            on the Hugging Face hub, a local folder, written as a path (``./mine``), or a model
            behind a server: ``openai:MODEL``, or ``like:MODEL`` at ``embed_base_url``.
        embed_base_url: address of an OpenAI-compatible server of embeddings.
        embed_api_key: its key; ``OPENAI_API_KEY`` is used for ``openai:`` models without base
            URL, and the key of a language model at the same address for any.
        embed_timeout: seconds until a server must have answered a batch.
        embed_scripts: scripts that the model knows; None: those of the table of models.
        query_instruction, text_instruction: prepended to what is embedded; None: those
            of the table of models; empty: none.
        embed_runtime: ``auto`` is OpenVINO where it agrees with torch, else torch.
        embed_precision: number format of the runtime; ``auto`` is bfloat16 where the
            CPU computes with it, else float32.
        embed_batch_size: texts per batch; None: the runtime's default (64 for torch, 32 for
            a server).
        embed_threads: threads of the runtime; None: one per core.
        embed_max_tokens: maximum tokens of a text that are read; None: the model's own.
        embed_download: whether a model may be downloaded from the hub.
        reader: PDF reader; the other one is tried on a file that it cannot read.
        pdf_password: tried on encrypted PDFs; not stored.
        read_memory_mb: memory in MB that reading one PDF may take, not counting twice its
            size.
        read_seconds: processor time in seconds that reading one PDF may take, plus half as
            much for each MB of the file.
        ocr: text recognition of pages that are pictures: ``auto``: where it is installed; ``on``;
            ``off``; or names of Tesseract's weights, the usual language first (``eng+jpn``).
        parent_size, child_sizes: tokens per passage and per searched piece.
        window: sentences on each side of a found one.
        strategy: name of the retrieval strategy.
        similarity_top_k: number of passages returned.
        prefer_documents: whether documents named in the question come first.
        prefer_tables: whether passages with tables come first where the question asks for a
            quantity.
        glossary: glossaries, by name or file, with what documents print for words of the
            question; None: what the strategy names; ``("none",)``: none.
        presets: named groups of retrieval options.
        rerank: what chooses from the first passages: ``cross-encoder:NAME`` (a folder, or a name
            on the hub), ``cohere:NAME``, ``jina:NAME``, ``like:NAME`` or ``tei:NAME`` (a
            server), ``llm`` (the language model), or ``package.module:NAME`` of a LlamaIndex
            postprocessor; None: the strategy's own; ``none``: nothing.
        rerank_base_url: address of the server of a reranker.
        rerank_api_key: its key; ``COHERE_API_KEY`` and ``JINA_API_KEY`` are used for those
            without base URL, and the key of another model at the same address for any.
        rerank_timeout: seconds until the server must have answered.
        rerank_fused: whether its order is joined with that of the strategy by reciprocal rank
            fusion, in place of replacing it; None: as the strategy says.
        llm: None (extractive), ``openai:MODEL`` or ``like:MODEL`` (an OpenAI-compatible
            server at ``llm_base_url``); ``none`` overrides a lower layer.
        llm_base_url: address of the server.
        llm_api_key: its key; ``OPENAI_API_KEY`` is used for ``openai:`` models without base URL.
        llm_context_window: in tokens; None: the server is asked.
        llm_timeout: seconds until an answer must have begun.
        llm_total_timeout: seconds until an answer, streamed or not, must be complete.
        llm_max_tokens: maximum tokens of an answer, without thoughts.
        llm_reasoning_effort: how much a reasoning model thinks; None: its own default.
        llm_reasoning_tokens: maximum tokens of a reasoning model's thoughts before its answer.
        answer_from: score, from 0 to 1, from which on a question is answered without a
            language model; below it the closest passages are shown.
        closest_from: score from which on they are shown; below it the question is refused.
        prompts: a file with other prompts.
        cache_dir: folder of files that can be computed again.
        cache_limit_mb: maximum size of the cache in MB.
        log_level: lowest level of log messages on stderr.
    """

    # Errors of pydantic quote the input, which could be a key.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    embed_model: Annotated[str, OWNER_SETS] = Field(default="minilm", min_length=1)
    embed_base_url: Annotated[str | None, OWNER_SETS] = None
    embed_api_key: Annotated[SecretStr | None, OWNER_SETS] = None
    embed_timeout: Annotated[float, _in(bounds.TIME_LIMIT), OWNER_SETS] = 60.0
    embed_scripts: Annotated[tuple[str, ...] | None, OWNER_SETS] = None
    query_instruction: Annotated[str | None, OWNER_SETS] = None
    text_instruction: Annotated[str | None, OWNER_SETS] = None
    embed_runtime: Annotated[Literal["auto", "torch", "openvino"], OWNER_SETS] = "auto"
    embed_precision: Annotated[Literal["auto", "float32", "bfloat16"], OWNER_SETS] = "auto"
    embed_batch_size: Annotated[int | None, _in(bounds.BATCH), OWNER_SETS] = None
    embed_threads: Annotated[int | None, _in(bounds.THREADS), OWNER_SETS] = None
    embed_max_tokens: Annotated[int | None, _in(bounds.TOKENS), OWNER_SETS] = None
    embed_download: Annotated[bool, OWNER_SETS] = False
    reader: Annotated[Literal["pypdfium2", "pypdf"], FOUND_MAY_SET] = "pypdfium2"
    pdf_password: Annotated[SecretStr | None, OWNER_SETS] = None
    read_memory_mb: Annotated[int, _in(bounds.READ_MEGABYTES), OWNER_SETS] = 1024
    read_seconds: Annotated[float, _in(bounds.TIME_LIMIT), OWNER_SETS] = 60.0
    ocr: Annotated[str, OWNER_SETS] = Field(default="auto", pattern=r"^[A-Za-z0-9_+]{1,100}$")
    parent_size: Annotated[int, _in(bounds.TOKENS), FOUND_MAY_SET] = 1024
    child_sizes: Annotated[tuple[Annotated[int, _in(bounds.TOKENS)], ...], FOUND_MAY_SET] = Field(
        default=(128, 256, 512), min_length=1
    )
    window: Annotated[int, _in(bounds.SENTENCES), FOUND_MAY_SET] = 3
    strategy: Annotated[str, FOUND_MAY_SET] = Field(default="hybrid", min_length=1)
    similarity_top_k: Annotated[int, _in(bounds.PASSAGES), FOUND_MAY_SET] = 5
    prefer_documents: Annotated[bool, FOUND_MAY_SET] = True
    prefer_tables: Annotated[bool, FOUND_MAY_SET] = True
    glossary: Annotated[tuple[str, ...] | None, OWNER_SETS] = None
    presets: Annotated[dict[str, dict[str, Any]], FOUND_MAY_SET] = Field(default_factory=dict)
    rerank: Annotated[str | None, OWNER_SETS] = None
    rerank_base_url: Annotated[str | None, OWNER_SETS] = None
    rerank_api_key: Annotated[SecretStr | None, OWNER_SETS] = None
    rerank_timeout: Annotated[float, _in(bounds.TIME_LIMIT), OWNER_SETS] = 30.0
    rerank_fused: Annotated[bool | None, FOUND_MAY_SET] = None
    llm: Annotated[str | None, OWNER_SETS] = None
    llm_base_url: Annotated[str | None, OWNER_SETS] = None
    llm_api_key: Annotated[SecretStr | None, OWNER_SETS] = None
    llm_context_window: Annotated[int | None, _in(bounds.TOKENS), OWNER_SETS] = None
    llm_timeout: Annotated[float, _in(bounds.TIME_LIMIT), OWNER_SETS] = 60.0
    llm_total_timeout: Annotated[float, _in(bounds.TIME_LIMIT), OWNER_SETS] = 600.0
    llm_max_tokens: Annotated[int, _in(bounds.TOKENS), OWNER_SETS] = 512
    llm_reasoning_effort: Annotated[
        Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None, OWNER_SETS
    ] = None
    llm_reasoning_tokens: Annotated[int, _in(bounds.TOKENS), OWNER_SETS] = 8192
    answer_from: Annotated[float, _in(bounds.PROBABILITY), OWNER_SETS] = 0.5
    closest_from: Annotated[float, _in(bounds.PROBABILITY), OWNER_SETS] = 0.02
    prompts: Annotated[Path | None, OWNER_SETS] = None
    cache_dir: Annotated[Path, OWNER_SETS] = Field(default_factory=_cache_dir)
    cache_limit_mb: Annotated[int, _in(bounds.CACHE_MEGABYTES), OWNER_SETS] = 2048
    log_level: Annotated[Literal["debug", "info", "warning", "error"], OWNER_SETS] = "warning"

    @field_validator("llm")
    @classmethod
    def _llm_has_kind(cls, value: str | None) -> str | None:
        if value is None or value.lower() == "none":
            return None
        kind, _, name = value.partition(":")
        if kind not in ("openai", "like") or not name:
            raise ValueError("allowed are none, openai:MODEL and like:MODEL")
        return value

    @field_validator("rerank")
    @classmethod
    def _none_is_no_reranker(cls, value: str | None) -> str | None:
        return "" if value is not None and value.lower() == "none" else value

    @field_validator("embed_model")
    @classmethod
    def _served_model_has_name(cls, value: str) -> str:
        if value.removesuffix(":") in _SERVED:
            raise ValueError("allowed are openai:MODEL, like:MODEL and models of this machine")
        return value

    @field_validator("llm_base_url", "embed_base_url", "rerank_base_url")
    @classmethod
    def _base_url_is_plain_http(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.username or parts.password:
            key = str(info.field_name).replace("base_url", "api_key")
            raise ValueError(f"a key does not belong into the address, but into {key}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError("it must start with http:// or https://")
        return value.rstrip("/")

    @field_validator("log_level", mode="before")
    @classmethod
    def _log_level_in_small_letters(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("prompts", "cache_dir")
    @classmethod
    def _home_is_expanded(cls, value: Path | None) -> Path | None:
        return value.expanduser() if value is not None else None

    @model_validator(mode="after")
    def _children_fit_their_parent(self) -> Self:
        if max(self.child_sizes) > self.parent_size:
            raise ValueError(
                f"child_sizes {self.child_sizes} must not exceed parent_size {self.parent_size}"
            )
        return self


def served_name(embed_model: str) -> tuple[str, str] | None:
    """Return kind and name of an embedding model behind a server; None: it is on this machine.

    >>> served_name("like:bge-m3")
    ('like', 'bge-m3')
    """
    kind, _, name = embed_model.partition(":")
    return (kind, name) if kind in _SERVED and name else None


class _Layers:
    """The given values, and where each came from (for errors)."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}

    def add(self, values: Mapping[str, Any], origin: str, *, names: bool = True) -> None:
        """Add values over lower layers; ``names``: errors add the field's name to the origin."""
        for field, value in values.items():
            lower = self.values.get(field)
            if field == "presets" and isinstance(value, dict) and isinstance(lower, dict):
                value = lower | value  # a group more hides none of the others
            self.values[field] = value
            self.origins[field] = f"{origin}: {field}" if names else origin


def load_settings(config_file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings of this process.

    >>> load_settings(similarity_top_k=3).similarity_top_k
    3

    Settings that a found file may not make are ignored, and logged once.

    Args:
        config_file: a TOML file; it must exist. None: the default places.
        **overrides: fields that take precedence; None means not given.

    Raises:
        ConfigError: a field or value is wrong, or the file cannot be read; the error
            names the file or variable, the value and the allowed values.
    """
    settings, ignored = settings_and_ignored(config_file, **overrides)
    if ignored and ignored not in _said:
        _said.add(ignored)
        _log.warning("%s", ignored)
    return settings


_said: set[str] = set()


def settings_and_ignored(config_file: Path | None = None, **overrides: Any) -> tuple[Settings, str]:
    """Return the settings as :func:`load_settings` does, and a line about ignored ones.

    The line names the ignored settings and the reason; empty: none.
    """
    layers = _Layers()
    ignored = ""
    for file, named in _config_files(config_file):
        values = file.values
        if not named:
            values, ignored = _may_be_set_by_found(file)
        layers.add(values, str(file.path))
    _add_environment(layers, os.environ)
    given = {name: value for name, value in overrides.items() if value is not None}
    layers.add(given, "argument")
    for field, origin in layers.origins.items():
        if field not in Settings.model_fields:
            raise _unknown_field(field, origin)
    _add_openai_keys(layers, os.environ)
    _add_rerank_key(layers, os.environ)
    try:
        return Settings(**layers.values), ignored
    except ValidationError as error:
        # "from None": a chained error would show pydantic's own text.
        raise _config_error(error.errors(include_url=False), layers) from None


def found_may_set(field: str) -> bool:
    """Tell whether an untrusted settings file in the working folder may set a field."""
    info = Settings.model_fields.get(field)
    rules = [rule for rule in info.metadata if isinstance(rule, FoundFile)] if info else []
    return bool(rules) and all(rule.may_set for rule in rules)


def trust_record() -> TrustRecord:
    """Return the record of trusted settings files."""
    return TrustRecord(user_config_path(APP, appauthor=False))


def reserved_fields(file: ConfigFile) -> dict[str, Any]:
    """Return the settings of a file that count only if it is named or trusted, with values."""
    known = [field for field in file.values if field in Settings.model_fields]
    reserved = {field: file.values[field] for field in known if not found_may_set(field)}
    presets = file.values.get("presets")
    for name, preset in presets.items() if isinstance(presets, dict) else ():
        for key in sorted(_OWNER_SETS_IN_PRESETS & set(preset if isinstance(preset, dict) else ())):
            reserved[f"presets.{name}.{key}"] = preset[key]
    return reserved


def read_settings_file(path: Path) -> ConfigFile:
    """Read a settings file without using it.

    Raises:
        ConfigError: it cannot be read.
    """
    return read_config(path, _PATHS)


def shown_value(field: str, value: object) -> str:
    """Return a field's value for display, with secrets masked."""
    return "***" if field in _SECRETS or _holds_userinfo(value) else repr(_plain(value))


def child_environment(**changes: str) -> dict[str, str]:
    """Return the environment for a child process: ours with changes, without keys."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_PASSWORD"))
    }
    return {**inherited, **changes}


def _config_files(config_file: Path | None) -> Iterator[tuple[ConfigFile, bool]]:
    """Yield the config files, the lowest layer first, and whether each is named or the user's."""
    named = config_file or os.environ.get(CONFIG_VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            source = "" if config_file else f"{CONFIG_VARIABLE}: "
            name = printable(path)
            what = (
                f"{name} is no regular file" if path.exists() else f"there is no config file {name}"
            )
            raise ConfigError(f"{source}{what}", hint="check the path of the config file")
        yield read_settings_file(path), True
        return
    # The user's own file is read below a found one, which must not undo its settings.
    own = user_config_path(APP, appauthor=False) / CONFIG_NAME
    if own.is_file():
        yield read_settings_file(own), True
    found = Path(CONFIG_NAME)
    if found.is_file() and not (own.is_file() and found.samefile(own)):
        yield read_settings_file(found), False


def _may_be_set_by_found(file: ConfigFile) -> tuple[dict[str, Any], str]:
    """Return the settings of an untrusted file that count, and a line about the others."""
    reserved = reserved_fields(file)
    record = trust_record()
    if not reserved or record.holds(file):
        return file.values, ""
    state = "has changed since it was trusted" if record.knows(file.path) else "is not trusted"
    kept = {
        field: _found_presets(value) if field == "presets" else value
        for field, value in file.values.items()
        if field not in reserved
    }
    return kept, (
        f"./{file.path}: {', '.join(reserved)} ignored: this file was only found here and {state} "
        f"(if it is yours: rag trust, or --config {file.path})"
    )


def _found_presets(presets: Any) -> Any:
    """Return the presets of an untrusted file, without the keys that load code."""
    if not isinstance(presets, dict):
        return presets
    return {
        name: {key: one for key, one in preset.items() if key not in _OWNER_SETS_IN_PRESETS}
        if isinstance(preset, dict)
        else preset
        for name, preset in presets.items()
    }


def _add_environment(layers: _Layers, environment: Mapping[str, str]) -> None:
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable == CONFIG_VARIABLE:
            continue
        field, value = variable.removeprefix(PREFIX).lower(), environment[variable]
        if field not in Settings.model_fields:
            _refuse_misspelling(variable, field)
        elif field == "presets":
            raise ConfigError(f"{variable}: presets can only be given in a config file")
        elif value or field in _EMPTY_IS_A_VALUE:
            parsed = _split(value) if field in _TUPLES else value
            layers.add({field: parsed}, variable, names=False)


def _refuse_misspelling(variable: str, field: str) -> None:
    # Other programs may use the prefix: only a misspelling of our names is refused.
    close = difflib.get_close_matches(field, Settings.model_fields, n=1, cutoff=0.8)
    if close:
        raise ConfigError(
            f"{variable} is not a variable of {APP}",
            hint=f"did you mean {PREFIX}{close[0].upper()}?",
        )


def _add_openai_keys(layers: _Layers, environment: Mapping[str, str]) -> None:
    """Use ``OPENAI_API_KEY`` for models of OpenAI that were named, and for nothing else.

    It is not sent to another server: a config file in a folder cannot redirect it.
    """
    key = environment.get("OPENAI_API_KEY")
    for field, secret, address in (
        ("llm", "llm_api_key", "llm_base_url"),
        ("embed_model", "embed_api_key", "embed_base_url"),
    ):
        model = layers.values.get(field)
        to_openai = isinstance(model, str) and model.startswith("openai:")
        if key and to_openai and not {secret, address} & layers.values.keys():
            layers.add({secret: key}, "OPENAI_API_KEY", names=False)


def _add_rerank_key(layers: _Layers, environment: Mapping[str, str]) -> None:
    """Use the key of Cohere or Jina for the one of them that is named, at its own address."""
    presets = layers.values.get("presets")
    named = [layers.values.get("rerank")]
    if isinstance(presets, dict):
        named += [one.get("rerank") for one in presets.values() if isinstance(one, dict)]
    kinds = {name.partition(":")[0] for name in named if isinstance(name, str)}
    public = sorted(kind for kind in kinds if RERANK_URLS.get(kind))
    if len(public) != 1 or {"rerank_api_key", "rerank_base_url"} & layers.values.keys():
        return
    variable = f"{public[0].upper()}_API_KEY"
    if key := environment.get(variable):
        layers.add({"rerank_api_key": key}, variable, names=False)


def _split(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _unknown_field(field: str, origin: str) -> ConfigError:
    close = difflib.get_close_matches(field, Settings.model_fields, n=1)
    known = ", ".join(sorted(Settings.model_fields))
    hint = f"did you mean {close[0]}?" if close else f"known settings: {known}"
    return ConfigError(f"{origin} is not a setting", hint=hint)


def _config_error(details: list[ErrorDetails], layers: _Layers) -> ConfigError:
    parts = []
    for detail in details:
        field = str(detail["loc"][0]) if detail["loc"] else ""
        message = detail["msg"].removeprefix("Value error, ")
        origin = layers.origins.get(field, field)
        value = layers.values.get(field)
        secret = field in _SECRETS or _holds_userinfo(value)
        shown = "" if secret else f" = {bounds.shown(_plain(value))}"
        parts.append(f"{origin}{shown}: {message}" if field else message)
    return ConfigError("; ".join(parts))


def _holds_userinfo(value: object) -> bool:
    return isinstance(value, str) and "://" in value and "@" in value


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
