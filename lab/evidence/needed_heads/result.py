"""The result of the experiment on needed heads, its derived numbers, and the tables in which the result ships."""

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
    """The sentences drawn for a template.

    ``drawn`` counts all sentences; ``dropped`` counts the sentences with a word that is not one piece of the
    vocabulary. ``refused`` is the reason why the model cannot be tested on the template at all, or "".
    """

    id: str
    drawn: int
    dropped: int
    refused: str


@dataclass(frozen=True, eq=False)
class MeanEffects:
    """The change of the logit difference without each head, as a mean over pairs; all arrays are (layers, heads).

    ``low`` and ``high`` are the 95 % interval; ``p`` is two-sided and corrected by Holm for all heads.
    """

    name: str
    mean: Values
    low: Values
    high: Values
    p: Values

    @property
    def clear(self) -> NDArray[np.bool_]:
        """(layers, heads), true for heads whose effect clearly differs from 0."""
        return self.p < ALPHA

    @property
    def largest(self) -> Head:
        """The head whose absence changes the logit difference most."""
        layer, head = np.unravel_index(int(np.abs(self.mean).argmax()), self.mean.shape)
        return int(layer), int(head)


def mean_effects(name: str, delta: Values, *shared: NDArray[np.int64]) -> MeanEffects:
    """The mean of ``delta`` (layers, heads, pairs), by a bootstrap over the words of ``shared``, (pairs,) each."""
    shape = delta.shape[:2]
    drawn = drawn_means(delta.reshape(-1, delta.shape[-1]).T, *shared, times=draws_for(delta[..., 0].size))
    low, high = spread(drawn).reshape(2, *shape)
    p = holm(np.minimum(2 * np.minimum(p_above(drawn), p_above(-drawn)), 1))
    return MeanEffects(name, delta.mean(axis=-1), low, high, p.reshape(shape))


@dataclass(frozen=True, eq=False)
class NeededTest:
    """The experiment's result on P pairs; half B is used for reporting. Heads count from 0.

    Attributes
    ----------
    pairs, groups
        The pairs, and (P,) a group number, equal for pairs that the model reads as the same tokens.
    templates
        The number of sentences drawn for each template.
    plain, twin
        (P,) logit of the good form minus logit of the bad form, in the model and in its untrained twin.
    changed, to_mean
        (layers, heads, P) the model's difference without one head, which writes 0, or its mean over the sentence.
    twin_changed, twin_to_mean
        The same differences in the untrained twin.
    effects
        The mean effects on B of each ablation, and of a head set to 0 in the untrained twin.
    kept, alone, alone_to_mean
        The best single head of each layer on A, and (layers, pairs of B) the difference with its layer's other heads
        ablated.
    alone_any, alone_on_a
        (layers,) the change of accuracy with one head kept alone: on B, averaged over all heads of the layer, and on A,
        with the best head.
    away, orders, curves
        (k,) the numbers of heads ablated together, the orders of their ablation, and (k, pairs of B) the difference.
    random
        (orders, k) the accuracy on B with heads ablated in random orders.
    fifth_on_a, fifth_to_mean
        (pairs of A,), (pairs of B,) the difference without the least important fifth of the heads: on A the heads write
        0, on B their mean.
    made
        The provenance of a shipped result; None for a result measured on this machine.
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
        """(P,), true for pairs of half B."""
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
        """(layers, heads, P) the change of the difference; below 0 if the head helps the good form."""
        return self.changed - self.plain

    @property
    def fifth(self) -> int:
        """The index in ``away`` at which a fifth of the heads are ablated."""
        return int(np.flatnonzero(self.away == a_fifth(self.shape))[0])

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of layers and of heads."""
        layers, heads, _ = self.changed.shape
        return layers, heads

    def of(self, template: str) -> NDArray[np.bool_]:
        """(P,), true for pairs of ``template``."""
        return np.array([pair.template == template for pair in self.pairs])

    @cached_property
    def effect(self) -> MeanEffects:
        """The mean effect of every head, set to 0, over all pairs."""
        return mean_effects(ZERO, self.delta, *self.sample.shared)

    def effect_in(self, template: str) -> MeanEffects:
        """Return the mean effect of every head over the pairs of one template, or over all pairs if it is ""."""
        return _effect_in(self, template) if template else self.effect

    @cached_property
    def rows(self) -> tuple[TestedClaim, ...]:
        """The claims and their verdicts."""
        return claims(self)

    @cached_property
    def rows_in(self) -> Mapping[str, tuple[TestedClaim, ...]]:
        """For each template, the claims about single heads and their verdicts."""
        templates = dict.fromkeys(pair.template for pair in self.pairs)
        return {template: claims_in(self._sample(self.of(template))) for template in templates}

    def costly_in(self, template: str) -> tuple[Head, ...]:
        """Return the heads that, set to 0, cost a template at least :data:`MARGIN` of its accuracy."""
        lost = -gains(self.changed, self.plain)[..., self.of(template)].mean(axis=-1)
        return tuple((int(layer), int(head)) for layer, head in zip(*np.nonzero(lost >= MARGIN), strict=True))

    def row(self, claim: str) -> TestedClaim:
        """Return the row of one claim."""
        return next(row for row in self.rows if row.id == claim)


@once
def _effect_in(found: NeededTest, template: str) -> MeanEffects:
    own = found.of(template)
    return mean_effects(template, found.delta[..., own], *found.sample.shared_in(own))


def a_fifth(shape: tuple[int, int]) -> int:
    """Return the number of heads in a fifth of all heads, rounded, and at least one."""
    return max(1, round(shape[0] * shape[1] / 5))


def as_tables(found: NeededTest) -> dict[str, pa.Table]:
    """Return the tables for :mod:`lab.evidence.shipped`."""
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
    """Rebuild the result from the tables of :func:`as_tables`."""
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
    """Return a column of numbers, or of lists of one length, as an array."""
    return np.array(table[name].to_pylist(), dtype=np.float64)
