"""A first wrong answer meets a hint: every check with a choice left has one, and no hint is for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.course.pages import CHECK_STEP, LESSONS, Lesson
from lab.questions.hints import HINTS, hint_of
from lab.questions.question import Option, Question
from lab.ui.parameters import TOY
from lab.ui.quiz.on_screen import OnScreen
from tests.pages.apptest import visit
from tests.sentences import STORY

TEXTS = {"text": f"{STORY} He read it twice, and then he gave it back."}
VISITS: tuple[dict[str, str], ...] = (
    {},
    {"model": "lab-gpt2"},
    {"mode": TOY},
    {"pair": "He thanked her unbelievably politely."},
)


def asked(options: int, id: str = next(iter(HINTS))) -> Question:
    return Question(id, "?", tuple(Option(str(i), "why", correct=i == 0) for i in range(options)))


def test_two_options_leave_nothing_to_try_again() -> None:
    assert hint_of(asked(3)) == next(iter(HINTS.values()))
    assert hint_of(asked(2)) is None


def test_an_id_may_share_the_hint_of_its_kind() -> None:
    kind = next(id for id in HINTS if id.endswith("-"))
    assert hint_of(asked(3, f"{kind}function_words")) == HINTS[kind]
    assert hint_of(asked(3, "unheard-of")) is None


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_check_of_a_lesson_has_a_hint(lesson: Lesson, monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Question] = []
    now = OnScreen.now.__func__  # type: ignore[attr-defined]

    def noted(cls: type[OnScreen], pool: list[Question], *rest: object) -> OnScreen:
        pools.extend(pool)
        return now(cls, pool, *rest)

    monkeypatch.setattr(OnScreen, "now", classmethod(noted))
    for given in VISITS:
        at = visit(Path(lesson.page).name, step=CHECK_STEP, **{**TEXTS, **given})
        assert not at.exception
    assert pools
    assert {each.id for each in pools if len(each.options) > 2 and hint_of(each) is None} == set()


def test_no_hint_is_for_nothing() -> None:
    sources = "".join(path.read_text() for path in Path("lab").rglob("*.py") if path.name != "hints.py")
    made = {"toy-shared", "toy-alone"}  # by a name that is put together
    assert [id for id in HINTS if f'"{id.removesuffix("-")}' not in sources and id not in made] == []
