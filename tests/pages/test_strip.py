"""You are here: the strip names the stop, has the shapes of the run on screen, and leads to every lesson."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.course.pages import BENCHES, EXPERIMENTS, LESSONS, STOPS, Lesson
from lab.course.sentences.looks import look_head
from lab.models.catalogue import DEFAULT_MODEL
from lab.ui.frame import strip as strip_module
from lab.ui.frame.strip import shapes
from tests.charts.payloads import unpack
from tests.pages.apptest import Offer, visit

TEXT = "The cat sat on the mat."


def strip(at: AppTest) -> dict[str, Any]:
    """What the browser gets."""
    (element,) = [each for each in at.get("bidi_component") if each.key == "strip"]
    header, _ = unpack(element.proto.bytes)
    return header


def test_every_lesson_has_its_place_on_the_way() -> None:
    names = [stop.name for stop in STOPS]
    places = [names.index(lesson.stop) for lesson in LESSONS]
    assert places == sorted(places) and {*places} == {*range(len(STOPS))}
    assert {each for bench in BENCHES for each in bench.after} <= {lesson.id for lesson in LESSONS}
    assert {each for experiment in EXPERIMENTS for each in experiment.after} <= {lesson.id for lesson in LESSONS}
    assert all(bench.after for bench in BENCHES) and all(experiment.after for experiment in EXPERIMENTS)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_stop_of_the_page_is_lit_and_every_lesson_is_a_link(lesson: Lesson) -> None:
    sent = strip(visit(lesson.page.removeprefix("pages/"), text=TEXT))
    doors = {door["id"]: (stop, door) for stop in sent["stops"] for door in stop["lessons"]}
    assert list(doors) == [each.id for each in LESSONS]
    assert [stop["name"] for stop in sent["stops"] if stop["lit"]] == [doors[lesson.id][0]["name"]]
    assert [each for each, (_, door) in doors.items() if door["here"]] == [lesson.id]
    assert all("text=The+cat+sat" in door["address"] for _, door in doors.values())


def test_shapes_are_those_of_the_tensors() -> None:
    traced = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    n, width = traced.embeddings.output.shape
    attention, neurons = traced.layer(0).attention, traced.layer(0).ffn_activation
    assert shapes(traced) == {
        "Tokens": f"{len(traced.token_ids)} ids",
        "Vectors": f"{n} × {width}",
        "Attention": f"{attention.shape[0]} maps {attention.shape[1]} × {attention.shape[2]}",
        "Feed-forward": f"{n} × {neurons.shape[1]:,}",
        "Word": f"{traced.model.tokenizer.get_vocab_size():,} words",
    }
    assert strip(visit("2_Embeddings.py", text=TEXT))["layers"] == len(traced.model.weights.layers)


def test_an_empty_text_has_a_way_without_shapes() -> None:
    sent = strip(visit("3_Self-attention.py", text=" "))
    assert sent["layers"] == 6 and not any(stop["shape"] for stop in sent["stops"])


def test_an_experiment_says_how_often_a_layer_repeats_and_a_page_without_a_model_does_not() -> None:
    assert strip(visit("30_Grammar.py"))["layers"] == 6
    assert strip(visit("1_Tokenization.py", mode="Toy"))["layers"] is None


def test_a_toy_and_a_model_without_a_head_say_so(offer: Offer) -> None:
    assert strip(visit("3_Self-attention.py", mode="Toy"))["stops"][-1]["shape"] == "no word predicted"
    assert strip(visit("3_Self-attention.py", model=offer("electra")))["stops"][-1]["shape"] == "no word predicted"


def test_a_bench_lights_the_stop_it_is_about_or_none() -> None:
    lit = {
        bench.title: [stop["name"] for stop in strip(visit(bench.page.removeprefix("pages/")))["stops"] if stop["lit"]]
        for bench in BENCHES
    }
    assert lit["Neuron view"] == ["Attention"] and lit["Tensors"] == []


@pytest.mark.parametrize("page", ["50_Head_view.py", "30_Grammar.py"])
def test_a_page_beside_the_lessons_is_none_of_them(page: str) -> None:
    """It belongs to one lesson, and a click on that one leads there."""
    sent = strip(visit(page))
    assert [stop["name"] for stop in sent["stops"] if stop["lit"]] == ["Attention"]
    assert not [door for stop in sent["stops"] for door in stop["lessons"] if door["here"]]


def test_a_click_on_the_lesson_that_a_page_belongs_to(monkeypatch: pytest.MonkeyPatch) -> None:
    at = visit("30_Grammar.py")
    real = strip_module.mount

    def clicked(*given: Any, **more: Any) -> dict[str, Any]:
        return {**real(*given, **more), "lesson": "head-specialization"}

    monkeypatch.setattr(strip_module, "mount", clicked)
    at.run()
    assert at.title[0].value == "Head specialization"


def test_a_class_gets_no_strip() -> None:
    assert not [each for each in visit("3_Self-attention.py", teach="1").get("bidi_component") if each.key == "strip"]


def test_a_click_leads_on_from_a_page_with_choices_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit refuses to name a parameter that has a widget; the strip stands above those of its page."""
    at = visit("3_Self-attention.py", text=TEXT, layer="2", head="3")
    real = strip_module.mount

    def clicked(*given: Any, **more: Any) -> dict[str, Any]:
        return {**real(*given, **more), "lesson": "multi-head-attention"}

    monkeypatch.setattr(strip_module, "mount", clicked)
    at.run()
    assert at.title[0].value == "Multi-head attention"
    layer, head = look_head(lab.trace(lab.load_model(DEFAULT_MODEL), TEXT))  # a lesson begins with its own head
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (layer + 1, head + 1)
