"""An experiment whole: what it measures, and what its page asks, says and draws of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from lab.course.words import escaped
from lab.evidence.measurement import Measurement
from lab.models.interventions import Head
from lab.questions.bets import Bet
from lab.questions.question import Right
from lab.ui.experiments.claim_table import ClaimLine, Lines

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

Found = TypeVar("Found")


def show_reason(_: LoadedModel, reason: str) -> None:
    """Draw the reason, in a sentence, why a model cannot be tested."""
    st.info(f"**Not testable here.** {escaped(reason)}", icon=":material/info:")


def _nothing(*_: object) -> None:
    return None


def _no_reason(*_: object) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[Found]):
    """An experiment, as ``page.py`` in its folder has it; :mod:`lab.ui.experiments.page` draws it in the order below.

    Attributes
    ----------
    measurement
        What is measured; ``measure.py`` in the same folder has it.
    show_untestable
        Draws the reason why a model cannot be tested.
    show_before
        Draws what comes before the prediction.
    bet, decided
        The question about a model, and the answer of a result; None if the result fits more than one belief.
    takes, help
        The time that a run takes on a model, in a sentence, and what the lab does in it.
    empty
        The reason, in a sentence, why a result shows nothing; "" for any other result.
    show_first
        Draws what comes before the answer to the prediction; returns a run for the badge, or None.
    figure, name, caption
        The call that makes the one figure of a result, the figure's name in files, and the caption.
    meaning
        What the figure means (for a result and a model's id); where it speaks of a claim, it is made from the verdict.
    claims, note
        The one table: a line for each claim, and what its figures are.
    head
        The head that the result is about, if it is a single one: the learner may have met it.
    show_own
        Draws, in sight, the one thing that learners can try on a text of their own.
    method, rule, data
        Folded: how the claim is tested on a model, the quantity that the rule of the verdicts judges, what was read.
    cases, show_cases
        Folded: the title of the single cases, and what draws them; returns a run for the badge, or None.
    code
        The functions that computed the numbers.
    tables
        Further tables of a result in docs/reproduced.md, by their title.
    """

    measurement: Measurement[Found]
    show_untestable: Callable[[LoadedModel, str], None] = show_reason
    show_before: Callable[[LoadedModel], object] = _nothing
    bet: Callable[[LoadedModel], Bet]
    decided: Callable[[Found], Right | None]
    takes: Callable[[LoadedModel], str]
    help: str
    empty: Callable[[LoadedModel, Found], str] = _no_reason
    show_first: Callable[[LoadedModel, Found], Trace | None] = _nothing
    figure: Callable[[LoadedModel, Found], partial[Any]]
    name: str
    caption: Callable[[LoadedModel, Found], str]
    meaning: Callable[[Found, str], str]
    claims: Callable[[Found], Sequence[ClaimLine]]
    note: str
    head: Callable[[Found], Head | None] = _nothing
    show_own: Callable[[LoadedModel], None] = _nothing
    method: Callable[[LoadedModel], str]
    rule: str
    data: str
    cases: str
    show_cases: Callable[[LoadedModel, Found], Trace | None]
    code: tuple[Callable[..., object], ...]
    tables: Mapping[str, Callable[[Found], Lines]] = field(default_factory=dict)
