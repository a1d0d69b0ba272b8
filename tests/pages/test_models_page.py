"""The page of the models: every card, and what is not here."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from lab.evidence.notable import in_folder
from lab.models import catalogue as cards
from lab.models import hub
from lab.models import loading as catalogue
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED, card
from lab.reference.models import shipped_parts as rooms
from lab.reference.models.model_cards import Picture
from lab.reference.models.shipped_parts import parts
from lab.ui import runs
from tests.conftest import TinyCheckpoint
from tests.pages.apptest import Offer, visit, words

PAGE = "20_Models.py"


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
    at = visit(PAGE, card="<b>no</b>", step="Nonsense", mode="Toy", model="../../etc/passwd", layer="99")
    said = words(at)
    assert "There is no card for" in said and "<b>" not in said
    assert "no model called" in said
