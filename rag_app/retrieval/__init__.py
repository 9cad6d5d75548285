"""Nodes → ranked passages: strategies, fusion, explanations."""
