"""The sentences of a text in other orders: is it nearness, or the text, that lets two sentences look at each other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.attention import inter_sentence
from lab.analysis.sentences.split import aside, split
from lab.models.cores import breathe
from lab.models.memo import once
from lab.models.trace import Trace, trace

# The least and the most sentences, tokens and orders: each order is one more run of the model.
LEAST, MOST, TOKENS, ORDERS = 3, 6, 160, 12
_SEED = 0


@dataclass(frozen=True)
class Orders:
    """Attention between two sentences as multiples of a uniform head's, as means over all pairs and ``count`` orders.

    Attributes
    ----------
    beside, away
        Of two sentences that follow each other in the text: while they are side by side, and while they are not.
    others_beside, others_away
        Of two other sentences.
    """

    beside: float
    away: float
    others_beside: float
    others_away: float
    count: int

    @property
    def by_nearness(self) -> float:
        """How much more two sentences look at each other while they are side by side, whatever they say."""
        return (self.beside + self.others_beside - self.away - self.others_away) / 2

    @property
    def by_text(self) -> float:
        """How much more two sentences look at each other if they follow each other in the text, wherever they are."""
        return (self.beside + self.away - self.others_beside - self.others_away) / 2


@once
def orders(own: Trace) -> Orders | None:
    """Run a text of :data:`LEAST` to :data:`MOST` sentences in several orders; None for any other text.

    Up to :data:`ORDERS` orders are run, the text's own among them; an order that is divided into other sentences is
    left out. Special tokens, or a causal model's first token, are left out of the attention. Of a causal model, the
    later sentence looks at the earlier one; of another model, both directions count.
    """
    sentences = split(own)
    whole = own.pair is None and not sentences.left_out and not sentences.cut and len(own) <= TOKENS
    if not whole or not LEAST <= len(sentences) <= MOST:
        return None
    groups: dict[tuple[bool, bool], list[float]] = {(a, b): [] for a in (True, False) for b in (True, False)}
    count = 0
    for order in _drawn(len(sentences)):
        breathe()
        texts = tuple(sentences.texts[place] for place in order)
        run = own if order == tuple(range(len(order))) else trace(own.model, " ".join(texts))
        if run is not own and split(run).texts != texts:
            continue
        count += 1
        relative = _relative(run)
        for x, y in np.argwhere(np.isfinite(relative)).tolist():
            if x != y:
                groups[abs(order[x] - order[y]) == 1, abs(x - y) == 1].append(float(relative[x, y]))
    if count < 2 or not all(groups.values()):
        return None
    means = {key: float(np.mean(values)) for key, values in groups.items()}
    return Orders(means[True, True], means[True, False], means[False, True], means[False, False], count)


def _relative(run: Trace) -> np.ndarray:
    """The attention between the sentences of a run as multiples of a uniform head's; nan where nothing can look."""
    sentences = split(run)
    others = aside(run, sentences)
    found = inter_sentence(run, others or sentences.of_token, renormalise=others is not None).relative
    return np.where(np.tri(len(found), k=-1) > 0, found, np.nan) if is_causal(run) else found


def _drawn(count: int) -> Sequence[tuple[int, ...]]:
    """All orders of a few sentences; of more, the first and others drawn at random, always the same."""
    every = list(permutations(range(count)))
    if len(every) <= ORDERS:
        return every
    chosen = np.random.default_rng(_SEED).choice(np.arange(1, len(every)), ORDERS - 1, replace=False)
    return [every[0], *(every[place] for place in sorted(chosen.tolist()))]
