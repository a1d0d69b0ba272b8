"""What does a head bring?: the blank gets what heads bring in another sentence; then the heads are removed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import streamlit as st

from lab.analysis.flow.cut_off import asked_of
from lab.analysis.heads.swapping import Asked, companions, others, swapped
from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.predictions import candidate, prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import STORY_HEAD, STORY_TEXT, is_story
from lab.course.words import escaped, listed, quoted, spoken
from lab.evidence import story
from lab.lessons.multi_head_attention import LESSON
from lab.lessons.multi_head_attention.word_brings import NOTHING
from lab.models.encoding import TextError
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace, changed
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.parameter_kinds import say_shortened, shorten
from lab.ui.parameters import HEAD, LAYER
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, say_more, try_this
from lab.ui.sentence import show_asked
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.prediction import cannot_predict

IDEA = """
From {query}, {key} gets {shares}. Does the answer hang on what {heads} {brings}? The lab runs another sentence, takes
what {heads} {brings} to {place} there, and puts it in the place of what {query} gets from {them} here. What the other
heads bring stays, and all that comes after is computed anew. Then it does the same with the {count} other heads of the
layer."""
READING = """
With {heads} from the other sentence, {own} goes from {before:.2f} to **{left:.2f}**, and {other} from {far:.2f} to
**{near:.2f}**. With the {count} other heads from there, they have {kept:.2f} and {stays:.2f}."""
STORY = "In this pair, what 6-4 and 6-6 bring decides between Paris and Moscow; what the ten others bring does not."
LIST = """
**For other countries, too?** Mostly. The model names the capitals of {count} countries, which make {pairs:,} pairs.
With these two heads swapped, the other capital comes first in {other:,} of them. With the ten others swapped, the own
capital stays first in {own:,}, though often with less than half of its probability."""
REMOVED = """
**Removed instead of swapped.** At zero, the two heads bring nothing: *paris* falls to {zero:.2f}, and *london* comes
first. At their mean, they bring each token the same, the average over all tokens of this sentence, a part of which is
about *France*: *paris* falls to {mean:.2f}, and still comes first. Of {count} countries, the capital still comes first
in {zeros} at zero, and in {means} at the mean. So what a removal shows depends on what takes the place."""
CAVEAT = (
    "A swapped run is one that the model never met. The vectors that it gets are ones that the model itself has made."
)
OTHER = "The other sentence, with _ for the blank; without a blank, its last word is hidden"
OTHER_CAUSAL = "The other sentence, up to the place after which the model says the next word"
ASK = "Type another sentence. The lab takes the heads’ parts from the place at which the model says a word."
SAME = "In both sentences, the model says {word}. Type a sentence in which it says another word."
# A head that gives at least this share of its attention to the same token belongs to the heads that look there.
LEAST = story.LEAST
_COUNTRY, _TYPED = "_other_country", "_other_sentence"


def show(view: OneHead) -> Trace | None:
    """Swap what heads bring, from another country or from a sentence of the learner's; return the plain run."""
    own = asked_of(view.trace)
    if own is None:
        say(cannot_predict(view.trace.model) or NOTHING)
        return None
    layer, head = STORY_HEAD if is_story(view.trace) else (view.layer.index, view.head)
    heads = companions(own.run, layer, head, own.place, LEAST)
    key = int(own.run.layer(layer).attention[head, own.place].argmax())
    count = own.run.model.config.heads - len(heads)
    query, favourite = spoken(own.run, own.place), quoted(own.run.labels[key])
    row = own.run.layer(layer).attention[:, own.place, key]
    shares = listed([f"{row[each]:.2f} in {layer + 1}-{each + 1}" for _, each in sorted(heads)])
    say(
        IDEA.format(
            heads=heads_in_short(heads),
            key=favourite,
            query=query,
            shares=shares,
            count=count,
            brings="bring" if len(heads) > 1 else "brings",
            them="them" if len(heads) > 1 else "it",
            place="the last token" if view.trace.model.config.causal else "the blank",
        )
    )
    show_asked(own.run, own.place)
    _offer_a_look_at_a_word(own, key)
    if not predict(LESSON, two_heads_swapped()):
        return own.run
    other = _choose_other(view)
    if other is None:
        return own.run
    found = brought(own, other, heads)
    if found.own_word == found.other_word:
        say(SAME.format(word=quoted(found.own_word)))
        return own.run
    _show_both_words(own, other, (layer, head), found)
    told = story.known(view.trace.model)
    if is_story(view.trace) and told is not None:
        meaning(f"{reading(found)} {STORY}" if found.other_word == "moscow" else reading(found))
        say_more(of_swaps(told))
        say_more(removed(found, told))
    else:
        meaning(reading(found))
    caption(CAVEAT)
    code(swapped)
    return own.run


def _offer_a_look_at_a_word(own: Asked, key: int) -> None:
    """If the head looks most at a mark (the token ``key``), offer the head that looks most at another word."""
    special = own.run.encoding.special
    if not special[key] or all(special):
        return
    layer, head, word = looks_at_a_word(own)
    where = f"{layer + 1}-{head + 1}"
    mark, looked = (quoted(own.run.labels[at]) for at in (key, word))
    told = f"{mark} is no word, and this head may rest there. {where} looks at {looked}."
    try_this(told, f"Take {where}", {LAYER: layer + 1, HEAD: head + 1})


def looks_at_a_word(own: Asked) -> tuple[int, int, int]:
    """Return the layer and the head that look most from the place at another word, and this word; all from 0."""
    weights = np.stack([own.run.layer(at).attention[:, own.place] for at in range(own.run.model.config.layers)])
    weights[..., np.array(own.run.encoding.special)] = 0
    weights[..., own.place] = 0
    layer, head, word = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(layer), int(head), int(word)


def _show_both_words(own: Asked, other: Asked, at: Head, found: SwapOutcome) -> None:
    call = partial(one_word, own.run, other.run, (own.place, other.place), at)
    left, right = st.columns(2)
    with left:
        draw(_bars(found, "own"), "own-word", again=partial(call, "own"))
    with right:
        draw(_bars(found, "other"), "other-word", again=partial(call, "other"))


@dataclass(frozen=True)
class TwoWords:
    """The probabilities, in one run, of the best word of its own sentence and of the best word of the other one."""

    own: float
    other: float


@dataclass(frozen=True)
class SwapOutcome:
    """What becomes of two words, each the best of its sentence, if ``heads`` are changed at the place of the first.

    In the run as it is; with the heads from the other sentence, or the ``rest`` of their layer from there; and with the
    heads at zero, or at their mean over the sentence.
    """

    heads: frozenset[Head]
    rest: int
    own_word: str
    other_word: str
    plain: TwoWords
    heads_swapped: TwoWords
    rest_swapped: TwoWords
    at_zero: TwoWords
    at_mean: TwoWords


def brought(own: Asked, other: Asked, heads: frozenset[Head]) -> SwapOutcome:
    """Swap and remove what ``heads`` bring to the place of ``own``."""
    rest = others(own.run, heads)
    best = [int(prediction_at(each.run, each.place, None).logits.argmax()) for each in (own, other)]

    def in_run(run: Trace) -> TwoWords:
        p = prediction_at(run, own.place, None).probabilities
        return TwoWords(float(p[best[0]]), float(p[best[1]]))

    plain = prediction_at(own.run, own.place, None)
    words = [candidate(plain, token, own.run.model.tokenizer).word for token in best]
    return SwapOutcome(
        heads,
        len(rest),
        words[0],
        words[1],
        plain=in_run(own.run),
        heads_swapped=in_run(swapped(own, other, heads)),
        rest_swapped=in_run(swapped(own, other, rest)),
        at_zero=in_run(changed(own.run, Interventions(zero_heads=heads))),
        at_mean=in_run(changed(own.run, Interventions(mean_heads=heads))),
    )


def heads_in_short(heads: frozenset[Head]) -> str:
    """Name heads by layer and number from 1: "6-4 and 6-6"."""
    return listed([f"{layer + 1}-{head + 1}" for layer, head in sorted(heads)])


def reading(found: SwapOutcome) -> str:
    """Say what becomes of both words if the heads, or the others, come from the other sentence."""
    plain, two, rest = found.plain, found.heads_swapped, found.rest_swapped
    return READING.format(
        heads=heads_in_short(found.heads), own=quoted(found.own_word), other=quoted(found.other_word),
        before=plain.own, left=two.own, far=plain.other, near=two.other, count=found.rest, kept=rest.own,
        stays=rest.other,
    )  # fmt: skip


def of_swaps(found: story.CourseStory) -> str:
    """Say what the swaps do in all pairs of countries of the fixed list."""
    two, rest = found.change("heads at country"), found.change("other heads of their layer")
    counts = {"count": len(found.named), "pairs": two.pairs}
    return LIST.format(**counts, other=two.other, own=rest.own)


def removed(found: SwapOutcome, told: story.CourseStory) -> str:
    """Say what becomes of the word without the heads, in both ways, here and in the fixed list."""
    zeros, means = (told.first_after(f"heads at country, {way}") for way in ("at zero", "at their mean"))
    return REMOVED.format(
        zero=found.at_zero.own, mean=found.at_mean.own, count=len(told.named), zeros=zeros, means=means
    )


@asks(
    basis=bet(
        "What a head brings is about its own sentence, and disturbs another one.",
        "What these heads bring decides the answer.",
        "The other heads carry the answer, too.",
    ),
    hint="What did 6-4 and 6-6 look at in the other sentence?",
)
def two_heads_swapped() -> Question:
    """Ask what the model says with two heads from the sentence about Russia."""
    return Question(
        "two-heads-swapped",
        "In *The capital of France is ▢.*, the blank gets what heads 6-4 and 6-6 bring in *The capital of Russia is "
        "▢.* What "
        "the other heads bring stays. Which word comes first?",
        (
            Option(
                "*paris*: ten heads of the layer still come from France",
                "The ten others decide little here: if what they bring comes from Russia, *paris* still comes first.",
            ),
            Option(
                "*moscow*",
                "These two heads bring which country it is. That a capital is wanted is so in both sentences.",
                correct=True,
            ),
            Option(
                "Some word that fits neither country",
                "The model never met such a mixture, so this could be. In this pair, a capital still comes first.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "head-brings", "the third pair of bars"),
    hint="The bars say which word comes first. Does the answer change?",
)
def ten_others() -> Question:
    """Ask what a small fall of the own word shows if the ten other heads come from Russia."""
    return Question(
        "ten-others",
        "With the ten other heads of layer 6 from the sentence about Russia, *paris* falls from 0.38 to 0.32, and "
        "*moscow* rises to 0.0002. What does this show?",
        (
            Option(
                "The ten heads bring about a sixth of which country it is",
                "*paris* loses a sixth, but *moscow* does not get it: it has 0.0002, and 0.51 with the two heads.",
            ),
            Option(
                "The ten heads do nothing",
                "Then nothing would change. *paris* loses a sixth of its probability.",
            ),
            Option(
                "In this pair, they bring hardly anything of which country it is",
                "*moscow* rises, but only to 0.0002. With the two heads at *France* from there, it has 0.51.",
                correct=True,
            ),
        ),
        mixed=True,
    )


def one_word(own: Trace, other: Trace, places: tuple[int, int], at: Head, which: Literal["own", "other"]) -> Figure:
    """Draw the probability of a sentence's best word, in the plain run of ``own`` and in its changed runs.

    ``places`` are the blanks of both sentences; the heads look where the head ``at`` does.
    """
    heads = companions(own, *at, places[0], LEAST)
    return _bars(brought(Asked(own, places[0]), Asked(other, places[1]), heads), which)


def _bars(found: SwapOutcome, which: Literal["own", "other"]) -> Figure:
    rows = {
        "as it is": found.plain,
        "heads swapped": found.heads_swapped,
        "others swapped": found.rest_swapped,
        "heads at zero": found.at_zero,
        "heads at mean": found.at_mean,
    }
    word = found.own_word if which == "own" else found.other_word
    values = [each.own if which == "own" else each.other for each in rows.values()]
    title, scale = f"Probability of {word}", Scale("Probability", (0.0, 1.0), ".2f")
    return bars(list(rows), values, scale, title=title, highlight=(0, 1, 2))


def _choose_other(view: OneHead) -> Asked | None:
    """Let the learner choose the other sentence: another country's, or any; None if there is none yet."""
    told = story.known(view.trace.model)
    if is_story(view.trace) and told is not None:
        countries = [row.country for row in told.named if row.country != story.COUNTRY[0]]
        first = countries.index(story.RIVAL[0])
        chosen = st.selectbox("The other country", countries, first, key=_COUNTRY, persist_state="session", width=260)
        text = STORY_TEXT.replace(story.COUNTRY[0], chosen)
    else:
        label = OTHER_CAUSAL if view.trace.model.config.causal else OTHER
        st.text_input(label, key=_TYPED, on_change=shorten, args=(_TYPED, 400), persist_state="session")
        say_shortened(_TYPED, 400)
        text = str(st.session_state.get(_TYPED) or "").strip()
    if not text:
        say(ASK)
        return None
    try:
        read = with_blank(view.trace.model, text)
        found = asked_of(runs.run(view.trace.model.id, read, "", Interventions()))
    except TextError as reason:
        say(escaped(str(reason)))
        return None
    if found is None:
        say(NOTHING)
    return found
