"""The course page and what it knows of the learner: progress, its file, a class's seed, the teaching view."""

from __future__ import annotations

import json
import re
from itertools import cycle

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Radio

from lab.course.pages import LESSONS, lesson_of
from lab.models.catalogue import DEFAULT_MODEL
from tests.pages.apptest import choosing, step_of, steps_of, turn_to, visit, words

PAGE = "3_Self-attention.py"
TEXT = "The cat sat on the <b>mat because it was tired."


def lesson(**params: str) -> AppTest:
    return visit(PAGE, **{"step": "check", "layer": "2", "head": "3", "text": TEXT, **params})


def check(at: AppTest, index: int = 0) -> Radio[int]:
    return [radio for radio in at.radio if radio.key and radio.key.startswith("_check.")][index]


def asked(at: AppTest, *keys: str) -> list[list[str]]:
    """The checks of the lesson and those of earlier lessons that return, or those whose key begins so."""
    keys = keys or ("_check.",)
    return [[radio.label, *radio.options] for radio in at.radio if radio.key and radio.key.startswith(keys)]


def answer(at: AppTest, right: bool, index: int = 0) -> None:
    """Give the first check a right or a wrong first try, whichever option that is."""
    before = at.session_state["progress"]
    for option in range(len(check(at, index).options)):
        at.session_state["progress"] = before
        check(at, index).set_value(option).run()
        assert [told.value for told in (*at.success, *at.error, *at.warning)]
        if bool(at.success) == right:
            return
    raise AssertionError("no such option")


def badges(at: AppTest) -> str:
    return "\n".join(part.value for part in at.markdown if "-badge[" in part.value)


def to_course(at: AppTest) -> AppTest:
    at.switch_page("pages/0_Course.py").run()
    return at


def upload(at: AppTest, data: bytes) -> str:
    with choosing(data):
        at.run()
    return words(at)


def answer_all(at: AppTest) -> None:
    """The first option of every question on screen that can still be answered, and its button."""
    for key in [radio.key for radio in at.main.radio]:
        radio = next((each for each in at.main.radio if each.key == key), None)
        if radio is not None and not radio.disabled and radio.value is None:
            radio.set_value(0).run()
            for commit in [button for button in at.button if button.label in ("Commit and show", "Answer")][:1]:
                commit.click().run()
    for shown in [button for button in at.button if button.key == "_hand.show"]:  # numbers to fill in
        shown.click().run()


def test_lessons_are_walked_by_their_own_buttons_and_counted() -> None:
    """A third of them each with a GPT-2, with a toy if the lesson has one, and with a BERT."""
    at, steps = visit(), dict[str, int]()
    for lesson, kind_of_input in zip(LESSONS, cycle(("lab-gpt2", "Toy", "lab-bert")), strict=False):
        at.switch_page(lesson.page).run()
        kind = kind_of_input if lesson.toy or kind_of_input != "Toy" else "lab-bert"
        if lesson.toy:
            at.segmented_control(key="mode").set_value("Toy" if kind == "Toy" else "Sentence").run()
        if kind != "Toy" and "model" in {each.key for each in at.selectbox}:
            at.selectbox(key="model").set_value(kind).run()
        turn_to(at, steps_of(at)[0])
        steps[lesson.id] = 1
        answer_all(at)
        while any(button.key == "_next_step" for button in at.button):
            at.button(key="_next_step").click().run()
            answer_all(at)
            steps[lesson.id] += 1
        if kind == "Toy":
            del steps[lesson.id]
        else:
            assert re.search(r"[1-9] of \d+ checks", badges(at)), lesson.id
        after = LESSONS[LESSONS.index(lesson) + 1].title if lesson is not LESSONS[-1] else "The story in pictures"
        assert after in at.button(key="_next_page").label
    to_course(at)
    assert min(steps.values()) >= 3
    known = at.session_state["progress"]
    assert {id: known.count(lesson_of(id)).done for id in steps} == steps


def test_a_first_visit_shows_no_progress() -> None:
    at = visit()
    assert "steps" not in badges(at) and "checks" not in badges(at)
    assert "Missed" not in words(at)


def test_an_answer_is_counted_on_both_pages() -> None:
    at = lesson()
    answer(at, right=True)
    told = f"1 of {len(asked(at))} checks"
    assert told in badges(at)
    assert at.session_state["progress"].count(lesson_of("self-attention")).right == 1
    to_course(at)
    assert told in badges(at)
    assert f"0 of {sum(not step.aside for step in lesson_of('self-attention').steps)} steps" in badges(at)
    assert "Missed" not in words(at)


def test_a_missed_check_is_reviewed_and_leads_back() -> None:
    at = visit("5_Attention_metrics.py", step="check")
    answer(at, right=False)
    (missed,) = [one for _, one in at.session_state["progress"].missed()]
    to_course(at)
    shown = words(at).replace("\\", "")
    assert at.session_state["progress"].count(lesson_of("attention-metrics")).right == 0
    assert "Asked about" not in shown  # a written question is about no sentence of the learner
    for text in (missed.question, missed.chosen, missed.right, missed.why_right):
        assert text in shown
    at.button(key="_missed.0").click().run()
    assert at.title[0].value == "Attention metrics" and step_of(at) == "check"
    assert missed.question in words(at).replace("\\", "")


def test_answers_to_the_questions_of_an_older_lab_are_told_and_steps_stay() -> None:
    at = visit()
    old = {"self-attention": {"done": ["map"], "checks": {"gone": {"correct": True}, "other": None}}}
    content = {"lab": "Inside BERT", "version": 2, "lessons": old, "predictions": {"a/b": {"0" * 12: 1}}}
    said = upload(at, json.dumps(content).encode())
    assert "Your 2 answers to the old ones do not count any more" in said
    assert at.session_state["progress"].done == {("self-attention", "map")}
    assert not at.session_state["progress"].checks


def test_a_downloaded_file_brings_the_progress_to_another_visit() -> None:
    at = lesson(step="by-hand")
    at.button(key="_hand.show").click().run()
    at.button(key="_next_step").click().run()
    turn_to(at, "check")
    answer(at, right=False)
    kept = at.session_state["progress"]
    other = visit()
    said = upload(other, kept.to_json().encode())
    assert "Added from the file: checks answered 1, steps done 1." in said
    assert other.session_state["progress"] == kept
    assert f"1 of {len(asked(at))} checks" in badges(other)
    assert "Missed at first try" in [heading.value for heading in other.header]


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"lab": "Inside BERT", "version": 3, "lessons": 3}'])
def test_a_bad_file_is_refused_and_nothing_is_lost(data: bytes) -> None:
    at = lesson()
    answer(at, right=True)
    before = at.session_state["progress"]
    assert "Your progress has not changed" in upload(to_course(at), data)
    assert at.session_state["progress"] == before
    assert len(at.error) == 1


def test_a_hostile_file_is_shown_as_text_and_its_link_leads_nowhere_else() -> None:
    texts = dict.fromkeys(("question", "chosen", "why_chosen", "right", "why_right"), "![x](http://example.org) $y$")
    link = {"text": "<script>", "model": "../../etc/passwd", "mode": "Nonsense", "layer": "77", "teach": "1", "x": "y"}
    content = {"attention-metrics": {"checks": {"q": {**texts, "correct": False, "link": link}}}, "![x](y)": {}}
    at = visit()
    said = upload(at, json.dumps({"lab": "Inside BERT", "version": 3, "lessons": content}).encode())
    assert "![x](" not in said and "does not know" in said
    at.button(key="_missed.0").click().run()
    assert at.session_state["model"] == DEFAULT_MODEL
    assert at.session_state["text"] != "../../etc/passwd" and "teach" not in at.query_params


def test_a_seed_gives_everybody_the_same_checks_and_none_the_usual_ones() -> None:
    usual = asked(lesson())
    by_seed = [asked(lesson(seed=str(seed))) for seed in (7, 7, 8, 9)]
    assert asked(lesson()) == usual
    assert by_seed[0] == by_seed[1]
    assert len({str(each) for each in (usual, *by_seed)}) > 2


def test_seed_and_teaching_stay_in_the_link_of_every_page() -> None:
    at = to_course(lesson(seed="7", teach="1"))
    assert (at.query_params["seed"], at.query_params["teach"]) == ("7", "1")
    at.button(key="_leave_teaching").click().run()
    assert "teach" not in at.query_params and at.query_params["seed"] == "7"


def test_a_bad_seed_is_said() -> None:
    at = visit(PAGE, seed="many", teach="2")
    assert "seed must be a number from 0 to 9999; it is 0 now" in words(at)
    assert "teach must be a number from 0 to 1; it is 0 now" in words(at)
    assert not [button for button in at.button if button.key == "_leave_teaching"]


def test_before_a_class_answers_wait_and_nothing_counts() -> None:
    at = lesson(teach="1")
    assert not asked(at) and not at.success
    reveal = [button for button in at.button if button.label == "Reveal"]
    assert len(reveal) >= len(asked(lesson(), "_check.")) > 1  # a class can be asked more
    reveal[0].click().run()
    assert len(at.success) == 1
    assert len([button for button in at.button if button.label == "Reveal"]) == len(reveal) - 1
    assert "progress" not in at.session_state


def test_before_a_class_a_prediction_is_revealed_by_a_button() -> None:
    at = visit(PAGE, teach="1", text=TEXT, head="1", step="map")
    assert not [radio for radio in at.radio if radio.key and radio.key.startswith("_predict.")]
    (reveal,) = [button for button in at.button if button.label == "Reveal"]
    reveal.click().run()
    assert not [button for button in at.button if button.label == "Reveal"]


def test_steps_go_forward_and_back_and_before_a_class_by_keyboard() -> None:
    at = visit(PAGE, teach="1")
    assert at.button(key="_next_step").proto.shortcut == "pagedown"
    at.button(key="_next_step").click().run()
    assert step_of(at) == "map"
    assert at.button(key="_previous_step").proto.shortcut == "pageup"
    at.button(key="_previous_step").click().run()
    assert step_of(at) == "by-hand"
    assert not [button for button in at.button if button.key == "_previous_step"]
    assert not visit(PAGE).button(key="_next_step").proto.shortcut
