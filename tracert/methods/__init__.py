"""Retrieval methods: one published method, one file."""
