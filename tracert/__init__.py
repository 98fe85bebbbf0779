"""Tracert: watch multi-hop retrieval move through a document or a graph of notes."""
