"""The view of a step: a place of the text that the model is asked about, or the text as it is."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from lab.analysis.words.masking import asked_run, mask_of
from lab.models.trace import Trace
from lab.questions.returning import Spot
from lab.ui.page import LessonPage
from lab.ui.parameters import TEMPERATURE
from lab.ui.shared.prediction import PredictionView
from lab.ui.shared.prediction import look as look_at_place
from lab.ui.tables import show_table

# Steps that read the text as it is; the other steps ask about one place in it.
WHOLE = ("every-place", "likelihood", "next-sentence")


def look(page: LessonPage, trace: Trace) -> Callable[[str], PredictionView | Trace | None]:
    """Return what makes the view of a step by its id."""
    return lambda step: trace if step in WHOLE else look_at_place(page, trace)


def spot_of(view: PredictionView) -> Spot:
    """The spot that questions about the place on screen are asked about."""
    return Spot(view.trace, 0, 0, view.place, view.place)


def asked_at(spot: Spot) -> tuple[Trace, int] | None:
    """Return the run and the place of a question about a word, both from a spot.

    On screen, the spot is the learner's blank. A spot of another lesson has no blank: there, the last word is hidden.
    None if the model cannot be asked.
    """
    model = spot.trace.model
    if model.weights.vocabulary_head is None:
        return None
    mask = mask_of(model.tokenizer)
    blank = mask is not None and spot.trace.token_ids[spot.query] == mask[1]
    return (spot.trace, spot.query) if model.config.causal or blank else asked_run(spot.trace)


def choose_temperature() -> float:
    """Draw the slider of the temperature."""
    return TEMPERATURE.choose("Temperature", 0.1)


def show_numbers(table: pd.DataFrame, **formats: str) -> None:
    """Draw a table whose numbers have four decimals, unless ``formats`` names another format for a column."""
    columns = table.select_dtypes("number").columns
    four = [name for name in columns if name not in formats]
    table = table.assign(**{name: table[name].mask(table[name].abs() < 0.00005, 0.0) for name in four})  # no −0.0000
    show_table(table, formats={name: formats.get(name, "%.4f") for name in columns})
