"""The learner's own head: the average change without this head, and the pairs behind this average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.course.words import escaped, number_of, signed
from lab.evidence.pairs import BLANK, MinimalPair, ask
from lab.experiments.needed_heads.claims import HURTS, NEEDED, name_of
from lab.experiments.needed_heads.measure import NeededTest, known
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.claim_table import two_kinds
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, KEY_TOKEN, LAYER, MASKED, PLACE, TOKEN

_HEAD = "_experiment_head"
_IN_SIGHT = 2  # pairs whose winner changes, beside the choice of the head


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
    """All heads: the two that the claims are about, then by the change of the logit difference, the largest first."""
    order = np.argsort(-np.abs(found.effect.mean), axis=None, kind="stable")
    every = [(int(at) // found.shape[1], int(at) % found.shape[1]) for at in order]
    return list(dict.fromkeys([*(found.row(claim).heads[0] for claim in (NEEDED, HURTS)), *every]))


def pairs_of(found: NeededTest, head: Head) -> list[ShownPair]:
    """All pairs: first those whose winner changes, then by the change of the logit difference."""
    both = zip(found.pairs, found.plain.tolist(), found.changed[head].tolist(), strict=True)
    shown = [ShownPair(*each) for each in both]
    return sorted(shown, key=lambda each: (not each.turns, -abs(each.without - each.plain)))


def in_sight(found: NeededTest, head: Head) -> list[ShownPair]:
    """The pairs that are drawn beside the choice of the head: up to two, whose winner changes."""
    return [each for each in pairs_of(found, head)[:_IN_SIGHT] if each.turns]


def without(found: NeededTest, head: Head) -> str:
    """Say how the logit difference and the accuracy change on average without a head."""
    effect, pairs = found.effect, pairs_of(found, head)
    wins, before = sum(each.without > 0 for each in pairs), sum(each.right for each in pairs)
    change = f"{signed(effect.mean[head], plus=True)} ({signed(effect.low[head])} to {signed(effect.high[head])})"
    turned = sum(each.turns for each in pairs)
    return (
        f"Without head {name_of(head)}, the logit difference changes by {change}, a mean over {len(pairs)} pairs. The "
        f"good form wins in {wins} of them, and with all heads in {before}. The winner changes in "
        f"{number_of(turned, 'pair') if turned else 'no pair'}."
    )


def show_own(model: LoadedModel) -> None:
    """Draw the choice of a head, the average change without it, and up to two pairs whose winner changes."""
    if (found := known(model)) is None:
        return
    st.markdown("**Remove a head of your own choice.**")
    st.selectbox("Head to remove", heads_of(found), key=_HEAD, format_func=lambda each: _told(found, each), width=320)
    head = _chosen(found)
    st.markdown(without(found, head))
    shown = in_sight(found, head)
    for column, (at, each) in zip(st.columns(_IN_SIGHT), enumerate(shown), strict=False):
        with column:
            _show_pair(model, each, head, f"own.{at}")


def _chosen(found: NeededTest) -> Head:
    heads, head = heads_of(found), st.session_state.get(_HEAD)
    return head if head in heads else heads[0]  # another model may not have this head


def _told(found: NeededTest, head: Head) -> str:
    """Name a head with its effect, and the claim that it is chosen for, if any."""
    said = {
        found.row(NEEDED).heads[0]: ", needed most on half A",
        found.row(HURTS).heads[0]: ", most harmful on half A",
    }
    return f"{name_of(head)}: {signed(found.effect.mean[head], plus=True)}{said.get(head, '')}"


def show_pairs(model: LoadedModel, found: NeededTest) -> Trace | None:
    """Draw the pairs that are not in sight, without the same head; returns the first pair's run."""
    head = _chosen(found)
    pairs = pairs_of(found, head)[len(in_sight(found, head)) :]
    st.caption(
        f"These are the other pairs, without head {name_of(head)}. First come the pairs whose winner changes, then "
        "the pairs whose logit difference changes most."
    )
    kinds = {
        f"The {form} form wins, with all heads": [each for each in pairs if each.right == (form == "good")]
        for form in ("good", "bad")
    }
    shown = two_kinds(kinds, lambda each, key: _show_pair(model, each, head, key), "Other pairs")
    return runs.run(model.id, read(model, shown[0].pair)[0], "", Interventions()) if shown else None


def _show_pair(model: LoadedModel, each: ShownPair, head: Head, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(each.pair))
        now = "good" if each.without > 0 else "bad"
        turns = f", so the **{now}** form now wins" if each.turns else ""
        before, after = signed(each.plain, plus=True), signed(each.without, plus=True)
        st.caption(f"The logit difference is {before} with all heads and {after} without head {name_of(head)}{turns}.")
        text, place, deciding = read(model, each.pair)
        at: dict[Parameter[Any], Any] = {LAYER: head[0] + 1, HEAD: head[1] + 1}
        asked: dict[Parameter[Any], Any] = {MASKED: "", PLACE: place + 1}
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
