"""The feed-forward lesson, run whole: every step, both modes, every kind of model, odd links and odd texts."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import signed
from lab.lessons.feed_forward import check, excited_by, in_the_blank, plan, residual, two_meanings
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui import runs
from tests.pages.apptest import Offer, check_answers, reveal, step_of, steps_of, unfold, visit, walk, words, worked
from tests.thorough import one_by_day

PAGE = "8_Feed-forward_and_LayerNorm.py"
STEPS = ("plan", "neurons", "excited-by", "residual", "two-meanings", "in-the-blank", "check")
# The first words of what is written about the course's sentence.
WRITTEN = [
    each.split("{")[0].strip()[:40] for each in (plan.WRITTEN, plan.CAVEAT, residual.WRITTEN, in_the_blank.WRITTEN)
]


def open_step(step: str, **params: str) -> AppTest:
    at = reveal(worked(visit(PAGE, step=step, **params)))
    assert step_of(at) == step
    return at


def story_told(at: AppTest) -> bool:
    said = words(at)
    return any(each in said for each in WRITTEN)


def test_the_steps_are_in_their_order_and_tell_the_story_once() -> None:
    at = visit(PAGE)
    assert at.title[0].value == "Feed-forward and LayerNorm" and steps_of(at) == STEPS and not at.warning
    told = [step for step in walk(at) if story_told(worked(at))]
    assert told == ["plan", "residual", "in-the-blank"]


def test_the_answer_is_not_on_screen_before_the_question_is_answered() -> None:
    at = visit(PAGE)
    assert not story_told(at) and "Without" not in words(at)
    assert story_told(reveal(at))


@one_by_day
@pytest.mark.parametrize(
    "params",
    [
        {"text": "She opened the door."},
        {"text": "word " * 600, "token": "5"},
        {"text": "عاصمة فرنسا هي [MASK]."},
        {"text": "<script>alert(1)</script> {0} $x$ **of** [MASK]"},
        {"model": "lab-bert"},
        {"model": "lab-gpt2"},
        {"layer": "2"},
    ],
)
def test_other_runs_get_the_readings_alone(params: dict[str, str]) -> None:
    at = visit(PAGE, **params)
    for step in walk(at):
        reveal(worked(at))
        assert not story_told(at), step
        assert step in ("check", "in-the-blank") or "**What this means.**" in words(at), step


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toy_mode_runs_every_step(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights)
    for step in walk(at, ("plan", "neurons", "excited-by", "residual", "check")):
        if step == "neurons":
            assert ("All activations of this layer are 0" in words(at)) == (weights == "Constructed")
        if step == "excited-by":
            assert "read 20 short texts" in words(reveal(worked(at)))
    check_answers(at)
    assert "Challenge" not in words(at)


def test_a_gpt2_is_shown_as_pre_norm(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"))
    for step in walk(at):
        if step == "neurons":
            assert any("tanh" in formula.value for formula in unfold(at, "_written_out").latex)
        if step == "residual":
            norms = unfold(at, "_layer_norm").segmented_control(key="norm")
            assert norms.options == ["before attention", "before the feed-forward network"]
            assert "This model is **pre-norm**" in words(at)


def test_a_link_to_what_is_not_there_is_mended_and_said() -> None:
    at = visit(PAGE, step="neurons", layer="9", neuron="5000", token="400")
    assert "neuron 5,000 became 1,536" in words(at) and "layers run from 1 to 6" in words(at)
    assert at.number_input(key="_neuron").value == 1536


def test_the_lesson_is_about_the_last_layer_and_excited_by_about_its_own() -> None:
    at = visit(PAGE)
    for step, layer in (("plan", 6), ("excited-by", 3), ("residual", 6)):
        assert [at.selectbox(key="layer").value for _ in walk(at, [step])] == [layer]
    assert visit(PAGE, step="excited-by", layer="5").selectbox(key="layer").value == 5


def test_what_is_tried_in_a_step_is_for_this_step_only() -> None:
    at = open_step("excited-by")
    at.button(key="_try").click().run()
    assert at.session_state["neuron"] > 0
    assert [story_told(at) for _ in walk(at, ["residual"])] == [True] and at.session_state["neuron"] == 0


def test_gelu_is_written_out_with_the_numbers_of_the_chosen_neuron() -> None:
    at = unfold(open_step("neurons", layer="2", token="4", neuron="77"), "_written_out", "_every_token")
    layer = lab.trace(runs.model(DEFAULT_MODEL), STORY_TEXT).layer(1)
    x, active = layer.ffn_hidden[3, 76].item(), layer.ffn_activation[3, 76].item()
    assert f"≈ {signed(x, 3)} × {active / x:.3f} ≈ **{signed(active, 3)}**" in words(at)


def test_excited_tokens_are_marked_in_their_texts() -> None:
    at = open_step("excited-by")
    assert words(at).count(":blue-background[of]") == 12 and excited_by.WRITTEN.strip()[:30] in words(at)
    at.button(key="_try").click().run()
    assert ":blue-background[and]" in words(at) and excited_by.WRITTEN.strip()[:30] not in words(at)
    other = open_step("excited-by", layer="1", neuron="9")
    assert words(other).count(":blue-background[") == 12 and "200 short texts" in words(other)


def test_layer_norm_is_followed_by_one_number() -> None:
    at = open_step("residual", text="She opened the door.", layer="3", token="2", norm="after attention")
    unfold(at, "_layer_norm")
    layer = lab.trace(runs.model(DEFAULT_MODEL), "She opened the door.").layer(2)
    assert layer.attention_norm is not None
    (told,) = re.findall(r"in dimension (\d+), is .* it becomes (\S+)\.", words(at).replace("\n", " "))
    assert told[1] == signed(layer.attention_norm[1, int(told[0]) - 1].item(), 3)  # four digits, one before the point


def test_two_words_are_offered_where_they_are_one_token() -> None:
    at = open_step("two-meanings")
    assert at.segmented_control(key="sense").options == ["March", "bank"]
    assert two_meanings.WORDS["March"].finding in words(at)
    at.button(key="_try").click().run()
    assert two_meanings.WORDS["bank"].finding in words(at)
    cased = open_step("two-meanings", model="lab-gpt2", sense="March")
    assert cased.segmented_control(key="sense").options == ["bank"]
    assert "finding" not in words(open_step("two-meanings", layer="1"))
    assert step_of(visit(PAGE, mode="Toy", step="two-meanings")) == "residual"


def test_the_check_has_three_questions_and_a_challenge() -> None:
    at = open_step("check")
    check_answers(at, 3)
    at.text_input(key="_challenge.feed-forward").set_value("A cup of tea.").run()
    assert "Read the list again" in words(at)
    at.text_input(key="_challenge.feed-forward").set_value("The queen of Spain is old.").run()
    assert "Does your guess explain this place, too?" in words(at) and check.WANTED.split("{")[0].strip()[:6] in words(
        at
    )
