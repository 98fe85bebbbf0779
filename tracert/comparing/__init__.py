"""Several methods on one question at one budget: who found what, when, and why not the rest."""
