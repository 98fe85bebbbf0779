"""Traces as files for others: a web page, Markdown, GraphML. Pure functions of a trace."""
