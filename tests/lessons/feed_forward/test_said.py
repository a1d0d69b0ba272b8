"""What lesson 8 says of a model: every sentence's numbers counted again, and said only where they hold."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import active_on_words, most_its_own
from lab.analysis.layers.neurons_off import neurons_off
from lab.analysis.layers.sublayers import NormSteps, layer_norms, norm_steps, sublayer_changes
from lab.course.words import quoted
from lab.lessons.feed_forward import aimed_at, changes, excited_by, in_the_blank, layer_norm, neurons, order, residual
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.trace import trace
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy
from tests.sentences import BOYS, KEYS, STORY

TEXTS = ("The sleepy cat sat on the mat.", STORY)
CAT = 4


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_odd_about_lab_bert_is_said(text: str) -> None:
    model = load_model("lab-bert")
    run, twin = trace(model, text), trace(random_twin(model), text)
    after, before = (sublayer_changes(each).relative[:, 1, CAT] for each in (run, twin))
    said = changes.much_added(after, before, sublayer_changes(run).cosine[:, 1, CAT])
    assert said is not None and said.startswith("**This is odd.** Layers 1, 2 and 4 add more than 10 times")
    assert "With random weights, no layer adds that much" in said
    norms = [run.layer(each).attention_norm for each in (0, 1, 3)]
    steps = [
        (x[CAT], run.layer(each).ffn_output[CAT]) for each, x in zip((0, 1, 3), norms, strict=True) if x is not None
    ]
    assert len(steps) == 3
    assert all(torch.cosine_similarity(x + added, added, dim=0) > 0.99 for x, added in steps)
    assert "points nearly where Δ points" in said
    cosine = [torch.cosine_similarity(x, x + added, dim=0).item() for x, added in steps]
    assert _numbers(said) == pytest.approx([min(cosine), max(cosine)], abs=0.006)
    assert ("nearly gone" in said) == (max(map(abs, cosine)) < 0.2)
    shares = active_on_words(run)
    silent = changes.silent_for_words(shares)
    assert silent is not None and silent.startswith("**Layer 3 is nearly silent for words**")
    assert f"{shares[2]:.1%}" in silent and f"{shares.max():.0%}" in silent
    beside = changes.beside_untrained("“x”", after, before)
    for value in (before.min(), before.max(), after.min(), after.max()):
        assert f"{value:.2f}" in beside


@pytest.mark.parametrize("text", TEXTS)
def test_of_the_default_model_only_its_last_layer_is_odd(text: str) -> None:
    model = load_model(DEFAULT_MODEL)
    run, twin = trace(model, text), trace(random_twin(model), text)
    assert changes.silent_for_words(active_on_words(run)) is None
    words = [place for place, special in enumerate(run.encoding.special) if not special and run.labels[place].isalpha()]
    told = 0
    for place in words:
        after, before = (sublayer_changes(each).relative[:, 1, place] for each in (run, twin))
        assert before.max() < 1 and after[:-1].max() < 2 and after[-1] > 9
        said = changes.much_added(after, before, sublayer_changes(run).cosine[:, 1, place])
        assert (said is not None) == (after[-1] > 10)
        if said is not None:
            told += 1
            assert said.startswith("**This is odd.** Layer 6 adds more than 10 times")
    assert told > len(words) / 2


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_is_called_odd_that_is_not(text: str) -> None:
    twin = trace(random_twin(load_model("lab-bert")), text)
    assert changes.silent_for_words(active_on_words(twin)) is None
    assert changes.much_added(sublayer_changes(twin).relative[:, 1, CAT], None, np.ones(4)) is None
    assert changes.silent_for_words(active_on_words(trace(load_model("lab-gpt2"), text))) is None
    assert changes.much_added(np.array([20.0, 1.0]), np.array([20.0, 1.0]), np.ones(2)) is None


@pytest.mark.parametrize(
    ("cosine", "told"),
    [
        ([0.1, -0.19], "of x + Δ with x is −0.19 to 0.10: the old direction is nearly gone."),
        ([0.9, 0.9], "is 0.90: the direction hardly changes"),
        ([0.9, 0.1], "is 0.10 to 0.90, where 1 is the old direction and 0 is a right angle"),
    ],
)
def test_how_far_a_vector_is_turned_is_what_the_cosine_says(cosine: list[float], told: str) -> None:
    said = changes.much_added(np.array([20.0, 30.0]), None, np.array(cosine))
    assert said is not None and told in said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Commonest(7, 10, 12, excited=200, occurs=40, hits=38), "only 38 of the 200 tokens that excite it are “to”"),
        (
            Commonest(7, 12, 12, excited=20, occurs=40, hits=20),
            "20 of the 20 tokens that excite it are “to”. But it stays silent at 20 other places",
        ),
        (
            Commonest(7, 12, 12, excited=40, occurs=40, hits=38),
            "38 of the 40 tokens that excite it are “to”. The texts have “to” in 40 places",
        ),
    ],
)
def test_strongest_tokens_that_are_alike_are_told_from_all_that_excite(found: Commonest, said: str) -> None:
    text = excited_by.about_its_tokens(25, 0.1, 0.314, found, "“to”")
    assert said in text
    assert ("misses 2" in text) == (found.hits == 38 and found.excited == 40)


@pytest.mark.parametrize(("share", "said"), [(0.5, "say little about it"), (0.1, "has no favourite")])
def test_strongest_tokens_with_nothing_in_common_say_little(share: float, said: str) -> None:
    text = excited_by.about_its_tokens(25, share, 0.314, Commonest(7, 2, 12, excited=250, occurs=40, hits=30), "“to”")
    assert said in text and "mean over the layer’s neurons is 31.4%" in text
    assert "Neuron 26" in text and f"{share:.1%}" in text


BLANKS = {"lab-minilm": (BOYS, 3), "lab-bert": (BOYS, 3), "lab-gpt2": ("She gave her brother the book", 5)}


def _numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.\d+", text.replace("−", "-"))]


@pytest.mark.parametrize("name", BLANKS)
def test_without_a_neuron_the_word_s_probability_is_that_of_a_run_without_it(name: str) -> None:
    model, (text, place) = load_model(name), BLANKS[name]
    run = trace(model, text)
    before = run.logits(place).softmax(-1)[0]
    best = int(before.argmax())
    for layer in (0, 3):
        found = neurons_off(run, place, layer)
        assert len(found) == 64 and [abs(each.change) for each in found] == sorted(
            (abs(each.change) for each in found), reverse=True
        )
        for each in (found[0], found[-1]):
            off = Interventions(zero_neurons=frozenset({(layer, each.neuron)}))
            # In float32 the sum over 30,522 words is off by more than what is compared.
            after = trace(model, text, None, off).logits(place).double().softmax(-1)[0, best].item()
            assert each.after == pytest.approx(after, abs=1e-5)
            logits = trace(model, text, None, off).logits(place)[0]
            assert each.then == int(logits.argmax())
            said = in_the_blank.neuron_in_blank(run, place, layer, each.neuron)
            change, then = after - before[best].item(), quoted(word_of(model.tokenizer, each.then))
            assert f"says {then}" in said and ("still says" in said) == (each.then == best)
            if each.then == best and abs(change) < 0.0005:
                assert "stays at" in said
            else:
                assert _numbers(said)[:2] == pytest.approx([before[best].item(), after], abs=0.006)
        turned = sum(each.then != best for each in found)
        assert f"Of the 64 neurons that add most here, {turned or 'none'} change" in said


def test_one_head_is_set_beside_the_neurons() -> None:
    model, text = load_model("lab-minilm"), KEYS
    run = trace(model, text)
    place = run.labels.index("[MASK]")
    off = trace(model, text, None, Interventions(zero_heads=frozenset({(4, 10)}))).logits(place)
    said = in_the_blank.beside_the_head(run, place, (4, 10))
    assert f"layer 5, head 11, the model says {quoted(word_of(model.tokenizer, int(off.argmax())))}" in said
    assert int(off.argmax()) != int(run.logits(place).argmax())


@pytest.mark.parametrize("name", BLANKS)
def test_words_are_told_apart_by_where_the_neuron_s_vector_points(name: str) -> None:
    """By the weights of the checkpoint and a run with the neuron off; every way it can come out is met."""
    model, (text, place) = load_model(name), BLANKS[name]
    run, told = trace(model, text), set()
    before = run.logits(place)[0].double()
    ids = before.topk(5).indices
    for layer in range(model.config.layers):
        for neuron in (neurons_off(run, place, layer)[0].neuron, neurons_off(run, place, layer)[-1].neuron):
            of = run.layer(layer)
            aims = model.vocabulary_head.decoder[ids] @ of.weights.w_2[neuron] * of.ffn_activation[place, neuron]
            off = Interventions(zero_neurons=frozenset({(layer, neuron)}))
            after = trace(model, text, None, off).logits(place)[0].double()
            gains = (before.log_softmax(-1) - after.log_softmax(-1))[ids].tolist()
            said, how = aimed_at.words_aimed_at(run, place, layer, neuron, 5)
            assert _numbers(how) == pytest.approx(aims.tolist(), rel=0.02, abs=0.006)
            if aims.max() - aims.min() < 0.01:
                assert "points at none of these words more" in said
                continue
            first, second = (quoted(word_of(model.tokenizer, int(ids[i]))) for i in (aims.argmax(), aims.argmin()))
            shifts = (after.softmax(-1) - before.softmax(-1))[ids].abs()
            assert f"{quoted(word_of(model.tokenizer, int(ids[shifts.argmax()])))} changes most" in said
            assert f"most at {first} and least at {second}" in said
            pairs = [(i, j) for i in range(5) for j in range(5) if aims[i] - aims[j] >= 0.01]
            fit = sum(gains[i] > gains[j] for i, j in pairs)
            assert f"In {fit} of {len(pairs)} pairs" in said
            verdicts = ("Mostly, yes", "Surprisingly, no", "Only for a part")
            (verdict,) = (each for each in verdicts if each in said)
            assert (verdict == verdicts[0]) == (fit / len(pairs) >= 0.8)
            assert (verdict == verdicts[1]) == (fit / len(pairs) <= 0.5)
            told.add(verdict)
    assert len(told) > 1


@pytest.mark.parametrize("name", BLANKS)
def test_what_a_layer_and_a_layer_norm_do_is_told_with_their_numbers(name: str) -> None:
    run = trace(load_model(name), BLANKS[name][0])
    for index in (0, 2):
        layer = run.layer(index)
        attention, network = (each[2].norm().item() for each in (layer.attention_output, layer.ffn_output))
        said = order.said(run, index, 2)
        assert _numbers(said) == pytest.approx([attention, network], abs=0.006)
        assert ("network adds a longer one" in said) == (network > attention)
        w, d, d_ff = layer.weights, run.model.config.width, run.model.config.ffn_width
        learned = [w.w_q, w.w_k, w.w_v, w.w_o, w.w_1, w.w_2, w.b_q, w.b_k, w.b_v, w.b_o, w.b_1, w.b_2]
        every = sum(each.numel() for each in learned) + 4 * d
        assert f"has {(2 * d * d_ff + d_ff + d) / every:.0%} of the numbers that this layer has learned" in said
        rows = order.matrices(layer, run.model.config)
        assert sum(count for *_, count in rows) == every and len(rows) == 4
        assert next(name for name, *_ in rows) == ("LayerNorm 1" if run.model.config.pre_norm else "Self-attention")
        active = layer.ffn_activation
        best = int(active[2].argmax())
        said = neurons.active_neurons(run, index, 2)
        if active[2].max() <= 0:
            assert "No neuron of layer" in said
            continue
        assert f"{int((active[2] > 0).sum()):,} of {active.shape[1]:,} neurons" in said
        assert f"neuron {best + 1:,}" in said
        others = int((active.argmax(dim=1) == best).sum()) - 1
        many = {0: "at no other token", 1: "at one other token, too"}
        assert many.get(others, f"at {others} other tokens, too") in said
        near = int((active[:, best] > active[2, best] / 2).sum())
        assert ("less than half as active" in said) == (near == 1)
        assert near == 1 or f"At {near} of {len(active)} tokens it is more than half as active" in said
        assert ("says little about" in said) == (near > 1 and near > len(active) / 2)


@pytest.mark.parametrize("name", BLANKS)
def test_a_layer_norm_brings_every_vector_to_one_length(name: str) -> None:
    run = trace(load_model(name), BLANKS[name][0])
    for index in (1, 3):
        layer = run.layer(index)
        for where, (vectors, norm) in layer_norms(layer).items():
            for token in range(len(run)):
                x = vectors[token].double()
                plain = torch.nn.functional.layer_norm(x, x.shape, eps=run.model.config.norm_eps)
                out = plain * norm.gamma.double() + norm.beta.double()
                said = layer_norm.normalized(where, norm_steps(vectors[token], norm, run.model.config.norm_eps))
                wanted = [each.norm().item() for each in (x, plain, out)]
                assert _numbers(said) == pytest.approx(wanted, rel=1e-3, abs=0.006)
                assert (
                    wanted[1] == pytest.approx(len(x) ** 0.5, abs=0.01)
                    and "like the vector of every other token" in said
                )
                assert ("make it longer" in said) == (wanted[2] > wanted[1])


@pytest.mark.parametrize("name", BLANKS)
@pytest.mark.parametrize("text", [*TEXTS, "Hello"])
def test_the_row_of_the_map_with_the_longest_additions_is_named_with_its_numbers(name: str, text: str) -> None:
    run = trace(load_model(name), text)
    lengths, cosines = {}, {}
    for index in range(run.model.config.layers):
        layer = run.layer(index)
        middle = layer.attention_residual if layer.attention_norm is None else layer.attention_norm
        parts = ("attention", layer.input, layer.attention_output), ("feed-forward", middle, layer.ffn_output)
        for part, x, added in parts:
            lengths[index, part] = (added.norm(dim=-1) / x.norm(dim=-1)).numpy()
            cosines[index, part] = torch.cosine_similarity(x, x + added, dim=-1).numpy()
    medians = {row: float(np.median(values)) for row, values in lengths.items()}
    most = max(medians, key=lambda row: medians[row])
    said = residual.said(residual.longest(run))
    assert f"In layer {most[0] + 1}, the vectors that " in said and (most[1] == "attention") == (
        "attention adds" in said
    )
    others = [value for row, value in medians.items() if row != most]
    turned = cosines[most]
    told = _numbers(said)
    low, high = min(lengths[most]), max(lengths[most])
    wanted = [low, high, min(turned), max(turned), min(others), max(others)]
    assert told == pytest.approx(wanted, rel=0.01, abs=0.051)
    assert ("the sum points elsewhere" in said) == (max(map(abs, turned)) < 0.2)
    assert ("direction of x hardly changes" in said) == (min(turned) > 0.8 and max(map(abs, turned)) >= 0.2)


def test_the_last_network_of_the_default_model_leaves_hardly_anything_of_the_old_direction() -> None:
    """What the map shows at a first look, and a reader missed in the text."""
    for text in TEXTS:
        said = residual.said(residual.longest(trace(load_model(DEFAULT_MODEL), text)))
        assert (
            said.startswith("In layer 6, the vectors that the feed-forward network adds") and "points elsewhere" in said
        )


@pytest.mark.parametrize("name", BLANKS)
def test_where_the_norms_are_is_said_and_how_long_a_stream_without_them_grows(name: str) -> None:
    run = trace(load_model(name), STORY)
    said = residual.placed(run, 3)
    assert ("This model is **pre-norm**" in said) == (name == "lab-gpt2")
    if name == "lab-gpt2":
        ends = [run.hidden_states[at][3].norm().item() for at in (0, run.model.config.layers)]
        assert _numbers(said) == pytest.approx(ends, abs=0.006)


@pytest.mark.parametrize("name", BLANKS)
def test_one_scale_is_told_with_the_lengths_before_and_after(name: str) -> None:
    run = trace(load_model(name), BLANKS[name][0])
    where, (vectors, norm) = list(layer_norms(run.layer(1)).items())[-1]
    for token in range(len(run)):
        short = layer_norm.one_scale(1, where, norm_steps(vectors[token], norm, run.model.config.norm_eps))
        standard = torch.nn.functional.layer_norm(vectors[token], vectors[token].shape, eps=run.model.config.norm_eps)
        out = standard * norm.gamma + norm.beta
        wanted = [vectors[token].norm().item(), standard.norm().item(), out.norm().item()]
        assert _numbers(short) == pytest.approx(wanted, rel=1e-3, abs=0.006)


@pytest.mark.parametrize("name", BLANKS)
def test_two_matrices_in_a_row_are_one_matrix(name: str) -> None:
    run = trace(load_model(name), STORY)
    w, x = run.layer(1).weights, run.layer(1).input.double()
    one = w.w_1.double() @ w.w_2.double()
    torch.testing.assert_close((x @ w.w_1.double()) @ w.w_2.double(), x @ one)
    width = run.model.config.width
    assert f"one matrix of {width:,} × {width:,}" in neurons.why_bent(run.model.config)


def test_a_vector_without_variance_is_said_to_stay_short() -> None:
    steps = NormSteps(np.array([1.0, 1.0, 1.002]), np.ones(3), np.zeros(3), 1e-5)
    said = layer_norm.normalized("after attention", steps)
    assert "ε matters" in said and "every other token" not in said


@pytest.mark.parametrize("name", BLANKS)
def test_what_a_function_holds_back_is_told_with_the_means_of_both_sides(name: str) -> None:
    run = trace(load_model(name), BLANKS[name][0])
    for index, token in ((0, 1), (2, 3)):
        hidden, active = run.layer(index).ffn_hidden[token].double(), run.layer(index).ffn_activation[token].double()
        said = neurons.held_back("“x”", hidden.numpy(), active.numpy())
        below = hidden < 0
        wanted = [each[which].mean().item() for which in (below, ~below) for each in (hidden, active)]
        assert _numbers(said) == pytest.approx(wanted, abs=0.006)
        assert f"{int(below.sum()):,} of {len(below):,} have a sum below 0" in said
        assert f"other {int((~below).sum()):,} sums from" in said
        assert said.startswith("Most") == (below.double().mean().item() > 0.5)
        w_2 = run.layer(index).weights.w_2.double()
        told = neurons.together(hidden.numpy(), active.numpy(), w_2.numpy())
        lengths = [(active[which] @ w_2[which]).norm().item() for which in (below, ~below)]
        assert _numbers(told) == pytest.approx(lengths, abs=0.006)
    assert neurons.together(np.ones(3), np.ones(3), np.ones((3, 2))) == ""
    assert "the function holds nothing back" in neurons.held_back("“x”", np.ones(3), np.ones(3))


def test_a_neuron_of_its_own_is_one_that_the_token_excites_twice_as_much_as_any_other() -> None:
    layer = trace(load_model("lab-bert"), TEXTS[1]).layer(0)
    for token in range(len(layer.ffn_activation)):
        own, active = most_its_own(layer, token), layer.ffn_activation.tolist()
        fits = {}
        for neuron, here in enumerate(active[token]):
            others = max(0.0, *(row[neuron] for at, row in enumerate(active) if at != token))
            if here > 0 and here >= 2 * others:
                fits[neuron] = here - others
        assert own == (max(fits, key=lambda each: fits[each]) if fits else None)


def test_a_layer_without_activations_above_0_is_said_to_have_none() -> None:
    toy = trace(constructed_toy(4, 6), "a b c")
    assert "No neuron of layer 1" in neurons.active_neurons(toy, 0, 1)
