"""The picture of a whole model, as the browser gets it; ``machine.js`` draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.charts.base.axes import visible
from lab.charts.components.packing import pack
from lab.charts.components.word_forms_picture import Spans, text_of
from lab.charts.kept.file import Live
from lab.charts.kept.keepable import Keepable


@dataclass(frozen=True)
class LessonDoor:
    """The way to a lesson: its id, number and title, its address, and whether it is the lesson on screen."""

    id: str
    number: int
    title: str
    address: str
    here: bool = False


Values = NDArray[np.float32]
# A strip's colours reach their end at this share of its numbers: a few numbers of a vector are ten times the others.
_MOST_NUMBERS = 0.98
_NOT_DRAWN = 255  # the row of a token that is not drawn


@dataclass(frozen=True)
class Part:
    """A part of the model.

    Attributes
    ----------
    id
        ``tokens``, ``vectors``, ``norm_1``, ``attention``, ``add_1``, ``norm_2``, ``neurons``, ``add_2`` or ``word``.
    name, shape
        The heading, and the shape of the part's numbers for this text.
    says
        What the part does, in a sentence or two.
    """

    id: str
    name: str
    shape: str
    says: str


@dataclass(frozen=True, eq=False)
class OpenHead:
    """A head of the layer, from 0, with its matrices for the m tokens that are drawn, of n.

    ``query`` and ``key`` are (m, d_k), ``attention`` is (m, m), ``value`` and ``context`` are (m, d_v).
    """

    layer: int
    head: int
    query: Values
    key: Values
    attention: Values
    value: Values
    context: Values


@dataclass(frozen=True)
class MachineOnPage:
    """What a page adds to the figure.

    Attributes
    ----------
    doors
        By the part's id, the lessons about the part.
    exit
        The lesson about the other way out: what the first token, [CLS], knows of the whole text; None for no way.
    found
        By the part's id, what was found there, as sentences.
    leads
        The label of a button that a chosen part has, to report its id to the page; "" for no button.
    marked
        The id of the part that the page is about.
    twin
        Whether the untrained twin is shown; None if the model has none.
    waits
        Whether the words are withheld, because the page has asked for them and nobody has answered yet.
    hides, hidden
        Whether a token can be hidden here, and whether the watched one has been.
    """

    doors: Mapping[str, Sequence[LessonDoor]] = field(default_factory=dict)
    exit: LessonDoor | None = None
    found: Mapping[str, Sequence[str]] = field(default_factory=dict)
    leads: str = ""
    marked: str = ""
    twin: bool | None = None
    waits: bool = False
    hides: bool = False
    hidden: bool = False


ALONE = MachineOnPage()


@dataclass(frozen=True, eq=False)
class Machine(Keepable):
    """The data of the picture. It draws m of the text's n tokens; l of the model's L layers of H heads are here.

    Attributes
    ----------
    title
        The name of the figure.
    tokens, ids, special
        m labels of any text, their ids, and whether each is one of the model's own, as [CLS].
    watched
        The row of the token that is watched.
    is_blank
        m marks: whether each token hides a word.
    others, text
        The number of tokens that are not drawn, and a name of the text.
    parts
        The parts in their order.
    layers, first, layer
        L, the first layer that is here, and the layer that is shown first, from 0.
    states
        (l + 1, m, w), the first w numbers of the vectors before, between and after the layers that are here.
    maps
        (l, H, m, m), the attention of each head.
    most
        (l, H, m), the row of the token at which each row looks most; -1 if that token is not drawn.
    strips
        By the part's id, (l, m, w): other numbers of each token.
    words
        The likeliest words at the watched token, with their probabilities; none if ``unread`` says why.
    ending
        What comes out at the watched token, as a sentence.
    unread
        Why a token that is no blank has no words; "" if every token has.
    next_words
        Whether every token has words, those that may come next, which Python must be asked for.
    opened
        The head whose matrices are shown.
    """

    title: str
    tokens: Sequence[str]
    ids: Sequence[int]
    special: Sequence[bool]
    watched: int
    is_blank: Sequence[bool]
    others: int
    text: str
    parts: Sequence[Part]
    layers: int
    first: int
    layer: int
    states: Values
    maps: Values
    most: NDArray[np.int64]
    strips: Mapping[str, Values]
    words: Sequence[tuple[str, float]]
    ending: Spans
    unread: str
    next_words: bool
    opened: OpenHead | None = None

    @property
    def alt(self) -> str:
        """The picture, in words."""
        parts = "; ".join(f"{part.name}, {part.shape}" for part in self.parts)
        return f"{self.title}: {parts}. {text_of(self.ending)}"

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return self.title

    def drawing(self) -> Live:
        """Return the picture as a file draws it."""
        return Live("machine", [self.payload()])

    def payload(self, page: MachineOnPage = ALONE) -> bytes:
        """Return the bytes that :func:`lab.ui.components.mount` sends."""
        header: dict[str, Any] = {
            "title": self.title,
            "alt": self.title if page.waits else self.alt,
            "tokens": [visible(token, 16) for token in self.tokens],
            "ids": list(map(int, self.ids)),
            "special": list(map(bool, self.special)),
            "blank": list(map(bool, self.is_blank)),
            "watched": self.watched,
            "others": self.others,
            "text": self.text,
            "parts": [self._part(part, page) for part in self.parts],
            "layers": self.layers,
            "first": self.first,
            "layer": self.layer,
            "words": [] if page.waits else [[visible(word), round(float(share), 4)] for word, share in self.words],
            "ending": [] if page.waits else [[text, kind] for text, kind in self.ending],
            "unread": self.unread,
            "nextWords": self.next_words,
            "opened": None if self.opened is None else [self.opened.layer, self.opened.head],
            "exit": None if page.exit is None else vars(page.exit),
            "exitFrom": visible(self.tokens[0], 16) if self.special[0] else "last token",
            "leads": page.leads,
            "marked": page.marked,
            "twin": page.twin,
            "waits": page.waits,
            "hides": page.hides,
            "hidden": page.hidden,
        }
        arrays: dict[str, NDArray[Any]] = {
            "states": _coloured(self.states),
            "maps": np.rint(self.maps * 255).astype(np.uint8),
            "most": np.where(self.most < 0, _NOT_DRAWN, self.most).astype(np.uint8),
            **{name: _coloured(values) for name, values in self.strips.items()},
        }
        if self.opened is not None:
            both = np.concatenate([self.opened.query, self.opened.key])  # one scale for what is multiplied
            arrays |= {
                "open_query": _coloured(both)[: len(self.opened.query)],
                "open_key": _coloured(both)[len(self.opened.query) :],
                "open_attention": np.ascontiguousarray(self.opened.attention, dtype=np.float32),
                "open_value": _coloured(self.opened.value),
                "open_context": _coloured(self.opened.context),
            }
        return pack(header, arrays)

    def _part(self, part: Part, page: MachineOnPage) -> dict[str, Any]:
        doors = [vars(door) for door in page.doors.get(part.id, ())]
        return {**vars(part), "doors": doors, "found": list(page.found.get(part.id, ()))}

    def table(self) -> pd.DataFrame:
        """Return a line for each part: its name, its shape for this text, and what it does."""
        return pd.DataFrame(
            [(part.name, part.shape, part.says) for part in self.parts], columns=["part", "shape", "what it does"]
        )

    def _repr_html_(self) -> str:
        """Show the parts and the words in a notebook."""
        return f"<p>{escape(self.title)}. {escape(text_of(self.ending))}</p>{self.table().to_html()}"


def _coloured(values: Values) -> NDArray[np.int8]:
    """Return numbers from -127 to 127, with one scale in each layer: most numbers lie within it, the others at its end.

    The numbers of a layer are those that share the first of three axes.
    """
    layers = values if values.ndim == 3 else values[None]
    ends = np.quantile(np.abs(layers).reshape(len(layers), -1), _MOST_NUMBERS, axis=1)
    scaled = layers / np.where(ends > 0, ends, 1)[:, None, None]
    return np.rint(np.clip(scaled, -1, 1) * 127).astype(np.int8).reshape(values.shape)
