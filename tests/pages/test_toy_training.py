"""Toy mode's third toy on screen: before, while and after it is trained."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import LESSONS, Toy
from lab.models.jobs import Failed
from lab.toy import training
from lab.toy.tasks import TASKS
from lab.toy.training import Plan, chance
from lab.ui.toys import watched
from tests.pages.apptest import press, reveal, step_of, turn_to, visit, words
from tests.thorough import one_by_day

pytestmark = pytest.mark.usefixtures("short")
PAGE = "3_Self-attention.py"
TOY = {"mode": "Toy", "toy_weights": "Trained live"}
STEP = "Train a toy"
TOY_PAGES = [lesson.page.removeprefix("pages/") for lesson in LESSONS if lesson.toy is Toy.HEADS]


def trained(page: str = PAGE, **params: str) -> AppTest:
    at = reveal(visit(page, step=STEP, **TOY, **params))
    at.button(key="_train.start").click().run()
    return at


def test_a_training_that_fails_is_said_and_can_be_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(plan: Plan) -> Iterator[training.Snapshot]:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", broken)
        at = trained()
    assert [said.value for said in at.error] == [str(Failed())]
    at.button(key="_train.start").click().run()
    assert not at.error and "right after 20 steps" in words(at)


def test_before_training_the_toy_is_called_untrained() -> None:
    at = visit(PAGE, **TOY)
    assert "Before training, its weights are random" in words(at)
    assert at.selectbox(key="toy_task").value == TASKS[0].name


@one_by_day
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_prediction_comes_before_the_training(task) -> None:  # type: ignore[no-untyped-def]
    at = visit(PAGE, step=STEP, toy_task=task.name, **TOY)
    said = words(at)
    assert task.description in said
    assert task.look_for not in said
    assert not [button for button in at.button if button.key == "_train.start"]
    reveal(at)
    assert task.look_for in words(at)
    at.button(key="_train.start").click().run()
    said = words(at)
    assert f"Trained here on the task “{task.name}”" in said
    assert "right after 20 steps" in said
    assert not [button for button in at.button if button.key == "_train.start"]


def test_shown_accuracy_and_chance_are_the_run_s() -> None:
    at = trained()
    run = watched.finished_run(Plan("previous", 1, 8, 8, 0))
    assert run is not None
    assert f"**{run.latest.accuracy:.1%}** of the answers" in words(at)
    assert f"commonest answer would be right in {chance(run.plan):.1%}" in words(at)


def test_other_steps_and_lessons_show_the_trained_toy() -> None:
    at = trained()
    turn_to(at, "map")
    reveal(at)
    assert "Trained here" in words(at)
    at.switch_page("pages/8_Feed-forward_and_LayerNorm.py").run()
    assert "Trained here" in words(at)
    # Another seed is another toy, and nobody has trained it.
    at.number_input(key="toy_seed").set_value(7).run()
    assert "Before training" in words(at)
    at.number_input(key="toy_seed").set_value(0).run()
    assert "Trained here" in words(at)


@one_by_day
@pytest.mark.parametrize("page", TOY_PAGES)
def test_a_trained_toy_takes_three_clicks_from_the_first_page(page: str) -> None:
    """Whatever the step asks first: the question is offered beside what was learned."""
    at = visit()
    at.switch_page(f"pages/{page}").run()
    at.segmented_control(key="mode").set_value("Toy").run()
    next(button for button in at.sidebar.button if button.label == "Train").click().run()
    said = words(at)
    assert step_of(at) == STEP
    assert "Trained here" in said and re.search("of (its|the) answers|of fresh sentences", said)
    assert "nothing is learned" not in said
    assert not [radio for radio in at.radio if str(radio.key).startswith("_predict.")]
    press(at, "Ask me first")
    assert [radio for radio in at.radio if str(radio.key).startswith("_predict.")] and "Trained here" in words(at)


def test_links_made_before_show_the_toy_that_they_showed() -> None:
    """They left out the weights of the toy written by hand; a link of today names all weights."""
    assert visit(PAGE, mode="Toy").segmented_control(key="toy_weights").value == "Constructed"
    assert visit("50_Head_view.py", mode="Toy").segmented_control(key="toy_weights").value == "Constructed"
    at = visit(PAGE)
    at.segmented_control(key="mode").set_value("Toy").run()
    assert at.segmented_control(key="toy_weights").value == "Trained live"
    turn_to(at, "check")
    at.button(key="_next_page").click().run()
    assert at.segmented_control(key="toy_weights").value == "Trained live"


def test_a_stopped_training_is_kept_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from lab.ui.toys import toy_runs

    # Stop is a rerun that interrupts the loop; what is remembered is what the last stage left.
    at = reveal(visit(PAGE, step=STEP, **TOY))
    with monkeypatch.context() as patch:
        remember, seen = toy_runs.remember, []

        def stop(run) -> None:  # type: ignore[no-untyped-def]
            remember(run)
            seen.append(run)
            if len(seen) == 6:
                raise RuntimeError("stopped")

        patch.setattr(toy_runs, "remember", stop)
        with pytest.raises(AssertionError, match="RuntimeError"):
            at.button(key="_train.start").click().run()
    at.run()
    said = words(at)
    assert "Training stopped at step 5 of 20" in said
    assert "right after 5 steps" in said
    assert watched.finished_run(Plan("previous", 1, 8, 8, 0)) is None
    assert at.button(key="_train.start").label == "Train from the beginning"
    at.button(key="_train.start").click().run()
    assert "Trained here" in words(at)


def test_a_new_task_brings_its_number_of_layers() -> None:
    at = visit(PAGE, **TOY)
    at.selectbox(key="toy_task").set_value(TASKS[3].name).run()
    assert at.segmented_control(key="toy_layers").value == 2
    at.segmented_control(key="toy_layers").set_value(1).run()
    assert at.segmented_control(key="toy_layers").value == 1
    at.selectbox(key="toy_task").set_value(TASKS[0].name).run()
    assert at.segmented_control(key="toy_layers").value == 1


def test_a_link_restores_the_settings_and_offers_to_train() -> None:
    at = visit(PAGE, step=STEP, toy_task=TASKS[3].name, toy_layers="2", toy_seed="3", **TOY)
    assert at.selectbox(key="toy_task").value == TASKS[3].name
    assert at.segmented_control(key="toy_layers").value == 2
    assert "Before training" in words(at)


def test_other_toys_are_told_how_to_get_there() -> None:
    at = visit(PAGE, step=STEP, mode="Toy", toy_weights="Random")
    next(button for button in at.button if "Trained live" in button.label).click().run()
    assert at.segmented_control(key="toy_weights").value == "Trained live"
    assert "Before training" in words(at)
