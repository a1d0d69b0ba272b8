"""Survey every head over many sentences, read one at a time so that the survey can be interrupted.

The numbers about a head are of a kind whose means over sentences of different lengths can be compared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.metrics import METRICS, attention_metrics
from lab.analysis.heads.named import Chance, mean_chance, scores_of, uniform_scores
from lab.analysis.heads.patterns import PATTERNS, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.specialization import SPECIALIZATIONS, head_specialization
from lab.analysis.heads.values import Mask, Values, Weights, is_causal, keep_others, layer_groups, running_means
from lab.models.cores import alone
from lab.models.encoding import Encoding, TextError
from lab.models.memo import once
from lab.models.trace import trace, trace_encoding
from lab.text.tags.token_tags import Tags

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

# All features are corrected for length, because sentences of different lengths are averaged. The pattern "broad" is
# left out, because it is the same number as the metric "spread".
_METRIC_IDS = tuple(metric.id for metric in METRICS)
_PATTERN_IDS = tuple(pattern.id for pattern in PATTERNS if pattern.id != "broad")
FEATURES = (*_METRIC_IDS, *_PATTERN_IDS, *(dimension.id for dimension in SPECIALIZATIONS))


@dataclass(frozen=True, eq=False)
class HeadSample:
    """A sentence's trace and its tags: part of speech and entity of each token; None for a token without a tag."""

    trace: Trace
    upos: Sequence[str | None]
    entities: Sequence[str | None]


def features_of(groups: Sequence[Weights], sample: HeadSample, keep: Mask | None = None) -> Values:
    """Features of each head from its attention, in groups of :func:`lab.analysis.heads.values.layer_groups`."""
    roles, causal = trace_roles(sample.trace), is_causal(sample.trace)
    rows = []
    for attention in groups:
        metrics = attention_metrics(attention, causal=causal, keep=keep).corrected
        patterns = head_patterns(attention, roles, causal=causal, keep=keep)
        special = head_specialization(attention, sample.upos, sample.entities, causal=causal, keep=keep).corrected
        columns = [metrics[name] for name in _METRIC_IDS]
        columns += [getattr(patterns, name) for name in _PATTERN_IDS]
        rows.append(np.concatenate([np.stack(columns, axis=-1), special], axis=-1))
    return np.concatenate(rows).reshape(sample.trace.model.config.layers, -1, len(FEATURES))


# The untrained twin reads every fourth text, beginning with the first.
TWIN_READS = 4
Tagger = Callable[[Encoding], Tags]


@dataclass(frozen=True, eq=False)
class SurveyedText:
    """The numbers kept from one text.

    Attributes
    ----------
    features
        (L, H, F), the features over all tokens.
    others
        (L, H, F), the features without special tokens, or without the first token in a model without special tokens;
        nan if no other token is left.
    uniform
        (P,), the scores of a uniform head in the named patterns.
    untrained
        (P, L, H), the scores of the untrained twin's heads; None for a text that the twin did not read.
    """

    features: Values
    others: Values
    uniform: Values
    untrained: Values | None


class HeadSurvey:
    """Reads texts one by one and keeps the features of every head on each text.

    ``step`` reads the next text; between two steps, a page may draw the progress or be interrupted.
    The next call of ``step``, from any thread, continues with the next text. A survey does not hold its model.
    """

    def __init__(self, texts: Sequence[str], heads: int = 0) -> None:
        self.texts, self._heads = tuple(texts), heads
        self._taken: list[SurveyedText] = []
        self._lock = threading.Lock()
        self.done = 0

    @property
    def total(self) -> int:
        """The number of texts."""
        return len(self.texts)

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    @property
    def nbytes(self) -> int:
        """The bytes that the finished survey will keep."""
        return 8 * self.total * self._heads * (2 * len(FEATURES) + len(PATTERNS))

    def step(self, model: LoadedModel, tagger: Tagger, untrained: LoadedModel) -> None:
        """Let ``model``, for which the survey was made, read the next text, if any; the model's twin reads only some
        texts.

        A text without tokens to read is skipped.
        """
        with alone(self._lock):
            if not self.finished:
                with suppress(TextError):
                    traced = trace(model, self.texts[self.done])
                    # The twin's heads are nearly uniform on any text, so a quarter of the texts is enough.
                    reads = len(self._taken) % TWIN_READS == 0
                    self._taken.append(_read(traced, tagger, untrained if reads else None))
                self.done += 1

    def readings(self) -> tuple[SurveyedText, ...]:
        """Return the numbers kept from each text read so far."""
        return tuple(self._taken)


@once
def head_survey(model: LoadedModel, texts: tuple[str, ...], tagged: bool) -> HeadSurvey:
    """Return the survey of these texts in its current state; all visitors of the model share and continue one survey.

    ``tagged`` is true if the survey's steps use tags.
    """
    return HeadSurvey(texts, model.config.layers * model.config.heads)


def no_tags(encoding: Encoding) -> Tags:
    """Return a tagger that gives no tags, for texts without parts of speech."""
    nothing = (None,) * len(encoding)
    return nothing, nothing


def _read(traced: Trace, tagger: Tagger, untrained: LoadedModel | None) -> SurveyedText:
    sample, keep = HeadSample(traced, *tagger(traced.encoding)), keep_others(traced)
    groups = list(layer_groups(traced))
    features = features_of(groups, sample)
    return SurveyedText(
        features,
        np.full_like(features, np.nan) if keep is None else features_of(groups, sample, keep),
        uniform_scores(traced),
        None if untrained is None else scores_of(trace_patterns(trace_encoding(untrained, traced.encoding))),
    )


def chance_over(readings: Sequence[SurveyedText]) -> Chance:
    """Return the chance scores for means over texts. Raises ValueError without a text."""
    untrained = [each.untrained for each in readings if each.untrained is not None]
    return mean_chance((each.uniform for each in readings), untrained)


def mean_features(sentences: Sequence[Values]) -> Values:
    """Average the features over sentences, (L, H, F); a nan does not count. Raises ValueError without a sentence."""
    if not sentences:
        raise ValueError("there are no sentences to average.")
    *_, mean = running_means(sentences)
    return mean


def feature(features: Values, name: str) -> Values:
    """Return one feature of every head, (..., F) -> (...). "Broad" is read from the corrected spread."""
    return np.asarray(features[..., FEATURES.index("spread" if name == "broad" else name)])


def pattern_scores(features: Values) -> Values:
    """Return the scores of the named patterns in the order of PATTERNS, (L, H, F) -> (P, L, H)."""
    return np.stack([feature(features, pattern.id) for pattern in PATTERNS])
