"""Token boundaries in the learner's own text, and the tokens that the model reads, as safe HTML for `st.html`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from lab.charts.base.axes import direction, visible
from lab.models.encoding import Encoding
from lab.text.alignment import chips
from lab.text.tokenizers.cut_text import Span
from lab.text.tokenizers.explained import TokenizationSteps

Chip = tuple[str, tuple[int, ...], str | None]

_HUES = (255, 70, 150, 320, 30)  # neighbours in this cycle of colours differ for colour-blind readers, too

_STYLE = """<style>
.tokens { line-height: 1.35; margin: 0 0 .5rem; padding: 3px; unicode-bidi: isolate; }
.tokens .token { display: inline-flex; flex-direction: column; align-items: center; vertical-align: top;
  max-width: 100%; margin: .15rem .5px; padding: 0 .3em .1em; border: 1px solid; border-radius: .3em;
  color: light-dark(#16181d, #ffffff); overflow-wrap: anywhere; white-space: pre-wrap; }
.tokens .token small { font-size: .7rem; color: light-dark(#4c505e, #d5d7dd); }
.tokens .special { border-style: dashed; font-style: italic; margin-inline: .35em;
  background: light-dark(#f4f4f6, #26282e); border-color: light-dark(#7a7f8c, #9a9fac); }
.tokens .gap { display: inline-block; min-width: .35em; color: light-dark(#4c505e, #d5d7dd); padding-top: 1rem; }
.tokens.large { font-size: 1.4rem; }
.tokens.large .token small { font-size: .8rem; font-variant-numeric: tabular-nums; }
HUES</style>"""


def token_chips(
    chips: Iterable[Chip],
    *,
    groups: Sequence[int] | None = None,
    ids: Sequence[int] | None = None,
) -> str:
    """HTML for a text cut into chips, each `(run of the text, its tokens' positions from 0, label or None)`.

    A run without positions is between tokens (a space) and is drawn plain. An empty run is a special token, shown
    by its label, with a dashed frame. Positions count from 1 above the run; a label that differs from the run is
    shown below it. Neighbours differ in colour, unless `groups` gives each token its group: 0 or 1 for the segments
    of a pair, say. With `ids`, one for each token, the id is below the token, and the chips are large: they are then
    the main figure of the page.

    All text is escaped, keeps its own direction, and has its control characters drawn as signs.
    """
    listed = list(chips)
    side = direction("".join(run for run, _, _ in listed))
    parts = []
    turn = 0
    for run, tokens, label in listed:
        if not tokens and run:
            parts.append(f'<span class="gap">{_gap(run)}</span>')
            continue
        kind = f"hue{turn % len(_HUES)}" if run else "special"
        if groups is not None and tokens:
            kind = f"hue{groups[tokens[0]] % len(_HUES)}" + ("" if run else " special")
        turn += bool(run)
        below = "" if ids is None else ", ".join(str(ids[token]) for token in tokens)
        parts.append(_chip(run, tokens, label, kind, below))
    large = "" if ids is None else " large"
    return f'{_style()}<div class="tokens{large}" translate="no" dir="{side}">{"".join(parts)}</div>'


def _style() -> str:
    hues = "".join(
        f".tokens .hue{place} {{ background: light-dark(oklch(.94 .05 {hue}), oklch(.36 .07 {hue})); "
        f"border-color: light-dark(oklch(.62 .12 {hue}), oklch(.68 .12 {hue})); }}\n"
        for place, hue in enumerate(_HUES)
    )
    return _STYLE.replace("HUES", hues)


def _chip(run: str, tokens: tuple[int, ...], label: str | None, kind: str, below: str) -> str:
    shown = run or label or ""
    name = f"<small><bdi>{_safe(label)}</bdi></small>" if label is not None and label != shown else ""
    number = f"<small>{below}</small>" if below else ""
    above = f"<small>{_positions(tokens)}</small>"
    return f'<span class="token {kind}">{above}<bdi>{_safe(shown)}</bdi>{name}{number}</span>'


def _positions(tokens: tuple[int, ...]) -> str:
    """Write positions, counted from 1: `3`, `3–5` for neighbours, `3, 7` otherwise."""
    first, last = (tokens[0], tokens[-1]) if tokens else (0, -1)
    if len(tokens) > 2 and tokens == tuple(range(first, last + 1)):
        return f"{first + 1}–{last + 1}"
    return ", ".join(str(token + 1) for token in tokens)


def _gap(run: str) -> str:
    """Return the text between tokens: one space stays a space, all other characters become visible signs."""
    return " " if run == " " else _safe(run)


def _safe(text: str) -> str:
    return html.escape(visible(text, limit=None))


def encoding_chips(encoding: Encoding) -> list[Chip]:
    """Cut both texts by their tokens; tokens that cover no character are placed between the others.

    Characters that no token covers are runs without positions, as are characters beyond the model's limit.
    """
    first = [i for i, added in enumerate(encoding.special) if not added and not encoding.in_pair[i]]
    second = [i for i in range(len(encoding)) if encoding.in_pair[i]]
    added = [i for i, special in enumerate(encoding.special) if special]
    cut = [_text_chips(encoding.text, first, encoding)]
    if encoding.pair is not None:
        cut.append(_text_chips(encoding.pair, second, encoding))
    result: list[Chip] = []
    for each, positions in zip(cut, (first, second), strict=False):
        begin = positions[0] if positions else len(encoding)
        result += [_empty(i, encoding) for i in added if i < begin]
        added = [i for i in added if i >= begin]
        result += each
    return result + [_empty(i, encoding) for i in added]


def _text_chips(text: str, positions: Sequence[int], encoding: Encoding) -> list[Chip]:
    offsets = [encoding.offsets[i] for i in positions]
    # A byte-level token that is only a trimmed space covers no character, but the model reads it.
    without = [i for i, (start, end) in zip(positions, offsets, strict=True) if start == end]
    result: list[Chip] = []
    for chip in chips(text, offsets):
        tokens = tuple(positions[i] for i in chip.tokens)
        while tokens and without and without[0] < tokens[0]:
            result.append(_empty(without.pop(0), encoding))
        label = " ".join(encoding.tokens[i] for i in tokens)
        result.append((chip.text, tokens, label if tokens else None))
    return result + [_empty(i, encoding) for i in without]


def _empty(position: int, encoding: Encoding) -> Chip:
    return "", (position,), encoding.tokens[position]


def pre_token_chips(steps: TokenizationSteps) -> list[Chip]:
    """A text as typed, cut by its pre-tokens; a pre-token that differs from the typed characters is the label."""
    spans: list[Span] = [word.span for word in steps.words]
    result: list[Chip] = []
    for chip in chips(steps.text, spans):
        label = " ".join(steps.words[i].text for i in chip.tokens) if chip.tokens else None
        result.append((chip.text, chip.tokens, label))
    return result
