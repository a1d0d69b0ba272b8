"""Predictions and checks of the multi-head lesson, computed from the learner's own trace."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.comparing import HeadSum, attention_parameters, divisors, owner
from lab.analysis.heads.parked import PARKED, parked_share
from lab.analysis.heads.values import Values
from lab.course.heads import head_name, percent, resting_place
from lab.course.words import named
from lab.models.config import ModelConfig
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Option, Question, shuffled

# Two effects are about equal up to this share of the larger one, and clearly apart from that share on.
_ALIKE, _APART = 0.1, 0.25


def parameters(config: ModelConfig, heads: int) -> Question | None:
    """How many numbers do W_Q, W_K, W_V and W_O hold with another number of heads?"""
    d, now = config.width, attention_parameters(config)
    if heads == config.heads or d % heads:
        return None
    width, ratio = d // heads, heads / config.heads
    times = f"{ratio:g} times" if ratio > 1 else f"1/{1 / ratio:g} of"
    wrong = {
        round(now * ratio): f"That is {times} {now:,}. Each head would also be 1/{ratio:g} as wide."
        if ratio > 1
        else f"That is {times} {now:,}. Each head would also be {1 / ratio:g} times as wide.",
        round(now / ratio): "The number of heads and the width of a head change in opposite directions, and that "
        "leaves their product as it is.",
        4 * width * (d + config.biases): f"That is one head of {width} dimensions. There are {heads}."
        if heads > 1
        else f"That is one head of {width} dimensions, and it is the only one.",
    }
    cut = f"{heads} heads of {width}" if heads > 1 else "one head"
    biases = f" and four biases of {d}" if config.biases else ""
    right = f"Four matrices of {d} × {d}{biases}, in {cut} as in any other cut."
    options = {now: Option(f"{now:,}", right, correct=True)}
    for value, why in wrong.items():
        options.setdefault(value, Option(f"{value:,}", why))
    with_biases = ", with their biases," if config.biases else ""
    prompt = (
        f"W_Q, W_K, W_V and W_O of a layer{with_biases} hold {now:,} numbers in {config.heads} "
        f"head{'s' if config.heads > 1 else ''}. How many would they hold with {heads} "
        f"head{'s' if heads > 1 else ''} in the same {d} dimensions?"
    )
    return shuffled("parameters", prompt, list(options.values())) if len(options) > 2 else None


def other_cut(config: ModelConfig) -> int:
    """Another number of heads to ask about: twice as many, or half if the width does not allow that."""
    cuts = divisors(config.width)
    double = 2 * config.heads
    return double if double in cuts else max((cut for cut in cuts if cut < config.heads), default=config.heads)


def first_moved(layer: int, head: int, moved: Values) -> Question | None:
    """Where does the residual stream change when a head is off? ``moved`` (L+1,), 0 are the embeddings."""
    layers = len(moved) - 1
    if layers < 2 or moved[: layer + 1].any() or not (moved[layer + 1 :] > 0).all():
        return None
    steps = ", ".join(f"{value:.3f} after layer {at}" for at, value in enumerate(moved[1:], start=1))
    numbers = f"The vectors move by this share of their length: {steps}."
    last = layer + 1 == layers
    options = [Option(f"only after layer {layer + 1}", numbers, correct=last)]
    if not last:
        why = f"Each layer reads what the one before it wrote. {numbers}"
        options.append(Option(f"after layer {layer + 1} and every later one", why, correct=True))
    if layer > 0:
        options.append(Option("after every layer, the earlier ones too", f"Nothing flows back. {numbers}"))
    options.append(Option("nowhere: the other heads make up for it", f"They cannot, they work beside it. {numbers}"))
    prompt = f"Head {head + 1} of layer {layer + 1} is switched off. Where does the residual stream change?"
    return Question("first-moved", prompt, tuple(options))


def parked_or_busy(trace: Trace, effects: Values, measured: str) -> Question | None:
    """Which matters more: the head that parks most, or the one that parks least? ``effects`` (L, H), sizes.

    ``measured`` says what changes. None where no head parks, or where the two effects are neither alike nor far apart.
    """
    shares = parked_share(trace)
    if shares.max() <= PARKED or shares.min() > PARKED:
        return None
    rest, busy = (
        (int(at[0]), int(at[1]))
        for at in (np.unravel_index(int(pick), shares.shape) for pick in (shares.argmax(), shares.argmin()))
    )
    least, most = sorted((float(effects[rest]), float(effects[busy])))
    apart = (most - least) / most if most > 0 else 0.0
    if _ALIKE <= apart < _APART:
        return None
    told = f"Without {head_name(rest)}: {effects[rest]:.3f}. Without {head_name(busy)}: {effects[busy]:.3f}."
    larger = None if apart < _ALIKE else max(rest, busy, key=lambda at: float(effects[at]))
    options = [
        *(Option(f"that without {head_name(at)}", told, correct=at == larger) for at in (rest, busy)),
        Option("both are about equal", told, correct=larger is None),
    ]
    prompt = (
        f"{head_name(rest).capitalize()} sends {percent(float(shares[rest]))} of the words’ attention to "
        f"{resting_place(trace)}. {head_name(busy).capitalize()} sends {percent(float(shares[busy]))}. Switch off one, "
        f"then the other, and look at {measured}. Which change is larger?"
    )
    return Question("parked-or-busy", prompt, tuple(options))


def whose_dimension(trace: Trace) -> Question | None:
    """Which head does a dimension of the concatenation come from? The dimension depends on the text alone."""
    config = trace.model.config
    if config.heads < 2:
        return None
    dimension = sum(trace.token_ids) % config.width
    right, d_k = owner(dimension, config), config.head_width
    options = []
    for head in dict.fromkeys(
        [right, dimension % config.heads, (right + 1) % config.heads, (right - 1) % config.heads]
    ):
        why = f"Head {head + 1} fills dimensions {head * d_k + 1} to {(head + 1) * d_k}."
        options.append(Option(f"Head {head + 1}", why, correct=head == right))
    prompt = (
        f"The {config.heads} heads are laid side by side, {d_k} numbers each. Which head does dimension "
        f"{dimension + 1} of the {config.width} come from?"
    )
    return shuffled("whose-dimension", prompt, options)


def missing_share(trace: Trace, added: HeadSum, head: int, token: int) -> Question | None:
    """From the output, the bias and the other heads to the one that is missing."""
    heads = len(added.parts)
    if heads < 2:
        return None
    dimension = int(np.abs(added.parts[head, token]).argmax())
    mine, bias = float(added.parts[head, token, dimension]), float(added.bias[dimension])
    output = float(added.output[token, dimension])
    others = output - bias - mine
    biased = trace.model.config.biases
    why = f"{output:.3f} − ({others:.3f}){f' − ({bias:.3f})' if biased else ''} = {mine:.3f}."
    wrong = {
        **({output - others: f"This leaves the bias out: {output:.3f} − ({others:.3f})."} if biased else {}),
        others + bias - output: f"This has the wrong sign: the heads{' and the bias' if biased else ''} add up to the "
        "output.",
        output / heads: f"This shares the output equally between {heads} heads.",
        output: "This is what all of them add up to.",
    }
    also = f", the bias {bias:.3f}" if biased else ""
    prompt = (
        f"In dimension {dimension + 1}, the attention output of {named(trace, token)} is {output:.3f}. All heads but "
        f"head {head + 1} add {others:.3f} to it{also}. What does head {head + 1} add?"
    )
    return numeric("missing-share", prompt, (mine, why), wrong, Quantity("{:.3f}".format, apart=0.01))
