"""From vector to word: the last vector becomes a logit for every word, and softmax makes probabilities of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.words import predictions
from lab.analysis.words.predictions import Candidate, Prediction, candidate, candidates, prediction_at, word_of
from lab.charts.cells.strips import VALUE, strips
from lab.course.words import VISIBLE, quoted, share
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.best import two_best
from lab.lessons.masked_language_model.softmax import show_softmax, show_sum, written_out
from lab.lessons.masked_language_model.tries import show_another_place
from lab.lessons.masked_language_model.view import asked_at, show_numbers, spot_of
from lab.models import forward
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.models.weights import VocabularyHead
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import Quantity, numeric, which_holds
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning
from lab.ui.parameters import TEMPERATURE
from lab.ui.quiz.predictions import predict
from lab.ui.shared.prediction import PredictionView
from lab.ui.terms import say

_RAISED, _SEEN = 2, 0.005  # the growth of a logit, and the smallest visible change of a probability
# The range of a probability among the options: an exact 0 would give itself away.
_PROBABILITY = (math.ulp(0.0), 1.0)
_ROWS = 5  # words in the table of logits
_AROUND = 12  # words on each side of a blank that is named


def prepares(model: LoadedModel) -> bool:
    """Return whether the last vector is changed before the comparison: by a LayerNorm, or by a small network."""
    return model.weights.final_norm is not None or model.vocabulary_head.w is not None


def _name(head: VocabularyHead) -> str:
    return head.activation.split("_")[0].upper()


def row_of_table(model: LoadedModel) -> bool:
    """Return whether a word's vector in the head is its row of the token table."""
    head, table = model.weights.vocabulary_head, model.weights.embeddings.token
    return head is not None and head.decoder.shape == table.shape and bool((head.decoder == table).all())


def way(model: LoadedModel) -> str:
    """Say how the vocabulary head makes a logit of the last vector, for this model's head."""
    head = model.vocabulary_head
    biased = head.bias is not None and bool(head.bias.any())
    row = " (its row in lesson 2)" if row_of_table(model) else ""
    prepared = "First, a few computations prepare the vector (“The vector on its way”, below, shows them). Then"
    first = f"{prepared if prepares(model) else 'Now'} comes its"
    total = "This number, plus the word’s own **bias**," if biased else "This number"
    return f"{first} **dot product** with each word’s vector{row}. {total} is the word’s **logit**."


def compared(trace: Trace, place: int) -> str:
    """Say which word fits the vector best, by how much, and whether this is due to the biases of the words."""
    prediction = prediction_at(trace, place, None)
    first, second = two_best(trace.model, prediction)
    lower = round(first.logit, 2) - round(second.logit, 2)  # of the numbers as the table has them
    told = (
        f"Of all {trace.model.config.vocabulary:,} words, {quoted(first.word)} gets the largest logit: "
        f"**{first.logit:.2f}**. The logit of {quoted(second.word)} is {lower:.2f} lower."
    )
    bias = trace.model.vocabulary_head.bias
    if bias is None or not bool(bias.any()):
        return f"{told} The dot product alone decides."
    products = prediction.logits - bias.numpy().astype(np.float64)
    without = int(products.argmax())
    if without == first.token_id:
        return f"{told} Even without the biases, {quoted(first.word)} would be first."
    return f"{told} Without the biases, {quoted(word_of(trace.model.tokenizer, without))} would be first."


def turned(trace: Trace, prediction: Prediction) -> str:
    """Say how the lead of the best logit over the second becomes a ratio of probabilities."""
    first, second = two_best(trace.model, prediction)
    lead = (first.logit - second.logit) / prediction.temperature
    ratio = math.exp(lead) if lead < 700 else math.inf
    after = "" if prediction.temperature == 1 else f", divided by the temperature {prediction.temperature:g}"
    if lead < VISIBLE:
        return (
            f"The logits of {quoted(first.word)} and {quoted(second.word)} are nearly equal. So are their "
            f"probabilities: {share(first.probability)} and {share(second.probability)}."
        )
    times = f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.1e}"
    return (
        f"{quoted(first.word)} leads {quoted(second.word)} by {lead:.2f}{after}. Softmax turns the lead into a ratio: "
        f"{quoted(first.word)} is $e^{{{lead:.2f}}}$ ≈ **{times}** times as probable."
    )


def _raised_and_watched(prediction: Prediction, model: LoadedModel) -> tuple[Candidate, Candidate] | None:
    """The second and the third word; None in a vocabulary of fewer words."""
    best = candidates(prediction, 3, model.tokenizer)
    return (best[1], best[2]) if len(best) == 3 else None


@asks(
    "token",
    basis=derivable(LESSON, "from-vector-to-word", "softmax divides by the sum over all words"),
    hint="All probabilities add up to 1.",
    returns=1,
)
def others_fall(spot: Spot) -> Question | None:
    """Ask what happens to the third word when the logit of the second word grows by 2."""
    asked = asked_at(spot)
    made = None if asked is None else other_raised(prediction_at(*asked, None), spot.trace.model)
    return None if asked is None or made is None else replace(made, about=_blank_in(*asked))


def _blank_in(trace: Trace, place: int) -> str:
    """Name the text with its blank, for a class that sees no figure; "" for a model that has no blanks."""
    if trace.model.config.causal:
        return ""
    around = range(max(0, place - _AROUND), min(len(trace), place + _AROUND + 1))
    ids = [trace.token_ids[at] for at in around if not trace.encoding.special[at] or at == place]
    text = trace.model.tokenizer.decode(ids, skip_special_tokens=False)  # puts the pieces of a word together
    return f"Asked about the blank in {quoted(text)}"


def other_raised(prediction: Prediction, model: LoadedModel) -> Question | None:
    """Ask as :func:`others_fall` does; None if the change is too small to be seen."""
    found = _raised_and_watched(prediction, model)
    if found is None:
        return None
    raised, watched = found
    logits = prediction.scaled.copy()
    before = float(prediction.probabilities[watched.token_id])
    logits[raised.token_id] += _RAISED / prediction.temperature
    powers = np.exp(logits - logits.max())
    after = float(powers[watched.token_id] / powers.sum())
    if before - after < _SEEN:
        return None
    why = (
        f"It goes from {share(before)} to {share(after)}. Its own power of e stays the same, but the sum that divides "
        "this power has grown. What one word gains, the other words lose."
    )
    prompt = (
        f"Suppose that the logit of {quoted(raised.word)} grows by {_RAISED}, while all other logits stay the same. "
        f"What happens to the probability of {quoted(watched.word)}?"
    )
    outcomes = {"It falls": True, "It stays, because its own logit stays": False, "It rises, too": False}
    return which_holds("others-fall", prompt, why, outcomes, mixed=True)


@asks(
    "token",
    basis=derivable(LESSON, "from-vector-to-word", "softmax depends only on the gaps between logits"),
    hint="What happens to every power of e, and to their sum?",
    returns=3,
)
def shifted(spot: Spot) -> Question | None:
    """Ask what happens if one number is added to all logits: no probability changes."""
    asked = asked_at(spot)
    if asked is None:
        return None
    best = candidates(prediction_at(*asked, None), 5, spot.trace.model.tokenizer)
    return next(filter(None, map(all_shifted, best[2:])), None)


def all_shifted(chosen: Candidate) -> Question | None:
    """Ask for the probability of ``chosen`` after 1 was added to all logits."""
    p = chosen.probability
    wrong = {
        p * math.e: "Its power of e is e = 2.718 … times as large, but so are the others. The quotient stays the same.",
        p / math.e: "The sum is e times as large, but so is this word’s power. The quotient stays the same.",
    }
    why = (
        "This word’s power of e and the sum are both e = 2.718 … times as large. Only the differences between logits "
        "count."
    )
    prompt = (
        f"The probability of {quoted(chosen.word)} is {share(p)}. Add 1 to the logit of every word of the vocabulary. "
        "What is the probability then?"
    )
    return numeric("shifted", prompt, (p, why), wrong, Quantity(share, within=_PROBABILITY))


def in_table(trace: Trace, place: int) -> tuple[int, ...]:
    """The words of the table of logits by id: the best, and the word that would be first without the biases."""
    prediction = prediction_at(trace, place, None)
    best, bias = list(prediction.best(_ROWS)), trace.model.vocabulary_head.bias
    if bias is not None:
        without = int((prediction.logits - bias.numpy().astype(np.float64)).argmax())
        best += [without] * (without not in best)
    return tuple(int(each) for each in best)


def show(view: PredictionView) -> Trace:
    """Show how the last vector becomes logits and probabilities; behind clicks, the vectors and the sum written out."""
    prediction = view.prediction.at(TEMPERATURE.chosen() if view.causal else 1.0)
    say(
        "The last part of the model is the **vocabulary head** (it has nothing to do with attention heads). It reads "
        f"the last vector at this place. {way(view.model)}"
    )
    _show_parts(view)
    say(
        "**Softmax** turns logits into probabilities: it raises e to the power of each logit, and divides by the "
        "sum of these powers."
    )
    if predict(LESSON, others_fall(spot_of(view))):
        _show_probabilities(view, prediction)
    with st.expander("The vector on its way", icon=":material/table_rows:", on_change="rerun", key="_vectors") as drawn:
        if drawn.open:
            _show_steps(view, predictions.head_steps(view.trace, view.place))
    code(forward.vocabulary_logits, predictions.Prediction)
    return view.trace


def _show_probabilities(view: PredictionView, prediction: Prediction) -> None:
    """Draw the bars with the slider; the word whose logit moves is first the word of the question."""
    tokenizer = view.model.tokenizer
    shown = [candidate(prediction, each.token_id, tokenizer) for each in _with_truth(view, view.best(10))]
    asked = _raised_and_watched(view.prediction, view.model)
    chosen = show_softmax(shown, prediction, 0 if asked is None else asked[0].token_id)
    meaning(turned(view.trace, prediction))
    show_another_place(view)
    with st.expander("One probability, written out", icon=":material/function:", on_change="rerun", key="_sum") as sums:
        if sums.open:
            st.latex(written_out(chosen, prediction))
            st.caption("The lab subtracts the largest logit. This keeps the numbers small and changes no probability.")
            show_sum(shown, prediction)


def _show_parts(view: PredictionView) -> None:
    """Show the dot product, the bias and the logit of a few words."""
    steps, ids = predictions.head_steps(view.trace, view.place), in_table(view.trace, view.place)
    parts = predictions.logit_parts(view.trace, steps, list(ids))
    biased = any(part.bias for part in parts)
    table = pd.DataFrame(
        {
            "word": [word_of(view.model.tokenizer, each) for each in ids],
            "dot product": [part.product for part in parts],
            **({"bias": [part.bias for part in parts]} if biased else {}),
            "logit": [part.logit for part in parts],
        }
    )
    show_numbers(table, **dict.fromkeys(table.columns[1:], "%.2f"))
    st.caption(compared(view.trace, view.place))


def _show_steps(view: PredictionView, steps: predictions.HeadSteps) -> None:
    """Draw the vectors of the head, each on its own scale, because LayerNorm can make numbers ten times as large."""
    head = view.model.weights.vocabulary_head
    normed = steps.dense is not None and view.model.weights.final_norm is not None
    rows = {"hidden state, final LayerNorm" if normed else "hidden state": steps.hidden}
    if head is not None and steps.dense is not None and steps.activation is not None:
        rows |= {"dense": steps.dense, _name(head): steps.activation}
    rows["LayerNorm"] = steps.normed
    if head is not None and steps.dense is not None:
        st.latex(_head_formula(head))
        st.caption("Here, h is the vector after the last layer, and E has a row for each word.")
        say(
            f"A learned matrix W (named *dense*) mixes the numbers of the vector, {_name(head)} brings negative ones "
            "nearer to 0, and LayerNorm brings all to one scale. In the figure, each row has a scale of its own."
        )
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
    name, first = _name(head), " + b" if head.b is not None else ""
    last = r" + b_E" if head.bias is not None else ""
    vector = rf"\text{{LayerNorm}}(\text{{{name}}}(hW{first}))"
    return rf"\begin{{aligned}} v & = {vector} \\ \text{{logits}} & = v\,E^\top{last} \end{{aligned}}"


def _with_truth(view: PredictionView, best: Sequence[Candidate]) -> list[Candidate]:
    truth = view.truth
    extra = [] if truth is None or truth.token_id in [each.token_id for each in best] else [truth]
    return [*best, *extra]
