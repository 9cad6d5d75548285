"""Ranked passages → an answer that says only what the documents say."""
