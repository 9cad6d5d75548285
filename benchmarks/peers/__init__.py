"""Other libraries at the same work, each as its documentation does it.

They run in an environment of their own (``make bench-peers``), in a process
of their own; nothing here imports this project's packages::

    benchmarks/.venv-peers/bin/python -m benchmarks.peers ingest PEER FOLDER FILE…
    benchmarks/.venv-peers/bin/python -m benchmarks.peers ask PEER FOLDER QUESTION
    benchmarks/.venv-peers/bin/python -m benchmarks.peers run JOBS.json OUT.jsonl
"""

from __future__ import annotations

import importlib

from benchmarks.peers.base import Peer

# name of a peer → the module and class that holds it
PEERS = {
    "llamaindex-naive": "llamaindex_naive:Naive",
    "llamaindex-recursive": "llamaindex_recursive:Recursive",
    "llamaindex-hybrid": "llamaindex_hybrid:Hybrid",
    "langchain-parent": "langchain_parent:Parent",
    "langchain-ensemble": "langchain_ensemble:Ensemble",
    "haystack-hybrid": "haystack_hybrid:Hybrid",
}


def peer_class(name: str) -> type[Peer]:
    """Import one peer and nothing of the others.

    Raises:
        KeyError: there is no such peer.
    """
    module, _, attribute = PEERS[name].partition(":")
    found: type[Peer] = getattr(importlib.import_module(f"benchmarks.peers.{module}"), attribute)
    return found
