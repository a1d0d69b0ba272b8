"""What the counts are said to mean: numbers and claims again, from Hugging Face's own logits and the file of counts."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any

import pytest
import torch

import lab
from lab.analysis.words.in_blank import blank_at
from lab.course.words import share
from lab.evidence.what_was_read import FILE, PREPARED, Prepared
from lab.lessons.how_it_learns.what_did_it_read import (
    CountedAnswer,
    answer,
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
from lab.questions.asking import Spot
from tests.sentences import STORY
from tests.thorough import one_by_day

TRAINED = ("lab-minilm", "lab-bert", "lab-gpt2")
MODELS = (*TRAINED, "twin")
COUNTS: dict[str, dict[str, int]] = json.loads(FILE.read_text("utf-8"))["counts"]


@cache
def model(name: str) -> LoadedModel:
    return random_twin(lab.load_model("lab-bert"), 3) if name == "twin" else lab.load_model(name)


@cache
def found(name: str, prepared: Prepared) -> CountedAnswer:
    its = model(name)
    run = blank_at(partial(trace, its), its, prepared.text.replace("_", "[MASK]"))
    assert run is not None
    counted = answer(*run, prepared)
    assert counted is not None
    return counted


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
    given, right = found(name, prepared), theirs(name, prepared)
    assert given.sure == pytest.approx(float(right.max()), abs=1e-5)
    assert given.counts == tuple(sorted((COUNTS[prepared.text][word] for word in given.words), reverse=True))
    for word, probability in zip(given.words, given.probabilities, strict=True):
        spellings = {f"{space}{each}" for space in ("", "Ġ") for each in (word, word.lower())}
        ids = [i for each in spellings if (i := model(name).tokenizer.token_to_id(each)) is not None]
        assert probability == pytest.approx(max(float(right[i]) for i in ids), abs=1e-5)
        assert given.count(word) == COUNTS[prepared.text][word]
    assert given.counted == (given.sure == pytest.approx(max(given.probabilities), rel=1e-9))


@pytest.mark.parametrize(("name", "prepared"), CASES, ids=lambda each: getattr(each, "text", each))
def test_what_is_said_is_in_the_figures(name: str, prepared: Prepared) -> None:
    given = found(name, prepared)
    text, count = said(given), dict(zip(given.words, given.counts, strict=True))
    top = max(given.counts)
    assert share(given.sure) in text and ("none of these words" in text) == (top == 0)
    if top:
        assert f": {top:,} time" in text and set(given.most) <= set(quotes(text))
        assert ("has" in text) == (given.best in count and count[given.best] < top)


def test_the_sentence_of_the_course_is_first_and_its_counts_are_those_that_ship() -> None:
    """At least ten sentences for each model that ships; the default model's answer here is that of its story."""
    paris = found("lab-minilm", next(each for each in PREPARED if "France is" in each.text))
    assert paris.best == "Paris" and paris.most == ("Paris",) and paris.count("Paris") == 144
    assert paris.sure == pytest.approx(0.376, abs=1e-3)
    assert all(len(offered(model(name))) >= 10 for name in TRAINED)
    assert all(each.left_suffices for each in offered(model("lab-gpt2")))


def test_what_the_texts_are_to_a_model_is_said_of_that_model() -> None:
    assert "only these texts" in source(model("lab-bert")) and "only these texts" in source(model("lab-gpt2"))
    assert "had read far more" in source(model("lab-minilm")) and "has read nothing" in source(model("twin"))
    assert all("count proves no cause" in source(model(name)) for name in TRAINED)
    assert all(len(source(model(name)).split()) <= 40 for name in MODELS)


def test_a_model_from_elsewhere_has_read_texts_that_nobody_knows(tiny_checkpoint: Any) -> None:
    foreign = lab.load_model(tiny_checkpoint("bert"))
    assert "does not know which texts" in source(foreign)
    for each in offered(foreign):
        run = blank_at(partial(trace, foreign), foreign, each.text.replace("_", "[MASK]"))
        assert run is not None and answer(*run, each) is not None


def test_the_question_is_about_a_mistake_and_the_counts_that_ship() -> None:
    italy = next(each for each in PREPARED if "Italy" in each.text)
    question = why_this_word(Spot.of(trace(model("lab-minilm"), STORY)))
    assert question is not None and found("lab-minilm", italy).best == "Milan"
    counts = COUNTS[italy.text]
    assert f"*Italy* {counts['Rome']} times, and *Milan* {counts['Milan']} times" in question.prompt
    assert counts["Rome"] == max(counts.values()) > 2 * counts["Milan"]
    assert question.options[question.answer].text == "They do not explain it"


@one_by_day
@pytest.mark.parametrize("name", MODELS)
def test_the_two_charts_have_one_list_of_words(name: str) -> None:
    for prepared in offered(model(name))[:4]:
        given = found(name, prepared)
        text = prepared.text.replace("_", "[MASK]")
        run = trace(model(name), text.partition("[MASK]")[0].rstrip() if model(name).config.causal else text)
        mask = model(name).tokenizer.token_to_id("[MASK]")
        place = len(run) - 1 if model(name).config.causal else run.token_ids.index(mask)
        left, right = in_the_texts(run, place, prepared.text).table(), in_the_model(run, place, prepared.text).table()
        assert list(left.index) == list(right.index)[: len(given.words)]
        assert len(left) == len(given.words) and len(right) == len(given.words) + (not given.counted)
