"""The first page: the experiment answers with the model's own numbers, and keeps them until it is asked."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element
from transformers import BertForPreTraining

import lab
from lab.analysis.words.masking import mask_of
from lab.course.lessons import LESSONS, number
from lab.course.progress import Progress
from lab.course.sentences.blanks import BLANK, BLANKS
from lab.course.telling import telling
from lab.front.experiment import Asked, asked, pieces_of
from lab.models import hub
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.loading import load_model
from lab.ui import runs
from tests.checkpoints import Family, write_checkpoint
from tests.pages.apptest import Offer, visit, words


def drawn(at: AppTest) -> str:
    """All HTML of the page."""
    return unescape(sent(at))


def sent(at: AppTest) -> str:
    """The same as the browser gets it."""
    return "\n".join(str(block.value) for block in at.get("html") if isinstance(block, Element))


def guess(at: AppTest, word: str) -> AppTest:
    at.button_group(key="_first_guess").set_value(word).run()
    assert not at.exception
    return at


def bars(at: AppTest) -> list[tuple[str, float]]:
    """The words of the large bars with their numbers; those of the map stand after them."""
    large = drawn(at).split('<ol class="word-bars">')[1].split("</ol>")[0]
    found = re.findall(r'class="word">([^<]*)<.*?class="number">([\d.]+)<', large)
    return [(word, float(number)) for word, number in found]


def test_the_answer_waits_for_a_guess() -> None:
    at = visit()
    assert "playing in the garden" in drawn(at) and '<ol class="word-bars">' not in drawn(at)
    assert "Guess it first" in words(at) and "0.8" not in words(at)
    assert [button.label for button in at.button if "→" in button.label] == []


def test_the_bars_are_hugging_face_s_probabilities() -> None:
    model, blank = load_model(DEFAULT_MODEL), BLANKS[0]
    reference = BertForPreTraining.from_pretrained(EMBEDDED / DEFAULT_MODEL, dtype=torch.float32).eval()
    ids = torch.tensor([model.tokenizer.encode(blank.text).ids])
    place = ids[0].tolist().index(model.tokenizer.token_to_id("[MASK]"))
    with torch.no_grad():
        best = reference(ids).prediction_logits[0, place].softmax(-1).topk(5)
    at = guess(visit(), "were")
    assert [word for word, _ in bars(at)] == [model.tokenizer.id_to_token(i) for i in best.indices.tolist()]
    assert [number for _, number in bars(at)] == pytest.approx(best.values.tolist(), abs=0.005)


def test_the_rank_of_a_word_of_one_s_own_is_hugging_face_s() -> None:
    model, blank = load_model(DEFAULT_MODEL), BLANKS[0]
    reference = BertForPreTraining.from_pretrained(EMBEDDED / DEFAULT_MODEL, dtype=torch.float32).eval()
    ids = torch.tensor([model.tokenizer.encode(blank.text).ids])
    place = ids[0].tolist().index(model.tokenizer.token_to_id("[MASK]"))
    with torch.no_grad():
        logits = reference(ids).prediction_logits[0, place]
    rank = int((logits > logits[model.tokenizer.token_to_id("horse")]).sum()) + 1
    at = visit()
    at.text_input(key="_first_own").set_value("Horse").run()
    assert f"Your word has rank {rank:,}." in drawn(at)


def test_one_word_changes_the_answer() -> None:
    at = guess(visit(), "were")
    first, second = BLANKS[0].change
    before = bars(at)[0][0]
    next(button for button in at.button if button.label == f"{first} → {second}").click().run()
    after = bars(at)[0][0]
    assert before != after and f"from *{before}* to *{after}*" in words(at)
    assert f"<mark>{second}</mark>" in drawn(at)
    next(button for button in at.button if button.label == f"Back to {first}").click().run()
    assert bars(at)[0][0] == before


def test_the_model_answers_its_sentence_in_two_ways() -> None:
    model = load_model(DEFAULT_MODEL)
    blank = telling(lambda text: lab.trace(model, text), model)
    best = [found.best(1)[0].word for text in (blank.text, blank.changed) if (found := asked(model, text)) is not None]
    assert len(set(best)) == 2


@pytest.mark.parametrize("own", ["elephant", "Elephants", "ChatGPT", "<script>alert(1)</script>", "🙂", "كلمة", "$x$"])
def test_a_word_of_one_s_own(own: str) -> None:
    at = visit()
    at.text_input(key="_first_own").set_value(own).run()
    assert not at.exception and "<script>" not in sent(at)
    assert ("Your word has rank" in drawn(at)) != ("pieces for this model" in words(at))


@pytest.mark.parametrize("model", ["lab-gpt2", "lab-bert"])
def test_a_model_that_fills_no_blanks_leaves_it_to_one_that_does(model: str) -> None:
    at = guess(visit(model=model), "seen")
    assert bars(at)[0][0] == "were"


def test_a_model_of_the_hub_is_offered_and_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(_entry: object) -> None:
        raise AssertionError("the first page fetched a model that nobody asked for")

    monkeypatch.setenv("LAB_ALLOW_DOWNLOADS", "1")
    monkeypatch.setattr(hub, "download", fetch)
    runs.model_ids.clear()
    at = guess(visit(model="bert-base-uncased"), "was")
    assert "is not on this machine yet" in words(at) and f"What {DEFAULT_MODEL} says" in words(at).replace("\\", "")
    runs.model_ids.clear()


def test_a_model_without_a_vocabulary_head_leaves_it_to_one_that_has_one(offer: Offer) -> None:
    at = guess(visit(model=offer("bert-headless")), "was")
    assert "was not trained to fill blanks" in words(at) and bars(at)[0][0] == "were"


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "modernbert"])
def test_every_family_answers_or_says_that_it_does_not(family: Family, offer: Offer) -> None:
    at = guess(visit(model=offer(family)), "was")
    assert len(bars(at)) >= 5


def test_the_map_says_in_words_what_it_draws() -> None:
    at = visit()
    text = words(at)
    for told in ("10 tokens", "384 numbers", "12 heads", "1,536 neurons", "6 turns"):
        assert told in text
    assert drawn(at).count("data:image/png;base64,") == 4


@pytest.mark.parametrize("blank", BLANKS, ids=lambda blank: blank.text)
def test_a_sentence_has_one_blank_and_its_word_once(blank: object) -> None:
    assert isinstance(blank, type(BLANKS[0]))
    assert blank.text.count(BLANK) == 1 and blank.text.split().count(blank.change[0]) == 1
    assert blank.changed != blank.text and len(set(blank.offered)) == 4


def test_the_way_on_leads_to_what_was_not_seen() -> None:
    first, second = LESSONS[0], LESSONS[1]
    some, every = Progress().visited(first.id, ("a", "b"), "a"), Progress().visited(first.id, ("a",), "a")
    for progress, lesson in ((Progress(), first), (some, first), (every, second)):
        at = visit()
        at.session_state["progress"] = progress
        at.run()
        said = (
            f"Go on with lesson {number(lesson)}: {lesson.title}" if progress != Progress() else "Start with lesson 1"
        )
        assert said in [button.label for button in at.button]


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_guess_is_found_as_the_vocabulary_holds_it(family: Family, tmp_path: Path) -> None:
    """RoBERTa's vocabulary has a word with the space before it, which the guess alone lacks."""
    model = load_model(write_checkpoint(tmp_path / family, family))
    text, guess = "The cat {} on the mat.", "sat"
    mask, mask_id = mask_of(model.tokenizer) or ("", -1)
    traced = lab.trace(model, text.format(mask))
    now = Asked(traced, list(traced.token_ids).index(mask_id))
    whole = model.tokenizer.decode(pieces_of(now, text.format(BLANK), guess))
    assert whole.strip() == guess
    before = model.tokenizer.decode(list(traced.token_ids[: now.place]), skip_special_tokens=True)
    assert (before + whole).endswith(" sat") or family == "bert", "exactly one space before the word"
