"""The deeper steps of the masked-language-model lesson: what is scored, read, swapped and written, and when."""

from __future__ import annotations

import json
import math
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.words import text_likelihood
from lab.analysis.words.predictions import follows, word_of
from lab.analysis.words.sampling import SamplingSettings
from lab.course.sentences.examples import FOLLOWING
from lab.course.words import quoted, share
from lab.figures.choices import FITTED, PLAIN
from lab.lessons.masked_language_model.writing_on import written
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.fitted_lens import FOLDER, MAPS
from lab.models.interventions import Interventions
from lab.ui import runs
from tests.checkpoints import LAYERS
from tests.conftest import TinyCheckpoint
from tests.lenses import put_lens
from tests.pages.apptest import Offer, click_token, looks, opened, reveal, sentence_of, unfold, visit, words, worked
from tests.sentences import CAT, FOLLOWS

PAGE = "9_Masked_language_model.py"
LONG = f"{CAT} " * 5


open_step = partial(opened, PAGE, text=CAT)


def specification(at: AppTest, chart: int) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(at.get("vega_lite_chart")[chart].proto.spec)
    return spec


def cells(at: AppTest) -> list[str]:
    (texts,) = (each["value"] for each in specification(at, 0)["params"] if each["name"] == "cell_texts")
    return list(texts)


@pytest.mark.parametrize("name", [DEFAULT_MODEL, "lab-gpt2"])
def test_the_sum_its_mean_and_the_perplexity_stand_in_their_order(name: str) -> None:
    trace = lab.trace(lab.load_model(name), CAT)
    *_, found = text_likelihood.likelihood(trace.model, trace.encoding)
    at = unfold(open_step("likelihood", model=name), "_sum_of_logs")
    total, mean, perplexity = (float(metric.value.replace(",", "").replace("−", "-")) for metric in at.metric)
    assert total == pytest.approx(found.total, abs=0.006)
    assert mean == pytest.approx(found.total / len(found.scores), abs=0.0006)
    assert perplexity == pytest.approx(math.exp(-found.total / len(found.scores)), abs=0.06, rel=1e-4)
    assert f"/ {len(found.scores)}" in at.latex[0].value
    assert ("pseudo-perplexity" in at.latex[0].value) == (name == DEFAULT_MODEL)


def test_a_long_text_is_scored_only_when_asked() -> None:
    at = visit(PAGE, step="likelihood", text=LONG)
    assert not at.metric
    count = len(lab.trace(lab.load_model(DEFAULT_MODEL), LONG)) - 2
    assert [button.label for button in at.main.button if "tokens" in button.label] == [f"Score {count} tokens"]
    traced = runs.run(DEFAULT_MODEL, LONG, "", Interventions())
    scoring = text_likelihood.scoring(traced)
    scoring.step(traced)
    assert scoring.latest is not None
    done = len(scoring.latest.scores)
    assert 0 < done < count
    at.run()
    reveal(unfold(at, "_sum_of_logs"))
    assert f"So far, the lab has scored the first {done} of {count} tokens" in words(at)
    assert at.metric[1].label == f"Mean of {done} tokens, nats"
    label = f"Go on: {done} of {count} tokens are scored"
    next(button for button in at.main.button if button.label == label).click().run()
    reveal(worked(at))
    assert scoring.finished
    assert "So far, " not in words(at)
    assert at.metric[1].label == f"Mean of {count} tokens, nats"


@pytest.mark.parametrize(("name", "text"), [(DEFAULT_MODEL, "[MASK]"), ("lab-gpt2", "a")])
def test_nothing_to_score_gets_a_sentence(name: str, text: str) -> None:
    at = open_step("likelihood", model=name, text=text)
    assert "no token to score" in words(at)
    assert not at.metric


def test_the_fitted_lens_is_what_one_sees_first_and_the_plain_one_is_a_choice() -> None:
    at = open_step("logit-lens")
    assert at.segmented_control(key="read_with").value == FITTED
    fitted = cells(at)
    at.segmented_control(key="read_with").set_value(PLAIN).run()
    assert cells(at) != fitted
    assert cells(at)[-3:] == fitted[-3:], "after the last layer, both are the model's own words"


def test_a_model_without_a_fitted_lens_is_read_with_the_plain_one(offer: Offer) -> None:
    at = open_step("logit-lens", model=offer("bert"), read_with=FITTED)
    assert not at.warning and "read_with" not in {each.key for each in at.segmented_control}
    assert len(cells(at)) == 3 * LAYERS


def test_a_damaged_lens_ends_in_a_sentence_and_the_plain_one_reads(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put_lens(Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "mine")))
    (folder / FOLDER / MAPS).write_bytes(b"nothing")
    monkeypatch.setenv("LAB_MODELS", str(folder))
    at = open_step("logit-lens", model="mine")
    assert "is damaged" in at.warning[0].value and "plain lens instead" in at.warning[0].value
    assert cells(at) and "read_with" not in {each.key for each in at.segmented_control}


def follows_in(first: str, second: str) -> str:
    """The probability of "second follows first", as the page writes it."""
    return share(follows(lab.trace(lab.load_model(DEFAULT_MODEL), first, second)))


def test_both_orders_of_a_pair_are_told_and_swapped() -> None:
    there, back = follows_in(*FOLLOWS), follows_in(*FOLLOWS[::-1])
    at = open_step("next-sentence", text=FOLLOWS[0], pair=FOLLOWS[1])
    assert f"the probability **{there}**. If A and B change places, it is {back}." in words(at)
    at.button(key="_pair.Swap A and B").click().run()
    assert (at.text_area(key="text").value, at.text_input(key="pair").value) == FOLLOWS[::-1]
    assert f"the probability **{back}**" in words(reveal(at))


def test_without_a_pair_the_step_opens_on_an_example_that_is_called_so() -> None:
    at = open_step("next-sentence")
    assert "This is an example pair" in words(at)
    assert f"**{follows_in(*FOLLOWING[0])}**" in words(at)
    assert (at.text_area(key="text").value, at.text_input(key="pair").value) == (CAT, "")  # theirs stays theirs
    at.text_input(key="pair").set_value(FOLLOWS[1]).run()
    assert "an example pair" not in words(at) and f"B: {quoted(FOLLOWS[1])}" in words(at)


def test_after_a_final_full_stop_nothing_is_asked_before_anybody_chose() -> None:
    read = lab.trace(lab.load_model("lab-gpt2"), CAT)
    assert read.tokens[-2:] == ("Ġtired", ".")
    for step in ("next-token", "writing-on"):
        at = open_step(step, model="lab-gpt2")
        assert looks(at)[0] == len(read) - 3
        assert "inside your text, before its last whole word" in words(at)
    click_token(at, len(read) - 1)
    assert "inside your text" not in words(reveal(at))
    unfinished = open_step("next-token", model="lab-gpt2", text="The cat sat on the")
    assert looks(unfinished)[0] == 4 and "inside your text" not in words(unfinished)


def test_without_a_head_a_sentence_says_so(offer: Offer) -> None:
    assert "no next-sentence head" in words(open_step("next-sentence", model="lab-gpt2", pair=FOLLOWS[1]))
    assert "no next-sentence head" in words(open_step("next-sentence", model=offer("distilbert"), pair=FOLLOWS[1]))


def test_one_token_and_ten_more_are_written_and_another_seed_begins_again() -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), "The cat sat on the")
    at = open_step("writing-on", model="lab-gpt2", text="The cat sat on the", top_k="1", draw_seed="3")
    at.button(key="_next_token").click().run()
    at.button(key="_ten_more").click().run()
    expected = written(trace, len(trace) - 1, 11, SamplingSettings(1.0, 1, 1.0), 3).drawn.strip()
    assert expected in words(at).replace("\\", "")
    at.button(key="_next_seed").click().run()
    assert at.number_input(key="draw_seed").value == 4
    assert expected not in words(at).replace("\\", "")  # other draws begin again


def test_a_model_that_fills_blanks_leaves_the_writing_to_the_labs_gpt2() -> None:
    """It reads the learner's text up to its last whole word, or up to a blank that was typed."""
    for text, before in ((CAT, CAT.removesuffix(" tired.")), ("The king and the [MASK] lived.", "The king and the")):
        at = open_step("writing-on", text=text)
        run = lab.trace(lab.load_model("lab-gpt2"), before)
        header, _ = sentence_of(at)
        assert header["read"] == len(run) and looks(at)[0] == len(run) - 1
        assert "lab\\-gpt2\u2069” reads from left" in words(at) and at.session_state["text"] == text
        best = run.logits(-1)[0].argmax()
        assert f"Most probable is “\u2068{word_of(run.model.tokenizer, int(best))}\u2069”" in words(at).replace(
            "\\", ""
        )


def test_a_full_text_has_no_room_and_says_so(offer: Offer) -> None:
    at = open_step("writing-on", model=offer("gpt2"), text="word " * 600)
    assert "The text ends here" in words(at)
