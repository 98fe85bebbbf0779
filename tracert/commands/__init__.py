"""The commands of `python -m tracert`, one a module, each with a function `add`."""
