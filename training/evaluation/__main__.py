"""``make evaluate``: every figure of the model cards, measured on what ships; and the experiments, anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from training.command_line import SHIPPED, documented
from training.evaluation import bert, en_lab, experiments, gpt2, punkt
from training.evaluation.whole_words import MODELS


def main() -> None:
    documented(__doc__).parse_args()
    torch.set_num_threads(1)
    found: dict[str, Callable[[], dict[str, Any]]] = {
        **{model_id: partial(bert.evaluate, model_id) for model_id in MODELS},
        "lab-gpt2": gpt2.evaluate,
        "en_lab": en_lab.evaluate,
        "punkt": punkt.evaluate,
    }
    for name, evaluate in found.items():
        print(f"{name}\n{json.dumps(evaluate(), indent=1, ensure_ascii=False)}\n", flush=True)
    experiments.write_all(experiments.MEASURED, SHIPPED)


if __name__ == "__main__":
    main()
