"""Cuts in a run: tokens that the watched token or all other tokens cannot hear, and single cut links."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lab.models.config import ModelConfig
from lab.models.interventions import HeadLink, Interventions, Link
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding

_TOKEN = re.compile(r"([0-9]{1,4})(\*?)", re.ASCII)
_LINK = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?\.([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)


@dataclass(frozen=True)
class Cuts:
    """The cuts of a run; layers, heads and tokens count from 0. A token always hears itself.

    Attributes
    ----------
    unheard
        Tokens that the watched token cannot hear: their links to the watched token are cut in every layer.
    silent
        Tokens that no other token can hear.
    links
        (layer, query, key): the query does not hear the key in this layer.
    in_heads
        (layer, head, query, key): the query does not hear the key through this head.
    """

    unheard: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    links: frozenset[Link] = frozenset()
    in_heads: frozenset[HeadLink] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.unheard or self.silent or self.links or self.in_heads)

    def __str__(self) -> str:
        """Write the cuts as in a URL, counted from 1: "5" and "5*" for a token, "6.7.5" and "6-11.7.5" for a link."""
        tokens = [f"{token + 1}" for token in sorted(self.unheard)] + [f"{token + 1}*" for token in sorted(self.silent)]
        links = [f"{layer + 1}.{query + 1}.{key + 1}" for layer, query, key in sorted(self.links)]
        in_heads = [f"{at + 1}-{head + 1}.{query + 1}.{key + 1}" for at, head, query, key in sorted(self.in_heads)]
        return ",".join([*tokens, *links, *in_heads])

    @classmethod
    def read(cls, text: str, config: ModelConfig, tokens: int, watched: int) -> tuple[Cuts, bool]:
        """Read the cuts in a URL for a text of ``tokens`` tokens; also return whether all cuts were possible."""
        found, whole = cls(), True
        for part in filter(None, text.split(",")):
            made = found._with(part.strip(), config, tokens, watched)
            found, whole = made or found, whole and made is not None
        return found, whole

    def _with(self, part: str, config: ModelConfig, tokens: int, watched: int) -> Cuts | None:
        """Return these cuts and the cut that ``part`` names; None if this text or model has no such token or link."""
        if (token := _TOKEN.fullmatch(part)) is not None:
            place, everywhere = int(token[1]) - 1, bool(token[2])
            if not 0 <= place < tokens or place == watched:
                return None
            healed = self.healed(place)
            return healed.silenced(place) if everywhere else healed.cut_off(place)
        link = _LINK.fullmatch(part)
        if link is None:
            return None
        layer, query, key = (int(link[place]) - 1 for place in (1, 3, 4))
        head = 0 if link[2] is None else int(link[2]) - 1
        there = 0 <= layer < config.layers and 0 <= head < config.heads and max(query, key) < tokens
        if not there or min(query, key) < 0 or query == key:
            return None
        if link[2] is None:
            return replace(self, links=self.links | {(layer, query, key)})
        return replace(self, in_heads=self.in_heads | {(layer, head, query, key)})

    def token(self, token: int) -> Cuts:
        """Return the cuts after a click on a token: cut off from the watched token, then from all, then healed."""
        if token in self.silent:
            return self.healed(token)
        return self.healed(token).silenced(token) if token in self.unheard else self.cut_off(token)

    def cut_off(self, token: int) -> Cuts:
        """Return these cuts and one more cut: the watched token does not hear ``token``."""
        return replace(self, unheard=self.unheard | {token})

    def silenced(self, token: int) -> Cuts:
        """Return these cuts and one more cut: no other token hears ``token``."""
        return replace(self, silent=self.silent | {token})

    def healed(self, token: int) -> Cuts:
        """Return these cuts without the cuts of ``token``."""
        return replace(self, unheard=self.unheard - {token}, silent=self.silent - {token})

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

    def interventions(self, watched: int, tokens: int) -> Interventions:
        """Return the changes to a forward pass that make these cuts in a text of ``tokens`` tokens."""
        pairs = {(watched, token) for token in self.unheard}
        pairs |= {(query, token) for token in self.silent for query in range(tokens) if query != token}
        return Interventions(blocked=frozenset(pairs), blocked_links=self.links, blocked_in_heads=self.in_heads)


@once
def cut_run(trace: Trace, watched: int, cuts: Cuts) -> Trace:
    """Run the text of ``trace`` again with these cuts; without any, return ``trace`` itself."""
    if not cuts:
        return trace
    made, before = cuts.interventions(watched, len(trace)), trace.interventions
    changes = replace(
        before,
        blocked=before.blocked | made.blocked,
        blocked_links=before.blocked_links | made.blocked_links,
        blocked_in_heads=before.blocked_in_heads | made.blocked_in_heads,
    )
    return trace_encoding(trace.model, trace.encoding, changes)
