"""Training of TreeHop's weights. Torch is imported only where a model is trained."""
