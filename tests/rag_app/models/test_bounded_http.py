"""Clients give their connections back."""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

from rag_app.models.bounded_http import bounded_client
from tests.support.openai_server import OpenAIServer


class Holder:
    """Holds a client, and itself, as the objects of clients do."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.itself = self


def test_a_client_in_a_reference_cycle_leaves_no_socket_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The collector may come to the socket before it comes to the client."""
    complaints: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    with OpenAIServer(models=[]) as server:
        holder = Holder(bounded_client(5.0))
        assert holder.client.get(f"{server.url}/models").status_code == 200
        del holder
        gc.collect()
    assert [str(one.exc_value) for one in complaints] == []
