"""The screens of the inter-sentence lesson, one function a step."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.sentences import attention as measure_of
from lab.analysis.sentences.attention import MASS, MAXIMUM
from lab.analysis.sentences.split import expected
from lab.charts.base.labels import visible
from lab.course.toy_checks import pair_checks
from lab.course.words import named, quoted
from lab.figures import sentences as figures
from lab.lessons.inter_sentence_attention import checks as ask
from lab.lessons.inter_sentence_attention.view import (
    LESSON,
    MATRIX,
    SentencesView,
    choose_measure,
    choose_part,
    say_sinks,
)
from lab.toy.pairs import PAIRED
from lab.ui.drawing import code, draw
from lab.ui.quiz import checks, predict


def show_sentences(view: SentencesView) -> None:
    """Which sentences there are, and that nothing was encoded anew for them."""
    config, sentences = view.trace.model.config, view.sentences
    places = [sentences.places(number) for number in range(len(sentences))]
    st.markdown(
        f"Punkt (Kiss & Strunk 2006) splits the text into **{len(sentences)} sentences**. It knows common "
        "abbreviations, so it does not end a sentence after “Dr.”. The characters of a token tell in which sentence "
        "it stands."
    )
    table = pd.DataFrame(
        {
            "sentence": [" ".join(text.split()) for text in sentences.texts],
            "text": ["B" if second else "A" for second in sentences.in_pair],
            "tokens": [len(own) for own in places],
            "from token": [own[0] + 1 for own in places],
            "to token": [own[-1] + 1 for own in places],
        },
        index=range(1, len(sentences) + 1),
    )
    st.dataframe(table, height="content")
    pair = view.trace.pair is not None
    st.markdown(
        f"The model does not know these borders. It read {len(view.trace)} tokens at once, "
        + ("as two texts, a pair." if pair else "as one text.")
        + _in_no_sentence(view)
    )
    maps = config.layers * config.heads
    st.markdown(
        f":material/arrow_downward: **On the way.** {maps} maps of {len(view.trace)} × {len(view.trace)} weights "
        f"become one matrix of {len(sentences)} × {len(sentences)}."
    )


def _in_no_sentence(view: SentencesView) -> str:
    """The tokens that no sentence has, as a sentence; empty if there are none."""
    encoding = view.trace.encoding
    tokens = dict.fromkeys(token for token, special in zip(encoding.tokens, encoding.special, strict=True) if special)
    parts = [quoted(token) for token in tokens]
    if view.sentences.blanks:
        parts.append("white space between sentences")
    if view.sentences.left_out:
        parts.append("the sentences left out")
    return f" These tokens are in no sentence: {', '.join(parts)}." if parts else ""


def show_matrix(view: SentencesView) -> None:
    """Sentence by sentence; a click shows the tokens behind a number."""
    question = ask.where_it_goes(view.apart, view.a, view.outside)
    if question is not None and not predict(LESSON, question):
        return
    choose_part(view)
    measure = choose_measure(view)
    values, cell = view.values(measure, view.left_out), (view.a, view.b)
    call = partial(figures.matrix, view.trace, measure, cell, left_out=view.left_out)
    draw(call, MATRIX, clickable=True)
    st.markdown(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: **{values[view.a, view.b]:.3f}**. Rows are the "
        "sentences that attend (queries), columns those attended to (keys). Click a cell to choose another pair."
    )
    say_sinks(view, measure)
    if measure == MAXIMUM:
        _show_largest(view)
    else:
        _show_mean(view)
    code(measure_of.between_sentences)


def _show_mean(view: SentencesView) -> None:
    """The tokens of one cell, mean over all heads."""
    a, b = view.a, view.b
    cells = view.cells(a, b)
    st.header(f"The tokens behind it: sentence {a + 1} to sentence {b + 1}")
    draw(partial(figures.block, view.trace, a, b, left_out=view.left_out), "block")
    _say_part(view)
    query, key = np.unravel_index(int(cells.weights.argmax()), cells.weights.shape)
    st.markdown(
        f"Each row adds up to what one token of sentence {a + 1} sends to sentence {b + 1}; the mean mass is the mean "
        f"of these sums, **{cells.weights.sum(axis=1, dtype=np.float64).mean():.3f}**. The largest mean weight, "
        f"{cells.weights.max():.3f}, is from {named(view.trace, int(cells.queries[query]))} to "
        f"{named(view.trace, int(cells.keys[key]))}."
    )


def _show_largest(view: SentencesView) -> None:
    """The tokens of one cell, in the head that has its largest weight."""
    found, a, b = view.found, view.a, view.b
    layer, head, query, key = (int(number) for number in found.where[a, b])
    st.header(f"Where the maximum is: layer {layer + 1}, head {head + 1}")
    draw(partial(figures.block, view.trace, a, b, MAXIMUM, view.left_out), "block")
    _say_part(view)
    python = f" In Python: `trace.layer({layer}).attention[{head}, {query}, {key}]`." if not view.left_out else ""
    st.markdown(
        f"{named(view.trace, query)} gives {named(view.trace, key)} **{found.maximum[a, b]:.3f}**: no head of any "
        f"layer has a larger weight from sentence {a + 1} to sentence {b + 1}.{python}"
    )
    if a != b and abs(query - key) == 1:
        st.markdown(
            "The two tokens are neighbours. A head that attends to the previous or the next token crosses the border "
            "between two sentences whatever they say. The mean mass hardly moves with one such weight."
        )
    with st.expander("Every pair: which layer and head gave the maximum", icon=":material/table:"):
        st.dataframe(
            _every(view), hide_index=True, column_config={"maximum": st.column_config.NumberColumn(format="%.4f")}
        )


def _say_part(view: SentencesView) -> None:
    """That a block is drawn in part, if it is."""
    sides = [len(view.found.members[sentence]) for sentence in (view.a, view.b)]
    if max(sides) > figures.TOKENS:
        st.caption(f"The block is {sides[0]} × {sides[1]}; the figure shows the part around its largest weight.")


def _every(view: SentencesView) -> pd.DataFrame:
    """A row for each pair that can be seen."""
    found, tokens = view.found, view.trace.labels
    pairs = [pair for pair in np.ndindex(*found.maximum.shape) if found.where[pair][0] >= 0]
    where = [found.where[pair].tolist() for pair in pairs]
    return pd.DataFrame(
        {
            "from": [a + 1 for a, _ in pairs],
            "to": [b + 1 for _, b in pairs],
            "maximum": [float(found.maximum[pair]) for pair in pairs],
            "layer": [layer + 1 for layer, _, _, _ in where],
            "head": [head + 1 for _, head, _, _ in where],
            "query": [visible(tokens[query], None) for _, _, query, _ in where],
            "key": [visible(tokens[key], None) for _, _, _, key in where],
        }
    )


def show_direction(view: SentencesView) -> None:
    """a to b is not b to a."""
    a, b = view.a, view.b
    if view.causal:
        st.markdown(
            "This model reads from left to right, so a token attends to its own sentence and to earlier ones, never to "
            "later ones. Cells above the diagonal do not exist: there is no second direction to compare with."
        )
        draw(partial(figures.matrix, view.trace, MASS, (a, b), left_out=view.left_out), "one-direction")
        return
    question = ask.other_direction(view.found, a, b)
    if question is not None and not predict(LESSON, question):
        return
    choose_part(view)
    measure = choose_measure(view)
    values = view.values(measure, view.left_out)
    draw(partial(figures.difference, view.trace, measure, a, b, view.left_out), "there-minus-back")
    if a == b:
        st.markdown("Choose two different sentences in the sidebar to compare the two directions.")
        return
    st.markdown(
        f"From sentence {a + 1} to sentence {b + 1}: **{values[a, b]:.3f}**. Back, from {b + 1} to {a + 1}: "
        f"**{values[b, a]:.3f}**. Blue cells: more in this direction than back. Softmax makes each query’s row sum to "
        "1, and nothing more, so the two directions need not agree."
    )


def show_checks(view: SentencesView) -> None:
    """Questions on these sentences."""
    if view.trace.model.id == PAIRED:
        checks(LESSON, pair_checks(*(text.split() for text in view.sentences.texts)), most=4)
        return
    found, a, b = view.found, view.a, view.b
    if a == b:
        a, b = len(view.sentences) - 1, 0
    even = expected(found, len(view.trace), view.causal, a, b)
    # Within a sentence, as the even share from one to the other is asked for beside it.
    within = expected(found, len(view.trace), view.causal, a, a)
    checks(
        LESSON,
        (
            ask.even_share(found, view.counted, even, a, b),
            ask.corrected(found, within, a, a),
            ask.into_the_future(found, view.causal),
            ask.one_weight(found),
            ask.to_specials(view.apart, a, view.outside),
            ask.other_direction(found, a, b),
        ),
        most=4,
        text="" if view.trace.text == view.page.selection.text else view.trace.text,
    )
