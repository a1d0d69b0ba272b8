"""The tokenization lesson, run whole: every step, every family, text that means harm or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from lab.charts.base.axes import visible
from lab.course.words import plain
from lab.lessons.tokenization.tokens import WRITTEN
from lab.text.tokenizers.wordpiece import WordPieceSteps
from lab.ui import runs
from tests.checkpoints import Family
from tests.pages.apptest import Offer, reveal, turn_to, visit, walk, words
from tests.pages.texts import TEXTS
from tests.sentences import RARE

PAGE = "1_Tokenization.py"
STEPS = ("tokens", "pieces", "special-tokens", "check")
# What is hard for a tokenizer, beside what every lesson must bear.
ODD_TEXTS = {
    "one long word": "x" * 150,
    "one very long word": "ab" * 1500,
    "cjk": "日本語 and 中文mixed",
    "all unknown": "☃ ☃ ☃",
    "white space": "\ta\n\u3000b ",
}


def press(at: AppTest, label: str) -> bool:
    """Press the button whose label starts so, if there is one to press."""
    for button in at.button:
        if button.label.startswith(label) and not button.disabled:
            button.click().run()
            return True
    return False


def open_step(step: str, **params: str) -> AppTest:
    """The step with every lookup or merge made."""
    at = reveal(visit(PAGE, step=step, **params))
    press(at, "All ")
    assert not at.error
    return at


def badge(at: AppTest) -> str:
    return " ".join(block.proto.popover.label for block in at.get("popover"))


def test_every_step_draws_and_equals_the_library() -> None:
    at = visit(PAGE, text=RARE)
    for step in walk(at, STEPS):
        press(at, "All ")
        assert not at.error
        assert "Equals Hugging Face’s tokenizer" in badge(at), step
    at.session_state["agreement"] = True  # opens it
    at.run()
    assert "Tokens and ids are the same" in words(at) and "first one that differs" not in words(at)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_no_text_breaks_a_step(text: str) -> None:
    at = visit(PAGE, text=text)
    for _ in walk(at):
        press(at, "All ")
        assert not at.error
        assert "Equals Hugging Face’s tokenizer" in badge(at)
    turn_to(at, "tokens", keep=False).segmented_control(key="_whose").set_value("Yours").run()  # the check has no field
    assert at.text_area(key="text").value == text


@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_is_cut_as_the_library_does(kind: str) -> None:
    text, pair = TEXTS[kind]
    assert "Equals Hugging Face’s tokenizer" in badge(visit(PAGE, text=text, pair=pair))


@pytest.mark.parametrize("family", ["gpt2", "roberta", "electra", "distilbert", "modernbert"])
def test_every_family_draws_every_step(offer: Offer, family: Family) -> None:
    at = visit(PAGE, text=f"{RARE} naïve 日本 👩‍👩‍👧", pair="They rebuilt it.", model=offer(family))
    for _ in walk(at):
        press(at, "All ")
        assert not at.error
        assert "Equals Hugging Face’s tokenizer" in badge(at)
    assert at.session_state["model"] == f"tiny-{family}"


def test_the_answer_is_not_on_screen_before_the_question_is_answered() -> None:
    at = visit(PAGE)
    assert "2,606" in words(at) and WRITTEN.strip() not in words(at)
    assert WRITTEN.strip() in words(reveal(at))
    assert WRITTEN.strip() not in words(reveal(visit(PAGE, text="The cat sat.")))


def test_a_word_is_cut_in_sight_before_another_one_is_asked_about() -> None:
    at = visit(PAGE, step="pieces")
    assert "*Mauritania*" in words(at) and "ma · ##uri · ##tania" in plain(words(at)).replace("\\", "")
    assert len(at.code[0].value.splitlines()) == 1 and "*Parisians*" in words(at)
    assert press(at, "All ") and len(at.code[0].value.splitlines()) == 16


def test_the_token_table_holds_the_ids_the_model_reads() -> None:
    at = open_step("tokens", text="The cat.", pair="It sat.")
    at.session_state["_tokens_table"] = True
    at.run()
    table = at.dataframe[0].value
    assert table["token"].tolist() == ["[CLS]", "the", "cat", ".", "[SEP]", "it", "sat", ".", "[SEP]"]
    assert table["segment"].tolist() == [0] * 5 + [1] * 4


def test_stages_that_change_nothing_are_shown_as_such() -> None:
    at = open_step("tokens", text="The café")
    assert not at.code
    at.session_state["_each_character"] = True
    at.run()
    shown = words(at)
    assert "**Clean** changes nothing here" in shown
    assert "**Strip accents** changes 1 character." in shown
    assert [code.value for code in at.code] == ["The café", "The cafe", "the cafe"]


def test_bytes_take_the_place_of_normalization(offer: Offer) -> None:
    at = open_step("tokens", text="né", model=offer("gpt2"))
    at.session_state["_each_character"] = True
    at.run()
    assert "changes no character. It reads the 2 characters as 3 bytes of UTF-8." in words(at)
    assert next(each.value["UTF-8 bytes"].tolist() for each in at.dataframe if "UTF-8 bytes" in each.value) == [
        "6E",
        "C3 A9",
    ]


def test_lookups_are_made_one_at_a_time() -> None:
    at = visit(PAGE, step="pieces", text=RARE, word="photographers", model="lab-bert")
    assert "Lookup 1 of 5" in words(at) and len(at.code[0].value.splitlines()) == 1
    assert not press(at, "Start over")
    assert press(at, "All ") and "Lookup 5 of 5" in words(at)
    assert not press(at, "Next lookup")
    assert press(at, "Start over")
    for _ in range(3):
        assert press(at, "Next lookup")
    assert at.code[0].value.splitlines()[-1].startswith("✓   photograph ")


def test_a_text_without_a_cut_word_shows_one_that_is_cut() -> None:
    at = open_step("pieces", text="The cat sat in the garden.")
    assert str(at.selectbox(key="word").value) not in str(at.text_area(key="text").value)
    assert "✓" in at.code[0].value


def test_a_word_of_another_text_gives_way() -> None:
    at = open_step("pieces", text=RARE, word="photographers", model="lab-bert")
    at.text_area(key="text").set_value("Unbelievable weather.").run()
    assert at.selectbox(key="word").value == "unbelievable"
    press(reveal(at), "All ")
    assert "Its tokens are" in words(at)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("☃", "there is nothing shorter. So the whole word becomes"),
        ("x" * 150, "150 characters, but this tokenizer looks at no more than 100"),
        ("[MASK]", "is an added token"),
    ],
)
def test_a_word_that_is_not_cut_says_why(text: str, reason: str) -> None:
    at = reveal(visit(PAGE, step="pieces", text=text))
    at.selectbox(key="word").set_value(visible(text.lower() if text[0] == "x" else text, limit=None)).run()
    assert reason in words(at)


def test_a_model_without_segments_says_so(offer: Offer) -> None:
    shown = words(open_step("special-tokens", text="The cat.", pair="It sat.", model=offer("distilbert")))
    assert "has no segments" in shown


def test_gpt2_adds_nothing(offer: Offer) -> None:
    shown = words(open_step("special-tokens", text="The cat.", model=offer("gpt2")))
    assert "adds no token" in shown
    assert "endoftext" in shown


def test_what_was_cut_is_shown() -> None:
    at = open_step("special-tokens", text="the cat " * 255 + "the last dog")
    assert "reads at most 512 tokens, so 3 were cut from the end." in words(at)
    assert "Your input was 3 tokens too long." in words(at)
    assert at.code[0].value.strip("␣ ") == "the last dog"


def test_a_wrong_step_turns_the_badge_red(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(model_id: str, text: str) -> WordPieceSteps:
        steps = token_steps(model_id, text)
        assert isinstance(steps, WordPieceSteps)
        return replace(steps, words=steps.words[1:])

    token_steps = runs.token_steps
    monkeypatch.setattr(runs, "token_steps", broken)
    assert "Differs from token 1" in badge(visit(PAGE))


def test_a_tokenizer_of_another_kind_leaves_what_does_not_need_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model_id: str, text: str) -> WordPieceSteps:
        raise ValueError("The lab explains WordPiece.")

    monkeypatch.setattr(runs, "token_steps", refuse)
    for step in STEPS:
        at = open_step(step)
        assert "library" not in badge(at)
        assert bool(at.info) == (step == "pieces")


def test_another_sentence_brings_its_own_word_to_the_screen() -> None:
    """The browser is told: a list whose choice is only forgotten goes on showing it."""
    at = reveal(visit(PAGE, text="CAFÉ, café, Café", step="pieces"))
    assert at.selectbox(key="word").value == "mauritania"
    at.text_area(key="text").set_value("She looked at him quizzically.").run()
    chosen = at.selectbox(key="word")
    assert chosen.value == "quizzically" and "mauritania" not in chosen.options
    assert chosen.proto.set_value and chosen.proto.raw_value == "quizzically"
