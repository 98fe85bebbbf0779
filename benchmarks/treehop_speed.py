"""How fast TreeHop searches: many questions at once, one alone, and beside PyTorch.

Prints the medians that stand in the README. The vectors are random: time does not depend on
what they say. Run as `python -m benchmarks.treehop_speed`; torch is optional.
"""

from __future__ import annotations

from tracert.bench_treehop import in_words, measure

if __name__ == "__main__":
    print(in_words(measure()))
