"""What a browser brings back after a reload, and that a toy's questions and those about sentences never mix."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from lab.questions.progress import LearnerProgress
from lab.questions.progress_file import read
from tests.pages.apptest import ROOT, claims, reveal, shows_claims, turn_to, visit, words
from tests.sentences import CAT

PAGE = "5_Attention_metrics.py"
CHECK = {"step": "Check", "text": CAT, "layer": "2", "head": "3"}


def reloaded(at: AppTest, page: str, **params: str) -> AppTest:
    """Another visit, to which the browser brings what the first one left."""
    kept, notes = read(at.session_state["progress"].to_json().encode())
    assert not notes
    fresh = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=120)
    fresh.session_state["progress"] = kept
    for name, value in params.items():
        fresh.query_params[name] = value
    fresh.switch_page(f"pages/{page}")
    fresh.run()
    return fresh


def asked(at: AppTest, begins: str = "_check.") -> list[tuple[str, object]]:
    return [(radio.label, radio.value) for radio in at.radio if str(radio.key).startswith(begins)]


def answer(at: AppTest, options: list[int], begins: str = "_check.") -> None:
    keys = [str(radio.key) for radio in at.radio if str(radio.key).startswith(begins)]
    for key, option in zip(keys, options, strict=False):
        at.radio(key=key).set_value(option).run()


def test_checks_and_their_answers_come_back_and_so_do_their_hints() -> None:
    at = visit(PAGE, **CHECK)
    answer(at, [1, 0])
    said = [[box.value for box in kind] for kind in (at.success, at.error, at.warning)]
    again = reloaded(at, PAGE, **CHECK)
    assert asked(again) == asked(at) and [value for _, value in asked(again)][:2] == [1, 0]
    assert [[box.value for box in kind] for kind in (again.success, again.error, again.warning)] == said
    assert again.session_state["progress"] == at.session_state["progress"]


def test_a_prediction_comes_back_and_its_figure_is_in_sight() -> None:
    at = visit(PAGE, text=CAT, layer="2", step="effective")
    at.radio[-1].set_value(0).run()
    next(button for button in at.button if button.label == "Commit and show").click().run()
    again = reloaded(at, PAGE, text=CAT, layer="2", step="How many does it look at?")
    assert "predicted" in words(again) and words(again) == words(at)


def test_an_option_that_a_question_does_not_have_is_none() -> None:
    """Anybody may have written what the browser keeps."""
    at = visit(PAGE, **CHECK)
    answer(at, [1])
    at = reveal(turn_to(at, "effective"))
    now: LearnerProgress = at.session_state["progress"]
    for step, choices in now.predictions.items():
        for wording in choices:
            now = now.predicted(step, wording, 9)
    checks = [str(radio.key) for radio in visit(PAGE, **CHECK).radio if str(radio.key).startswith("_check.")]
    first, second = (key.rpartition(".")[2] for key in checks[:2])
    at.session_state["progress"] = now.tried("attention-metrics", first, 8).tried("attention-metrics", second, 9)
    assert "predicted" not in words(reloaded(at, PAGE, text=CAT, layer="2", step="How many does it look at?"))
    assert [value for _, value in asked(reloaded(at, PAGE, **CHECK))][:2] == [1, None]


def test_a_written_question_is_the_same_before_a_toy() -> None:
    at = visit(PAGE, **CHECK)
    real = asked(at)
    answer(at, [1])
    at.segmented_control(key="mode").set_value("Toy").run()
    turn_to(at, "check")
    assert [label for label, _ in asked(at)] == [label for label, _ in real] and asked(at)[0][1] == 1
    assert f"1 of {len(real)} checks" in words(at)


def test_a_toy_s_own_questions_are_not_counted() -> None:
    at = visit("7_Inter-sentence_attention.py", mode="Toy", step="check")
    answer(at, [0])
    assert asked(at)[0][1] == 0 and "of 3 checks" not in words(at)


def test_start_afresh_forgets_every_answer() -> None:
    at = visit(PAGE, **CHECK)
    answer(at, [1, 0])
    at.switch_page("pages/0_Course.py").run()
    at.button(key="_start_afresh").click().run()
    assert at.session_state["progress"] == LearnerProgress()
    at.query_params["step"] = "Check"
    at.switch_page(f"pages/{PAGE}").run()
    assert asked(at) and all(value is None for _, value in asked(at))


def test_the_prediction_of_an_experiment_and_its_answer_come_back() -> None:
    page = "30_Grammar.py"
    at = visit(page)
    for radio in at.radio:
        radio.set_value(0).run()
    next(button for button in at.button if button.label == "Commit and show").click().run()
    answered = next(line for line in words(at).splitlines() if "a head beats both rules" in line)
    again = reloaded(at, page)
    assert len(claims(again)) and answered in words(again)
    next(button for button in again.button if button.label == "Ask me again").click().run()
    assert not shows_claims(again) and reloaded(again, page).radio


def test_a_prediction_that_was_skipped_stays_skipped() -> None:
    page = "30_Grammar.py"
    again = reloaded(reveal(visit(page)), page)
    assert len(claims(again)) and "You expected" not in words(again)
