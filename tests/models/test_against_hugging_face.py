"""A plain run gives Hugging Face's numbers: by the lab's own proof, and beside a module loaded here."""

from __future__ import annotations

import itertools

import pytest
import torch
from transformers import ElectraForPreTraining

from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.trace import trace
from tests.checkpoints import LAYERS, Family
from tests.conftest import TinyCheckpoint
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import PAIR, SENTENCE, TOLERANCE, WORD_COUNTS, agrees, close, words

BERT_STEPS = (
    "query",
    "key",
    "value",
    "scores",
    "scaled_scores",
    "attention",
    "context_concat",
    "attention_output",
    "attention_residual",
    "attention_norm",
    "ffn_hidden",
    "ffn_activation",
    "ffn_output",
    "ffn_residual",
    "output",
)
GPT2_STEPS = (
    "input_norm",
    "query",
    "key",
    "value",
    "scores",
    "scaled_scores",
    "attention",
    "context_concat",
    "attention_output",
    "attention_residual",
    "ffn_input_norm",
    "ffn_hidden",
    "ffn_activation",
    "ffn_output",
    "output",
)
MODERNBERT_STEPS = tuple(
    step for step in GPT2_STEPS for step in ((step, "ffn_gate") if step == "ffn_hidden" else (step,))
)
# What a family embeds, in front of the layers, and what it computes after them.
FIRST = {
    "distilbert": ("token", "position", "sum", "norm", "output"),
    "gpt2": ("token", "position", "sum", "output"),
    "modernbert": ("token", "sum", "norm", "output"),
}
LAST = {
    "bert": ("output", "logits", "pair_logits"),
    "bert-headless": ("output",),
    "electra": ("output", "replaced_logits"),
}


# Other weights show nothing new in a text that fills the window, and take longest.
FULL = WORD_COUNTS[-1]


@pytest.mark.parametrize(
    ("seed", "pair", "count"),
    [*itertools.product((0, 1), (None, PAIR), WORD_COUNTS[:-1]), (0, PAIR, FULL)],
)
def test_every_step_of_every_family_is_proven(
    lab_model: LabModel, family: Family, seed: int, pair: str | None, count: int
) -> None:
    model = lab_model(family, seed)
    proof = prove(model, trace(model, words(count), pair))

    assert proof.passed and proof.first_failure is None
    assert max(row.difference for row in proof.rows) <= TOLERANCE


def test_the_proof_leaves_no_step_out(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    rows = prove(model, trace(model, SENTENCE, PAIR)).rows

    embedded = FIRST.get(family, ("token", "position", "segment", "sum", "norm", "output"))
    steps = {"gpt2": GPT2_STEPS, "modernbert": MODERNBERT_STEPS}.get(family, BERT_STEPS)
    expected: list[tuple[str, int | None]] = [(f"embeddings.{name}", None) for name in embedded]
    expected += [(step, layer) for layer in range(LAYERS) for step in steps]
    if family == "modernbert":
        expected.remove(("input_norm", 0))  # the embeddings have just been through a LayerNorm
    expected += [(name, None) for name in LAST.get(family, ("output", "logits"))]
    assert [(row.step, row.layer) for row in rows] == expected


@pytest.mark.parametrize(
    ("seed", "pair", "count"),
    [
        *itertools.product((0, 1), (None, PAIR), WORD_COUNTS[:-1]),
        *itertools.product((0,), (None, PAIR, words(700)), (1, FULL)),
    ],
)
def test_ids_states_attentions_and_logits_are_theirs(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family, seed: int, pair: str | None, count: int
) -> None:
    theirs = hugging_face(family, seed)
    ours = trace(lab_model(family, seed), words(count), pair)
    encoded = theirs.tokenize(words(count), pair, truncation=True)

    assert list(ours.token_ids) == encoded["input_ids"]
    assert len(ours) == 512 or count < 900
    if family in ("bert", "electra"):
        assert list(ours.segment_ids) == encoded["token_type_ids"]
    agrees(ours, theirs.run(words(count), pair))


def test_a_single_token_and_the_exact_limit(lab_model: LabModel, hugging_face: HuggingFace) -> None:
    model, theirs = lab_model("gpt2"), hugging_face("gpt2")
    assert len(trace(model, "a")) == 1
    agrees(trace(model, "a"), theirs.run("a"))
    for count, cut in ((512, 0), (513, 1)):
        ours = trace(model, "a" + " a" * (count - 1))
        assert (len(ours), ours.encoding.cut) == (512, cut)
        agrees(ours, theirs.run(ours.text))


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "gpt2", "modernbert"])
def test_logits_only_at_the_positions_asked_for(lab_model: LabModel, hugging_face: HuggingFace, family: Family) -> None:
    ours, logits = trace(lab_model(family), SENTENCE), hugging_face(family).run(SENTENCE).logits
    assert logits is not None
    close(ours.logits([5, 0, 5]), logits[[5, 0, 5]])
    close(ours.logits(3), logits[3:4])
    close(ours.logits(-1), logits[-1:])
    assert ours.logits([]).shape == (0, logits.shape[1])
    with pytest.raises(IndexError):
        ours.logits(len(ours))


@pytest.mark.parametrize("family", ["bert-headless", "electra"])
def test_without_a_head_there_are_no_words_and_it_says_so(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    ours = trace(model, SENTENCE)
    with pytest.raises(ValueError, match=rf"^{model.id} .* vocabulary head"):
        ours.logits(0)
    with pytest.raises(ValueError, match=rf"{model.id} came without a next-sentence head"):
        _ = ours.pair_logits


def test_a_typed_padding_token_takes_robertas_padding_position(lab_model: LabModel, hugging_face: HuggingFace) -> None:
    text = "The cat<pad> sat<pad><pad> down"
    theirs = hugging_face("roberta")
    ours = trace(lab_model("roberta"), text)
    assert ours.token_ids.count(1) == 3
    # All ones, or Hugging Face would also hide the padding from attention.
    everything = torch.ones(1, len(ours), dtype=torch.long)
    agrees(ours, theirs.run_ids(input_ids=torch.tensor([ours.token_ids]), attention_mask=everything))


def test_a_proof_refuses_another_models_trace(lab_model: LabModel) -> None:
    ours = trace(lab_model("bert"), SENTENCE)
    with pytest.raises(ValueError, match="this trace was made by"):
        prove(lab_model("bert", 1), ours)


def test_the_table_of_a_proof_has_a_line_a_step(lab_model: LabModel) -> None:
    model = lab_model("bert")
    proof = prove(model, trace(model, SENTENCE))
    frame = proof.frame()
    assert list(frame.columns) == ["step", "layer", "shape", "difference", "largest", "passed"]
    assert len(frame) == len(proof.rows) and frame["passed"].all()
    assert frame["difference"].max() == proof.largest_difference


@pytest.mark.parametrize("seed", [0, 1])
def test_electra_tells_replaced_tokens_as_hugging_face_does(tiny_checkpoint: TinyCheckpoint, seed: int) -> None:
    folder = tiny_checkpoint("electra", seed)
    run = trace(load_model(folder), SENTENCE, PAIR)
    module = ElectraForPreTraining.from_pretrained(folder).eval()
    inputs = {"input_ids": torch.tensor([run.token_ids]), "token_type_ids": torch.tensor([run.segment_ids])}
    with torch.inference_mode():
        theirs = module(**inputs).logits[0]

    close(run.replaced_logits, theirs)
    assert theirs.std() > 0.1  # not a constant that anything would match


def test_only_electra_has_a_replaced_token_head(lab_model: LabModel) -> None:
    with pytest.raises(ValueError, match="replaced-token head"):
        _ = trace(lab_model("bert"), SENTENCE).replaced_logits
