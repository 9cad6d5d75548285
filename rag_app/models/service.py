"""The servers that a model may stand behind, and the settings that reach each of them.

What fails is said in the same words for all; only the names of the settings differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import SecretStr

from rag_app.settings import OPENAI_URL, Settings


@dataclass(frozen=True, slots=True)
class Service:
    """What a server does, and the settings that its errors name.

    Attributes:
        does: the model in words, as the subject of "failed".
        model: setting that names the model.
        address: setting with the address of the server.
        key: setting with its key.
        timeout: setting with the seconds until an answer must have begun.
        deadline: setting with the seconds until it must be complete.
        shorter: what helps where the request is refused for its length.
        sooner: what helps where the answer is not complete in time.
        protocol: the protocol of its answers, in words.
    """

    does: str
    model: str
    address: str
    key: str
    timeout: str
    deadline: str
    shorter: str
    sooner: str
    protocol: str

    def variable(self, setting: str) -> str:
        """Return a setting with its environment variable, for a message."""
        return f"{setting} (RAG_{setting.upper()})"


LANGUAGE_MODEL = Service(
    does="the language model",
    model="llm",
    address="llm_base_url",
    key="llm_api_key",
    timeout="llm_timeout",
    deadline="llm_total_timeout",
    shorter="a lower llm_context_window or llm_max_tokens helps when the text is too long",
    sooner="set a higher llm_total_timeout, or a lower llm_max_tokens",
    protocol="OpenAI",
)
EMBEDDINGS = Service(
    does="the embedding model",
    model="embed_model",
    address="embed_base_url",
    key="embed_api_key",
    timeout="embed_timeout",
    deadline="embed_timeout",
    shorter="a lower embed_max_tokens helps when a text is too long for the model",
    sooner="set a higher embed_timeout, or a lower embed_batch_size",
    protocol="OpenAI",
)

RERANKING = Service(
    does="the reranker",
    model="rerank",
    address="rerank_base_url",
    key="rerank_api_key",
    timeout="rerank_timeout",
    deadline="rerank_timeout",
    shorter="a lower rerank_depth (of a preset) or parent_size helps when the text is too long",
    sooner="set a higher rerank_timeout, or a lower rerank_depth (of a preset)",
    protocol="rerank",
)


def key_for(settings: Settings, service: Service, address: str) -> SecretStr | None:
    """Return the key for a server: its own, else that of another service at the same address.

    Args:
        settings: the keys and the addresses.
        service: whose setting comes first.
        address: where the key is sent.
    """
    own: SecretStr | None = getattr(settings, service.key)
    for other in (LANGUAGE_MODEL, EMBEDDINGS, RERANKING):
        if own is None and _address_of(settings, other) == address:
            own = getattr(settings, other.key)
    return own


def _address_of(settings: Settings, service: Service) -> str | None:
    """Return where the settings reach a service; None: nowhere."""
    stated: str | None = getattr(settings, service.address)
    to_openai = str(getattr(settings, service.model)).startswith("openai:")
    return stated or (OPENAI_URL if to_openai else None)
