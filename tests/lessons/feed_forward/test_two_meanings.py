"""After the layers: the cosines of a word's uses and the words nearest to them, computed again by Hugging Face."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch.nn.functional import cosine_similarity

from lab.analysis.words.neighbours import places_in
from lab.lessons.feed_forward.two_meanings import WORDS, alike, cosines, nearest, said, uses_of
from lab.models.loading import load_model
from lab.models.trace import trace
from lab.text.bundled import bundled_sentences
from tests.lessons.feed_forward.story import in_theirs
from tests.thorough import one_by_day


@one_by_day
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("layer", [0, 5])
def test_the_cosines_and_what_is_said_are_hugging_face_s(word: str, layer: int) -> None:
    model, theirs, told = load_model("lab-minilm"), in_theirs(), WORDS[word]
    uses, run = uses_of(model, word), trace(model, told.first)
    vectors = [
        theirs.run(text).hidden_states[layer + 1][use.token]
        for text, use in zip((told.first, *told.sentences), uses, strict=True)
    ]
    wanted = [cosine_similarity(vectors[0], each, dim=0).item() for each in vectors[1:]]
    assert cosines(run, word, layer) == pytest.approx(wanted, abs=1e-4)
    assert list(alike(run, word, layer).table().iloc[:, 0]) == pytest.approx(wanted, abs=1e-4)
    text = said(run, word, layer)
    by_use = {
        use: [c for c, each in zip(wanted, told.sentences.values(), strict=True) if each == use] for use in told.others
    }
    ends = [end for found in by_use.values() for end in (min(found), max(found))]
    assert [float(each) for each in re.findall(r"\d\.\d\d", text)] == pytest.approx(ends, abs=0.006)
    assert (told.finding in text) == (layer == 5)


def test_the_findings_hold() -> None:
    """The verb is far from the month, a march is not; all banks of rivers are nearer than all banks with money."""
    run = trace(load_model("lab-minilm"), WORDS["March"].first)
    found = dict(zip(WORDS["March"].sentences, cosines(run, "March", 5), strict=True))
    of = {use: [found[text] for text in texts] for use, texts in WORDS["March"].others.items()}
    assert max(of["the verb"]) < min(of["the month"]) - 0.1
    assert found["Two soldiers died in the march."] >= found["March was a very cold month."]
    bank = cosines(run, "bank", 5)
    assert min(bank[:3]) > max(bank[3:]) + 0.1
    assert "“\u2068river\u2069”" in nearest(run.model, "bank").rpartition(", and ")[2]


@one_by_day
@pytest.mark.parametrize("word", WORDS)
def test_the_nearest_words_are_nearest(word: str) -> None:
    model = load_model("lab-minilm")
    places, uses = places_in(model, bundled_sentences()), uses_of(model, word)
    for use in (uses[0], uses[4]):
        vector = use.states[-1].numpy()
        order = np.argsort(-(places.vectors @ (vector / np.linalg.norm(vector))))
        words = [model.tokenizer.id_to_token(places.token_ids[at]) for at in order]
        first = list(dict.fromkeys(each for each in words if each != word.lower()))[:2]
        assert all(f"“\u2068{each}\u2069”" in nearest(model, word) for each in first)


def test_a_word_with_several_tokens_is_not_offered() -> None:
    gpt2 = load_model("lab-gpt2")
    assert not uses_of(gpt2, "March") and len(uses_of(gpt2, "bank")) == len(WORDS["bank"].sentences) + 1
    assert "finding" not in said(trace(gpt2, WORDS["bank"].first), "bank", 3)
