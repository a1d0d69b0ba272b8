"""The neuron view, run whole: every screen on every kind of text and model, its sentences, and its links."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.heads.query_neurons import DECIDED, decide, score_with
from lab.analysis.heads.walk import walk as neuron_walk
from lab.benches.neuron_view.three_patterns import at_places, neighbour_products, neighbour_queries
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import OWN_PATTERN
from tests.checkpoints import Family
from tests.pages.apptest import Offer, go, largest, looks, sent, step_of, visit, walk, words
from tests.pages.texts import EMPTY, TEXTS, WALKED
from tests.thorough import one_by_day, some

PAGE = "52_Neuron_view.py"
TEXT, PAIR = TEXTS["a pair"]
STEPS = ("dimensions", "deciding", "three-patterns")
LIMIT = 100_000  # bytes of one message to the browser


def plain(at: AppTest) -> str:
    return re.sub(r"\\(.)", r"\1", words(at))


@one_by_day
@pytest.mark.parametrize(
    ("family", "params"),
    some([("gpt2", {}), (None, {"model": DEFAULT_MODEL}), ("bert", {"weights": "Random"})], 2),
)
def test_every_screen_bears_every_text(family: Family | None, params: dict[str, str], offer: Offer) -> None:
    at = visit(PAGE, layer="2", head="3", **params, **({} if family is None else {"model": offer(family)}))
    for kind in WALKED:
        at.session_state["text"], at.session_state["pair"] = WALKED[kind]
        at.run()
        for step in walk(at, STEPS):
            assert "<script" not in words(at), (kind, step)
            assert largest(at) < LIMIT, (kind, step)
    at.text_area(key="text").set_value(EMPTY[0]).run()
    assert at.info[-1].value.startswith("There is no text yet.")


@pytest.mark.parametrize("weights", ["Constructed", "Random", "Trained live"])
def test_toys(weights: str) -> None:
    assert tuple(walk(visit(PAGE, mode="Toy", toy_weights=weights))) == STEPS


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_a_toy_shows_patterns_that_its_text_can_have(weights: str) -> None:
    """A toy's text has no delimiters and one segment, so two of Vig's three patterns would be empty."""
    at = visit(PAGE, mode="Toy", toy_weights=weights, step=STEPS[2])
    said = words(at)
    assert "no delimiters" in said and "no case of the pattern" not in said
    blocks = [block.split("\n")[0] for block in said.split("### ")[1:]]
    assert blocks == ["Previous token", "Next token", "Same or related word"]
    if weights == "Constructed":
        # Its head 1 finds the place before by a product of two unit vectors: one dimension counts at each token.
        assert re.search(r"at token 2: \d+; at token 5: \d+; at token 7: \d+\. No dimension", said)


def test_the_keys_of_a_delimiter_are_beside_those_of_words() -> None:
    at = visit(PAGE, text=TEXT, pair=PAIR, step=STEPS[2], model="lab-bert")
    assert re.search(r"The 2 keys of .*SEP.* are alike: their cosine is \*\*0\.9", words(at))
    at = visit(PAGE, text=TEXT, step=STEPS[2])
    assert "Add a second text to see whether two such keys are alike." in words(at)
    assert "keys of words" not in words(visit(PAGE, model="lab-gpt2", step=STEPS[2]))


def test_the_constructed_previous_token_head_is_found_and_taken_apart() -> None:
    at = visit(PAGE, mode="Toy", step="deciding", pattern="Previous token", head="1")
    said = words(at)
    assert "**" in said and "higher** than the scores of the other keys" in said
    share = re.search(r"\*\*(\d+) of \d+\*\* dimensions? ?carr", said.replace("carries", "carry"))
    assert share is not None and int(share[1]) >= 1


def test_what_is_sent_is_the_trace() -> None:
    at = visit(PAGE, text=TEXT, pair=PAIR, layer="3", head="5", token="4")
    _, arrays = sent(at)
    layer = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT, PAIR).layer(2)
    assert (arrays["weights"] == layer.attention[4, 3].numpy()).all()
    assert f"**{float(layer.attention[4, 3].max()):.2f}**" in words(at)


def test_the_sentences_about_deciding_are_computed() -> None:
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT, PAIR)
    scores = trace_patterns(traced).delimiter
    best = np.unravel_index(int(scores.argmax()), scores.shape)
    layer, head = int(best[0]), int(best[1])
    found = decide(traced, layer, head, "delimiter")
    assert found is not None
    few = found.needed(0.5)
    assert few is not None
    at = visit(
        PAGE,
        text=TEXT,
        pair=PAIR,
        layer=str(layer + 1),
        head=str(head + 1),
        step=STEPS[1],
        dimensions="2",
        pattern="Delimiter",
    )
    said = words(at)
    assert f"**{found.total:.2f} higher**" in said
    assert f"**{few} of {traced.model.config.head_width}**" in said
    assert f"{found.share(few):.0%} of the difference" in said
    order = found.order.tolist()
    only, without = (score_with(traced, (layer, head), "delimiter", part) for part in (order[:2], order[2:]))
    assert (
        f"With only the 2 strongest dimensions, the score is **{only:.3f}**; without them, it is **{without:.3f}**"
        in said
    )


def test_a_walk_leads_to_its_head() -> None:
    at = visit(PAGE, text=TEXT, pair=PAIR, step=STEPS[2])
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT, PAIR)
    scores = trace_patterns(traced).next_token
    layer, head = (int(place) for place in np.unravel_index(int(scores.argmax()), scores.shape))
    assert f"**layer {layer + 1}, head {head + 1}**, with a score of **{scores.max():.3f}**. On this" in words(at)
    assert f"a uniform head scores {1 / len(traced):.3f}" in words(at)
    at.button(key="_walk.next_token.dimensions").click().run()
    assert step_of(at) == STEPS[0]
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer + 1, head + 1)
    query = traced.layer(layer).attention[head].numpy().diagonal(1).argmax()
    assert looks(at)[0] == query
    go(at, STEPS[2])
    at.button(key="_walk.next_token.deciding").click().run()
    assert at.selectbox(key="pattern").value == "Next token"
    assert at.selectbox(key="layer").value == layer + 1


def test_what_is_not_there_is_not_taken_apart() -> None:
    """A pattern whose best head scores no more than a uniform one has neither a count of dimensions nor a chart."""
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    at = visit(PAGE, text=TEXT, step=STEPS[2])
    blocks = words(at).split("### ")[1:]
    assert len(blocks) == 3
    for pattern, block in zip(("delimiter", "bag_of_words", "next_token"), blocks, strict=True):
        found = neuron_walk(traced, next(each for each in DECIDED if each.id == pattern))
        assert found is not None
        above = found.best.score > found.best.uniform
        assert ("of the difference" in block) == above and ("nothing to take apart" in block) != above
    drawn = ["nothing to take apart" not in block for block in blocks]
    # The pattern of neighbours has a second figure, of three tokens, and the delimiters have one of their keys.
    assert 0 < sum(drawn) < 3 and len(at.get("vega_lite_chart")) == sum(drawn) + drawn[2] + 1


def test_deciding_begins_with_the_head_that_shows_the_pattern_of_neighbours() -> None:
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    scores = trace_patterns(traced).next_token
    layer, head = (int(place) + 1 for place in np.unravel_index(int(scores.argmax()), scores.shape))
    at = visit(PAGE, text=TEXT, step=STEPS[1])
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer, head)
    assert "Next token** most clearly" in plain(at)


def test_a_model_without_the_head_says_so() -> None:
    said = plain(visit(PAGE, text=TEXT, pair=PAIR, step=STEPS[2], weights="Random"))
    assert "too low for a name" in said or "no higher than a uniform head" in said


def test_a_causal_model_has_no_next_word() -> None:
    at = visit(PAGE, model="lab-gpt2", text=TEXT, step=STEPS[2])
    assert "is causal, so no query sees the next token" in words(at)
    go(at, STEPS[1])
    at.selectbox(key="pattern").set_value("Next token").run()
    assert any("cannot see its next token" in info.value for info in at.info)


def test_a_score_that_a_uniform_head_has_too_is_called_so() -> None:
    said = words(visit(PAGE, model="lab-gpt2", text=TEXT, step=STEPS[2]))
    assert "On this text a uniform head scores 1.000" in said
    assert "no higher than a uniform head" in said


def test_bad_links_are_said() -> None:
    at = visit(PAGE, pattern="Sideways", dimensions="999", keys="None", step=STEPS[1])
    said = plain(at)
    assert "pattern must be one of" in said and "keys must be one of" in said
    assert "dimensions must be a number from 0 to 256" in said
    at.number_input(key="dimensions").set_value(200).run()
    assert "This head has 32 dimensions, so you see 32 instead of 200" in plain(at)
    assert at.selectbox(key="pattern").options == [OWN_PATTERN, *(p.name for p in DECIDED)]


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_deciding_opens_on_what_a_dimension_decides(model: str) -> None:
    at = visit(PAGE, model=model, step=STEPS[1])
    said = plain(at)
    assert re.search(r"\*\*[\d.]+ higher\*\* than the scores of the other keys", said)
    assert "no dimension carries" not in said and len(at.get("vega_lite_chart")) == 2


def test_the_own_pattern_is_the_one_farthest_above_a_uniform_head() -> None:
    """Layer 1, head 1 of lab-bert looks at the token before, which a uniform row of n does with 1 / n."""
    traced = lab.trace(lab.load_model("lab-bert"), TEXT)
    score = traced.layer(0).attention[0].diagonal(-1).mean().item()
    assert score > 0.8
    said = plain(visit(PAGE, model="lab-bert", text=TEXT, layer="1", head="1", step=STEPS[1]))
    assert (
        f"most clearly. Its score is {score:.2f}" in said
        and f"a uniform head has the score {1 / len(traced):.2f}." in said
    )


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_a_head_of_neighbours_is_shown_at_tokens_2_8_and_14(model: str) -> None:
    """The products are query times key of the trace; the strongest dimensions are counted by hand."""
    long = "She gave her brother the book that he wanted, and the old dog slept in the garden."
    traced = lab.trace(lab.load_model(model), long)
    step = -1 if traced.model.config.causal else 1
    assert neighbour_queries(traced, step) == (1, 7, 13)
    layer = traced.layer(2)
    drawn = neighbour_products(traced, 2, 0, step).data["value"].to_numpy().reshape(3, -1)
    for row, query in zip(drawn, (1, 7, 13), strict=True):
        expected = layer.query[0, query] * layer.key[0, query + step]
        assert row == pytest.approx(expected.numpy(), abs=1e-4)
    said = at_places(traced, (2, 0), (1, 7, 13), step)
    best = [set((-row).argsort()[:5] + 1) for row in drawn]
    same = len(best[0] & best[1] & best[2])
    assert (f"{same} of them {'is' if same == 1 else 'are'} among the strongest at all" in said) == (same > 0)
    assert "at token 2: " in words(visit(PAGE, model=model, text=long, step="three-patterns"))


def test_a_short_text_has_its_first_middle_and_last_pair_of_neighbours() -> None:
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), "The cat sat on it.")
    assert neighbour_queries(traced, 1) == (1, 3, 5)
    assert neighbour_queries(lab.trace(lab.load_model(DEFAULT_MODEL), "Cat"), 1) == ()
