"""The half of an experiment that measures; the other half, on its page, asks, says and draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from lab.evidence import shipped
from lab.evidence.code_hash import code_hash
from lab.models.batches import ProgressFunction, unwatched
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

Found = TypeVar("Found")


def any_model(_: LoadedModel) -> None:
    """Raise nothing: any model can be tested."""


@once
def _reason(model: LoadedModel, check: Callable[[LoadedModel], None]) -> str:
    try:
        check(model)
    except ValueError as reason:
        return str(reason)
    return ""


@dataclass(eq=False)
class Measurement(Generic[Found]):
    """What an experiment measures of a model, and its results: those that ship, and those since this process began.

    Attributes
    ----------
    id
        The folder of the experiment, and of its shipped results.
    module
        The module that measures, by its dotted name; its code, with all that it imports, decides the result.
    kind
        The class of a result, a frozen dataclass with a field ``made`` for a :class:`lab.evidence.shipped.Provenance`.
    replicate
        Runs the experiment on a model; an exception raised by its progress function ends the run.
    data_hash
        Gives the hash of the experiment's data; results for other data are not used.
    check
        Raises ValueError, with the reason in a sentence, if a model cannot be tested.
    seconds
        The most that a run on an embedded model may take; None if there is no limit.
    found
        The results, by the hash of their model.
    """

    id: str
    module: str
    kind: type[Found]
    replicate: Callable[[LoadedModel, ProgressFunction], Found]
    data_hash: Callable[[], str]
    check: Callable[[LoadedModel], None] = any_model
    seconds: float | None = None
    found: dict[str, Found] = field(default_factory=dict)

    @property
    def code_hash(self) -> str:
        """The hash of the code that decides the result."""
        return code_hash(self.module)

    def untestable(self, model: LoadedModel) -> str:
        """Return the reason why a model cannot be tested, in a sentence; "" if the model can be tested."""
        return _reason(model, self.check)

    def known(self, model: LoadedModel) -> Found | None:
        """Return the result that ships with ``model`` or was measured in this process; else None."""
        key = shipped.model_hash(model)
        if key not in self.found:
            found = shipped.read(shipped.folder(self.id, model.id), self.kind, key, self.data_hash())
            if found is None:
                return None
            self.found[key] = found
        return self.found[key]

    def result(self, model: LoadedModel, progress: ProgressFunction = unwatched) -> Found:
        """The result for ``model``; if there is none yet, run the experiment, once for all models with its weights."""
        known = self.known(model)
        return self.again(model, progress) if known is None else known

    def again(self, model: LoadedModel, progress: ProgressFunction = unwatched) -> Found:
        """Run the experiment and keep its result as the known one for ``model``."""
        found = self.found[shipped.model_hash(model)] = self.replicate(model, progress)
        return found
