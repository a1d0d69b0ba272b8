"""The pairs behind a number: pairs in which the good form wins or loses, with a head and without this head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.course.words import escaped, signed
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.pairs import BLANK, MinimalPair, ask
from lab.experiments.needed_heads.claims import HURTS, NEEDED, name_of
from lab.experiments.needed_heads.measure import NeededTest
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, KEY_TOKEN, LAYER, MASKED, PLACE, TOKEN

_TEMPLATE, _HEAD = "_experiment_template", "_experiment_head"
_HEADS = 6  # heads to choose from


@dataclass(frozen=True)
class ShownPair:
    """A pair and its logit difference, with all heads and without one head."""

    pair: MinimalPair
    plain: float
    without: float

    @property
    def right(self) -> bool:
        """True if the good form wins with all heads."""
        return self.plain > 0

    @property
    def turns(self) -> bool:
        """True if the winner changes without the head."""
        return (self.without > 0) != self.right


def heads_of(found: NeededTest) -> list[Head]:
    """The two heads that the claims are about, then the heads without which the logit difference changes most."""
    order = np.argsort(-np.abs(found.effect.mean), axis=None, kind="stable")
    most = [(int(at) // found.shape[1], int(at) % found.shape[1]) for at in order]
    chosen = [found.row(claim).heads[0] for claim in (NEEDED, HURTS)]
    return list(dict.fromkeys([*chosen, *most]))[:_HEADS]


def pairs_of(found: NeededTest, template: str, head: Head) -> list[ShownPair]:
    """A template's pairs of half B: first those whose winner changes, then by the change of the logit difference."""
    at = np.flatnonzero(found.of(template) & found.b)
    shown = [ShownPair(found.pairs[p], float(found.plain[p]), float(found.changed[(*head, p)])) for p in at]
    return sorted(shown, key=lambda each: (not each.turns, -abs(each.without - each.plain)))


def show(model: LoadedModel, found: NeededTest) -> Trace | None:
    """Draw the choice of a head and a template, and their pairs; returns the first pair's run."""
    heads = heads_of(found)
    names = {each.id: each.name for each in TEMPLATES if (found.of(each.id) & found.b).any()}
    left, right = st.columns(2)
    head = left.selectbox("Head to remove", heads, key=_HEAD, format_func=lambda each: _told(found, each))
    template = right.selectbox("Template", list(names), key=_TEMPLATE, format_func=names.__getitem__)
    head, template = head if head in heads else heads[0], template if template in names else next(iter(names))
    pairs = pairs_of(found, template, head)
    wins, before = sum(each.without > 0 for each in pairs), sum(each.right for each in pairs)
    st.markdown(
        f"Of {len(pairs)} pairs of half B, the good form wins in {before} with all heads and in {wins} without head "
        f"{name_of(head)}; the winner changes in {sum(each.turns for each in pairs)}."
    )
    st.caption("First come the pairs whose winner changes, then the pairs whose logit difference changes most.")
    kinds = {
        f"The {form} form wins, with all heads": [each for each in pairs if each.right == (form == "good")]
        for form in ("good", "bad")
    }
    shown = two_kinds(kinds, lambda each, key: _pair(model, each, head, key), "Other pairs")
    return runs.run(model.id, read(model, shown[0].pair)[0], "", Interventions()) if shown else None


def _told(found: NeededTest, head: Head) -> str:
    """Name a head with its effect, and the claim that it is chosen for, if any."""
    said = {found.row(NEEDED).heads[0]: ", most needed on A", found.row(HURTS).heads[0]: ", hurts most on A"}
    return f"{name_of(head)}: {signed(found.effect.mean[head], plus=True)}{said.get(head, '')}"


def _pair(model: LoadedModel, each: ShownPair, head: Head, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(each.pair))
        now = "good" if each.without > 0 else "bad"
        turns = f"; now the **{now}** form wins" if each.turns else ""
        before, after = signed(each.plain, plus=True), signed(each.without, plus=True)
        st.caption(f"Logit difference {before}; without head {name_of(head)}: {after}{turns}.")
        text, place, deciding = read(model, each.pair)
        at: dict[Parameter[Any], Any] = {LAYER: head[0] + 1, HEAD: head[1] + 1}
        asked: dict[Parameter[Any], Any] = {
            MASKED: "",
            PLACE: place + 1,
        }
        with st.container(horizontal=True):
            look_there("masked-language-model", text, at | asked, f"_experiment.words.{key}", asking_step(model))
            there = at | {TOKEN: place + 1, KEY_TOKEN: deciding + 1}
            look_there("self-attention", text, there, f"_experiment.lesson.{key}", "map")


def marked(pair: MinimalPair) -> str:
    """The sentence as Markdown, with the good form green and the bad form orange."""
    before, after = (escaped(part.strip()) for part in pair.text.split(BLANK))
    good, bad = escaped(pair.good), escaped(pair.bad)
    return f"{before} :green-background[{good}] :orange-background[{bad}] {after}"


def read(model: LoadedModel, pair: MinimalPair) -> tuple[str, int, int]:
    """The text that the model reads, as a learner would type it; the asked place and the deciding token, from 0."""
    asked = ask(model, pair)
    assert asked is not None  # a measured pair can always be asked again
    text = pair.text.split(BLANK)[0].strip()
    if not model.config.causal:
        text = pair.text.replace(BLANK, asked.encoding.tokens[asked.place])
    return text, asked.place, asked.deciding
