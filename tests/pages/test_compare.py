"""The bench of comparisons, run whole: every way to compare, every figure, every kind of text, and its numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import lab
from lab.benches.compare import EXAMPLE
from lab.course.words import escaped, quoted
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.ui.parameters import CHANGE, COMPARE, COMPARED, DEFAULT_TEXT, INTERVENTION, TWO_MODELS, TWO_TEXTS, TWO_WEIGHTS
from tests.pages.apptest import Offer, largest, looks, open_badge, press, visit, words
from tests.pages.texts import EMPTY, LONG, WALKED
from tests.thorough import one_by_day, some

PAGE = "55_Compare.py"
A, B = "The cat sat on the mat.", "The dog sat on the mat."
LIMIT = 1_500_000  # bytes of one message to the browser
# Those whose numbers depend on how long the text is.
LARGE = ("Attention of a head", "All heads of a layer", "Sublayer changes")


def show(at: AppTest, compare: str, figure: str) -> AppTest:
    at.session_state["compare"], at.session_state["figure"] = compare, figure
    at.run()
    assert not at.error and "<script" not in re.sub(r"\\.", "", words(at))
    return at


def drawn(at: AppTest) -> int:
    """How many charts there are."""
    return len(at.get("vega_lite_chart"))


@one_by_day
@pytest.mark.parametrize(
    "params", some([{}, {"mode": "Toy"}, {"model": "lab-gpt2"}, {"mode": "Toy", "toy_weights": "Random"}], 2)
)
def test_every_way_and_every_figure(params: dict[str, str]) -> None:
    at = visit(PAGE, layer="2" if "mode" not in params else "1", other_model=DEFAULT_MODEL, **params)
    for figure in COMPARED[1:] if params.get("mode") == "Toy" else COMPARED:
        for compare in COMPARE.options:
            show(at, compare, figure)
            assert drawn(at) >= 2 or at.info or figure == "Specialization"


@pytest.mark.parametrize("causal", [False, True])
def test_every_text(causal: bool, offer: Offer) -> None:
    """Tiny models are enough: what is drawn of a text depends on its length, not on what was learned."""
    at = visit(PAGE, model=offer("gpt2" if causal else "bert"), layer="2", head="3")
    for place, (kind, (text, pair)) in enumerate(WALKED.items()):
        at.session_state["text"], at.session_state["pair"] = text, pair
        at.session_state["other_text"], at.session_state["other_pair"] = list(WALKED.values())[place - 1]
        figures = LARGE if kind == LONG else COMPARED[place % 3 :: 3]
        for figure in figures:
            show(at, TWO_TEXTS, figure)
            assert largest(at) < LIMIT, (kind, figure)
        show(at, INTERVENTION, figures[0])
    for text in EMPTY:
        at.session_state["other_text"] = text
        show(at, TWO_TEXTS, COMPARED[0])
        assert "Until you type a text B" in words(at)


# What the bench opens on, in each way to compare two runs of one model: at least so much has to change.
OPENS_ON = {TWO_TEXTS: 0.75, TWO_WEIGHTS: 0.75, INTERVENTION: 0.1}


@pytest.mark.parametrize("compare", OPENS_ON)
def test_it_opens_on_a_difference_that_one_sees(compare: str) -> None:
    at = visit(PAGE, compare=compare)
    found = re.search(r"The largest difference is \*\*([\d.e-]+)\*\*", words(at))
    assert found is not None and float(found[1]) >= OPENS_ON[compare]
    assert "**An example**" in words(at) and quoted(EXAMPLE[0]) in words(at)
    if compare == TWO_TEXTS:
        assert re.search("largest difference is .*, at “\u2068(were|was)\u2069”", words(at)), "it is about the verb"
    met = "You have met layer 5, head 11 in lesson 6." in words(at)
    assert met == (compare == INTERVENTION), "the head that the lab chose there is the one of lesson 6"


def test_what_is_asked_of_each_model_is_said_of_that_model() -> None:
    said = words(visit(PAGE, compare=TWO_MODELS)).replace("\\", "")
    assert f"“\u2068▢\u2069” hides token 5 from “\u2068{DEFAULT_MODEL}\u2069”" in said
    assert "“\u2068lab-gpt2\u2069” predicts what follows token 5" in said


@pytest.mark.parametrize("params", [{"text": A}, {"pair": A}, {"other_text": A}])
def test_a_learners_own_text_is_never_replaced(params: dict[str, str]) -> None:
    at = visit(PAGE, **params)
    assert "**An example**" not in words(at)
    assert escaped(params.get("text", DEFAULT_TEXT)) in words(at)


def test_until_there_is_a_text_b_it_is_the_same_words() -> None:
    said = words(visit(PAGE, text=A))
    assert "A with its words in reverse order" in said and quoted("mat the on sat cat The.") in said
    said = words(visit(PAGE, text=A, pair=B))
    assert "the two texts of A, swapped" in said and quoted(f"{B} / {A}") in said


def test_any_text_alone_has_something_to_be_compared_with(offer: Offer) -> None:
    at = visit(PAGE, model=offer("bert"))
    for kind, (text, pair) in WALKED.items():
        at.text_area(key="text").set_value(text)
        at.text_input(key="pair").set_value(pair).run()
        assert not at.error, kind
        assert "Until you type a text B" in words(at) and "**An example**" not in words(at), kind
        assert drawn(at) >= 2 or "is not a word" in words(at), kind


def test_a_toy_predicts_no_words_and_opens_on_its_attention() -> None:
    at = visit(PAGE, mode="Toy", figure="Most probable words")
    assert at.selectbox(key="figure").value == "Attention of a head" and drawn(at) >= 2
    assert "Most probable words" not in at.selectbox(key="figure").options


def test_the_sentence_above_says_what_the_traces_have() -> None:
    a, b = (lab.trace(lab.load_model(DEFAULT_MODEL), text) for text in (A, B))
    change = (b.layer(3).attention[5] - a.layer(3).attention[5]).abs()
    query, key = np.unravel_index(int(change.argmax()), change.shape)
    said = words(visit(PAGE, text=A, other_text=B, layer="4", head="6", figure="Attention of a head"))
    assert (
        f"The largest difference is **{change.max():.3g}**" in said
        and f"The mean of all differences is **{change.mean():.3g}**" in said
    )
    assert f"\\({query + 1}\\)\\, key" in said and f"\\({key + 1}\\)" in said
    assert f"{len(a) - 1} of {len(a)} tokens that agree" in said


def test_an_intervention_is_the_one_chosen() -> None:
    model = lab.load_model(DEFAULT_MODEL)
    plain = lab.trace(model, A)
    at = visit(
        PAGE, text=A, compare=INTERVENTION, layer="2", head="3", token="3", key_token="4", figure="Sublayer changes"
    )
    changes = {
        "Head set to zero": Interventions(zero_heads=frozenset({(1, 2)})),
        "Head set to its mean": Interventions(mean_heads=frozenset({(1, 2)})),
        "Head made uniform": Interventions(uniform_heads=frozenset({(1, 2)})),
        "No ÷ √d_k": Interventions(no_scaling=True),
        "No positions": Interventions(no_positions=True),
        "No segments": Interventions(no_segments=True),
        "One token pair blocked": Interventions(blocked=frozenset({(2, 3)})),
    }
    assert tuple(changes) == CHANGE.options
    for name, change in changes.items():
        at.selectbox(key="change").set_value(name).run()
        changed = lab.trace(model, A, interventions=change).hidden_states[-1]
        cosine = torch.nn.functional.cosine_similarity(changed.double(), plain.hidden_states[-1].double(), dim=-1)
        assert f"and {cosine.mean():.3f} after layer {model.config.layers}" in words(at), name
    assert "Later steps are not compared" in words(open_badge(at, 1))


def test_random_weights_are_named_and_seeded() -> None:
    seven, eight = (words(visit(PAGE, text=A, compare=TWO_WEIGHTS, twin_seed=seed)) for seed in ("7", "8"))
    assert "**random weights** (seed 7), so this model has learned nothing" in seven
    assert seven.replace("(seed 7)", "(seed 8)") != eight


def test_without_a_difference_there_is_a_reason_and_a_way() -> None:
    at = visit(PAGE, text=A, other_text="It was tired.", figure="Attention of a head")
    assert "A has 9 tokens\\, B has 6, so the two figures have no cells to compare" in words(at)
    assert "no difference map" in at.info[0].value and drawn(at) == 2
    press(at, "Compare a metric of every head")
    assert at.selectbox(key="figure").value == "Metric of every head"
    assert "largest difference" in words(at) and drawn(at) == 3


def test_the_asked_word_is_hidden_in_both() -> None:
    at = visit(PAGE, text=A, other_text=B, figure="Most probable words", token="3")
    assert "**No difference**" in words(at)  # cat or dog, neither is seen
    assert "“\u2068▢\u2069” hides token" in words(at)
    at = visit(PAGE, text=A, other_text=B, figure="Most probable words", token="1")
    assert "is not a word" in words(at)


def test_a_pair_that_cannot_be_blocked_is_explained() -> None:
    at = visit(
        PAGE, model="lab-gpt2", text=A, compare=INTERVENTION, change="One token pair blocked", token="1", key_token="1"
    )
    assert "it has nothing left" in words(at)
    at = visit(PAGE, model="lab-gpt2", text=A, compare=INTERVENTION, change="No segments")
    assert "has no segments, so there is nothing to leave out" in words(at) and "**No difference**" in words(at)


def test_two_toys_are_named() -> None:
    said = words(visit(PAGE, mode="Toy", compare=TWO_MODELS))
    assert "**weights written by hand**" in said and "**random weights**, which has learned nothing" in said
    said = words(visit(PAGE, mode="Toy", compare=TWO_MODELS, other_toy="Trained live"))
    assert "**before training**" in said


def test_a_token_s_figure_stays_at_its_token_when_another_head_is_chosen() -> None:
    """Another token would be hidden, and both sides would be run and proven anew."""
    chosen = [
        looks(visit(PAGE, text=A, other_text=B, figure="Most probable words", layer=layer, head=head))[0]
        for layer, head in (("1", "1"), ("3", "2"), ("6", "12"))
    ]
    assert len(set(chosen)) == 1
