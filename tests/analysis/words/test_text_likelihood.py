"""Likelihoods against a naive loop through Hugging Face's own models."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from lab.analysis.words import text_likelihood as module_under_test
from lab.analysis.words.text_likelihood import Likelihood, likelihood
from lab.models.encoding import Encoding, encode
from lab.models.loading import LoadedModel, load_model
from tests.checkpoints import POSITIONS, Family
from tests.conftest import TinyCheckpoint

TEXT, PAIR = "The unhappily café 🙂 doesn't wait for the cat.", "It was tired, so the dog laughed."
MASKED: tuple[Family, ...] = ("bert", "distilbert", "roberta", "modernbert")
TOLERANCE = 1e-4


def encoded(
    tiny_checkpoint: TinyCheckpoint, family: Family, text: str, pair: str | None
) -> tuple[LoadedModel, Encoding]:
    model = load_model(tiny_checkpoint(family))
    return model, encode(model.tokenizer, model.config, text, pair)


def every_step(model: LoadedModel, encoding: Encoding) -> list[Likelihood]:
    return list(likelihood(model, encoding))


def theirs(
    tiny_checkpoint: TinyCheckpoint, family: Family, pair: str | None
) -> tuple[nn.Module, dict[str, Tensor], int]:
    """Hugging Face's model, its own encoding of the text, and the id of its mask (-1 for GPT-2)."""
    import transformers

    folder = tiny_checkpoint(family)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    auto = transformers.AutoModelForCausalLM if family == "gpt2" else transformers.AutoModelForMaskedLM
    mask = -1 if family == "gpt2" else tokenizer.mask_token_id
    return auto.from_pretrained(folder).eval(), dict(tokenizer(TEXT, pair, return_tensors="pt")), mask


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize("pair", [None, PAIR])
def test_each_token_hidden_in_turn(tiny_checkpoint: TinyCheckpoint, family: Family, pair: str | None) -> None:
    module, inputs, mask = theirs(tiny_checkpoint, family, pair)
    model, encoding = encoded(tiny_checkpoint, family, TEXT, pair)
    ours = every_step(model, encoding)[-1]
    ordinary = [i for i in range(len(encoding)) if not encoding.special[i]]
    assert [score.place for score in ours.scores] == ordinary
    total = 0.0
    for score in ours.scores:
        hidden = inputs["input_ids"].clone()
        truth = int(hidden[0, score.place])
        hidden[0, score.place] = mask
        with torch.inference_mode():
            logits = module(**{**inputs, "input_ids": hidden}).logits[0, score.place]
        logs = logits.double().log_softmax(-1)
        total += float(logs[truth])
        assert score.token_id == truth
        assert score.log_probability == pytest.approx(float(logs[truth]), abs=TOLERANCE)
        assert score.probability == pytest.approx(float(logs[truth].exp()), abs=TOLERANCE)
        assert score.rank == 1 + int((logits > logits[truth]).sum())
        assert score.best == int(logits.argmax())
    assert ours.pseudo
    assert ours.total == pytest.approx(total, abs=TOLERANCE * len(ordinary))
    assert ours.perplexity == pytest.approx(math.exp(-total / len(ordinary)), rel=1e-3)


def test_a_causal_models_sum_is_hugging_faces_loss(tiny_checkpoint: TinyCheckpoint) -> None:
    module, inputs, _ = theirs(tiny_checkpoint, "gpt2", None)
    with torch.inference_mode():
        out = module(**inputs, labels=inputs["input_ids"])
    model, encoding = encoded(tiny_checkpoint, "gpt2", TEXT, None)
    ours = every_step(model, encoding)[-1]
    assert not ours.pseudo
    assert [score.place for score in ours.scores] == list(range(1, len(encoding)))  # nothing predicts the first
    # The loss is the mean negative log-likelihood of every token but the first.
    assert ours.total == pytest.approx(-float(out.loss) * (len(encoding) - 1), abs=1e-3)
    assert ours.perplexity == pytest.approx(math.exp(float(out.loss)), rel=1e-4)
    for score in ours.scores:
        before = out.logits[0, score.place - 1]
        assert score.rank == 1 + int((before > before[score.token_id]).sum())
        assert score.best == int(before.argmax())


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_batches_change_nothing_but_how_often_it_reports(
    tiny_checkpoint: TinyCheckpoint, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, encoding = encoded(tiny_checkpoint, family, TEXT, None)
    (whole,) = every_step(model, encoding)
    monkeypatch.setattr(module_under_test, "_ROWS_AT_ONCE", 3)
    steps = every_step(model, encoding)
    assert len(steps) == math.ceil(whole.wanted / 3)
    assert all(later.scores[: len(earlier.scores)] == earlier.scores for earlier, later in pairwise(steps))
    assert [len(step.scores) for step in steps] == [min(3 * (i + 1), whole.wanted) for i in range(len(steps))]
    assert steps[0].done == pytest.approx(3 / whole.wanted)
    assert steps[-1].done == 1
    assert steps[-1].total == pytest.approx(whole.total, abs=TOLERANCE)
    assert steps[-1].by_place.keys() == whole.by_place.keys()


def test_a_batch_holds_no_more_tokens_than_the_longest_text(
    tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, encoding = encoded(tiny_checkpoint, "bert", "the cat sat " * 40, None)
    sizes: list[int] = []
    run_layer = module_under_test.forward.run_layer

    def counted(x: Tensor, *rest: object) -> object:
        sizes.append(x.shape[0] * x.shape[1])
        return run_layer(x, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module_under_test.forward, "run_layer", counted)
    steps = likelihood(model, encoding)
    next(steps)
    next(steps)
    assert len(encoding) == 122
    assert set(sizes) == {POSITIONS // 122 * 122}


def test_typed_masks_are_not_scored_and_stay(tiny_checkpoint: TinyCheckpoint) -> None:
    model, encoding = encoded(tiny_checkpoint, "bert", "The [MASK] sat on the mat", None)
    ours = every_step(model, encoding)[-1]
    masks = [i for i, token in enumerate(encoding.tokens) if token == "[MASK]"]
    assert len(masks) == 1
    assert not set(masks) & set(ours.by_place)
    assert len(ours.scores) == len(encoding) - 3  # [CLS], [SEP], the mask


def test_what_cannot_be_scored_says_why(tiny_checkpoint: TinyCheckpoint) -> None:
    with pytest.raises(ValueError, match="no token to score"):
        likelihood(*encoded(tiny_checkpoint, "bert", "[MASK]", None))
    with pytest.raises(ValueError, match="no token to score"):
        likelihood(*encoded(tiny_checkpoint, "gpt2", "a", None))
    headless = likelihood(*encoded(tiny_checkpoint, "bert-headless", TEXT, None))
    with pytest.raises(ValueError, match="vocabulary head"):
        next(headless)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_stopped_scoring_goes_on_where_it_was(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    model, encoding = encoded(tiny_checkpoint, family, TEXT, PAIR)
    whole = every_step(model, encoding)[-1]
    rest = list(likelihood(model, encoding, whole.scores[:5]))[-1]
    assert [score.place for score in rest.scores] == [score.place for score in whole.scores]
    assert rest.total == pytest.approx(whole.total, abs=TOLERANCE)
    assert rest.finished and rest.mean == pytest.approx(whole.total / len(whole.scores), abs=TOLERANCE)
    assert not list(likelihood(model, encoding, whole.scores))
    with pytest.raises(ValueError, match="another text"):
        likelihood(model, encoding, whole.scores[1:])
