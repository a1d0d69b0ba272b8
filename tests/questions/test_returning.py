"""Questions of earlier lessons return: one of each of two, about this run, and not the one that was just asked."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from lab.course.pages import CHECK_STEP, LESSONS
from lab.course.sentences.examples import EXAMPLES
from lab.lessons.play import for_a_class
from lab.lessons.play import returning as questions_of
from lab.models.loading import load_model
from lab.models.trace import Trace, trace
from lab.questions.returning import MOST, Spot, later, returning
from tests.pages.apptest import visit, words
from tests.sentences import SEVERAL, STORY

WITH_QUESTIONS = [lesson.id for lesson in LESSONS]
TEXTS = (STORY, "Quizzically, the keys to the cabinet are on the table.", SEVERAL, "Yes")


@cache
def run(model: str, text: str) -> Trace:
    return trace(load_model(model), text)


@pytest.mark.parametrize("lesson", WITH_QUESTIONS)
@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_a_lesson_asks_again_about_any_sentence(lesson: str, model: str) -> None:
    for text in TEXTS:
        asked = [question for question in questions_of(lesson)(Spot.of(run(model, text))) if question is not None]
        assert asked or text == "Yes", text
        for question in asked:
            assert question.prompt and question.options[question.answer].correct
            assert len(question.options) == 2 or question.hint_after_wrong, question.id


def test_two_texts_give_two_questions_of_one_kind() -> None:
    first, second = (
        {each.id: each.prompt for each in questions_of("head-specialization")(Spot.of(run("lab-minilm", text))) if each}
        for text in TEXTS[:2]
    )
    both = first.keys() & second.keys()
    assert both and any(first[id] != second[id] for id in both)


def test_one_of_each_lesson_and_the_new_one_first() -> None:
    spot, earlier = Spot.of(run("lab-bert", TEXTS[0])), {each: questions_of(each) for each in WITH_QUESTIONS}
    found = returning(earlier, spot, lambda question: False)
    assert [question.lesson for question in found] == WITH_QUESTIONS[:MOST]
    first = found[0].prompt
    other = returning(earlier, spot, lambda question: question.prompt == first)
    assert other[0].prompt != first
    assert returning(earlier, spot, lambda question: True)[0].prompt == first


def test_they_stand_at_the_end_of_a_lesson_and_stay() -> None:
    at = visit("5_Attention_metrics.py", step=CHECK_STEP, text=TEXTS[0])
    kept = at.session_state["_asked.attention-metrics.earlier"].questions
    assert len(kept) == MOST and "From earlier lessons" in [each.value for each in at.subheader]
    key = next(str(radio.key) for radio in at.radio if kept[0].id in str(radio.key))
    at.radio(key=key).set_value(kept[0].answer).run()
    assert kept[0].options[kept[0].answer].why in [box.value for box in at.success]
    assert at.session_state["progress"].first_tries["attention-metrics", f"{kept[0].lesson}.{kept[0].id}"]
    at.text_area(key="text").set_value(TEXTS[1]).run()
    assert at.session_state["_asked.attention-metrics.earlier"].questions == kept
    next(button for button in at.button if button.label == "New questions").click().run()
    assert at.session_state["_asked.attention-metrics.earlier"].questions != kept


@pytest.mark.parametrize("given", [{"teach": "1"}, {"mode": "Toy"}])
def test_none_before_a_class_and_none_about_a_toy(given: dict[str, str]) -> None:
    at = visit("5_Attention_metrics.py", step=CHECK_STEP, **given)
    assert not at.exception and not at.subheader


@pytest.mark.parametrize(
    ("lesson", "wanted"),
    [
        ("self-attention", "most-even"),
        ("head-specialization", "best-head-next_token"),
        ("head-specialization", "looks-most-content_words"),
    ],
)
def test_what_a_class_picked_can_be_picked_on_an_example(lesson: str, wanted: str) -> None:
    spots = (Spot.of(run("lab-minilm", each.text)) for each in EXAMPLES if "[MASK]" not in each.text)
    asked = (
        each for spot in spots for ask in for_a_class()[lesson] if (each := ask(spot)) is not None and each.id == wanted
    )
    found = next(asked, None)
    assert found is not None and found.place is not None
    assert found.options[found.answer].correct


def test_each_later_lesson_begins_with_another_question() -> None:
    spot = Spot.of(run("lab-minilm", STORY))
    ask = questions_of("head-specialization")
    ids = [question.id for question in ask(spot) if question is not None]
    assert len(ids) > 1
    for by in range(2 * len(ids)):
        asked = [question.id for question in later(ask, by)(spot) if question is not None]
        assert asked[0] == ids[by % len(ids)] and sorted(asked) == sorted(ids)
    assert list(later(lambda spot: [], 3)(spot)) == []


def test_no_question_returns_in_two_lessons_one_after_the_other() -> None:
    """A learner was asked three times in a row which kind of word a head prefers."""
    returned = []
    for page in ("7_Inter-sentence_attention.py", "8_Feed-forward_and_LayerNorm.py", "9_Masked_language_model.py"):
        at = visit(page, step=CHECK_STEP)
        name = next(each.id for each in LESSONS if each.page.endswith(page))
        returned.append({(each.lesson, each.id) for each in at.session_state[f"_asked.{name}.earlier"].questions})
        assert "A question that names no head is about" in words(at)
    assert all(returned) and not any(one & other for one, other in pairwise(returned))
