"""Bars of change per token: the lengths of what Hugging Face's sublayers add, and a sentence that names their ends."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from lab.lessons.feed_forward.by_token import said

import lab
from lab.analysis.layers.sublayers import sublayer_changes
from lab.course.words import told_apart
from lab.figures.sublayers import changes_by_token
from lab.models.catalogue import EMBEDDED
from tests.checkpoints import Family
from tests.models.reference import load_theirs
from tests.sentences import CAT, STORY

# Where Hugging Face adds: the modules whose output is Δ, and whose input or output is x.
ADDED: dict[str, tuple[str, str]] = {
    "bert": ("attention.output.dense", "output.dense"),
    "gpt2": ("attn.c_proj", "mlp.c_proj"),
}


def lengths_of_theirs(model: str, family: Family, text: str, layer: int) -> list[torch.Tensor]:
    """‖Δ‖ / ‖x‖ of both sublayers for each token, from hooks on Hugging Face's modules."""
    theirs, caught = load_theirs(EMBEDDED / model, family), dict[str, Any]()
    block = theirs.block(layer)

    def keep(name: str) -> Any:
        def hook(_module: Any, inputs: Any, output: Any) -> None:
            caught[name] = (inputs[0][0] if inputs else None, output[0] if output is not None else None)

        return hook

    for name in ADDED[family]:
        block.get_submodule(name).register_forward_hook(keep(name))
    block.get_submodule("attention" if family == "bert" else "ln_2").register_forward_hook(keep("middle"))
    outputs = theirs.run(text)
    start = outputs.hidden_states[layer]
    first, second = (caught[name][1] for name in ADDED[family])
    # In BERT, the network's x is what the attention block returns; in GPT-2, it is what the second LayerNorm reads.
    middle = caught["middle"][1][0] if family == "bert" else caught["middle"][0]
    middle = middle if middle.dim() == 2 else caught["middle"][1]
    return [delta.norm(dim=-1) / x.norm(dim=-1) for x, delta in ((start, first), (middle, second))]


@pytest.mark.parametrize(("model", "family"), [("lab-minilm", "bert"), ("lab-bert", "bert"), ("lab-gpt2", "gpt2")])
@pytest.mark.parametrize("text", [STORY, CAT])
def test_the_bars_are_what_hugging_face_adds(model: str, family: Family, text: str) -> None:
    trace, layer = lab.trace(lab.load_model(model), text), 1
    for sublayer, expected in enumerate(lengths_of_theirs(model, family, text, layer)):
        figure = changes_by_token(trace, layer, sublayer, 2)
        assert len(trace) <= 24  # so every token has its bar
        assert figure.data["value"].to_numpy() == pytest.approx(expected.numpy(), rel=1e-3)
        sentence = said(trace, layer).split("\n\n")[sublayer]
        ends = [f"{float(each):.2f}" for each in (expected.max(), expected.min())]
        assert re.findall(r"\*\*([\d.]+)\*\*", sentence) == ends
        assert told_apart(trace, int(expected.argmax())) in sentence.split("least")[0]


def test_a_long_text_has_the_largest_changes_and_the_chosen_token() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), " ".join([STORY] * 4))
    figure = changes_by_token(trace, 0, 1, 7)
    labels = list(figure.table().index)
    assert len(labels) == 24 < len(trace) and f"8 {trace.labels[7]}" in labels
    largest = int(sublayer_changes(trace).relative[0, 1].argmax())
    assert f"{largest + 1} {trace.labels[largest]}" in labels
