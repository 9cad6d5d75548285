"""Measurements of speed and of quality, of this project and of its peers.

Nothing here is installed with the packages. Evaluation data is found by the
environment variable ``RAG_EVAL_DATA`` alone.
"""
