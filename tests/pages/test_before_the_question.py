"""Before a learner commits, nothing on the page says what is asked: every lesson, every step, every toy.

Everything that can be read is collected: text, labels, chosen options, tables, alternative texts, popovers. An element
that names the right option and none of the wrong ones gives the answer away; so does a figure that is drawn too early.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Dataframe, Element, Table

from lab.course.pages import LESSONS, Toy
from lab.course.words import plain
from lab.questions.question import Question
from tests.pages.apptest import steps_of, turn_to, visit, without_marks
from tests.thorough import THOROUGH

MODES = {
    "bert": {},
    "gpt2": {"model": "lab-gpt2"},
    "constructed": {"mode": "Toy"},
    "random": {"mode": "Toy", "toy_weights": "Random"},
    "trained": {"mode": "Toy", "toy_weights": "Trained live"},
}
CASES = [
    pytest.param(lesson.page.removeprefix("pages/"), name, id=f"{lesson.id}-{name}")
    for lesson in LESSONS
    for name in MODES
    if (lesson.toy and (name == "constructed" or lesson.toy is Toy.HEADS)) or "mode" not in MODES[name]
]
# Steps whose figure is what is asked about: it is read first, then answered.
TO_READ = {
    ("2_Embeddings.py", "rotary"),
    ("3_Self-attention.py", "all-rows"),
    ("4_Multi-head_attention.py", "each-head-off"),
    ("5_Attention_metrics.py", "two-heads"),
    ("6_Head_specialization.py", "radar"),
    ("8_Feed-forward_and_LayerNorm.py", "excited-by"),
    ("8_Feed-forward_and_LayerNorm.py", "residual"),
}
# What stands on every step of a page: its name, the way to others, and the proof's list of steps.
# The lesson's question, and what a check was asked about, stand there whatever the answer is.
# So do its minutes and its objectives, and the lesson that follows.
FRAME_TEXT = re.compile(r"After lesson \d+ you can|^Asked about |^\d+ of \d+ minutes$|^Next: lesson \d")
OBJECTIVES = {"\n".join(f"- {each}" for each in lesson.objectives) for lesson in LESSONS}
FRAME = ("title", "page_link", "button_group", "proof")
ALWAYS_OPEN = ("agreement", "_proof_0")
_NAMED = re.compile(r"(?P<token>.+) \((?P<place>\d+)\)")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """Every question made since, with its answer."""
    questions: list[Question] = []
    check = Question.__post_init__

    def remember(self: Question) -> None:
        check(self)
        questions.append(self)

    monkeypatch.setattr(Question, "__post_init__", remember)
    return questions


def readable(text: object) -> str:
    """Text as a reader sees it: no escapes, no marks of direction, no quotation marks."""
    return re.sub("[\u2068\u2069“”]", "", plain(without_marks(str(text))))


def elements(block: Block) -> Iterator[tuple[str, str]]:
    """Type and text of all that can be read; a list of options is one text, the chosen one another."""
    for child in block.children.values():
        if isinstance(child, Block):
            if child.type in ("popover", "expander", "tab"):
                own = child.proto.popover if child.type == "popover" else child.proto
                yield child.type, readable(getattr(own, "label", ""))
            yield from elements(child)
        else:
            yield from texts(child)


def texts(element: Element) -> Iterator[tuple[str, str]]:
    if isinstance(element, Dataframe | Table):
        kind = "proof" if "passed" in element.value else element.type
        yield kind, readable(element.value.to_string(max_rows=None))
        yield "number of rows", str(len(element.value))
        return
    proto = element.proto
    for field in ("label", "help", "body", "alt", "caption", "placeholder"):
        value = getattr(proto, field, "")
        if isinstance(value, str) and value:
            yield element.type, readable(value)
    options = getattr(element, "options", None) or ()
    if options and element.type != "radio":
        yield element.type, readable(" | ".join(map(str, options)))
        chosen = getattr(element, "index", None)
        if isinstance(chosen, int):
            yield f"{element.type} chosen", readable(options[chosen])
    elif element.type in ("metric", "code", "text_area", "text_input", "number_input", "slider", "progress"):
        yield element.type, readable(getattr(element, "value", ""))


def ways_to_say(option: str) -> list[str]:
    """An option as other places write it: a token with its place comes in two ways."""
    text = readable(option)
    named = _NAMED.fullmatch(text)
    return [text] if named is None else [text, f"{named['place']} · {named['token']}"]


def says(text: str, option: str) -> bool:
    return any(
        re.search(rf"(?<![\w#.,]){re.escape(way)}(?![\w#]|[.,]\d)", text, re.IGNORECASE) for way in ways_to_say(option)
    )


def gives_away(question: Question, text: str, kind: str) -> bool:
    """Whether ``text`` singles the right option out; what the prompt itself names cannot be given away."""
    if says(readable(question.prompt), question.options[question.answer].text):
        return False
    right = question.options[question.answer].text
    if (
        kind in FRAME
        or FRAME_TEXT.search(text)
        or text in OBJECTIVES
        or (kind == "expander" and readable(right).isdecimal())
    ):  # "Lesson 4: after it you can …"
        return False
    wrong = [option.text for option in question.options if not option.correct]
    return says(text, right) and not any(says(text, each) for each in wrong)


def asked(at: AppTest, questions: list[Question], kind: str) -> list[Question]:
    """The questions that stand on the page, unanswered."""
    prompts = [radio.label for radio in at.radio if radio.key and radio.key.startswith(kind)]
    return [next(each for each in reversed(questions) if each.prompt == prompt) for prompt in prompts]


def test_a_toy_s_name_does_not_tell_its_rules() -> None:
    said = " ".join(text for kind, text in elements(visit("3_Self-attention.py", mode="Toy").main) if kind == "info")
    assert "written by hand" in said
    assert not re.search("previous|before|equal|same|alike|average", said)


# By day each lesson with the default model, and every fourth of the other cases.
@pytest.mark.parametrize(
    ("page", "mode"), [case for place, case in enumerate(CASES) if THOROUGH or "bert" in case.values or place % 4 == 1]
)
def test_nothing_says_what_is_asked(page: str, mode: str, made: list[Question]) -> None:
    at = visit(page, **MODES[mode])
    asks = {lesson.question for lesson in LESSONS}
    found = []
    for step in steps_of(at):
        for name in ALWAYS_OPEN:
            at.session_state[name] = True
        turn_to(at, step)
        predictions = asked(at, made, "_predict.")
        for question in [*predictions, *asked(at, made, "_check.")]:
            own = readable(question.prompt)
            # Another question may speak of the same things, but it must not have the number that this one asks for.
            prompts = [
                readable(each.prompt) for each in made if "." not in readable(question.options[question.answer].text)
            ]
            found += [
                f"{step}: {question.prompt} {kind} says {text[:200]!r}"
                for kind, text in elements(at.main)
                if own not in text
                and text.strip("*") not in asks
                and not any(prompt in text for prompt in prompts)
                and gives_away(question, text, kind)
            ]
        if predictions:
            early = [] if (page, step) in TO_READ else [*at.main.get("vega_lite_chart"), *at.main.get("plotly_chart")]
            found += [f"{step}: drawn before its question: {chart.proto.alt[:120]}" for chart in early]
    assert not found, "\n".join(found)
