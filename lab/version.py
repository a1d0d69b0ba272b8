"""The version of the lab."""

__version__ = "1.0.0"
