"""The lesson on head specialization, run whole: every step, every kind of model, what texts can do to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.clustering import FEATURES, Sample, accumulate
from lab.analysis.patterns import name_heads, trace_patterns
from lab.analysis.specialization import SPECIALIZATIONS, trace_specialization
from lab.course.specialization_checks import pattern_name
from lab.text import pipeline
from lab.text.tags import TaggedSpan, encoding_tags
from lab.ui import cached_tags
from tests.pages.apptest import Offer, go, reveal, visit, walk, words

PAGE = "6_Head_specialization.py"
TEXT = "The cat sat on the mat because it was tired in Paris."
STEPS = (
    "Tagged sentence", "Seven metrics", "Radar", "Named patterns", "Many sentences", "Clusters", "Check"
)  # fmt: skip
OWN = "The dog ran home.\n\nShe met Anna in London.\nIs it late?"


def open_step(step: str, **params: str) -> AppTest:
    return reveal(visit(PAGE, step=step, **{"text": TEXT, **params}))


def read(at: AppTest) -> AppTest:
    """Press the button that starts the survey."""
    at.button(key="_read_heads").click().run()
    return reveal(at)


def sample(text: str) -> Sample:
    """A trace and its tags, without the page's caches."""
    trace = lab.trace(lab.load_model("lab-bert"), text)
    found = cached_tags.pipeline().tag(text)
    speech: list[TaggedSpan[str | None]] = [TaggedSpan(token.start, token.end, token.pos) for token in found.tokens]
    names: list[TaggedSpan[str | None]] = [
        TaggedSpan(entity.start, entity.end, entity.label) for entity in found.entities
    ]
    return Sample(trace, encoding_tags(trace.encoding, speech), encoding_tags(trace.encoding, names))


@pytest.mark.parametrize("text", [TEXT, "a"])
def test_gpt2_has_a_first_token_instead_of_cls(text: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=text, version="Corrected")
    assert at.selectbox(key="model").value == name
    assert "**First token**" in words(go(at, "Seven metrics"))


def test_the_words_of_a_pair_are_tagged() -> None:
    at = visit(PAGE, text="She sat.", pair="Anna stood in Paris.")
    go(at, "Tagged sentence")
    assert any("PROPN" in str(html.proto.body) for html in at.get("html"))


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toys_have_patterns_but_no_parts_of_speech(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights, toy_seed="5")
    assert "Number sentences have no parts of speech" in words(go(at, "Radar"))
    assert "is **" in words(go(at, "Named patterns"))
    read(go(at, "Many sentences"))
    assert "heads have another name here" in words(at)
    go(at, "Clusters")
    radios = [radio for radio in go(at, "Check").radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= 2


def test_cards_show_the_metrics_of_the_chosen_head() -> None:
    one = sample(TEXT)
    found = trace_specialization(one.trace, one.upos, one.entities)
    for corrected in (False, True):
        at = open_step("Seven metrics", layer="2", head="3", version="Corrected" if corrected else "Raw")
        for dimension in SPECIALIZATIONS:
            value = found.values(dimension.id, corrected)[1, 2]
            assert f"**{value:.3f}**" in words(at), dimension.id
            assert any(f"= {value:.3f}" in formula.value for formula in at.latex), dimension.id
        assert any("U_{ii}" in formula.value for formula in at.latex) == corrected


def test_tags_of_the_sentence_are_listed() -> None:
    at = open_step("Tagged sentence")
    assert cached_tags.pipeline().description in words(at)
    table = next(frame.value for frame in at.dataframe if "part of speech" in frame.value)
    one = sample(TEXT)
    assert table["part of speech"].tolist() == [tag or "" for tag in one.upos]
    assert table["entity"].tolist() == [label or "" for label in one.entities]
    assert table["kind"].iloc[0] == "Special tokens"


def test_names_and_best_heads() -> None:
    patterns = trace_patterns(lab.trace(lab.load_model("lab-bert"), TEXT))
    at = open_step("Named patterns", layer="1", head="1")
    assert f"is **{pattern_name(str(name_heads(patterns)[0, 0]))}**" in words(at)
    table = next(frame.value for frame in at.dataframe if "best head" in frame.value)
    best = np.unravel_index(patterns.previous_token.argmax(), patterns.previous_token.shape)
    assert table["best head"][2] == f"layer {best[0] + 1}, head {best[1] + 1}"
    assert table["this head"][2] == pytest.approx(patterns.previous_token[0, 0])
    at.session_state["named-heads"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (3, 5)


def test_own_sentences_are_averaged() -> None:
    at = open_step("Many sentences", source="Your own")
    assert "Paste sentences above" in words(at)
    at.text_area(key="_lines").set_value(OWN).run()
    read(at)
    at.selectbox(key="_averaged").set_value("Function words").run()
    *_, whole = accumulate(sample(line) for line in OWN.splitlines() if line)
    highest = whole.mean[..., FEATURES.index("function_words")].max()
    assert f"**{highest:.2f}** times" in words(at)
    go(at, "Clusters")
    go(at, "Many sentences")
    assert at.text_area(key="_lines").value == OWN  # kept while another step was on screen
    at.text_area(key="_lines").set_value("One line.\n" * 201).run()
    assert "first 200 of 201 lines" in words(at)


def test_a_survey_can_be_cancelled_and_goes_on() -> None:
    at = open_step("Many sentences", source="Your own")
    lines = "First here.\nSecond there.\nThird one."
    at.text_area(key="_lines").set_value(lines).run()
    survey = cached_tags.head_survey(cached_model(), tuple(lines.split("\n")), True)
    cached_tags.advance(survey, cached_model(), True)
    at.run()
    assert "1 of 3 sentences are read" in words(at)
    assert at.button(key="_read_heads").label == "Go on: 1 of 3 are read"
    read(at)
    assert survey.finished and "1 of 3" not in words(at)


def cached_model() -> lab.LoadedModel:
    from lab.ui import cached

    return cached.model("lab-bert")


def test_clusters_are_shown_with_how_far_to_trust_them() -> None:
    at = read(go(visit(PAGE, text=TEXT), "Clusters"))
    labels = [metric.label for metric in at.metric]
    assert labels == ["Silhouette", "Stability"]
    assert words(at).count("- Cluster ") == 3
    at.segmented_control(key="clusters").set_value("5").run()
    assert words(reveal(at)).count("- Cluster ") == 5


@pytest.fixture
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail() -> pipeline.Pipeline:
        raise pipeline.PipelineUnavailable("The spaCy pipeline en_lab cannot be loaded: gone. Restore the folder.")

    def clear() -> None:
        for cache in (cached_tags._pipeline, cached_tags._tagged, cached_tags._tags):
            cache.clear()

    monkeypatch.setattr(pipeline, "load_pipeline", fail)
    clear()
    yield
    clear()


@pytest.mark.usefixtures("no_pipeline")
def test_without_a_pipeline_the_patterns_still_work() -> None:
    at = visit(PAGE, text=TEXT)
    assert tuple(walk(at)) == STEPS
    assert "Restore the folder" in words(go(at, "Seven metrics"))
    assert "is **" in words(go(at, "Named patterns"))
    assert "tagger is not available" in words(go(at, "Many sentences"))


def test_checks_are_three_at_least() -> None:
    at = open_step("Check", layer="2", head="3")
    radios = [radio for radio in at.radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= 3
    radios[0].set_value(0).run()
    assert len(at.success) + len(at.error) == 1
