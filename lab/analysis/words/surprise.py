"""How surprised a model is by a word: the loss of one blank, −ln p, and its mean over a sentence.

Training makes this number smaller (Devlin et al. 2019, §3.1, task 1; Radford et al. 2018, §3.1). Its other names are
cross-entropy and negative log-likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lab.analysis.words.likelihood import Likelihood, scored, scored_places
from lab.analysis.words.predictions import Prediction
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding
from lab.models.twin import untrained_twin

# The most tokens of a text whose loss is measured: each is hidden in a run of its own.
MOST = 24


def surprise(prediction: Prediction, token_id: int) -> float:
    """Return −ln p of a word in nats, without the rounding of a very small p."""
    return prediction.largest + math.log(prediction.total) - float(prediction.scaled[token_id])


def guessing(vocabulary: int) -> float:
    """Return the loss of a model that gives all words of its vocabulary the same probability, ln V, in nats."""
    return math.log(vocabulary)


@once
def untrained_run(trace: Trace) -> Trace:
    """Run the same tokens through the model before its first training step; see :func:`untrained_twin`."""
    return trace_encoding(untrained_twin(trace.model), trace.encoding)


@dataclass(frozen=True)
class SentenceLoss:
    """The loss of the first tokens of a text, each hidden in turn, by the model and by its untrained twin."""

    trained: Likelihood
    untrained: Likelihood
    vocabulary: int
    whole: bool  # whether every token of the text is among them

    @property
    def guessing(self) -> float:
        return guessing(self.vocabulary)


@once
def sentence_loss(trace: Trace) -> SentenceLoss | None:
    """Return the loss of up to :data:`MOST` tokens of a run's text; None for a text without a token to score."""
    count = len(scored_places(trace.model, trace.encoding))
    if not count:
        return None
    some = min(count, MOST)
    twin = scored(untrained_run(trace), some)
    return SentenceLoss(scored(trace, some), twin, trace.model.config.vocabulary, some == count)
