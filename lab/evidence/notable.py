"""Find a model's best heads for the jobs that papers describe, measured over many sentences.

The jobs of a shipped model's heads ship with the model (``heads.json`` beside the weights, written by
``python -m training.evaluation.notable``); other models are measured on request.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.analysis.heads.induction import model_induction
from lab.analysis.heads.named import clearly_above, mean_chance, scores_of, uniform_scores
from lab.analysis.heads.patterns import PATTERNS, average_patterns, trace_patterns
from lab.analysis.heads.values import Mask, Values
from lab.analysis.heads.walk import NEAR_UNIFORM
from lab.evidence.relation_cases import best_offset, find_cases
from lab.evidence.treebank import Sentence, ewt
from lab.evidence.verdicts import FEW
from lab.models.batches import ProgressFunction, unwatched
from lab.models.trace import Trace, trace
from lab.models.twin import untrained_twin

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

_LOG = logging.getLogger("lab.models")
FILE = "heads.json"
# The least distance of a head's score from chance (the condition of Voita et al. 2019, §5.2, for "syntactic heads").
BETTER = 0.1
_MOST = 3  # heads a job
_LENGTHS = range(6, 25)  # the number of words in sentences on which patterns are measured
_PERIOD, _SEEDS = 50, range(8)


@dataclass(frozen=True)
class HeadJob:
    """Something that a head can do.

    Attributes
    ----------
    id
        For a relation, its name in Universal Dependencies and the end that the head finds: ``"obj:head"``.
    does
        The predicate of a sentence that begins "head 3-1 …".
    """

    id: str
    does: str

    @property
    def grammatical(self) -> bool:
        """True for a relation, whose baseline is the best fixed distance; false for a pattern of the map."""
        return ":" in self.id


@dataclass(frozen=True)
class Doing:
    """A head that does a job, layer and head from 0, and its score in [0, 1]."""

    layer: int
    head: int
    score: float

    @property
    def name(self) -> str:
        """The head as papers write it, from 1: "3-1" is head 1 of layer 3 (Clark et al. 2019)."""
        return f"{self.layer + 1}-{self.head + 1}"


@dataclass(frozen=True)
class Notable:
    """The heads that do a job, the best first, and ``chance``, the score that a head without any knowledge gets.

    ``chance`` is None for "broad", because a uniform head, which knows nothing, is as broad as possible.
    """

    job: HeadJob
    chance: float | None
    heads: tuple[Doing, ...]


_GRAMMAR = {
    "obj": ("finds the verb of an object", "finds the object of a verb"),
    "nsubj": ("finds the verb of a subject", "finds the subject of a verb"),
    "det": ("finds the noun of a determiner", "finds the determiner of a noun"),
    "case": ("finds the noun of a preposition", "finds the preposition of a noun"),
}
_SEEN = {
    "previous_token": "looks at the token before",
    "next_token": "looks at the next token",
    "same_word": "looks at the same word elsewhere",
    "delimiter": "rests on delimiters or the first token",
    "broad": "looks at all tokens alike",
}
_INDUCTION = HeadJob("induction", "finds what came next last time")
# The order on screen: grammar, then patterns of the map, then copying.
JOBS: tuple[HeadJob, ...] = (
    *(
        HeadJob(f"{relation}:{end}", does)
        for relation, both in _GRAMMAR.items()
        for end, does in zip(("head", "dependent"), both, strict=True)
    ),
    *(HeadJob(pattern, does) for pattern, does in _SEEN.items()),
    _INDUCTION,
)


def shipped(model: LoadedModel) -> tuple[Notable, ...] | None:
    """Return the jobs of a model's heads if a record of this model ships in the model's folder; else None."""
    found, config = in_folder(model.source) if isinstance(model.source, Path) else None, model.config
    doing = [head for each in found or () for head in each.heads]
    return found if all(0 <= at.layer < config.layers and 0 <= at.head < config.heads for at in doing) else None


@cache
def in_folder(folder: Path) -> tuple[Notable, ...] | None:
    """Read the heads with a job from a folder that need not hold a model.

    Return None if the folder has no record, or one that cannot be read, which the log then says once.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        return from_record(json.loads(path.read_text("utf-8"))["jobs"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        _LOG.warning("%s in %s cannot be read, so nobody knows the jobs of its heads: %r", FILE, folder.name, error)
        return None


def from_record(jobs: Mapping[str, Any]) -> tuple[Notable, ...]:
    """Read the record that :func:`as_record` makes, in which layers and heads count from 1."""
    return tuple(
        Notable(job, found["chance"], tuple(Doing(layer - 1, head - 1, score) for layer, head, score in found["heads"]))
        for job in JOBS
        if (found := jobs.get(job.id)) is not None
    )


def as_record(found: tuple[Notable, ...]) -> dict[str, Any]:
    """Return the jobs and their heads for JSON, rounded to three decimals; layers and heads count from 1."""
    return {
        each.job.id: {
            "chance": None if each.chance is None else round(each.chance, 3),
            "heads": [[doing.layer + 1, doing.head + 1, round(doing.score, 3)] for doing in each.heads],
        }
        for each in found
    }


def job_of(found: tuple[Notable, ...], layer: int, head: int) -> tuple[Notable, Doing] | None:
    """Return the job in which a head is farthest above chance; None for a head without a job."""
    own = [(each, doing) for each in found for doing in each.heads if (doing.layer, doing.head) == (layer, head)]
    return max(own, key=lambda pair: _above(pair[1].score, pair[0].chance), default=None)


def _above(score: float, chance: float | None) -> float:
    return 0.0 if chance is None else (score - chance) / (1 - chance)


def told(found: tuple[Notable, ...] | None) -> dict[tuple[int, int], str]:
    """Return the best job, in words, of each head with a job, by layer and head from 0."""
    places = {(doing.layer, doing.head) for each in found or () for doing in each.heads}
    best = {place: job_of(found or (), *place) for place in places}
    return {place: own[0].job.does for place, own in best.items() if own is not None}


def measured(
    model: LoadedModel, grammar: int = 300, patterns: int = 60, progress: ProgressFunction = unwatched
) -> tuple[Notable, ...]:
    """Measure the jobs of a model's heads on UD English EWT dev; a small model takes about 20 s.

    ``grammar`` and ``patterns`` are numbers of sentences. ``progress`` receives the share done, 0 to 1; an exception it
    raises ends the measuring.
    """
    sentences = ewt()
    return (
        *_of_grammar(model, sentences[:grammar], lambda share: progress(0.6 * share)),
        *_of_patterns(
            model,
            [s for s in sentences if len(s.words) in _LENGTHS][:patterns],
            lambda share: progress(0.6 + 0.3 * share),
        ),
        *_of_induction(model, lambda share: progress(0.9 + 0.1 * share)),
    )


def _of_grammar(model: LoadedModel, sentences: tuple[Sentence, ...], progress: ProgressFunction) -> Iterator[Notable]:
    """The best heads for each relation; none for a model with so few positions that it reads no sentence whole."""
    found = find_cases(model, sentences, progress=progress)
    for relation in _GRAMMAR:
        cases = found.of(relation)
        if len(cases.relations) < FEW:
            continue
        _, chance = best_offset(cases.distance.tolist())
        accuracy = cases.right.mean(0)
        for end, place in (("head", 0), ("dependent", 1)):
            scores = accuracy[..., place]
            yield from _notable(f"{relation}:{end}", scores, chance, scores >= chance + BETTER)


def _of_patterns(model: LoadedModel, sentences: list[Sentence], progress: ProgressFunction) -> Iterator[Notable]:
    """The best heads for each pattern, by the rule of :mod:`lab.analysis.heads.named`; broad heads by row entropy."""
    texts, twin = [" ".join(sentence.words) for sentence in sentences], untrained_twin(model)

    def read(by: LoadedModel, begun: float) -> Iterator[Trace]:
        for done, text in enumerate(texts, start=1):
            yield trace(by, text)
            progress(begun + done / len(texts) / 2)

    traces = list(read(model, 0.0))
    found = average_patterns(traces)
    chance = mean_chance(map(uniform_scores, traces), (scores_of(trace_patterns(each)) for each in read(twin, 0.5)))
    passing = clearly_above(scores_of(found), chance)
    for place, pattern in enumerate(PATTERNS):
        if pattern.id in _SEEN:
            scores: Values = getattr(found, pattern.id)
            if pattern.id == "broad":
                yield from _notable(pattern.id, scores, None, scores >= NEAR_UNIFORM)
            else:
                yield from _notable(pattern.id, scores, float(chance.uniform[place]), passing[place])


def _of_induction(model: LoadedModel, progress: ProgressFunction) -> Iterator[Notable]:
    """The best induction heads of a causal model, on random tokens repeated once; none if the text is too long."""
    if not model.config.causal or model.config.max_tokens < 2 * _PERIOD:
        return
    found = []
    for seed in _SEEDS:
        found.append(model_induction(model, _PERIOD, seed))
        progress(len(found) / len(_SEEDS))
    scores = np.mean(found, axis=0)
    chance = float(np.mean([1 / (seen + 1) for seen in range(_PERIOD, 2 * _PERIOD)]))
    yield from _notable(_INDUCTION.id, scores, chance, scores >= chance + BETTER)


def _notable(job: str, scores: Values, chance: float | None, passing: Mask) -> Iterator[Notable]:
    """The best of the ``passing`` heads, (L, H); yields nothing if no head passes."""
    order = [tuple(np.unravel_index(at, scores.shape)) for at in np.argsort(-np.nan_to_num(scores), axis=None)]
    best = [Doing(int(at[0]), int(at[1]), float(scores[at])) for at in order if passing[at]][:_MOST]
    if best:
        yield Notable(next(each for each in JOBS if each.id == job), chance, tuple(best))
