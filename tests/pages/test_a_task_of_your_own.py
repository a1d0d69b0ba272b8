"""Lesson 11 on screen: a classifier that is taught, a layer that is trained, a word that is cut."""

from __future__ import annotations

import gc
import re
import weakref

import pytest
from streamlit.testing.v1 import AppTest

from lab.lessons.a_task_of_your_own import trained_layer
from lab.lessons.a_task_of_your_own.taught import LONGEST, MOST, VisitLabels
from tests.charts.samples import HOSTILE
from tests.pages.apptest import go, press, reveal, turn_to, visit, words, worked
from tests.thorough import one_by_day

PAGE = "11_A_task_of_your_own.py"
MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
OWN = "Your own"


def add(at: AppTest, typed: str) -> AppTest:
    next(each for each in at.text_area if each.label.startswith("Your sentences")).input(typed)
    press(at, "Add")
    return at


def trained(at: AppTest) -> AppTest:
    for each in at.button:  # there is none if another visit has trained the layer
        if each.label.startswith("Train the last layer"):
            each.click().run()
            return worked(at)
    return at


def said(at: AppTest) -> str:
    """All text on the page in one line."""
    return " ".join(words(at).split())


@pytest.mark.parametrize(("model", "written"), [("lab-minilm", True), ("lab-bert", False)])
def test_partners_and_others_are_counted_and_the_finding_is_of_the_course_s_model(model: str, written: bool) -> None:
    at = visit(PAGE, step="teach-it", model=model)
    assert "Label at least one sentence as good news" in said(at)
    at.button(key="_thirty").click().run()
    assert re.search(r"After 30 examples, the classifier gets \*\*\d+ of 30\*\* other sentences right", said(at))
    seen = set()
    for _ in range(3):
        at.button(key="_one").click().run()
        found = re.search(r"gets \*\*(\d+) of 20\*\* partners right: .* gets \*\*(\d+) of 20\*\* right", said(at))
        assert found is not None and int(found[1]) <= int(found[2]) + 2
        seen.add(found.groups())
    assert len(seen) > 1, "each click chooses in another way"
    assert "1,000 ways" not in said(at) and ("1,000 ways" in said(reveal(at))) is written
    at.button(key="_afresh").click().run()
    assert "Label at least one sentence" in said(at)


def test_a_learner_teaches_two_labels_of_their_own() -> None:
    at = visit(PAGE, step="teach-it", taught=OWN)
    add(
        at,
        "".join(f"I love this {each}.\tlove\nI hate this {each}.\thate\n" for each in ("book", "film", "song", "day")),
    )
    labels = [each.value for each in at.text_input if each.label.endswith("label")]
    assert labels == ["love", "hate"]
    found = re.search(r"gets \*\*(\d+) of 8\*\* sentences right that it has not learned", words(at))
    assert found is not None and int(found[1]) >= 6
    next(each for each in at.text_input if each.label == "A new sentence").input("I love this place.").run()
    assert "The classifier says: **love**" in words(at)


@pytest.mark.parametrize(
    "text", [*(each for each in HOSTILE if each.isprintable() or each.isascii()), "", " \n ", "x" * (LONGEST + 50)]
)
def test_bad_sentences_get_a_sentence_and_lose_nothing(text: str) -> None:
    at = add(visit(PAGE, step="teach-it", taught=OWN), "It is good.\tyes\nIt is bad.\tno")
    add(at, text)
    kept = at.session_state["_taught_state"].own
    assert kept[:2] == (("It is good.", True), ("It is bad.", False))


def test_five_hundred_sentences_become_two_hundred_and_are_said() -> None:
    at = add(visit(PAGE, step="teach-it", taught=OWN), "\n".join(f"Number {i} is here." for i in range(500)))
    assert len(at.session_state["_taught_state"].own) == MOST
    assert any("300 sentences were left out" in each.value for each in at.warning)


def test_a_sentence_that_is_left_out_stays_in_the_field() -> None:
    long = "x" * (LONGEST + 1)
    at = add(visit(PAGE, step="teach-it", taught=OWN), f"It is good.\tyes\n{long}\tno")
    field = next(each for each in at.text_area if each.label.startswith("Your sentences"))
    assert field.value == f"{long}\tno"
    at = add(at, "It is bad.\tno")
    assert next(each for each in at.text_area if each.label.startswith("Your sentences")).value == ""


def test_one_label_only_and_empty_labels_are_said() -> None:
    at = add(visit(PAGE, step="teach-it", taught=OWN), "It is good.\tyes\nIt is fine.\tyes")
    assert "Label at least one sentence as yes and one as no" in words(at)
    next(each for each in at.text_input if each.label == "First label").input("").run()
    assert any("needs a name" in each.value for each in at.warning)


@one_by_day
@pytest.mark.parametrize("model", MODELS)
def test_the_last_layer_is_trained_and_what_it_costs_is_shown(model: str) -> None:
    at = trained(visit(PAGE, step="change-the-model", model=model))
    found = re.search(
        r"got (\d+) of 62 new sentences right\. .* gets \*\*(\d+)\*\* right: (\d+) are newly right, (\d+) newly wrong",
        said(at),
    )
    assert found is not None
    before, after, gained, lost = map(int, found.groups())
    assert after - before == gained - lost and "**The price.**" not in said(at)
    told, written = said(reveal(at)), model == "lab-minilm"
    assert "**The price.**" in told and ("Twenty ways" in told) is ("37 capitals" in told) is written
    go(at, "why-this-answer")
    assert re.search(r"The answer is \*\*.*\*\* \(0\.\d\d\)\. It is least probable without .*: 0\.\d\d", said(at))
    assert ("A hint, and often a wrong one" in said(at)) is written
    next(each for each in at.text_input if each.label == "A sentence").input("   ").run()
    assert "It is least probable" not in said(at)


@one_by_day
@pytest.mark.parametrize("text", HOSTILE[:3])
def test_hostile_texts(text: str) -> None:
    at = trained(visit(PAGE, text=text, step="change-the-model", model="lab-bert"))
    turn_to(at, "why-this-answer")
    next(each for each in at.text_input if each.label == "A sentence").input(text).run()
    turn_to(at, "check")
    at.text_input(key="_challenge.a-task-of-your-own").input(f"{text} / It is bad.").run()
    assert at.info or at.success


def test_own_sentences_are_trained_only_while_they_are_chosen() -> None:
    at = visit(PAGE, step="teach-it", taught=OWN)
    add(at, "".join(f"I love thing {i}.\tlove\nI hate thing {i}.\thate\n" for i in range(9)))
    turn_to(at, "change-the-model")
    assert "sentences of your own are learned" in words(at)
    turn_to(at, "teach-it")
    at.segmented_control(key="taught").set_value("The lab’s").run()
    turn_to(at, "change-the-model")
    assert "sentences of your own are learned" not in said(at) and "sentences of the lab" in said(at)


def test_too_few_own_sentences_are_said() -> None:
    at = add(visit(PAGE, step="teach-it", taught=OWN), "It is good.\tyes\nIt is bad.\tno")
    turn_to(at, "change-the-model")
    assert "You have too few of your own" in words(at)


def test_labels_are_text_and_what_no_model_can_read_is_left_out_and_said() -> None:
    at = visit(PAGE, step="teach-it", taught=OWN)
    at.session_state["_taught_state"] = VisitLabels(
        own=(("It is good.", True), ("\u0301", None), ("It is bad.", False)), labels=("[a](http://b)", "$x$")
    )
    at.run()
    assert [text for text, _ in at.session_state["_taught_state"].own] == ["It is good.", "It is bad."]
    next(each for each in at.text_input if each.label == "A new sentence").input("It is fine.").run()
    told = next(each.value for each in at.markdown if each.value.startswith("The classifier says"))
    assert "[a](" not in told and "$x$" not in told


def test_what_a_page_showed_stays_when_its_layer_has_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    trained_layer._COPIES.clear()
    at = reveal(trained(visit(PAGE, step="Change the model", model="lab-bert")))
    assert "37 capitals" not in said(at), "that was counted with the course's model"
    shown = next(each.value for each in at.markdown if "With the trained layer" in each.value)
    (copy,) = trained_layer._COPIES.values()
    layer = weakref.ref(copy.tuned)
    monkeypatch.setattr(trained_layer, "ROOM", 1)
    other, newest = trained_layer.copy_of("other"), copy.tuned
    assert newest is not None
    trained_layer.keep(other, newest)
    del newest
    other.tuned = None
    gc.collect()
    assert copy.tuned is None and layer() is None, "nothing else holds a trained layer"
    assert shown in [each.value for each in at.run().markdown]
    assert not any("Train the last layer" in each.label for each in at.button)
    monkeypatch.undo()
    again = worked(turn_to(at, "why-this-answer"))
    trained_again: object = copy.tuned
    assert trained_again is not None and any("The answer is" in each.value for each in again.markdown)
