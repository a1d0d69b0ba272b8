"""The screens of the masked-language-model lesson, one function a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.masking import masked_run, unknown_of
from lab.analysis.words.predictions import Candidate, Prediction
from lab.charts.base.axes import Scale
from lab.charts.cells.strips import VALUE, strips
from lab.charts.marks.bars import bars
from lab.course.words import quoted, share
from lab.lessons.masked_language_model import LESSON, checks, figures, meanings, tries
from lab.lessons.masked_language_model.onward import on_the_way
from lab.lessons.masked_language_model.softmax import play_softmax, show_sum, written_out
from lab.lessons.masked_language_model.view import numbers_table, temperature
from lab.models import forward
from lab.models.trace import Trace
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning
from lab.ui.parameters import MODE, TOP, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.shared import masking
from lab.ui.shared.prediction import PredictionView
from lab.ui.toys.toy_runs import TRAIN_STEP, link_to_toy

_BESIDE = 5  # words of each of two inputs
_WHY_HIDE = (
    "A model that is asked only about words it sees can answer by copying. It needs no neighbour for that, and no "
    "grammar. So BERT is trained on hidden words: of 10 words it is asked about, 8 are hidden, 1 is replaced by a "
    "random word and 1 stays, as the texts of later tasks have no [MASK] (Devlin et al. 2019, §3.1)."
)


def show_hidden(view: PredictionView) -> None:
    """Which word stands behind [MASK]?"""
    prompt = f"Which word does the model find most probable at token {view.place + 1}?"
    if _predict_best(view, prompt):
        _show_best(view, view.prediction)
        meaning(meanings.answered(view.trace, view.prediction))
        _show_truth(view, view.prediction, f"In your text, token {view.place + 1} is")
        tries.one_word_changed(view)
        if view.page.selection[MODE] != TOY:
            link_to_toy("How does a model learn this? Watch a toy", TRAIN_STEP)


def show_next(view: PredictionView) -> None:
    """What comes next? The same question for a model that reads from left to right."""
    st.markdown(
        f"{quoted(view.model.id)} reads from left to right and never sees what comes after a token, so nothing needs "
        "hiding: it has no [MASK]. You ask it for the next token. Bars like those of the first page are made here: a "
        "**probability** for every token of its vocabulary, a number from 0 to 1. All of them together make 1."
    )
    if _predict_best(
        view, f"Which token does the model find most probable after token {view.place + 1}, at temperature 1?"
    ):
        prediction = view.prediction.at(temperature())
        _show_best(view, prediction)
        meaning(meanings.answered(view.trace, prediction))
        _show_truth(view, prediction, f"In your text, token {view.place + 2} is")
        st.markdown(
            "At temperature 1 this is the model’s own distribution. A lower temperature sharpens it, a higher one "
            "flattens it."
        )
        tries.one_word_changed(view)


def _predict_best(view: PredictionView, prompt: str) -> bool:
    if meanings.random_weights(view.model):
        return True
    best, truth = view.best(5), view.truth
    if truth is not None and truth.rank == 1:
        # The sidebar has that word, so it is no question. The next one is.
        before = f"Your text has {quoted(truth.word)} there, and the model finds it most probable, too."
        question = checks.next_best_word(before, best, view.model.config.vocabulary)
    else:
        question = checks.best_word(prompt, best[:4], truth, view.model.config.vocabulary)
    return predict(LESSON, question)


def _show_best(view: PredictionView, prediction: Prediction) -> None:
    """The most probable words as bars, the true one in full colour."""
    top = TOP.choose("Candidates")
    draw(
        partial(figures.best_words, view.trace, prediction.place, prediction.truth, top, prediction.temperature),
        "candidates",
    )


def _show_truth(view: PredictionView, prediction: Prediction, lead: str) -> None:
    truth = predictions.true_word(prediction, view.model.tokenizer)
    if truth is None:
        return
    st.markdown(
        f"{lead} {quoted(truth.word)}: rank **{truth.rank:,}** of {view.model.config.vocabulary:,}, "
        f"probability **{share(truth.probability)}**."
    )
    if truth.token_id == unknown_of(view.model.tokenizer):
        st.markdown("The word you wrote there is not in the vocabulary, so the model cannot name it.")


def show_vector(view: PredictionView) -> None:
    """Hidden state -> transform -> dot product with every word."""
    config = view.model.config
    steps = predictions.head_steps(view.trace, view.place)
    _show_steps(view, steps)
    _show_parts(view, steps)
    meaning(meanings.compared(view.trace, view.place))
    left, right = st.columns(2)
    left.metric("Logits computed for this token", f"{config.vocabulary:,}", border=True)
    right.metric(
        f"For all {len(view.trace)} tokens it would be", f"{len(view.trace) * config.vocabulary:,}", border=True
    )
    st.markdown(on_the_way(view.trace, 1))
    tries.another_place(view)
    st.markdown(f"In Python, where tokens are counted from 0: `trace.logits({view.place})`.")
    code(forward.vocabulary_logits)


def _show_steps(view: PredictionView, steps: predictions.HeadSteps) -> None:
    """The vectors of the head, each on a scale of its own: LayerNorm can make numbers ten times as large."""
    head = view.model.weights.vocabulary_head
    normed = steps.dense is not None and view.model.weights.final_norm is not None
    rows = {"hidden state, final LayerNorm" if normed else "hidden state": steps.hidden}
    if head is not None and steps.dense is not None and steps.activation is not None:
        rows |= {"dense": steps.dense, head.activation.split("_")[0].upper(): steps.activation}
    rows["LayerNorm"] = steps.normed
    if head is not None and steps.dense is not None:
        st.markdown(
            "First the vocabulary head passes the vector through a layer of its own: a matrix (dense), "
            f"{head.activation.split('_')[0].upper()}, LayerNorm. Then it compares."
        )
    most = {name: float(np.abs(row).max()) for name, row in rows.items()}
    title = f"From the last layer to the vocabulary: {len(steps.hidden)} numbers {view.where}"
    scale = replace(VALUE, title="Value / largest of its row", domain=(-1.0, 1.0))
    draw(
        strips([row / (most[name] or 1.0) for name, row in rows.items()], list(rows), scale, title=title), "head-steps"
    )
    sizes = ", ".join(f"{name} {size:.2f}" for name, size in most.items())
    st.caption(f"Each row is divided by its largest number: {sizes}.")


def _show_parts(view: PredictionView, steps: predictions.HeadSteps) -> None:
    """A few logits taken apart."""
    shown = _with_truth(view, view.best(5))
    parts = predictions.logit_parts(view.trace, steps, [each.token_id for each in shown])
    biased = any(part.bias for part in parts)
    st.markdown(
        "The logit of a word is the dot product of the last of these vectors with the word’s embedding"
        + (", plus a bias of the word’s own." if biased else ".")
    )
    table = pd.DataFrame(
        {
            "word": [each.word for each in shown],
            "vector · embedding": [part.product for part in parts],
            **({"bias": [part.bias for part in parts]} if biased else {}),
            "logit": [part.logit for part in parts],
        }
    )
    numbers_table(table)


def _with_truth(view: PredictionView, best: Sequence[Candidate]) -> list[Candidate]:
    truth = view.truth
    extra = [] if truth is None or truth.token_id in [each.token_id for each in best] else [truth]
    return [*best, *extra]


def show_softmax(view: PredictionView) -> None:
    """One candidate's probability, written out."""
    first, second = view.best(2)
    question = checks.odds(first, second)
    if not predict(LESSON, question):
        return
    prediction = view.prediction.at(temperature()) if view.causal else view.prediction
    tokenizer = view.model.tokenizer
    shown = [predictions.candidate(prediction, each.token_id, tokenizer) for each in _with_truth(view, view.best(10))]
    chosen = play_softmax(shown, prediction)
    st.latex(written_out(chosen, prediction))
    st.markdown(
        f"The probability of {quoted(chosen.word)} {view.where} is **{share(chosen.probability)}**. "
        "Subtracting the largest logit changes no probability; it keeps the numbers small."
    )
    show_sum(shown, prediction)
    meaning(meanings.turned(view.trace, prediction))
    tries.colder(view)
    code(Prediction)


def show_unmasked(view: PredictionView) -> None:
    """What the model says at a place with the word in plain sight."""
    tokenizer, truth = view.model.tokenizer, view.truth
    if truth is None:
        st.markdown(
            "You typed [MASK] here, so there is no word to put back. Hide a word of your own in the first step."
        )
        return
    others = tuple(place for place in view.chosen if place != view.place)
    seen = masked_run(view.plain, others) if others else view.plain
    in_sight = predictions.masked_prediction(seen, view.plain.encoding, view.place)
    visible = predictions.candidate(in_sight, truth.token_id, tokenizer)
    st.markdown(f"In plain sight it reads: {masking.reading(seen, view.place)}")
    question = checks.shown_word(truth, visible)
    if predict(LESSON, question):
        title, values = (
            f"Probability of the true word at token {view.place + 1}",
            [truth.probability, visible.probability],
        )
        scale = Scale("Probability", (0.0, 1.0))
        draw(bars(["hidden", "in plain sight"], values, scale, title=title), "in-plain-sight")
        _show_both({"Hidden": view.trace, "In plain sight": seen}, view.place, truth)
        meaning(meanings.in_sight(truth, visible))
        st.markdown(_WHY_HIDE)
        tries.nothing_hidden(view)


def _show_both(inputs: Mapping[str, Trace], place: int, truth: Candidate) -> None:
    """What the model reads and says, with the word hidden and in plain sight, side by side."""
    for column, (name, read_by) in zip(st.columns(2), inputs.items(), strict=True):
        with column:
            st.markdown(f"**{name}**: {masking.reading(read_by, place)}")
            call = partial(figures.best_words, read_by, place, truth.token_id, _BESIDE, whole=True)
            draw(call, f"best-{name.split()[0].lower()}")
