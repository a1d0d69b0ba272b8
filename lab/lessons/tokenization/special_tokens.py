"""Special tokens: the tokens that the model adds to a text, what they are for, and how long an input may be."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lab.charts.tokens.token_chips import encoding_chips
from lab.course.words import quoted
from lab.lessons.tokenization.stage_texts import special_tokens
from lab.lessons.tokenization.view import TokenizationView, count, show_plain
from lab.models.trace import Trace
from lab.ui.screen import draw_chips, meaning, say


def show(view: TokenizationView) -> None:
    """Show the tokens that are not from the text, and say how long an input may be."""
    encoding, config = view.trace.encoding, view.trace.model.config
    say("Some tokens are not words of the text. Most models add such marks, for example for the end of a text.")
    groups = encoding.segment_ids if encoding.pair is not None and config.segments > 1 else None
    draw_chips(encoding_chips(encoding), ids=encoding.token_ids, groups=groups)
    listed = special_tokens(view.trace.model, encoding)
    here = [each for each in listed if each.positions]
    say("\n".join(f"- {quoted(each.token)}, {_places(each.positions)}: {each.role}." for each in here))
    _show_segments(view)
    st.progress(
        len(encoding) / config.max_tokens,
        f"Your input has {count(len(encoding), 'token')}. {view.model} has room for {config.max_tokens}. It does not "
        f"read what comes {'before' if config.from_end else 'after'} them.",
    )
    _show_unread(view)
    meaning(said(view.trace))
    absent = [each for each in listed if not each.positions]
    if absent:
        with st.expander("Special tokens that are not in this input"):
            say("\n".join(f"- {quoted(each.token)} {each.role}." for each in absent))


def _show_segments(view: TokenizationView) -> None:
    """Say which segment each token of a pair has; say nothing for a single text, which has only one segment."""
    encoding, segments = view.trace.encoding, view.trace.model.config.segments
    if encoding.pair is None:
        return
    if segments < 2:
        say(f"{view.model} has no segments. Only the tokens themselves separate the two texts.")
        return
    ranges = []
    for segment in sorted(set(encoding.segment_ids)):
        places = [i for i, each in enumerate(encoding.segment_ids, start=1) if each == segment]
        ranges.append(f"tokens {places[0]} to {places[-1]} are in segment {segment}")
    say(f"A **segment** number says to which of the two texts a token belongs: {' and '.join(ranges)}.")


def _show_unread(view: TokenizationView) -> None:
    """Say which part of a text that is too long is left out: its end or, if the tokenizer says so, its beginning."""
    encoding = view.trace.encoding
    if not encoding.cut:
        return
    say(f"Your input was {count(encoding.cut, 'token')} too long. The model did not read this:")
    for text, second in ((encoding.text, False), (encoding.pair or "", True)):
        read = [
            span
            for span, of_second, special in zip(encoding.offsets, encoding.in_pair, encoding.special, strict=True)
            if of_second == second and not special
        ]
        if view.trace.model.config.from_end:
            rest = text[: min((start for start, _ in read), default=len(text))]
        else:
            rest = text[max((end for _, end in read), default=0) :]
        if rest.strip():
            show_plain(rest)


def said(trace: Trace) -> str:
    """Say how many of the tokens that the model reads are not from the text."""
    own, total = sum(trace.encoding.special), len(trace.encoding)
    if not own:
        return f"This model adds no token: all {total} are from the text."
    told = f"{own} of the {total} tokens {'is' if own == 1 else 'are'} not from the text."
    return f"{told} The model reads them like words."


def _places(positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return f"token {positions[0]}"
    shown = ", ".join(map(str, positions[:12]))
    return f"tokens {shown}{' …' if len(positions) > 12 else ''}"
