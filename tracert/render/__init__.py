"""Traces as pictures and words: no browser framework, no store."""
