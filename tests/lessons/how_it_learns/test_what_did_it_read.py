"""What the counts are said to mean: numbers and claims again, from Hugging Face's own logits and the file of counts."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.course.words import share
from lab.evidence.what_was_read import FILE, PREPARED, Prepared
from lab.lessons.how_it_learns.what_did_it_read import (
    CountedAnswer,
    answered,
    asked,
    in_the_model,
    in_the_texts,
    offered,
    said,
    source,
    why_this_word,
)
from lab.models.loading import LoadedModel
from lab.models.reference import reference
from lab.models.trace import trace
from lab.models.twin import random_twin
from lab.questions.returning import Spot
from tests.sentences import STORY

TRAINED = ("lab-minilm", "lab-bert", "lab-gpt2")
MODELS = (*TRAINED, "twin")
COUNTS: dict[str, dict[str, int]] = json.loads(FILE.read_text("utf-8"))["counts"]


@cache
def model(name: str) -> LoadedModel:
    return random_twin(lab.load_model("lab-bert"), 3) if name == "twin" else lab.load_model(name)


@cache
def found(name: str, prepared: Prepared) -> CountedAnswer:
    answer = answered(partial(trace, model(name)), model(name), prepared)
    assert answer is not None
    return answer


@torch.inference_mode()
def theirs(name: str, prepared: Prepared) -> torch.Tensor:
    """The probabilities of all words in the blank, by Hugging Face."""
    its, tokenizer = model(name), model(name).tokenizer
    module: Any = reference(its)
    before, _, after = prepared.text.partition("_")
    if its.config.causal:
        ids = tokenizer.encode(before.rstrip()).ids
        return module(torch.tensor([ids])).logits[0, -1].double().softmax(-1)
    ids = tokenizer.encode(f"{before}[MASK]{after}").ids
    place = tokenizer.encode(f"{before}[MASK]{after}").tokens.index("[MASK]")
    return module(torch.tensor([ids])).prediction_logits[0, place].double().softmax(-1)


def quotes(text: str) -> list[str]:
    return re.findall("\u2068(.*?)\u2069", text)


CASES = [(name, each) for name in MODELS for each in offered(model(name))]


@pytest.mark.parametrize(("name", "prepared"), CASES, ids=lambda each: getattr(each, "text", each))
def test_the_answer_is_that_of_hugging_face_beside_the_counts_that_ship(name: str, prepared: Prepared) -> None:
    answer, right = found(name, prepared), theirs(name, prepared)
    assert answer.sure == pytest.approx(float(right.max()), abs=1e-5)
    assert answer.counts == tuple(sorted((COUNTS[prepared.text][word] for word in answer.words), reverse=True))
    for word, probability in zip(answer.words, answer.probabilities, strict=True):
        spellings = {f"{space}{each}" for space in ("", "Ġ") for each in (word, word.lower())}
        ids = [i for each in spellings if (i := model(name).tokenizer.token_to_id(each)) is not None]
        assert probability == pytest.approx(max(float(right[i]) for i in ids), abs=1e-5)
        assert answer.count(word) == COUNTS[prepared.text][word]
    assert answer.counted == (answer.sure == pytest.approx(max(answer.probabilities), rel=1e-9))


@pytest.mark.parametrize(("name", "prepared"), CASES, ids=lambda each: getattr(each, "text", each))
def test_what_is_said_is_true_and_in_the_figures(name: str, prepared: Prepared) -> None:
    holds(found(name, prepared))


def holds(answer: CountedAnswer) -> None:
    """The sentence about ``answer`` names its first word, says whether it is right, and compares the right counts."""
    text, right = said(answer), answer.prepared.right
    assert re.sub(r"\(\S+\)|“[^”]*”", "", text).count(". ") <= 1 and share(answer.sure) in text
    count = dict(zip(answer.words, answer.counts, strict=True))
    top = max(answer.counts)
    assert ("would be right" in text) == (answer.best in count and right not in ("", answer.best))
    assert ("that is right" in text) == (right == answer.best and top > 0)
    assert ("none of these words" in text) == (top == 0)
    if top == 0:
        return
    assert ("was not counted" in text) == (answer.best not in count)
    if answer.best not in count:
        likeliest = max(count, key=lambda word: answer.probabilities[answer.words.index(word)])
        assert share(max(answer.probabilities)) in text and f"{top:,} time" in text
        assert ("also in the model" in text) == (answer.most == (likeliest,))
    elif "would be right" in text:
        here, there = count[answer.best], count[right]
        assert f"{here:,} time" in text and f"{there:,} time" in text
        assert ("fit" in text) == (here > there and there <= 0.8 * here)
        assert ("more often still" in text) == ("fit" in text and here < top)
        assert ("do not explain" in text) == ("fit" not in text)
    else:
        assert ("too: " in text) == (count[answer.best] == top)
        assert ("do not explain" in text) == (count[answer.best] < top) and f"{top:,} time" in text


@given(
    st.lists(st.tuples(st.integers(0, 300), st.floats(0.001, 1)), min_size=2, max_size=6),
    st.integers(0, 6),
    st.integers(-1, 5),
)
def test_whatever_the_numbers_the_sentence_and_the_question_hold(
    numbers: list[tuple[int, float]], best: int, right: int
) -> None:
    numbers = sorted(numbers, reverse=True)
    words = tuple(f"word{letter}" for letter in "abcdef"[: len(numbers)])
    counts, raw = zip(*numbers, strict=True)
    first = words[best] if best < len(words) else "other"
    values = [0.0005 * each for each in raw]
    if best < len(words):
        values[best] = 0.5
    told = words[right] if 0 <= right < len(words) else ""
    prepared = Prepared("A _.", "near", "cue", words, told)
    answer = CountedAnswer(prepared, words, counts, tuple(values), first, 0.5)
    holds(answer)
    if answer.wrong and answer.fits is not None:
        question = asked(answer)
        assert question.options[question.answer].text.startswith("It read" if answer.fits else "These counts")


def test_each_embedded_model_has_right_answers_and_mistakes() -> None:
    """At least twelve sentences, five mistakes of the default model, and some that the counts fit and some not."""
    minilm = [found("lab-minilm", each) for each in offered(model("lab-minilm"))]
    mistakes = [each for each in minilm if each.wrong]
    assert len(minilm) >= 12 and len(mistakes) >= 5 and any(each.best == each.prepared.right for each in minilm)
    assert {each.fits for each in mistakes} == {True, False, None}
    assert all(len(offered(model(name))) >= 10 for name in TRAINED)
    assert all(each.left_suffices for each in offered(model("lab-gpt2")))
    assert {name: offered(model(name))[0] for name in TRAINED} == dict.fromkeys(TRAINED, PREPARED[0])


def test_what_the_texts_are_to_a_model_is_said_of_that_model() -> None:
    assert "only these texts" in source(model("lab-bert")) and "only these texts" in source(model("lab-gpt2"))
    assert "had read far more" in source(model("lab-minilm")) and "has read nothing" in source(model("twin"))
    assert all("count proves no cause" in source(model(name)) for name in TRAINED)
    assert all(len(source(model(name)).split()) <= 40 for name in MODELS)


def test_a_model_from_elsewhere_has_read_texts_that_nobody_knows(tiny_checkpoint: Any) -> None:
    foreign = lab.load_model(tiny_checkpoint("bert"))
    assert "does not know which texts" in source(foreign)
    assert why_this_word(Spot.of(trace(foreign, STORY))) is None
    for each in offered(foreign):
        answer = answered(partial(trace, foreign), foreign, each)
        assert answer is not None
        holds(answer)


@pytest.mark.parametrize("name", TRAINED)
def test_the_question_is_about_a_mistake_of_this_model_and_its_counts(name: str) -> None:
    question = why_this_word(Spot.of(trace(model(name), STORY)))
    assert question is not None and question.hint
    text, best, right = quotes(question.prompt)[:3]
    prepared = next(each for each in PREPARED if each.text == text.replace("\\", ""))
    answer = found(name, prepared)
    assert (answer.best, prepared.right) == (best, right) != (right, best)
    here, there = COUNTS[prepared.text][best], COUNTS[prepared.text][right]
    assert f"{here} time" in question.prompt and f"{there} time" in question.prompt
    correct = question.options[question.answer].text
    assert correct == (
        "It read the wrong word more often at this place" if here > there else "These counts do not explain it"
    )
    # No third word makes two answers right.
    assert here < there or here == max(COUNTS[prepared.text].values())


def test_a_twin_is_not_asked_why() -> None:
    assert why_this_word(Spot.of(trace(model("twin"), STORY))) is None


@pytest.mark.parametrize("name", MODELS)
def test_the_two_charts_have_one_list_of_words(name: str) -> None:
    for prepared in offered(model(name))[:4]:
        answer = found(name, prepared)
        text = prepared.text.replace("_", "[MASK]")
        run = trace(model(name), text.partition("[MASK]")[0].rstrip() if model(name).config.causal else text)
        mask = model(name).tokenizer.token_to_id("[MASK]")
        place = len(run) - 1 if model(name).config.causal else run.token_ids.index(mask)
        left, right = in_the_texts(run, place, prepared.text).table(), in_the_model(run, place, prepared.text).table()
        assert list(left.index) == list(right.index)[: len(answer.words)]
        assert len(left) == len(answer.words) and len(right) == len(answer.words) + (not answer.counted)
