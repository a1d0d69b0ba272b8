"""After the layers: the cosines of a word's uses and the words nearest to them, computed again by torch and numpy."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.words.neighbours import places_in
from lab.course.sentences.two_meanings import TWO_MEANINGS
from lab.course.sentences.uses import Use, offered, place_of, same_meaning, uses_of
from lab.course.words import plain
from lab.lessons.feed_forward.two_meanings import nearest, one_or_two, said
from lab.models.encoding import word_of
from lab.models.twin import random_twin
from lab.questions.returning import Spot
from lab.text.bundled import bundled_sentences
from lab.toy.models import constructed_toy

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


def shown(text: str) -> str:
    return re.sub("[\u2068\u2069]", "", plain(text)).replace("−", "-")


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.\d+", text)]


def ends(first: Use, second: Use) -> tuple[float, float]:
    """The cosine of two uses before layer 1, and after the last layer and the model's last LayerNorm."""
    one, other = ((use.trace.hidden_states[0][use.token], use.trace.output[use.token]) for use in (first, second))
    start, last = (cosine_similarity(a, b, dim=0).item() for a, b in zip(one, other, strict=True))
    return start, last


@pytest.mark.parametrize("name", MODELS)
def test_every_word_offered_is_one_token_and_its_two_uses_are_told_truly(name: str) -> None:
    model = lab.load_model(name)
    known = offered(model)
    assert {"fall", "second", "mean", "bank", "left"} <= known.keys()
    assert ("March" in known) == (name != "lab-gpt2")
    for word in known.values():
        first, second = (lab.trace(model, text) for text in (word.first, word.second))
        here, there = place_of(first.encoding, word.word), place_of(second.encoding, word.word)
        assert here is not None and there is not None and first.token_ids[here] == second.token_ids[there]
        start, last = ends(Use(first, here), Use(second, there))
        told = shown(said(Use(first, here), Use(second, there)))
        assert numbers(told) == pytest.approx([start, last], abs=0.006)
        assert (" apart: " in told) == (start - last >= 0.01) and ("more similar: " in told) == (last - start >= 0.01)


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_two_meanings_are_measured_by_two_uses_of_one(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    for word in offered(model).values():
        first, second = uses_of(model, word)
        alike = same_meaning(model, word)
        assert alike is not None and alike.trace.token_ids[alike.token] == first.trace.token_ids[first.token]
        (start, last), (start_same, same) = (ends(first, each) for each in (second, alike))
        told = shown(said(first, second, alike))
        assert numbers(told) == pytest.approx([last, same], abs=0.006)
        assert ("does not tell the two meanings apart" in told) == (same - last <= 0.05)
        grown = same - last > start_same - start
        assert told.startswith("The layers tell the two meanings apart") == (grown and same - last > 0.05)


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_the_question_s_answer_is_the_larger_cosine_of_the_first_word(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    word = next(iter(offered(model).values()))
    runs = [lab.trace(model, text) for text in (word.first, word.alike, word.second)]
    own, alike, other = (run.output[place_of(run.encoding, word.word) or 0] for run in runs)
    one, two = (cosine_similarity(own, each, dim=0).item() for each in (alike, other))
    question = one_or_two(Spot(runs[0], 0, 0, 0, 0))
    assert (question is None) == (abs(one - two) < 0.05)
    if question is not None:
        right = question.options[question.answer]
        assert sum(option.correct for option in question.options) == 1
        assert (word.alike.removesuffix(".") in shown(right.text)) == (one > two)
        assert numbers(shown(right.why)) == pytest.approx([one, two], abs=0.006)


def test_a_toy_is_not_asked_about_english_words() -> None:
    assert one_or_two(Spot(lab.trace(constructed_toy(4, 6), "a b c"), 0, 0, 0, 0)) is None


def test_the_neighbours_that_are_named_are_the_nearest_words_of_the_texts() -> None:
    """Found once more by numpy, over every word of the lab's texts; *bank* next to *money* is a surprise."""
    model = lab.load_model("lab-minilm")
    words = places_in(model, bundled_sentences())
    for name in ("March", "bank"):
        first, second = uses_of(model, offered(model)[name])
        told = shown(nearest(first, second))
        lists = [
            set(re.findall("“([^”]+)”", part.partition(" are ")[2]))
            for part in re.split("\\. Nearest to the second|\\. So", told)[:2]
        ]
        for use, named in zip((first, second), lists, strict=True):
            unit = words.vectors / np.linalg.norm(words.vectors, axis=1, keepdims=True)
            order = np.argsort(-unit @ use.trace.output[use.token].numpy())
            found = list(dict.fromkeys(word_of(model.tokenizer, words.token_ids[at]) for at in order))
            found = [each for each in found if each.lower() != name.lower()]
            assert named <= set(found[:6])
    assert "even the second “bank” is nearest to “river”" in told


def test_two_equal_vectors_are_not_told_apart() -> None:
    first, _ = uses_of(lab.load_model("lab-bert"), TWO_MEANINGS[0])
    assert "does not tell the two meanings apart" in said(first, first, first)
    assert "hardly change how similar" in said(first, first)
