"""The learner's own pair: two sentences, two words that compete, and the patches of this pair alone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.course.words import escaped, quoted, signed
from lab.evidence.shipped import model_hash
from lab.experiments.patching import figures, meanings
from lab.experiments.patching.contributions import contributions
from lab.experiments.patching.measure import MEASUREMENT
from lab.experiments.patching.own_pair import OwnPair, own_contrast, own_known, own_patching
from lab.experiments.patching.patches import Contrast, NotPatchable, plain_parts
from lab.models.cores import one_core
from lab.models.loading import LoadedModel
from lab.ui.drawing import code, draw
from lab.ui.long_work import offer
from lab.ui.parameters import BAD_WORD, CLEAN_TEXT, CORRUPT_TEXT, GOOD_WORD, PATCH, PATCH_WAY

_FIELDS = (CLEAN_TEXT, CORRUPT_TEXT, GOOD_WORD, BAD_WORD)
_OPEN = "_own_pair"


def offer_own(model: LoadedModel) -> None:
    """Draw :func:`show` behind a click; open it if a link or the learner has chosen another pair."""
    if _OPEN not in st.session_state and any(field.chosen() != field.default for field in _FIELDS):
        st.session_state[_OPEN] = True
    with st.expander("Patch a pair of your own", icon=":material/edit:", on_change="rerun", key=_OPEN) as own:
        if own.open:
            show(model)


def take(*values: str) -> None:
    """Put a pair into the fields (clean and corrupt sentence, first and second word), and open the fields."""
    for field, value in zip(_FIELDS, values, strict=True):
        field.set(value)
    st.session_state[_OPEN] = True


def show(model: LoadedModel) -> None:
    """Draw the fields, and the maps of the sentences, or the reason why they cannot be patched."""
    st.markdown(
        "Write two sentences that differ in the deciding word, each with one blank `_`, and two words for the blank. "
        "Both sentences need the same number of tokens."
    )
    left, right = st.columns([3, 1])
    with left:
        CLEAN_TEXT.line("Clean: the first word fits")
        CORRUPT_TEXT.line("Corrupt: the second word fits")
    with right:
        GOOD_WORD.line("First word")
        BAD_WORD.line("Second word")
    asked = OwnPair(*(field.chosen() for field in _FIELDS))
    try:
        two = own_contrast(model, asked)
        with one_core():
            _, _, (clean, corrupt) = plain_parts(model, two)
    except NotPatchable as reason:
        st.info(escaped(str(reason)), icon=":material/edit:")
        return
    good, bad = (quoted(word.strip()) for word in (asked.good, asked.bad))
    st.markdown(
        f"The logit of {good} minus the logit of {bad} is **{signed(clean)}** in the clean run and "
        f"**{signed(corrupt)}** in the corrupt one."
    )
    if clean < corrupt:
        st.caption(
            f"{escaped(model.id)} works the other way round: {good} is likelier in the corrupt sentence. Shares still "
            "refer to the difference between the two runs."
        )
    _patched(model, two, asked)


def _patched(model: LoadedModel, two: Contrast, asked: OwnPair) -> None:
    found = own_known(model, two)
    if found is None:
        key = (
            MEASUREMENT.id,
            model_hash(model),
            two.clean.token_ids,
            two.corrupt.token_ids,
            two.place,
            two.good,
            two.bad,
        )
        help = "The lab patches every part of every layer at every token, in both directions. This takes a few seconds."
        offer(key, "Patch these two sentences", partial(own_patching, model, two), help)
        return
    part, way = PATCH.chosen(), PATCH_WAY.chosen()
    draw(partial(figures.own_map, model, asked, part, way), "own-patches")
    st.markdown(f"**In this pair.** {meanings.own_meaning(found, figures.labels(model, two), two.place, way)}")
    with st.expander("What a gradient predicts for this pair", icon=":material/scatter_plot:"):
        draw(partial(figures.own_estimates, model, asked, part), "own-estimates")
    with st.expander("What each part adds to the logits directly", icon=":material/add:"):
        draw(partial(figures.own_contributions, model, asked), "own-contributions")
        st.markdown(meanings.added_up(*figures.parts_of(model, two)))
        st.caption(
            "The numbers are for the asked token of the clean sentence, with the scales of the LayerNorms held fixed. "
            "The effect of a part through later layers is left out; a patch includes that effect."
        )
        code(contributions)
