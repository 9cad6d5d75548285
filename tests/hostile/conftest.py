"""The command line and its places, as the tests of the command line have them."""

from tests.rag_app.cli.conftest import index, model, pdfs, place, rag, serve, two

__all__ = ["index", "model", "pdfs", "place", "rag", "serve", "two"]
