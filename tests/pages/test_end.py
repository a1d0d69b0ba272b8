"""The end of the course: it says what was done and found on the chosen way, and fills as lessons are begun."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import LESSONS, bench_of, experiment_of, lesson_of, page_of
from lab.course.ways import NAMES, SHORT, WHOLE, way
from lab.front.end import found
from lab.questions.progress import LearnerProgress
from lab.ui.shared.machine import STOP_OF
from tests.pages.apptest import component, components, visit, words
from tests.pages.test_ways import everything, with_progress

END = "12_The_end.py"
NOTHING = "you have not answered or tried anything yet"


def links(at: AppTest) -> list[str]:
    return [link.proto.label for link in at.get("page_link")]


def found_at(at: AppTest) -> dict[str, list[str]]:
    """What the machine says was found, by the id of its part."""
    return {part["id"]: part["found"] for part in component(at, "machine")["parts"]}


def go_on(at: AppTest) -> list[str]:
    return [button.label for button in at.button if button.label.startswith("Go on")]


def test_with_nothing_done_it_says_so_and_leads_to_the_first_step() -> None:
    at = visit(END)
    assert at.title[0].value == page_of("end").title
    assert (
        "You have not done any step" in words(at)
        and "In the steps that you have done" not in words(at)
        and NOTHING not in words(at)
    )
    assert go_on(at) == [f"Go on: {way(WHOLE)[0].step.name} (lesson 1)"]
    assert not any(found_at(at).values())


def test_with_some_done_it_lists_the_lessons_that_were_begun() -> None:
    begun = LearnerProgress().did("tokenization", "tokens").did("self-attention", "map")
    at = with_progress(begun, END)
    assert not any(lesson.objectives[0] in words(at) for lesson in LESSONS), "no lesson is finished"
    assert lesson_of("self-attention").step("map").can in words(at)
    assert lesson_of("multi-head-attention").step("head-brings").can not in words(at)
    assert f"{NOTHING}: Embeddings, Multi-head" in words(at)
    assert go_on(at) == ["Go on: Pieces (lesson 1)"]
    said = found_at(at)
    assert said["tokens"] == [f"Lesson 1: {lesson_of('tokenization').story.remember}"]
    assert said["attention"] == [f"Lesson 3: {lesson_of('self-attention').story.remember}"] and not said["word"]


@pytest.mark.parametrize("name", NAMES)
def test_with_all_done_it_says_that_the_way_is_done(name: str) -> None:
    at = with_progress(everything(name), END, way=name)
    assert f"every step of this way: {NAMES[name]}" in words(at) and not go_on(at) and NOTHING not in words(at)
    lessons = {stage.lesson.id for stage in way(name)}
    for lesson in LESSONS:
        assert (lesson.objectives[0] in words(at)) == (name == WHOLE), "of the short way, what its steps were for"
    assert all((stage.step.can in words(at)) for stage in way(SHORT)) == (name == SHORT)
    assert {part for part, told in found_at(at).items() if told} == {
        part for part, stop in STOP_OF.items() if any(lesson_of(id).stop == stop for id in lessons)
    }


def test_the_short_way_lists_only_its_own_lessons() -> None:
    every, at = everything(SHORT), with_progress(everything(SHORT).did("feed-forward", "neurons"), END, way=SHORT)
    assert lesson_of("feed-forward").objectives[0] not in words(at)
    at = with_progress(every, END)
    assert f"{NOTHING}: Attention metrics" in words(at) and go_on(at)


def test_found_has_only_the_lessons_that_it_is_given() -> None:
    assert set(found(WHOLE, [])) == set(STOP_OF) and not any(found(WHOLE, []).values())
    for lesson in LESSONS:
        (said,) = [each for part in found(WHOLE, [lesson]).values() for each in part]
        assert lesson.story.remember in said
    assert sum(map(len, found(WHOLE, LESSONS).values())) == len(LESSONS)


@pytest.mark.parametrize("params", [{"model": "lab-gpt2"}, {"blank": ""}, {"blank": "..."}, {"mode": "Toy"}])
def test_it_comes_up_with_any_choice(params: dict[str, str]) -> None:
    at = visit(END, **params)
    assert ("was not trained to fill blanks" in words(at)) == (params.get("model") == "lab-gpt2")
    assert bool(components(at)) == (params.get("blank") != "")


def test_it_leads_on_and_can_be_printed() -> None:
    at = visit(END, way=SHORT, blank="The sky is _.")
    for page in (bench_of("compare"), bench_of("tensors"), experiment_of("needed-heads")):
        assert any(f"**{page.title}.**" in label for label in links(at))
    (link,) = [each.proto.url for each in at.get("link_button")]
    assert "embed=true" in link and "way=short" in link and "blank=The+sky+is+_." in link


def test_the_page_to_print_has_nothing_but_what_was_done_and_found() -> None:
    at = with_progress(everything(SHORT), END, way=SHORT)
    (link,) = [each for each in at.get("link_button") if "sheet=1" in each.proto.url]
    assert "embed=true" in link.proto.url
    at = with_progress(everything(SHORT), END, way=SHORT, sheet="1")
    assert not go_on(at) and not at.get("link_button") and not at.get("page_link")
    assert way(SHORT)[0].step.can in words(at) and any(found_at(at).values())
