"""The screens of the masked-language-model lesson, one function per step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.masking import unknown_of
from lab.analysis.words.predictions import Candidate, Prediction
from lab.charts.cells.strips import VALUE, strips
from lab.course.words import quoted, share
from lab.lessons.masked_language_model import LESSON, checks, figures, meanings, tries
from lab.lessons.masked_language_model.softmax import play_softmax, show_sum, written_out
from lab.lessons.masked_language_model.view import numbers_table, temperature
from lab.models import forward
from lab.models.weights import VocabularyHead
from lab.ui import sidebar
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.parameters import MODE, TEMPERATURE, TOP, TOY
from lab.ui.quiz.predictions import predict
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say
from lab.ui.toys.toy_runs import TRAIN_STEP, link_to_toy


def show_hidden(view: PredictionView) -> None:
    """Show the most probable words for a blank."""
    prompt = f"Which word does the model find most probable at token {view.place + 1}?"
    if _predict_best(view, prompt):
        _show_best(view, view.prediction, f"In your text, token {view.place + 1} is")
        tries.one_word_changed(view)
        with sidebar.controls():
            TOP.choose("Words in the figure")
        if view.page.selection[MODE] != TOY:
            link_to_toy("How does a model learn this? Watch a toy", TRAIN_STEP)


def show_next(view: PredictionView) -> None:
    """Show the most probable next tokens of a model that reads from left to right."""
    say(
        f"{quoted(view.model.id)} reads from left to right and never sees what comes after a token. So it has no "
        "[MASK]: you ask it for the next token. It gives every token of its vocabulary a **probability**, a number "
        "from 0 to 1. All probabilities add up to 1."
    )
    prompt = f"Which token does the model find most probable after token {view.place + 1}, at temperature 1?"
    if _predict_best(view, prompt):
        _show_best(view, view.prediction.at(TEMPERATURE.chosen()), f"In your text, token {view.place + 2} is")
        tries.one_word_changed(view)
        with sidebar.controls():
            TOP.choose("Tokens in the figure")
            temperature()
        st.caption("A temperature below 1 sharpens the model’s own distribution, and one above 1 flattens it.")


def _predict_best(view: PredictionView, prompt: str) -> bool:
    if meanings.random_weights(view.model):
        return True
    best, truth = view.best(5), view.truth
    if truth is not None and truth.rank == 1:
        # The sidebar shows the text and so the best word; asking for it would be too easy, so ask for the second best.
        before = f"Your text has {quoted(truth.word)} there, and the model finds it most probable, too."
        question = checks.next_best_word(before, best, view.model.config.vocabulary)
    else:
        question = checks.best_word(prompt, best[:4], truth, view.model.config.vocabulary)
    return predict(LESSON, question)


def _show_best(view: PredictionView, prediction: Prediction, lead: str) -> None:
    """Draw the most probable words as bars, the true word in full colour; say what they mean, and name its rank."""
    shown = (prediction.place, prediction.truth, TOP.chosen(), prediction.temperature)
    draw(partial(figures.best_words, view.trace, *shown), "candidates")
    meaning(meanings.answered(view.trace, prediction))
    truth = predictions.true_word(prediction, view.model.tokenizer)
    if truth is None:
        return
    if truth.token_id == unknown_of(view.model.tokenizer):
        st.caption("The word that you wrote there is not in the vocabulary, so the model cannot name it.")
        return
    st.caption(
        f"{lead} {quoted(truth.word)}. Its probability is {share(truth.probability)}, and it is number {truth.rank:,} "
        f"of {view.model.config.vocabulary:,}."
    )


def show_vector(view: PredictionView) -> None:
    """Show how the last vector becomes logits and probabilities; behind clicks, the vectors and the sum written out."""
    heat = TEMPERATURE.chosen() if view.causal else 1.0
    prediction = view.prediction.at(heat)
    first, second = view.best(2)
    say(
        f"After the last layer, the place that you ask about is one vector of {view.model.config.width:,} numbers. "
        f"Like query and key in lesson 3, it is multiplied number by number with each word’s vector{_its_row(view)}, "
        f"and "
        "the products are added up. The better a word fits, the larger this sum, its **logit**: here "
        f"{quoted(first.word)} has {first.logit:.2f} and {quoted(second.word)} has {second.logit:.2f}. **Softmax** "
        f"then "
        "turns all logits into probabilities: it raises e to the power of each logit, and divides by the sum of all "
        "these numbers."
    )
    if not predict(LESSON, checks.others_fall(prediction, view.best(3))):
        return
    tokenizer = view.model.tokenizer
    shown = [predictions.candidate(prediction, each.token_id, tokenizer) for each in _with_truth(view, view.best(10))]
    chosen = play_softmax(shown, prediction)
    meaning(meanings.turned(view.trace, prediction))
    tries.another_place(view)
    with st.expander("One probability, written out", icon=":material/function:", on_change="rerun", key="_sum") as sums:
        if sums.open:
            st.latex(written_out(chosen, prediction))
            st.caption("Subtracting the largest logit keeps the numbers small and changes no probability.")
            show_sum(shown, prediction)
    with st.expander("The vector on its way", icon=":material/table_rows:", on_change="rerun", key="_vectors") as way:
        if way.open:
            steps = predictions.head_steps(view.trace, view.place)
            _show_steps(view, steps)
            _show_parts(view, steps)
    code(forward.vocabulary_logits, predictions.Prediction)


def _its_row(view: PredictionView) -> str:
    """Say that a word's vector is its row of the token table, if the model compares with this table."""
    head, table = view.model.weights.vocabulary_head, view.model.weights.embeddings.token
    tied = head is not None and head.decoder.shape == table.shape and bool((head.decoder == table).all())
    return " (its row in lesson 2)" if tied else ""


def _show_steps(view: PredictionView, steps: predictions.HeadSteps) -> None:
    """Draw the vectors of the head, each on its own scale, because LayerNorm can make numbers ten times as large."""
    head = view.model.weights.vocabulary_head
    normed = steps.dense is not None and view.model.weights.final_norm is not None
    rows = {"hidden state, final LayerNorm" if normed else "hidden state": steps.hidden}
    if head is not None and steps.dense is not None and steps.activation is not None:
        rows |= {"dense": steps.dense, head.activation.split("_")[0].upper(): steps.activation}
    rows["LayerNorm"] = steps.normed
    if head is not None and steps.dense is not None:
        say(
            "First the vocabulary head passes the vector through a layer of its own: a matrix (dense), "
            f"{head.activation.split('_')[0].upper()}, LayerNorm. Then it compares the vectors."
        )
        st.latex(_head_formula(head))
        st.caption("h is the vector after the last layer, and E has a row for each word.")
    most = {name: float(np.abs(row).max()) for name, row in rows.items()}
    title = f"From the last layer to the vocabulary: {len(steps.hidden)} numbers {view.where}"
    scale = replace(VALUE, title="Value / largest of its row", domain=(-1.0, 1.0))
    draw(
        strips([row / (most[name] or 1.0) for name, row in rows.items()], list(rows), scale, title=title), "head-steps"
    )
    sizes = ", ".join(f"{name} {size:.2f}" for name, size in most.items())
    st.caption(f"Each row is divided by its largest number: {sizes}.")


def _head_formula(head: VocabularyHead) -> str:
    """Write the logits of all words in two formulas: E has a row for each word (Devlin et al. 2019, §3.1)."""
    name, first = head.activation.split("_")[0].upper(), " + b" if head.b is not None else ""
    last = r" + b_E" if head.bias is not None else ""
    vector = rf"\text{{LayerNorm}}(\text{{{name}}}(hW{first}))"
    return rf"\begin{{aligned}} v & = {vector} \\ \text{{logits}} & = v\,E^\top{last} \end{{aligned}}"


def _show_parts(view: PredictionView, steps: predictions.HeadSteps) -> None:
    """Show the parts of a few logits."""
    shown = _with_truth(view, view.best(5))
    parts = predictions.logit_parts(view.trace, steps, [each.token_id for each in shown])
    biased = any(part.bias for part in parts)
    say(
        "The logit of a word is the dot product of the last of these vectors with the word’s embedding"
        + (", plus a bias of the word’s own. " if biased else ". ")
        + meanings.compared(view.trace, view.place)
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
