"""What each layer of an embedded model adds to the residual stream, over the 200 held-out sentences.

python -m training.evaluation.residual lab-bert
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import torch

from lab.analysis.layers.feed_forward import active_on_words
from lab.analysis.layers.sublayers import sublayer_changes
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import Trace, trace
from lab.models.twin import random_twin
from training.command_line import models_asked
from training.evaluation.heads import SENTENCES, sentences


def residual(model_id: str, count: int = SENTENCES) -> dict[str, list[float]]:
    """Layer by layer, medians over all words: ‖Δ‖ / ‖x‖ of the feed-forward network, trained and random (seed 0).

    Beside them means over the sentences: the share of activations above 0 at words, and of the words' attention on
    special tokens (0 in a model without them).
    """
    model = load_model(model_id)
    runs = [trace(model, text) for text in sentences(count)]
    return {
        "trained": _added(runs),
        "random": _added(_again(random_twin(model), runs)),
        "active": np.mean([active_on_words(run) for run in runs], axis=0).tolist(),
        "on_special": np.mean([_on_special(run) for run in runs], axis=0).tolist(),
    }


def _again(model: LoadedModel, runs: Iterable[Trace]) -> list[Trace]:
    return [trace(model, run.text) for run in runs]


def _added(runs: Iterable[Trace]) -> list[float]:
    every = [sublayer_changes(run).relative[:, 1, _words(run)] for run in runs]
    return np.median(np.concatenate(every, axis=1), axis=1).tolist()


def _on_special(run: Trace) -> list[float]:
    special = torch.tensor(run.encoding.special)
    layers = (run.layer(i).attention for i in range(run.model.config.layers))
    return [float(attention[:, _words(run)][:, :, special].sum(-1).mean()) for attention in layers]


def _words(run: Trace) -> list[int]:
    return [i for i, special in enumerate(run.encoding.special) if not special]


def main() -> None:
    torch.set_num_threads(1)
    for model_id in models_asked(__doc__):
        print(model_id, json.dumps(residual(model_id), indent=1))


if __name__ == "__main__":
    main()
