"""The version of pytest-ragcheck."""

__version__ = "0.1.0"
