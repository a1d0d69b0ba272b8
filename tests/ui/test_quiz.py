"""A reveal is per question, model and sentence; checks and what was filled in stay while one looks around."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from lab.course.pages import lesson_of
from lab.course.words import quoted
from lab.lessons.open_lesson import written
from lab.questions.question import Question
from lab.ui.quiz import question_on_screen
from tests.pages.apptest import turn_to, visit, words
from tests.sentences import CAT

PAGE = "3_Self-attention.py"
TEXTS = (CAT, "Birds fly south when the winter comes.")
PREDICTS = "5_Attention_metrics.py"  # a lesson that asks before a figure, and at the end


def buttons(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def press(at: AppTest, label: str) -> AppTest:
    next(button for button in at.button if button.label == label).click().run()
    return at


def say(at: AppTest, text: str) -> AppTest:
    return at.text_area(key="text").set_value(text).run()


def charts(at: AppTest) -> int:
    return len(at.get("vega_lite_chart")) + len(at.get("arrow_vega_lite_chart"))


def test_a_revealed_answer_can_be_hidden_again_and_is_so_for_every_sentence() -> None:
    at = visit(PREDICTS, teach="1", text=TEXTS[0], layer="2", step="numbers")
    assert "Reveal" in buttons(at) and not charts(at)
    press(at, "Reveal")
    assert "Hide again" in buttons(at) and charts(at)
    say(at, TEXTS[1])
    assert "Hide again" in buttons(at)  # the question is about no sentence
    press(at, "Hide again")
    assert "Reveal" in buttons(at) and not charts(at)


def test_an_answer_shows_the_figure_and_stays_with_another_sentence_head_and_model() -> None:
    at = visit(PREDICTS, text=TEXTS[0], layer="2", step="numbers")
    assert not charts(at)
    assert [label[:7] for label in at.radio[-1].options] == [f"**{letter}** ·"[:7] for letter in "ABC"]
    at.radio[-1].set_value(0).run()
    press(at, "Commit and show")
    assert charts(at) and "predicted" in words(at)
    say(at, TEXTS[1])
    assert charts(at) and "predicted" in words(at)
    at.selectbox(key="head").set_value(3).run()
    assert charts(at) and "predicted" in words(at)
    at.selectbox(key="model").set_value("lab-gpt2").run()
    assert charts(at) and "Ask me again" in buttons(at)


def checks(at: AppTest) -> list[tuple[str, object]]:
    return [(radio.label, radio.value) for radio in at.radio if str(radio.key).startswith("_check.")]


def questions(at: AppTest) -> list[Question]:
    """The written questions on screen, in their order."""
    by_prompt = {each.prompt: each for each in written(lesson_of("self-attention"))}
    return [by_prompt[label] for label, _ in checks(at)]


def to(at: AppTest, step: str) -> AppTest:
    turn_to(at, step)
    return at


def test_checks_stay_while_step_and_page_change() -> None:
    at = visit(PREDICTS, step="Check")
    for radio in [radio for radio in at.radio if str(radio.key).startswith("_check.")]:
        at.radio(key=str(radio.key)).set_value(1).run()
    answered = checks(at)
    assert len(answered) == 3 and all(value == 1 for _, value in answered)
    to(to(at, "at-rest"), "check")
    assert checks(at) == answered
    at.query_params.clear()
    at.switch_page("pages/1_Tokenization.py").run()
    at.query_params["step"] = "Check"
    at.switch_page(f"pages/{PREDICTS}").run()
    assert checks(at) == answered


def test_a_wrong_answer_gets_a_hint_and_a_second_wrong_one_its_explanation() -> None:
    at = visit(PAGE, step="Check", text=TEXTS[0], layer="2", head="3")
    keys = [str(radio.key) for radio in at.radio if str(radio.key).startswith("_check.")]
    kept = questions(at)[0]
    wrong = [place for place in range(len(kept.options)) if place != kept.answer]
    at.radio(key=keys[0]).set_value(wrong[0]).run()
    hint = kept.hint_after_wrong
    assert hint and [box.value for box in at.warning if hint in box.value] and not at.error and not at.success
    assert kept.options[wrong[0]].why not in words(at)
    at.radio(key=keys[0]).set_value(wrong[1]).run()
    (said,) = [box.value for box in at.error]
    right = kept.options[kept.answer]
    assert said.startswith(kept.options[wrong[1]].why) and right.text in said and right.why in said and not at.warning
    at.radio(key=keys[0]).set_value(kept.answer).run()
    assert [box.value for box in at.success] == [kept.options[kept.answer].why]
    at.radio(key=keys[1]).set_value(questions(at)[1].answer).run()
    assert len(at.success) == 2 and at.session_state["progress"].count(lesson_of("self-attention")).right == 1


def test_right_at_the_second_try_is_said_and_does_not_count_as_the_first() -> None:
    at = visit(PAGE, step="Check", text=TEXTS[0], layer="2", head="3")
    key = next(str(radio.key) for radio in at.radio if str(radio.key).startswith("_check."))
    kept = questions(at)[0]
    at.radio(key=key).set_value((kept.answer + 1) % len(kept.options)).run()
    at.radio(key=key).set_value(kept.answer).run()
    said, why = at.success[0].value, kept.options[kept.answer].why
    assert "second try" in said.removesuffix(why) != said
    assert at.session_state["progress"].count(lesson_of("self-attention")).right == 0


def test_what_was_filled_in_by_hand_survives_a_visit_elsewhere() -> None:
    at = visit(PAGE, step="by-hand")
    field = at.number_input[0]
    at.number_input(key=str(field.key)).set_value(1.5).run()
    at.segmented_control(key="step").set_value(at.segmented_control(key="step").options[0]).run()
    to(at, "by-hand")
    assert at.number_input(key=str(field.key)).value == 1.5
    at.query_params.clear()
    at.switch_page("pages/1_Tokenization.py").run()
    at.query_params["step"] = "By hand"
    at.switch_page(f"pages/{PAGE}").run()
    assert at.number_input(key=str(field.key)).value == 1.5


def test_the_last_step_offers_the_next_lesson_and_the_last_lesson_the_end() -> None:
    at = visit(PAGE, step="Check", teach="1")
    following = at.button(key="_next_page")
    assert following.label == "Next: lesson 4, Multi-head attention" and following.proto.shortcut == "pagedown"
    assert "_next_page" not in [button.key for button in to(at, "map").button]
    at = visit("11_A_task_of_your_own.py", step="Check")
    assert at.button(key="_next_page").label == "Next: The story in pictures"


def test_a_caption_names_the_beginning_of_a_long_text() -> None:
    assert question_on_screen.about({"text": "a b " * 300}).count("a b") == 30 and "…" in question_on_screen.about(
        {"text": "a" * 121}
    )
    assert question_on_screen.about({"text": "a" * 120}) == f"Asked about {quoted('a' * 120)}"
