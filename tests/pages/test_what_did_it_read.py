"""Step “What did it read?” on its page: for each model, each prepared sentence, and with links that mean nothing."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.words import unmarked
from lab.evidence.what_was_read import FILE
from tests.pages.apptest import Offer, visit, words
from tests.thorough import one_by_day

PAGE, STEP = "10_How_it_learns.py", "what-did-it-read"
RECORD = json.loads(FILE.read_text("utf-8"))


def menu(at: AppTest) -> list[str]:
    return list(at.selectbox(key="gap").options)


@one_by_day
@pytest.mark.parametrize(
    "params",
    [{}, {"model": "lab-bert"}, {"model": "lab-gpt2"}, {"weights": "Random", "twin_seed": "3"}],
    ids=str,
)
def test_every_sentence_is_shown_with_its_counts_and_what_they_mean(params: dict[str, str]) -> None:
    at = visit(PAGE, step=STEP, **params)
    texts = menu(at)
    assert len(texts) >= 10
    for text in texts:
        at.selectbox(key="gap").set_value(text).run()
        told = unmarked(words(at))
        assert (
            "What this means." in told
            and "The model says" in told
            and RECORD["command"] in [each.value for each in at.code]
        )
        assert any(meaning.strip() in told for meaning in RECORD["definitions"].values())
    if "weights" in params:
        assert "has read nothing" in told


def test_a_model_that_reads_from_the_left_says_what_it_reads() -> None:
    at = visit(PAGE, step=STEP, model="lab-gpt2", gap="The nurse was tired because _ had worked all night.")
    assert "reads only “\u2068The nurse was tired because\u2069”" in unmarked(words(at))
    assert "A spider has _ legs." not in menu(at)


def test_a_word_without_a_token_is_said_to_be_left_out() -> None:
    at = visit(PAGE, step=STEP, model="lab-gpt2", gap="Two plus two is _.")
    assert "no token for “\u2068zero\u2069”, so" in unmarked(words(at))


def test_a_sentence_that_another_model_has_gives_way_to_the_first() -> None:
    at = visit(PAGE, step=STEP, model="lab-bert", gap="The capital of Italy is _.")
    assert at.selectbox(key="gap").value == "A year has twelve _."
    assert any("Italy" in unmarked(note.value) for note in at.warning)


def test_the_offer_leads_to_a_sum_that_occurs_nowhere() -> None:
    at = visit(PAGE, step=STEP)
    at.button(key="_try").click().run()
    assert at.selectbox(key="gap").value == "Two plus two is _." and "none of these words" in words(at)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_model_that_knows_too_few_words_says_so(family: str, offer: Offer) -> None:
    at = visit(PAGE, step=STEP, model=offer(family))  # type: ignore[arg-type]
    told = words(at)
    assert "too few of the counted words" in told or "does not know which texts" in unmarked(told)
