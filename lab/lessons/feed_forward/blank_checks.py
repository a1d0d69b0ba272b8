"""Questions that the lab answers by trying: neurons taken away, another vector put in."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.layers.feed_forward import reached_tokens
from lab.analysis.layers.neurons_off import NeuronOff
from lab.course.words import named
from lab.models.trace import Trace
from lab.questions.kinds import which_holds
from lab.questions.question import Option, Question


def how_many_turn(found: Sequence[NeuronOff], best: int, word: str) -> Question:
    """Ask how many neurons, each taken away alone, change the best word; ``best`` is its id, ``word`` its name."""
    turned = sum(each.then != best for each in found)
    told = f"{turned or 'None'} of the {len(found)} {'changes' if turned == 1 else 'change'} the word."
    thoughts = {
        "None of them": "You expected each neuron to do only a little.",
        "A few: fewer than half": "You expected some neurons to decide, as one head did in lesson 4.",
        "Half of them or more": "You expected the model to need each of its neurons.",
    }
    holds = (turned == 0, 0 < turned < len(found) / 2, turned >= len(found) / 2)
    options = [
        Option(text, told if right else f"{thought} {told}", correct=right)
        for (text, thought), right in zip(thoughts.items(), holds, strict=True)
    ]
    prompt = (
        f"Take away the {len(found)} neurons that add most at the blank in this layer, one at a time. How many of "
        f"these removals make the model say a word other than {word}?"
    )
    return Question("how-many-turn", prompt, tuple(options))


def another_word(trace: Trace, layer: int, token: int) -> Question | None:
    """Ask at which tokens activations change when the network reads another vector at one token.

    None for a text of fewer than three tokens, or if no activation changes, as in a silent layer.
    """
    reached, n = reached_tokens(trace, layer, token), len(trace)
    if n < 3 or not reached:
        return None
    why = (
        f"The lab has tried it: activations change at {len(reached)} of {n} tokens. The network reads each token "
        "alone; attention brings in the other tokens earlier."
    )
    outcomes = {
        "At this token alone": reached == (token,),
        "At all tokens": len(reached) == n,
        "At this token and at some others": token in reached and 1 < len(reached) < n,
    }
    prompt = (
        f"The feed-forward network of layer {layer + 1} gets a different input vector at {named(trace, token)}; all "
        "other vectors stay as they are. At which tokens do its activations change?"
    )
    return which_holds("another-word", prompt, why, outcomes)
