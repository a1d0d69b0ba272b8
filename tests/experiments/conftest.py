"""Fixtures of the experiments' tests, which are those of the evidence."""

from tests.evidence.conftest import family, theirs, tiny

__all__ = ["family", "theirs", "tiny"]
