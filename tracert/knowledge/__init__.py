"""Markdown notes as a graph."""
