"""The radar calls a head by its number, and says what it is known to do."""

from __future__ import annotations

import pytest

import lab
from lab.evidence.notable import shipped, told
from lab.figures.specialization import beside_even, radar


def test_a_head_with_a_job_has_it_in_its_name() -> None:
    model = lab.load_model("lab-bert")
    jobs = told(shipped(model))
    layer = next(layer for layer, _ in jobs)
    figure = radar(lab.trace(model, "The old cat sat on the mat, and Anna saw it."), layer, 0, everyone=True).figure
    names = {str(shape.name) for shape in figure.data if shape.name}
    expected = {f"Head {head + 1}" + (f" · {jobs[layer, head]}" if (layer, head) in jobs else "") for head in range(8)}
    assert expected <= names


def test_each_kind_stands_beside_what_a_head_without_preference_gives_it() -> None:
    """By hand: without [CLS] and [SEP] an even head gives a kind its share of the tokens, and itself one of n."""
    trace = lab.trace(lab.load_model("lab-bert"), "The old cat sat on the mat, and Anna saw it.")
    figure = beside_even(trace, 1, 2, left_out=True)
    shown, even = (figure.table()[name].to_dict() for name in ("head 3", "uniform head"))
    # A bar of the head, and below it the one of a head without preference.
    assert figure.data["chosen"].tolist() == [True, False] * len(shown)
    assert figure.data["value"].tolist() == pytest.approx(
        [value for kind in shown for value in (shown[kind], even[kind])]
    )
    n = len(trace) - 2
    assert even["Punctuation"] == pytest.approx(2 / n)
    own = trace.layer(1).attention[2][1:-1, 1:-1]
    own = own / own.sum(1, keepdim=True)
    marks = [place for place, label in enumerate(trace.labels[1:-1]) if label in ",."]
    assert shown["Punctuation"] == pytest.approx(own[:, marks].sum(1).mean().item())
    assert not {"Self", "Long range", "CLS"} & set(shown)
