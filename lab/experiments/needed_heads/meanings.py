"""The result of the experiment on needed heads, in words chosen by its numbers; and the questions before it."""

from __future__ import annotations

import numpy as np

from lab.course.heads import head_name
from lab.course.words import escaped, signed
from lab.evidence.intervals import drawn_means, spread
from lab.evidence.lexicon import TEMPLATES
from lab.experiments.needed_heads.ablations import ABLATIONS
from lab.experiments.needed_heads.claims import (
    BOUNDS,
    CLAIMS,
    EACH,
    FIFTH,
    HURTS,
    IMPORTANCE,
    MARGIN,
    NEEDED,
    TestedClaim,
    name_of,
)
from lab.experiments.needed_heads.figures import WAYS, agreement, template_frame
from lab.experiments.needed_heads.measure import TWIN, NeededTest
from lab.experiments.needed_heads.sample import gains
from lab.models.config import ModelConfig
from lab.models.interventions import Head
from lab.questions.question import Question, Right, open_question

_QUARTERS = ("up to a quarter", "up to half", "up to three quarters", "more")
POINTS = f"{100 * MARGIN:.0f} points"
# The rule that each verdict follows.
RULES = (
    "Each head is taken away in two ways: it writes 0, or its mean over the sentence. The verdict uses the way that "
    f"supports the claim less. **For free**: the accuracy falls by clearly less than {POINTS}, a tenth of the way from "
    "guessing to always right. **Clearly**: with 95 % confidence, by a bootstrap over the nouns and verbs that pairs "
    "share, corrected by Holm. All claims need a model that is clearly better than guessing.\n\n"
    "- *Most heads can go, one at a time*: more than half of the heads can go for free, jointly with 95 % confidence. "
    "“Low” is a **bound**, the share of heads that clearly go for free; “high” is the share of heads that do not "
    "clearly cost more.\n"
    "- *Some head is needed*: remove the head whose removal lowers the logit difference most on A; the accuracy on B "
    "clearly falls.\n"
    "- *Some head even hurts*: remove the head whose removal raises accuracy most on A; the accuracy on B clearly "
    "rises.\n"
    "- *One head is enough in most layers*: in more than half of the layers, all heads but one can go for free on B; "
    "the head that stays has, on its own, the highest logit difference on A. “Low” and “high” are bounds here, too.\n"
    "- *A fifth of the heads*: the heads with the lowest I_h on A can go together for free on B.\n\n"
    f"The papers report no figure on this scale. So an effect counts if it is at least {100 * BOUNDS[NEEDED]:.0f} "
    f"points of accuracy, a gain if it is at least {100 * BOUNDS[HURTS]:.0f} points, and a share if it is at least a "
    "tenth above one half. We compare with the untrained twin for the two claims about what one head costs or gains. "
    "We do not compare the claims about heads that go for free with the twin: it guesses, so it has nothing to lose."
)


def asks(config: ModelConfig) -> tuple[Question, ...]:
    """Ask how many heads matter, alone and together, in a model of this size."""
    count = config.layers * config.heads
    return (
        open_question(
            "clear",
            f"We take away each of the {count} heads, one at a time. How many of these removals clearly change the "
            "model’s preference for the right form?",
            _QUARTERS,
        ),
        open_question(
            "go",
            "Now we remove heads one after the other, the least important first, and put none back. How many of the "
            f"{count} can be removed before the model is clearly wrong more often?",
            ("less than a fifth", "a fifth to a half", "more than half"),
        ),
    )


def answers(found: NeededTest) -> dict[str, Right]:
    """Answer by the result."""
    clear, count, last = int(found.effect.clear.sum()), found.effect.mean.size, last_for_nothing(found)
    return {
        "clear": (
            int(np.searchsorted((0.25, 0.5, 0.75), clear / count)),
            f"{clear} of {count} heads clearly change the preference.",
        ),
        "go": (
            0 if 5 * last < count else 1 if 2 * last <= count else 2,
            f"with {last} heads removed, the model is not clearly worse."
            if last < count
            else "even with all its heads removed, the model is not clearly worse.",
        ),
    }


def least_alike(found: NeededTest) -> tuple[float, tuple[str, str]]:
    """Find the lowest rank correlation between two ablations, and their names."""
    table = agreement(found)
    one, two = (int(at) for at in np.unravel_index(int(table.argmin()), table.shape))
    return float(table[one, two]), (ABLATIONS[one], ABLATIONS[two])


def last_for_nothing(found: NeededTest) -> int:
    """Count how many heads, least I_h first, can go, in measured steps, before the accuracy on B clearly falls."""
    lost = gains(found.curves[IMPORTANCE], found.plain[found.b]).T
    _, high = spread(drawn_means(lost, *found.sample.shared_in(found.b)))
    lower = np.flatnonzero(high < 0)
    return int(found.away[lower[0] - 1] if len(lower) else found.away[-1])


def meaning_of(found: NeededTest, model_id: str) -> str:
    """Say how many heads change the model's choice, which head it misses most, and how many can go together."""
    each, needed, clear = found.row(EACH), found.row(NEEDED), found.effect.clear
    if each.untestable:
        return each.untestable
    cheap = round(each.decides.low * clear.size)
    said = (
        f"Of {clear.size} heads of {escaped(model_id)}, **{int(clear.sum())}** clearly change the model’s preference, "
        f"but {cheap} clearly cost less than {POINTS} of accuracy each."
    )
    if min(needed.zero.ours, needed.mean.ours) > 0:
        said += (
            f" The model loses most without {head_name(needed.heads[0])}: {100 * needed.zero.ours:.0f} points if this "
            f"head writes 0, {100 * needed.mean.ours:.0f} if it writes its mean."
        )
    last = last_for_nothing(found)
    if last < clear.size:
        return f"{said} The {last} least important heads can be removed together before the model is clearly worse."
    return f"{said} Even with all its heads removed, the model is not clearly worse."


def verdict_of(found: NeededTest) -> str:
    """Name each claim with its verdict; claims with the same verdict are together."""
    alike: dict[str, list[str]] = {}
    for row in found.rows:
        alike.setdefault(row.judged.verdict.value, []).append(CLAIMS[row.id])
    return "\n".join(["", *(f"- **{verdict}**: {'; '.join(claims)}." for verdict, claims in alike.items())])


def in_full(found: NeededTest, model_id: str) -> str:
    """Say how often the model is right, how single heads change this, and how a fifth of the heads do together."""
    right, wrong = int((found.plain > 0).sum()), float((found.twin > 0).mean())
    clear, mean = found.effect.clear, found.effect.mean
    falls, rises = (int((clear & side).sum()) for side in (mean < 0, mean > 0))
    twin = next(each for each in found.effects if each.name == TWIN)
    said = [
        f"{escaped(model_id)} prefers the good form in {right} of {len(found.plain)} pairs "
        f"({right / len(found.plain):.0%}), and its untrained twin prefers it in {wrong:.0%}.{_below(found)}",
        f"**{int(clear.sum())} of {mean.size} heads** have an effect that clearly differs from 0: for "
        f"{falls} of them the "
        f"logit difference falls without the head, for {rises} it rises. In the untrained twin, "
        f"{int(twin.clear.sum())} heads have such an effect.",
        _strongest(found),
        _fifth(found.row(FIFTH)),
    ]
    return " ".join(said)


def _below(found: NeededTest) -> str:
    """Name the templates in which the model is clearly worse than guessing, so that it improves by knowing less."""
    table = template_frame(found)
    below = table[table["high"] < 0.5]
    if below.empty:
        return ""
    named = "; ".join(f"{row.template}, {row.accuracy:.0%}" for row in below.itertuples())
    return (
        f" In some templates the model is clearly below guessing ({named}). There, random guessing would count as a "
        "gain."
    )


def _strongest(found: NeededTest) -> str:
    mean = found.effect.mean
    layer, head = (int(at) for at in np.unravel_index(int(mean.argmin()), mean.shape))
    if mean[layer, head] >= 0:
        return "Removing a single head never lowers the mean logit difference."
    before, change = float(found.plain.mean()), gains(found.changed, found.plain).mean(axis=-1)[layer, head]
    return (
        f"The model loses most without head {name_of((layer, head))}: the mean logit difference goes from "
        f"{signed(before)} to {signed(before + mean[layer, head])}, and the accuracy changes by "
        f"{signed(100 * change, 1, plus=True)} points. {_by_template(found, (layer, head))}"
    )


def _by_template(found: NeededTest, head: Head) -> str:
    """Name the templates that change least and most without a head, because the mean may hide that they disagree."""
    gained = gains(found.changed[head], found.plain)
    names = {each.id: each.name for each in TEMPLATES if found.of(each.id).any()}
    changes = {name: float(gained[found.of(template)].mean()) for template, name in names.items()}
    low, high = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    least, most = (signed(100 * changes[name], 0, plus=True) for name in (low, high))
    return f"Among the templates, this change ranges from {least} ({low}) to {most} ({high})."


def needed_where(found: NeededTest) -> str:
    """Name the head that each template needs most, if the logit difference clearly falls without this head."""
    templates: dict[Head, list[str]] = {}
    for each in TEMPLATES:
        if not found.of(each.id).any():
            continue
        effect = found.effect_in(each.id)
        layer, head = (int(at) for at in np.unravel_index(int(effect.mean.argmin()), effect.mean.shape))
        if effect.mean[layer, head] < 0 and effect.clear[layer, head]:
            templates.setdefault((layer, head), []).append(each.name)
    if not templates:
        return "In no template does removing a single head clearly lower the difference."
    told = "; ".join(f"{name_of(head)} in *{'*, *'.join(names)}*" for head, names in templates.items())
    differs = "**Different templates need different heads most.** " if len(templates) > 1 else ""
    return f"{differs}The model loses most without {told}."


def _fifth(row: TestedClaim) -> str:
    lost = row.zero.ours
    verb = "loses" if lost > 0 else "gains" if lost < 0 else "changes by"
    return (
        f"Without the {len(row.heads)} heads with the lowest I_h, the accuracy on B {verb} {100 * abs(lost):.1f} "
        f"points; without {len(row.heads)} random heads it changes by {signed(-100 * row.control, 1, plus=True)}."
    )


def by_template(found: NeededTest) -> str:
    """Count the heads that some template needs although the mean over all templates does not show it."""
    costly = {head for template in found.rows_in for head in found.costly_in(template)}
    pooled = -gains(found.changed, found.plain).mean(axis=-1)
    hidden = [head for head in sorted(costly) if pooled[head] < MARGIN]
    if not hidden:
        return "The mean over all templates hides no head that a single template needs."
    count = "one head costs" if len(hidden) == 1 else f"{len(hidden)} heads cost"
    return (
        f"The mean over all templates hides something: {count} {POINTS} or more in some template, but less than that "
        f"on average: {', '.join(map(name_of, hidden))}."
    )


def agreement_of(found: NeededTest) -> str:
    """Say whether the five ablations agree, and on which heads."""
    low, (one, two) = least_alike(found)
    said = f"The two ways that agree least are {WAYS[one]} and {WAYS[two]}: their rank correlation is {signed(low)}."
    largest = {each.largest for each in found.effects if each.name in WAYS}
    if len(largest) == 1:
        one = name_of(largest.pop())
        return f"{said} All five ways name the same head as the one whose removal changes most: {one}."
    return f"{said} The five ways name {len(largest)} different heads as the one whose removal changes most."


def bias_of(found: NeededTest) -> str:
    """Compare A and B for the two heads that were chosen on A."""
    rows = [found.row(claim) for claim in (NEEDED, HURTS)]
    told = [f"{row.what}: {100 * row.on_a:.1f} points on A, {100 * row.zero.ours:.1f} on B" for row in rows]
    flattered = sum(row.on_a > row.zero.ours for row in rows)
    said = "; ".join(told)
    if flattered:
        return (
            f"{said[0].upper()}{said[1:]}. If the number on A is larger, that is **selection bias**: a head is chosen "
            "partly because it was lucky."
        )
    return f"{said[0].upper()}{said[1:]}: there is no visible bias from choosing the heads."
