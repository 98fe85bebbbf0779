"""Text to vectors: one file an embedder, one registry."""
