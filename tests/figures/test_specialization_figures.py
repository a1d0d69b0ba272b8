"""The radar calls a head by its number, and says what it is known to do."""

from __future__ import annotations

import lab
from lab.evidence.notable import shipped, told
from lab.figures.specialization_figures import radar


def test_a_head_with_a_job_has_it_in_its_name() -> None:
    model = lab.load_model("lab-bert")
    jobs = told(shipped(model))
    layer = next(layer for layer, _ in jobs)
    figure = radar(lab.trace(model, "The old cat sat on the mat, and Anna saw it."), layer, 0, everyone=True).figure
    names = {str(shape.name) for shape in figure.data if shape.name}
    expected = {f"Head {head + 1}" + (f" · {jobs[layer, head]}" if (layer, head) in jobs else "") for head in range(8)}
    assert expected <= names
