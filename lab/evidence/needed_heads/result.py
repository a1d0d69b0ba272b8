"""The result of the experiment on needed heads, what is read off it, and the tables in which it ships."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import drawn_means, holm, p_above, spread
from lab.evidence.needed_heads.claims import GREEDY, IMPORTANCE, MARGIN, TestedClaim, claims, claims_in, draws_for
from lab.evidence.needed_heads.sample import ABLATED, ZERO, Sample, gains
from lab.evidence.pairs import MinimalPair
from lab.evidence.verdicts import ALPHA
from lab.models.interventions import Head
from lab.models.memo import once

ORDERS = (IMPORTANCE, GREEDY)
TWIN = "untrained twin"
_MEANS = ("mean", "low", "high", "p")
_CHANGED = ("changed", "to_mean", "twin_changed", "twin_to_mean")
_ALONE = ("alone", "alone_to_mean")


@dataclass(frozen=True)
class Drawn:
    """A template: how many sentences were drawn, how many of them dropped because a word of them is not one piece of
    the vocabulary, and why the model cannot be asked at all, "" where it can."""

    id: str
    drawn: int
    dropped: int
    refused: str


@dataclass(frozen=True, eq=False)
class MeanEffects:
    """How much the logit difference changes without each head, as a mean over pairs; each (layers, heads).

    ``low`` and ``high`` are the 95 % interval, ``p`` is two-sided and corrected by Holm for all heads.
    """

    name: str
    mean: Values
    low: Values
    high: Values
    p: Values

    @property
    def clear(self) -> NDArray[np.bool_]:
        """(layers, heads) which heads can be told from 0."""
        return self.p < ALPHA

    @property
    def largest(self) -> Head:
        """The head whose absence changes most."""
        layer, head = np.unravel_index(int(np.abs(self.mean).argmax()), self.mean.shape)
        return int(layer), int(head)


def mean_effects(name: str, delta: Values, *shared: NDArray[np.int64]) -> MeanEffects:
    """The mean of ``delta`` (layers, heads, pairs), by a bootstrap over what pairs share, (pairs,) each."""
    shape = delta.shape[:2]
    drawn = drawn_means(delta.reshape(-1, delta.shape[-1]).T, *shared, times=draws_for(delta[..., 0].size))
    low, high = spread(drawn).reshape(2, *shape)
    p = holm(np.minimum(2 * np.minimum(p_above(drawn), p_above(-drawn)), 1))
    return MeanEffects(name, delta.mean(axis=-1), low, high, p.reshape(shape))


@dataclass(frozen=True, eq=False)
class NeededTest:
    """What was measured on P pairs, of which those of half B report. Heads count from 0.

    Attributes
    ----------
    pairs, groups
        The pairs, and (P,) the same number for those that the model reads alike.
    templates
        What was drawn.
    plain, twin
        (P,) logit of the good form less that of the bad one, of the model and of its untrained twin.
    changed, to_mean
        (layers, heads, P) the model's without one head: it writes 0, or its mean over the sentence.
    twin_changed, twin_to_mean
        The same of the twin.
    effects
        On B, of each ablation, and of a head set to 0 in the untrained twin.
    kept, alone, alone_to_mean
        The best single head of each layer by A, and (layers, pairs of B) the difference when all others are away.
    alone_any, alone_on_a
        (layers,) by how much the accuracy changes on B as a mean over all heads kept alone, and on A with the best one.
    away, orders, curves
        (k,) how many heads are away together, in which orders, and (k, pairs of B) the difference then.
    random
        (orders, k) the accuracy on B with heads away in random orders.
    fifth_on_a, fifth_to_mean
        (pairs of A), (pairs of B) the difference with a fifth of the heads away by their importance; on B they write
        their mean.
    made
        Where a result that ships comes from; None for one that was measured here.
    """

    pairs: tuple[MinimalPair, ...]
    groups: NDArray[np.int64]
    templates: tuple[Drawn, ...]
    plain: Values
    twin: Values
    changed: Values
    to_mean: Values
    twin_changed: Values
    twin_to_mean: Values
    effects: tuple[MeanEffects, ...]
    kept: tuple[Head, ...]
    alone: Values
    alone_to_mean: Values
    alone_any: Values
    alone_on_a: Values
    away: NDArray[np.int64]
    orders: Mapping[str, tuple[Head, ...]]
    curves: Mapping[str, Values]
    random: Values
    fifth_on_a: Values
    fifth_to_mean: Values
    made: shipped.Provenance | None = None

    @cached_property
    def b(self) -> NDArray[np.bool_]:
        """(P,) which pairs are of half B."""
        return np.array([pair.half == 1 for pair in self.pairs])

    @cached_property
    def sample(self) -> Sample:
        """All pairs."""
        return self._sample(np.ones(len(self.pairs), dtype=bool))

    def _sample(self, here: NDArray[np.bool_]) -> Sample:
        own, twin = (self.changed, self.to_mean), (self.twin_changed, self.twin_to_mean)
        changed, untrained = (
            {name: each[..., here] for name, each in zip(ABLATED, both, strict=True)} for both in (own, twin)
        )
        pairs = tuple(pair for pair, kept in zip(self.pairs, here, strict=True) if kept)
        return Sample(pairs, self.groups[here], self.plain[here], changed, self.twin[here], untrained)

    @property
    def delta(self) -> Values:
        """(layers, heads, P) how much the difference changes; below 0 where the head helps the good form."""
        return self.changed - self.plain

    @property
    def fifth(self) -> int:
        """The place in ``away`` of a fifth of the heads."""
        return int(np.flatnonzero(self.away == a_fifth(self.shape))[0])

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers and heads there are."""
        layers, heads, _ = self.changed.shape
        return layers, heads

    def of(self, template: str) -> NDArray[np.bool_]:
        """(P,) which pairs are of a template."""
        return np.array([pair.template == template for pair in self.pairs])

    @cached_property
    def effect(self) -> MeanEffects:
        """The mean effect of every head, set to 0, over all pairs."""
        return mean_effects(ZERO, self.delta, *self.sample.shared)

    def effect_in(self, template: str) -> MeanEffects:
        """The mean effect of every head over the pairs of one template; over all for ""."""
        return _effect_in(self, template) if template else self.effect

    @cached_property
    def rows(self) -> tuple[TestedClaim, ...]:
        """The claims and their verdicts."""
        return claims(self)

    @cached_property
    def rows_in(self) -> Mapping[str, tuple[TestedClaim, ...]]:
        """By template, the claims about single heads and their verdicts."""
        templates = dict.fromkeys(pair.template for pair in self.pairs)
        return {template: claims_in(self._sample(self.of(template))) for template in templates}

    def costly_in(self, template: str) -> tuple[Head, ...]:
        """The heads whose absence, by 0, costs a template :data:`MARGIN` of its accuracy or more."""
        lost = -gains(self.changed, self.plain)[..., self.of(template)].mean(axis=-1)
        return tuple((int(layer), int(head)) for layer, head in zip(*np.nonzero(lost >= MARGIN), strict=True))

    def row(self, claim: str) -> TestedClaim:
        """The row of one claim."""
        return next(row for row in self.rows if row.id == claim)


@once
def _effect_in(found: NeededTest, template: str) -> MeanEffects:
    own = found.of(template)
    return mean_effects(template, found.delta[..., own], *found.sample.shared_in(own))


def a_fifth(shape: tuple[int, int]) -> int:
    """A fifth of the heads, to the nearest whole number, at least one."""
    return max(1, round(shape[0] * shape[1] / 5))


def as_tables(found: NeededTest) -> dict[str, pa.Table]:
    """For :mod:`lab.evidence.shipped`."""
    single = pa.list_(pa.float32())
    layers, heads = (each.reshape(-1) for each in np.indices(found.shape))
    ranks = {
        name: [order.index(head) for head in zip(layers, heads, strict=True)] for name, order in found.orders.items()
    }
    fifth = np.empty(len(found.pairs))
    fifth[~found.b], fifth[found.b] = found.fifth_on_a, found.fifth_to_mean
    means = [
        {"name": each.name, **dict(zip(_MEANS, numbers, strict=True))}
        for each in found.effects
        for numbers in zip(*(getattr(each, name).reshape(-1).tolist() for name in _MEANS), strict=True)
    ]
    return {
        "templates": pa.Table.from_pylist([asdict(each) for each in found.templates]),
        "pairs": pa.Table.from_pylist([asdict(pair) for pair in found.pairs])
        .append_column("group", pa.array(found.groups, pa.int16()))
        .append_column("plain", pa.array(found.plain, pa.float32()))
        .append_column("twin", pa.array(found.twin, pa.float32()))
        .append_column("fifth", pa.array(fifth, pa.float32())),
        "heads": pa.table(
            {
                "layer": layers,
                "head": heads,
                **ranks,
                **{
                    name: pa.array(list(getattr(found, name).reshape(len(layers), -1).astype(np.float32)), single)
                    for name in _CHANGED
                },
            }
        ),
        "effects": pa.Table.from_pylist(means),
        "layers": pa.table(
            {
                "kept": [head for _, head in found.kept],
                "any": found.alone_any,
                "on_a": found.alone_on_a,
                **{name: pa.array(list(getattr(found, name).astype(np.float32)), single) for name in _ALONE},
            }
        ),
        "pruning": pa.table(
            {
                "away": found.away,
                "random": list(found.random.T),
                **{name: pa.array(list(found.curves[name].astype(np.float32)), single) for name in ORDERS},
            }
        ),
    }


def from_tables(tables: Mapping[str, pa.Table]) -> NeededTest:
    """What :func:`as_tables` took apart."""
    pairs, heads, layers, pruning = (tables[name] for name in ("pairs", "heads", "layers", "pruning"))
    shape = tuple(int(heads[name].to_numpy().max()) + 1 for name in ("layer", "head"))
    places = list(np.ndindex(*shape))
    names = list(MinimalPair.__dataclass_fields__)
    texts = tuple(MinimalPair(**row) for row in pairs.select(names).to_pylist())
    a = np.array([pair.half == 0 for pair in texts])
    effects = tables["effects"].to_pandas()
    return NeededTest(
        pairs=texts,
        groups=pairs["group"].to_numpy().astype(np.int64),
        templates=tuple(Drawn(**row) for row in tables["templates"].to_pylist()),
        plain=_column(pairs, "plain"),
        twin=_column(pairs, "twin"),
        **{name: _column(heads, name).reshape(*shape, -1) for name in _CHANGED},
        effects=tuple(
            MeanEffects(str(name), *(each[column].to_numpy().reshape(shape) for column in _MEANS))
            for name, each in effects.groupby("name", sort=False)
        ),
        kept=tuple(enumerate(layers["kept"].to_pylist())),
        **{name: _column(layers, name) for name in _ALONE},
        alone_any=_column(layers, "any"),
        alone_on_a=_column(layers, "on_a"),
        away=pruning["away"].to_numpy(),
        orders={name: tuple(places[at] for at in np.argsort(heads[name].to_numpy())) for name in ORDERS},
        curves={name: _column(pruning, name) for name in ORDERS},
        random=_column(pruning, "random").T,
        fifth_on_a=_column(pairs, "fifth")[a],
        fifth_to_mean=_column(pairs, "fifth")[~a],
        made=shipped.provenance(pairs),
    )


def _column(table: pa.Table, name: str) -> Values:
    """A column of numbers, or of lists of one length, as an array."""
    return np.array(table[name].to_pylist(), dtype=np.float64)
