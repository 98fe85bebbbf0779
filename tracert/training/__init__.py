"""Training of TreeHop's weights, in the three stages of the published pipeline.

`composition` makes chains of passages from ordered questions, `topology` checks them and counts
what it drops, `contrast` sets each hop against passages that it must not lead to, and `train`
fits the gates. Only `gates` and `train` import torch, and only `train-treehop` imports those.
"""
