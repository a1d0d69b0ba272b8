"""What was reproduced, as tables in Markdown: every verdict of every embedded model, with n and the untrained twin.

python -m training.evaluation.reproduced > docs/reproduced.md
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lab.course.pages import EXPERIMENTS, disclosed
from lab.evidence.reasons import RULE
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import LoadedModel, load_model
from lab.ui.experiments.claim_table import reproduced
from lab.ui.experiments.experiment import Experiment
from training.command_line import documented


def _experiment(id: str) -> Experiment[Any]:
    found: Experiment[Any] = import_module(f"lab.experiments.{id.replace('-', '_')}.page").EXPERIMENT
    return found


def table(id: str, model: LoadedModel, title: str = "") -> list[str]:
    """The lines of a table of an experiment (its page's id) for a model. Ends the command if the result is stale."""
    experiment = _experiment(id)
    found = experiment.measurement.known(model)
    if found is None:
        raise SystemExit(f"A result of {model.id} is stale: python -m training.evaluation.experiments")
    return experiment.tables[title](found) if title else reproduced(experiment.claims(found))


def page() -> str:
    """All tables of all models, and the rule."""
    parts = [
        "# What was reproduced",
        "Written by `python -m training.evaluation.reproduced` from the results that ship; a test compares. "
        "[results.md](results.md) and the pages of the experiments say how each figure is measured. "
        "**twin** is the untrained twin, the same model with random weights. Intervals are 95 %.",
        f"## The rule of the verdicts\n\n{RULE}",
    ]
    models = [load_model(entry.id) for entry in CATALOGUE if ships(entry)]
    for record in EXPERIMENTS:
        experiment = _experiment(record.id)
        for title in ("", *experiment.tables):
            parts.append(f"## {record.question} {title}".rstrip())
            for model in models:
                if not experiment.measurement.untestable(model):
                    told = disclosed(record.id, model.id)
                    parts += [f"### {model.id}", *[told] * bool(told), "\n".join(table(record.id, model, title))]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    documented(__doc__).parse_args()
    print(page(), end="")
