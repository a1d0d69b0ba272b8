"""Tests of the lab. Run them from the repository root: ``make test`` or ``.venv/bin/pytest``."""
