"""Patches: clean into clean changes nothing, everything recovers 1, each one is Hugging Face's with a hook."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lab.evidence.pairs import AskedPair, minimal_pairs
from lab.experiments.patching import patches
from lab.experiments.patching.patches import (
    Contrast,
    Maps,
    NotPatchable,
    Patches,
    Site,
    contrast,
    patch_template,
    patching,
    plain_parts,
    stacked,
)
from lab.models.encoding import encode
from lab.models.gradients import GradientParts
from lab.models.interventions import Interventions, Patch
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace_encoding
from tests.checkpoints import HEADS, LAYERS
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import SENTENCES, near
from tests.models.reference import HEAD_WIDTH, Theirs, close

SITES: tuple[Site, ...] = get_args(Site)


def patched(
    model: LoadedModel, base: GradientParts, other: GradientParts, site: Site, layer: int, where: Tensor
) -> Tensor:
    """The last hidden states of all tokens, (k, n, d)."""
    each = [patches.patched(model, base, other, Patches(site, layer, where), place) for place in range(where.shape[-1])]
    return torch.stack(each, dim=1)


def two_of(model: LoadedModel) -> Contrast:
    """A sentence, one with other tokens in two places, and the words that they disagree about most at the end."""
    clean = encode(model.tokenizer, model.config, SENTENCES[0])
    corrupt = replace(clean, token_ids=(*clean.token_ids[:2], 50, 60, *clean.token_ids[4:]))
    place = len(clean) - 1
    apart = trace_encoding(model, clean).logits(place)[0] - trace_encoding(model, corrupt).logits(place)[0]
    return Contrast(clean, corrupt, place, int(apart.argmax()), int(apart.argmin()))


def layers_of(site: Site) -> range:
    return range(LAYERS + 1 if site == "residual" else LAYERS)


def everywhere(site: Site, n: int) -> Tensor:
    return torch.ones((1, HEADS, n) if site == "heads" else (1, n), dtype=torch.bool)


def one_place(site: Site, n: int, token: int, head: int = 1) -> Tensor:
    where = torch.zeros_like(everywhere(site, n))
    where[(0, head, token) if site == "heads" else (0, token)] = True
    return where


@pytest.mark.parametrize("site", SITES)
def test_clean_into_clean_changes_nothing(tiny: LoadedModel, site: Site) -> None:
    clean, _, _ = plain_parts(tiny, two_of(tiny))
    for layer in layers_of(site):
        found = patched(tiny, clean, clean, site, layer, everywhere(site, clean.residual.shape[2]))
        close(found, clean.residual[-1], 1e-5)


def test_everything_recovers_all(tiny: LoadedModel) -> None:
    two = two_of(tiny)
    clean, corrupt, (good, bad) = plain_parts(tiny, two)
    for layer in layers_of("residual"):
        last = patched(tiny, corrupt, clean, "residual", layer, everywhere("residual", len(two.clean)))
        close(last, clean.residual[-1], 1e-5)
        difference = float(patches.read_difference(tiny, two, last[:, two.place]))
        near((difference - bad) / (good - bad), 1.0, 1e-5)


def test_all_heads_together_are_the_attention_output(tiny: LoadedModel) -> None:
    clean, corrupt, _ = plain_parts(tiny, two_of(tiny))
    n = clean.residual.shape[2]
    for layer in range(LAYERS):
        for token in range(n):
            where = one_place("attention", n, token)
            heads = patched(tiny, corrupt, clean, "heads", layer, where[:, None].expand(-1, HEADS, -1))
            close(heads, patched(tiny, corrupt, clean, "attention", layer, where), 1e-5)


def test_the_residual_stream_as_the_lessons_patch_it(tiny: LoadedModel) -> None:
    two = two_of(tiny)
    clean, corrupt, _ = plain_parts(tiny, two)
    for layer in layers_of("residual"):
        for token in (0, 3):
            found = patched(tiny, corrupt, clean, "residual", layer, one_place("residual", len(two.clean), token))
            vector = trace_encoding(tiny, two.clean).hidden_states[layer][token]
            theirs = trace_encoding(tiny, two.corrupt, Interventions(patches=(Patch(layer, token, vector),)))
            close(found[0], theirs.hidden_states[-1], 1e-5)


def hooked(theirs: Theirs, site: Site, layer: int, change: Callable[[Tensor], Tensor]) -> ExitStack:
    """While it is open, Hugging Face's part hands on ``change`` of its output (heads: of what W_O reads), (n, d)."""
    part = theirs.output_projection(layer) if site != "ffn" else _second_matrix(theirs, layer)
    stack = ExitStack()
    if site == "heads":
        handle = part.register_forward_pre_hook(lambda _, inputs: (change(inputs[0][0])[None], *inputs[1:]))
    else:
        handle = part.register_forward_hook(lambda _m, _i, output: change(output[0])[None])
    stack.callback(handle.remove)
    return stack


def _second_matrix(theirs: Theirs, layer: int) -> nn.Module:
    return theirs.part("output.dense", "ffn.lin2", "mlp.c_proj", "mlp.Wo", layer)


@pytest.mark.parametrize("site", ["attention", "ffn", "heads"])
def test_a_part_is_what_a_hook_in_hugging_face_makes(tiny: LoadedModel, theirs: Theirs, site: Site) -> None:
    two, token, head = two_of(tiny), 3, 1
    clean, corrupt, _ = plain_parts(tiny, two)
    own = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH) if site == "heads" else slice(None)
    for layer in range(LAYERS):
        seen: list[Tensor] = []

        def keep(x: Tensor, seen: list[Tensor] = seen) -> Tensor:
            seen.append(x.clone())
            return x

        def put(x: Tensor, seen: list[Tensor] = seen) -> Tensor:
            x = x.clone()
            x[token, own] = seen[0][token, own]
            return x

        with hooked(theirs, site, layer, keep):
            theirs.run_ids(input_ids=torch.tensor([two.clean.token_ids]))
        with hooked(theirs, site, layer, put):
            logits = theirs.run_ids(input_ids=torch.tensor([two.corrupt.token_ids])).logits
        assert logits is not None
        last = patched(tiny, corrupt, clean, site, layer, one_place(site, len(two.clean), token, head))
        there = logits[two.place]
        near(
            float(patches.read_difference(tiny, two, last[:, two.place])),
            float(there[two.good] - there[two.bad]),
        )


@pytest.mark.parametrize("chunk", [1, None])
def test_the_maps_are_their_runs_one_by_one(
    tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch, chunk: int | None
) -> None:
    if chunk is not None:
        monkeypatch.setattr(patches, "_ROOM", chunk)
    two, told = two_of(tiny), list[float]()
    clean, corrupt, (good, bad) = plain_parts(tiny, two)
    found, n = patching(tiny, two, told.append), len(two.clean)
    assert told == sorted(told) and told[-1] == 1
    for maps, base, other in (
        (found.clean_into_corrupt, corrupt, clean),
        (found.corrupt_into_clean, clean, corrupt),
    ):
        for site in SITES:
            layer, token = layers_of(site)[-1], n - 1
            values = getattr(maps, site)
            assert values.shape == (len(layers_of(site)), *((HEADS,) if site == "heads" else ()), n)
            last = patched(tiny, base, other, site, layer, one_place(site, n, token, 2))
            at = (layer, 2, token) if site == "heads" else (layer, token)
            near(
                values[at],
                (float(patches.read_difference(tiny, two, last[:, two.place])) - bad) / (good - bad),
                1e-5,
            )


def test_estimates_are_the_slope_of_the_exact_values(tiny: LoadedModel) -> None:
    """A hundredth of the way to the other run changes the difference by a hundredth of the estimate."""
    two, small = two_of(tiny), 1e-2
    clean, corrupt, (good, bad) = plain_parts(tiny, two)
    found = patching(tiny, two).estimated_into_corrupt
    some = GradientParts(
        *(torch.lerp(getattr(corrupt, f.name), getattr(clean, f.name), small) for f in fields(GradientParts))
    )
    for site in SITES:
        scale = np.abs(getattr(found, site)).max()
        for layer in layers_of(site):
            for token in range(len(two.clean)):
                last = patched(tiny, corrupt, some, site, layer, one_place(site, len(two.clean), token))
                slope = (float(patches.read_difference(tiny, two, last[:, two.place])) - bad) / small / (good - bad)
                at = (layer, 1, token) if site == "heads" else (layer, token)
                near(getattr(found, site)[at], slope, 0.05 * scale + 1e-3)


@pytest.fixture(scope="module")
def bert() -> LoadedModel:
    return load_model("lab-bert")


@pytest.fixture(scope="module")
def simple(bert: LoadedModel) -> tuple[AskedPair, ...]:
    return minimal_pairs(bert, each=6).of("simple")


def test_the_embedding_of_the_deciding_word_is_all_there_is(bert: LoadedModel, simple: tuple[AskedPair, ...]) -> None:
    """The two sentences differ in it alone: it suffices and is needed, and no other embedding does anything."""
    found = patching(bert, contrast(simple[0]))
    only = np.eye(len(simple[0].encoding))[simple[0].deciding]
    near(found.clean_into_corrupt.residual[0], only, 1e-5)
    near(found.corrupt_into_clean.residual[0], 1 - only, 1e-5)
    assert found.clean - found.corrupt > 1


def test_after_the_last_layer_only_the_place_counts(bert: LoadedModel, simple: tuple[AskedPair, ...]) -> None:
    found = patching(bert, contrast(simple[0])).clean_into_corrupt
    only = np.eye(len(simple[0].encoding))[simple[0].place]
    near(found.residual[-1], only, 1e-5)
    near(found.ffn[-1][only == 0], 0 * only[only == 0], 1e-5)


def test_a_template_is_its_pairs(bert: LoadedModel, simple: tuple[AskedPair, ...]) -> None:
    same = replace(simple[0], other=simple[0].encoding)
    told: list[float] = []
    found = patch_template(bert, (*simple[:2], same), told.append)
    assert found.pairs == simple[:2] and [pair for pair, _ in found.refused] == [same]
    assert "0.00 logits" in found.refused[0][1]
    assert told == [1 / 3, 2 / 3, 1]
    maps = stacked([each.clean_into_corrupt for each in found.patchings])
    for number, pair in enumerate(simple[:2]):
        alone = patching(bert, contrast(pair)).clean_into_corrupt
        for f in fields(Maps):
            near(getattr(maps, f.name)[number], getattr(alone, f.name), 0)


def test_what_cannot_be_patched_is_refused_with_a_sentence(bert: LoadedModel, simple: tuple[AskedPair, ...]) -> None:
    two = contrast(simple[0])
    longer = encode(bert.tokenizer, bert.config, "A much longer sentence stands here instead.")
    with pytest.raises(NotPatchable, match=r"7 tokens and the other 10\..*same number"):
        patching(bert, replace(two, corrupt=longer))
    with pytest.raises(NotPatchable, match=r"differ by 0\.00 logits"):
        patching(bert, replace(two, corrupt=two.clean))
    across = minimal_pairs(bert, each=2).of("prepositional")
    with pytest.raises(NotPatchable, match="7 and 10 tokens"):
        patch_template(bert, (*simple, *across))
    with pytest.raises(NotPatchable, match="none of these pairs"):
        patch_template(bert, [replace(simple[0], other=simple[0].encoding)])


def test_a_model_without_words_is_refused(tiny_checkpoint: TinyCheckpoint) -> None:
    headless = load_model(tiny_checkpoint("bert-headless"))
    read = partial(encode, headless.tokenizer, headless.config)
    with pytest.raises(ValueError, match="vocabulary head"):
        patching(headless, Contrast(read(SENTENCES[0]), read(SENTENCES[1]), 1, 5, 6))
