"""What the shipped models know about text that they never saw, measured from the repository alone."""

from __future__ import annotations

from pathlib import Path

from lab.models.catalogue import EMBEDDED, sha256


def folder_bytes(folder: Path) -> int:
    """Of all files in ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def weights_hash(model_id: str) -> str:
    """SHA-256 of the weights of an embedded model."""
    return sha256(EMBEDDED / model_id / "model.safetensors")
