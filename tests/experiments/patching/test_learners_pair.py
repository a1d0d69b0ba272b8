"""A pair of one's own: what the model is asked, and a sentence for whatever cannot be asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.experiments.patching import learners_pair
from lab.experiments.patching.learners_pair import MOST, OwnPair, differing, own_contrast, own_known, own_patching
from lab.experiments.patching.patches import NotPatchable
from lab.models.encoding import encode
from lab.models.loading import LoadedModel, load_model
from tests.evidence.asked import near
from tests.thorough import one_by_day

OWN = OwnPair("The boys in the garden _ playing.", "The boy in the garden _ playing.", "were", "was")
MODELS = ("lab-bert", "lab-gpt2")


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return load_model(request.param)


def changed(**parts: str) -> OwnPair:
    return OwnPair(**{**vars(OWN), **parts})


def test_the_blank_is_hidden_or_the_end(model: LoadedModel) -> None:
    two = own_contrast(model, OWN)
    space = "Ġ" if model.config.causal else ""
    assert (two.good, two.bad) == tuple(model.tokenizer.token_to_id(f"{space}{word}") for word in ("were", "was"))
    assert [(two.clean.tokens[at], two.corrupt.tokens[at]) for at in differing(two)] == [
        (f"{space}boys", f"{space}boy")
    ]
    if model.config.causal:
        assert two.clean.tokens[-1] == "Ġgarden" and two.place == len(two.clean) - 1
    else:
        typed = encode(model.tokenizer, model.config, OWN.clean.replace("_", "[MASK]"))
        assert two.clean.token_ids == typed.token_ids and two.clean.tokens[two.place] == "[MASK]"


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (changed(clean="No blank here."), "first sentence needs one blank, written _; it has none"),
        (changed(corrupt="The _ boy _."), "second sentence needs one blank, written _; it has 2"),
        (changed(clean="", corrupt=""), "first sentence needs one blank"),
        (changed(good=" "), "first word is missing"),
        (changed(bad=""), "second word is missing"),
        (changed(bad="was not"), "more than one word"),
        (changed(bad="were"), "Both words are the same"),
        (changed(good="flibbertigibbet"), "“flibbertigibbet” is [0-9]+ tokens in the first sentence"),
        (changed(corrupt="The small boy in the garden _ playing."), "tokens.* and the second .*same number"),
        (changed(corrupt=OWN.clean), "reads the same"),
        (changed(clean="The boys in" + " the garden" * MOST + " _ playing."), f"more than {MOST} tokens"),
    ],
)
def test_what_cannot_be_patched_is_refused_with_a_sentence(model: LoadedModel, own: OwnPair, why: str) -> None:
    with pytest.raises(NotPatchable, match=why):
        own_contrast(model, own)


def test_what_only_one_kind_of_model_refuses() -> None:
    bert, gpt2 = map(load_model, MODELS)
    start = OwnPair("_ boys play.", "_ boy plays.", "These", "This")
    with pytest.raises(NotPatchable, match="nothing is before the blank"):
        own_contrast(gpt2, start)
    own_contrast(bert, start)
    after = OwnPair("We saw _ boys.", "We saw _ boy.", "these", "this")
    with pytest.raises(NotPatchable, match="reads the same before the blank"):
        own_contrast(gpt2, after)
    own_contrast(bert, after)
    with pytest.raises(NotPatchable, match="another token"):
        own_contrast(bert, changed(corrupt="The boy in _ garden the playing."))
    with pytest.raises(NotPatchable, match="alike"):
        own_contrast(bert, changed(good="Was"))


@pytest.mark.parametrize("strange", ["☃", "a" * 39, "\u202e", "<b>", "##s", "[SEP]", "[MASK]", "'", "_", "\ud800"])
def test_any_word_is_a_pair_or_a_sentence(model: LoadedModel, strange: str) -> None:
    for own in (changed(good=strange), changed(bad=strange), changed(clean=f"The {strange} boys _.")):
        try:
            two = own_contrast(model, own)
        except NotPatchable as reason:
            assert str(reason).endswith(".")
        else:
            assert two.good != two.bad and len(two.clean) == len(two.corrupt)


@one_by_day
def test_a_pair_is_patched_once_and_the_oldest_is_forgotten(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners_pair, "_FOUND", type(learners_pair._FOUND)())
    monkeypatch.setattr(learners_pair, "_KEPT", 1)
    two = own_contrast(model, OWN)
    assert own_known(model, two) is None
    found = own_patching(model, two)
    assert own_known(model, two) is found and own_patching(model, two) is found
    (at,) = differing(two)
    near(found.clean_into_corrupt.residual[0, at], 1.0, 1e-5)
    other = own_contrast(model, changed(good="are", bad="is"))
    own_patching(model, other)
    assert own_known(model, two) is None and own_known(model, other) is not None


@pytest.mark.parametrize("places", [6, 8, 32, 200])
def test_the_limit_that_is_named_is_the_models(model: LoadedModel, places: int) -> None:
    config = replace(model.config, max_tokens=places)
    few = replace(model, weights=replace(model.weights, config=config))
    with pytest.raises(NotPatchable, match=f"more than {min(places, MOST)} tokens"):
        own_contrast(few, changed(clean="The boys in" + " the garden" * 20 + " _ playing."))
