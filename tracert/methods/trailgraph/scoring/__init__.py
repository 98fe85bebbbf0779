"""How relevant a note is to a question, from 0 to 100: one strategy a file, one protocol."""
