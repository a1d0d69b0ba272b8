"""Every place: the likeliest words of all tokens, with nothing hidden; a click writes out the softmax of one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.masking import masked_run, place_to_start
from lab.analysis.words.predictions import Candidate, candidate, candidates, likeliest, prediction_at
from lab.course.pages import lesson_of, number
from lab.course.words import VISIBLE, escaped, named, number_of, percent, quoted, share
from lab.figures.sentence import sentence
from lab.lessons.masked_language_model import LESSON, figures
from lab.lessons.masked_language_model.softmax import show_sum, written_out
from lab.models.catalogue import card
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import rises_or_falls, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw_cells
from lab.ui.frame.closing import meaning
from lab.ui.quiz.predictions import predict
from lab.ui.sentence import show_row
from lab.ui.terms import say

_ROWS = 24  # rows of a figure that is shown whole; a longer figure scrolls in a box
_BOX = 860  # pixels
_WHY_HIDE = (
    "BERT was trained on Wikipedia and some 11,000 books, 3.3 billion words in all. It learns to predict some of "
    "these words. Of 10 such words, 8 are hidden, 1 is replaced by a random word, and 1 stays as it is, because "
    "texts have no such mask when the model is used later (Devlin et al. 2019, §3.1). Training never hides a special "
    "token, so the rows of special tokens mean nothing."
)
_COPYING = "Copying needs no grammar, so BERT learns from hidden words."
_GRID, _CELL, _CLICKED = "every-place", "_every_cell", "_every_clicked"


def _origin(model_id: str) -> str:
    """Say where the weights of a model that ships come from; "" for other models."""
    shipped = card(model_id)
    return (
        f" {escaped(model_id)} {shipped.origin.removeprefix('It ')}" if shipped is not None and shipped.origin else ""
    )


@asks(
    basis=bet(
        "The word stays as probable as before, because its neighbours are the same.",
        "The model copies what it can see.",
    ),
    hint="The model now sees the word that it had to guess.",
    returns=2,
)
def shown_word(spot: Spot) -> Question | None:
    """Ask whether a word gains at its own place when the model can see it."""
    if spot.trace.model.config.causal or spot.trace.model.headless:
        return None
    both = hidden_and_seen(spot.trace)
    return None if both is None else word_seen(*both)


def word_seen(hidden: Candidate, visible: Candidate) -> Question | None:
    """Ask what happens to a word's probability, from ``hidden`` to ``visible``; None near the margin."""
    change = visible.probability - hidden.probability
    if abs(abs(change) - MARGIN) < 0.01:
        return None
    numbers = f"It goes from {share(hidden.probability)} to {share(visible.probability)}."
    prompt = (
        f"While it is hidden, {quoted(hidden.word)} has the probability {share(hidden.probability)}. Now the model "
        "may read the word itself. What happens to this probability?"
    )
    return which_holds("shown-word", prompt, numbers, rises_or_falls(change))


@asks(
    basis=derivable(LESSON, "every-place", "the words that the model names in plain sight"),
    hint="Think of what the model could do if the word itself were in the input.",
)
def why_hidden(spot: Spot) -> Question | None:
    """Ask why BERT needs the mask, or why GPT-2 needs none."""
    if spot.trace.model.config.causal:
        right = Option(
            "It never sees the tokens after the one you ask about",
            "The causal mask hides the future, so the model cannot simply read off the answer.",
            correct=True,
        )
        prompt = "Why can you ask this model for the next token without hiding anything?"
    else:
        right = Option(
            "It could read the word at its own place",
            "It sees every token, even the token that you ask about.",
            correct=True,
        )
        prompt = "Why do you hide a word before you ask this model about it?"
    wrong = (
        Option(
            "It then computes fewer numbers",
            "A mask is a token like any other. The number of tokens stays the same.",
        ),
        Option("Its vocabulary lacks that word", "Every token that it reads or names has an id in the vocabulary."),
        Option(
            "It knows this text by heart",
            "The model stores no texts. It gives every word a probability, even a word that it never saw.",
        ),
    )
    return shuffled("why-hidden", prompt, (right, *wrong))


def in_sight(hidden: Candidate, visible: Candidate) -> str:
    """Say how a word's probability at its own place changes when the model sees the word."""
    word = quoted(hidden.word)
    told = f"{share(hidden.probability)} to **{share(visible.probability)}**"
    change = visible.probability - hidden.probability
    if change < 0:
        return f"Seeing {word} does not help this model: its probability goes from {told}."
    if change < VISIBLE:
        return f"Seeing {word} changes little: its probability goes from {told}."
    if visible.rank == 1:
        return f"If {word} is visible, the model’s best answer is that word. Its probability goes from {told}."
    return f"Seeing {word} raises its probability from {told}. The word now has rank {visible.rank:,}."


def copied(trace: Trace, likeliest: Sequence[int]) -> str:
    """Count the places at which the likeliest word is the word of the text, or the next token of the text.

    ``likeliest`` has the id of the likeliest word at every place.
    """
    causal = trace.model.config.causal
    places = known_places(trace)
    if not places:
        return "There is no word here to compare with."
    right = sum(likeliest[place] == trace.token_ids[place + causal] for place in places)
    where = f"At **{right}** of {number_of(len(places), 'place')}"
    if causal:
        return (
            f"{where}, the model’s first choice is the token that comes next in your text. It has not seen that token "
            "yet."
        )
    most = "copies most words" if right > len(places) / 2 else "does not simply copy the words"
    how = "copies every word" if right == len(places) else most
    return f"{where}, the model’s first choice is the word of the text. If nothing is hidden, the model {how}."


def known_places(trace: Trace) -> list[int]:
    """The places of words, or before words in a causal model, without special tokens and typed blanks."""
    causal, mask = trace.model.config.causal, trace.model.mask
    blank = None if mask is None else mask[1]
    words = (not special and i != blank for special, i in zip(trace.encoding.special, trace.token_ids, strict=True))
    return [place - causal for place, word in enumerate(words) if word and place >= causal]


def show(trace: Trace) -> Trace:
    """Ask how a word's probability changes in plain sight; then show the likeliest words of every token."""
    causal = trace.model.config.causal
    both = None if causal else hidden_and_seen(trace)
    if causal:
        say(
            "What does the model expect after each token? It reads from left to right, so it has not seen the next "
            "token."
        )
    else:
        say("Does it matter that a word is hidden? Leave all words visible, and ask about them again.")
    if both is not None and not predict(LESSON, shown_word(Spot(trace, 0, 0, 0, 0))):
        return trace
    rows = _show_grid(trace)
    if rows.stop - rows.start < len(trace):
        st.caption(f"The map shows tokens {rows.start + 1} to {rows.stop} of {len(trace)}, around the chosen one.")
    found = likeliest(trace, figures.ranks(trace))
    told = copied(trace, found.ids[:, 0].tolist())
    meaning(f"{in_sight(*both)} {told}" if both is not None else told)
    say(
        f"{'A model like this learns to predict each next token.' if causal else _COPYING} For each "
        f"{'token' if causal else 'hidden word'}, training changes all numbers so that it becomes more "
        f"probable (lesson {number(lesson_of('how-it-learns'))}).{_origin(trace.model.id)}"
    )
    if not causal:
        with st.expander("How BERT hides words in training", on_change="rerun", key="_why_hide") as why:
            if why.open:
                say(_WHY_HIDE)
    _show_written_out(trace, *_chosen_cell(trace))
    code(likeliest, predictions.Prediction)
    return trace


def _show_grid(trace: Trace) -> slice:
    """Draw the sentence and the grid, in both of which a click chooses a word; returns the places that are drawn."""
    place, rank = _chosen_cell(trace)
    row = replace(sentence(trace, place), hint="Click a word to look at its place in the figure.")
    show_row(row, lambda place, _: st.session_state.update({_CELL: (place, rank)}))
    rows = figures.places_drawn(trace, place)
    with st.container(height=_BOX if rows.stop - rows.start > _ROWS else "content", border=False):
        # If the rows change, the key does, too: otherwise the browser would keep the click that moved the rows.
        clicked = draw_cells(partial(figures.every_place, trace, (place, rank)), f"{_GRID}-{rows.start}")
    if clicked is not None and (clicked, rows.start) != st.session_state.get(_CLICKED):
        st.session_state[_CLICKED] = clicked, rows.start
        st.session_state[_CELL] = clicked[0] + rows.start, clicked[1]
        st.rerun()
    return rows


def hidden_and_seen(trace: Trace) -> tuple[Candidate, Candidate] | None:
    """The word that the course hides in this text, with its probability when it is hidden and when it is visible.

    None if the text has no such word.
    """
    mask, tokenizer = trace.model.mask, trace.model.tokenizer
    places = () if mask is None else place_to_start(trace.encoding, mask[1])
    if not places or trace.token_ids[places[0]] == trace.model.unknown:
        return None
    place, word = places[0], trace.token_ids[places[0]]
    hidden = prediction_at(masked_run(trace, (place,)), place, None)
    return candidate(hidden, word, tokenizer), candidate(prediction_at(trace, place, None), word, tokenizer)


def _chosen_cell(trace: Trace) -> tuple[int, int]:
    """The chosen place and rank, from 0, inside the text; at first, the place of the word that the step is about."""
    place, rank = st.session_state.get(_CELL, (-1, 0))
    if 0 <= place < len(trace) and rank < figures.ranks(trace):
        return place, rank
    mask = trace.model.mask
    if not trace.model.config.causal and mask is not None and (start := place_to_start(trace.encoding, mask[1])):
        return start[0], 0
    surest = likeliest(trace, figures.ranks(trace)).probabilities[:, 0]
    words = [i for i, special in enumerate(trace.encoding.special) if not special] or list(range(len(trace)))
    return min(words, key=lambda i: float(surest[i])), 0


def _show_written_out(trace: Trace, place: int, rank: int) -> None:
    """Draw, folded, how one word's probability is computed: logit, exponential, sum, share."""
    with st.expander(
        "One probability, written out", icon=":material/function:", on_change="rerun", key="_every_sum"
    ) as x:
        if x.open:
            _show_sum(trace, place, rank)


def _show_sum(trace: Trace, place: int, rank: int) -> None:
    found = prediction_at(trace, place, None)
    shown = candidates(found, figures.ranks(trace), trace.model.tokenizer)
    words = [f"{each.rank} · {each.word}" for each in shown]

    def take() -> None:
        st.session_state[_CELL] = place, st.session_state["_every_rank"]

    st.session_state["_every_rank"] = rank
    st.selectbox("Word", range(len(words)), key="_every_rank", on_change=take, format_func=words.__getitem__)
    chosen = shown[rank]
    where = "after" if trace.model.config.causal else "at"
    say(
        f"{quoted(chosen.word)} {where} {named(trace, place)} has **{percent(chosen.probability)}**. Click another "
        "cell of the figure to see where its share comes from."
    )
    st.latex(written_out(chosen, found))
    show_sum(shown, found)
