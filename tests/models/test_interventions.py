"""Interventions equal what an experimenter would do to Hugging Face's module by hand."""

from __future__ import annotations

import math
from contextlib import ExitStack
from functools import partial

import pytest
import torch
from torch import Tensor

from lab.models.interventions import Interventions, Patch, Swap
from lab.models.trace import Trace, swaps, trace
from tests.checkpoints import FAMILIES, HEADS, LAYERS, WINDOW, Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import HEAD_WIDTH, PAIR, SENTENCE, agrees, changed_input, close, masked

HEADS_OF_A_MODEL = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


def _columns(head: int) -> slice:
    return slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)


def _differs(ours: Trace, plain: Trace) -> None:
    assert (ours.output - plain.output).abs().max() > 1e-2, "the intervention changed nothing"


@pytest.mark.parametrize("at", HEADS_OF_A_MODEL)
def test_zeroing_a_head_is_zeroing_its_part_of_the_output_projection(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family, at: tuple[int, int]
) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    theirs.projection_inputs(at[0])[_columns(at[1])] = 0

    ours = trace(model, SENTENCE, PAIR, Interventions(zero_heads=frozenset({at})))
    agrees(ours, theirs.run(SENTENCE, PAIR))
    _differs(ours, trace(model, SENTENCE, PAIR))


def test_zeroing_a_neuron_is_zeroing_what_it_writes(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    for neuron in (3, 40):
        theirs.written_by_neurons(1)[neuron] = 0
    ours = trace(model, SENTENCE, PAIR, Interventions(zero_neurons=frozenset({(1, 3), (1, 40)})))
    agrees(ours, theirs.run(SENTENCE, PAIR))
    _differs(ours, trace(model, SENTENCE, PAIR))


def test_the_mean_of_a_head_is_the_mean_over_this_sentence(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs, chosen = lab_model(family), hugging_face(family), {(0, 2), (1, 0), (1, 3)}

    def averaged(layer: int, context: Tensor) -> Tensor:
        context = context.clone()
        for at, head in chosen:
            if at == layer:
                context[..., _columns(head)] = context[..., _columns(head)].sum(1, True) / context.shape[1]
        return context

    with ExitStack() as stack:
        for layer in range(LAYERS):
            stack.enter_context(changed_input(theirs.output_projection(layer), partial(averaged, layer)))
        outputs = theirs.run(SENTENCE)
    ours = trace(model, SENTENCE, None, Interventions(mean_heads=frozenset(chosen)))
    agrees(ours, outputs)
    _differs(ours, trace(model, SENTENCE))


def test_zeroed_and_averaged_heads_of_one_layer_do_not_mix(lab_model: LabModel) -> None:
    model = lab_model("bert")
    plain = trace(model, SENTENCE).layer(0).context
    both = Interventions(zero_heads=frozenset({(0, 1)}), mean_heads=frozenset({(0, 2)}))
    ours = trace(model, SENTENCE, None, both).layer(0).context

    assert torch.equal(ours[[0, 3]], plain[[0, 3]])
    assert torch.equal(ours[1], torch.zeros_like(plain[1]))
    close(ours[2], plain[2].mean(0).expand_as(plain[2]), 1e-6)


def test_no_positions_is_an_empty_position_table(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    theirs.forget_positions()
    ours = trace(model, SENTENCE, PAIR, Interventions(no_positions=True))
    agrees(ours, theirs.run(SENTENCE, PAIR))
    _differs(ours, trace(model, SENTENCE, PAIR))


@pytest.mark.parametrize("family", ["bert", "bert-headless", "electra", "roberta"])
def test_no_segments_is_an_empty_segment_table(lab_model: LabModel, hugging_face: HuggingFace, family: Family) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    theirs.base.get_parameter("embeddings.token_type_embeddings.weight").data[:] = 0
    ours = trace(model, SENTENCE, PAIR, Interventions(no_segments=True))
    agrees(ours, theirs.run(SENTENCE, PAIR))
    _differs(ours, trace(model, SENTENCE, PAIR))


@pytest.mark.parametrize("family", ["distilbert", "gpt2", "modernbert"])
def test_a_model_without_segments_loses_none(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    without = trace(model, SENTENCE, PAIR, Interventions(no_segments=True))
    assert torch.equal(without.hidden_states, trace(model, SENTENCE, PAIR).hidden_states)


def test_no_scaling_is_a_query_longer_by_the_root_of_its_width(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    for layer in range(LAYERS):
        for parameter in theirs.query_parameters(layer):
            parameter.mul_(math.sqrt(HEAD_WIDTH))
    ours = trace(model, SENTENCE, None, Interventions(no_scaling=True))
    agrees(ours, theirs.run(SENTENCE))
    _differs(ours, trace(model, SENTENCE))


@pytest.mark.parametrize("at", [(0, 0), (1, 2)])
def test_a_uniform_head_has_neither_query_nor_key(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family, at: tuple[int, int]
) -> None:
    model, theirs = lab_model(family), hugging_face(family).edited()
    for parameter in (*theirs.query_parameters(at[0]), *theirs.key_parameters(at[0])):
        parameter[_columns(at[1])] = 0
    ours = trace(model, SENTENCE, None, Interventions(uniform_heads=frozenset({at})))

    agrees(ours, theirs.run(SENTENCE))
    n = len(ours)
    visible = torch.arange(1.0, n + 1) if family == "gpt2" else torch.full((n,), float(n))
    if family == "modernbert" and at[0] == 1:
        visible = torch.tensor([float(min(n, i + WINDOW + 1) - max(0, i - WINDOW)) for i in range(n)])
    close(ours.layer(at[0]).attention[at[1]].amax(-1), 1 / visible, 1e-6)
    _differs(ours, trace(model, SENTENCE))


def test_blocked_pairs_are_a_mask_given_to_hugging_face(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, plain = lab_model(family), trace(lab_model(family), SENTENCE)
    n = len(plain)
    pairs = {(3, 0), (3, 2), (3, 3), (5, 1), (7, 2)} | {(n - 1, key) for key in range(n - 1)}
    mask = torch.zeros(n, n)
    if family == "gpt2":
        mask = torch.full((n, n), -torch.inf).triu(1)
    for query, key in pairs:
        mask[query, key] = -torch.inf
    ours = trace(model, SENTENCE, None, Interventions(blocked=frozenset(pairs)))

    agrees(ours, hugging_face(family).run(SENTENCE, mask=mask))
    assert all((ours.attention[:, :, query, key] == 0).all() for query, key in pairs)
    assert (ours.attention[:, :, n - 1, n - 1] == 1).all()
    _differs(ours, plain)


def _own_mask(family: Family, layer: int, n: int) -> Tensor:
    """What a layer hides anyway, as numbers to add to its scores."""
    mask = torch.zeros(HEADS, n, n)
    if family == "gpt2":
        return mask.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
    if family == "modernbert" and layer == 1:
        far = (torch.arange(n)[:, None] - torch.arange(n)).abs() > WINDOW
        return mask.masked_fill(far, -torch.inf)
    return mask


def test_links_of_a_layer_and_of_a_head_are_a_mask_given_to_hugging_face_there(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family)
    plain = trace(model, SENTENCE)
    n = len(plain)
    pairs, links, in_heads = {(4, 3)}, {(1, 5, 4), (1, 7, 7)}, {(1, 1, 5, 3), (0, 1, 6, 5), (0, 0, 3, 2)}
    ours = trace(
        model,
        SENTENCE,
        None,
        Interventions(blocked=frozenset(pairs), blocked_links=frozenset(links), blocked_in_heads=frozenset(in_heads)),
    )
    with ExitStack() as stack:
        for layer in range(LAYERS):
            mask = _own_mask(family, layer, n)
            for query, key in pairs:
                mask[:, query, key] = -torch.inf
            for _, query, key in (each for each in links if each[0] == layer):
                mask[:, query, key] = -torch.inf
            for _, head, query, key in (each for each in in_heads if each[0] == layer):
                mask[head, query, key] = -torch.inf
            stack.enter_context(masked(theirs, layer, mask))
        agrees(ours, theirs.run(SENTENCE))
    assert ours.layer(0).attention[0, 6, 5] > 0 and ours.layer(0).attention[1, 6, 5] == 0
    _differs(ours, plain)


def test_a_uniform_head_keeps_blocked_pairs_blocked(lab_model: LabModel) -> None:
    both = Interventions(uniform_heads=frozenset({(0, 1)}), blocked=frozenset({(2, 0), (2, 1)}))
    for family in ("bert", "gpt2"):
        row = trace(lab_model(family), SENTENCE, None, both).layer(0).attention[1, 2]
        visible = 1 if family == "gpt2" else len(row) - 2
        assert (row[:2] == 0).all()
        close(row[2 : 2 + visible], torch.full((visible,), 1 / visible), 1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_patch_continues_as_the_upper_layers_would(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs = lab_model(family), hugging_face(family)
    donor = trace(model, "Paris is the capital of France.").hidden_states

    def patched(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, 2], x[:, 4] = donor[1, 1], donor[0, 3]
        return x

    patches = (Patch(1, 2, donor[1, 1]), Patch(1, 4, donor[0, 3]))
    ours = trace(model, SENTENCE, None, Interventions(patches=patches))
    with changed_input(theirs.block(1), patched):
        outputs = theirs.run(SENTENCE)

    close(ours.hidden_states[1], patched(trace(model, SENTENCE).hidden_states[1][None])[0], 0)
    close(ours.layer(1).attention, outputs.attentions[1])
    close(ours.output, outputs.hidden_states[-1])
    _differs(ours, trace(model, SENTENCE))


def test_patches_at_both_ends_of_the_stream(lab_model: LabModel, hugging_face: HuggingFace, family: Family) -> None:
    model, theirs = lab_model(family), hugging_face(family)
    vector = torch.linspace(-1, 1, model.config.width)

    def patched(x: Tensor) -> Tensor:
        return torch.cat([vector.expand(1, 1, -1), x[:, 1:]], dim=1)

    with changed_input(theirs.block(0), patched):
        outputs = theirs.run(SENTENCE)
    first = trace(model, SENTENCE, None, Interventions(patches=(Patch(0, 0, vector),)))
    close(first.output, outputs.hidden_states[-1])

    last = trace(model, SENTENCE, None, Interventions(patches=(Patch(LAYERS, 3, vector),)))
    plain = trace(model, SENTENCE)
    assert torch.equal(last.hidden_states[-1, 3], vector)
    others = [i for i in range(len(plain)) if i != 3]
    assert torch.equal(last.hidden_states[:, others], plain.hidden_states[:, others])


def test_a_swap_gives_one_token_what_heads_bring_in_another_run(
    lab_model: LabModel, hugging_face: HuggingFace, family: Family
) -> None:
    model, theirs, other, chosen = (
        lab_model(family),
        hugging_face(family),
        "Paris is in France.",
        {(0, 1), (0, 3), (1, 2)},
    )
    kept: dict[int, Tensor] = {}

    def keep(layer: int, context: Tensor) -> Tensor:
        kept[layer] = context[0, 4].clone()
        return context

    def swapped(layer: int, context: Tensor) -> Tensor:
        context = context.clone()
        for at, head in chosen:
            if at == layer:
                context[:, 2, _columns(head)] = kept[layer][_columns(head)]
        return context

    for change, text in ((keep, other), (swapped, SENTENCE)):
        with ExitStack() as stack:
            for layer in range(LAYERS):
                stack.enter_context(changed_input(theirs.output_projection(layer), partial(change, layer)))
            outputs = theirs.run(text)
    ours = trace(model, SENTENCE, None, Interventions(swaps=swaps(trace(model, other), chosen, 2, 4)))
    agrees(ours, outputs)
    _differs(ours, trace(model, SENTENCE))


@pytest.mark.parametrize(
    "swap",
    [
        Swap(LAYERS, frozenset({0}), 1, torch.zeros(HEADS, HEAD_WIDTH)),
        Swap(0, frozenset({HEADS}), 1, torch.zeros(HEADS, HEAD_WIDTH)),
        Swap(0, frozenset({0}), 99, torch.zeros(HEADS, HEAD_WIDTH)),
        Swap(0, frozenset({0}), 1, torch.zeros(HEADS + 1, HEAD_WIDTH)),
    ],
)
def test_a_swap_that_does_not_fit_is_refused(lab_model: LabModel, swap: Swap) -> None:
    with pytest.raises(ValueError, match=r"^swaps: "):
        trace(lab_model("bert"), SENTENCE, None, Interventions(swaps=(swap,)))


@pytest.mark.parametrize(
    "changes",
    [
        Interventions(zero_heads=frozenset({(True, 0)})),
        Interventions(zero_neurons=frozenset({(0, 1.0)})),  # type: ignore[arg-type]
        Interventions(blocked=frozenset({(1, False)})),
        Interventions(patches=(Patch(True, 0, torch.zeros(HEADS * HEAD_WIDTH)),)),
    ],
)
def test_only_a_whole_number_counts(lab_model: LabModel, changes: Interventions) -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        trace(lab_model("bert"), SENTENCE, None, changes)


def test_a_global_layer_of_modernbert_is_not_held_to_the_window_of_its_local_layers(lab_model: LabModel) -> None:
    model = lab_model("modernbert")  # layer 0 sees all tokens, layer 1 only some to either side
    n = len(trace(model, SENTENCE))
    near = [(0, key) for key in range(WINDOW + 1)]
    in_global = Interventions(blocked_links=frozenset((0, *pair) for pair in near))
    row = trace(model, SENTENCE, None, in_global).layer(0).attention[:, 0]
    assert (row[:, : WINDOW + 1] == 0).all() and n > WINDOW + 1
    close(row.sum(-1), torch.ones(HEADS), 1e-6)
    for changes in (
        Interventions(blocked=frozenset(near)),
        Interventions(blocked_links=frozenset((1, *p) for p in near)),
    ):
        with pytest.raises(ValueError, match="nothing left to attend to"):
            trace(model, SENTENCE, None, changes)
