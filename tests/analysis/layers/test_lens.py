"""The logit lens against Hugging Face's head on Hugging Face's hidden states."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from lab.analysis.layers import lens as module_under_test
from lab.analysis.layers.lens import (
    lens,
    lens_difference,
    lens_prediction,
    lens_rows,
    likeliest_after,
    output_difference,
    stack,
)
from lab.analysis.words.predictions import predictions
from lab.models.fitted_lens import FOLDER, MAPS
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from tests.checkpoints import LAYERS, Family
from tests.conftest import TinyCheckpoint
from tests.lenses import put_lens

TEXT = "The unhappily café doesn't wait for the cat."
PLACES = (1, 4, 2, 6)
PREDICTING: tuple[Family, ...] = ("bert", "distilbert", "roberta", "gpt2", "modernbert")


def run(tiny_checkpoint: TinyCheckpoint, family: Family) -> tuple[Trace, tuple[int | None, ...]]:
    """A run and the truth at PLACES; nobody knows that of the last."""
    plain = trace(load_model(tiny_checkpoint(family)), TEXT)
    after = 1 if plain.model.config.causal else 0
    return plain, (*(plain.token_ids[place + after] for place in PLACES[:-1]), None)


def their_logits(tiny_checkpoint: TinyCheckpoint, family: Family) -> list[Tensor]:
    """The model's own head, a Hugging Face module, on each of its hidden states."""
    import transformers

    folder = tiny_checkpoint(family)
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    auto = transformers.AutoModelForCausalLM if family == "gpt2" else transformers.AutoModelForMaskedLM
    module = auto.from_pretrained(folder).eval()
    with torch.inference_mode():
        out = module(**inputs, output_hidden_states=True)
        states = list(out.hidden_states)
        if family == "gpt2":
            # Hugging Face has put the last one through the final LayerNorm already.
            return [module.lm_head(module.transformer.ln_f(x))[0] for x in states[:-1]] + [
                module.lm_head(states[-1])[0]
            ]
        if family == "modernbert":  # as in GPT-2
            normed = [module.model.final_norm(x) for x in states[:-1]] + [states[-1]]
            return [module.decoder(module.head(x))[0] for x in normed]
        if family == "distilbert":
            gelu = torch.nn.functional.gelu
            steps = [module.vocab_layer_norm(gelu(module.vocab_transform(x))) for x in states]
            return [module.vocab_projector(x)[0] for x in steps]
        head = module.cls if family == "bert" else module.lm_head
        return [head(x)[0] for x in states]


@pytest.mark.parametrize("family", PREDICTING)
def test_every_row_is_their_head_on_their_hidden_state(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    plain, truths = run(tiny_checkpoint, family)
    ours, theirs = lens(plain, PLACES, truths), their_logits(tiny_checkpoint, family)
    assert ours.best.shape == ours.probability.shape == ours.rank.shape == ours.entropy.shape == (LAYERS + 1, 4)
    for row, all_logits in enumerate(theirs):
        for column, (place, truth) in enumerate(zip(PLACES, truths, strict=True)):
            logits = all_logits[place].double()
            shares = logits.softmax(-1)
            assert ours.best[row, column] == int(shares.argmax())
            assert ours.probability[row, column] == pytest.approx(float(shares.max()), abs=1e-5)
            entropy = -sum(float(p) * math.log(float(p)) for p in shares if p > 0) / math.log(len(shares))
            assert ours.entropy[row, column] == pytest.approx(entropy, abs=1e-5)
            expected = 0 if truth is None else 1 + int((logits > logits[truth]).sum())
            assert ours.rank[row, column] == expected


@pytest.mark.parametrize("family", PREDICTING)
def test_the_last_row_is_the_models_own_prediction(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    plain, truths = run(tiny_checkpoint, family)
    ours = lens(plain, PLACES, truths)
    for column, own in enumerate(predictions(plain, PLACES, truths)):
        assert ours.best[-1, column] == own.best(1)[0]
        assert abs(ours.probability[-1, column] - own.probabilities.max()) < 1e-12
        assert ours.rank[-1, column] == (0 if own.truth is None else own.rank(own.truth))
        entropy = -(own.probabilities * np.log(own.probabilities)).sum() / math.log(len(own.logits))
        assert abs(ours.entropy[-1, column] - entropy) < 1e-12


def test_places_in_parts_give_the_same_grids(tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, truths = run(tiny_checkpoint, "bert")
    whole = lens(plain, PLACES, truths)
    seen: list[int] = []
    logits = Trace.logits

    def counted(self: Trace, positions: tuple[int, ...]) -> Tensor:
        seen.append(len(positions))
        return logits(self, positions)

    monkeypatch.setattr(Trace, "logits", counted)
    monkeypatch.setattr(module_under_test, "_ROWS_AT_ONCE", 3)
    parts = stack(PLACES, truths, list(lens_rows(plain, PLACES, truths)))
    assert seen == [3, 1] * (LAYERS + 1)
    assert np.array_equal(parts.best, whole.best)
    assert np.array_equal(parts.rank, whole.rank)
    assert np.abs(parts.probability - whole.probability).max() < 1e-6
    assert np.abs(parts.entropy - whole.entropy).max() < 1e-6


def test_rows_come_one_layer_at_a_time(tiny_checkpoint: TinyCheckpoint) -> None:
    plain, truths = run(tiny_checkpoint, "bert")
    rows = lens_rows(plain, PLACES, truths)
    first = [next(rows), next(rows)]
    assert [row.layer for row in first] == [0, 1]
    begun, whole = stack(PLACES, truths, first), lens(plain, PLACES, truths)
    assert np.array_equal(begun.probability, whole.probability[:2])
    assert (begun.places, begun.truths) == (PLACES, truths)


def test_what_has_no_lens_says_why(tiny_checkpoint: TinyCheckpoint) -> None:
    plain, truths = run(tiny_checkpoint, "bert")
    with pytest.raises(ValueError, match="0 places"):
        lens(plain, (), ())
    with pytest.raises(ValueError, match="4 places and 3 truths"):
        lens(plain, PLACES, truths[:3])
    headless = trace(load_model(tiny_checkpoint("bert-headless")), TEXT)
    with pytest.raises(ValueError, match="vocabulary head"):
        lens(headless, (1,), (None,))


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_cell_in_full_is_the_cell_of_the_grid(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    plain, truths = run(tiny_checkpoint, family)
    grid, theirs = lens(plain, PLACES, truths), their_logits(tiny_checkpoint, family)
    for layer in range(LAYERS + 1):
        cell = lens_prediction(plain, layer, PLACES[1], truths[1])
        assert cell.best(1)[0] == grid.best[layer, 1]
        assert np.abs(cell.logits - theirs[layer][PLACES[1]].numpy()).max() < 1e-4
    assert output_difference(plain, grid) == 0
    assert output_difference(plain, lens(plain, PLACES[::-1], truths[::-1])) == 0
    early = stack(PLACES, truths, list(lens_rows(plain, PLACES, truths))[:1])
    assert output_difference(plain, early) > 0  # the embeddings are not the output


@pytest.fixture
def with_lens(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> Callable[[Family], Path]:
    """A copy of a tiny checkpoint with a lens beside it."""
    return lambda family: put_lens(Path(shutil.copytree(tiny_checkpoint(family), tmp_path / family)))


def their_last_states(folder: Path, family: Family) -> tuple[list[Tensor], Any]:
    """Hugging Face's hidden states (n, d), the last one before GPT-2's final LayerNorm, and what reads it."""
    import transformers

    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    if family == "gpt2":
        gpt2 = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
        given: list[Tensor] = []
        gpt2.transformer.ln_f.register_forward_pre_hook(lambda _, args: given.append(args[0]))
        with torch.inference_mode():
            states = gpt2(**inputs, output_hidden_states=True).hidden_states
        read = given[0]
        return [*(x[0] for x in states[:-1]), read[0]], lambda x: gpt2.lm_head(gpt2.transformer.ln_f(x))
    bert = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        return [x[0] for x in bert(**inputs, output_hidden_states=True).hidden_states], bert.cls


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_fitted_row_is_their_head_on_the_mapped_state(
    with_lens: Callable[[Family], Path], family: Family, tiny_checkpoint: TinyCheckpoint
) -> None:
    folder = with_lens(family)
    plain, (states, head) = trace(load_model(folder), TEXT), their_last_states(folder, family)
    maps = load_file(folder / FOLDER / MAPS)
    truths = (*(plain.token_ids[place] for place in PLACES[:-1]), None)
    ours, difference = lens(plain, PLACES, truths, fitted=True), lens_difference(plain, PLACES, truths, fitted=True)
    assert difference == 0
    for row, state in enumerate(states):
        read = state if row == LAYERS else state.double() @ maps["w"][row].double() + maps["b"][row].double()
        with torch.inference_mode():
            logits = head(read.float())
        for column, (place, truth) in enumerate(zip(PLACES, truths, strict=True)):
            assert ours.best[row, column] == int(logits[place].argmax())
            assert ours.probability[row, column] == pytest.approx(float(logits[place].softmax(-1).max()), abs=1e-4)
            cell = lens_prediction(plain, row, place, truth, fitted=True)
            assert np.abs(cell.logits - logits[place].numpy()).max() < 1e-3
    own = their_logits(tiny_checkpoint, family)[-1]
    assert np.abs(cell.logits - own[PLACES[-1]].numpy()).max() < 1e-4


def test_the_two_lenses_of_a_run_are_told_apart(with_lens: Callable[[Family], Path]) -> None:
    traced, truths = trace(load_model(with_lens("bert")), TEXT), (None,) * len(PLACES)
    fitted, plain = lens(traced, PLACES, truths, fitted=True), lens(traced, PLACES, truths)
    assert np.array_equal(fitted.probability[-1], plain.probability[-1])
    assert (fitted.probability[:-1] != plain.probability[:-1]).all()


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("fitted", [False, True])
def test_the_likeliest_words_after_every_layer_are_those_of_each_prediction(
    with_lens: Callable[[Family], Path], family: Family, fitted: bool
) -> None:
    traced = trace(load_model(with_lens(family)), TEXT)
    found = likeliest_after(traced, PLACES[0], 3, fitted=fitted)
    for layer in range(LAYERS + 1):
        own = lens_prediction(traced, layer, PLACES[0], None, fitted=fitted)
        assert found.ids[layer].tolist() == list(own.best(3))
        assert found.probabilities[layer] == pytest.approx(np.sort(own.probabilities)[::-1][:3], abs=1e-6)


def test_a_model_without_a_fitted_lens_says_so(tiny_checkpoint: TinyCheckpoint) -> None:
    plain, truths = run(tiny_checkpoint, "bert")
    for ask in (
        lambda: lens_rows(plain, PLACES, truths, fitted=True),
        lambda: lens(plain, PLACES, truths, fitted=True),
        lambda: lens_prediction(plain, 1, 1, None, fitted=True),
        lambda: lens_difference(plain, PLACES, truths, fitted=True),
        lambda: likeliest_after(plain, 1, 3, fitted=True),
    ):
        with pytest.raises(ValueError, match="No lens was fitted"):
            ask()
