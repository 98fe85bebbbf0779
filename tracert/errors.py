"""The errors of Tracert. Each is one sentence that says what happened and what to do next.

Every error that a person can meet derives from `TracertError`; pages and the command line
show its text as it is and never a traceback. Anything else that escapes is a bug.
"""

from __future__ import annotations


class TracertError(Exception):
    """Base of all expected errors; its text is shown to the person who asked."""


class SettingError(TracertError):
    """A setting has an unknown name or a value outside its range."""


class DocumentError(TracertError):
    """A file cannot be turned into text; the other files of the batch go on."""


class PasswordError(DocumentError):
    """A file is encrypted, and no password was given or a wrong one."""


class CorpusError(TracertError):
    """A corpus is missing, of another kind than asked for, or cannot be changed so."""


class StoreError(TracertError):
    """The store of chunks and vectors cannot be reached, read or written."""


class DatasetError(TracertError):
    """A file of questions or passages cannot be read or used for an evaluation or a training."""


class EmbedderError(TracertError):
    """An embedder is unknown, not installed, or did not return usable vectors."""


class ModelError(TracertError):
    """A language model did not give a usable reply; an offline stand-in can step in."""


class BudgetError(ModelError):
    """The allowed number of model calls or tokens is used up."""


class TraceError(TracertError):
    """A trace file is damaged, too large or of another version."""


class KnowledgeError(TracertError):
    """A folder of notes cannot be read, or a path leads outside it."""


class CancelledError(TracertError):
    """The person stopped the work; nothing half-made was kept."""
