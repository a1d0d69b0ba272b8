"""The drawing at the opening of each lesson, made of one real run: ``python -m lab.figures.covers`` draws them anew.

Not of the learner's run: it would show the answer to a prediction that the lesson's first step may ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

import lab
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.patterns import pattern_array, trace_patterns
from lab.analysis.heads.thumbnails import thumbnails
from lab.analysis.words.predictions import prediction_at
from lab.course.cover import COVER_MODEL, COVER_TEXT, cover_of
from lab.models.trace import Trace

WIDTH, HEIGHT = 480, 160  # pixels; drawn at half of it on screen
_BLUE, _ORANGE = (58, 118, 206), (217, 119, 48)
Pixels = NDArray[np.uint8]
Cells = NDArray[np.float64]


def cover(lesson: str, trace: Trace) -> Pixels:
    """The drawing of a lesson, by id: (HEIGHT, WIDTH, 4), transparent where there is nothing."""
    return _DRAWN[lesson](trace)


def painted(cells: Cells, gap: int = 2) -> Pixels:
    """Cells in [-1, 1], (rows, columns), as a picture: blue above 0, orange below, fainter towards 0."""
    rows, columns = cells.shape
    picture = np.zeros((HEIGHT, WIDTH, 4), dtype=np.uint8)
    down, along = (np.linspace(0, size, count + 1).astype(int) for size, count in ((HEIGHT, rows), (WIDTH, columns)))
    for row, column in np.ndindex(rows, columns):
        value = float(np.clip(cells[row, column], -1, 1))
        area = np.s_[down[row] : max(down[row + 1] - gap, down[row] + 1), along[column] : along[column + 1] - gap]
        picture[area] = (*(_BLUE if value >= 0 else _ORANGE), round(255 * abs(value)))
    return picture


def _tokens(trace: Trace) -> Pixels:
    """A bar for each token, as long as its word; special tokens are orange."""
    cells = np.zeros((len(trace), 12))
    for place, label in enumerate(trace.labels):
        cells[place, : min(12, len(label))] = -0.8 if trace.encoding.special[place] else 0.8
    return painted(cells.T[::-1])


def _scaled(values: Cells) -> Cells:
    """As shares of what all but the largest twentieth stay below: one outlier would make the rest pale."""
    return np.asarray(np.clip(values / (np.quantile(np.abs(values), 0.95) or 1.0), -1, 1))


def _vectors(trace: Trace) -> Pixels:
    return painted(_scaled(trace.embeddings.sum.double().numpy()[:, :48]))


def _one_map(trace: Trace) -> Pixels:
    return painted(_scaled(trace.layer(0).attention[4].double().numpy()))


def _all_maps(trace: Trace) -> Pixels:
    maps = thumbnails(trace).maps.astype(np.float64)
    apart = np.pad(maps, ((0, 0), (0, 0), (0, 2), (0, 2)))
    return painted(np.concatenate(list(np.concatenate(list(apart.transpose(1, 0, 2, 3)), axis=2)), axis=0), gap=0)


def _metrics(trace: Trace) -> Pixels:
    return painted(trace_metrics(trace).corrected["spread"])


def _patterns(trace: Trace) -> Pixels:
    scores = np.nan_to_num(pattern_array(trace_patterns(trace)))
    return painted(scores.reshape(len(scores), -1))


def _sentences(trace: Trace) -> Pixels:
    mean = np.mean([trace.layer(layer).attention.double().numpy().mean(0) for layer in range(2)], axis=0)
    return painted(np.sqrt(_scaled(mean[1:-1, 1:-1])))


def _neurons(trace: Trace) -> Pixels:
    return painted(_scaled(trace.layer(1).ffn_activation.double().numpy()[:, :64]), gap=1)


def _words(trace: Trace) -> Pixels:
    """What the model expects at each place with nothing hidden: its ten likeliest words, as bars of probability."""
    best = np.array(
        [np.sort(prediction_at(trace, place, None).probabilities)[::-1][:10] for place in range(len(trace))]
    )
    return painted(np.sqrt(best.T.astype(np.float64)))


_DRAWN: Mapping[str, Callable[[Trace], Pixels]] = {
    "tokenization": _tokens,
    "embeddings": _vectors,
    "self-attention": _one_map,
    "multi-head-attention": _all_maps,
    "attention-metrics": _metrics,
    "head-specialization": _patterns,
    "inter-sentence-attention": _sentences,
    "feed-forward": _neurons,
    "masked-language-model": _words,
}


def main() -> None:
    from PIL import Image

    trace = lab.trace(lab.load_model(COVER_MODEL), COVER_TEXT)
    for lesson in _DRAWN:
        Image.fromarray(cover(lesson, trace)).save(cover_of(lesson), optimize=True)


if __name__ == "__main__":
    main()
