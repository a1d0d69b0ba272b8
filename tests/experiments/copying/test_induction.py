"""Copying: losses are Hugging Face's, heads are chosen on one half, and controls are other heads."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lab.analysis.heads.induction import fresh_encoding, model_induction, repeated_encoding
from lab.experiments.copying import induction
from lab.experiments.copying import induction as copying_induction
from lab.experiments.copying.induction import ABLATIONS, MEAN, ZERO, Copying, copying, distances, head_scores, losses
from lab.models.catalogue import EMBEDDED
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace_encoding
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import near
from tests.models.reference import load_theirs

PERIOD, TEXTS, DRAWS = 30, 6, 3


@pytest.fixture(scope="module")
def gpt2() -> LoadedModel:
    return load_model("lab-gpt2")


@pytest.fixture(scope="module")
def found(gpt2: LoadedModel) -> Copying:
    return copying(gpt2, PERIOD, TEXTS, DRAWS)


def test_scores_are_those_of_the_traces(gpt2: LoadedModel, found: Copying) -> None:
    for text in (0, TEXTS - 1):
        near(found.induction[..., text], model_induction(gpt2, PERIOD, seed=text), 1e-5)
        plain = trace_encoding(gpt2, repeated_encoding(gpt2, PERIOD, text))
        weights = plain.attention
        before = [weights[:, :, i, i - 1] for i in range(1, 2 * PERIOD)]
        near(found.previous[..., text], torch.stack(before).mean(dim=0), 1e-5)


def test_heads_are_chosen_on_the_first_half(gpt2: LoadedModel, found: Copying) -> None:
    assert found.chosen == TEXTS // 2
    on_a = found.induction[..., : found.chosen].mean(axis=-1)
    assert on_a[found.best] == on_a.max()
    record = json.loads((EMBEDDED / "lab-gpt2" / "heads.json").read_text("utf-8"))
    layer, head, _ = record["jobs"]["induction"]["heads"][0]
    assert found.best == (layer - 1, head - 1), "the head that ships as the induction head"


def test_what_the_best_head_depends_on_is_measured_by_taking_it_away(gpt2: LoadedModel, found: Copying) -> None:
    layer, head = found.best
    assert np.isnan(found.dependence[layer:]).all() and not np.isnan(found.dependence[:layer]).any()
    assert found.source is not None and found.dependence[found.source] == np.nanmax(found.dependence)
    scores = []
    for seed in range(found.chosen):
        encoding = repeated_encoding(gpt2, PERIOD, seed)
        run = trace_encoding(gpt2, encoding, Interventions(zero_heads=frozenset({found.source})))
        attention = run.layer(layer).attention[head]
        scores.append(np.mean([float(attention[i, i - PERIOD + 1]) for i in range(PERIOD, 2 * PERIOD)]))
    whole = found.induction[layer, head, : found.chosen].mean()
    near(found.dependence[found.source], whole - np.mean(scores), 1e-5)


def test_losses_are_hugging_faces_with_the_slices_zeroed(gpt2: LoadedModel, found: Copying) -> None:
    theirs = load_theirs(EMBEDDED / "lab-gpt2", "gpt2").edited()
    width = gpt2.config.head_width
    assert found.source is not None
    for name, away in (("plain", ()), ("best", (found.best,)), ("both", (found.source,))):  # one after the other
        for layer, head in away:
            theirs.projection_inputs(layer)[head * width : (head + 1) * width] = 0
        own = found.taken[ZERO].losses[name]
        for row, seed in enumerate(range(found.chosen, TEXTS)):
            ids = torch.tensor([repeated_encoding(gpt2, PERIOD, seed).token_ids])
            logits = theirs.run_ids(input_ids=ids).logits
            assert logits is not None
            expected = torch.nn.functional.cross_entropy(logits[:-1], ids[0, 1:], reduction="none")
            near(own[row], expected, 1e-3)


def test_a_head_at_its_mean_writes_the_same_at_every_token(gpt2: LoadedModel, found: Copying) -> None:
    """Losses by Hugging Face's pass, with what the head hands to W_O replaced by its mean over the text."""
    width, (layer, head) = gpt2.config.head_width, found.best
    own = slice(head * width, (head + 1) * width)
    theirs = load_theirs(EMBEDDED / "lab-gpt2", "gpt2")

    def level(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        x = inputs[0].clone()
        x[..., own] = x[..., own].mean(dim=-2, keepdim=True)
        return (x, *inputs[1:])

    handle = theirs.output_projection(layer).register_forward_pre_hook(level)
    for row, seed in enumerate(range(found.chosen, TEXTS)):
        ids = torch.tensor([repeated_encoding(gpt2, PERIOD, seed).token_ids])
        logits = theirs.run_ids(input_ids=ids).logits
        assert logits is not None
        expected = torch.nn.functional.cross_entropy(logits[:-1], ids[0, 1:], reduction="none")
        near(found.taken[MEAN].losses["best"][row], expected, 1e-3)
    handle.remove()


@pytest.mark.parametrize("ablation", ABLATIONS)
def test_without_its_heads_lab_gpt2_copies_worse_than_without_others(found: Copying, ablation: str) -> None:
    """What Olsson et al. 2022 claim, in the second copy; the first has nothing to copy."""
    taken = found.taken[ablation]
    second = {name: found.second(each).mean() for name, each in taken.losses.items()}
    assert second["plain"] < second["best"]
    assert second["best"] > found.second(taken.controls[1]).mean()
    assert second["both"] > found.second(taken.controls[2]).mean()
    first = taken.losses["plain"][:, : PERIOD - 1].mean()
    assert second["plain"] < first - 1


def test_shapes_and_the_part_that_copying_can_lower(found: Copying) -> None:
    tokens, texts = 2 * PERIOD - 1, TEXTS - TEXTS // 2
    assert tuple(found.taken) == ABLATIONS
    for taken in found.taken.values():
        assert {name: each.shape for name, each in taken.losses.items()} == dict.fromkeys(
            ("plain", "best", "source", "both"), (texts, tokens)
        )
        assert {k: each.shape for k, each in taken.controls.items()} == dict.fromkeys((1, 2), (DRAWS, texts, tokens))
    assert {k: [len(heads) for heads in each] for k, each in found.drawn.items()} == {1: [1] * DRAWS, 2: [2] * DRAWS}
    assert not {found.best, found.source} & {head for each in found.drawn.values() for heads in each for head in heads}
    near(found.second(np.arange(tokens, dtype=np.float64)), np.arange(PERIOD, 2 * PERIOD - 1), 0)


def test_controls_are_other_heads(gpt2: LoadedModel) -> None:
    heads = [(layer, head) for layer in range(2) for head in range(3)]
    drawn = copying_induction._drawn(heads, 2, 10)
    assert all(len(each) == 2 for each in drawn) and set().union(*drawn) == set(heads)
    assert len(set(drawn)) == 10 and drawn == copying_induction._drawn(heads, 2, 10)
    assert set(copying_induction._drawn(heads, 2, 50)) == {frozenset(each) for each in combinations(heads, 2)}


def test_batches_change_nothing(gpt2: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    read = [repeated_encoding(gpt2, 10, seed) for seed in range(4)]
    whole = losses(gpt2, read), head_scores(gpt2, read, 10)
    monkeypatch.setattr(induction, "_ROOM", 1)
    near(losses(gpt2, read), whole[0], 1e-4)
    for one, other in zip(head_scores(gpt2, read, 10), whole[1], strict=True):
        near(one, other, 1e-5)


def test_progress_is_told_whichever_layer_is_best(tiny_checkpoint: TinyCheckpoint) -> None:
    layers = set()
    for seed in range(4):
        told: list[float] = []
        found = copying(load_model(tiny_checkpoint("gpt2", seed)), 8, 4, 2, told.append)
        assert told == sorted(told) and told[-1] == 1
        layers.add(found.best[0])
        if found.best[0] == 0:
            taken = found.taken[MEAN]
            assert found.source is None and set(taken.losses) == {"plain", "best"} and set(taken.controls) == {1}
    assert layers == {0, 1}


def test_a_model_that_sees_the_whole_text_is_refused(tiny_checkpoint: TinyCheckpoint, gpt2: LoadedModel) -> None:
    with pytest.raises(ValueError, match="sees the whole text"):
        copying(load_model(tiny_checkpoint("bert")))
    with pytest.raises(ValueError, match="there must be two"):
        copying(gpt2, texts=1)


def test_fresh_tokens_are_as_many_and_none_comes_twice(gpt2: LoadedModel) -> None:
    read = fresh_encoding(gpt2, PERIOD, 3)
    assert len(read) == 2 * PERIOD == len(set(read.token_ids)) == len(repeated_encoding(gpt2, PERIOD, 3))
    assert read.token_ids == fresh_encoding(gpt2, PERIOD, 3).token_ids != fresh_encoding(gpt2, PERIOD, 4).token_ids


def test_the_control_for_position_reads_the_same_places_of_fresh_texts(gpt2: LoadedModel, found: Copying) -> None:
    """And lab-gpt2's best head looks for the token, not for the distance."""
    layer, head = found.best
    both = distances(gpt2, found.best, (10, PERIOD, 10_000), (1, 2))
    assert [each.period for each in both] == [10, PERIOD], "no text of 20,000 tokens"
    for each in both:
        for row, seed in enumerate((1, 2)):
            weights = trace_encoding(gpt2, fresh_encoding(gpt2, each.period, seed)).layer(layer).attention[head]
            places = range(each.period, 2 * each.period)
            mean = np.mean([float(weights[i, i - each.period + 1]) for i in places])
            near(each.fresh[row], mean, 1e-5)
            near(each.repeated[row], model_induction(gpt2, each.period, seed)[layer, head], 1e-5)
        assert each.repeated.min() > 5 * each.fresh.max()
