"""What the shipped models know about text that they never saw, measured from the repository alone."""

from __future__ import annotations

from pathlib import Path


def folder_bytes(folder: Path) -> int:
    """Of all files in ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
