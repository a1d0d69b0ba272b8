"""The bench of flow, run whole: every figure on every kind of text, its numbers, and what links can do to it."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.rollout import rollout
from tests.charts.payloads import unpack
from tests.pages.apptest import visit, walk, words
from tests.pages.texts import EMPTY, TEXTS

PAGE = "13_Flow.py"
TEXT = "The cat sat on the mat because it was tired."
STEPS = ("Sankey", "Rollout", "Influence tree")
LIMIT = 1_500_000  # bytes of one message to the browser


def sent(at: AppTest) -> int:
    """The bytes of the largest element on the page; figures are among them."""
    protos = [element.proto for element in at.main if element.proto is not None]
    assert any(hasattr(proto, "spec") or hasattr(proto, "bytes") for proto in protos) or at.info
    return max(len(proto.SerializeToString()) for proto in protos)


def trace(model: str = "lab-bert") -> lab.Trace:
    return lab.trace(lab.load_model(model), TEXT)


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_every_figure_bears_every_text(model: str) -> None:
    at = visit(PAGE, model=model, layer="2", flow_threshold="0.01")
    for kind, (text, pair) in TEXTS.items():
        at.session_state["text"], at.session_state["pair"] = text, pair
        at.run()
        assert tuple(walk(at)) == STEPS, kind
        assert "<script" not in words(at)
        assert sent(at) < LIMIT
    for text in EMPTY:
        at.text_area(key="text").set_value(text).run()
        assert not at.exception and at.info[0].value.startswith("There is no text yet.")


@pytest.mark.parametrize("reading", ["Weights", "Norms"])
@pytest.mark.parametrize("params", [{"mode": "Toy"}, {"mode": "Toy", "toy_weights": "Random"}, {"weights": "Random"}])
def test_toys_and_random_weights(params: dict[str, str], reading: str) -> None:
    choices = {"flow_heads": "One head", "flow_residual": "With residual", "flow_tokens": "Words only"}
    at = visit(PAGE, flow_reading=reading, **choices, **params)
    assert tuple(walk(at)) == STEPS


def test_the_sankeys_sentence_counts_what_the_model_has() -> None:
    maps = np.stack([trace().layer(layer).attention.numpy().mean(axis=0) for layer in range(4)])
    strongest = [np.sort(one[one >= 0.2])[::-1][:10] for one in maps]
    said = words(visit(PAGE, text=TEXT, flow_threshold="0.2", flow_links="10"))
    drawn, there = sum(len(each) for each in strongest), int((maps >= 0.2).sum())
    assert f"{drawn} of {there} links with at least 0.2" in said
    assert f"**{sum(each.sum() for each in strongest) / maps.sum():.1%}** of what all tokens receive" in said
    assert f"**{maps.max():.4f}**" in said


def test_a_threshold_that_no_word_reaches_is_explained() -> None:
    largest = trace().attention.numpy().mean(axis=1)[:, 1:-1, 1:-1].max()
    at = visit(PAGE, text=TEXT, flow_threshold="0.5", flow_tokens="Words only")
    assert largest < 0.5 and f"No link reaches 0.5; the strongest has {largest:.4f}" in words(at)


def test_following_a_token() -> None:
    said = words(visit(PAGE, text=TEXT, follow="3", flow_threshold="0.05"))
    assert "on paths from “\u2068cat\u2069”" in said
    assert "There is no token 99 to follow" in words(visit(PAGE, text=TEXT, follow="99"))


def test_rollout_on_screen_is_rollout() -> None:
    attention = trace().attention.numpy().mean(axis=1)
    row = rollout(attention[:3])[2]
    said = words(visit(PAGE, text=TEXT, step="Rollout", layer="3", token="3"))
    assert f"**{row[2]:.4f}** of itself" in said
    assert f"**{np.delete(row, 2).max():.4f}**" in said
    assert "The row adds up to 1.0000" in said


def test_a_tree_too_large_is_cut_and_said() -> None:
    said = words(visit(PAGE, text=TEXT, step="Influence tree", tree_k="7", tree_depth="4"))
    assert "The tree stops at depth 3" in said and "at most 400 nodes" in said
    said = words(visit(PAGE, text=TEXT, step="Influence tree", tree_k="21", tree_depth="x", flow_links="7"))
    for name in ("tree\\_k must be a number from 1 to 20", "tree\\_depth must be", "flow\\_links must be one of"):
        assert name in said or name.replace("\\", "") in said


def test_the_tree_is_sent_with_the_traces_weights() -> None:
    at = visit(PAGE, text=TEXT, step="Influence tree", layer="2", head="3", flow_heads="One head", token="3")
    payload = next(element.proto for element in at.main if element.type == "bidi_component")
    header, arrays = unpack(payload.bytes)
    attention = trace().layer(1).attention[2].numpy()
    assert header["title"] == "Influence tree of cat, layer 2, head 3"
    for node in range(1, len(arrays["token"])):
        parent = arrays["token"][arrays["parent"][node]]
        assert arrays["weight"][node] == attention[parent, arrays["token"][node]]


def test_a_first_token_that_sees_only_itself_has_no_tree() -> None:
    at = visit(PAGE, model="lab-gpt2", text=TEXT, step="Influence tree", token="1")
    assert "no other token to attend to" in words(at)
