"""Inside BERT: a transformer's forward pass, every step at hand and compared with Hugging Face.

    import lab
    model = lab.load_model("lab-minilm")
    trace = lab.trace(model, "The cat sat on the mat.")
    trace.layer(0).attention          # (heads, n, n)
    lab.prove(model, trace)           # each step against Hugging Face

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.analysis.heads.attention_variants import variants
    from lab.models.interventions import Interventions
    from lab.models.loading import LoadedModel, load_model
    from lab.models.proof import prove
    from lab.models.tensor_index import catalogue, tensor
    from lab.models.trace import Trace, trace
    from lab.version import __version__

__all__ = [
    "Interventions",
    "LoadedModel",
    "Trace",
    "__version__",
    "catalogue",
    "load_model",
    "prove",
    "tensor",
    "trace",
    "variants",
]

_HOME = {
    "Interventions": "lab.models.interventions",
    "LoadedModel": "lab.models.loading",
    "Trace": "lab.models.trace",
    "__version__": "lab.version",
    "catalogue": "lab.models.tensor_index",
    "load_model": "lab.models.loading",
    "prove": "lab.models.proof",
    "tensor": "lab.models.tensor_index",
    "trace": "lab.models.trace",
    "variants": "lab.analysis.heads.attention_variants",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lab' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
