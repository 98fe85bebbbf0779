"""Data sets, metrics and reports."""
