"""The checksums of the weights that ship, by which a damaged file is found: flipped bytes open without an error.

sha256sum --check SHA256SUMS        # in lab/models/embedded, with any system's own tool
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

SUMS, WEIGHTS = "SHA256SUMS", "model.safetensors"


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded(embedded: Path) -> Mapping[str, str]:
    """The checksums in the folder of embedded models, by the id of the model; none if their file is missing."""
    path = embedded / SUMS
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {name.removesuffix(f"/{WEIGHTS}"): digest for digest, name in (line.split() for line in lines)}


def record(embedded: Path, model_id: str) -> None:
    """Write the checksum of a model's weights beside those of the others."""
    sums = {**recorded(embedded), model_id: sha256(embedded / model_id / WEIGHTS)}
    lines = [f"{digest}  {name}/{WEIGHTS}\n" for name, digest in sorted(sums.items())]
    (embedded / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def is_sound(embedded: Path, model_id: str) -> bool:
    """Return whether the weights of an embedded model are there and as they were recorded, if they were."""
    try:
        found = sha256(embedded / model_id / WEIGHTS)
    except OSError:
        return False
    return recorded(embedded).get(model_id, found) == found
