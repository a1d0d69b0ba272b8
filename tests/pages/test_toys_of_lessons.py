"""The toys that one lesson has: a vocabulary learned from made-up words, and a blank that is learned to be filled."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from lab.toy.merges import MERGES, learn, library_merges, made_up
from lab.toy.rules import RULES, SENTENCES, ruled
from lab.toy.training import Plan
from lab.ui.toys import watched
from tests.pages.apptest import check_answers, go, lesson_at, reveal, step_of, turn_to, visit, words
from tests.thorough import one_by_day

TOKENS, BLANK = "1_Tokenization.py", "9_Masked_language_model.py"
LEARNS = "10_How_it_learns.py"  # the lesson in which the toy learns that fills a blank
MERGE, USE, TRAIN = "Merge by merge", "Use it", "many-steps"


def pieces(at: AppTest) -> list[str]:
    """The corpus on screen: each word in its pieces, joined by spaces."""
    table = next(each.value for each in at.markdown if each.value.startswith("| word"))
    return [" ".join(re.findall(r"[`*]([a-z]+)[`*]", row)) for row in table.split("\n")[2:]]


def badges(at: AppTest) -> list[str]:
    """The badges that speak of Hugging Face."""
    labels = [each.proto.popover.label for each in at.get("popover") if isinstance(each, Block)]
    return [label for label in labels if "Hugging Face" in label]


@pytest.mark.parametrize("page", [TOKENS, BLANK])
def test_a_toy_is_not_told_as_the_lesson_is(page: str) -> None:
    """The story of a lesson is that of its sentence: nothing of it is on screen with a toy."""
    story = lesson_at(page).story
    assert story.last in words(visit(page))
    at = visit(page, mode="Toy")
    told = words(at) + words(visit(page, mode="Toy", step="check"))
    assert story.last not in told and not any(each in told for each in story.recap)


@pytest.mark.parametrize("seed", [0, 7])
def test_every_merge_on_screen_is_the_library_s(seed: int) -> None:
    """The corpus is cut again by the library's own merges, as text."""
    corpus = made_up(seed)
    at = reveal(visit(TOKENS, mode="Toy", step=MERGE, toy_seed=str(seed)))
    lines = [" ".join(word) for word in corpus.times]
    assert pieces(at) == lines
    for number, (left, right) in enumerate(library_merges(corpus.times)[:5], start=1):
        at.button(key="_toy_merge_next").click().run()
        lines = [re.sub(rf"(?<!\S){left} {right}(?!\S)", left + right, line) for line in lines]
        assert pieces(at) == lines
        assert at.slider(key="toy_merges").value == number
        assert f"**Merge {number}:** `{left}` + `{right}` → `{left}{right}`" in words(at)
    at.button(key="_toy_merge_back").click().run()
    assert at.slider(key="toy_merges").value == 4
    assert at.query_params["toy_merges"] == "4"


def test_what_is_said_of_stems_endings_and_lengths_is_counted() -> None:
    corpus = made_up(2)
    for made in (0, 6, MERGES):
        at = reveal(visit(TOKENS, mode="Toy", step=MERGE, toy_seed="2", toy_merges=str(made)))
        known = {token for line in pieces(at) for token in line.split()} | set("".join(corpus.times))
        known |= {left + right for left, right in library_merges(corpus.times)[:made]}
        long = sum(len(line.split()) * times for line, times in zip(pieces(at), corpus.times.values(), strict=True))
        said = words(at)
        if not made:
            assert f"Nothing is joined yet: each letter is a token, and the corpus is {long} tokens long" in said
            continue
        assert f"tokens long, and now it has **{long}**. The vocabulary has {len(known) + 1}." in said
        stems, endings = (sum(part in known for part in parts) for parts in (corpus.stems, corpus.endings))
        assert f"**{stems}** of the {len(corpus.stems)} stems and **{endings}** of the {len(corpus.endings)}" in said


def test_the_badge_compares_with_the_library_and_wordpiece_has_none() -> None:
    at = reveal(visit(TOKENS, mode="Toy", step=MERGE))
    assert badges(at) == [":green[Equals Hugging Face’s tokenizer]"]
    at = reveal(visit(TOKENS, mode="Toy", step=MERGE, toy_trainer="WordPiece"))
    assert not badges(at)
    assert "Google has not published its training program" in words(at)


def test_a_word_is_cut_with_what_is_learned_so_far() -> None:
    corpus = made_up(0)
    at = visit(TOKENS, mode="Toy", step=USE, toy_merges=str(MERGES))
    unseen = corpus.unseen[0]
    tokens = learn(corpus.times).tokenizer(MERGES).encode(unseen).tokens
    assert f"After {MERGES} merges it becomes **{len(tokens)} tokens**" in words(at)
    assert "is not in the corpus" in words(at)
    word, times = next(iter(corpus.times.items()))
    at.text_input(key="toy_word").set_value(word).run()
    assert f"is in the corpus {times} times" in words(at)
    at.text_input(key="toy_word").set_value("<b>zz</b>").run()
    assert "that sign becomes [UNK]" in words(at)
    assert not any("<b>zz" in html.proto.body for html in at.get("html"))


@pytest.mark.parametrize("trainer", ["BPE", "WordPiece"])
@pytest.mark.parametrize("seed", range(4))
def test_the_vocabulary_s_checks_are_asked(seed: int, trainer: str) -> None:
    check_answers(visit(TOKENS, mode="Toy", step="check", toy_seed=str(seed), toy_trainer=trainer))


def test_the_steps_of_the_lessons_lead_to_their_toys() -> None:
    at = reveal(visit(TOKENS, step="pieces"))
    at.button(key="_to_toy").click().run()
    assert at.segmented_control(key="mode").value == "Toy"
    assert step_of(at) == MERGE
    at.segmented_control(key="mode").set_value("Sentence").run()
    assert "A toy that" not in words(at) and "A toy:" not in words(at)


@one_by_day
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_toy_learns_on_the_page(rule, short: None) -> None:  # type: ignore[no-untyped-def]
    at = visit(LEARNS, mode="Toy", toy_rule=rule.name, toy_sentence="2")
    assert "Before training, its weights are random" in at.info[0].value
    sentences = [" ".join("abcdefgh"[word - 1] for word in each) for each in ruled(rule, SENTENCES, 0).sentences]
    shown = next(each.value for each in at.dataframe if "sentence" in each.value)
    assert shown["sentence"].tolist() == sentences
    turn_to(at, TRAIN)
    assert f"with a blank: **{sentences[1][:-1]}▢**" in words(at)
    at.button(key="_train.start").click().run()
    run = watched.finished_run(Plan(rule.id, 1, 8, 8, 0))
    assert run is not None
    assert f"Trained here on the rule “{rule.name}”: {run.latest.accuracy:.1%}" in at.info[0].value
    assert f"In {run.latest.accuracy:.0%} of new sentences, the toy’s first choice is right" in words(at)
    assert run.latest.model.id.startswith("toy-trained")
    at.switch_page(f"pages/{BLANK}").run()
    go(at, "hide-words")
    assert "In your text, token" in words(at) and "Trained here on the rule" in words(at)


def test_the_blank_s_toy_reads_the_learner_s_own_letters() -> None:
    """Letters that break the rule have no right answer, so nothing is asked about them; other signs are refused."""
    at = visit(LEARNS, mode="Toy", step=TRAIN, toy_own="a b a b a")
    assert "with a blank: **a b a b ▢**" in words(at)
    at = visit(LEARNS, mode="Toy", step=TRAIN, toy_own="a b b c")
    assert "**a b b c** do not follow the rule" in words(at) and not at.radio
    at = visit(LEARNS, mode="Toy", step=TRAIN, toy_own="a b z")
    assert "“z” is not a word of this toy" in words(at)


def test_an_untrained_toy_is_trained_from_the_step_whose_bars_mean_nothing(short: None) -> None:
    at = visit(BLANK, mode="Toy", step="hide-words")
    at.button(key="_train_here").click().run()
    assert step_of(at) == TRAIN and "Trained here" in at.info[0].value


def test_the_sidebar_s_button_trains_too(short: None) -> None:
    at = visit(BLANK, mode="Toy", step="from-vector-to-word")
    next(button for button in at.sidebar.button if button.label == "Train").click().run()
    assert step_of(at) == TRAIN
    assert "Trained here" in at.info[0].value
    assert at.segmented_control(key="mode").value == "Toy"
    assert "toy_weights" not in at.session_state  # which the other lessons' toys have


def test_the_blank_s_checks_are_asked_and_need_no_other_step() -> None:
    at = visit(BLANK, mode="Toy", step="check")
    assert "perplexity" not in "".join(radio.label for radio in at.radio)
    check_answers(at, least=2)


def test_each_lesson_shows_its_own_toy() -> None:
    """From the toy of one lesson to the next: lesson 2 has the toy of heads, lesson 7 that of two sentences."""
    at = visit(TOKENS, mode="Toy")
    at.switch_page("pages/2_Embeddings.py").run()
    assert at.segmented_control(key="toy_weights").value == "Trained live", "a lesson trains its toy"
    at.switch_page("pages/7_Inter-sentence_attention.py").run()
    assert "two sentences of made-up words" in words(at)


def test_a_letter_that_occurs_twice_is_named_with_its_place() -> None:
    said = words(visit("3_Self-attention.py", mode="Toy", toy_own="f e c c a a a", step="map", token="6"))
    assert re.search(r"From “\W*a\W*” \(6\), head", said)
    once = words(visit("3_Self-attention.py", mode="Toy", toy_own="f e c c a a a", step="map", token="1"))
    assert re.search(r"From “\W*f\W*”, head", once)
