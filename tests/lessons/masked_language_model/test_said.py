"""What the figures of the lesson are said to mean: every number and claim again, from Hugging Face's own logits."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

import lab
from lab.analysis.layers.lens import first_read
from lab.analysis.words.likelihood import likelihood
from lab.analysis.words.masking import masked_run
from lab.analysis.words.next_sentence import NextSentence, PairsTried, try_pairs
from lab.analysis.words.predictions import candidate, likeliest, masked_prediction, prediction_at, word_of
from lab.analysis.words.sampling import SamplingSettings, sample
from lab.course.sentences.blanks import BLANKS
from lab.course.sentences.examples import EXAMPLES, FOLLOWING
from lab.course.words import number_of, quoted, share
from lab.lessons.masked_language_model.best import answered
from lab.lessons.masked_language_model.every_place import copied, in_sight
from lab.lessons.masked_language_model.from_vector_to_word import compared, in_table, turned, way
from lab.lessons.masked_language_model.likelihood import unsure
from lab.lessons.masked_language_model.logit_lens import agreed, arrived, fitted_where, misread, most_apart
from lab.lessons.masked_language_model.next_sentence import both_orders, topic_or_order
from lab.lessons.masked_language_model.writing_on import can_be_drawn, written
from lab.models.catalogue import EMBEDDED
from lab.models.fitted_lens import FOLDER, MAPS, RECORD, measured
from lab.models.reference import reference
from lab.models.trace import Trace
from lab.models.twin import random_twin
from tests.thorough import some

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = (*(each.text for each in EXAMPLES[:3]), BLANKS[0].filled(), "a")


@cache
def run(model: str, text: str, hidden: int | None = None) -> Trace:
    plain = lab.trace(lab.load_model(model), text)
    return plain if hidden is None or model == "lab-gpt2" else masked_run(plain, (hidden,))


@torch.inference_mode()
def their_rows(trace: Trace, fitted: bool = False) -> list[Tensor]:
    """(n, vocabulary) in float64 after the embeddings and each layer: Hugging Face's head on its hidden states.

    ``fitted``: on what the maps that ship make of all hidden states but the last.
    """
    module: Any = reference(trace.model)
    states = module(torch.tensor([trace.token_ids]), output_hidden_states=True).hidden_states
    if fitted:
        maps = load_file(EMBEDDED / trace.model.id / FOLDER / MAPS)
        through = zip(states[:-1], maps["w"].float(), maps["b"].float(), strict=True)
        states = [*(x @ w + b for x, w, b in through), states[-1]]
    if trace.model.config.causal:  # theirs has put the last one through the final LayerNorm already
        normed = [*(module.transformer.ln_f(x) for x in states[:-1]), states[-1]]
        return [module.lm_head(x)[0].double() for x in normed]
    return [module.cls.predictions(x)[0].double() for x in states]


def word(trace: Trace, token_id: int) -> str:
    return quoted(word_of(trace.model.tokenizer, token_id))


def numbers(text: str) -> list[float]:
    """The decimals of a sentence outside tokens and formulas."""
    plain = re.sub("“\u2068.*?\u2069”|\\$.*?\\$", "", text).replace(",", "")
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?e[+-]?\d+|\d+\.\d+", plain)]


def cases(model: str) -> list[tuple[Trace, int]]:
    found = []
    for text in TEXTS:
        n = len(run(model, text))
        found += [(run(model, text, place), place) for place in sorted({1 % n, n // 2})]
    return found


@pytest.mark.parametrize("model", some(MODELS, 2))
def test_answered_names_the_two_best_words_and_how_sure_the_model_is(model: str) -> None:
    for trace, place in cases(model):
        for heat in (1.0, 0.5) if model == "lab-gpt2" else (1.0,):
            shares, order = (their_rows(trace)[-1][place] / heat).softmax(0).sort(descending=True)
            said = answered(trace, prediction_at(trace, place, None).at(heat))
            first, second = float(shares[0]), float(shares[1])
            assert word(trace, int(order[0])) in said and word(trace, int(order[1])) in said
            assert numbers(said) == pytest.approx([first, second], abs=0.0006)
            half = int((shares.cumsum(0) < 0.5).sum()) + 1
            clear = first - second >= 0.01
            assert ("no single word" in said) != clear
            if clear:
                assert ("more probable than all other words together" in said) == (first > float(shares[1:].sum()))
                assert (f"The {half:,} most probable words together reach a probability of one half" in said) == (
                    first <= 0.5
                )
                assert ("many words fit" in said) == (first < 0.1)
                assert "around it" not in said  # how sure a model is says nothing of the sentence


@pytest.mark.parametrize("model", MODELS)
def test_compared_finds_the_largest_logit_with_and_without_the_biases(model: str) -> None:
    told = set()
    for trace, place in cases(model):
        logits = their_rows(trace)[-1][place]
        top, order = logits.topk(2)
        said = compared(trace, place)
        assert word(trace, int(order[0])) in said
        got = re.findall(r"\*\*(-?[\d.]+)\*\*", said.replace("−", "-"))
        assert float(got[0]) == pytest.approx(float(top[0]), abs=0.0051)
        assert f" is {round(float(top[0]), 2) - round(float(top[1]), 2):.2f} lower." in said
        if model == "lab-gpt2":
            assert "dot product alone" in said
            continue
        module: Any = reference(trace.model)
        without = int((logits - module.cls.predictions.bias.detach().double()).argmax())
        same = without == int(order[0])
        told.add(same)
        assert ("Even without the biases" in said) == same
        assert same or f"Without the biases, {word(trace, without)} would be first" in said
    assert told or model == "lab-gpt2"


@pytest.mark.parametrize("model", MODELS)
def test_turned_is_the_quotient_of_their_probabilities(model: str) -> None:
    for trace, place in cases(model):
        for heat in (1.0, 0.5) if model == "lab-gpt2" else (1.0,):
            logits = their_rows(trace)[-1][place] / heat
            shares, _ = logits.softmax(0).sort(descending=True)
            said = turned(trace, prediction_at(trace, place, None).at(heat))
            lead = float(logits.topk(2).values.diff().abs())
            if lead < 0.01:
                assert "nearly equal" in said
                continue
            assert numbers(said)[0] == pytest.approx(lead, abs=0.0051)
            times = float(re.findall(r"\*\*([\d.,e+]+)\*\*", said)[0].replace(",", ""))
            assert times == pytest.approx(float(shares[0] / shares[1]), rel=0.01, abs=0.006)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_arrived_says_since_when_every_row_reads_the_word_and_where_it_gains_most(model: str, fitted: bool) -> None:
    kinds = set()
    for trace, place in cases(model):
        rows = [each[place] for each in their_rows(trace, fitted)]
        best = [int(row.argmax()) for row in rows]
        final, last = best[-1], len(rows) - 1
        first = first_read(trace, place, fitted=fitted)
        since = max((i + 1 for i in range(first, last + 1) if best[i] != final), default=first)
        said = arrived(trace, place, None, fitted=fitted)
        assert said.count(word(trace, final)) >= 1
        wanted = (
            "the first one that it can read, and"
            if since == first
            else "wins in the last"
            if since == last
            else f"layer {since} on"
        )
        kinds.add(wanted)
        assert wanted in said
        if since == last:
            assert f"still reads {word(trace, best[-2])}" in said
        gained = np.asarray([float(row.softmax(0)[final]) for row in rows])
        most = first + int(np.diff(gained[first:]).argmax())
        if gained[most + 1] - gained[most] < 0.01:
            assert "No later layer adds" in said
        else:
            assert f"gains most in layer {most + 1}: from" in said
            assert numbers(said)[-2:] == pytest.approx([gained[most], gained[most + 1]], abs=0.0006)
    assert len(kinds) > 1


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_misread_names_the_first_reading_if_the_model_says_another_word(model: str, fitted: bool) -> None:
    for trace, place in cases(model):
        best = [int(each[place].argmax()) for each in their_rows(trace, fitted)]
        first = first_read(trace, place, fitted=fitted)
        said = misread(trace, place, None, fitted=fitted)
        if best[first] == best[-1]:
            assert "can be read from a vector" in said and "\u2068" not in said
        else:
            after = f"layer {first}" if first else "the embeddings"
            assert said.startswith(f"After {after}, the lens reads {word(trace, best[first])}.")


@pytest.mark.parametrize("model", MODELS)
def test_agreed_is_about_the_layer_where_the_two_lenses_differ_most(model: str) -> None:
    record = json.loads((EMBEDDED / model / FOLDER / RECORD).read_text("utf-8"))["held_out"]
    of = {kind: record[kind]["agreement"] for kind in ("fitted", "plain", "untrained")}
    apart = [abs(a - b) for a, b in zip(of["fitted"], of["plain"], strict=True)]
    layer = apart.index(max(apart[1:]), 1)
    found = measured(lab.load_model(model))
    assert found is not None
    assert vars(most_apart(found)) == {"layer": layer, **{kind: each[layer] for kind, each in of.items()}}
    said = agreed(found, causal=model == "lab-gpt2")
    assert f"{record['places']:,}" in said and f"After layer {layer}," in said
    assert re.findall(r"\d+%", said) == [f"{of[kind][layer]:.0%}" for kind in of]


@pytest.mark.parametrize("model", MODELS)
def test_where_the_fitted_lens_reads_less_is_said(model: str) -> None:
    record = json.loads((EMBEDDED / model / FOLDER / RECORD).read_text("utf-8")).get("in_sight")
    found = measured(lab.load_model(model))
    assert found is not None
    said = fitted_where(found, causal=model == "lab-gpt2")
    if record is None:
        assert "hidden" not in said
        return
    pairs = enumerate(zip(record["plain"], record["fitted"], strict=True))
    fewer = [row for row, (plain, fitted) in pairs if plain - fitted >= 0.01]
    assert "hidden words" in said and fewer
    assert ("the embeddings" in said) == (0 in fewer)
    assert [int(each) for each in re.findall(r"layer (\d+)", said)] == [row for row in fewer if row]


def test_in_sight_follows_the_change() -> None:
    kinds = set()
    for text in TEXTS:
        plain = run("lab-bert", text)
        mask = plain.model.mask
        assert mask is not None
        for place in range(1, len(plain) - 1):
            if plain.token_ids[place] == mask[1]:
                continue
            hidden, true = run("lab-bert", text, place), plain.token_ids[place]
            tokenizer = plain.model.tokenizer
            before, after = (
                candidate(masked_prediction(each, plain.encoding, place), true, tokenizer) for each in (hidden, plain)
            )
            p, q = (float(their_rows(each)[-1][place].softmax(0)[true]) for each in (hidden, plain))
            first = int(their_rows(plain)[-1][place].argmax()) == true
            said = in_sight(before, after)
            kind = "not help" if q < p else "little" if q - p < 0.01 else "answer is that word" if first else "rank"
            kinds.add(kind)
            assert kind in said and f"{share(before.probability)} to **{share(after.probability)}**" in said
            assert (before.probability, after.probability) == pytest.approx((p, q), rel=1e-3)
    assert "answer is that word" in kinds


@pytest.mark.parametrize("model", MODELS)
def test_copied_counts_the_first_choices_that_are_right(model: str) -> None:
    for text in TEXTS:
        trace = run(model, text)
        causal, mask = model == "lab-gpt2", trace.model.mask
        logits, ids = their_rows(trace)[-1], trace.token_ids
        found = likeliest(trace, 5)
        theirs = logits.softmax(-1).topk(5)
        assert found.ids.tolist() == theirs.indices.tolist()
        assert found.probabilities == pytest.approx(theirs.values.numpy(), rel=1e-3)
        wanted = [
            (int(logits[i].argmax()), ids[i + causal])
            for i in range(len(ids) - causal)
            if not trace.encoding.special[i + causal] and (mask is None or ids[i + causal] != mask[1])
        ]
        said = copied(trace, found.ids[:, 0].tolist())
        if not wanted:
            assert "no word here" in said
            continue
        right = sum(best == true for best, true in wanted)
        assert f"**{right}** of {number_of(len(wanted), 'place')}," in said
        assert causal or ("copies every word" in said) == (right == len(wanted))
        assert causal or ("copies most words" in said) == (len(wanted) > right > len(wanted) / 2)


@pytest.mark.parametrize("model", MODELS)
def test_unsure_is_e_to_the_mean_of_their_logarithms(model: str) -> None:
    trace = run(model, "The cat sat on the mat.")
    *_, found = likelihood(trace.model, trace.encoding)
    if model == "lab-gpt2":
        rows = their_rows(trace)[-1].log_softmax(-1)
        logs = [float(rows[place - 1, trace.token_ids[place]]) for place in range(1, len(trace))]
    else:
        logs = [
            float(their_rows(masked_run(trace, (place,)))[-1][place].log_softmax(0)[trace.token_ids[place]])
            for place in range(1, len(trace) - 1)
        ]
    said = unsure(found, model == "lab-gpt2")
    assert numbers(said) == pytest.approx([np.exp(-np.mean(logs))] * 2, abs=0.06)


def test_both_orders_is_about_this_pair() -> None:
    for follows, swapped, said in (
        (0.9, 0.85, "hardly matters"),
        (0.2, 0.9, "The order matters"),
        (0.3, 0.3, "hardly"),
    ):
        text = both_orders(NextSentence(follows, swapped, (0.0, 0.0), (0.0, 0.0)))
        assert said in text and numbers(text) == [follows, swapped]
        assert ("A random pair" in text) == ("hardly" in said)


@pytest.mark.parametrize(("top_k", "top_p"), [(None, 1.0), (50, 0.9), (None, 0.5), (1, 1.0)])
def test_can_be_drawn_counts_what_stays_and_what_the_likeliest_wins(top_k: int | None, top_p: float) -> None:
    trace = run("lab-gpt2", "The cat sat on the mat.")
    shares, order = their_rows(trace)[-1][3].softmax(0).sort(descending=True)
    kept = min(int((shares.cumsum(0) < top_p).sum()) + 1 if top_p < 1 else len(shares), top_k or len(shares))
    if top_k and top_p < 1:  # top-p counts what top-k has left
        kept = int(((shares[:top_k] / shares[:top_k].sum()).cumsum(0) < top_p).sum()) + 1
    best = word(trace, int(order[0]))
    said = can_be_drawn(sample(prediction_at(trace, 3, None), SamplingSettings(1.0, top_k, top_p)), best)
    after = float(shares[0] / shares[:kept].sum())
    assert best in said
    if kept == 1:
        assert said.startswith("Only") and "every seed draws it" in said
    elif kept == len(shares):
        assert f"each of the {kept:,} tokens" in said and numbers(said) == pytest.approx([after], abs=0.0006)
    else:
        assert f"**{kept:,}** of {len(shares):,} tokens" in said
        assert numbers(said) == pytest.approx([float(shares[0]), after], abs=0.0006)


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert"])
def test_topic_or_order_counts_the_pairs_of_a_model(name: str) -> None:
    """Their answers again by Hugging Face: both tell texts that belong together, not their order."""
    model = lab.load_model(name)
    module: Any = reference(model)
    seconds = [second for _, second in FOLLOWING]

    def theirs(first: str, second: str) -> float:
        asked = lab.trace(model, first, second)
        ids, segments = torch.tensor([asked.token_ids]), torch.tensor([asked.segment_ids])
        with torch.inference_mode():
            return float(module(ids, token_type_ids=segments).seq_relationship_logits.softmax(-1)[0, 0])

    right, swapped, mixed = (
        np.array([theirs(*each) for each in way])
        for way in (
            FOLLOWING,
            [(second, first) for first, second in FOLLOWING],
            zip([first for first, _ in FOLLOWING], seconds[1:] + seconds[:1], strict=True),
        )
    )
    said = topic_or_order(try_pairs(model, FOLLOWING))
    assert numbers(said)[:3] == pytest.approx([right.mean(), swapped.mean(), mixed.mean()], abs=0.0051)
    ordered, together = int((right > swapped).sum()), int((right > mixed).sum())
    assert f"wins in **{ordered}** of 12 pairs, the right second text in **{together}**" in said
    assert together >= 10 > ordered and "but not clearly in which order" in said


@pytest.mark.parametrize(
    ("swapped", "mixed", "said"),
    [
        (0.8, 0.1, "belong together, and in which order"),
        (0.8, 0.95, "tells the order of two texts, but not clearly which texts belong together"),
        (0.95, 0.1, "tells which texts belong together, but not clearly in which order"),
        (0.95, 0.95, "Pure guessing would rarely get 10 of 12 pairs right. So these pairs show neither."),
    ],
)
def test_topic_and_order_are_claimed_only_where_guessing_would_rarely_do(
    swapped: float, mixed: float, said: str
) -> None:
    assert said in topic_or_order(PairsTried((0.9,) * 12, (swapped,) * 12, (mixed,) * 12))
    assert (
        sum(math.comb(12, k) for k in range(10, 13)) / 2**12
        < 0.05
        <= sum(math.comb(12, k) for k in range(9, 13)) / 2**12
    )


def test_of_random_weights_no_word_is_said_to_fit() -> None:
    model = random_twin(lab.load_model("lab-bert"), 0)
    trace = lab.trace(model, "The boys [MASK] playing.")
    said = answered(trace, prediction_at(trace, 3, None))
    assert "random" in said and "fits" not in said


@pytest.mark.parametrize("model", MODELS)
def test_the_way_to_a_logit_names_the_computations_of_this_head(model: str) -> None:
    """The library's head has a dense layer, or it has none; each word has a bias, or it has none."""
    loaded = lab.load_model(model)
    module: Any = reference(loaded)
    told, bert = way(loaded), model != "lab-gpt2"
    assert hasattr(getattr(module, "cls", None), "predictions") == bert
    assert ("**bias**" in told) == bert and "prepare the vector" in told and "**dot product**" in told
    assert "its row in lesson 2" in told  # all three compare with the token table


@pytest.mark.parametrize("model", MODELS)
def test_the_word_that_would_be_first_without_biases_is_in_the_table(model: str) -> None:
    for trace, place in cases(model):
        said, shown = compared(trace, place), in_table(trace, place)
        named = re.findall("Without the biases (“.*?”) would be first", said)
        assert all(each in [word(trace, i) for i in shown] for each in named)


def test_what_is_written_is_their_draw_step_by_step() -> None:
    """The tokens, the next distribution and its number, from Hugging Face's logits and NumPy's generator."""
    trace = run("lab-gpt2", "The cat sat on the mat.")
    module: Any = reference(trace.model)
    settings, random, ids = SamplingSettings(0.8, 20, 0.9), np.random.default_rng(3), list(trace.token_ids[:4])
    for _ in range(6):
        with torch.inference_mode():
            shares = (module(torch.tensor([ids])).logits[0, -1].double() / 0.8).softmax(0)
        best, order = shares.sort(descending=True, stable=True)
        top = best[:20] / best[:20].sum()
        kept = top[: 1 + int((top.cumsum(0) < 0.9).sum())]
        at = int(np.searchsorted((kept / kept.sum()).cumsum(0).numpy(), random.random(), side="right"))
        ids.append(int(order[at]))
    drawn = trace.model.tokenizer.decode(ids[4:])
    now = written(trace, 3, 6, settings, 3)
    assert now.drawn == drawn and not now.over and now.number == random.random()
    assert written(trace, len(trace) - 1, 0, settings, 3).drawn == ""
