"""The inter-sentence lesson, run whole: every step, one text and two, every kind of model, what links can do to it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.sentences.attention import inter_sentence
from lab.analysis.sentences.split import split
from lab.lessons.inter_sentence_attention.view import EXAMPLE
from lab.models.catalogue import DEFAULT_MODEL
from tests.pages.apptest import Offer, click_token, go, looks, reveal, sentence_of, step_of, visit, walk, words
from tests.sentences import FOLLOWS

PAGE = "7_Inter-sentence_attention.py"
ONE = "The sleepy cat sat on the mat."
TEXT = "The dog ran to the park. It found a ball there. The children laughed."
STEPS = ("matrix", "behind-a-cell", "shuffled", "special-tokens", "pair-or-not", "check")


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": TEXT, **params}))


def unfold(at: AppTest, key: str) -> AppTest:
    """Open what is behind a click."""
    at.session_state[key] = True
    at.run()
    assert not at.exception
    return at


def gives(at: AppTest, a: int, b: int, share: float) -> bool:
    """Whether the page says that sentence ``a`` gives ``share`` to sentence ``b``, both from 1."""
    return f"Sentence {a} gives {share:.0%} to {'itself' if a == b else f'sentence {b}'}" in words(at)


@pytest.mark.parametrize("measure", ["Maximum", "Length-corrected"])  # the third is the one it opens on
def test_every_step_draws(measure: str) -> None:
    at = visit(PAGE, text=TEXT, measure=measure)
    assert tuple(walk(at)) == STEPS
    go(at, "matrix")
    assert at.segmented_control(key="measure").value == measure
    assert not at.warning


def test_nothing_is_called_the_effect_of_a_border_that_the_model_does_not_put() -> None:
    said = words(go(visit(PAGE, model="lab-gpt2", text=TEXT, pair="Nobody saw it."), "pair-or-not"))
    assert "puts no border between two texts" in said
    assert not re.search(r"(less|more) crosses|crosses with a border", said, re.IGNORECASE)


def test_the_suggestion_of_another_second_text_always_has_its_button() -> None:
    at = go(visit(PAGE, text=FOLLOWS[0], pair="They slept."), "pair-or-not")
    for _ in range(2):
        before = at.text_input(key="pair").value
        at.button(key="_try").click().run()
        go(at, "pair-or-not")
        assert at.text_input(key="pair").value != before


def test_a_try_can_be_taken_back() -> None:
    at = visit(PAGE, step="matrix", text=TEXT, sentence="1", other_sentence="2")
    assert not [button for button in at.button if button.key == "_try_back"]
    at.button(key="_try").click().run()
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) != (1, 2)
    at.button(key="_try_back").click().run()
    assert not at.exception
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (1, 2)
    assert step_of(at) == "matrix"
    assert not [button for button in at.button if button.key == "_try_back"]
    at.button(key="_try").click().run()
    at.selectbox(key="sentence").set_value(1).run()
    at.selectbox(key="other_sentence").set_value(1).run()
    assert not [button for button in at.button if button.key == "_try_back"]  # there is nothing left of the try


def test_the_arcs_are_the_weights_behind_the_chosen_cell_and_a_click_chooses_sentences() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    of_token = split(trace).of_token
    weights = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    a, b = ([i for i, sentence in enumerate(of_token) if sentence == n] for n in (2, 0))
    right = np.zeros_like(weights)
    right[np.ix_(a, b)] = weights[np.ix_(a, b)]
    at = open_step("behind-a-cell", sentence="3", other_sentence="1", sinks="Kept")
    header, arrays = sentence_of(at)
    assert header["across"] and looks(at) == (a[0], b[0])
    np.testing.assert_allclose(arrays["weights"], right, atol=1e-6)
    click_token(at, of_token.index(1) + 2, of_token.index(2))
    assert (at.session_state["sentence"], at.session_state["other_sentence"]) == (2, 3)
    click_token(at, 0)  # [CLS] is in no sentence
    assert (at.session_state["sentence"], at.session_state["other_sentence"]) == (2, 3)
    assert not sentence_of(go(at, "matrix"))[0]["arcs"]


def test_the_way_back_is_told_beside_the_way_there() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    members = [[i for i, s in enumerate(split(trace).of_token) if s == n] for n in range(3)]
    weights = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    back = weights[np.ix_(members[0], members[2])].sum(axis=-1).mean()
    at = open_step("matrix", sentence="3", other_sentence="1", sinks="Kept")
    assert f"sentence 1 gives {back:.0%} of its attention to sentence 3" in words(at)
    assert "In the other direction, there is no attention" in words(
        open_step("matrix", sentence="3", other_sentence="1", model="lab-gpt2")
    )


def test_a_pair_is_compared_with_one_segment() -> None:
    at = visit(PAGE, text=FOLLOWS[0], pair=FOLLOWS[1])
    go(at, "pair-or-not")
    assert "1 more special token between the texts, and a different segment vector" in words(at)


def test_the_map_is_of_shares_and_other_measures_are_behind_a_click() -> None:
    """Old links name their measure, and open it; the bench that shares the parameter begins with shares, too."""
    at = go(visit(PAGE, text=TEXT), "matrix")
    assert all(control.key != "measure" for control in at.segmented_control)
    assert unfold(at, "_otherwise").segmented_control(key="measure").options == ["Length-corrected", "Maximum"]
    assert open_step("matrix", measure="Maximum").segmented_control(key="measure").value == "Maximum"
    assert (
        visit("55_Compare.py", figure="Sentence to sentence", text=TEXT, other_text=TEXT)
        .segmented_control(key="measure")
        .value
        == "Mean mass"
    )


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_on_a_fresh_visit_every_step_is_alive(model: str) -> None:
    """While the learner has no text, the lesson begins with three sentences."""
    at = visit(PAGE, model=model)
    for _ in walk(at):
        assert at.text_area(key="text").value == EXAMPLE
        assert "**Example.**" not in words(at) and "text" not in at.query_params
    assert "**3 sentences**" in words(unfold(go(at, "matrix"), "_sentences"))


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_with_a_single_sentence_every_step_is_alive(model: str) -> None:
    """The learner's sentence is one; the lesson shows three of its own, says so, and leaves the text as it is."""
    at = visit(PAGE, model=model, text=ONE)
    shown = set()
    for step in walk(at):
        said = words(at)
        assert (
            "**Example.**" in said and "Your text has only one sentence: “\u2068The sleepy cat sat on the mat" in said
        )
        assert at.text_area(key="text").value == ONE
        shown.add((step, len(at.main)))
        rest = said.replace(next(part.value for part in at.markdown if "**Example.**" in part.value), "")
        assert "sleepy" not in rest
    assert len(shown) == len(STEPS)
    assert "**3 sentences**" in words(unfold(go(at, "matrix"), "_sentences"))


def test_the_example_can_be_taken_and_ones_own_text_ends_it() -> None:
    at = visit(PAGE, text="The cat sat.")
    assert "Your text has only one sentence: “\u2068The cat sat" in words(at)
    next(button for button in at.button if button.label == "Take three sentences").click().run()
    assert not at.exception
    assert at.text_area(key="text").value == EXAMPLE
    unfold(at, "_sentences")
    assert "**Example.**" not in words(at) and "**3 sentences**" in words(at)
    at.text_area(key="text").set_value("The cat sat. It slept.").run()
    assert "**Example.**" not in words(at) and "**2 sentences**" in words(at)
    at.text_area(key="text").set_value("The cat sat.").run()
    at.text_input(key="pair").set_value("It slept.").run()
    assert "**Example.**" not in words(at) and "**2 sentences**" in words(at)


def test_the_numbers_of_the_example_are_of_its_own_trace() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), EXAMPLE)
    members = [[i for i, s in enumerate(split(trace).of_token) if s == n] for n in range(3)]
    inside = sorted(place for own in members for place in own)
    attention = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))[np.ix_(inside, inside)]
    attention /= attention.sum(axis=-1, keepdims=True)
    rows, columns = ([inside.index(i) for i in members[n]] for n in (1, 0))
    mass = attention[np.ix_(rows, columns)].sum(axis=-1).mean()
    assert gives(open_step("matrix", text="The cat sat."), 2, 1, mass)


def test_the_lesson_begins_where_a_pronoun_looks_back_to_what_it_means() -> None:
    """Of all words of the first sentence, “she” gives most to “girl”, and “it” to “dog”."""
    at = visit(PAGE)
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (2, 1)
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), EXAMPLE)
    weights = trace.attention.mean(dim=(0, 1)).numpy()
    first = [place for place in split(trace).places(0) if trace.labels[place].isalpha()]
    for pronoun, meant in (("she", "girl"), ("it", "dog")):
        row = weights[trace.labels.index(pronoun), first]
        assert trace.labels[first[int(row.argmax())]] == meant
    at = reveal(go(at, "behind-a-cell"))
    assert re.search(
        "“\u2068she\u2069” looks most at “\u2068girl\u2069”.* and “\u2068it\u2069” at “\u2068dog\u2069”", words(at)
    )
    queries = [trace.labels.index(pronoun) for pronoun in ("she", "girl")]
    heads = trace.attention.numpy()[:, :, queries[0], queries[1]]
    layer, head = (int(at) for at in np.unravel_index(int(heads.argmax()), heads.shape))
    reveal(at.button(key="_try").click().run())
    assert at.segmented_control(key="behind").value == "One head"
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer + 1, head + 1)


def test_a_button_makes_a_pair_of_the_sentences() -> None:
    at = open_step("pair-or-not")
    assert not at.text_input(key="pair").value and "The model read the same words twice" in words(at)
    assert "What this means" in words(at)
    next(button for button in at.button if button.label.startswith("Make your text a pair")).click().run()
    reveal(at)
    assert at.text_input(key="pair").value == "It found a ball there. The children laughed."
    assert "The model read the same words twice" in words(at)


@pytest.mark.parametrize("pair", ["", "It sat."])
def test_gpt2_looks_back_only(pair: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=TEXT, pair=pair)
    assert at.selectbox(key="model").value == name
    assert tuple(walk(at)) == STEPS
    assert "You see the other direction" not in words(go(at, "matrix"))
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (2, 1)
    at = visit(PAGE, model=name, text=TEXT, pair=pair, sentence="1", other_sentence="3", step="matrix")
    assert "no token of sentence 1 can look at sentence 3. You see the other direction" in words(at)
    assert re.search(r"Sentence 3 gives \d+% to sentence 1", words(reveal(at)))


def test_the_first_token_of_a_causal_model_is_left_out_and_what_it_takes_is_said() -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), TEXT)
    attention = trace.attention.numpy().astype(np.float64)
    first, second = (list(split(trace).places(n)) for n in (0, 1))
    taken = attention[:, :, second, 0].mean()
    whole = attention[:, :, second][..., first].sum(axis=-1).mean()
    others = attention.mean(axis=(0, 1))[second, 1:]
    without = (others[:, [i - 1 for i in first[1:]]].sum(axis=-1) / others.sum(axis=-1)).mean()
    at = open_step("special-tokens", model="lab-gpt2")
    assert re.search(rf"From sentence 2, the first token .* {taken:.0%}. A uniform head", words(at))
    assert "Xiao et al. 2024" in words(at) and "no-op" not in words(at) and "nothing to leave out" not in words(at)
    assert f"{whole:.3f} with all tokens, and **{without:.3f}** without the first token" in words(
        unfold(at, "_both_maps")
    )
    assert gives(open_step("matrix", model="lab-gpt2"), 2, 1, without)
    assert gives(open_step("matrix", model="lab-gpt2", sinks="Kept"), 2, 1, whole)


def test_left_out_the_corrected_values_lie_on_both_sides_of_1_and_1_is_explained() -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    kept, left_out = (inter_sentence(trace, split(trace).of_token, renormalise=each) for each in (False, True))
    assert (kept.relative < 1).all()  # what an expert objected to: less than even, also within a sentence
    assert (np.diag(left_out.relative) > 1).all() and left_out.relative.min() < 1
    for sinks, found in (("Left out", left_out), ("Kept", kept)):
        at = open_step("matrix", measure="Length-corrected", sinks=sinks)
        assert f"**{found.relative[1, 0]:.3f}**" in words(
            at
        ) and "means that a sentence gets only what its length explains" in words(at)


def test_a_first_sentence_of_one_token_is_not_emptied() -> None:
    at = visit(PAGE, model="lab-gpt2", text="a", pair="The dog ran.", step="matrix")
    assert "no token is left out" in words(unfold(reveal(at), "_otherwise"))
    assert "Write a longer sentence" in words(go(at, "special-tokens"))
    assert len(tuple(walk(at))) == len(STEPS)


def test_a_long_text_shows_its_first_sentences() -> None:
    said = words(visit(PAGE, text="The word is here again. " * 200))
    assert "and you see the first 12" in said and "more sentences do not fit" in said


def test_what_is_in_no_sentence_on_screen_is_not_called_special() -> None:
    """Of fifteen sentences twelve are shown: the rest of the attention is not [CLS]'s and [SEP]'s alone."""
    said = words(open_step("matrix", text="The dog ran. " * 15))
    assert "without \\[CLS\\] and \\[SEP\\] and the sentences" in said


def test_the_toy_reads_two_sentences_and_every_step_works_on_it() -> None:
    at = visit(PAGE, mode="Toy", toy_sentence="2", toy_other="3")
    assert tuple(walk(at)) == (
        "Toy data",
        "Both heads",
        "Without segments",
        *(step for step in STEPS if step != "shuffled"),
    )
    assert "two heads written by hand" in words(at)
    said = words(go(at, "Toy data"))
    assert "first “\u2068g f h\u2069”, then “\u2068e h f f e\u2069”" in said
    assert "look at the same letter in the other sentence" in words(go(at, "Both heads"))


def test_what_crosses_in_the_toy_differs_by_direction() -> None:
    """One of its two heads crosses, with the letters that the other sentence has: f e c c a a a and g f h."""
    at = reveal(visit(PAGE, mode="Toy", step="matrix", sinks="Kept"))
    for a, b, share in ((1, 2, 1 / 7), (2, 1, 1 / 3)):
        at.selectbox(key="sentence").set_value(a).run()
        at.selectbox(key="other_sentence").set_value(b).run()
        found = re.search(rf"Sentence {a} gives (\d+)% to sentence {b}", words(at))
        assert found is not None and float(found[1]) / 100 == pytest.approx(share / 2, abs=0.0051)


def test_the_toy_s_second_sentence_is_brought_inside() -> None:
    assert "The toy has 4 sentences" in words(visit(PAGE, mode="Toy", toy_count="4", toy_other="9"))


def test_the_head_for_the_same_word_in_another_sentence_can_be_opened() -> None:
    at = unfold(reveal(visit(PAGE, step="behind-a-cell")), "_same_word")
    assert "dog" in words(at) and "Layer 3, head 10 looks from them" in words(at)
    at.button(key="_open").click().run()
    assert not at.exception and at.segmented_control(key="behind").value == "One head"
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (3, 10)
    assert "_open" not in [each.key for each in at.button]


def test_the_words_behind_a_number_are_seen_in_any_head() -> None:
    """The mean over all, the head with the largest weight, or one head that the learner chooses."""
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    members = [[i for i, s in enumerate(split(trace).of_token) if s == n] for n in range(3)]
    block = trace.attention.numpy().astype(np.float64)[:, :, members[1]][..., members[0]]
    layer, head, query, key = (int(place) for place in np.unravel_index(int(block.argmax()), block.shape))
    at = open_step("behind-a-cell", sentence="2", other_sentence="1", sinks="Kept")
    assert at.segmented_control(key="behind").value == "All heads, mean"
    assert f"Of the {block.sum(-1).mean():.0%} in this cell, the largest part" in words(at)
    at.segmented_control(key="behind").set_value("Strongest head").run()
    assert f"in layer {layer + 1}, head {head + 1}, " in words(at) and f"{block.max():.3f}. In Python" in words(at)
    assert f"`trace.layer({layer}).attention[{head}, {members[1][query]}, {members[0][key]}]`" in words(at)
    at.segmented_control(key="behind").set_value("One head").run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer + 1, head + 1)
    at.selectbox(key="layer").set_value(2).run()
    at.selectbox(key="head").set_value(3).run()
    assert f"Of the {block[1, 2].sum(-1).mean():.0%} in this cell, the largest part" in words(at)


def test_a_click_on_the_matrix_chooses_two_sentences() -> None:
    at = open_step("matrix")
    at.session_state["sentences"] = {"selection": {"cell": [{"q": 2, "k": 1}]}}
    at.run()
    assert (at.selectbox(key="sentence").value, at.selectbox(key="other_sentence").value) == (3, 2)


def test_bad_links_are_told() -> None:
    said = words(visit(PAGE, text=TEXT, sentence="9", other_sentence="x", measure="Best"))
    assert "There is no sentence" in said and "There is no other sentence" in said and "measure must be one of" in said


def test_checks_are_three_at_most() -> None:
    at = open_step("check")
    radios = [radio for radio in at.radio if str(radio.key).startswith("_check.")]
    assert 2 <= len(radios) <= 3
    radios[0].set_value(0).run()
    assert len(at.success) + len(at.error) + len(at.warning) == 1


def test_the_first_token_of_each_sentence_is_the_first_that_begins_in_it() -> None:
    text = "The dog ran. It was fast. We saw it."
    at = unfold(visit(PAGE, text=text, step="matrix"), "_sentences")
    begins = [text.index(each) for each in ("The", "It", "We")]
    offsets = lab.trace(lab.load_model(DEFAULT_MODEL), text).encoding.offsets
    first = [next(place for place, (start, end) in enumerate(offsets, 1) if start == there < end) for there in begins]
    (table,) = [each.value for each in at.dataframe if "first token" in each.value]
    assert list(table["first token"]) == first
