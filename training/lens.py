"""Fit a lens to each model that ships: for each layer one affine map from its hidden state to the last one.

    make train MODEL=lens                      all three, twenty minutes on a busy machine
    make train MODEL=lens ARGS=lab-bert        one of them

A ridge regression on the training split of the corpora (Belrose et al. 2023 train the same maps by gradient descent):
at masked places of a BERT, 15 % of the tokens, all as [MASK]; in GPT-2 at every place of a window but the first, and to
the state before its final LayerNorm. One document in ten is kept aside, and on it each layer's ridge is chosen. A
control is fitted, too, and does not ship: the same from the hidden states of the untrained twin. Documents that share a
sentence with a treebank that experiments measure on are left out: some texts of GUM are also in the corpora.

Writes ``lens/`` into the model's folder: ``lens.safetensors``, and in ``lens.json`` what training/evaluation/lens.py
then measures on held-out text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from lab.evidence.treebank import ewt, gum
from lab.models.catalogue import EMBEDDED
from lab.models.fitted_lens import FOLDER, MAPS, RECORD, FittedLens, fitted_lens
from lab.models.loading import LoadedModel, load_model
from lab.models.twin import random_twin
from training.command_line import documented
from training.corpus import TokenCorpus, paragraphs_to_sentences, split, token_corpus
from training.evaluation import sha256, weights_hash
from training.evaluation.lens import (
    MODELS,
    Control,
    divergences,
    held_out,
    in_sight,
    logs_of,
    rows_of,
    space_before,
    states_at,
    windows,
)
from training.windows import Batch

WORK = Path(".training/lens")
# Windows of a BERT, with some seven hidden words each; see training/evaluation/lens.py.
ROWS, CHOOSING_ROWS = 6000, 150
# Parts of the mean variance of a dimension, which are added to the variance of each.
STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_ASIDE = 10  # one document of so many chooses the ridge
_TELLING = 8  # words


@dataclass(eq=False)
class Moments:
    """Sums over places that every ridge regression of the last states on S others is made of, in float64.

    x   (S, d) of the states        y   (d,) of the last ones
    xx  (S, d, d) of x xᵀ           xy  (S, d, d) of x yᵀ
    """

    count: int
    x: Tensor
    y: Tensor
    xx: Tensor
    xy: Tensor

    @staticmethod
    def none(states: int, width: int) -> Moments:
        """The sums over no place."""
        one, square = torch.zeros(states, width, dtype=torch.float64), (states, width, width)
        return Moments(0, one, one[0].clone(), *(torch.zeros(square, dtype=torch.float64) for _ in range(2)))

    def add(self, states: Tensor, last: Tensor) -> None:
        """Count more places in: ``states`` (S, k, d), ``last`` (k, d)."""
        x, y = states.double(), last.double()
        self.count += len(y)
        self.x += x.sum(1)
        self.y += y.sum(0)
        self.xx += x.mT @ x
        self.xy += x.mT @ y

    def ridge(self, strength: float) -> FittedLens:
        """The maps with the least squared error plus ``strength`` · (mean variance) · ‖w‖², the shift left free."""
        mean_x, mean_y = self.x / self.count, self.y / self.count
        variance = self.xx / self.count - mean_x[:, :, None] * mean_x[:, None]
        together = self.xy / self.count - mean_x[:, :, None] * mean_y
        size = variance.diagonal(dim1=1, dim2=2).mean(1)
        eye = torch.eye(len(mean_y), dtype=torch.float64)
        w = torch.linalg.solve(variance + strength * size[:, None, None] * eye, together)
        return FittedLens(w.float(), (mean_y - (mean_x[:, None] @ w)[:, 0]).float())


def treebanks() -> list[str]:
    """The sentences that experiments measure on, of eight words or more: shorter ones are anybody's."""
    return ["".join(each.words) for each in (*ewt(), *gum().sentences) if len(each.words) >= _TELLING]


def sharing(documents: Iterable[str], sentences: Iterable[str]) -> list[int]:
    """The numbers of the documents, from 0, that have one of the sentences, whatever its case and punctuation."""
    known = set(map(_letters, sentences))
    return [
        number
        for number, document in enumerate(documents)
        if any(_letters(each) in known for each in paragraphs_to_sentences(document))
    ]


def _letters(sentence: str) -> str:
    return re.sub(r"[\W_]+", "", sentence.lower())


def parted(corpus: TokenCorpus, without: Sequence[int]) -> tuple[TokenCorpus, TokenCorpus]:
    """The documents to fit on, and one in ten to choose the ridge on; the numbers ``without`` are in neither."""
    kept, aside = ~np.isin(corpus.document_of, without), corpus.document_of % _ASIDE == 0
    return _only(corpus, kept & ~aside), _only(corpus, kept & aside)


def _only(corpus: TokenCorpus, kept: np.ndarray) -> TokenCorpus:
    lengths = np.diff(corpus.sentence_starts)
    starts = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64)
    tokens = corpus.tokens[np.repeat(kept, lengths)]
    return TokenCorpus(tokens, starts, corpus.document_of[kept], corpus.source_of[kept])


def moments(model: LoadedModel, twin: LoadedModel, batches: Iterable[Batch]) -> tuple[Moments, Moments]:
    """The sums for the maps of ``model`` from its states but the last, and for those from all states of its twin."""
    layers, width = model.config.layers, model.config.width
    own, control = Moments.none(layers, width), Moments.none(layers + 1, width)
    for batch in batches:
        *before, last = states_at(model, batch)
        own.add(torch.stack(before), last)
        control.add(states_at(twin, batch), last)
    return own, control


def chosen(sums: Moments, runs: Sequence[tuple[Tensor, Tensor]], model: LoadedModel) -> tuple[FittedLens, list[float]]:
    """The maps, and of each the strength with the least divergence from the model's output in ``runs``.

    ``runs`` are of places that are not in ``sums``: states (S, k, d), and ln P of the model's own output there.
    """
    lenses = [sums.ridge(strength) for strength in STRENGTHS]
    best = []
    for layer in range(len(sums.x)):
        apart = [
            sum(float(divergences(own, logs_of(model, lens.guess(states[layer], layer))).sum()) for states, own in runs)
            for lens in lenses
        ]
        best.append(int(np.argmin(apart)))
    w, b = (torch.stack([getattr(lenses[at], name)[layer] for layer, at in enumerate(best)]) for name in ("w", "b"))
    return FittedLens(w, b), [STRENGTHS[at] for at in best]


def fit(
    model: LoadedModel, twin: LoadedModel, parts: tuple[TokenCorpus, TokenCorpus]
) -> tuple[FittedLens, Control, dict[str, object]]:
    """The lens, the control, and how they were fitted, as JSON; ``parts`` are to fit on and to choose the ridge on."""
    fitting, choosing = parts
    own, control = moments(model, twin, windows(model, fitting, rows_of(model, ROWS), seed=0))
    aside = list(windows(model, choosing, rows_of(model, CHOOSING_ROWS), seed=1))
    runs = [states_at(model, batch) for batch in aside]
    outputs = [logs_of(model, run[-1]) for run in runs]
    found, strengths = chosen(own, list(zip(runs, outputs, strict=True)), model)
    twins = [states_at(twin, batch) for batch in aside]
    untrained, its = chosen(control, list(zip(twins, outputs, strict=True)), model)
    places = {"fitted_on": own.count, "chosen_on": sum(map(len, outputs))}
    return found, Control(twin, untrained), {**places, "ridge": strengths, "ridge_untrained": its}


def write(model_id: str, corpora: Path, work: Path, without: Sequence[int]) -> None:
    """Fit, keep the maps beside the weights, measure them, and keep what was measured."""
    model = load_model(model_id)
    twin = random_twin(model, seed=0)
    corpus, _ = token_corpus(corpora, model.tokenizer, work / f"{model_id}.npz", space_before(model))
    found, control, how = fit(model, twin, parted(corpus, without))
    folder = EMBEDDED / model_id / FOLDER
    folder.mkdir(exist_ok=True)
    save_file({"w": found.w.half(), "b": found.b.half()}, folder / MAPS, {"format": "pt"})
    shipped = fitted_lens(model)
    assert shipped is not None
    record = {
        "command": f"make train MODEL=lens ARGS={model_id}",
        "weights": weights_hash(model_id),
        "lens": sha256(folder / MAPS),
        "left_out": len(without),
        **how,
        "held_out": held_out(model, shipped, control),
        **({} if model.config.causal else {"in_sight": in_sight(model, shipped)}),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(model_id, json.dumps(record), flush=True)


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("models", nargs="*", help="default: all that ship")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of <source>.txt.xz files")
    parser.add_argument("--work", type=Path, default=WORK, help="caches")
    parser.add_argument("--threads", type=int, default=1)
    parsed = parser.parse_args()
    torch.set_num_threads(parsed.threads)
    without = sharing((document for _, document in split(parsed.corpora)[0]), treebanks())
    print(f"{len(without)} documents share a sentence with a treebank", flush=True)
    for model_id in parsed.models or MODELS:
        write(model_id, parsed.corpora, parsed.work, without)


if __name__ == "__main__":
    main()
