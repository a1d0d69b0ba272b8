"""The same word in another sentence: sums by hand, over loops and words read from the text itself."""

from __future__ import annotations

import pytest

import lab
from lab.analysis.sentences.same_word import same_word
from lab.analysis.sentences.split import split
from lab.models.trace import Trace

TEXT = "The cat sat on the mat. The old cat slept."


def by_hand(trace: Trace) -> tuple[list[int], list[list[float]], float]:
    """Loop over all tokens: which words come again in another sentence, and how much each head gives to them."""
    sentences, causal = split(trace).of_token, trace.model.config.causal
    spelled = [label.strip("␣Ġ ").lower() for label in trace.labels]
    keys = {
        i: [
            j
            for j in range(len(trace))
            if spelled[i] == spelled[j]
            and spelled[i].isalpha()
            and None not in (sentences[i], sentences[j])
            and sentences[i] != sentences[j]
            and (j <= i or not causal)
        ]
        for i in range(len(trace))
    }
    places = [i for i, found in keys.items() if found]
    given = [
        [
            sum(float(trace.layer(layer).attention[head, i, j]) for i in places for j in keys[i]) / len(places)
            for head in range(trace.model.config.heads)
        ]
        for layer in range(trace.model.config.layers)
    ]
    uniform = sum(len(keys[i]) / (i + 1 if causal else len(trace)) for i in places) / len(places)
    return places, given, uniform


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("pair", ["", "A cat is here."])
def test_it_is_the_weight_between_equal_words_of_two_sentences(model: str, pair: str) -> None:
    trace = lab.trace(lab.load_model(model), TEXT, None if model == "lab-gpt2" else pair or None)
    found, (places, given, uniform) = same_word(trace), by_hand(trace)
    assert found is not None and list(found.words) == places
    assert found.given.tolist() == [pytest.approx(row, abs=1e-6) for row in given]
    assert found.uniform == pytest.approx(uniform)


def test_words_of_one_sentence_and_signs_do_not_count() -> None:
    assert same_word(lab.trace(lab.load_model("lab-minilm"), "The cat saw the cat. A dog slept.")) is None
