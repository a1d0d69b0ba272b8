"""The bench of flow, run whole: every figure on every kind of text, its numbers, and what links can do to it."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.flow.maps import layer_maps, rollout
from lab.course.sentences.looks import look_head
from lab.course.words import escaped, named, share
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.parameters import DEFAULT_TEXT
from tests.pages.apptest import Offer, go, largest, sent, visit, walk, words
from tests.pages.texts import EMPTY, WALKED

PAGE = "53_Flow.py"
TEXT = "The cat sat on the mat because it was tired."
STEPS = ("sankey", "rollout", "influence-tree")
LIMIT = 1_500_000  # bytes of one message to the browser


def trace(model: str = DEFAULT_MODEL) -> lab.Trace:
    return lab.trace(lab.load_model(model), TEXT)


def by_weight(**params: str) -> AppTest:
    """The page, drawn of the attention weights of all heads and tokens as they are."""
    every = {"flow_reading": "Weights", "flow_heads": "Mean over heads", "flow_tokens": "All tokens"}
    return visit(PAGE, **every | params)


def layers() -> int:
    return lab.load_model(DEFAULT_MODEL).config.layers


@pytest.mark.parametrize("causal", [False, True])
def test_every_figure_bears_every_text(causal: bool, offer: Offer) -> None:
    """Tiny models are enough: what is drawn of a text depends on its length, not on what was learned."""
    at = visit(PAGE, model=offer("gpt2" if causal else "bert"), flow_layer="2", flow_threshold="0.01")
    for kind, (text, pair) in WALKED.items():
        at.session_state["text"], at.session_state["pair"] = text, pair
        at.run()
        assert tuple(walk(at)) == STEPS, kind
        assert "<script" not in words(at)
        assert largest(at) < LIMIT
    for text in EMPTY:
        at.text_area(key="text").set_value(text).run()
        assert at.info[0].value.startswith("There is no text yet.")


@pytest.mark.parametrize("reading", ["Weights", "Norms"])
@pytest.mark.parametrize("params", [{"mode": "Toy"}, {"mode": "Toy", "toy_weights": "Random"}, {"weights": "Random"}])
def test_toys_and_random_weights(params: dict[str, str], reading: str) -> None:
    choices = {"flow_heads": "One head", "flow_residual": "With residual", "flow_tokens": "Words only"}
    at = visit(PAGE, flow_reading=reading, **choices, **params)
    assert tuple(walk(at)) == STEPS


def test_the_sankeys_sentence_counts_what_the_model_has() -> None:
    maps = trace().attention.numpy().mean(axis=1)
    strongest = [np.sort(one[one >= 0.2])[::-1][:10] for one in maps]
    said = words(by_weight(text=TEXT, flow_threshold="0.2", flow_links="10"))
    drawn, there = sum(len(each) for each in strongest), int((maps >= 0.2).sum())
    assert f"{drawn} of {there} links with a weight of at least 0.2" in said
    assert f"**{sum(each.sum() for each in strongest) / maps.sum():.0%}** of what all tokens receive" in said
    assert f"**{maps.max():.2f}**" in said


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-bert", "lab-gpt2"])
def test_the_bench_opens_on_the_widest_band_between_words_of_the_head_that_shows_something(model: str) -> None:
    traced = lab.trace(lab.load_model(model), DEFAULT_TEXT)
    added = layer_maps(traced, look_head(traced)[1], norms=True)
    words_of = ~np.array(traced.encoding.special) if any(traced.encoding.special) else np.arange(len(traced)) > 0
    added = np.where(words_of[None, :, None] & words_of[None, None, :], added, 0)
    layer, query, key = (int(each) for each in np.unravel_index(int(added.argmax()), added.shape))
    at = visit(PAGE, model=model)
    assert at.segmented_control(key="flow_reading").value == "Norms"
    assert at.segmented_control(key="flow_tokens").value == "Words only"
    said = words(at)
    assert f"({key + 1}) to " in said and f"({query + 1}) in layer {layer + 1}: **{added.max():.2f}**" in said


def test_a_threshold_that_no_word_reaches_is_explained() -> None:
    largest = trace().attention.numpy().mean(axis=1)[:, 1:-1, 1:-1].max()
    at = by_weight(text=TEXT, flow_threshold="0.5", flow_tokens="Words only")
    assert (
        largest < 0.5
        and f"No link reaches the threshold 0.5. The strongest link has the weight {largest:.4f}" in words(at)
    )


def test_following_a_token() -> None:
    said = words(by_weight(text=TEXT, follow="3", flow_threshold="0.05"))
    assert "on paths from “\u2068cat\u2069”" in said
    assert "There is no token 99 to follow" in words(by_weight(text=TEXT, follow="99"))


def test_rollout_on_screen_is_rollout() -> None:
    attention = trace().attention.numpy().mean(axis=1)
    row = rollout(attention[:3])[2]
    said = words(by_weight(text=TEXT, step="rollout", flow_layer="3", token="3"))
    assert f"**{row[2]:.2f}** of itself" in said and f"**{np.delete(row, 2).max():.2f}**" in said


def test_rollout_opens_after_the_last_layer() -> None:
    """Also for whoever comes from a lesson, where the layer is that of a soft row unless another was chosen."""
    row = rollout(trace().attention.numpy().mean(axis=1))[2]
    at = visit("3_Self-attention.py", step="map", text=TEXT, token="3", flow_reading="Weights")
    assert int(at.selectbox(key="layer").value or 0) < layers()
    at.query_params.clear()  # as a browser does on the way to another page
    at.switch_page(f"pages/{PAGE}").run()
    said = words(go(at, "rollout"))
    assert f"**{row[2]:.2f}** of itself" in said
    assert at.selectbox(key="_flow_layer").value == layers()


def test_a_link_names_the_layer_to_which_the_paths_lead() -> None:
    at = by_weight(text=TEXT, step="rollout", flow_layer="2")
    assert at.selectbox(key="_flow_layer").value == 2 and not at.warning
    at.selectbox(key="_flow_layer").set_value(layers()).run()
    assert at.selectbox(key="_flow_layer").value == layers() and "flow_layer" not in at.query_params
    at = by_weight(text=TEXT, step="rollout", flow_layer="9")
    assert at.selectbox(key="_flow_layer").value == layers()
    assert f"There is no layer 9 in {escaped(DEFAULT_MODEL)}, whose layers run from 1 to {layers()}." in words(at)


def test_a_tree_too_large_is_cut_and_said() -> None:
    said = words(by_weight(text=TEXT, step="influence-tree", tree_k="7", tree_depth="4"))
    assert "the tree stops at depth 3" in said and "at most 400 nodes" in said
    assert f"layers {layers()} down to {layers() - 2}" in said
    assert f"ends at what comes out of layer {layers() - 3}" in said
    said = words(by_weight(text=TEXT, step="influence-tree", tree_k="7", tree_depth="4", tree="One layer repeated"))
    assert "the tree stops at depth 3" in said
    said = words(by_weight(text=TEXT, step="influence-tree", tree_k="21", tree_depth="x", flow_links="7"))
    for name in ("tree\\_k must be a number from 1 to 20", "tree\\_depth must be", "flow\\_links must be one of"):
        assert name in said or name.replace("\\", "") in said


def test_a_tree_says_when_it_has_fewer_levels_than_were_asked_for() -> None:
    said = words(by_weight(text=TEXT, step="influence-tree", flow_layer="2", tree_depth="5"))
    assert (
        "A tree of depth 5 needs 5 layers, but from layer 2 down there are only 2." in said
        and "layers 2 down to 1" in said
    )
    assert "needs 5 layers" not in words(by_weight(text=TEXT, step="influence-tree"))


@pytest.mark.parametrize("tokens", ["All tokens", "Words only"])
def test_a_tree_that_runs_through_special_tokens_alone_says_so(tokens: str) -> None:
    at = by_weight(text=TEXT, step="influence-tree", token="9", tree_k="1", flow_tokens=tokens)
    maps = trace().attention.numpy().mean(axis=1)
    special, place, inner = trace().encoding.special, 8, []
    for attention in maps[::-1][:4]:  # as many levels as are drawn
        kept = [i for i, each in enumerate(special) if tokens == "All tokens" or not each]
        place = max(kept, key=lambda i: attention[place, i])
        inner.append(special[place])
    assert ("Between its two ends, the path runs only through special tokens" in words(at)) == all(inner[:-1])


@pytest.mark.parametrize("head", [None, 3])
@pytest.mark.parametrize("residual", [False, True])
def test_the_tree_reads_one_layer_a_level(head: int | None, residual: bool) -> None:
    chosen = {} if head is None else {"flow_heads": "One head", "head": str(head)}
    paths = {"flow_residual": "With residual"} if residual else {}
    at = by_weight(text=TEXT, step="influence-tree", flow_layer="3", token="3", **chosen, **paths)
    header, arrays = sent(at)
    attention = trace().attention.numpy()
    maps = attention.mean(axis=1) if head is None else attention[:, head - 1]
    assert header["levels"][:4] == ["After layer 3", "After layer 2", "After layer 1", "Input"]
    assert header["title"].startswith("Influence tree of “cat”, from layer 3 down")
    assert arrays["depth"].max() == 3 and arrays["token"][0] == 2
    last = arrays["depth"] == 3
    best = int(np.flatnonzero(last)[arrays["product"][last].argmax()])
    assert f"The product of its weights is **{share(float(arrays['product'][best]))}**" in words(at)
    rolled = rollout(maps[:3], residual=residual)[2, arrays["token"][best]]
    assert f"add up to **{rolled:.4f}**" in words(at)
    path, node = [], best  # from the end that is read to the root, which reads: as attention runs
    while node >= 0:
        path.append(int(arrays["token"][node]))
        node = int(arrays["parent"][node]) if node else -1
    assert f" is {' → '.join(named(trace(), token) for token in path)}. The product" in words(at)


def test_one_layer_repeated_is_named_for_what_it_is() -> None:
    at = by_weight(
        text=TEXT,
        step="influence-tree",
        tree="One layer repeated",
        flow_layer="2",
        head="3",
        flow_heads="One head",
        token="3",
    )
    header, arrays = sent(at)
    attention = trace().layer(1).attention[2].numpy()
    assert header["title"] == "Tree of “cat”, layer 2 at every level, head 3"
    assert header["levels"] == [] and "rolled" not in arrays
    first = arrays["depth"] == 1
    assert arrays["weight"][first].tolist() == attention[2, arrays["token"][first]].tolist()
    assert "Every level reads the same matrix, from layer 2, head 3." in words(at)


def test_a_first_token_reads_itself_in_every_layer_and_has_no_tree_within_one() -> None:
    link = {"model": "lab-gpt2", "text": TEXT, "step": "influence-tree", "token": "1"}
    _, arrays = sent(by_weight(**link))
    assert set(arrays["token"].tolist()) == {0} and set(arrays["product"].tolist()) == {1.0}
    assert "no other token to attend to" in words(by_weight(tree="One layer repeated", **link))
    assert "has no token to attend to" in words(by_weight(flow_tokens="Words only", **link))
