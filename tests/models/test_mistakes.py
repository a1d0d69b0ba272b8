"""The classic mistakes: each is what its name says, and the proof names the step where it happens."""

from __future__ import annotations

import copy

import pytest
import torch
import transformers

from lab.models.encoding import Encoding, encode, padded
from lab.models.interventions import Interventions, Patch
from lab.models.loading import LoadedModel
from lab.models.proof import _compare, prove
from lab.models.trace import trace, trace_encoding
from tests.checkpoints import HEADS, LAYERS, WIDTH, Family
from tests.conftest import TinyCheckpoint
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import PAIR, SENTENCE, agrees, close, words


@pytest.fixture(params=("bert", "roberta", "electra", "distilbert", "modernbert"))
def encoder(request: pytest.FixtureRequest) -> Family:
    """Each family that is padded."""
    chosen: Family = request.param
    return chosen


FIRST_STEPS = (
    (Interventions(no_values=True), "value"),
    (Interventions(no_scaling=True), "scaled_scores"),
    (Interventions(softmax_over_queries=True), "attention"),
    (Interventions(no_output_projection=True), "attention_output"),
    (Interventions(other_gelu=True), "ffn_activation"),
)


@pytest.mark.parametrize(("mistake", "step"), FIRST_STEPS, ids=[step for _, step in FIRST_STEPS])
def test_the_proof_names_the_step_of_a_mistake(
    lab_model: LabModel, family: Family, mistake: Interventions, step: str
) -> None:
    model = lab_model(family)
    proof = prove(model, trace(model, SENTENCE, PAIR, mistake))

    failure = proof.first_failure
    assert not proof.passed and failure is not None
    assert (failure.step, failure.layer) == (step, 0)
    assert proof.largest_difference >= failure.difference > 1e-4


def test_a_forgotten_mask_shows_where_something_is_hidden(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    proof = prove(model, trace(model, SENTENCE, None, Interventions(no_causal_mask=True)))
    if family in ("gpt2", "modernbert"):
        assert proof.first_failure is not None
        place = 0 if family == "gpt2" else 1  # the local layer
        assert (proof.first_failure.step, proof.first_failure.layer) == ("scaled_scores", place)
    else:
        assert proof.passed


@pytest.mark.parametrize(
    ("changes", "step", "layer"),
    [
        (Interventions(no_positions=True), "embeddings.position", None),
        (Interventions(no_segments=True), "embeddings.segment", None),
        (Interventions(zero_heads=frozenset({(1, 2)})), "context_concat", 1),
        (Interventions(mean_heads=frozenset({(0, 2)})), "context_concat", 0),
        (Interventions(uniform_heads=frozenset({(1, 0)})), "scaled_scores", 1),
        (Interventions(blocked=frozenset({(1, 2)})), "scaled_scores", 0),
        (Interventions(patches=(Patch(1, 2, torch.ones(WIDTH)),)), "query", 1),
        (Interventions(patches=(Patch(LAYERS, 0, torch.ones(WIDTH)),)), "output", None),
    ],
)
def test_the_proof_names_the_step_of_an_intervention(
    lab_model: LabModel, changes: Interventions, step: str, layer: int | None
) -> None:
    model = lab_model("bert")
    failure = prove(model, trace(model, SENTENCE, PAIR, changes)).first_failure
    assert failure is not None and (failure.step, failure.layer) == (step, layer)


def test_forgotten_turns_show_in_the_queries(lab_model: LabModel) -> None:
    model = lab_model("modernbert")
    failure = prove(model, trace(model, SENTENCE, PAIR, Interventions(no_positions=True))).first_failure
    assert failure is not None and (failure.step, failure.layer) == ("query", 0)


def test_no_mask_is_gpt2_with_an_open_mask(lab_model: LabModel, hugging_face: HuggingFace) -> None:
    ours = trace(lab_model("gpt2"), SENTENCE, None, Interventions(no_causal_mask=True))
    agrees(ours, hugging_face("gpt2").run(SENTENCE, mask=torch.zeros(len(ours), len(ours))))


def _padded(model: LoadedModel, count: int) -> Encoding:
    encoding = padded(model, encode(model.tokenizer, model.config, SENTENCE), count)
    assert encoding is not None
    return encoding


@pytest.mark.parametrize("masked", [True, False])
def test_padding_is_masked_as_hugging_face_masks_it(
    lab_model: LabModel, hugging_face: HuggingFace, encoder: Family, masked: bool
) -> None:
    model, theirs = lab_model(encoder), hugging_face(encoder)
    encoding = _padded(model, 3)
    ours = trace_encoding(model, encoding, Interventions(no_padding_mask=not masked))
    asked = theirs.tokenize(SENTENCE, padding="max_length", max_length=len(encoding), return_tensors="pt")
    assert asked["input_ids"][0].tolist() == list(encoding.token_ids)
    assert asked["attention_mask"][0].tolist() == [1] * (len(encoding) - 3) + [0] * 3
    if not masked:
        asked = {**asked, "attention_mask": torch.ones_like(asked["attention_mask"])}
    agrees(ours, theirs.run_ids(**asked))


def test_the_mask_keeps_padding_from_changing_anything(lab_model: LabModel, encoder: Family) -> None:
    model = lab_model(encoder)
    plain, encoding = trace(model, SENTENCE), _padded(model, 4)
    n = len(plain)
    right = trace_encoding(model, encoding)
    broken = trace_encoding(model, encoding, Interventions(no_padding_mask=True))
    assert right.layer(0).attention[:, :, n:].max() == 0
    close(right.hidden_states[:, :n], plain.hidden_states)
    assert broken.layer(0).attention[:, :, n:].min() > 0
    assert (broken.hidden_states[-1, :n] - plain.hidden_states[-1]).abs().max() > 1e-3
    assert prove(model, right).passed
    failure = prove(model, broken).first_failure
    assert failure is not None and (failure.step, failure.layer) == ("scaled_scores", 0)


def test_padding_is_refused_where_there_is_no_token_or_no_room(lab_model: LabModel) -> None:
    bert, gpt2 = lab_model("bert"), lab_model("gpt2")
    full = encode(bert.tokenizer, bert.config, words(900))
    assert padded(bert, full, 1) is None
    assert padded(gpt2, encode(gpt2.tokenizer, gpt2.config, SENTENCE), 1) is None


def test_no_values_is_a_value_matrix_of_zeros(lab_model: LabModel, hugging_face: HuggingFace, family: Family) -> None:
    theirs = hugging_face(family).edited()
    for layer in range(LAYERS):
        theirs.value_parameters(layer)[0][:] = 0
    ours = trace(lab_model(family), SENTENCE, None, Interventions(no_values=True))
    agrees(ours, theirs.run(SENTENCE))
    # Whatever the weights are, every token takes home the same.
    context = ours.layer(0).context
    close(context, context[:, :1].expand_as(context), 1e-6)


def test_no_output_projection_is_an_identity_in_its_place(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    theirs = hugging_face(family).edited()
    for layer in range(LAYERS):
        theirs.projection_inputs(layer)[:] = torch.eye(WIDTH)
        if family != "modernbert":
            theirs.output_projection(layer).get_parameter("bias").data[:] = 0
    ours = trace(lab_model(family), SENTENCE, None, Interventions(no_output_projection=True))
    agrees(ours, theirs.run(SENTENCE))


@pytest.mark.parametrize(("family", "other"), [("bert", "gelu_new"), ("roberta", "gelu_new"), ("gpt2", "gelu")])
def test_the_other_gelu_is_the_other_gelu(
    lab_model: LabModel, hugging_face: HuggingFace, tiny_checkpoint: TinyCheckpoint, family: Family, other: str
) -> None:
    config = copy.deepcopy(hugging_face(family).module.config)
    setattr(config, "activation_function" if family == "gpt2" else "hidden_act", other)
    module = transformers.AutoModel.from_pretrained(
        tiny_checkpoint(family), config=config, attn_implementation="eager"
    ).eval()
    ours = trace(lab_model(family), SENTENCE, None, Interventions(other_gelu=True))
    with torch.inference_mode():
        close(ours.output, module(torch.tensor([ours.token_ids])).last_hidden_state[0])


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_softmax_over_queries_makes_columns_sum_to_one(lab_model: LabModel, family: Family) -> None:
    ours = trace(lab_model(family), SENTENCE, None, Interventions(softmax_over_queries=True)).layer(0)
    grown = ours.scaled_scores.exp()
    close(ours.attention, grown / grown.sum(1, keepdim=True), 1e-6)
    close(ours.context, torch.einsum("hij,hjd->hid", ours.attention, ours.value), 1e-5)


def test_no_intervention_is_the_plain_run_to_the_bit(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    plain, explicit = trace(model, SENTENCE, PAIR), trace(model, SENTENCE, PAIR, Interventions())
    assert torch.equal(explicit.hidden_states, plain.hidden_states)
    for number in range(LAYERS):
        ours, again = plain.layer(number), explicit.layer(number)
        assert torch.equal(ours.attention, again.attention)
        # The layer recomputed for a look is the layer that ran.
        assert torch.equal(ours.output, plain.hidden_states[number + 1])
    if model.weights.vocabulary_head is not None:
        assert torch.equal(plain.logits(0), explicit.logits(0))


def test_an_intervention_leaves_the_model_as_it_was(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    before = trace(model, SENTENCE, PAIR).hidden_states
    everything = Interventions(
        zero_heads=frozenset({(0, 0)}),
        mean_heads=frozenset({(0, 1)}),
        uniform_heads=frozenset({(0, 2)}),
        zero_neurons=frozenset({(0, 5)}),
        blocked=frozenset({(1, 0)}),
        patches=(Patch(1, 1, torch.zeros(WIDTH)),),
        no_positions=True,
        no_segments=True,
        no_scaling=True,
        no_output_projection=True,
        other_gelu=True,
    )
    trace(model, SENTENCE, PAIR, everything).layer(1)
    assert torch.equal(trace(model, SENTENCE, PAIR).hidden_states, before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (Interventions(zero_heads=frozenset({(LAYERS, 0)})), f"zero_heads: there is no head 0 in layer {LAYERS}"),
        (Interventions(mean_heads=frozenset({(0, HEADS)})), f"mean_heads: there is no head {HEADS} in layer 0"),
        (Interventions(uniform_heads=frozenset({(-1, 0)})), "uniform_heads: there is no head 0 in layer -1"),
        (Interventions(zero_neurons=frozenset({(0, 9999)})), "zero_neurons: there is no neuron 9999 in layer 0"),
        (Interventions(blocked=frozenset({(0, 99)})), r"blocked: token pair \(0, 99\) is outside the 5 tokens"),
        (Interventions(blocked=frozenset({(-1, 0)})), r"blocked: token pair \(-1, 0\) is outside"),
        (Interventions(blocked=frozenset((2, key) for key in range(5))), "token 2 would have nothing left"),
        (Interventions(blocked_links=frozenset({(LAYERS, 0, 1)})), f"no head 0 in a layer {LAYERS}"),
        (Interventions(blocked_in_heads=frozenset({(0, HEADS, 0, 1)})), f"no head {HEADS} in a layer 0"),
        (Interventions(blocked_links=frozenset({(0, 0, 9)})), r"blocked: token pair \(0, 9\) is outside"),
        (
            Interventions(
                blocked=frozenset({(2, 0), (2, 1)}),
                blocked_links=frozenset({(1, 2, 2), (1, 2, 3)}),
                blocked_in_heads=frozenset({(1, 3, 2, 4)}),
            ),
            "token 2 would have nothing left to attend to in head 3 of layer 1",
        ),
        (Interventions(patches=(Patch(LAYERS + 1, 0, torch.zeros(WIDTH)),)), "no hidden state 3 of token 0"),
        (Interventions(patches=(Patch(0, 5, torch.zeros(WIDTH)),)), "no hidden state 0 of token 5"),
        (Interventions(patches=(Patch(0, 0, torch.zeros(3)),)), rf"must have shape \({WIDTH},\)"),
    ],
)
def test_what_does_not_exist_cannot_be_changed(lab_model: LabModel, changes: Interventions, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(lab_model("bert"), "The cat sat", None, changes)


def test_a_causal_token_may_not_lose_all_it_sees(lab_model: LabModel) -> None:
    model = lab_model("gpt2")
    with pytest.raises(ValueError, match="token 0 would have nothing left"):
        trace(model, SENTENCE, None, Interventions(blocked=frozenset({(0, 0)})))
    later = Interventions(blocked=frozenset({(0, key) for key in range(1, 5)}))
    assert torch.equal(trace(model, SENTENCE, None, later).hidden_states, trace(model, SENTENCE).hidden_states), (
        "the causal mask hides these already"
    )


@pytest.mark.parametrize("place", [(0, 0), (2, 1)])
def test_a_number_that_is_none_is_a_difference(place: tuple[int, int]) -> None:
    """nan in one row of ours, wherever it stands; a masked score, -inf on both sides, is no difference."""
    theirs = torch.tensor([[1.0, -torch.inf], [3.0, -4.0], [5.0, 2.0]])
    same = _compare("scores", 0, theirs.clone(), theirs)
    assert (same.difference, same.largest, same.passed) == (0.0, 5.0, True)
    ours = theirs.clone()
    ours[place] = torch.nan
    assert not _compare("scores", 0, ours, theirs).passed


def test_the_largest_difference_of_all_rows_counts() -> None:
    theirs = torch.zeros(3, 2, 2)
    ours = theirs.clone()
    ours[1, 0, 1], ours[2, 1, 0] = -0.25, 0.125
    found = _compare("attention", 1, ours, theirs)
    assert (found.difference, found.shape, found.largest) == (0.25, (3, 2, 2), 0.0)
    assert _compare("pair_logits", None, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5])).difference == 0.5
