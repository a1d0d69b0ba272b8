"""What Michel et al. 2019 and Voita et al. 2019 claim of single heads, each as an effect with a verdict.

The paper measures BLEU of a translator and the accuracy of a classifier. Here it is the accuracy in minimal pairs: the
share in which the good form has the higher logit. *For free* means that clearly less than :data:`MARGIN` of it is lost,
a tenth of the way from guessing to always right. The units of every bootstrap are sentences that the model reads
alike: what stands before the blank is the same in several pairs of a causal model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.analysis.heads.values import Values
from lab.experiments.intervals import DRAWS, drawn_means, holm, p_above, spread
from lab.experiments.verdicts import ALPHA, Effect, Judged, judge

if TYPE_CHECKING:
    from lab.experiments.needed.result import NeededTest
    from lab.models.interventions import Head

MARGIN = 0.05
EACH, NEEDED, HURTS, ONE, FIFTH, PRUNED = "each", "needed", "hurts", "one", "fifth", "pruned"
# In which order heads are taken away together.
IMPORTANCE, GREEDY = "importance", "greedy"
CLAIMS = {
    EACH: "Most heads can go, one at a time, for free",
    NEEDED: "Some head is needed",
    HURTS: "Some head even hurts",
    ONE: "One head is enough in most layers",
    FIFTH: "A fifth of the heads can go together for free",
    PRUNED: "Four fifths of the heads can go",
}
# What the papers report, by table 1, 2 and 3 and §4 of Michel et al. 2019 and by Voita et al. 2019.
PUBLISHED = {
    EACH: "translation: no significant change of BLEU for 88 of 96 heads",
    NEEDED: "translation: −0.53 BLEU without head 6 of layer 1, of 36.05",
    HURTS: "translation: +0.24 BLEU without head 14 of layer 3",
    ONE: "BERT on MNLI: at worst −0.96 %, not significant; translation: −13.56 BLEU in the worst layer",
    FIFTH: "20 % of the heads (translation), 40 % (BERT)",
    PRUNED: "38 of 48 heads, within 0.15 BLEU (Voita et al.)",
}
_RETRAINED = (
    "Voita et al. go on training while they prune. Here no weight is trained again, so the claim is another one."
)
# How far the p of a family of heads can fall must not be a matter of how many draws were made.
_DRAWS_A_HEAD = 200


@dataclass(frozen=True, eq=False)
class Row:
    """A claim and what became of it.

    Attributes
    ----------
    id
        One of :data:`CLAIMS`.
    what
        What ``ours`` is, in words.
    ours, low, high
        What was measured and its 95 % interval: a share, or a difference of accuracies. Of a share of heads or layers,
        ``low`` are those that clearly cost less than :data:`MARGIN`, ``high`` those that do not clearly cost more.
    control
        The same of what was not chosen: of all other heads, or of heads in random order; nan where nothing is chosen.
    on_a
        The same on half A, where the choice was made; nan where nothing is chosen.
    count
        How many different sentences were measured.
    p
        How probable a draw against the claim is, corrected by Holm for all claims.
    untestable
        Why it cannot be tested, in a sentence; "" where it can.
    heads
        The heads that were chosen, layer and head from 0.
    """

    id: str
    what: str
    ours: float
    low: float
    high: float
    control: float
    on_a: float
    count: int
    p: float
    untestable: str = ""
    heads: tuple[Head, ...] = ()

    @property
    def judged(self) -> Judged:
        """The verdict by :data:`lab.experiments.verdicts.SIGN_RULE`."""
        return judge(Effect(None, self.low, self.high, self.p, self.count, self.untestable, sign_only=True))


def draws_for(heads: int) -> int:
    """So many draws that one p of this many heads can be below 0.05 after Holm, even as one of five claims."""
    return max(DRAWS, _DRAWS_A_HEAD * heads)


def gains(changed: ArrayLike, plain: Values) -> Values:
    """(…, pairs) by how much each pair changes the accuracy: 1 where the good form wins now, −1 where it did before."""
    return (np.asarray(changed) > 0).astype(np.float64) - (plain > 0)


def name_of(head: Head) -> str:
    """A head as papers write it, from 1."""
    return f"{head[0] + 1}-{head[1] + 1}"


def claims(found: NeededTest) -> tuple[Row, ...]:
    """Every claim on what was found, in the order of :data:`CLAIMS`."""
    reason = _cannot(found)
    tested = [_each(found), _needed(found), _hurts(found), _one(found), _fifth(found)]
    corrected = holm([row.p for row in tested]).tolist()
    rows = [replace(row, p=p, untestable=reason) for row, p in zip(tested, corrected, strict=True)]
    nothing = float("nan")
    count = len(np.unique(found.groups[found.b]))
    return (*rows, Row(PRUNED, "not measured", nothing, nothing, nothing, nothing, nothing, count, nothing, _RETRAINED))


def _cannot(found: NeededTest) -> str:
    """The model must do the task at all: where it guesses, there is nothing to lose."""
    right = (found.plain > 0).astype(np.float64)
    if p_above(drawn_means(right, found.groups), 0.5) < ALPHA:
        return ""
    return (
        f"With all heads the model is right in {right.mean():.0%} of the pairs, not clearly more often than guessing."
    )


def _each(found: NeededTest) -> Row:
    """Nothing is chosen here, so it is about both halves."""
    each = gains(found.changed, found.plain).reshape(-1, len(found.plain)).T
    ours, low, high, p = _for_free(each, found.groups)
    row = _row(found, EACH, f"share of the {each.shape[1]} heads that go for free", ours, (low, high), p)
    return replace(row, count=len(np.unique(found.groups)))


def _one(found: NeededTest) -> Row:
    """The best single head of each layer by A, alone in its layer, on B."""
    ours, low, high, p = _for_free(gains(found.alone, found.plain[found.b]).T, found.groups[found.b])
    row = _row(found, ONE, "share of the layers that do with one head", ours, (low, high), p)
    any_head, on_a = (float((-loss < MARGIN).mean()) for loss in (found.alone_any, found.alone_on_a))
    return replace(row, control=any_head, on_a=on_a, heads=found.kept)


def _for_free(each: Values, groups: NDArray[np.int64]) -> tuple[float, float, float, float]:
    """Of several removals (units, k): the share that costs less than the margin, its bounds, and the p of "most".

    After Holm the p-values below α are right of all their removals at once (with 95 %). So the middle one, in order, is
    that of the claim that more than half cost clearly less.
    """
    drawn = drawn_means(each, groups, draws_for(each.shape[1]))
    cheap, dear = holm(p_above(drawn, -MARGIN)), holm(p_above(-drawn, MARGIN))
    share = float((-each.mean(axis=0) < MARGIN).mean())
    middle = float(np.sort(cheap)[each.shape[1] // 2])
    return share, float((cheap < ALPHA).mean()), float(1 - (dear < ALPHA).mean()), middle


def _needed(found: NeededTest) -> Row:
    """The head whose absence costs the logit difference most on A: what it costs the accuracy on B."""
    head = _lowest(found.delta[..., ~found.b].mean(axis=-1))
    return _of_head(found, NEEDED, f"accuracy lost without {name_of(head)}", head, -gains(found.changed, found.plain))


def _hurts(found: NeededTest) -> Row:
    """The head whose absence helps the accuracy most on A; of equals, the one that helps the logit difference most."""
    gained, delta = gains(found.changed, found.plain)[..., ~found.b].mean(-1), found.delta[..., ~found.b].mean(-1)
    best = np.where(gained == gained.max(), -delta, np.inf)
    head = _lowest(best)
    return _of_head(found, HURTS, f"accuracy gained without {name_of(head)}", head, gains(found.changed, found.plain))


def _of_head(found: NeededTest, claim: str, what: str, head: Head, each: Values) -> Row:
    values, others = each[head][found.b], np.ones(each.shape[:2], bool)
    others[head] = False
    drawn = drawn_means(values, found.groups[found.b])
    row = _row(found, claim, what, float(values.mean()), _ends(drawn), float(p_above(drawn)))
    control = float(each[others][:, found.b].mean()) if others.any() else float("nan")
    return replace(row, control=control, on_a=float(each[head][~found.b].mean()), heads=(head,))


def _fifth(found: NeededTest) -> Row:
    """A fifth of the heads, those with the lowest I_h on A, away together: what that costs the accuracy on B."""
    at = found.fifth
    lost = -gains(found.curves[IMPORTANCE][at], found.plain[found.b])
    drawn = drawn_means(lost, found.groups[found.b])
    count = int(found.away[at])
    what = f"accuracy lost without {count} heads"
    row = _row(found, FIFTH, what, float(lost.mean()), _ends(drawn), float(p_above(-drawn, -MARGIN)))
    control = float((found.plain[found.b] > 0).mean() - found.random[:, at].mean())
    on_a = -float(gains(found.fifth_on_a, found.plain[~found.b]).mean())
    return replace(row, control=control, on_a=on_a, heads=found.orders[IMPORTANCE][:count])


def _row(found: NeededTest, claim: str, what: str, ours: float, ends: tuple[float, float], p: float) -> Row:
    """A row about half B in which nothing is chosen."""
    nothing = float("nan")
    return Row(claim, what, ours, *ends, nothing, nothing, len(np.unique(found.groups[found.b])), p)


def _ends(drawn: Values) -> tuple[float, float]:
    low, high = spread(drawn).tolist()
    return low, high


def _lowest(scores: Values) -> Head:
    layer, head = np.unravel_index(int(scores.argmin()), scores.shape)
    return int(layer), int(head)
