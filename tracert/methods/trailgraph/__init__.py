"""TrailGraph: a scored walk over a graph of markdown notes."""

from tracert.methods.trailgraph.method import TrailGraph
from tracert.methods.trailgraph.settings import TrailGraphSettings

__all__ = ["TrailGraph", "TrailGraphSettings"]
