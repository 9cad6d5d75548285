"""The standard streams: closed ones are opened, and notes that cannot be written are dropped."""

from __future__ import annotations

import io
import os

import pytest

from rag_app.cli import streams
from rag_app.cli.streams import prepare_streams


@pytest.fixture
def std(monkeypatch):
    """Streams of this process that the test may replace; descriptor 2 is not touched."""
    monkeypatch.setattr(streams.sys, "stdin", None)
    monkeypatch.setattr(streams.sys, "stdout", io.StringIO())
    monkeypatch.setattr(streams.sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    occupied = []
    monkeypatch.setattr(streams, "_occupy", lambda number, flags: occupied.append(number))
    return occupied


def test_missing_streams_are_opened_over_their_descriptors(std):
    out = streams.sys.stdout
    prepare_streams()
    assert std == [0, 1, 2]
    assert streams.sys.stdin.fileno() == 0
    assert streams.sys.stdout is out
    streams.sys.stdin.close()


def test_notes_that_cannot_be_written_are_dropped(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    raw = io.FileIO(writer, "w")
    forgiving = streams._Forgiving(raw, encoding="utf-8", write_through=True)
    assert forgiving.write("note") == 4
    forgiving.flush()
    forgiving.detach()
    raw.close()


def test_a_free_descriptor_is_occupied_with_the_null_device():
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    free = min(reader, writer)
    streams._occupy(free, os.O_RDONLY)
    assert os.read(free, 1) == b""
    os.close(free)
