"""A class that writes sentences: one from each participant, for the teacher alone, gone with the room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, select

from lab.rooms.codes import new_secret
from lab.rooms.questions import class_teaches
from lab.rooms.rooms import NotNow, NotTheTeacher, Rooms
from lab.rooms.schema import SENTENCES
from lab.rooms.states import Phase
from tests.rooms.test_rooms import opened

HOSTILE = "<script>alert(1)</script> سلام 👩‍🚀 **x**"


def writing(rooms: Rooms, people: int = 4) -> tuple[str, str, list[str]]:
    code, key = rooms.create()
    inside = [rooms.join(code, new_secret()) for _ in range(people)]
    rooms.ask(code, key, class_teaches("polite", "<b>rude</b>"))
    return code, key, inside


def test_everybody_has_one_sentence_which_only_the_teacher_reads(rooms: Rooms, engine: Engine) -> None:
    code, key, people = writing(rooms)
    for place, who in enumerate(people):
        rooms.write(code, who, 1, f"  Sentence   {place} {HOSTILE} ", place % 2)
    rooms.write(code, people[0], 1, "Another one.", 1)
    found = rooms.sentences(code, key)
    assert sorted(found) == sorted(
        [("Another one.", False), *((f"Sentence {place} {HOSTILE}", place % 2 == 0) for place in (1, 2, 3))]
    )
    assert rooms.seen(code).state.answers == 4
    with pytest.raises(NotTheTeacher):
        rooms.sentences(code, people[0])
    assert "Sentence" not in repr(rooms.seen(code, people[1])) and "Another" not in repr(rooms.seen(code))
    rooms.delete(code, key)
    with engine.begin() as connection:
        assert connection.execute(select(SENTENCES)).all() == []


def test_a_sentence_is_short_in_time_and_from_somebody_in_the_room(rooms: Rooms) -> None:
    code, key, people = writing(rooms)
    for text, label in (("", 0), ("x" * 121, 0), ("fine", 2), ("fine", -1)):
        with pytest.raises(NotNow):
            rooms.write(code, people[0], 1, text, label)
    with pytest.raises(NotNow):
        rooms.write(code, "somebody", 1, "fine", 0)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    with pytest.raises(NotNow):
        rooms.write(code, people[0], 1, "late", 0)
    assert rooms.sentences(code, key) == ()


def test_a_sentence_and_its_label_are_kept_together_or_not_at_all(rooms: Rooms) -> None:
    """Neither a label without a sentence, nor an answer to a question that asked for no sentence."""
    other, key, (who, *_) = opened(rooms)
    with pytest.raises(NotNow):
        rooms.write(other, who, 1, "not asked", 0)
    assert rooms.seen(other, who).mine == {} and rooms.seen(other).state.answers == 0
    code, _, people = writing(rooms)
    with pytest.raises(NotNow):
        rooms.vote(code, people[0], 1, 1, 0, 3)
    assert rooms.seen(code).state.answers == 0 and rooms.summary(other, key)[0].rounds == ()


@pytest.mark.parametrize("typed", ["A\x00 fine\x00 day", "A\nfine\u00a0 day\x07", "\x00A fine\tday"])
def test_a_sentence_has_one_form_in_every_database(rooms: Rooms, typed: str) -> None:
    """Postgres has no place for a NUL; SQLite has."""
    code, key, people = writing(rooms)
    rooms.write(code, people[0], 1, typed, 0)
    assert rooms.sentences(code, key) == (("A fine day", True),)
    with pytest.raises(NotNow):
        rooms.write(code, people[1], 1, "\x00 \x00", 0)


@pytest.mark.parametrize(("first", "second"), [("a", "a"), ("a b", "a  b"), ("a", "a\u200b"), ("a", ""), ("\x00", "b")])
def test_labels_that_nobody_can_tell_apart_are_refused(first: str, second: str) -> None:
    with pytest.raises(ValueError, match="two different labels"):
        class_teaches(first, second)


def test_who_is_removed_takes_the_sentence_along(rooms: Rooms) -> None:
    code, key, people = writing(rooms)
    for who in people:
        rooms.write(code, who, 1, "gone", 0)
    rooms.remove(code, key, 0)
    assert rooms.sentences(code, key) == ()


def test_the_class_sees_what_the_model_has_learned_when_the_teacher_tells(rooms: Rooms) -> None:
    code, key, people = writing(rooms)
    asked = class_teaches("polite", "<b>rude</b>")
    told = replace(asked, prompt="It is right about 3 of 4.", about="one line")
    with pytest.raises(NotNow):
        rooms.tell(code, key, told)  # while the class still writes
    rooms.write(code, people[0], 1, "x", 0)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    with pytest.raises(NotTheTeacher):
        rooms.tell(code, people[0], told)
    rooms.tell(code, key, told)
    seen = rooms.seen(code)
    assert seen.state.phase is Phase.REVEALED and seen.question is not None
    assert (seen.question.prompt, seen.question.about) == (told.prompt, told.about)
    assert rooms.summary(code, key) == (), "nothing in it was right or wrong"
