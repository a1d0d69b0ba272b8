"""The effect of each head is that of Hugging Face's model with the head's slice changed, one pair at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from lab.evidence import competition
from lab.evidence.competition import differences
from lab.evidence.pairs import AskedPair
from lab.experiments.needed_heads.ablations import (
    ABLATIONS,
    Ablation,
    HeadEffects,
    only_one_head,
    partners,
    without_each_head,
)
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace_encoding
from tests.checkpoints import HEADS, LAYERS
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import asked_pairs, near, their_contexts, their_difference, twice
from tests.models.reference import HEAD_WIDTH, Theirs

PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


def own(head: int) -> slice:
    return slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)


def becomes(head: int, value: Callable[[Tensor], Tensor] | Tensor | float) -> Callable[[Tensor], Tensor]:
    """The change of what W_O reads, (1, n, d), that puts ``value`` into a head's slice."""

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[..., own(head)] = value(x[..., own(head)]) if callable(value) else value
        return x

    return change


def test_with_all_heads_on_it_is_hugging_faces_difference(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs = asked_pairs(tiny)
    near(differences(tiny, pairs), [their_difference(theirs, pair) for pair in pairs])


def test_nothing_changed_is_the_plain_run(tiny: LoadedModel) -> None:
    pairs = asked_pairs(tiny)
    plain = [trace_encoding(tiny, pair.encoding).logits(pair.place)[0] for pair in pairs]
    expected = [float(logits[pair.good] - logits[pair.bad]) for logits, pair in zip(plain, pairs, strict=True)]
    near(differences(tiny, pairs), expected, 1e-5)
    near(without_each_head(tiny, pairs).plain, expected, 1e-5)


def test_zero_is_hugging_face_with_the_slice_of_w_o_zeroed(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs, found = asked_pairs(tiny), without_each_head(tiny, asked_pairs(tiny)).changed
    for layer, head in PLACES:
        edited = theirs.edited()
        edited.projection_inputs(layer)[own(head)] = 0
        near(found[layer, head], [their_difference(edited, pair) for pair in pairs])


def test_the_sentences_mean(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs, found = asked_pairs(tiny), without_each_head(tiny, asked_pairs(tiny), "sentence").changed
    for layer, head in PLACES:
        change = (layer, becomes(head, lambda x: x.mean(dim=1, keepdim=True)))
        near(found[layer, head], [their_difference(theirs, pair, [change]) for pair in pairs])


def test_the_corpus_mean_is_over_all_tokens(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs, found = asked_pairs(tiny), without_each_head(tiny, asked_pairs(tiny), "corpus").changed
    contexts = [their_contexts(theirs, pair, LAYERS) for pair in pairs]
    for layer, head in PLACES:
        mean = torch.cat([context[layer] for context in contexts])[:, own(head)].mean(dim=0)
        change = (layer, becomes(head, mean))
        near(found[layer, head], [their_difference(theirs, pair, [change]) for pair in pairs])


def test_resampled_is_what_the_head_does_in_the_partner(tiny: LoadedModel, theirs: Theirs) -> None:
    pairs = twice(asked_pairs(tiny))
    found = without_each_head(tiny, pairs, "resample").changed
    contexts = [their_contexts(theirs, pairs[partner], LAYERS) for partner in partners(pairs)]
    for layer, head in PLACES:
        expected = [
            their_difference(theirs, pair, [(layer, becomes(head, context[layer][:, own(head)]))])
            for pair, context in zip(pairs, contexts, strict=True)
        ]
        near(found[layer, head], expected)


def difference_of(model: LoadedModel, pair: AskedPair, changes: Interventions) -> float:
    logits = trace_encoding(model, pair.encoding, changes).logits(pair.place)[0]
    return float(logits[pair.good] - logits[pair.bad])


def test_uniform_attention_is_that_of_the_intervention(tiny: LoadedModel) -> None:
    pairs, found = asked_pairs(tiny), without_each_head(tiny, asked_pairs(tiny), "uniform").changed
    for place in PLACES:
        level = Interventions(uniform_heads=frozenset({place}))
        near(found[place], [difference_of(tiny, pair, level) for pair in pairs], 1e-5)


def test_only_one_head_is_all_others_of_its_layer_off(tiny: LoadedModel) -> None:
    pairs, found = asked_pairs(tiny), only_one_head(tiny, asked_pairs(tiny)).changed
    for layer, head in PLACES:
        others = Interventions(zero_heads=frozenset({(layer, other) for other in range(HEADS) if other != head}))
        near(found[layer, head], [difference_of(tiny, pair, others) for pair in pairs], 1e-5)


@pytest.mark.parametrize("ablation", ABLATIONS)
@pytest.mark.parametrize("room", [1, 40_000])
def test_small_batches_change_nothing(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch, ablation: Ablation, room: int
) -> None:
    pairs = twice(asked_pairs(tiny))
    whole = without_each_head(tiny, pairs, ablation)
    monkeypatch.setattr(competition, "_ROOM", room)
    near(without_each_head(tiny, pairs, ablation).changed, whole.changed, 1e-5)


@pytest.fixture(scope="module")
def bert(tiny_checkpoint: TinyCheckpoint) -> LoadedModel:
    return load_model(tiny_checkpoint("bert"))


def test_partners_are_others_of_the_same_length(bert: LoadedModel) -> None:
    pairs = twice(asked_pairs(bert))
    found = partners(pairs)
    assert sorted(found) == list(range(len(pairs))), "each is somebody's partner once"
    for here, there in enumerate(found):
        assert here != there and len(pairs[here].encoding) == len(pairs[there].encoding)
    assert partners(pairs) == found
    with pytest.raises(ValueError, match="no other sentence"):
        partners(pairs[:1])


def test_progress_is_told_and_may_end_the_run(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(competition, "_ROOM", 1)
    pairs, told = asked_pairs(bert), list[float]()
    without_each_head(bert, pairs, progress=told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) == len(pairs)

    class Stopped(Exception):
        pass

    def stop(share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        without_each_head(bert, pairs, progress=stop)


def test_delta_and_accuracy_by_hand() -> None:
    found = HeadEffects("any", np.array([1.0, -2.0, 0.5]), np.array([[[0.0, -3.0, 1.0]]]))
    near(found.delta, [[[-1.0, -1.0, 0.5]]], 0)
    assert found.accuracy == 2 / 3
