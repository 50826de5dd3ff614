"""Errors whose message is meant for the person who runs the workflow.

A job that ends in one of these prints the message alone; any other exception is a fault of poscope
and keeps its traceback.
"""


class PoscopeError(Exception):
    """Something that the user can mend; the message says what and how."""


class ConfigError(PoscopeError):
    """The config cannot be used; the message lists every fault in it."""


class SourceError(PoscopeError):
    """Bytes could not be had: no network, no such file, no such revision, no access."""


class ChecksumError(SourceError):
    """Bytes arrived, and they are not the pinned ones."""


class TableError(PoscopeError):
    """A model has no usable position table, or a table cannot be used as asked."""


class ProbeError(PoscopeError):
    """A probe cannot be computed on this table with these settings."""


class DataError(PoscopeError):
    """A data set cannot be used: unreadable, malformed, or nothing in it to learn from."""


class CompositionError(PoscopeError):
    """How a model puts words and positions together cannot be analysed: it lacks a part, or parts do not fit."""
