"""Write which head of an embedded model does what, beside its weights.

    python -m training.evaluation.notable lab-bert

Grammar is measured on all sentences of UD English EWT dev, patterns on 200 of them.
"""

from __future__ import annotations

import json

import torch

from lab.evidence.notable import FILE, as_record, measured
from lab.models.catalogue import EMBEDDED
from lab.models.loading import load_model
from training.command_line import models_asked
from training.evaluation import weights_hash

GRAMMAR, PATTERNS = 2000, 200


def write(model_id: str) -> None:
    """Measure, and write ``heads.json``."""
    found = {
        "command": f"python -m training.evaluation.notable {model_id}",
        "sentences": "UD English EWT dev",
        "weights": weights_hash(model_id),
        "jobs": as_record(measured(load_model(model_id), GRAMMAR, PATTERNS)),
    }
    (EMBEDDED / model_id / FILE).write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def main() -> None:
    torch.set_num_threads(1)
    for model_id in models_asked(__doc__):
        write(model_id)


if __name__ == "__main__":
    main()
