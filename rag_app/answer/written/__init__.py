"""Answers, queries and pieces that a language model writes; imported only when one is named."""
