"""What the figures are said to mean: each number is computed again by torch, and each claim must hold.

Over the examples of the course and both models that ship.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.words.neighbours import places_in
from lab.course.sentences.examples import EXAMPLES
from lab.course.sentences.two_meanings import TWO_MEANINGS
from lab.course.words import plain
from lab.lessons.embeddings import meanings, word_checks
from lab.lessons.embeddings.like_words import offered, place_of, same_meaning, uses_of
from lab.lessons.embeddings.meanings import Use
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import random_twin
from lab.text.bundled import bundled_sentences
from lab.toy.models import constructed_toy

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
PICKED = [
    each
    for each in EXAMPLES
    if each.name in ("A pronoun", "Two meanings of bank", "Repeated words", "A pair that follows")
]


def shown(text: str) -> str:
    return re.sub("[\u2068\u2069]", "", plain(text)).replace("−", "-")


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.\d+", text)]


@pytest.fixture(scope="module", params=MODELS)
def traces(request: pytest.FixtureRequest) -> list[Trace]:
    model = lab.load_model(request.param)
    return [lab.trace(model, each.text, each.pair or None) for each in PICKED]


def test_equal_rows_are_equal_and_others_are_not_called_so(traces: list[Trace]) -> None:
    twice = 0
    for trace in traces:
        e = trace.embeddings
        for token in range(0, len(trace), 3):
            for part, vectors in (("token", e.token), ("sum", e.sum)):
                said = shown(meanings.rows(trace, token, part))
                found = re.search(r" is token (\d+) and token (\d+): ", said)
                if found is None:
                    assert "Here it stands once." in said and trace.token_ids.count(trace.token_ids[token]) == 1
                    words = [
                        i for i, special in zip(trace.token_ids, trace.encoding.special, strict=True) if not special
                    ]
                    assert trace.encoding.special[token] or len(set(words)) == len(words)
                    continue
                twice += 1
                first, second = (int(each) - 1 for each in found.groups())
                assert trace.token_ids[first] == trace.token_ids[second]
                apart = (vectors[first] - vectors[second]).abs().max().item()
                assert ("are equal" in said) == (apart == 0)
                assert apart == 0 or numbers(said) == [pytest.approx(apart, abs=0.006)]
    assert twice


def test_the_named_neighbours_have_the_largest_cosines(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        table = trace.model.weights.embeddings.token
        for token in (1, 3, len(trace) - 2):
            said = shown(meanings.like_words(trace, token))
            row = table[trace.token_ids[token]]
            told = numbers(said)[:3]
            named = re.findall("“([^”]+)”", said)[:3]
            ids = [next(i for i in range(len(table)) if word_of(trace.model.tokenizer, i) == word) for word in named]
            expected = cosine_similarity(table[ids].double(), row.double()[None])
            assert told == pytest.approx(expected.tolist(), abs=0.006) and told == sorted(told, reverse=True)


def test_what_is_no_word_is_said_to_be_none() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The sleepy cat sat.")
    assert "is a special token" in meanings.like_words(trace, 0)
    assert "is no whole word" in meanings.like_words(trace, 3)
    assert "for you to judge" in meanings.like_words(trace, 4)
    toy = constructed_toy(2, 4)
    assert "No row stands out" in meanings.like_words(lab.trace(toy, "a b"), 0)


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
        last = torch.cosine_similarity(first.output[here], second.output[there], dim=0).item()
        said = shown(meanings.two_uses(Use(first, here), Use(second, there)))
        begin = torch.cosine_similarity(first.hidden_states[0, here], second.hidden_states[0, there], dim=0).item()
        assert numbers(said)[:2] == pytest.approx([begin, last], abs=0.006)
        assert ("hardly tell the two apart" in said) == (last >= 0.9)
        assert ("take the two apart" in said) == (last < 0.9 and begin - last > 0.05)


@pytest.mark.parametrize("name", MODELS)
def test_two_meanings_are_measured_by_two_uses_of_one_and_by_all_words(name: str) -> None:
    model = lab.load_model(name)
    words = places_in(model, bundled_sentences())
    for word in offered(model).values():
        first, second = uses_of(model, word)
        alike = same_meaning(first, word)
        assert alike is not None and alike.trace.token_ids[alike.token] == first.trace.token_ids[first.token]
        own, other, again = (each.trace.output[each.token] for each in (first, second, alike))
        last, same = (cosine_similarity(own, each, dim=0).item() for each in (other, again))
        means = [cosine_similarity(torch.from_numpy(words.vectors), each[None]).mean().item() for each in (own, other)]
        said = shown(meanings.two_uses(first, second, (), alike))
        assert numbers(said)[2:5] == pytest.approx([same, *means], abs=0.006)
        assert f"all {len(words.vectors):,} words" in said
        assert ("about as far apart" in said) == (abs(same - last) <= 0.05)
        plainly = shown(meanings.two_uses(first, second))
        assert numbers(plainly)[2:4] == pytest.approx(means, abs=0.006) and "one meaning" not in plainly


def test_the_two_meanings_of_march_have_other_neighbours() -> None:
    model = lab.load_model("lab-bert")
    first, second = uses_of(model, TWO_MEANINGS[0])
    said = shown(meanings.two_uses(first, second))
    month, walk = said.partition("to the second")[::2]
    assert "“january”" in month and "“april”" in month and "“went”" in walk and "share none" in walk
    assert "After the last layer it is 1.00. The layers hardly tell the two apart" in meanings.two_uses(first, first)


def test_the_order_of_tokens_is_told_as_the_runs_say(traces: list[Trace]) -> None:
    for trace in traces[:2]:
        said = meanings.reordered(trace, "reversed")
        causal = trace.model.config.causal
        assert ("do not simply move" in said) == causal and ("every output moves with its token" in said) != causal


@pytest.mark.parametrize("name", [*MODELS, "random"])
def test_near_positions_are_called_alike_only_where_they_are(name: str) -> None:
    model = random_twin(lab.load_model("lab-bert"), 0) if name == "random" else lab.load_model(name)
    trace = lab.trace(model, "The cat sat.")
    table = model.weights.embeddings.position
    assert table is not None
    rows = table[:64].double().numpy()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near, *rest = (float(np.mean(np.sum(unit[k:] * unit[: len(unit) - k], axis=1))) for k in range(1, 64))
    said = shown(meanings.positions(trace, 64, 64, 1e4)).replace("**", "").partition(" For sinusoids")[0]
    assert numbers(said) == pytest.approx([near, max(rest)], abs=0.006)
    assert f", {2 + rest.index(max(rest))} apart" in said
    assert ("are the most alike" in said) == (near - max(rest) > 0.05)
    rises = max(later - earlier for at, earlier in enumerate(rest) for later in rest[at:])
    assert ("rises again" in said) == (rises > 0.05)


def test_turned_words_keep_their_cosine(traces: list[Trace]) -> None:
    said = shown(meanings.turned(traces[0], (2, 3), 16, 1e4))
    rounding = float(re.findall(r"no two values differ by more than \*\*([^*]+)\*\*", said)[0])
    assert rounding < 1e-5
    assert all(each > 0.01 for each in numbers(said.partition("It differs by")[2]))


@pytest.mark.parametrize("name", MODELS)
def test_questions_about_words_have_the_run_s_answers(name: str) -> None:
    model = lab.load_model(name)
    trace = lab.trace(model, "He came on Monday with three friends.")
    token = place_of(trace.encoding, "three")
    assert token is not None
    question = word_checks.nearest_word(trace, token)
    assert question is not None
    assert any(number in question.options[question.answer].text for number in ("two", "four"))
    assert word_checks.nearest_word(trace, len(trace) - 1 if name == "lab-gpt2" else 0) is None
    bitten = [lab.trace(model, text) for text in ("The dog bit the man.", "The man bit the dog.")]
    plain_uses = [Use(each, place_of(each.encoding, "dog") or 0) for each in bitten]
    without = [
        Use(trace_encoding(model, use.trace.encoding, Interventions(no_positions=True)), use.token)
        for use in plain_uses
    ]
    asked = word_checks.who_bit_whom(plain_uses, without)
    assert asked is not None and asked.options[asked.answer].text.startswith("No" if name == "lab-gpt2" else "Yes")
    apart = word_checks.where_equal(uses_of(model, offered(model)["fall"]))
    assert apart is not None and "not after the last layer" in apart.options[apart.answer].text
    assert word_checks.where_equal(uses_of(model, offered(model)["fall"])[:1]) is None
