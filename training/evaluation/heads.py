"""The heads of an embedded model over 200 held-out sentences: what each attends to, and which have a name.

python -m training.evaluation.heads lab-bert
"""

from __future__ import annotations

import json
import lzma
import random
from collections import defaultdict
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import torch

from lab.analysis.heads.induction import model_induction
from lab.analysis.heads.named import Chance, clearly_above, mean_chance, name_heads, scores_of, uniform_scores
from lab.analysis.heads.patterns import PATTERNS, Patterns, average_patterns, trace_patterns
from lab.analysis.heads.values import Values
from lab.experiments.copying.induction import copying
from lab.models.loading import load_model
from lab.models.trace import trace
from lab.models.twin import untrained_twin
from training.command_line import models_asked
from training.corpus import HELD_OUT, paragraphs_to_sentences

SENTENCES = 200


@cache
def sentences(count: int = SENTENCES) -> tuple[str, ...]:
    """Held-out sentences of 6 to 24 words, as many of each source as of any other."""
    by_source: dict[str, list[str]] = defaultdict(list)
    with lzma.open(HELD_OUT, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            by_source[record["source"]] += [
                s for s in paragraphs_to_sentences(record["text"]) if 6 <= len(s.split()) <= 24
            ]
    shuffle = random.Random(0)
    for found in by_source.values():
        shuffle.shuffle(found)
    turns = (found[i] for i in range(count) for found in by_source.values() if i < len(found))
    return tuple(islice(turns, count))


def patterns_of(model_id: str, count: int = SENTENCES) -> Patterns:
    """Mean scores (L, H) of every pattern over the held-out sentences."""
    model = load_model(model_id)
    return average_patterns(trace(model, sentence) for sentence in sentences(count))


def chance_over(model_id: str, count: int = SENTENCES) -> Chance:
    """What a uniform head and the best untrained head score in every pattern, as means over the same sentences."""
    model = load_model(model_id)
    twin = untrained_twin(model)
    even: list[Values] = []
    untrained: list[Values] = []
    for sentence in sentences(count):
        seen = trace(twin, sentence)
        even.append(uniform_scores(seen))
        untrained.append(scores_of(trace_patterns(seen)))
    return mean_chance(even, untrained)


def head_patterns(model_id: str, count: int = SENTENCES) -> dict[str, Any]:
    """For each pattern the head that shows it most, beside chance; and the name of every head."""
    found, chance = patterns_of(model_id, count), chance_over(model_id, count)
    names, passing = name_heads(found, chance), clearly_above(scores_of(found), chance)
    out: dict[str, Any] = {"names": names.tolist(), "first_layer_broad": float(np.max(found.broad[0]))}
    for place, pattern in enumerate(PATTERNS):
        scores = getattr(found, pattern.id)
        if not np.isnan(scores).all():
            layer, head = np.unravel_index(np.nanargmax(scores), scores.shape)
            out[pattern.id] = {
                "layer": int(layer) + 1,
                "head": int(head) + 1,
                "score": float(scores[layer, head]),
                "uniform": float(chance.uniform[place]),
                "untrained": float(chance.untrained[place]),
                "needed": float(chance.needed[place]),
                "clearly": bool(passing[place, layer, head]),
                "heads": int(np.count_nonzero(names == pattern.id)),
            }
    return out


def induction(model_id: str, period: int = 50, sequences: int = 8) -> dict[str, Any]:
    """The head with the largest induction score on random tokens said twice, and what a uniform head scores."""
    model = load_model(model_id)
    scores = np.mean([model_induction(model, period, seed) for seed in range(sequences)], axis=0)
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    uniform = float(np.mean([1 / (i + 1) for i in range(period, 2 * period)]))
    return {
        "period": period,
        "sequences": sequences,
        "layer": int(layer) + 1,
        "head": int(head) + 1,
        "score": float(scores[layer, head]),
        "uniform": uniform,
    }


def feeds_induction(model_id: str) -> dict[str, Any]:
    """The earlier head that the best induction head depends on: its weight on the token before, and what it is worth.

    See :mod:`lab.experiments.copying.induction`.
    """
    found = copying(load_model(model_id), texts=8, draws=1)
    if found.source is None:
        return {}
    chosen, before, source = found.induction[..., : found.chosen].mean(-1), found.previous.mean(-1), found.source
    return {
        "layer": source[0] + 1,
        "head": source[1] + 1,
        "previous": float(before[source]),
        "with": float(chosen[found.best]),
        "without": float(chosen[found.best] - found.dependence[source]),
    }


def main() -> None:
    torch.set_num_threads(1)
    for model_id in models_asked(__doc__):
        found = patterns_of(model_id)
        names = name_heads(found, chance_over(model_id))
        print(f"{model_id}: mean over {SENTENCES} held-out sentences")
        print("layer head  " + "".join(f"{p.name[:16]:>18}" for p in PATTERNS) + "  named")
        for layer, head in np.ndindex(names.shape):
            scores = "".join(f"{getattr(found, p.id)[layer, head]:18.2f}" for p in PATTERNS)
            print(f"{layer + 1:5} {head + 1:4}  {scores}  {names[layer, head]}")


if __name__ == "__main__":
    main()
