"""The two ways through the course on their pages: from the first page over the lessons to the end, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import LESSONS, Lesson, lesson_of, page_of
from lab.course.sentences.examples import FIRST
from lab.course.ways import NAMES, SHORT, WHOLE, neighbours, way
from lab.questions.progress import LearnerProgress
from lab.ui.parameters import WAY
from tests.pages.apptest import ROOT, html_of, reveal, step_of, turn_to, visit, words
from tests.sentences import CAT

PAGE, EMBEDDINGS = "3_Self-attention.py", "2_Embeddings.py"
OWN = "My cat likes to _ in the sun."
END = page_of("end").title
DOTS = 'class="short-way"'


def click(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    return at


def to(at: AppTest, page: str) -> AppTest:
    at.switch_page(page).run()
    return at


def done(at: AppTest) -> frozenset[tuple[str, str]]:
    found = at.session_state["progress"] if "progress" in at.session_state else LearnerProgress()
    return frozenset(found.done)


def everything(name: str) -> LearnerProgress:
    progress = LearnerProgress()
    for stage in way(name):
        progress = progress.did(*stage.key)
    return progress


def with_progress(progress: LearnerProgress, page: str | None = None, **params: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=120)
    at.session_state["progress"] = progress
    for name, value in params.items():
        at.query_params[name] = value
    if page is not None:
        at.switch_page(f"pages/{page}")
    at.run()
    return at


def at_home(progress: LearnerProgress, **params: str) -> dict[str, str]:
    """The labels of the buttons to the two ways on the first page, by the way, in their order."""
    at = with_progress(progress, **params)
    return {str(b.key).removeprefix("_way."): b.label for b in at.button if str(b.key).startswith("_way.")}


def test_the_short_way_leads_over_the_lessons_to_the_end_and_stays_in_the_link() -> None:
    at = click(visit(), "_way.short")
    for place, stage in enumerate(way(SHORT), start=1):
        assert (at.title[0].value, step_of(at)) == (stage.lesson.title, stage.step.id)
        assert at.query_params["way"] == SHORT
        assert f"{place} of {len(way(SHORT))}" in html_of(at) and html_of(at).count('class="here"') == 1
        reveal(at)
        assert not [each for each in at.button if each.key in ("_next_step", "_next_page")]
        click(at, f"_short_next.{stage.step.id}")
    assert at.title[0].value == END and at.query_params["way"] == SHORT
    assert done(at) == {stage.key for stage in way(SHORT)}
    assert f"every step of this way: {NAMES[SHORT]}" in words(at)


def test_a_link_to_the_short_way_shows_its_dots_on_a_first_visit() -> None:
    progress = LearnerProgress().did("tokenization", "tokens")
    at = with_progress(progress, PAGE, way=SHORT, step="Build a row")
    assert f"5 of {len(way(SHORT))}" in html_of(at) and html_of(at).count('class="done"') == 1
    assert DOTS not in html_of(visit(PAGE))


def test_one_leaves_the_short_way_for_the_whole_course() -> None:
    at = click(visit(PAGE, way=SHORT, step="build-a-row"), "_whole_way")
    assert DOTS not in html_of(at) and "way" not in at.query_params and step_of(at) == "build-a-row"
    assert [each for each in at.button if each.key == "_next_step"] and not done(at)


@pytest.mark.parametrize("beside", ["all-rows", "scale", "check"])
def test_a_step_beside_the_way_leads_back_onto_it(beside: str) -> None:
    at = visit(PAGE, way=SHORT, step=beside)
    assert "a step beside the way" in html_of(at) and 'class="here"' not in html_of(at)
    before, after = neighbours(SHORT, "self-attention", beside)
    assert before is not None and after is not None
    labels = [each.label for each in at.button if str(each.key).startswith("_short_")]
    assert labels == [f"Previous: {before.step.name}", f"Next: {after.step.name}"]
    click(at, f"_short_next.{beside}")
    assert (at.title[0].value, step_of(at)) == (after.lesson.title, after.step.id)


def test_the_way_back_leads_across_lessons_too() -> None:
    at = click(visit(PAGE, way=SHORT, step="by-hand"), "_short_back.by-hand")
    assert (at.title[0].value, step_of(at)) == ("Embeddings", "like-words")
    assert not done(at), "going back is nothing done"


def test_a_class_goes_the_short_way_by_keyboard_and_nothing_counts() -> None:
    at = visit(PAGE, way=SHORT, step="map", teach="1")
    assert f"4 of {len(way(SHORT))}" in html_of(at)
    assert at.button(key="_short_next.map").proto.shortcut == "pagedown"
    assert at.button(key="_short_back.map").proto.shortcut == "pageup"
    click(at, "_short_next.map")
    assert (step_of(at), at.query_params["teach"], at.query_params["way"]) == ("build-a-row", "1", SHORT)
    assert not done(at)


def test_the_short_way_works_with_a_model_that_writes() -> None:
    at = visit("9_Masked_language_model.py", way=SHORT, step="from-vector-to-word", model="lab-gpt2")
    click(reveal(at), "_short_next.from-vector-to-word")
    assert step_of(at) == "learns-of-france" and done(at) == {("masked-language-model", "from-vector-to-word")}


def test_a_toy_has_no_short_way_and_the_first_page_leaves_the_toy() -> None:
    at = visit(PAGE, way=SHORT, mode="Toy")
    assert DOTS not in html_of(at)
    at = click(to(at, "pages/0_Course.py"), "_way.short")
    assert at.segmented_control(key="mode").value == "Sentence" and DOTS in html_of(at)


@pytest.mark.parametrize("page", [None, PAGE, "12_The_end.py"])
def test_a_way_that_is_none_is_said(page: str | None) -> None:
    at = visit(page, way="nonsense")
    assert "way" not in at.query_params and DOTS not in html_of(at)
    if page == PAGE:
        assert WAY.refusal("nonsense") in words(at)


def test_a_first_visit_offers_the_short_way_first() -> None:
    assert at_home(LearnerProgress()) == {SHORT: NAMES[SHORT], WHOLE: NAMES[WHOLE]}


def test_the_buttons_lead_to_the_first_thing_not_done_on_their_way() -> None:
    begun = LearnerProgress().did("tokenization", "tokens")
    assert list(at_home(begun).values()) == ["Go on: Like words (lesson 2)", NAMES[WHOLE]]
    begun = begun.did("self-attention", "by-hand")
    assert at_home(begun, way=SHORT) == {SHORT: "Go on: Like words (lesson 2)", WHOLE: NAMES[WHOLE]}


def test_a_click_astray_leaves_the_buttons_where_they_were() -> None:
    at = to(to(visit(), f"pages/{EMBEDDINGS}"), "pages/0_Course.py")
    assert not done(at)
    for name in NAMES:
        stage = way(name)[0]
        opened = click(to(at, "pages/0_Course.py"), f"_way.{name}")
        assert (opened.title[0].value, step_of(opened)) == (stage.lesson.title, stage.step.id)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_what_is_only_opened_is_not_done(lesson: Lesson) -> None:
    """Two runs each: what a page chooses by itself while it is drawn is no choice of the learner."""
    at = visit(Path(lesson.page).name)
    for step in (lesson.steps[0], lesson.steps[-1]):
        if step.models != "causal":
            turn_to(at, step.id).run()
    assert not done(at)


def test_a_figure_is_used_by_a_choice_and_not_while_its_question_waits() -> None:
    at = visit(PAGE, text=CAT, layer="2", step="map")
    at.selectbox(key="layer").set_value(3).run()
    assert [each for each in at.button if each.label == "Show me"] and not done(at)
    click(at, "_next_step")
    assert not done(at), "the question of the step before still waits"
    reveal(turn_to(at, "map"))
    assert done(at) == {("self-attention", "map")}, "a question that was shown is done"
    at = visit(PAGE, layer="2", head="3", step="build-a-row")
    assert not [each for each in at.button if each.label == "Show me"]
    at.selectbox(key="head").set_value(5).run()
    assert done(at) == {("self-attention", "build-a-row")}


def test_the_checks_are_done_when_each_has_an_answer() -> None:
    at = visit(PAGE, step="check", text=CAT, layer="2", head="3")
    keys = [str(radio.key) for radio in at.radio if str(radio.key).startswith("_check.")]
    click(at, "_next_page")
    to(at, f"pages/{PAGE}")
    turn_to(at, "check")
    for key in keys:
        assert ("self-attention", "check") not in done(at)
        at.radio(key=key).set_value(0).run()
    assert ("self-attention", "check") in done(at)


def test_a_toy_and_a_class_count_nothing_also_when_one_leaves_them() -> None:
    for params in ({"mode": "Toy"}, {"teach": "1"}):
        at = visit(PAGE, step="by-hand", **params)
        if "teach" in params:
            click(at, "_leave_teaching")
        else:
            at.segmented_control(key="mode").set_value("Sentence").run()
        at.run()
        assert not done(at), params


def test_a_finished_course_leads_to_the_end_from_everywhere() -> None:
    every = everything(WHOLE)
    for name, label in at_home(every).items():
        assert label == f"{NAMES[name]}: done. {END}"
        assert click(with_progress(every), f"_way.{name}").title[0].value == END
    last = click(with_progress(every, "11_A_task_of_your_own.py", step="Check"), "_next_page")
    assert last.title[0].value == END and f"every step of this way: {NAMES[WHOLE]}" in words(last)
    assert not [each for each in last.button if each.label.startswith("Go on")]


def test_a_lesson_finished_with_a_model_that_writes_is_finished() -> None:
    gpt = {("masked-language-model", "next-token")} | everything(WHOLE).done - {("masked-language-model", "hide-words")}
    assert set(at_home(LearnerProgress(frozenset(gpt))).values()) == {f"{NAMES[name]}: done. {END}" for name in NAMES}


# Clicks and pages that lead from a lesson with its own sentence to lesson 1, each by another way.
LEAVE = {
    "first page": ["pages/0_Course.py", "_way.whole"],
    "menu": ["pages/1_Tokenization.py"],
    "a bench": ["pages/50_Head_view.py", "pages/1_Tokenization.py"],
}


@pytest.mark.parametrize("leave", LEAVE)
def test_a_lesson_s_own_sentence_stays_there_when_one_leaves(leave: str) -> None:
    usual = visit("1_Tokenization.py").text_area(key="text").value
    at = visit("7_Inter-sentence_attention.py")
    own = at.text_area(key="text").value
    assert own == lesson_of("inter-sentence-attention").text != usual
    for each in LEAVE[leave]:
        at = to(at, each) if each.startswith("pages/") else click(at, each)
    assert at.title[0].value == "Tokenization" and at.text_area(key="text").value == usual
    assert "text" not in at.query_params


def test_a_lesson_s_own_sentence_stays_there_when_a_link_named_it() -> None:
    """A check that was missed leads back with its sentence; so does an address that somebody copied."""
    own = lesson_of("inter-sentence-attention").text
    at = to(visit("1_Tokenization.py"), "pages/0_Course.py")
    at.session_state["text"] = own
    at = to(at, "pages/7_Inter-sentence_attention.py")
    assert at.text_area(key="text").value == own
    at = click(to(at, "pages/0_Course.py"), "_way.whole")
    assert at.text_area(key="text").value != own


def test_a_sentence_that_was_typed_goes_along_from_the_end() -> None:
    at = visit("9_Masked_language_model.py", way=SHORT, step="from-vector-to-word")
    at.text_area(key="text").set_value("Birds fly south.").run()
    at = click(to(at, "pages/12_The_end.py"), "_whole_course")
    assert at.text_area(key="text").value == "Birds fly south."


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_of_one_s_own_is_kept_with_its_blank_for_every_step(name: str) -> None:
    at = click(visit(blank=OWN), f"_way.{name}")
    assert OWN.split("_", maxsplit=1)[0] not in str(at.text_area(key="text").value)
    assert yours(at) == OWN.replace("_", "[MASK]")


def test_a_sentence_without_a_blank_is_kept_as_it_was_written() -> None:
    assert yours(click(visit(blank="She reads books."), "_way.short")) == "She reads books."


def yours(at: AppTest) -> str:
    """The text after a click on Yours."""
    return str(at.segmented_control(key="_whose").set_value("Yours").run().text_area(key="text").value)


def test_the_sentences_of_the_lab_stay_on_the_first_page() -> None:
    usual = visit("1_Tokenization.py").text_area(key="text").value
    for first in FIRST[:2]:
        assert click(visit(blank=first.text), "_way.whole").text_area(key="text").value == usual
    assert click(visit(blank=""), "_way.whole").text_area(key="text").value == usual


def test_a_sentence_goes_along_once() -> None:
    at = click(visit(blank=OWN), "_way.whole")
    at.text_area(key="text").set_value("A cat sat.").run()
    at = click(to(at, "pages/0_Course.py"), "_way.whole")
    assert at.session_state["_own_texts"] == ("A cat sat.", "")
