"""The pairs behind the means: some that follow the claim about the residual stream, and some that do not."""

from __future__ import annotations

from typing import Any

import streamlit as st

from lab.course.words import escaped, signed
from lab.evidence.pairs import BLANK
from lab.experiments.patching.claims import CLAIMS, EARLY, LATE, SUFFICES
from lab.experiments.patching.measure import PairRow, PatchingTest
from lab.experiments.patching.patches import SMALL
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.claim_table import two_kinds
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.parameters import PLACE

# The claims that are checked for a single pair, which are the claims about the residual stream.
_LOOKED_AT = [at for at, claim in enumerate(CLAIMS) if claim.direction == SUFFICES and claim.id in (EARLY, LATE)]


_ALIKE = "First the subject, then the asked token"


def as_claimed(row: PairRow) -> bool:
    """Return whether a pair, patched into the corrupt run, follows both claims: subject early, asked token late."""
    return bool((row.numbers[_LOOKED_AT, 0] > row.numbers[_LOOKED_AT, 1]).all())


def show_pairs(model: LoadedModel, found: PatchingTest) -> Trace | None:
    """Draw pairs of B that follow the claim and pairs that do not; returns the first pair's run."""
    pairs = found.half(1)
    kinds = {
        title: [row for row in pairs if as_claimed(row) == right]
        for title, right in ((_ALIKE, True), ("Another order", False))
    }
    st.markdown(
        f"In {len(kinds[_ALIKE])} of the {len(pairs)} pairs of B, the subject’s vector recovers more in early "
        f"layers, and the asked token’s from some later layer on, before the last one. {len(found.refused)} pairs of A "
        f"and B, whose two runs differ by less than {SMALL} logits, were not patched."
    )
    shown = two_kinds(kinds, lambda row, key: _show_pair(model, found, row, key), "Other pairs")
    return runs.run(model.id, _asked_text(model, shown[0].pair.text), "", Interventions()) if shown else None


def _show_pair(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    pair, (early, late) = row.pair, row.numbers[_LOOKED_AT]
    with st.container(border=True):
        st.markdown(f"{_written(pair.text)}  \nCorrupt: {_written(pair.other)}")
        st.caption(
            f"The logit of **{escaped(pair.good)}** minus that of **{escaped(pair.bad)}** is {signed(row.clean)} in "
            f"the clean run and {signed(row.corrupt)} in the corrupt run. In early layers, the subject recovers "
            f"{signed(early[0])} logits, and the asked token {signed(early[1])}. The asked token "
            f"takes over in layer {late[1]:.0f} of {late[0]:.0f}."
        )
        text = _asked_text(model, pair.text)
        place: dict[Any, Any] = {PLACE: found.asked + 1}
        look_there("masked-language-model", text, place, f"_experiment.lesson.{key}", asking_step(model))


def _asked_text(model: LoadedModel, text: str) -> str:
    """The text that the model reads: with the model's own mask as the blank, or up to the blank."""
    mask = model.mask
    if model.config.causal or mask is None:
        return text.partition(BLANK)[0].rstrip()
    return text.replace(BLANK, mask[0])


def _written(text: str) -> str:
    return escaped(text).replace("\\_", ":blue-background[**\\_**]")
