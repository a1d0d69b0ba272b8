"""What is asked by doing it is done here again, by Hugging Face's own switch for heads or on the weights themselves."""

from __future__ import annotations

import pytest
import torch

import lab
from lab.analysis.heads.comparing import head_sum
from lab.lessons.multi_head_attention import what_if
from lab.models.trace import Trace
from lab.questions.question import Option, Question
from tests.sentences import CAT, STORY

TEXTS = (STORY, CAT, "Dogs.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def test_why_a_sum_is_shorter_is_asked_only_where_it_is(trace: Trace) -> None:
    for layer in (0, 2):
        added = head_sum(trace.layer(layer))
        for token in range(len(trace)):
            parts = torch.from_numpy(added.parts[:, token]).double()
            left = float(parts.sum(0).norm() / parts.norm(dim=-1).sum())
            question = what_if.together(trace, added, token)
            assert (question is None) == (left > 0.95)
            if question is not None:
                right = float(parts.square().sum().sqrt() / parts.norm(dim=-1).sum())
                assert "do not all point the same way" in answer(question).text
                assert (
                    answer(question).why.startswith(f"{left:.0%}") and f"would be {right:.0%};" in answer(question).why
                )


def test_several_heads_share_out_attention_several_times(trace: Trace) -> None:
    question = what_if.why_several(trace.model.config)
    assert "several sets at once" in answer(question).text
    rows = trace.layer(0).attention[:, 1]
    assert rows.sum(-1).allclose(torch.ones(len(rows)), atol=1e-5), "each head has a softmax of its own"
