"""TreeHop: query hops in embedding space. `TreeHop` is the method, `retrieve` its arithmetic."""

from tracert.methods.treehop.explain import GateReading, Near, nearest, nearest_passages, read_gates
from tracert.methods.treehop.method import TreeHop, alone_flags, model_for
from tracert.methods.treehop.retrieval import Found, Hit, HopQuery, retrieve
from tracert.methods.treehop.settings import PAPER, TreeHopSettings

__all__ = [
    "PAPER",
    "Found",
    "GateReading",
    "Hit",
    "HopQuery",
    "Near",
    "TreeHop",
    "TreeHopSettings",
    "alone_flags",
    "model_for",
    "nearest",
    "nearest_passages",
    "read_gates",
    "retrieve",
]
