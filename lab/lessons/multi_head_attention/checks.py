"""Predictions and checks of the multi-head lesson, computed from the learner's own trace."""

from __future__ import annotations

from tokenizers import Tokenizer

from lab.analysis.heads.comparing import attention_parameters, favourite
from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import Prediction, word_of
from lab.course.words import head_name, quoted, share, told_apart
from lab.lessons.multi_head_attention.meanings import pale_heads
from lab.models.config import ModelConfig
from lab.models.interventions import Head
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.toy.settings import divisors


def parameters(config: ModelConfig, heads: int) -> Question | None:
    """Ask how many numbers W_Q, W_K, W_V and W_O hold with another number of heads."""
    d, now = config.width, attention_parameters(config)
    if heads == config.heads or d % heads:
        return None
    width, ratio = d // heads, heads / config.heads
    times = f"{ratio:g} times" if ratio > 1 else f"1/{1 / ratio:g} of"
    wrong = {
        round(now * ratio): f"That is {times} {now:,}. But each head would also be 1/{ratio:g} as wide."
        if ratio > 1
        else f"That is {times} {now:,}. But each head would also be {1 / ratio:g} times as wide.",
        round(now / ratio): "If there are more heads, each head is narrower. The number of heads times their width "
        "stays the same.",
        4 * width * (d + config.biases): f"That is one head of {width} dimensions. There are {heads} heads."
        if heads > 1
        else f"That is one head of {width} dimensions, and it is the only one.",
    }
    cut = f"{heads} heads of {width}" if heads > 1 else "one head"
    biases = f" and four biases of {d}" if config.biases else ""
    right = f"With {cut}, as with any other number of heads, there are four matrices of {d} × {d}{biases}."
    options = {now: Option(f"{now:,}", right, correct=True)}
    for value, why in wrong.items():
        options.setdefault(value, Option(f"{value:,}", why))
    with_biases = ", with their biases," if config.biases else ""
    prompt = (
        f"W_Q, W_K, W_V and W_O of a layer{with_biases} hold {now:,} numbers in {config.heads} "
        f"head{'s' if config.heads > 1 else ''}. How many numbers would they hold with {heads} "
        f"head{'s' if heads > 1 else ''} in the same {d} dimensions?"
    )
    return shuffled("parameters", prompt, list(options.values())) if len(options) > 2 else None


def other_cut(config: ModelConfig) -> int:
    """Another number of heads to ask about: twice the number, or, if that does not divide the width, a smaller one."""
    cuts = divisors(config.width)
    double = 2 * config.heads
    return double if double in cuts else max((cut for cut in cuts if cut < config.heads), default=config.heads)


def first_moved(layer: int, head: int, moved: Values) -> Question | None:
    """Ask where the residual stream changes when a head is off; ``moved`` (L+1,), with the embeddings first."""
    layers = len(moved) - 1
    if layers < 2 or moved[: layer + 1].any() or not (moved[layer + 1 :] > 0).all():
        return None
    steps = ", ".join(f"{value:.3f} after layer {at}" for at, value in enumerate(moved[1:], start=1))
    numbers = f"The vectors move by this share of their length: {steps}."
    last = layer + 1 == layers
    options = [Option(f"Only after layer {layer + 1}", numbers, correct=last)]
    if not last:
        why = f"Each layer reads what the layer before it wrote. {numbers}"
        options.append(Option(f"After layer {layer + 1} and all later layers", why, correct=True))
    if layer > 0:
        back = f"No information goes back to an earlier layer. {numbers}"
        options.append(Option("After all layers, the earlier ones too", back))
    beside = f"The heads of a layer work side by side. {numbers}"
    options.append(Option("Nowhere: the other heads make up for it", beside))
    prompt = f"Head {head + 1} of layer {layer + 1} is switched off. After which layers do the vectors change?"
    return Question("first-moved", prompt, tuple(options))


def who_agrees(trace: Trace, layer: LayerTrace, head: int, query: int) -> Question | None:
    """Ask how many heads of the layer look most at the same token as this head."""
    count = trace.model.config.heads
    if count < 2 or (trace.model.config.causal and query == 0):
        return None
    key = favourite(layer, head, query)
    same = layer.attention[:, query].argmax(dim=-1).tolist().count(key)
    me, it = told_apart(trace, query), told_apart(trace, key)
    why = f"{'It is the only one' if same == 1 else f'{same} do'}, of {count} heads."
    outcomes = {
        "Only this head": same == 1,
        "Several heads, but not all": 1 < same < count,
        f"All {count} heads": same == count,
    }
    prompt = f"Head {head + 1} looks most at {it} from {me}. How many heads of this layer do that?"
    return which_holds("who-agrees", prompt, why, outcomes)


def word_without(with_head: Prediction, without: Prediction, head: Head, tokenizer: Tokenizer) -> Question | None:
    """Ask which word is the most probable without a head; the wrong options are the best words with the head."""
    best, then = with_head.best(1)[0], without.best(1)[0]
    ids = list(dict.fromkeys([best, then, *with_head.best(4)]))[:4]
    words = [quoted(word_of(tokenizer, each)) for each in ids]
    if len(set(words)) < len(words):
        return None
    first, after = (share(float(each.probabilities[each.best(1)[0]])) for each in (with_head, without))
    told = f"Without the head, {words[ids.index(then)]} has {after}. With it, {words[0]} has {first}."
    options = [Option(word, told, correct=each == then) for word, each in zip(words, ids, strict=True)]
    prompt = f"The model says {words[0]}. What does it say without {head_name(head)}?"
    return shuffled("word-without", prompt, options)


def how_many_matter(word: str, before: float, after: Values) -> Question | None:
    """Ask how many heads change a word's probability by less than a twentieth; None if the answer is not clear."""
    pale = pale_heads(before, after)
    part = pale / after.size
    if min(abs(part - border) for border in (1 / 3, 2 / 3)) < MARGIN:
        return None
    why = f"{pale} of the {after.size} heads change this probability by less than 5 % when taken away one at a time."
    outcomes = {
        "Most of them: more than two thirds": part > 2 / 3,
        "About half": 1 / 3 < part < 2 / 3,
        "Few: less than a third": part < 1 / 3,
    }
    prompt = (
        f"The model gives {word} the probability {share(before)}. How many of the {after.size} heads change this "
        "probability by less than 5 % when taken away one at a time?"
    )
    return which_holds("how-many-matter", prompt, why, outcomes)
