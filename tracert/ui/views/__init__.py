"""Views: `show(trace, ...)`, each fed by its arguments alone and used by several pages."""
