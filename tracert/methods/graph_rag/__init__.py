"""Graph RAG: a graph of entities, relations and communities, searched locally or globally."""

from tracert.methods.graph_rag.method import GraphRag
from tracert.methods.graph_rag.settings import GraphRagSettings

__all__ = ["GraphRag", "GraphRagSettings"]
