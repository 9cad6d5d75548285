"""The settings that reach a server, and the key that it gets."""

from __future__ import annotations

import pytest

from rag_app.models.service import EMBEDDINGS, LANGUAGE_MODEL, RERANKING, Service, key_for
from rag_app.settings import Settings


@pytest.mark.parametrize("service", [LANGUAGE_MODEL, EMBEDDINGS, RERANKING])
def test_each_service_names_settings_that_there_are(service: Service) -> None:
    named = {service.model, service.address, service.key, service.timeout, service.deadline}
    assert named <= set(Settings.model_fields)


def test_a_key_serves_another_service_only_at_the_same_address() -> None:
    settings = Settings(llm="like:x", llm_base_url="http://a/v1", llm_api_key="secret")
    same = key_for(settings, EMBEDDINGS, "http://a/v1")
    assert same is not None
    assert same.get_secret_value() == "secret"
    assert key_for(settings, EMBEDDINGS, "http://a/v2") is None
