"""The dialects of markdown graphs: one file each behind one protocol."""
