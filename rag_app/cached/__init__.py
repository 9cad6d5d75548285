"""Indexes cached for PDFs that are asked directly: ``rag_app.ask("…", "a.pdf")``."""
