"""The masked-language-model lesson, run whole: every step, every kind of model, what links and texts can do to it."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
import torch
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import follows, head_steps
from lab.course.words import percent, share
from lab.figures.sentence import DRAWN
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.reference import reference
from lab.models.trace import trace
from lab.ui import runs
from tests.charts.payloads import unpack
from tests.checkpoints import Family
from tests.pages.apptest import (
    Offer,
    click_token,
    components,
    looks,
    reveal,
    row_of,
    sentence_of,
    step_of,
    turn_to,
    unfold,
    visit,
    walk,
    words,
)
from tests.sentences import CAT

PAGE = "9_Masked_language_model.py"
# Steps that ask about one place, and those that take the text as it stands.
MASKED = ("hide-words", "from-vector-to-word", "logit-lens", "check")
WHOLE = ("every-place", "likelihood", "next-sentence")
NEXT = ("next-token", "from-vector-to-word", "logit-lens", "every-place", "writing-on", "check")


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": CAT, **params}))


def blanks(at: AppTest) -> list[int]:
    """The hidden places, from 0, that the sentence shows."""
    header, _ = sentence_of(at)
    return [header["first"] + place for place, hidden in enumerate(header["hidden"]) if hidden]


def hidden_places(at: AppTest) -> str:
    return str(at.session_state["masked"])


def test_every_step_of_a_hidden_word_shows_the_blank() -> None:
    at = visit(PAGE, text=CAT)
    for step in walk(at, MASKED):
        assert blanks(at) == [10] and looks(at) == (10, None), step


def test_the_last_whole_word_is_hidden_before_anybody_chose() -> None:
    at = visit(PAGE, text=CAT)
    assert blanks(at) == [10]


def test_clicking_words_hides_them_and_asks_about_the_new_one() -> None:
    at = visit(PAGE, text=CAT)
    click_token(at, 2)
    assert hidden_places(at) == "3.11" and blanks(at) == [2, 10]
    assert looks(at)[0] == 2 and "token 3" in words(at)
    click_token(at, 10)  # asks about the other one
    assert blanks(at) == [2, 10] and looks(at)[0] == 10
    click_token(click_token(at, 2), 2)  # asks about the first, and shows it
    assert blanks(at) == [10]
    assert "token 11" in words(at)
    click_token(at, 0)  # a special token cannot be hidden
    assert blanks(at) == [10] and looks(at)[0] == 10


def test_nothing_hidden_asks_for_a_word() -> None:
    at = visit(PAGE, text=CAT, masked="none")
    for step in walk(at, MASKED):
        assert "Hide a word" in words(at), step
        assert blanks(at) == [], step
    click_token(at, 4)
    assert hidden_places(at) == "5"


def test_a_link_restores_what_was_hidden_and_asked() -> None:
    at = open_step("hide-words", text=CAT, masked="3.9", place="9")
    assert blanks(at) == [2, 8]
    assert looks(at)[0] == 8
    assert "token 9" in words(at)


@pytest.mark.parametrize(
    ("masked", "kept"),
    [("99", [10]), ("1", [10]), ("3.99", [2]), ("0.-4.3", [2]), ("<b>", [10]), ("3.3.3", [2]), ("9" * 500, [10])],
)
def test_places_a_text_does_not_have_are_left_out_and_said(masked: str, kept: list[int]) -> None:
    at = visit(PAGE, text=CAT, masked=masked, place="77")
    assert blanks(at) == kept
    assert ("The link hides" in words(at)) == (masked != "3.3.3")
    assert not at.exception


def test_a_changed_sentence_keeps_a_hidden_word_only_where_it_still_stands() -> None:
    at = visit(PAGE, text=CAT, masked="3.11")
    at.text_area(key="text").set_value("The cat sat on the mat because it was happy.").run()
    assert hidden_places(at) == "3"
    at.text_area(key="text").set_value("Sit.").run()
    assert not at.exception
    assert blanks(at) == [1]
    assert "The link hides" not in words(at)


def test_a_typed_mask_counts_as_hidden() -> None:
    at = visit(PAGE, text="The king and the [MASK] lived in a castle.")
    assert blanks(at) == [5] and at.session_state["masked"] == ""
    assert looks(at)[0] == 5
    click_token(at, 5)  # what was typed stays
    assert blanks(at) == [5]


# Beside what every lesson must bear (test_matrix.py).
TEXTS = {
    "one token": "the",
    "lone mask": "[MASK]",
    "unknown": "🙂 🙂",
    "special": "[CLS] [SEP] [PAD]",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_keeps_every_step_alive(name: str) -> None:
    at = visit(PAGE, text=CAT)
    at.text_area(key="text").set_value(TEXTS[name]).run()
    for step in walk(at, MASKED):
        assert "<script" not in re.sub(r"\\.", "", words(at)), step


def test_a_long_text_is_a_window_around_the_place_that_is_asked() -> None:
    at = visit(PAGE, text="word " * 600)
    assert "cut" in words(at)
    header, _ = sentence_of(at)
    asked = looks(at)[0]
    assert len(header["labels"]) == DRAWN < header["count"] and header["first"] <= asked
    click_token(at, asked - 3)
    assert hidden_places(at) == f"{asked - 2}.{asked + 1}"
    assert looks(at)[0] == asked - 3


def test_shown_numbers_are_the_models() -> None:
    """Rank, probability and the written-out softmax against logits computed here."""
    model = lab.load_model(DEFAULT_MODEL)
    typed = lab.trace(model, CAT.replace("mat", "[MASK]"))
    probabilities = typed.logits(6)[0].double().softmax(0)
    mat = lab.trace(model, CAT).token_ids[6]
    rank = 1 + int((probabilities > probabilities[mat]).sum())
    at = open_step("hide-words", text=CAT, masked="7")
    assert f"is number {rank:,} of" in words(at)
    at = open_step("from-vector-to-word", text=CAT, masked="7")
    at.session_state["_candidate"] = mat
    unfold(at, "_sum")
    assert f"{typed.logits(6)[0, mat].item():.3f}" in at.latex[0].value
    (played,) = [each for each in components(at) if each.key == "_softmax"]
    header, arrays = unpack(played.proto.bytes)
    powers = np.exp([*arrays["logits"], header["rest"]], dtype=np.float64)
    best = probabilities.sort(descending=True).values[: len(arrays["logits"]) - 1].numpy()
    np.testing.assert_allclose((powers / powers.sum())[: len(best)], best, rtol=1e-4)


def test_seeing_a_word_is_told_from_guessing_it() -> None:
    """The word that the course hides in this text, hidden and in plain sight, against logits computed here."""
    model = lab.load_model(DEFAULT_MODEL)
    seen, hidden = lab.trace(model, CAT), lab.trace(model, CAT.replace("tired", "[MASK]"))
    before, after = (each.logits(10)[0].double().softmax(0)[seen.token_ids[10]].item() for each in (hidden, seen))
    said = words(open_step("every-place"))
    assert f"It goes from {share(before)} to {share(after)}." in said
    assert f"from {share(before)} to **{share(after)}**" in said


def test_the_vectors_of_the_head_are_drawn_each_on_its_own_scale() -> None:
    at = unfold(open_step("from-vector-to-word", text=CAT), "_vectors")
    steps = head_steps(masked_run(lab.trace(lab.load_model(DEFAULT_MODEL), CAT), (10,)), 10)
    chart = pa.ipc.open_stream(at.get("vega_lite_chart")[0].proto.data.data).read_pandas()
    values = chart["value"].to_numpy().reshape(4, -1)
    assert np.abs(values).max(axis=1) == pytest.approx(1)
    assert values[0] == pytest.approx(steps.hidden / np.abs(steps.hidden).max(), abs=1e-5)
    assert f"hidden state {np.abs(steps.hidden).max():.2f}" in words(at)
    # The library's head: dense with a bias, GELU, LayerNorm, then the words' rows and a bias for each word.
    assert r"\text{LayerNorm}(\text{GELU}(hW + b))" in at.latex[-1].value and r"E^\top + b_E" in at.latex[-1].value
    causal = unfold(open_step("from-vector-to-word", model="lab-gpt2"), "_vectors")
    assert not any("logits" in formula.value for formula in causal.latex)  # GPT-2 has no such layer


def test_a_causal_model_predicts_the_next_token(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"), text="The cat sat on", temperature="0.5")
    assert row_of(at) == list(NEXT)
    places = len(lab.trace(lab.load_model(runs.local_models()["tiny-gpt2"]), "The cat sat on"))
    for step in walk(at):
        if step in WHOLE:
            continue
        header, _ = sentence_of(at)
        assert looks(at)[0] == places - 1 and header["read"] == places, step
        click_token(at, 0)
        assert at.session_state["place"] == 1 and sentence_of(at)[0]["read"] == 1, step
        click_token(at, places - 1)


def test_the_sentence_shows_tokens_to_the_letter(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"), text="*the*  <b>")
    assert sentence_of(at)[0]["labels"][0] == "*"
    assert "(empty)" not in words(at)


def test_temperature_divides_the_logits(offer: Offer) -> None:
    name = offer("gpt2")
    at = unfold(open_step("from-vector-to-word", model=name, text="The cat sat on", temperature="0.5"), "_sum")
    logits = lab.trace(lab.load_model(runs.local_models()[name]), "The cat sat on").logits(-1)[0].double()
    second = (logits / 0.5).softmax(0).topk(2).values[1].item()  # the word that the question raises
    assert f"= {second:.4g}" in at.latex[0].value
    reveal(turn_to(at, "next-token"))
    assert at.slider(key="temperature").value == 0.5


def test_a_causal_model_says_why_nothing_is_hidden(offer: Offer) -> None:
    assert "reads from left to right" in words(open_step("next-token", model=offer("gpt2")))


@pytest.mark.parametrize("family", ["roberta", "distilbert", "modernbert"])
def test_other_masked_models(offer: Offer, family: Family) -> None:
    assert set(walk(visit(PAGE, model=offer(family), text=CAT))) == {*MASKED, *WHOLE, "writing-on"}


@pytest.mark.parametrize(("family", "why"), [("electra", "were replaced"), ("bert-headless", "vocabulary head")])
def test_a_model_without_a_head_says_why_and_what_instead(offer: Offer, family: Family, why: str) -> None:
    at = visit(PAGE, model=offer(family))
    assert not at.exception
    assert why in words(at)
    assert f"Choose {DEFAULT_MODEL}" in words(at)


def test_checks_are_graded_on_this_text() -> None:
    at = visit(PAGE, step="check", text=CAT)
    radios = [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")]
    assert 1 <= len(radios) <= 5
    radios[0].set_value(0).run()
    assert not at.exception
    assert at.success or at.error or at.warning


def test_of_random_weights_the_bars_mean_nothing() -> None:
    for params in ({"weights": "Trained"}, {"weights": "Random"}, {"mode": "Toy"}):
        at = visit(PAGE, step="hide-words", **params)
        assert ("The weights are random" in words(at)) == (params != {"weights": "Trained"})


@pytest.mark.parametrize(
    ("model", "after"),
    # Whole words only: to lab-bert and lab-gpt2, “sailed” is two pieces.
    [
        (DEFAULT_MODEL, "The ship across sailed the sea."),
        ("lab-bert", "The ship sailed the across sea."),
        ("lab-gpt2", "The ship sailed the across sea."),
    ],
)
def test_two_neighbours_change_places(model: str, after: str) -> None:
    at = open_step("likelihood", model=model, text="The ship sailed across the sea.")
    at.button(key="_try").click().run()
    assert not at.exception
    assert at.text_area(key="text").value == after


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_a_sentence_in_which_one_word_decides_and_its_change_are_a_click_away(model: str) -> None:
    """From any text and any hidden word, the button asks about the verb, and then about that of the other subject."""
    at = reveal(visit(PAGE, model=model, text="The cat were here.", masked="4"))
    for blank, answer in (("The boys", "were"), ("The boy", "was")):
        reveal(at.button(key="_try").click().run())
        assert not at.exception
        assert at.text_area(key="text").value == f"{blank} {answer} playing in the garden."
        assert f"\u2068{answer}\u2069" in words(at).replace("␣", "").split("What this means")[1]
        causal = model == "lab-gpt2"
        assert at.session_state["place"] == (2 if causal else 4)
        assert causal or hidden_places(at) == "4"
        assert "fits best, with" in words(at)


def test_the_end_asks_about_a_sentence_of_ones_own() -> None:
    at = visit(PAGE, step="check", text=CAT, masked="3", place="3")
    at.text_input(key="_own_sentence").input("  ").run()
    at.button(key="_own_sentence_go").click().run()
    assert not at.exception and at.session_state["text"] == CAT  # nothing typed: nothing is lost
    at.text_input(key="_own_sentence").input("My sister plays the piano.").run()
    at.button(key="_own_sentence_go").click().run()
    assert not at.exception
    assert (at.session_state["text"], step_of(at)) == ("My sister plays the piano.", "hide-words")
    assert blanks(at) == [5]  # the last whole word of the new sentence, not the third token of the old one


def test_many_pairs_are_asked_about_at_a_press() -> None:
    at = open_step("next-sentence", model="lab-bert", text="The dog barked.", pair="The cat ran away.")
    assert "The right order wins" not in words(at)
    at.button(key="_many_pairs").click().run()
    assert not at.exception
    tables = [frame.value for frame in at.dataframe if "with another second text" in frame.value]
    assert len(tables) == 1 and len(tables[0]) == 12
    shown = tables[0]["in order"]
    assert f"On average, the probability is {shown.mean():.2f} in order," in words(at)
    first = tables[0].iloc[0]
    run = trace(runs.model("lab-bert"), first["A"], first["B"])
    assert first["in order"] == pytest.approx(follows(run), abs=1e-6)


@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_a_click_on_a_place_writes_its_softmax_out(model: str) -> None:
    """Logit, exponential, sum and share, held to Hugging Face's logits; percentages are whole."""
    loaded = runs.model(model)
    ids = torch.tensor([trace(loaded, CAT).token_ids])
    with torch.inference_mode():
        out = reference(loaded)(input_ids=ids)
    logits = (out.logits if "logits" in out else out.prediction_logits)[0, 4].double().numpy()
    order = np.argsort(-logits, kind="stable")
    at = unfold(open_step("every-place", model=model), "_every_sum")
    at.session_state["every-place-0"] = {"selection": {"cell": [{"q": 4, "k": 2}]}}
    at.run()
    assert not at.exception
    assert (sentence_of(at)[0]["chosen"], at.selectbox(key="_every_rank").value) == (4, 2)
    total = np.exp(logits - logits.max()).sum()
    z, exponential = logits[order[2]], np.exp(logits[order[2]] - logits.max())
    formula = next(each.value for each in at.latex if "aligned" in each.value)
    assert f"({z:.3f} - {logits.max():.3f})" in formula and f"{total:.5g}" in formula
    said = re.search(r"has \*\*([<>]? ?\d+%)\*\*", words(at))
    assert said is not None and said[1] == percent(exponential / total)
    table = next(frame.value for frame in at.dataframe if "logit z" in frame.value)
    assert table["logit z"].tolist() == pytest.approx(logits[order[:5]].tolist(), abs=1e-3)
    assert f"the divisor, **{total:.3f}**" in words(at)


def test_every_place_of_a_long_text_is_drawn_around_the_chosen_one() -> None:
    at = open_step("every-place", text="The cat sat on the mat. " * 30)
    click_token(at, 3)
    assert "The map shows tokens 1 to 96 of" in words(at)
    assert looks(at) == (3, None)
    at.session_state["every-place-0"] = {"selection": {"cell": [{"q": 90, "k": 1}]}}
    at.run()
    assert looks(at) == (90, None), "the map moves, and its click is an old one"
    click_token(at, 150)
    assert looks(at) == (150, None)
    assert "The map shows tokens 103 to 198" in words(at)
