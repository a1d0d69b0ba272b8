"""A class that teaches, on the teacher's page: what the model reads, which model answers, what goes on paper."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer

from lab.analysis.tasks.few_examples import halves, of_new
from lab.analysis.tasks.sentence_vectors import brief
from lab.lessons.a_task_of_your_own.taught import VisitLabels
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel, load_model
from lab.rooms.codes import new_secret
from lab.rooms.questions import class_teaches
from lab.rooms.rooms import Rooms
from lab.rooms.series import Own, own_question
from lab.rooms.server import server
from lab.rooms.states import Phase
from lab.ui import runs
from tests.checkpoints import Family
from tests.pages.apptest import press, visit, words
from tests.pages.test_room import ROOM, Browsers, again, browsers, in_a_lesson

__all__ = ["browsers"]  # a fixture
POLITE = (
    "Could you help me, please?",
    "Thank you very much.",
    "I would be glad to help.",
    "After you.",
    "Good morning to you.",
)
RUDE = ("Shut up.", "Get out of my way.", "Nobody asked you.", "That is a stupid idea.", "Go away now.")


def written(rooms: Rooms, code: str, key: str, more: tuple[str, ...] = ()) -> tuple[tuple[str, bool], ...]:
    """A class has written its sentences, and the round is closed."""
    rooms.ask(code, key, class_teaches("polite", "rude"))
    for label, texts in enumerate(((*POLITE, *more), RUDE)):
        for text in texts:
            rooms.write(code, rooms.join(code, new_secret()), 1, text, label)
    rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
    return rooms.sentences(code, key)


def teaching(more: tuple[str, ...] = ()) -> tuple[AppTest, str, str, tuple[tuple[str, bool], ...]]:
    at, code, key = in_a_lesson()
    found = written(server().rooms, code, key, more)
    at.switch_page(f"pages/{ROOM}").run()
    return again(at), code, key, found


def answer_of(model: LoadedModel, found: tuple[tuple[str, bool], ...], text: str) -> str:
    every = halves(brief(model, [each for each, _ in found]).mean, [label for _, label in found])
    share = of_new(every.vectors, every.examples, brief(model, [text]).mean[0])
    return f"{max(share, 1 - share):.2f}"


def test_the_model_that_has_learned_answers_whatever_is_in_the_sidebar(browsers: Browsers) -> None:
    at, code, key, found = teaching()
    at.session_state["model"] = "lab-bert"
    press(again(at), "Teach the model")
    at.session_state["model"] = "lab-gpt2"
    # The class's sentences come in a random order, so what is learned differs a little each time.
    texts = ("Please sit down.", "The train is late.", "What a lovely day!", "Nobody came to the party.")
    answers = {text: [answer_of(load_model(each), found, text) for each in ("lab-bert", "lab-gpt2")] for text in texts}
    text = next(text for text, (taught, other) in answers.items() if taught != other)
    again(at).text_input(key="_class.new").input(text)
    press(at, "Ask the model, and show it on the wall")
    told = server().rooms.taught(code, key).question
    assert told is not None and f"probability {answers[text][0]}" in told.question.about


def test_a_model_of_another_server_is_a_sentence(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    at, code, key, _ = teaching()
    at.session_state["model"] = "lab-bert"
    press(again(at), "Teach the model")
    real = runs.readable
    monkeypatch.setattr(runs, "readable", lambda wanted: "lab-minilm" if wanted == "lab-bert" else real(wanted))
    again(at).text_input(key="_class.new").input("Please sit down.")
    press(at, "Ask the model, and show it on the wall")
    told = server().rooms.taught(code, key).question
    assert told is not None and not told.question.about and "no model called" in words(at)


def test_after_those_who_wrote_were_removed_the_model_is_not_asked(browsers: Browsers) -> None:
    code, key = server().create()
    written(server().rooms, code, key)
    at = visit(ROOM, room=code, key=key)
    press(at, "Teach the model")
    at.text_input(key="_class.new").input("Please sit down.")
    server().rooms.remove(code, key, 0)  # by a second teacher, after this page was drawn
    press(at, "Ask the model, and show it on the wall")
    assert "Too few sentences" in words(at)


@pytest.fixture
def with_a_token_without_a_row(
    tiny_folders: Callable[[Family], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A model whose tokenizer has got a token that its table has no row for."""
    folder = tmp_path / "tiny-added"
    shutil.copytree(tiny_folders("bert"), folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(["zebra"])
    tokenizer.save(str(folder / "tokenizer.json"))
    monkeypatch.setenv("LAB_MODELS", str(folder))
    runs.model_ids.clear()
    yield folder.name
    runs.model_ids.clear()


def test_a_sentence_that_the_model_cannot_read_is_left_out(browsers: Browsers, with_a_token_without_a_row: str) -> None:
    with pytest.raises(TextError, match="zebra"):
        brief(runs.model(with_a_token_without_a_row), ["A zebra runs."])
    at, code, key, _ = teaching(("A zebra, please.", "Thank the zebra."))
    at.session_state["model"] = with_a_token_without_a_row
    press(again(at), "Teach the model")
    told = server().rooms.taught(code, key).question
    assert told is not None and server().rooms.seen(code).state.phase is Phase.REVEALED
    assert "2 sentences could not be read" in told.question.prompt
    again(at).text_input(key="_class.new").input("zebra")
    press(at, "Ask the model, and show it on the wall")
    assert "can read" in words(at)


def test_teach_it_leaves_such_a_sentence_out_and_stays(with_a_token_without_a_row: str) -> None:
    at = visit("11_A_task_of_your_own.py", model=with_a_token_without_a_row, step="teach-it", taught="Your own")
    at.session_state["_taught_state"] = VisitLabels(own=(("A zebra runs.", True), ("Good day.", False)))
    at.run()
    assert "zebra" in words(at) and "Your sentences, one a line" in [each.label for each in at.text_area]
    assert at.session_state["_taught_state"].own == (("Good day.", False),)


def test_the_page_to_print_has_what_was_revealed_and_nothing_else(browsers: Browsers) -> None:
    """Also while the class writes its sentences."""
    code, key = server().create()
    rooms = server().rooms
    for place, said in enumerate(("First?", "Second?", "Third of all?"), start=1):
        rooms.ask(code, key, own_question(Own(said, ("no", "yes"), 1)))
        if said == "Third of all?":
            break
        rooms.step(code, key, Phase.OPEN, Phase.CLOSED)
        rooms.step(code, key, Phase.CLOSED, Phase.REVEALED)
        rooms.step(code, key, Phase.REVEALED, Phase.LOBBY)
        assert len(shown(code, key)) == place
    assert shown(code, key) == ["1. First?", "2. Second?"] and "open question" in printed(code, key)
    for now, then in ((Phase.OPEN, Phase.CLOSED), (Phase.CLOSED, Phase.REVEALED), (Phase.REVEALED, Phase.LOBBY)):
        rooms.step(code, key, now, then)
    rooms.ask(code, key, class_teaches("polite", "rude"))
    assert shown(code, key) == ["1. First?", "2. Second?", "3. Third of all?"]
    assert "Questions: 3" in printed(code, key) and "open question" not in printed(code, key)


def on_paper(code: str, key: str) -> AppTest:
    at = visit(ROOM, room=code, key=key)
    at.session_state["summary"] = 1
    return again(at)


def printed(code: str, key: str) -> str:
    return words(on_paper(code, key))


def shown(code: str, key: str) -> list[str]:
    return [each.value.replace("\\", "") for each in on_paper(code, key).header]
