"""The places, files and model of the command line's tests."""

from tests.rag_app.cli.conftest import model, pdfs, place, two

__all__ = ["model", "pdfs", "place", "two"]
