"""The picture of a word that forms, as the browser gets it; ``word_forms.js`` draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lab.charts.base.axes import visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.file import Drawing, Live
from lab.charts.kept.keepable import Keepable

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

# A sentence as a list of parts, each with its text and its kind. FROM marks a token of the text, WORD a word of the
# vocabulary.
PLAIN, FROM, WORD = "", "from", "word"
Spans = Sequence[tuple[str, str]]
# The least probability of a leading word; if no word has it, the bars are grey.
LEADS = 0.1
# The ways in which a token can be cut off, as a link writes them (:class:`lab.analysis.flow.cuts.Way`); None for none.
CUT_TOKENS = (None, "", "~", "*", "!")
_WAYS = {"": "directly", "~": "around", "*": "both ways", "!": "other words"}  # word_forms.js has the same labels


def text_of(spans: Spans) -> str:
    """Return the text of a sentence, joined from its parts."""
    return "".join(text for text, _ in spans)


@dataclass(frozen=True)
class OnPage:
    """The parts that a page adds to the figure.

    Attributes
    ----------
    doors
        The lesson behind each part, by the part's name: ``tokens``, ``vectors``, ``layer`` and ``words`` are headings,
        ``link`` and ``dot`` are in the picture. A part that is chosen explains itself, with its door if it has one.
    lenses, lens
        The lenses to choose from, and the lens in use.
    fills
        The CSS selector of an element of the page that shows the best word so far.
    play
        The figure plays once whenever this text differs from the one before; "" for never.
    waits
        True if the figure stays before the first layer and shows no word.
    hint
        The first thing to try, while nothing is cut; "" leaves the choice to the figure.
    reply
        What the page says about the learner's guess, once the picture has played.
    """

    doors: Mapping[str, str] = field(default_factory=dict)
    lenses: Sequence[str] = ()
    lens: str = ""
    fills: str = ""
    play: str = ""
    waits: bool = False
    hint: str = ""
    reply: str = ""


ALONE = OnPage()


@dataclass(frozen=True)
class CutToken:
    """A token that is cut off.

    Attributes
    ----------
    token, name
        The token, from 0, and its name in a sentence.
    way
        The way in which it is cut off, one of :data:`CUT_TOKENS`.
    offered
        The ways in which it can be cut off.
    kept
        The probability of the word that was the best one, for each of the ways; empty if other things are cut, too.
    """

    token: int
    name: str
    way: str
    offered: Sequence[str]
    kept: Sequence[float]


@dataclass(frozen=True, eq=False)
class WordForms(Keepable):
    """The data of the picture. Its lanes are m of the text's n tokens; there are L layers of H heads.

    Attributes
    ----------
    tokens
        n labels, of any text.
    lanes
        The m places that are drawn, from 0, in the order of the text.
    special
        m marks: whether a token is one of the model's own, as [CLS].
    watched
        The lane of the token at which the word forms.
    rows
        The q lanes whose links are known, including the watched lane.
    share
        (L, q, m), each row the shares of the vector that attention brings to that token.
    strength
        (L, q), the length of that whole vector relative to the token's vector.
    parts
        (L, H, m), each head's part of a link to the watched token.
    written
        (L, q), the length of the feed-forward network's vector relative to the token's.
    cut_tokens
        m places in :data:`CUT_TOKENS`: in which way each token is cut off.
    cut_links
        (L, q, m), whether a link is cut.
    cut_heads
        (L, H, m), whether a link to the watched token is cut in a head.
    words
        For the L + 1 states, from the embeddings on: the likeliest words, each with its probability; none for a state
        that cannot be read yet, and no states for a model without a vocabulary head.
    before
        The last state's words without the cuts; none if nothing is cut.
    ways
        The tokens that are cut off.
    cut_word
        The word that was the best one, and its probability then; None unless a single token is cut and nothing else.
    headings
        The line over the words, for each of the L + 1 states.
    story
        A sentence for each of the L + 1 states.
    title, hint
        The name of the figure, and a hint on what to try next.
    is_blank
        Whether the watched token hides a word.
    with_ways
        Makes the drawing with the other ways to cut its tokens, from the figure's run; None if there are none.
    """

    tokens: Sequence[str]
    lanes: Sequence[int]
    special: Sequence[bool]
    watched: int
    rows: Sequence[int]
    share: ArrayLike
    strength: ArrayLike
    parts: ArrayLike
    written: ArrayLike
    cut_tokens: Sequence[int]
    cut_links: ArrayLike
    cut_heads: ArrayLike
    words: Sequence[Sequence[tuple[str, float]]]
    before: Sequence[tuple[str, float]]
    ways: Sequence[CutToken]
    cut_word: tuple[str, float] | None
    headings: Sequence[str]
    story: Sequence[Spans]
    title: str
    hint: str
    is_blank: bool
    with_ways: Callable[[Trace], Live] | None = field(default=None, repr=False)

    @property
    def alt(self) -> str:
        """The final state of the picture, in words."""
        return f"{self.title}. {text_of(self.story[-1])}"

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return self.title

    def drawing(self) -> Live:
        """Return the picture as it is, without the other ways to cut a token."""
        return Live("word_forms", [self.payload()])

    def drawing_from(self, runs: Sequence[Trace | LoadedModel]) -> Drawing:
        """Return the picture with the other ways to cut its tokens, which need the run."""
        if self.with_ways is None or not runs:
            return self.drawing()
        return self.with_ways(cast("Trace", runs[0]))

    @property
    def is_cut(self) -> bool:
        """True if a token, a link or a head's link is cut."""
        return any(self.cut_tokens) or bool(np.any(self.cut_links)) or bool(np.any(self.cut_heads))

    def payload(self, page: OnPage = ALONE) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends."""
        header: dict[str, Any] = {
            "title": self.title,
            "hint": self.hint,
            "alt": self.alt,
            "blank": self.is_blank,
            "cut": self.is_cut,
            "tokens": [visible(token, 16) for token in self.tokens],
            "lanes": list(self.lanes),
            "special": list(map(bool, self.special)),
            "watched": self.watched,
            "rows": list(self.rows),
            "cutTokens": list(self.cut_tokens),
            "words": _sent(self.words),
            "before": _sent([self.before])[0],
            "ways": [asdict(each) | {"kept": [round(share, 4) for share in each.kept]} for each in self.ways],
            "cutWord": _sent([[self.cut_word]])[0][0] if self.cut_word else None,
            "headings": list(self.headings),
            "leads": LEADS,
            "story": [[[text, kind] for text, kind in spans] for spans in self.story],
        }
        numbers = {name: _numbers(getattr(self, name)) for name in ("share", "strength", "parts", "written")}
        marks = {name: np.ascontiguousarray(getattr(self, name), dtype=np.uint8) for name in ("cut_links", "cut_heads")}
        said = asdict(page)
        if self.is_cut or not page.hint:
            del said["hint"]
        if page.waits:
            said |= {
                "words": [],
                "before": [],
                "ways": [],
                "story": [header["story"][0]] * len(self.story),
                "alt": self.title,
            }
        return pack({**header, **said}, {**numbers, **marks})

    def table(self) -> pd.DataFrame:
        """Return a line for each layer and drawn token: the token's share, and the best word after the layer."""
        names, row = unique_names(self.tokens), np.asarray(self.share)[:, list(self.rows).index(self.watched)]
        layers, lanes = row.shape
        best = [found[0] if found else ("", np.nan) for found in self.words[1:]] or [("", np.nan)] * layers
        return pd.DataFrame(
            {
                "layer": np.repeat(np.arange(1, layers + 1), lanes),
                "from token": [names[place] for place in self.lanes] * layers,
                "share of what arrives": row.ravel(),
                "best word after the layer": np.repeat([word for word, _ in best], lanes),
                "its probability": np.repeat([probability for _, probability in best], lanes),
            }
        )

    def _repr_html_(self) -> str:
        """Show the picture's story and table in a notebook."""
        told = "".join(f"<li>{escape(text_of(spans))}</li>" for spans in self.story)
        return f"<p>{escape(self.title)}</p><ol start='0'>{told}</ol>{self._ways()}{self.table().to_html()}"

    def _ways(self) -> str:
        """The three cuts of a single token as a line of HTML: what the word keeps in each."""
        if self.cut_word is None or not self.ways:
            return ""
        (word, was), cut = self.cut_word, self.ways[0]
        kept = ", ".join(f"{_WAYS[way]} {share:.2f}" for way, share in zip(cut.offered, cut.kept, strict=True))
        return f"<p>{escape(f'“{word}” with {cut.name} cut off: not {was:.2f}, {kept}')}</p>"


def _sent(words: Sequence[Sequence[tuple[str, float]]]) -> list[list[list[str | float]]]:
    return [[[visible(word), round(float(share), 4)] for word, share in found] for found in words]


def _numbers(values: ArrayLike) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
