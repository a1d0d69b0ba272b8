"""Where a figure comes from: the model and its hash, the text, the versions, and the comparison with Hugging Face."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from lab.models.catalogue import EMBEDDED, WEIGHTS, recorded, sha256
from lab.models.encoding import encode
from lab.models.memo import once
from lab.version import __version__

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.proof import Proof
    from lab.models.trace import Trace

# What decides a number.
_PACKAGES = ("torch", "tokenizers", "numpy")
Stamp = tuple[tuple[str, str], ...]


def stamp(runs: Sequence[Trace | LoadedModel], proofs: Mapping[Trace, Proof] | None = None, python: str = "") -> Stamp:
    """Return what a figure of these ``runs``, or of models, was made of: pairs of a name and what it is.

    Parameters
    ----------
    runs
        The figure's runs; if it has several, each is named.
    proofs
        The comparisons that were made, by their run; a run that is not there was not compared.
    python
        The expression that makes the figure. Without a run, this alone tells where the numbers come from.
    """
    from lab.models.trace import Trace

    lines: list[tuple[str, str]] = []
    for run in runs:
        lines += _of_model(run.model if isinstance(run, Trace) else run)
        if isinstance(run, Trace):
            lines += _of_text(run)
            lines.append(("Compared with Hugging Face", compared((proofs or {}).get(run))))
    if python and not any(isinstance(run, Trace) for run in runs):
        lines.append(("In Python", python))
    elif not runs:
        lines.append(("Model", "not recorded in this file"))
    return (*lines, ("Versions", _versions()), ("Kept on", f"{datetime.now(UTC):%Y-%m-%d}"))


def _of_model(model: LoadedModel) -> list[tuple[str, str]]:
    config = model.config
    size = f"{config.layers} layers, {config.heads} heads, width {config.width}"
    return [("Model", f"{model.id} ({config.family}, {size})"), ("SHA-256 of its weights", weights_hash(model))]


def _of_text(run: Trace) -> list[tuple[str, str]]:
    lines = [("Text", run.text)]
    if run.pair is not None:
        lines.append(("Second text", run.pair))
    if encode(run.model.tokenizer, run.model.config, run.text, run.pair).token_ids != run.token_ids:
        lines.append(("Tokens that the model read", " ".join(run.labels)))  # one is hidden, or of another order
    changed = [f.name.replace("_", " ") for f in fields(run.interventions) if getattr(run.interventions, f.name)]
    if changed:
        lines.append(("Changed in this run", ", ".join(changed)))
    return lines


@once
def weights_hash(model: LoadedModel) -> str:
    """Return the SHA-256 of a model's weights: of its file, or of its tensors by name if it has no file."""
    if isinstance(model.source, Path):
        if model.source.parent == EMBEDDED and model.id in recorded(EMBEDDED):
            return recorded(EMBEDDED)[model.id]
        whole = model.source / WEIGHTS
        return sha256(whole) if whole.is_file() else "its weights are in several files"
    found = hashlib.sha256()
    for name, tensor in sorted(model.source.tensors.items()):
        found.update(name.encode() + tensor.detach().contiguous().numpy().tobytes())
    return f"{found.hexdigest()} (of its tensors: the lab made it in memory)"


def compared(proof: Proof | None) -> str:
    """Say what the comparison of a run with Hugging Face found, or that there was none."""
    if proof is None:
        return "not compared for this file; the lab compares at a click"
    broken = proof.first_failure
    if broken is None:
        return f"{len(proof.rows)} steps compared, largest difference {proof.largest_difference:.1e}"
    return f"differs from {broken.step} on, by up to {broken.difference:.1e}"


def _versions() -> str:
    found = [f"Inside BERT {__version__}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
