"""The pictures at the end: their numbers are the model's, and each leads to the step that shows it."""

from __future__ import annotations

import math

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from lab.course.pages import lesson_of
from lab.evidence import story
from lab.front.story_pictures import StorySentence, mini, sentences
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.loading import load_model
from tests.pages.apptest import visit, words


@pytest.fixture(scope="module")
def told() -> tuple[StorySentence, ...]:
    model = load_model(DEFAULT_MODEL)
    found = story.known(model)
    assert found is not None
    return sentences(model, found)


def test_the_numbers_are_hugging_face_s(told: tuple[StorySentence, ...]) -> None:
    folder = EMBEDDED / DEFAULT_MODEL
    module, tokenizer = AutoModelForMaskedLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        p = module(**tokenizer("The capital of France is [MASK].", return_tensors="pt")).logits[0, 6].softmax(-1)
    table = torch.nn.functional.normalize(module.get_input_embeddings().weight.detach(), dim=-1)
    vectors, looks, copied, network, scores, learned = (dict(each.bars) for each in told)
    cosines = table @ table[tokenizer.convert_tokens_to_ids("france")]
    for word, cosine in vectors.items():
        assert cosine == pytest.approx(float(cosines[tokenizer.convert_tokens_to_ids(word)]), abs=1e-3)
    assert list(looks) == ["is, 3-12", "capital, 5-4", "france, 6-4"] and list(copied) == ["paris", "moscow"]
    assert list(network) == ["paris", "france"]
    for word, share in scores.items():
        assert share == pytest.approx(float(p[tokenizer.convert_tokens_to_ids(word)]), abs=1e-4)
    assert learned["paris"] == pytest.approx(-math.log(p.max()), abs=1e-3)
    assert "−ln 0.376 = 0.98" in told[-1].text and round(float(p.max()), 3) == 0.376


def test_each_sentence_leads_to_a_step(told: tuple[StorySentence, ...]) -> None:
    at = visit("12_The_end.py")
    for each in told:
        name = lesson_of(each.lesson).step(each.step).name
        assert any(button.label.endswith(f": {name}") for button in at.button)
    assert "*moscow* comes first" in words(at)
    assert not [button for button in visit("12_The_end.py", sheet="1").button if "Lesson" in button.label]


def test_a_word_of_a_figure_is_text() -> None:
    drawn = mini(StorySentence("", "", "", "<b>", (("<i>", 1.0), ("a", 0.5))))
    assert "<b>" not in drawn.replace("<b>1.00</b>", "").replace("<b>0.50</b>", "") and "&lt;i&gt;" in drawn
