"""Every lesson, every step, every kind of model, every kind of text: nothing breaks. New lessons join by themselves.

What the steps say and which numbers they show is the business of each lesson's own tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import LESSONS, Lesson, Toy
from lab.models.catalogue import DEFAULT_MODEL
from lab.toy.merges import MERGES
from lab.toy.rules import RULES, SENTENCES
from lab.ui.parameters import CONSTRUCTED, RANDOM, TOY, TOY_NUMBERS, TRAINED
from tests.checkpoints import Family
from tests.pages.apptest import Offer, visit, walk, words
from tests.pages.texts import EMPTY, LONG, ONE, PAIR, TEXTS
from tests.sentences import CAT, FOLLOWS
from tests.thorough import THOROUGH, one_by_day

FAMILIES: tuple[Family, ...] = ("bert", "gpt2")
OTHER_FAMILIES: tuple[Family, ...] = ("roberta", "electra", "distilbert")  # and ModernBERT in test_modernbert.py
CASES = [(kind, family) for kind in TEXTS if kind != PAIR for family in FAMILIES]
# The sidebar's own settings, the smallest sentences that can be made, and the largest.
SIZES: Mapping[str, dict[str, str]] = {
    "default": {},
    "smallest": {each.name: str(each.least) for each in TOY_NUMBERS},
    "largest": {each.name: str(each.most) for each in TOY_NUMBERS},
}
# What a step asks or shows; before the first of them stands a sentence.
SHOWN = ("radio", "vega_lite_chart", "plotly_chart", "arrow_data_frame", "dataframe", "latex", "metric")
FRAME = ("After lesson", "Hugging Face", ":gray-badge", "This shows that the lab")
READERS = [lesson for lesson in LESSONS if not all(step.own_words for step in lesson.steps)]
TOYS = [
    (lesson, weights, size)
    for lesson in LESSONS
    if lesson.toy is Toy.HEADS
    for weights in (RANDOM, CONSTRUCTED)
    for size in SIZES
]
# The settings of the toys that one lesson has, at their ends.
OWN_TOYS: Mapping[Toy, list[dict[str, str]]] = {
    Toy.VOCABULARY: [
        {"toy_trainer": trainer, "toy_merges": str(made), "toy_seed": seed, "toy_word": word}
        for trainer, made, seed, word in (
            ("BPE", 0, "0", ""),
            ("BPE", MERGES, "9999", "<b>Ünïcode 日本 :red[x]</b>"),
            ("WordPiece", 5, "1", "tapir"),
        )
    ],
    Toy.BLANK: [
        {"toy_rule": rule.name, "toy_layers": layers, "toy_sentence": sentence, "masked": "1.2"}
        for rule, layers, sentence in zip(RULES, "121", ("1", str(SENTENCES), "200"), strict=True)
    ],
}


def file(lesson: Lesson) -> str:
    return lesson.page.removeprefix("pages/")


def said_first(at: AppTest) -> list[str]:
    """The sentences between the row of steps and the first thing asked or shown."""
    texts: list[str] = []
    elements = list(at.main)
    row = next(place for place, element in enumerate(elements) if getattr(element, "key", None) == "step")
    for element in elements[row + 1 :]:
        if element.type in SHOWN:
            break
        said = str(getattr(element, "value", ""))
        if element.type in ("markdown", "info") and not any(each in said for each in FRAME):
            texts.append(said)
    return [text for text in texts if len(text.split()) >= 8]


def look(at: AppTest, where: str) -> int:
    """Walk all steps; each must come up without an exception or an error. Returns how many there are."""
    seen = []
    for step in walk(at):
        if where == ONE:
            assert step == "check" or said_first(at), f"{step} shows something before it says what it is about"
        for formula in at.latex:
            assert not re.search(r"\de[+-]\d", formula.value), "LaTeX reads 2e+05 as 2 times e, plus 5"
        assert "<script" not in re.sub(r"\\.", "", words(at)), f"{where}, {step}"
        seen.append(step)
    return len(seen)


@pytest.mark.parametrize(("kind", "family"), CASES if THOROUGH else [("harm", "gpt2"), ("emoji and arabic", "bert")])
def test_every_step_bears_every_text(kind: str, family: Family, offer: Offer) -> None:
    """Text by text: what is computed of one serves all lessons. A pair walks over them in test_notebooks.py.

    By day each of two texts walks over half of the lessons.

    What a strange text or a full window does depends on how it is cut and on the mask, not on what was learned.
    """
    text, pair = TEXTS[kind]
    model = f"lab-{family}" if kind == ONE else offer(family)
    for lesson in LESSONS if THOROUGH else LESSONS[kind == "harm" :: 2]:
        at = visit(file(lesson), model=model, layer="2", head="3")
        at.session_state["text"], at.session_state["pair"] = text, pair
        at.run()
        assert ("were cut" in words(at)) == (kind == LONG), lesson.id
        assert look(at, kind) >= 3, lesson.id
        assert at.session_state["_own_texts"] == (text, pair)
        assert at.session_state["model"] == model


@one_by_day
@pytest.mark.parametrize("place", range(3), ids=OTHER_FAMILIES)
def test_every_step_bears_every_family(place: int, offer: Offer) -> None:
    """By day each family a third of the lessons."""
    family = OTHER_FAMILIES[place]
    for lesson in LESSONS if THOROUGH else LESSONS[place::3]:
        at = visit(file(lesson), model=offer(family), text=CAT, pair=FOLLOWS[1], layer="2", head="2")
        # A discriminator predicts no words: it is shown no step, and which model to choose.
        assert look(at, family) >= 3 or (family == "electra" and f"Choose {DEFAULT_MODEL}" in words(at)), lesson.id
        assert at.session_state["model"] == f"tiny-{family}"


@pytest.mark.parametrize("lesson", READERS, ids=lambda lesson: lesson.id)
def test_without_a_text_there_is_a_sentence_and_a_way_back(lesson: Lesson) -> None:
    reads = next(step.id for step in lesson.steps if not step.own_words)
    at = visit(file(lesson), step=reads, layer="2", head="3")
    chosen = {box.key: box.value for box in at.selectbox if box.key in ("layer", "head")}
    for text in EMPTY:
        at.text_area(key="text").set_value(text).run()
        assert at.info[0].value.startswith("There is no text yet.")
    at.text_area(key="text").set_value("The cat sat.").run()
    assert "There is no text yet" not in words(at)
    assert chosen == {box.key: box.value for box in at.selectbox if box.key in ("layer", "head")}


@pytest.mark.parametrize(
    ("lesson", "weights", "size"),
    # By day each lesson, with two of the sizes, among them each size and each kind of weights several times.
    [case for place, case in enumerate(TOYS) if THOROUGH or place % 7 < 2],
    ids=lambda value: getattr(value, "id", value),
)
def test_every_step_bears_every_toy(lesson: Lesson, weights: str, size: str) -> None:
    at = visit(file(lesson), mode=TOY, toy_weights=weights, **SIZES[size])
    assert look(at, size) >= 5
    assert ("nothing is learned here" in words(at)) == (weights == RANDOM)


@pytest.mark.parametrize(
    ("lesson", "settings"),
    [
        pytest.param(lesson, settings, id=f"{lesson.id}-{number}")
        for lesson in LESSONS
        if lesson.toy is not None
        for number, settings in enumerate(OWN_TOYS.get(lesson.toy, []))
    ],
)
def test_every_step_bears_the_toy_of_its_lesson(lesson: Lesson, settings: dict[str, str]) -> None:
    """Whatever the weights of the other lessons' toys are."""
    at = visit(file(lesson), mode=TOY, toy_weights=TRAINED, **settings)
    assert at.info[0].value.startswith("A toy ")
    assert look(at, ONE) >= 4
    assert not at.warning
