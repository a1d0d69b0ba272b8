"""What each step of the lesson offers to try: the sentence of the first page, another place, another reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.analysis.words.masking import mask_of, maskable, whole_words
from lab.course.blanks import BLANKS
from lab.course.words import quoted
from lab.models.encoding import encode, word_of
from lab.ui import masking
from lab.ui.frame.script import try_this
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import LENS, MASKED, PAIR, PLACE, RANK, TEMPERATURE, TEXT, TOY
from lab.ui.prediction import PredictionView

Changes = Mapping[Parameter[Any], Any]
_FIRST = BLANKS[0]


def first_page(view: PredictionView) -> None:
    """The sentence of the first page with its verb asked for; where it stands already, with its subject changed."""
    if view.page.selection.mode == TOY:
        return
    changed = view.plain.text == _FIRST.filled()
    before, after = map(quoted, _FIRST.change)
    if changed:
        why = f"Change {before} to {after}, as on the first page. Which verb belongs there now?"
    else:
        why = "Ask about the sentence of the first page. Which verb fits the boys?"
    try_this(why, f"The {_FIRST.change[changed]}", _asked_about(view, changed))


def _asked_about(view: PredictionView, changed: bool) -> Changes:
    """The sentence with its answer hidden, or asked for after the word before it."""
    text = _FIRST.filled(changed)
    encoding = encode(view.model.tokenizer, view.model.config, text)
    start = text.index(_FIRST.answers[changed])
    place = next(i for i, (_, end) in enumerate(encoding.offsets) if end > start and not encoding.special[i])
    if view.causal:
        return {TEXT: text, PAIR: "", PLACE: place}  # the token before it, counted from 1
    return {TEXT: text, PAIR: "", MASKED: masking.written((place,)), PLACE: place + 1}


def another_place(view: PredictionView) -> None:
    """Ask about the longest other word of the text: another vector, other logits."""
    encoding, plain = view.plain.encoding, view.plain
    mask = mask_of(view.model.tokenizer)
    asked = view.place + view.causal
    open_to = maskable(encoding, mask[1] if mask else -1)
    others = [i for i in whole_words(encoding, open_to) or open_to if i != asked and i >= view.causal]
    if not others:
        return
    longest = max(others, key=lambda i: len(word_of(view.model.tokenizer, plain.token_ids[i])))
    word = quoted(word_of(view.model.tokenizer, plain.token_ids[longest]))
    if view.causal:
        try_this(f"Ask before {word}: another vector, other words.", f"After token {longest}", {PLACE: longest})
        return
    changes: Changes = {MASKED: masking.written((longest,)), PLACE: longest + 1}
    try_this(f"Hide {word} instead: another vector, other words.", f"Hide token {longest + 1}", changes)


def colder(view: PredictionView) -> None:
    """A lower temperature for a model that draws; another sentence for one that fills blanks."""
    if view.causal:
        why = "At temperature 0.5 every lead counts double. What becomes of the first word?"
        try_this(why, "Temperature 0.5", {TEMPERATURE: 0.5})
    else:
        first_page(view)


def ranks() -> None:
    """The lens with the ranks of the true word."""
    try_this("See how far down the true one begins, and when it climbs.", "Rank of the true one", {LENS: RANK})
