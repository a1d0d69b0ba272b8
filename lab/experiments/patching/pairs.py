"""The pairs behind the means: pairs that follow the claim and pairs that do not, each with ways into the lab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words.masking import mask_of
from lab.course.words import escaped, signed
from lab.evidence.pairs import BLANK
from lab.experiments.patching.claims import CLAIMS, EARLY, LATE, SUFFICES
from lab.experiments.patching.measure import PairRow, PatchingTest
from lab.experiments.patching.own import take
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import (
    COMPARE,
    HEAD,
    HEADS,
    KEY_TOKEN,
    LAYER,
    OTHER_TEXT,
    PLACE,
    TOKEN,
    TWO_TEXTS,
)
from lab.ui.tables import show_table

# The claims that are checked for a single pair, which are the claims about the residual stream.
_LOOKED_AT = [at for at, claim in enumerate(CLAIMS) if claim.direction == SUFFICES and claim.id in (EARLY, LATE)]


def as_claimed(row: PairRow) -> bool:
    """Return whether a pair, patched into the corrupt run, follows both claims: subject early, asked token late."""
    return bool((row.numbers[_LOOKED_AT, 0] > row.numbers[_LOOKED_AT, 1]).all())


def show(model: LoadedModel, found: PatchingTest) -> Trace | None:
    """Draw pairs of B that follow the claim and pairs that do not; returns the first pair's run."""
    pairs = found.half(1)
    held = sum(map(as_claimed, pairs))
    st.markdown(
        f"In {held} of the {len(pairs)} pairs of B the subject’s vector recovers more in early layers; then, from some "
        "layer before the last one on, the asked token’s vector recovers more."
    )
    kinds = {
        title: [row for row in pairs if as_claimed(row) == right]
        for title, right in (("As claimed", True), ("Not as claimed", False))
    }
    shown = two_kinds(kinds, lambda row, key: _pair(model, found, row, key), "Other pairs")
    if found.refused:
        with st.expander(f"{len(found.refused)} pairs were not patched", icon=":material/block:"):
            show_table(pd.DataFrame([{"sentence": pair.text, "why": why} for pair, why in found.refused]))
    return runs.run(model.id, _asked_text(model, shown[0].pair.text), "", Interventions()) if shown else None


def _pair(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    pair = row.pair
    with st.container(border=True):
        st.markdown(f"{_written(pair.text)}  \nCorrupt: {_written(pair.other)}")
        early, late = row.numbers[_LOOKED_AT]
        st.caption(
            f"**{escaped(pair.good)}** minus **{escaped(pair.bad)}**: {signed(row.clean)} in the clean run, "
            f"{signed(row.corrupt)} in the corrupt run. In early layers the subject recovers {signed(early[0])}, the "
            f"asked token {signed(early[1])}. The lines cross in layer {late[1]:.0f} of {late[0]:.0f}."
        )
        with st.container(horizontal=True):
            st.button(
                "Patch it above",
                key=f"_experiment.patch.{key}",
                icon=":material/arrow_upward:",
                type="tertiary",
                on_click=take,
                args=(pair.text, pair.other, pair.good, pair.bad),
            )
            _ways(model, found, row, key)


def _ways(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    """Offer lesson 9 at the blank, the best head at the asked token, and both sentences side by side."""
    text, other = (_asked_text(model, each) for each in (row.pair.text, row.pair.other))
    heads = found.carried[SUFFICES].on_a.heads[..., found.asked]
    layer, head = (int(at) for at in np.unravel_index(int(heads.argmax()), heads.shape))
    here: dict[Parameter[Any], Any] = {
        LAYER: layer + 1,
        HEAD: head + 1,
        TOKEN: found.asked + 1,
        KEY_TOKEN: found.subject + 1,
    }
    lesson: dict[Parameter[Any], Any] = {PLACE: found.asked + 1}
    look_there("masked-language-model", text, lesson, f"_experiment.lesson.{key}", asking_step(model))
    view = here | {HEADS: str(head + 1)}
    look_there("head-view", text, view, f"_experiment.view.{key}")
    both: dict[Parameter[Any], Any] = {COMPARE: TWO_TEXTS, OTHER_TEXT: other}
    look_there("compare", text, both, f"_experiment.compare.{key}")


def _asked_text(model: LoadedModel, text: str) -> str:
    """The text that the model reads: with the model's own mask as the blank, or up to the blank."""
    mask = mask_of(model.tokenizer)
    if model.config.causal or mask is None:
        return text.partition(BLANK)[0].rstrip()
    return text.replace(BLANK, mask[0])


def _written(text: str) -> str:
    return escaped(text).replace("\\_", ":blue-background[**\\_**]")
