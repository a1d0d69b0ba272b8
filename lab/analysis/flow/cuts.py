"""Cuts in a run: ways from a token that are closed, single cut links, and tokens that say something else.

A token can reach the watched one in two ways: directly, through its links to the watched token, and around, through its
links to any other token, which the watched token then hears. Only three runs tell which way matters: one without the
direct way, one without the ways around, and one without both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from operator import itemgetter

from lab.models.encoding import TextError
from lab.models.interventions import HeadLink, Link, Pair, Patch
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.models.trace import trace as trace_of

# In a URL, the sign after a token says how it is cut off; :class:`Way` has the signs.
_TOKEN = re.compile(r"([0-9]{1,4})([~*!]?)", re.ASCII)
_LINK = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?\.([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
# The sentence from which a token takes its states if it says something else; the second one replaces the first itself.
OTHER_SENTENCES = ("It rained all day.", "The shop was closed.")


class Way(Enum):
    """A way to cut a token, with its sign in a URL. A cut never keeps a token from hearing itself.

    DIRECT  the watched token does not hear it
    AROUND  no token but the watched one hears it
    BOTH    no other token hears it
    OTHER   every token hears it, but it says what the same token says in another sentence
    """

    DIRECT = ""
    AROUND = "~"
    BOTH = "*"
    OTHER = "!"


@dataclass(frozen=True)
class Cuts:
    """The cuts of a run; layers, heads and tokens count from 0.

    Attributes
    ----------
    tokens
        (token, way), in the order of the text: each token that is cut off, at most once.
    links
        (layer, query, key): the query does not hear the key in this layer.
    in_heads
        (layer, head, query, key): the query does not hear the key through this head.
    """

    tokens: tuple[tuple[int, Way], ...] = ()
    links: frozenset[Link] = frozenset()
    in_heads: frozenset[HeadLink] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.tokens or self.links or self.in_heads)

    def __str__(self) -> str:
        """Write the cuts as in a URL, counted from 1: "5", "5~", "5*", "5!" for a token, "6.7.5" and "6-11.7.5"."""
        tokens = [f"{token + 1}{way.value}" for token, way in self.tokens]
        links = [f"{layer + 1}.{query + 1}.{key + 1}" for layer, query, key in sorted(self.links)]
        in_heads = [f"{at + 1}-{head + 1}.{query + 1}.{key + 1}" for at, head, query, key in sorted(self.in_heads)]
        return ",".join([*tokens, *links, *in_heads])

    @classmethod
    def read(cls, text: str, trace: Trace, watched: int) -> tuple[Cuts, bool]:
        """Read the cuts in a URL for the run ``trace``; also return whether all cuts were possible."""
        found, whole = cls(), True
        for part in filter(None, text.split(",")):
            made = found._with(part.strip(), trace, watched)
            found, whole = made or found, whole and made is not None
        return found, whole

    def _with(self, part: str, trace: Trace, watched: int) -> Cuts | None:
        """Return these cuts and the cut that ``part`` names; None if this text or model has no such token or link."""
        if (found := _TOKEN.fullmatch(part)) is not None:
            token, way = int(found[1]) - 1, Way(found[2])
            there = 0 <= token < len(trace) and token != watched
            possible = there and (way is not Way.OTHER or same_elsewhere(trace, token) is not None)
            return self.cut(token, way) if possible else None
        link, config = _LINK.fullmatch(part), trace.model.config
        if link is None:
            return None
        layer, query, key = (int(link[place]) - 1 for place in (1, 3, 4))
        head = 0 if link[2] is None else int(link[2]) - 1
        there = 0 <= layer < config.layers and 0 <= head < config.heads and max(query, key) < len(trace)
        if not there or min(query, key) < 0 or query == key:
            return None
        if link[2] is None:
            return replace(self, links=self.links | {(layer, query, key)})
        return replace(self, in_heads=self.in_heads | {(layer, head, query, key)})

    def way_of(self, token: int) -> Way | None:
        """Return what is done to a token; None if nothing is."""
        return dict(self.tokens).get(token)

    def token(self, token: int) -> Cuts:
        """Return the cuts after a click on a token: its direct way is cut, or the token is healed if it was cut."""
        return self.cut(token, Way.DIRECT) if self.way_of(token) is None else self.healed(token)

    def cut(self, token: int, way: Way) -> Cuts:
        """Return these cuts with ``token`` cut off in this way, instead of the way in which it was cut before."""
        return replace(self, tokens=tuple(sorted([*self.healed(token).tokens, (token, way)], key=itemgetter(0))))

    def healed(self, token: int) -> Cuts:
        """Return these cuts without the cut of ``token``."""
        return replace(self, tokens=tuple(each for each in self.tokens if each[0] != token))

    def link(self, layer: int, query: int, key: int) -> Cuts:
        """Return the cuts after a click on a link, which cuts or heals the whole link.

        Cuts in single heads are removed.
        """
        whole = (layer, query, key)
        heads = frozenset(each for each in self.in_heads if (each[0], *each[2:]) != whole)
        return replace(self, links=self.links ^ {whole}, in_heads=heads)

    def in_head(self, layer: int, head: int, query: int, key: int) -> Cuts:
        """Return the cuts after a click that cuts one link in one head, or restores this link if it was cut."""
        return replace(self, in_heads=self.in_heads ^ {(layer, head, query, key)})

    def blocked(self, watched: int, tokens: int) -> frozenset[Pair]:
        """Return the pairs (query, key) that the cut tokens block in every layer of a text of ``tokens`` tokens."""
        pairs: set[Pair] = set()
        for token, way in self.tokens:
            if way in (Way.DIRECT, Way.BOTH):
                pairs.add((watched, token))
            if way in (Way.AROUND, Way.BOTH):
                pairs |= {(query, token) for query in range(tokens) if query not in (token, watched)}
        return frozenset(pairs)


def cut_run(trace: Trace, watched: int, cuts: Cuts) -> Trace:
    """Run the text of ``trace`` again with these cuts; without any, return ``trace`` itself.

    Raises ValueError if a token is to say something else, and the other sentence has no such token.
    """
    return _cut(trace, watched, cuts) if cuts else trace


@once
def _cut(trace: Trace, watched: int, cuts: Cuts) -> Trace:
    before = trace.interventions
    patches = [patch for token, way in cuts.tokens if way is Way.OTHER for patch in _said_elsewhere(trace, token)]
    changes = replace(
        before,
        blocked=before.blocked | cuts.blocked(watched, len(trace)),
        blocked_links=before.blocked_links | cuts.links,
        blocked_in_heads=before.blocked_in_heads | cuts.in_heads,
        patches=(*before.patches, *patches),
    )
    return trace_encoding(trace.model, trace.encoding, changes)


def is_sink(trace: Trace, token: int) -> bool:
    """Return whether a cut of a token tells nothing about what the token says.

    Attention often rests at a special token, and at the first token of a causal model (Xiao et al. 2023, "Efficient
    Streaming Language Models with Attention Sinks"). Weights of a row add up to 1, so a row that loses the place where
    it rested has to give this weight to other tokens.
    """
    mask = trace.model.mask
    if trace.model.config.causal and token == 0:
        return True
    return trace.encoding.special[token] and (mask is None or trace.token_ids[token] != mask[1])


def elsewhere(trace: Trace) -> str:
    """Return the other sentence from which a token of ``trace`` takes its states if it says something else."""
    return next(each for each in OTHER_SENTENCES if each != trace.text.strip())


@once
def same_elsewhere(trace: Trace, token: int) -> tuple[Trace, int] | None:
    """Return a run of another sentence, and the place of the same special token, or first token, there.

    None for a token of the learner's own words, and for a special token that the other sentence does not have.
    """
    if not is_sink(trace, token):
        return None
    try:
        other = trace_of(trace.model, elsewhere(trace), None, trace.interventions.without_tokens)
    except TextError:
        return None  # a toy knows other words
    if trace.model.config.causal and token == 0:
        return other, 0
    ids = other.token_ids
    return (other, ids.index(trace.token_ids[token])) if trace.token_ids[token] in ids else None


def _said_elsewhere(trace: Trace, token: int) -> list[Patch]:
    """Return patches with which a token has, before every layer, the states of the same token in another sentence."""
    found = same_elsewhere(trace, token)
    if found is None:
        raise ValueError(f"Token {token} has no counterpart in the sentence {OTHER_SENTENCES[0]!r}.")
    other, place = found
    return [Patch(layer, token, other.hidden_states[layer, place]) for layer in range(trace.model.config.layers)]
