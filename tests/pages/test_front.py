"""The first page: it waits for a guess, then shows the model's own numbers; a cut is in the link."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.flow.cuts import Cuts, Way
from lab.analysis.layers.lens import likeliest_after
from lab.charts.components.word_forms_picture import CUT_TOKENS
from lab.course.pages import LESSONS
from lab.course.sentences.examples import FIRST
from lab.figures.choices import FITTED, PLAIN
from lab.front.first_minute import AskedBlank, asked, pieces_of
from lab.models import hub
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED, card
from lab.models.loading import load_model
from lab.ui import runs
from lab.ui.shared.word_forms import cuts_after
from tests.checkpoints import Family, write_checkpoint
from tests.pages.apptest import Offer, component, components, html_of, press, visit, words


def sentence(at: AppTest) -> str:
    """The sentence with its blank, without markup."""
    line = html_of(at).split('class="blank-sentence" dir="auto">')[1].split("</p>")[0]
    return unescape(re.sub('<span class="gap".*?</span>', "_", line))


def picture(at: AppTest) -> dict[str, Any]:
    """The first picture; below it is the whole machine, and nothing else."""
    assert [each.key for each in components(at)] == ["first-picture", "machine"]
    return component(at, "first-picture")


def guess(at: AppTest, word: str) -> AppTest:
    at.button_group(key="_first_guess").set_value(word).run()
    return at


def show(at: AppTest) -> AppTest:
    press(at, "Show me")
    return at


def in_blank(text: str) -> torch.Tensor:
    """The probability of every word in the blank."""
    trace = lab.trace(load_model(DEFAULT_MODEL), text.replace("_", "[MASK]"))
    return trace.logits(trace.tokens.index("[MASK]"))[0].softmax(-1)


def test_the_answer_waits_for_a_guess() -> None:
    header = picture(visit())
    assert header["waits"] and header["words"] == [] and "paris" not in str(header)


@pytest.mark.parametrize("first", FIRST, ids=lambda first: first.cut)
def test_the_words_are_those_of_the_sentence_on_screen(first: Any) -> None:
    at = show(visit(blank=first.text))
    assert sentence(at) == first.text
    best, header = in_blank(first.text).topk(5), picture(at)
    assert [share for _, share in header["words"][-1]] == pytest.approx(best.values.tolist(), abs=2e-4)
    assert header["play"] and not header["waits"] and f"“{first.cut}”" in header["hint"]


@pytest.mark.parametrize(("word", "rank"), [("paris", "its best word"), ("horse", "rank ")])
def test_a_guess_gets_its_rank(word: str, rank: str) -> None:
    shares = in_blank(FIRST[0].text)
    own = shares[load_model(DEFAULT_MODEL).tokenizer.token_to_id(word)]
    place = int((shares > own).sum()) + 1
    at = visit()
    at.text_input(key="_first_own").set_value(word.title()).run()
    assert (rank if place == 1 else f"rank {place:,} among the 30,522") in picture(at)["reply"]
    assert not picture(at)["waits"]


def test_a_guess_shows_the_answer_and_another_sentence_waits_for_its_own() -> None:
    at = guess(visit(), "london")
    assert not picture(at)["waits"] and "The model gave “london”" in picture(at)["reply"]
    at.button_group(key="_first_picked").set_value(FIRST[2].short).run()
    assert picture(at)["waits"] and sentence(at) == FIRST[2].text


def test_a_cut_is_in_the_link_and_goes_with_its_sentence() -> None:
    at = show(visit(blank=FIRST[2].text, cut="3*"))
    header = picture(at)
    assert (
        CUT_TOKENS[header["cutTokens"][2]] == "*"
        and header["words"][-1][0][0] == "was"
        and header["before"][0][0] == "were"
    )
    at.button_group(key="_first_picked").set_value(FIRST[0].short).run()
    assert not any(picture(at)["cutTokens"])


@pytest.mark.parametrize("cut", ["99", "7", "x", "3,99.1.1", "1-99.7.3"])
def test_a_cut_that_is_not_there_is_said(cut: str) -> None:
    at = visit(cut=cut)
    assert "cuts in the link do not exist in this text or model" in words(at)


def test_any_token_can_be_watched_by_link() -> None:
    header = picture(show(visit(watch="4")))
    assert header["lanes"][header["watched"]] == 3 and not header["blank"]
    assert "no token 99 to watch" in words(visit(watch="99"))


def test_early_layers_are_read_with_the_fitted_lens_or_the_plain_one() -> None:
    """The words are the lens's own; a word in plain sight, at which no lens was fitted, is read with the plain one."""
    trace = lab.trace(load_model(DEFAULT_MODEL), FIRST[2].text.replace("_", "[MASK]"))
    place, tokenizer = trace.tokens.index("[MASK]"), trace.model.tokenizer
    found = {}
    for lens in (FITTED, PLAIN):
        header = picture(show(visit(blank=FIRST[2].text, read_with=lens)))
        assert header["lens"] == lens and header["lenses"] == [FITTED, PLAIN]
        expected = likeliest_after(trace, place, 1, fitted=lens == FITTED).ids[3, 0]
        found[lens] = header["words"][3][0][0]
        assert found[lens] == tokenizer.id_to_token(int(expected))
    assert found[FITTED] == "was" != found[PLAIN]
    assert picture(show(visit(blank=FIRST[2].text, watch="3")))["lenses"] == [PLAIN]


@pytest.mark.parametrize(
    ("own", "read"),
    [
        ("The sky is _", "The sky is _"),
        ("A ___ sat on a ___ mat", "A _ sat on a  mat"),
        ("He said [mask] to her", "He said _ to her"),
        ("She reads books.", "She reads _."),
        ("سماء _ زرقاء", "سماء _ زرقاء"),
        ("<script>alert(1)</script> _", "<script>alert(1)</script> _"),
        ("🙂 _ 🙂", "🙂 _ 🙂"),
    ],
)
def test_a_sentence_of_one_s_own(own: str, read: str) -> None:
    at = visit()
    at.button_group(key="_first_picked").set_value("Your own …").run()
    assert not components(at)
    at.text_input(key="_first_typed").set_value(own).run()
    assert sentence(at) == read and "<script>" not in html_of(at)
    assert len(picture(show(at))["words"][-1]) == 5


@pytest.mark.parametrize("own", ["", "   ", "...", "!", "word " * 79])
def test_a_sentence_without_a_word_to_hide_is_a_sentence_of_ours(own: str) -> None:
    at = visit(blank=own)
    assert components(at) or at.info


@pytest.mark.parametrize("own", ["elephant", "Elephants", "ChatGPT", "<script>alert(1)</script>", "🙂", "كلمة", "$x$"])
def test_a_word_of_one_s_own(own: str) -> None:
    at = visit()
    at.text_input(key="_first_own").set_value(own).run()
    assert "<script>" not in html_of(at)
    reply = picture(at)["reply"]
    assert ("The model gave" in reply) != ("This model cuts" in reply)


@pytest.mark.parametrize("model", ["lab-gpt2", "lab-bert"])
def test_another_model_that_ships_fills_the_blank_or_leaves_it_to_one_that_does(model: str) -> None:
    at = show(visit(model=model))
    assert ("was not trained to fill blanks" in words(at)) == (model == "lab-gpt2")
    assert len(picture(at)["words"]) == load_model(DEFAULT_MODEL if model == "lab-gpt2" else model).config.layers + 1


def test_a_model_of_the_hub_is_offered_and_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(_entry: object) -> None:
        raise AssertionError("the first page fetched a model that nobody asked for")

    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "download", fetch)
    runs.model_ids.clear()
    at = show(visit(model="bert-base-uncased"))
    assert "is not on this machine yet" in words(at) and picture(at)["words"][-1][0][0] == "paris"
    runs.model_ids.clear()


def test_a_model_without_a_vocabulary_head_leaves_it_to_one_that_has_one(offer: Offer) -> None:
    at = show(visit(model=offer("bert-headless")))
    assert "predicts no words" in words(at) and picture(at)["words"][-1][0][0] == "paris"


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "modernbert"])
def test_every_family_answers(family: Family, offer: Offer) -> None:
    assert len(picture(show(visit(model=offer(family))))["words"][-1]) == 5


def test_the_machine_stands_below_and_keeps_the_answer_until_it_is_asked() -> None:
    at = visit()
    waiting = component(at, "machine")
    assert waiting["waits"] and "paris" not in str(waiting)
    assert not component(show(at), "machine")["waits"]


def test_every_lesson_is_listed_with_its_question() -> None:
    links = [link.proto.label for link in visit().get("page_link")]
    assert all(any(lesson.title in link and lesson.question in link for link in links) for lesson in LESSONS)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert"])
def test_the_page_says_where_the_model_comes_from(model: str) -> None:
    """The card of lab-minilm names the encoder that it goes on from; lab-bert has none."""
    found = card(model)
    assert found is not None and found.origin in words(visit(model=model))
    goes_on = "base_model: sentence-transformers/all-MiniLM" in (EMBEDDED / model / "MODEL_CARD.md").read_text("utf-8")
    assert goes_on == ("MiniLM" in found.origin) == ("random numbers" not in found.origin)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_guess_is_found_as_the_vocabulary_holds_it(family: Family, tmp_path: Path) -> None:
    """RoBERTa's vocabulary has a word with the space before it, which the guess alone lacks."""
    model = load_model(write_checkpoint(tmp_path / family, family))
    mask, mask_id = model.mask or ("", -1)
    traced = lab.trace(model, f"The cat {mask} on the mat.")
    now = AskedBlank(traced, list(traced.token_ids).index(mask_id))
    whole = model.tokenizer.decode(pieces_of(now, "sat"))
    assert whole.strip() == "sat"
    before = model.tokenizer.decode(list(traced.token_ids[: now.place]), skip_special_tokens=True)
    assert (before + whole).endswith(" sat") or family == "bert", "exactly one space before the word"


def test_only_what_a_picture_can_report_changes_the_cuts() -> None:
    cuts = Cuts().token(2)
    assert cuts_after(["1", "token", 2], cuts) == Cuts()
    assert cuts_after(["1", "way", 2, "~"], cuts) == Cuts().cut(2, Way.AROUND)
    assert cuts_after(["1", "link", 1, 5, 3], cuts).links == {(1, 5, 3)}
    assert cuts_after(["1", "head", 1, 4, 5, 3], cuts).in_heads == {(1, 4, 5, 3)}
    assert cuts_after(["1", "heal"], cuts) == Cuts()
    nothing: tuple[object, ...] = (
        None,
        "",
        [],
        [1, "token", 2],
        ["1", "token", "2"],
        ["1", "token", 2.5],
        ["1", "link", 1, 2],
        {},
        ["1"],
    )
    for said in nothing:
        assert cuts_after(said, cuts) == cuts
    assert asked(load_model("lab-gpt2"), "A _.") is None
