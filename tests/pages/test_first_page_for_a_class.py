"""The first page asks a class what a cut does: the right answer again from a run with that token blocked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.words.predictions import prediction_at
from lab.course.sentences.examples import FIRST, First
from lab.front.first_minute import asked
from lab.front.for_a_class import about_parts, without, words_now
from lab.models import forward
from lab.models.loading import LoadedModel, load_model
from lab.rooms.server import server
from lab.rooms.states import Phase
from tests.pages.apptest import press, visit
from tests.pages.test_room import Browsers, browsers

__all__ = ["browsers"]  # a fixture


@pytest.mark.parametrize("first", FIRST, ids=lambda each: each.short)
def test_the_right_answer_is_that_of_the_cut_run(first: First) -> None:
    found = asked(load_model("lab-minilm"), first.text)
    assert found is not None
    trace, place, seen = found.trace, found.place, 0
    best = int(prediction_at(trace, place, None).best(1)[0])
    most = prediction_at(trace, place, None).probabilities[best]
    assert words_now(trace, place).table().iloc[0, 0] == pytest.approx(most, abs=1e-3)
    for token, special in enumerate(trace.encoding.special):
        question = None if special or token == place else without(trace, place, token)
        if question is None:
            continue
        seen += 1
        after = prediction_at(cut_run(trace, place, Cuts().cut(token, Way.BOTH)), place, None).probabilities
        wanted = "No word" if after.max() < 0.1 else "Another" if int(after.argmax()) != best else "stays"
        assert wanted in question.options[question.answer].text
    assert seen >= 2


def true_of_parts(model: LoadedModel) -> dict[str, dict[str, bool]]:
    """By a phrase of a question: of which part of the first layer it is true, found by trying and by its weights."""
    weights, config = model.weights.layers[0], model.config
    x = torch.randn(4, config.width, generator=torch.Generator().manual_seed(0))
    changed = x.clone()
    changed[2] += 1
    parts: dict[str, tuple[Callable[[Tensor], Tensor], list[Tensor]]] = {
        "Attention": (
            lambda given: forward.self_attention(given, weights, config).output,
            [weights.w_q, weights.w_k, weights.w_v, weights.w_o],
        ),
        "Feed-forward": (
            lambda given: forward.feed_forward(given, weights, config.activation).output,
            [weights.w_1, weights.w_2],
        ),
        "LayerNorm": (
            lambda given: forward.layer_norm(given, weights.norm_2, config.norm_eps),
            [weights.norm_2.gamma, weights.norm_2.beta],
        ),
    }
    mixes = {name: not torch.allclose(part(x)[3], part(changed)[3]) for name, (part, _) in parts.items()}
    return {
        "from the other tokens": mixes,
        "one token alone": {name: not each for name, each in mixes.items()},
        "learned weights": {name: bool(own) for name, (_, own) in parts.items()},
        "matrices": {name: any(each.ndim == 2 for each in own) for name, (_, own) in parts.items()},
        "one scale": {name: torch.allclose(part(x), part(9 * x), atol=1e-3) for name, (part, _) in parts.items()},
    }


@pytest.mark.parametrize("model_id", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_one_part_alone_is_right(model_id: str) -> None:
    true, right = true_of_parts(load_model(model_id)), []
    for each in about_parts():
        asked_for = [phrase for phrase in true if phrase in each.prompt]
        fitting = [option.text for option in each.options if all(true[phrase][option.text] for phrase in asked_for)]
        assert asked_for and fitting == [each.options[each.answer].text], each.prompt
        right += fitting
    assert len(set(right)) == len(right) == 3


def test_the_teacher_of_a_room_asks_the_class_from_the_first_page(browsers: Browsers) -> None:
    code, key = server().create()
    at = visit(None, room=code, teach="1")
    assert "_first_class" not in [each.key for each in at.selectbox]
    at.session_state["_room_keys"] = {code: key}
    at.run()
    press(at, "Ask the class")
    told = server().rooms.taught(code, key).question
    assert server().rooms.seen(code).state.phase is Phase.OPEN and told is not None
    assert told.question.picture is not None and "cut off" in told.question.prompt
    at.selectbox(key="_first_class").select_index(len(at.selectbox(key="_first_class").options) - 1).run()
