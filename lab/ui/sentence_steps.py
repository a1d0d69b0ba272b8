"""The screens of the inter-sentence lesson, one function a step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis import sentences as measure_of
from lab.analysis.heads import Values
from lab.analysis.sentence_split import expected, sent_by_token
from lab.analysis.sentences import MASS
from lab.course import sentence_checks as ask
from lab.course.metric_cards import tex
from lab.course.words import quoted
from lab.figures import sentences as figures
from lab.ui import cached_heads
from lab.ui.blanks import blanks
from lab.ui.figures import code, draw
from lab.ui.quiz import checks, predict
from lab.ui.sentence_view import LESSON, MATRIX, View, choose_measure, say_no_toy

_AHEAD = (
    "comes before {b}, and this model reads from left to right: its tokens cannot look there. There is no weight, not "
    "even 0; the matrix hatches those cells."
)


def show_sentences(view: View) -> None:
    """Which sentences there are, and that nothing was encoded anew for them."""
    config, sentences = view.trace.model.config, view.sentences
    places = [sentences.places(number) for number in range(len(sentences))]
    st.markdown(
        f"Punkt cuts the text into **{len(sentences)} sentences**: it knows abbreviations and where a full stop ends "
        "nothing. Characters tell which token stands in which sentence."
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
        f"The model does not know of this cut. It read {len(view.trace)} tokens at once, "
        + ("as two texts, because you entered two." if pair else "as one text.")
        + (f" In no sentence: {view.outside}." if view.outside else "")
    )
    maps = config.layers * config.heads
    st.markdown(
        f":material/arrow_downward: **On the way.** {maps} maps of {len(view.trace)} × {len(view.trace)} weights "
        f"become one matrix of {len(sentences)} × {len(sentences)}."
    )
    say_no_toy()


def show_matrix(view: View) -> None:
    """Sentence by sentence; a click shows the tokens behind a number."""
    question = ask.strongest_pair(view.found)
    if question is not None and not predict(LESSON, question):
        return
    measure = choose_measure()
    values = view.between.values(measure)
    _draw_matrix(view, measure, MATRIX, clickable=True)
    a, b = ask.sentence_name(view.a), ask.sentence_name(view.b)
    if view.hidden:
        st.info(f"{a.capitalize()} {_AHEAD.format(b=b)}", icon=":material/visibility_off:")
        return
    st.markdown(f"From {a} to {b}: **{values[view.a, view.b]:.3f}**. Click a cell to choose another pair.")
    _show_block(view)
    with st.expander("Every pair: which layer and head gave the maximum", icon=":material/table:"):
        st.dataframe(
            _every(view), hide_index=True, column_config={"maximum": st.column_config.NumberColumn(format="%.4f")}
        )
    code(measure_of.between_sentences)


def _draw_matrix(view: View, measure: str, key: str, *, clickable: bool = False) -> None:
    """The matrix of a measure; a click chooses a pair."""
    call = partial(figures.matrix, view.trace, measure, view.a, view.b)
    figure = figures.drawn_matrix(
        view.between, measure, (view.a, view.b), f"{measure}, sentence to sentence", clickable=clickable
    )
    draw(figure, key, clickable=clickable, call=call)


def _show_block(view: View) -> None:
    """The tokens of one cell, in the head that has its largest weight."""
    layer, head, query, key = (int(number) for number in view.found.where[view.a, view.b])
    tokens = view.trace.labels
    st.header(f"Where the maximum is: layer {layer + 1}, head {head + 1}")
    draw(
        figures.drawn_block(view.between, view.a, view.b), "block",
        call=partial(figures.block, view.trace, view.a, view.b),
    )  # fmt: skip
    sides = [len(view.found.members[sentence]) for sentence in (view.a, view.b)]
    if max(sides) > figures.TOKENS:
        st.caption(f"The block is {sides[0]} × {sides[1]}; drawn is the part around the maximum.")
    st.markdown(
        f"{quoted(tokens[query])} (token {query + 1}) gives {quoted(tokens[key])} (token {key + 1}) "
        f"**{view.found.maximum[view.a, view.b]:.3f}**: no head of any layer has more from sentence {view.a + 1} to "
        f"sentence {view.b + 1}. In Python: `trace.layer({layer}).attention[{head}, {query}, {key}]`."
    )
    if view.a != view.b and abs(query - key) == 1:
        st.markdown(
            "The two tokens are neighbours. A head that looks at the token before or after crosses the border of two "
            "sentences whatever they say; one such weight moves the mean mass little."
        )


def _every(view: View) -> pd.DataFrame:
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
            "query": [tokens[query] for _, _, query, _ in where],
            "key": [tokens[key] for _, _, _, key in where],
        }
    )


def show_direction(view: View) -> None:
    """a to b is not b to a."""
    a, b = view.a, view.b
    if view.causal:
        st.markdown(
            "This model reads from left to right, so attention between sentences has one direction: backwards. Every "
            "cell above the diagonal is missing, and there is nothing to compare with."
        )
        _draw_matrix(view, MASS, "one-direction")
        return
    question = ask.other_direction(view.found, a, b)
    if question is not None and not predict(LESSON, question):
        return
    measure = choose_measure()
    values = view.between.values(measure)
    draw(
        figures.drawn_difference(view.between, measure, a, b), "there-minus-back",
        call=partial(figures.difference, view.trace, measure, a, b),
    )  # fmt: skip
    if a == b:
        st.markdown("Choose two different sentences in the sidebar to compare the two directions.")
        return
    st.markdown(
        f"From sentence {a + 1} to sentence {b + 1}: **{values[a, b]:.3f}**, back **{values[b, a]:.3f}**. Blue: more "
        "there than back. Rows of attention sum to 1 for each query alone, so nothing makes the two equal."
    )


def show_by_hand(view: View) -> None:
    """Mean mass and its correction for length, for one pair of sentences."""
    if view.hidden:
        st.info(
            f"Sentence {view.a + 1} {_AHEAD.format(b=f'sentence {view.b + 1}')} So this is the way back.",
            icon=":material/visibility_off:",
        )
        view = replace(view, a=view.b, b=view.a)
    a, b, n, found = view.a, view.b, len(view.trace), view.found
    sent = cached_heads.sent_by_token(view.trace, found, a, b)
    table = pd.DataFrame(
        {"token": [view.trace.labels[i] for i in found.members[a]], f"sends to sentence {b + 1}": sent},
        index=found.members[a] + 1,
    )
    config = view.trace.model.config
    st.markdown(
        f"What each token of sentence {a + 1} sends to sentence {b + 1}: its weights on those {len(found.members[b])} "
        f"tokens added up, then the mean over all {config.layers * config.heads} heads."
    )
    st.dataframe(table, column_config={table.columns[1]: st.column_config.NumberColumn(format="%.4f")}, height=260)
    _written_out(view, sent)
    _own_turn(view, n)
    code(expected, sent_by_token)


def _written_out(view: View, sent: Values) -> None:
    """The mean of ``sent`` and its correction for length, in numbers."""
    a, b, n, found = view.a, view.b, len(view.trace), view.found
    even = expected(found, n, view.causal, a, b)
    terms = " + ".join(tex(float(value)) for value in sent[:3]) + (r" + \dots" if len(sent) > 3 else "")
    even_tex = tex(even) if view.causal else rf"\tfrac{{{len(found.members[b])}}}{{{n}}}"
    mass, relative = (tex(float(values[a, b])) for values in (found.mass, found.relative))
    st.latex(
        rf"\begin{{aligned}} \text{{mass}} &= \tfrac{{1}}{{{len(sent)}}} ({terms}) \\ &= {mass} \\"
        rf"\text{{corrected}} &= {mass} \,/\, {even_tex} = {relative}"
        r"\end{aligned}"
    )
    st.markdown(
        f"Sentence {b + 1} has {len(found.members[b])} of the {n} tokens. Spread evenly over all it may see, a token "
        f"of sentence {a + 1} would send there {even:.3f}"
        + (", on average: each query sees only what comes before it." if view.causal else ".")
    )


def _own_turn(view: View, n: int) -> None:
    """The same for another pair: the way back, or where there is none what stays in the sentence."""
    found = view.found
    others = ((view.b, view.a), (view.a, view.a), (len(view.sentences) - 1, 0))
    a, b = next(pair for pair in others if pair != (view.a, view.b) and found.where[pair][0] >= 0)
    even = expected(found, n, view.causal, a, b)
    st.markdown(
        f"Now you: a token of sentence {a + 1} sends {found.mass[a, b]:.3f} to sentence {b + 1}; evenly it would be "
        f"{even:.3f}. The length-corrected value is"
    )
    right = blanks(
        {"Length-corrected": float(f"{found.mass[a, b]:.3f}") / float(f"{even:.3f}")},
        f"Divide {found.mass[a, b]:.3f} by {even:.3f}.",
        f"_sentences.{hash(view.trace.token_ids)}.{a}.{b}",
    )
    if right:
        st.success("Above 1: more than without a preference. Below 1: less.", icon=":material/check:")


def show_specials(view: View) -> None:
    """Where the attention goes that goes to no sentence, and the matrix without it."""
    found, what = view.found, view.outside
    if not what:
        st.markdown(
            "This model puts no special tokens around a text. Every token is in a sentence, and each row of the mean "
            "mass adds up to 1: there is nothing to leave out."
        )
        _draw_matrix(view, MASS, "all-mass")
        return
    question = ask.to_specials(found, view.a, what)
    if question is not None and not predict(LESSON, question):
        return
    draw(
        figures.drawn_everywhere(view.between, view.a), "with-specials",
        call=partial(figures.everywhere, view.trace, view.a),
    )  # fmt: skip
    st.markdown(
        f"Each row adds up to 1. The last column is what goes to {what}: **{found.removed[view.a]:.1%}** for sentence "
        f"{view.a + 1}. Leave that out and let every row of every head sum to 1 again:"
    )
    before, after = _draw_both(view, choose_measure())
    if view.hidden:
        return
    st.markdown(
        f"From sentence {view.a + 1} to sentence {view.b + 1}: {before:.3f} as it is, **{after:.3f}** with {what} "
        "left out."
    )


def _draw_both(view: View, measure: str) -> tuple[float, float]:
    """The matrix as it is and without special tokens, on one scale; the chosen cell of both."""
    reads = (view.between, view.without)
    top = float(np.nanmax([read.values(measure) for read in reads]))
    for column, read, name in zip(st.columns(2), reads, ("as it is", "without"), strict=True):
        with column:
            title, alone = f"{measure}, {name}", read.found.renormalised
            draw(
                figures.drawn_matrix(read, measure, (view.a, view.b), title, top), f"matrix-{name[:2]}",
                call=partial(figures.matrix, view.trace, measure, view.a, view.b, title, top, alone),
            )  # fmt: skip
    before, after = (float(read.values(measure)[view.a, view.b]) for read in reads)
    return before, after


def show_checks(view: View) -> None:
    """Questions on these sentences."""
    found, n, a, b = view.found, len(view.trace), view.a, view.b
    if view.hidden or a == b:
        a, b = len(view.sentences) - 1, 0
    even = expected(found, n, view.causal, a, b)
    checks(
        LESSON,
        (
            ask.even_share(found, n, even, a, b),
            ask.corrected(found, even, a, b),
            ask.into_the_future(found, view.causal),
            ask.one_weight(found),
            ask.to_specials(found, a, view.outside) if view.outside else None,
            ask.other_direction(found, b, a),
        ),
        most=4,
    )
