"""The head view's page: every model and text, toys, words, and what it sends beside the trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.benches.head_view.view import PAIR, chosen_heads, head_view_of, tied
from lab.course.sentences.looks import look, look_head
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import DEFAULT_TEXT
from tests.analysis.words.test_word_groups import naive
from tests.checkpoints import Family
from tests.pages.apptest import Offer, components, sent, visit, words
from tests.pages.texts import EMPTY, LONG, WALKED

PAGE = "50_Head_view.py"


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_every_text_arrives_as_traced(family: Family, offer: Offer, tiny_folders: Callable[[Family], Path]) -> None:
    at = visit(PAGE, model=offer(family), layer="2")
    loaded = lab.load_model(tiny_folders(family))
    for kind, (text, pair) in WALKED.items():
        trace = lab.trace(loaded, text, pair or None)
        for units in ("Tokens", "Words"):
            at.session_state["text"], at.session_state["pair"], at.session_state["units"] = text, pair, units
            at.run()
            assert not at.error, kind
            header, arrays = sent(at)
            assert (header["second"] is None) == (trace.pair is None), kind
            assert header["layer"] == 1
            assert arrays["weights"].shape[1:] == (len(header["labels"]),) * 2
            if units == "Tokens":
                expected = np.asarray(trace.layer(1).attention)
                assert np.abs(arrays["weights"] / header["steps"] - expected).max() <= 0.5001 / header["steps"]
            assert kind != LONG or "were cut" in words(at)


def test_words_are_the_mean_of_rows_and_the_sum_of_columns() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "Unhappily, the photographers rebuilt it.")
    view = head_view_of(trace, 1, words=True)
    assert view.labels == ("[CLS]", "Unhappily", ",", "the", "photographers", "rebuilt", "it", ".", "[SEP]")
    groups = [0 if w is None and i == 0 else 8 if w is None else w + 1 for i, w in enumerate(trace.word_ids)]
    for head, weights in enumerate(np.asarray(trace.layer(1).attention)):
        np.testing.assert_allclose(view.weights[head] / 10_000, naive(weights, groups), atol=0.6e-4)


@pytest.mark.parametrize("page", [PAGE, "51_Model_view.py"])
def test_without_a_text_there_is_a_sentence(page: str) -> None:
    at = visit(page)
    for text in EMPTY:
        at.text_area(key="text").set_value(text).run()
        assert at.info[0].value.startswith("There is no text yet.")
        assert not components(at)


@pytest.mark.parametrize("weights", ["Constructed", "Random", "Trained live"])
def test_toys(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights)
    header, arrays = sent(at)
    assert header["layer"] == 0
    assert arrays["weights"].sum(-1).max() <= 10_000 + len(header["labels"])
    if weights == "Constructed":
        # Head 1 looks at the token before.
        first = arrays["weights"][0]
        assert (first.argmax(-1)[1:] == np.arange(len(first) - 1)).all()


def test_random_weights_are_said_and_sent() -> None:
    trained, random = visit(PAGE, layer="2"), visit(PAGE, layer="2", weights="Random")
    assert "Random weights" in words(random)
    assert (sent(trained)[1]["weights"] != sent(random)[1]["weights"]).any()


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_it_opens_on_the_head_that_shows_something(model: str) -> None:
    at, trace = visit(PAGE, model=model), lab.trace(lab.load_model(model), DEFAULT_TEXT)
    layer, head = look_head(trace)
    header, arrays = sent(at)
    assert (header["layer"], header["start"]) == (layer, [head])
    query = look(trace).query
    row = arrays["weights"][head, query] / header["steps"]
    assert header["hide"] == (not trace.encoding.special[row.argmax()]), "what is said is drawn"
    assert f"({query + 1}), layer {layer + 1}, head {head + 1} looks most at" in words(at)
    assert f"({row.argmax() + 1}): that token gets {row.max():.0%} of its attention." in words(at)
    other = 1 + (layer + 1) % trace.model.config.layers
    at.sidebar.selectbox(key="layer").select(other).run()
    assert sent(at)[0]["start"] == [] and "looks most at" not in words(at)


def test_heads_of_the_link() -> None:
    assert sent(visit(PAGE, layer="1"))[0]["start"] == []
    assert sent(visit(PAGE, heads="5.2"))[0]["start"] == [1, 4]
    heads = lab.load_model(DEFAULT_MODEL).config.heads
    at = visit(PAGE, heads=f"5.{heads + 1}")
    assert sent(at)[0]["start"] == []
    assert f"has heads 1 to {heads}" in words(at).replace("\\", "")
    assert at.session_state["heads"] == ""


@pytest.mark.parametrize("text", ["0", "9", "1.", ".", "a", "1,2", "-1", "1.2.99999999999"])
def test_what_names_no_heads(text: str) -> None:
    assert chosen_heads(text, 8) is None


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_rabbit_and_hopped_are_as_strongly_tied_as_the_page_says(model: str) -> None:
    """The largest weight of any head between the two words of the article, by a loop over all of them."""
    traced = lab.trace(lab.load_model(model), PAIR.text, PAIR.pair)
    rabbit, hopped = (
        [i for i, (a, b) in enumerate(traced.offsets) if b > a and traced.text[a:b].strip() in word and i < 8]
        for word in ("rabbit", "hopped")
    )
    largest = max(
        float(traced.layer(layer).attention[:, i, j].max())
        for layer in range(traced.model.config.layers)
        for one, other in ((rabbit, hopped), (hopped, rabbit))
        for i in one
        for j in other
    )
    said = tied(traced)
    assert said is not None and f"**{largest:.2f}**" in said
    assert said in words(visit(PAGE, model=model, text=PAIR.text, pair=PAIR.pair))
    assert tied(lab.trace(traced.model, PAIR.text)) is None
