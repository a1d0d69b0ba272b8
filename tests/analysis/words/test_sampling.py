"""Temperature, top-k, top-p and the draw: distributions worked by hand, and Hugging Face's warpers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.analysis.words.predictions import Prediction, next_prediction
from lab.analysis.words.sampling import Sampling, SamplingSettings, continue_text, sample
from lab.models.encoding import Encoding, encode
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace_encoding
from tests.checkpoints import POSITIONS
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the"


def of(*probabilities: float) -> Prediction:
    """A prediction whose softmax is ``probabilities``."""
    return Prediction(0, None, np.log(np.array(probabilities)))


def kept(sampling: Sampling) -> list[int]:
    return [int(i) for i in sampling.kept]


@pytest.mark.parametrize(
    ("top_p", "expected"),
    [(1e-15, [0]), (0.3, [0]), (0.5, [0]), (0.51, [0, 1]), (0.8, [0, 1]), (0.81, [0, 1, 2]), (0.999, [0, 1, 2, 3])],
)
def test_top_p_keeps_the_fewest_words_that_reach_it(top_p: float, expected: list[int]) -> None:
    assert kept(sample(of(0.5, 0.3, 0.15, 0.05), SamplingSettings(top_p=top_p))) == expected


def test_rounding_adds_no_word_to_the_nucleus() -> None:
    assert 0.7 + 0.1 < 0.8
    assert kept(sample(of(0.7, 0.1, 0.1, 0.1), SamplingSettings(top_p=0.8))) == [0, 1]


def test_of_equal_words_the_lower_id_stays() -> None:
    even = of(0.25, 0.25, 0.25, 0.25)
    assert kept(sample(even, SamplingSettings(top_k=2))) == [0, 1]
    assert kept(sample(even, SamplingSettings(top_p=0.5))) == [0, 1]
    assert kept(sample(even, SamplingSettings(top_p=0.6))) == [0, 1, 2]
    assert kept(sample(of(0.2, 0.3, 0.2, 0.3), SamplingSettings(top_k=3))) == [1, 3, 0]
    many = np.arange(1024.0) % 3  # short arrays come out in order by luck
    by_hand = [i for value in (2, 1, 0) for i in range(1024) if i % 3 == value]
    assert sample(Prediction(0, None, many), SamplingSettings()).order.tolist() == by_hand


def test_a_top_p_of_1_keeps_what_rounds_to_nothing() -> None:
    assert kept(sample(of(1 - 1e-14, 1e-14), SamplingSettings())) == [0, 1]


@pytest.mark.parametrize("temperature", [0, -1, 0.009, math.inf, math.nan])
def test_an_impossible_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="top_k = 1 always takes the most probable"):
        SamplingSettings(temperature=temperature)


def test_an_impossible_k_or_p_is_refused() -> None:
    with pytest.raises(ValueError, match="top_k must keep at least 1 word, not 0"):
        SamplingSettings(top_k=0)
    for top_p in (0, -0.1, 1.01, math.nan):
        with pytest.raises(ValueError, match="top_p must be above 0"):
            SamplingSettings(top_p=top_p)


@given(st.integers(0, 10_000), st.floats(0.1, 3), st.integers(1, 40), st.floats(0.05, 0.99))
def test_shares_are_hugging_faces(seed: int, temperature: float, top_k: int, top_p: float) -> None:
    from transformers.generation import logits_process as theirs

    logits = np.random.default_rng(seed).normal(scale=2, size=40)
    scores = torch.tensor(logits)[None]
    for warp in (
        theirs.TemperatureLogitsWarper(temperature),
        theirs.TopKLogitsWarper(top_k),
        theirs.TopPLogitsWarper(top_p),
    ):
        scores = warp(torch.zeros(1, 1, dtype=torch.long), scores)
    found = sample(Prediction(0, None, logits), SamplingSettings(temperature, top_k, top_p))
    assert np.abs(found.shares - scores.softmax(-1)[0].numpy()).max() < 1e-9
    assert found.shares.sum() == pytest.approx(1)
    assert (found.by_top_p <= found.by_top_k).all()


def test_the_number_falls_on_the_shares_end_to_end() -> None:
    # Ordered and shared out: word 2 has 0 to 5/8, word 0 from there to 1; word 1 is not in it.
    found = sample(of(0.3, 0.2, 0.5), SamplingSettings(top_k=2))
    assert [found.drawn(number) for number in (0, 0.624, 0.626, 1 - 1e-16)] == [2, 2, 0, 0]
    # The end of one share is the start of the next.
    assert sample(of(0.5, 0.5), SamplingSettings()).drawn(0.5) == 1
    for outside in (-0.1, 1):
        with pytest.raises(ValueError, match="from 0 to below 1"):
            found.drawn(outside)


def test_draws_are_as_frequent_as_the_shares() -> None:
    found = sample(of(0.4, 0.3, 0.2, 0.1), SamplingSettings(top_k=3))
    draws, random = 20_000, np.random.default_rng(0)
    counts = np.bincount([found.drawn(number) for number in random.random(draws)], minlength=4)
    expected = draws * np.array([4, 3, 2]) / 9
    assert counts[3] == 0
    # χ² with 2 degrees of freedom stays below 13.8 in 999 of 1000 seeds.
    assert ((counts[:3] - expected) ** 2 / expected).sum() < 13.8


def start(tiny_checkpoint: TinyCheckpoint, text: str = TEXT) -> tuple[LoadedModel, Encoding]:
    model = load_model(tiny_checkpoint("gpt2"))
    return model, encode(model.tokenizer, model.config, text)


def test_greedy_is_hugging_faces_generate(tiny_checkpoint: TinyCheckpoint) -> None:
    import transformers

    folder = tiny_checkpoint("gpt2")
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    module = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    # No end of text: generate runs on to its length as long as ours draws none.
    expected = module.generate(**inputs, max_new_tokens=12, do_sample=False, pad_token_id=0)[0].tolist()
    model, encoding = start(tiny_checkpoint)
    steps = list(continue_text(model, encoding, 12, SamplingSettings(top_k=1), seed=5))
    assert list(steps[-1].encoding.token_ids) == expected
    assert steps[-1].drawn == model.tokenizer.decode(expected[len(encoding) :], skip_special_tokens=False)


def test_every_step_is_the_next_prediction(tiny_checkpoint: TinyCheckpoint) -> None:
    model, encoding = start(tiny_checkpoint)
    settings = SamplingSettings(temperature=0.8, top_k=20, top_p=0.9)
    before = encoding
    for step in continue_text(model, encoding, 5, settings, seed=1):
        expected = sample(next_prediction(trace_encoding(model, before), len(before) - 1), settings)
        assert np.array_equal(step.sampling.shares, expected.shares)
        assert step.token_id == expected.drawn(step.number)
        assert expected.shares[step.token_id] > 0
        before = step.encoding
        assert before.token_ids[-1] == step.token_id
        assert before.offsets[-1] == (len(TEXT), len(TEXT))
        lengths = {len(getattr(before, name)) for name in ("tokens", "token_ids", "segment_ids", "word_ids", "special")}
        assert lengths == {len(before)}


def test_the_seed_decides_the_draws(tiny_checkpoint: TinyCheckpoint) -> None:
    model, encoding = start(tiny_checkpoint)

    def drawn(seed: int) -> list[int]:
        return [step.token_id for step in continue_text(model, encoding, 8, SamplingSettings(2.0), seed)]

    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(seed)) for seed in range(4)}) == 4


def test_it_ends_at_the_end_of_text_and_at_the_longest_text(tiny_checkpoint: TinyCheckpoint) -> None:
    model, encoding = start(tiny_checkpoint, "the cat " * 600)
    assert len(encoding) == POSITIONS
    assert list(continue_text(model, encoding, 4, SamplingSettings(), 0)) == []
    end = model.tokenizer.token_to_id("<|endoftext|>")
    assert end is not None
    model, encoding = start(tiny_checkpoint)
    hot = SamplingSettings(temperature=50)  # about even: of 450 words the end comes up in a few hundred draws
    drawn = next(
        tokens
        for seed in range(100)
        if end in (tokens := [step.token_id for step in continue_text(model, encoding, 20, hot, seed)])
    )
    assert drawn.index(end) == len(drawn) - 1


def test_a_model_of_both_directions_is_refused(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint("bert"))
    encoding = encode(model.tokenizer, model.config, TEXT)
    with pytest.raises(ValueError, match="reads both directions"):
        continue_text(model, encoding, 1, SamplingSettings(), 0)
