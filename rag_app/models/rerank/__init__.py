"""Rerankers: scores of passages for a question, by a server or a cross-encoder."""
