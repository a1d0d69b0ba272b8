"""Minimal pairs are English, differ in one word, and are one piece a word for the model that is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from lab.evidence.lexicon import TEMPLATES
from lab.evidence.pairs import BLANK, MinimalPair, PairSet, ask, draw, minimal_pairs
from lab.models.loading import LoadedModel, load_model
from tests.conftest import TinyCheckpoint

EMBEDDED = ("lab-bert", "lab-gpt2")
WHO, WHAT = [each.id for each in TEMPLATES], {each.id: each for each in TEMPLATES}
SENTENCES = [
    ("simple", "The boys _ happy.", "The boy _ happy.", "are", "is"),
    ("prepositional", "The man near the trees _ old.", "The men near the trees _ old.", "is", "are"),
    ("object_relative", "The boys that the girl loved _ here.", "The boy that the girl loved _ here.", "are", "is"),
    ("determiner_noun", "They saw these _.", "They saw this _.", "houses", "house"),
    ("noun_determiner", "She found _ book.", "She found _ books.", "that", "those"),
    ("reflexive", "The woman hurt _.", "The women hurt _.", "herself", "themselves"),
    ("reflexive", "The kings hurt _.", "The king hurt _.", "themselves", "himself"),
]


@pytest.fixture(scope="module", params=EMBEDDED)
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return load_model(request.param)


@pytest.fixture(scope="module")
def found(model: LoadedModel) -> PairSet:
    return minimal_pairs(model)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda each: each[1])
def test_a_template_makes_these_sentences(sentence: tuple[str, str, str, str, str]) -> None:
    """With the slots cut down to the words of the sentence."""
    template, *expected = sentence
    known = set(" ".join(expected).replace(".", "").split())
    slots = {
        name: tuple(each for each in options if known & set(each)) for name, options in WHAT[template].slots.items()
    }
    drawn = draw(replace(WHAT[template], slots=slots), np.random.default_rng(0))
    assert tuple(expected) in {(pair.text, pair.other, pair.good, pair.bad) for both in drawn for pair in both}


@pytest.mark.parametrize("template", WHO)
def test_a_draw_is_a_singular_and_a_plural_sentence(template: str) -> None:
    drawn = list(islice(draw(WHAT[template], np.random.default_rng(1)), 300))
    texts = [pair.text for both in drawn for pair in both]
    assert len({(pair.text, pair.good) for both in drawn for pair in both}) == len(texts)
    for one, many in drawn:
        assert (one.good, one.bad) == (many.bad, many.good)
        for pair in (one, many):
            assert pair.text.count(BLANK) == pair.other.count(BLANK) == 1
            differ = [a for a, b in zip(pair.text.split(), pair.other.split(), strict=True) if a != b]
            assert len(differ) == 1, "the deciding word alone"
            assert "{" not in pair.text


def test_there_are_four_hundred_and_every_template_is_full(model: LoadedModel, found: PairSet) -> None:
    counts = Counter(each.pair.template for each in found.pairs)
    able = [each.id for each in TEMPLATES if not (model.config.causal and each.decided_after)]
    assert counts == dict.fromkeys(able, 80) and len(found.pairs) >= 400
    assert len({(each.encoding.token_ids, each.good) for each in found.pairs}) == len(found.pairs)
    assert set(found.refused) == set(WHO) - set(able) and all("left to right" in why for why in found.refused.values())


def test_half_of_every_template_prefers_either_form(found: PairSet) -> None:
    """So that a preference for one form is right in half of the pairs."""
    for template in {each.pair.template for each in found.pairs}:
        good = Counter(each.pair.good for each in found.of(template))
        bad = Counter(each.pair.bad for each in found.of(template))
        assert good == bad


def test_every_word_is_one_piece(model: LoadedModel, found: PairSet) -> None:
    for each in found.pairs[::7]:
        filled = each.pair.text.replace(BLANK, each.pair.good)
        tokens = model.tokenizer.encode(filled, add_special_tokens=False).tokens
        assert len(tokens) == len(filled.split()) + 1, "and the full stop"
        assert each.encoding.token_ids[each.deciding] != each.other.token_ids[each.deciding]
        forms = [model.tokenizer.decode([form]).strip() for form in (each.good, each.bad)]
        assert forms == [each.pair.good, each.pair.bad]
        differ = np.flatnonzero(np.array(each.encoding.token_ids) != np.array(each.other.token_ids))
        assert differ.tolist() == [each.deciding]
        if model.config.causal:
            assert each.place == len(each.encoding) - 1 and filled.startswith(
                model.tokenizer.decode(list(each.encoding.token_ids))
            )
            assert each.deciding <= each.place
        else:
            assert each.encoding.tokens[each.place] == "[MASK]"
            assert each.encoding.tokens.count("[MASK]") == 1


def test_a_template_has_one_length(found: PairSet) -> None:
    for template in {each.pair.template for each in found.pairs}:
        assert len({len(each.encoding) for each in found.of(template)}) == 1


def test_the_halves_share_no_noun(model: LoadedModel, found: PairSet) -> None:
    halves = found.half(0), found.half(1)
    assert len(halves[0]) + len(halves[1]) == len(found.pairs) and min(map(len, halves)) > 100
    for template in ("simple", "prepositional", "object_relative", "reflexive"):
        nouns = [{each.pair.text.split()[1] for each in half if each.pair.template == template} for half in halves]
        assert not nouns[0] & nouns[1]


def test_what_was_dropped_is_counted(model: LoadedModel, found: PairSet) -> None:
    """Drawn again with the same seed, up to the last pair that was kept."""
    for number, template in enumerate(TEMPLATES):
        if template.id in found.refused:
            continue
        kept = {(each.pair.text, each.pair.good) for each in found.of(template.id)}
        drawn, dropped = draw(template, np.random.default_rng((0, number))), 0
        while kept:
            both = next(drawn)
            kept -= {(pair.text, pair.good) for pair in both}
            dropped += 0 if all(ask(model, pair) is not None for pair in both) else 2
        assert found.dropped[template.id] == dropped
        assert found.drawn[template.id] == dropped + len(found.of(template.id))


def test_the_same_seed_gives_the_same_pairs(model: LoadedModel) -> None:
    one, two, other = (minimal_pairs(model, each=6, seed=seed) for seed in (3, 3, 4))
    assert one == two
    assert [each.pair for each in one.pairs] != [each.pair for each in other.pairs]


def test_a_small_vocabulary_gives_what_it_has(tiny_checkpoint: TinyCheckpoint) -> None:
    found = minimal_pairs(load_model(tiny_checkpoint("bert")), each=4)
    assert sum(found.dropped.values()) > 0
    assert len(found.pairs) < 4 * len(TEMPLATES)


def test_a_pair_the_model_cannot_read_is_none() -> None:
    model = load_model("lab-gpt2")
    good = MinimalPair("any", "The boy _ happy.", "The boys _ happy.", "is", "are", 0)
    assert ask(model, good) is not None
    after = MinimalPair("any", "We saw _ boys.", "We saw _ boy.", "these", "this", 0)
    assert ask(model, after) is None, "the deciding word comes after"
    assert ask(model, MinimalPair("any", "The boy _ happy.", "The boys _ happy.", "istanbulizes", "are", 0)) is None


@pytest.mark.parametrize("family", ["bert-headless", "electra"])
def test_a_model_that_predicts_no_words_is_refused(tiny_checkpoint: TinyCheckpoint, family: str) -> None:
    with pytest.raises(ValueError, match="predicts no words"):
        minimal_pairs(load_model(tiny_checkpoint(family)))
