"""Predictions against Hugging Face's own heads, and the softmax against its formula."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from lab.analysis.words.masking import hide
from lab.analysis.words.predictions import (
    Prediction,
    candidate,
    candidates,
    follows,
    head_steps,
    logit_parts,
    masked_prediction,
    next_prediction,
    predictions,
    rest,
    true_word,
    word_of,
)
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import Trace, trace, trace_encoding
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT, PAIR = "The unhappily café 🙂 doesn't wait for the cat.", "It was tired, so the dog laughed."
PLACE = 5
MASKED: tuple[Family, ...] = ("bert", "distilbert", "roberta", "modernbert")
TOLERANCE = 1e-5


def load(tiny_checkpoint: TinyCheckpoint, family: Family) -> LoadedModel:
    return load_model(tiny_checkpoint(family))


def masked(model: LoadedModel, *places: int, pair: str | None = PAIR) -> tuple[Trace, Trace]:
    """The plain run and the one with tokens hidden."""
    plain, mask = trace(model, TEXT, pair), model.mask
    assert mask is not None
    return plain, trace_encoding(model, hide(plain.encoding, places, mask))


def theirs(tiny_checkpoint: TinyCheckpoint, family: Family) -> tuple[nn.Module, dict[str, Tensor]]:
    """Hugging Face's model and its own encoding of the same pair, token PLACE hidden."""
    import transformers

    folder = tiny_checkpoint(family)
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, PAIR, return_tensors="pt")
    inputs["input_ids"][0, PLACE] = transformers.AutoTokenizer.from_pretrained(folder).mask_token_id
    return transformers.AutoModelForMaskedLM.from_pretrained(folder).eval(), dict(inputs)


@pytest.mark.parametrize("family", MASKED)
def test_probabilities_are_hugging_faces(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    module, inputs = theirs(tiny_checkpoint, family)
    with torch.inference_mode():
        expected = module(**inputs).logits[0, PLACE].softmax(-1)
    model = load(tiny_checkpoint, family)
    plain, hidden = masked(model, PLACE)
    ours = masked_prediction(hidden, plain.encoding, PLACE)
    assert np.abs(ours.probabilities - expected.numpy()).max() < TOLERANCE
    assert ours.truth == plain.token_ids[PLACE]
    best = expected.topk(10)
    shown = candidates(ours, 10, model.tokenizer)
    assert [each.token_id for each in shown] == best.indices.tolist()
    assert [each.rank for each in shown] == list(range(1, 11))
    truth = true_word(ours, model.tokenizer)
    assert truth is not None
    assert truth.rank == 1 + int((expected > expected[truth.token_id]).sum())


def test_next_token_probabilities_are_hugging_faces(tiny_checkpoint: TinyCheckpoint) -> None:
    import transformers

    folder = tiny_checkpoint("gpt2")
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    with torch.inference_mode():
        logits = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()(**inputs).logits[0]
    run = trace(load(tiny_checkpoint, "gpt2"), TEXT)
    for place in (0, PLACE, len(run) - 1):
        ours = next_prediction(run, place)
        for temperature in (0.1, 1.0, 2.0):
            expected = (logits[place].double() / temperature).softmax(-1)
            assert np.abs(ours.at(temperature).probabilities - expected.numpy()).max() < 1e-4
        assert ours.truth == (run.token_ids[place + 1] if place + 1 < len(run) else None)


HEADS = {
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"),
    "distilbert": ("vocab_transform", "vocab_layer_norm"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm"),
    "modernbert": ("head.dense", "head.norm"),
}


@pytest.mark.parametrize("family", MASKED)
def test_each_step_of_the_head_is_hugging_faces(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    module, inputs = theirs(tiny_checkpoint, family)
    seen: dict[str, Tensor] = {}

    def keep(name: str, of_input: bool) -> Callable[..., None]:
        def hook(_module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
            seen[name] = (given[0] if of_input else output)[0, PLACE]

        return hook

    dense, norm = HEADS[family]
    module.get_submodule(dense).register_forward_hook(keep("hidden", True))
    module.get_submodule(dense).register_forward_hook(keep("dense", False))
    module.get_submodule(norm).register_forward_hook(keep("activation", True))
    module.get_submodule(norm).register_forward_hook(keep("normed", False))
    with torch.inference_mode():
        logits = module(**inputs).logits[0, PLACE]
    _, hidden = masked(load(tiny_checkpoint, family), PLACE)
    steps = head_steps(hidden, PLACE)
    for name, expected in seen.items():
        assert np.abs(getattr(steps, name) - expected.numpy()).max() < TOLERANCE, name
    ids = [0, 7, 399]
    for part in logit_parts(hidden, steps, ids):
        assert part.logit == pytest.approx(logits[part.token_id].item(), abs=1e-4)
        assert part.bias != 0


def test_gpt2_has_no_transform_and_no_bias(tiny_checkpoint: TinyCheckpoint) -> None:
    run = trace(load(tiny_checkpoint, "gpt2"), TEXT)
    steps = head_steps(run, PLACE)
    assert steps.dense is None
    assert steps.activation is None
    logits = run.logits(PLACE)[0]
    (part,) = logit_parts(run, steps, [11])
    assert part.bias == 0
    assert part.logit == pytest.approx(logits[11].item(), abs=1e-4)


def test_next_sentence_probability_is_hugging_faces(tiny_checkpoint: TinyCheckpoint) -> None:
    import transformers

    folder = tiny_checkpoint("bert")
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, PAIR, return_tensors="pt")
    with torch.inference_mode():
        logits = transformers.AutoModelForNextSentencePrediction.from_pretrained(folder).eval()(**inputs).logits[0]
    ours = follows(trace(load(tiny_checkpoint, "bert"), TEXT, PAIR))
    assert ours == pytest.approx(logits.softmax(-1)[0].item(), abs=TOLERANCE)  # label 0: B follows A


def test_only_the_places_asked_for_are_projected(tiny_checkpoint: TinyCheckpoint) -> None:
    _, hidden = masked(load(tiny_checkpoint, "bert"), 2, PLACE)
    both = predictions(hidden, [2, PLACE], [None, 3])
    assert [(each.place, each.truth) for each in both] == [(2, None), (PLACE, 3)]
    for each in both:
        assert np.abs(each.logits - hidden.logits(range(len(hidden)))[each.place].numpy()).max() < TOLERANCE


def test_nobody_knows_what_a_typed_mask_hides(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load(tiny_checkpoint, "bert")
    run = trace(model, "The [MASK] sat")
    prediction = masked_prediction(run, run.encoding, 2)
    assert prediction.truth is None
    assert true_word(prediction, model.tokenizer) is None


@pytest.mark.parametrize("family", ["bert-headless", "electra"])
def test_a_model_without_a_head_says_so(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    run = trace(load(tiny_checkpoint, family), TEXT)
    for ask in (lambda: predictions(run, [1], [None]), lambda: head_steps(run, 1)):
        with pytest.raises(ValueError, match="vocabulary head"):
            ask()


@given(st.lists(st.floats(-60, 60, width=32), min_size=2, max_size=40), st.sampled_from([0.1, 0.7, 1.0, 2.0]))
def test_softmax_is_its_formula(values: list[float], temperature: float) -> None:
    prediction = Prediction(0, None, np.array(values)).at(temperature)
    scaled = [value / temperature for value in values]
    total = math.fsum(math.exp(value - max(scaled)) for value in scaled)
    assert prediction.total == pytest.approx(total)
    assert prediction.largest == max(scaled)
    for token_id, value in enumerate(scaled):
        expected = math.exp(value - max(scaled)) / total
        assert prediction.probabilities[token_id] == pytest.approx(expected)
    assert prediction.probabilities.sum() == pytest.approx(1)
    order = prediction.best(len(values))
    assert list(order) == sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert [prediction.rank(i) for i in order] == [1 + sum(v > values[i] for v in values) for i in order]
    assert rest(prediction, order[:1]) == pytest.approx(total - 1, abs=1e-9)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_is_positive(temperature: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Prediction(0, None, np.zeros(2)).at(temperature)


def test_a_candidate_carries_the_numbers_of_its_row(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load(tiny_checkpoint, "bert")
    prediction = Prediction(3, 7, np.log(np.array([1.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0])))
    found = candidate(prediction, 1, model.tokenizer)
    assert (found.logit, found.exponential, found.probability) == pytest.approx((math.log(2), 0.5, 2 / 12))
    assert (found.rank, found.word) == (2, model.tokenizer.id_to_token(1))


def test_words_are_readable(tiny_checkpoint: TinyCheckpoint) -> None:
    def read(family: Family, spelt: str) -> str:
        tokenizer = load(tiny_checkpoint, family).tokenizer
        token_id = tokenizer.token_to_id(spelt)
        assert token_id is not None
        return word_of(tokenizer, token_id)

    assert read("bert", "##s") == "##s"
    assert read("gpt2", "Ġthe") == "␣the"
    assert read("gpt2", "Ċ") == "Ċ"  # a line break would break the page
    assert read("gpt2", "Ã") == "Ã"  # half of a character is no text by itself
    assert read("gpt2", "<|endoftext|>") == "<|endoftext|>"
    assert word_of(load(tiny_checkpoint, "bert").tokenizer, 10_000) == "[no word: 10000]"


@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_no_two_words_read_the_same(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    tokenizer = load(tiny_checkpoint, family).tokenizer
    words = [word_of(tokenizer, token_id) for token_id in range(tokenizer.get_vocab_size())]
    assert len(set(words)) == len(words)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(0, 40))
def test_the_best_words_are_the_first_of_all_in_their_order(logits: list[int], k: int) -> None:
    """Equal words, too, which a search for the best few may turn round."""
    prediction = Prediction(0, None, np.array(logits, dtype=np.float64))
    assert prediction.best(k) == tuple(sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:k])
