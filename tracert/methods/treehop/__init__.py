"""TreeHop: query hops in embedding space. `TreeHop` is the method, `retrieve` its arithmetic."""

from tracert.methods.treehop.method import TreeHop, alone_flags, model_for
from tracert.methods.treehop.retrieval import Found, Hit, HopQuery, retrieve
from tracert.methods.treehop.settings import PAPER, TreeHopSettings

__all__ = [
    "PAPER",
    "Found",
    "Hit",
    "HopQuery",
    "TreeHop",
    "TreeHopSettings",
    "alone_flags",
    "model_for",
    "retrieve",
]
