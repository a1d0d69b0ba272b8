"""The page of the models: every card, what is not here, and each step that shows what training changed."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.twins import head_spread
from lab.course.words import escaped
from lab.evidence.notable import in_folder
from lab.models import catalogue as cards
from lab.models import hub
from lab.models import loading as catalogue
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED, card
from lab.models.interventions import Interventions
from lab.models.twin import random_twin
from lab.reference.models import parts as rooms
from lab.reference.models.model_cards import Picture
from lab.reference.models.parts import parts
from lab.ui import runs
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.pages.apptest import Offer, badges, drawn, open_badge, step_of, titles, visit, walk, words
from tests.pages.texts import TEXTS
from tests.sentences import CAT
from tests.thorough import some

PAGE = "20_Models.py"
STEPS = ("Two maps", "all-heads", "Predictions")


def tables(at: AppTest) -> str:
    return "\n".join(table.value.to_string() for table in at.table)


def headings(at: AppTest) -> list[str]:
    return [heading.value for heading in at.header]


@pytest.mark.parametrize("part", parts(), ids=lambda part: part.id)
def test_each_part_shows_its_card(part: rooms.TrainedPart) -> None:
    at = visit(PAGE, card=part.id)
    assert at.title[0].value == "Models"
    assert headings(at)[0] == part.id.replace("_", r"\_").replace("-", r"\-")
    assert not at.warning
    images = [image.proto.imgs[0] for image in at.get("image")]
    assert [image.alt for image in images] == [each.alt for each in part.card().parts() if isinstance(each, Picture)]
    assert all(image.url.startswith("data:image/svg+xml") for image in images)
    assert "Trained on" in tables(at)
    assert "license:" not in words(at), "the metadata are shown as a table, not as text"


def test_what_a_learner_asks_first_comes_first_and_training_is_folded() -> None:
    at = visit(PAGE, card="lab-bert")
    shown = [each.value for each in at.subheader]
    assert shown[:2] == ["What it knows", "Limits"] and "Its heads" in shown
    assert {"How it was made", "Outside the lab"} <= {each.label for each in at.expander}
    assert "Top-1" in "".join(each.value for each in at.caption)


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_a_card_says_which_head_does_what(model: str) -> None:
    found = in_folder(EMBEDDED / model) or ()
    table = visit(PAGE, card=model).dataframe[0].value
    assert table["what it does"].tolist() == [each.job.does for each in found]
    assert table["best head"].tolist() == [each.heads[0].name for each in found]
    assert table["rule"].isna().tolist() == [each.job.id == "broad" for each in found]
    for each, rule in zip(found, table["rule"], strict=True):
        if each.chance is not None:  # a rule that knows the kinds of words may find more than the head
            assert rule >= each.chance if each.job.grammatical else each.heads[0].score > rule == each.chance


def test_the_picker_starts_at_the_sidebar_s_model_and_follows_it(offer: Offer) -> None:
    name = offer("bert")
    at = visit(PAGE)
    assert at.segmented_control(key="card").value == DEFAULT_MODEL
    at.selectbox(key="model").set_value(name).run()
    assert at.segmented_control(key="card").value == name
    assert "It has no card" in words(at)
    assert "32 wide" in tables(at)
    at.segmented_control(key="card").set_value("lab-bert").run()
    assert at.selectbox(key="model").value == name
    assert headings(at)[0] == r"lab\-bert"
    at.selectbox(key="model").set_value("lab-bert").run()
    assert at.segmented_control(key="card").value == "lab-bert"
    assert not at.exception


@pytest.mark.parametrize("allowed", [False, True])
def test_a_hub_model_that_is_not_here(allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "cached", lambda entry: None)
    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1" if allowed else "0")
    runs.model_ids.clear()
    at = visit(PAGE, model="bert-base-uncased")
    entry = card("bert-base-uncased")
    assert entry is not None
    if allowed:
        assert f"{entry.megabytes} MB" in words(at)
        assert r"google\-bert\/bert\-base\-uncased" in words(at)
        assert "offers the download" in words(at)
        assert tables(at).count("can be downloaded") == 10
    else:
        assert "no model called" in words(at)
        assert tables(at).count("not on this server") == 10
        assert "LAB_ALLOW_DOWNLOADS" in words(at)
    runs.model_ids.clear()


def test_a_hub_model_that_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "cached", lambda entry: tmp_path if entry.id == "gpt2" else None)
    runs.model_ids.clear()
    at = visit(PAGE, model="gpt2")
    assert "is on this machine." in words(at)
    assert tables(at).count("on this machine") == 1
    runs.model_ids.clear()


@pytest.mark.parametrize("held", [(DEFAULT_MODEL,), (DEFAULT_MODEL, "lab-gpt2")])
def test_the_sidebar_offers_the_models_this_copy_holds(
    held: tuple[str, ...], tmp_path: Path, tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in held:
        (tmp_path / name).symlink_to(tiny_checkpoint("gpt2" if name == "lab-gpt2" else "bert"))
    for room in (cards, catalogue):
        monkeypatch.setattr(room, "EMBEDDED", tmp_path)
    runs.model_ids.clear()
    at = visit("3_Self-attention.py", model="lab-gpt2")
    assert at.selectbox(key="model").options == list(held)
    assert ("no model called" in words(at)) == (len(held) == 1)
    assert at.selectbox(key="model").value == held[-1]
    runs.model_ids.clear()
    st.cache_resource.clear()


def test_parts_that_are_not_in_this_copy_are_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "TEXT_PARTS", tmp_path)
    at = visit(PAGE, card="punkt")
    assert "There is no card for" in words(at)
    assert at.segmented_control(key="card").value == DEFAULT_MODEL


def test_bad_values_in_the_link() -> None:
    at = visit(
        PAGE, card="<b>no</b>", twin_seed="-5", step="Nonsense", mode="Toy", model="../../etc/passwd", layer="99"
    )
    said = words(at)
    assert "There is no card for" in said and "<b>" not in said
    assert "twin_seed must be a number" in said
    assert "no model called" in said
    assert step_of(at) == "Cards"
    at = visit(PAGE, step="Two maps", layer="99", head="x", twin_seed="12345678901")
    assert f"layers run from 1 to {runs.model(DEFAULT_MODEL).config.layers}" in words(at)
    assert at.number_input(key="twin_seed").value == 0


@pytest.mark.parametrize("kind", some(["more than 512 tokens", "emoji and arabic", "harm"], 1))
def test_any_text(kind: str) -> None:
    at = visit(PAGE, text=TEXTS[kind][0])
    for step in walk(at, STEPS):
        (heading,) = headings(at)
        assert "training" in heading, step
        assert "**random weights**" in words(at), step
        assert "<script>" not in words(at), step


def test_no_text_is_no_matter_for_the_cards() -> None:
    at = visit(PAGE, text="")
    assert headings(at)[0] == escaped(DEFAULT_MODEL)
    for step in walk(at, STEPS):
        assert "There is no text yet" in words(at), step


@pytest.mark.parametrize("family", some(["gpt2", "roberta", "electra", "distilbert", "bert-headless", "modernbert"], 3))
def test_every_family(family: Family, offer: Offer) -> None:
    name = offer(family)
    at = visit(PAGE, model=name, text=CAT)
    for step in walk(at, STEPS):
        assert at.selectbox(key="model").value == name
        cannot = step == "Predictions" and family in ("electra", "bert-headless")
        assert bool(at.info) == cannot, step
        told = badges(open_badge(open_badge(at), 1))
        assert len(told) == 2 and all("steps match Hugging Face" in each for each in told), step


def test_one_token_attends_to_nothing_else(offer: Offer) -> None:
    name = offer("gpt2")
    for step in ("Two maps", "all-heads"):
        assert "A single token" in words(visit(PAGE, step=step, model=name, text="a"))


def test_the_maps_have_no_names_until_the_learner_has_said() -> None:
    at = visit(PAGE, step="Two maps", layer="2", head="3", text=CAT)
    assert titles(at) == ["Map A", "Map B"]
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), CAT)
    untrained = lab.trace(random_twin(trace.model), CAT)
    maps = [attention_map(each.layer(1), 2) for each in (trace, untrained)]
    shown = [drawn(at, i) for i in (0, 1)]
    first = int(abs(shown[0] - maps[1].ravel()).max() < 1e-5)  # 1: map A is the random one
    for i, which in enumerate((first, 1 - first)):
        assert abs(shown[i] - maps[which].ravel()).max() < 1e-5
    radio = next(radio for radio in at.radio if "which-is-trained" in str(radio.key))
    radio.set_value(first).run()  # option 0 is map A; the trained one is map A if the first one is 0
    next(button for button in at.button if button.label == "Commit and show").click().run()
    assert "as you predicted" in words(at)
    labels = (DEFAULT_MODEL, "random weights (seed 0)")
    assert titles(at) == [f"Map A: {labels[first]}", f"Map B: {labels[1 - first]}"]


def test_the_heads_shown_are_those_of_both() -> None:
    at = visit(PAGE, step="all-heads", text=CAT, twin_seed="4")
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), CAT)
    both = [head_spread(each) for each in (trace, lab.trace(random_twin(trace.model, 4), CAT))]
    for i, expected in enumerate(both):
        assert drawn(at, i).tolist() == pytest.approx(expected.ravel().tolist(), abs=1e-5)
    assert f"**{both[0].mean():.2f}** in lab" in words(at)
    assert f"**{both[1].mean():.2f}** with random weights (seed 4)" in words(at)


@pytest.mark.parametrize("family", [None, "gpt2"])
def test_the_predictions_shown_are_those_of_both(family: Family | None, offer: Offer) -> None:
    name = DEFAULT_MODEL if family is None else offer(family)
    at = visit(PAGE, step="Predictions", text="The cat sat on the mat.", model=name, place="7", masked="7")
    place, model = 6, runs.model(name)
    text = "The cat sat on the [MASK]." if family is None else "The cat sat on the mat."
    for i, each in enumerate((model, random_twin(model))):
        trace = lab.trace(each, text)
        probabilities = trace.logits(place)[0].double().softmax(0)
        assert drawn(at, i).tolist() == pytest.approx(probabilities.topk(5).values.tolist(), rel=1e-3)
    truth = runs.run(name, "The cat sat on the mat.", "", Interventions()).token_ids[place + (family is not None)]
    ranks = at.table[0].value.iloc[:, 2].tolist()
    for rank, each in zip(ranks, (model, random_twin(model)), strict=True):
        logits = lab.trace(each, text).logits(place)[0]
        assert rank == f"{int((logits > logits[truth]).sum()) + 1:,}"


def test_another_seed_is_another_twin() -> None:
    at = visit(PAGE, step="all-heads", text=CAT)
    trained, before = drawn(at, 0), drawn(at, 1)
    at.number_input(key="twin_seed").set_value(1).run()
    assert not at.exception
    assert (drawn(at, 0) == trained).all()
    assert (drawn(at, 1) != before).any()
    assert "seed 1" in titles(at)[1]
