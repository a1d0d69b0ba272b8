"""The same tokens again, with a change: kept beside the run that was changed."""

from __future__ import annotations

from lab.models.interventions import Interventions
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding


@once
def changed(trace: Trace, changes: Interventions) -> Trace:
    """The tokens of ``trace`` with ``changes`` in place of its own. Raises ValueError for what its model lacks."""
    return trace_encoding(trace.model, trace.encoding, changes)
