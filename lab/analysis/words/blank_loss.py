"""How surprised a model is by a word: the loss of one blank, −ln p.

Training makes this number smaller (Devlin et al. 2019, §3.1, task 1; Radford et al. 2018, §3.1). Its other names are
cross-entropy and negative log-likelihood.
"""

from __future__ import annotations

import math

from lab.analysis.words.predictions import Prediction, prediction_at
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import untrained_twin


def surprise(prediction: Prediction, token_id: int) -> float:
    """Return −ln p of a word in nats, without the rounding of a very small p."""
    return prediction.largest + math.log(prediction.total) - float(prediction.scaled[token_id])


def guessing(vocabulary: int) -> float:
    """Return the loss of a model that gives all words of its vocabulary the same probability, ln V, in nats."""
    return math.log(vocabulary)


@once
def untrained_prediction(trace: Trace, place: int) -> Prediction:
    """Return the prediction at a place of the same tokens before the first training step; see :func:`untrained_twin`.

    The run itself is not kept, because the weights of the twin, 92 MB in a small model, would stay with it.
    """
    return prediction_at(trace_encoding(untrained_twin(trace.model), trace.encoding), place, None)
