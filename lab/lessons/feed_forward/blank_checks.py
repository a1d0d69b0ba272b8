"""Questions that are answered by doing it: a neuron taken away, another vector put in."""

from __future__ import annotations

from lab.analysis.layers.feed_forward import reached_tokens
from lab.analysis.layers.neurons_off import NeuronOff, best_word
from lab.course.words import named, quoted
from lab.models.encoding import word_of
from lab.models.trace import Trace
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Question


def one_neuron_off(trace: Trace, place: int, layer: int, off: NeuronOff) -> Question | None:
    """What becomes of the best word without the neuron that changes it most? ``off`` is that neuron, set to 0."""
    word = quoted(word_of(trace.model.tokenizer, best_word(trace, place)))
    gone = off.before / 2
    if abs(off.before - gone) < MARGIN or abs(off.after - gone) < MARGIN / 2:
        return None
    why = (
        f"It goes from {off.before:.2f} to {off.after:.2f}. Every other neuron and all heads still do their part."
        if off.after > gone
        else f"It goes from {off.before:.2f} to {off.after:.2f}: here one neuron carries much of it."
    )
    outcomes = {
        "It loses more than half of its probability": off.after < gone,
        "It keeps more than half of its probability": off.after >= gone,
    }
    prompt = (
        f"Token {place + 1} is hidden. The model expects {word} there, with the probability {off.before:.2f}. Of the "
        f"neurons that add most there in layer {layer + 1}, take away the one that changes this most. What becomes of "
        f"{word}?"
    )
    return which_holds("one-neuron-off", prompt, why, outcomes)


def another_word(trace: Trace, layer: int, token: int) -> Question | None:
    """The network reads another vector at one token: at which tokens do activations change?

    None for a text of fewer than three tokens, and where no activation changes, as in a silent layer.
    """
    reached, n = reached_tokens(trace, layer, token), len(trace)
    if n < 3 or not reached:
        return None
    why = (
        f"Done here: activations change at {len(reached)} of {n} tokens. The network reads each token alone; what "
        "stands elsewhere comes in through attention, before."
    )
    outcomes = {
        "At this token alone": reached == (token,),
        "At all tokens": len(reached) == n,
        "At this token and at some others": token in reached and 1 < len(reached) < n,
    }
    prompt = (
        f"The feed-forward network of layer {layer + 1} gets a different vector at {named(trace, token)}; all others "
        "stay as they are. At which tokens do its activations change?"
    )
    return which_holds("another-word", prompt, why, outcomes)
