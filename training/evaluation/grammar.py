"""What the training of ``lab-minilm`` is held to: the grammar of its heads, on UD English EWT dev.

    python -m training.evaluation.grammar lab/models/embedded/lab-bert

See :mod:`lab.evidence.relation_cases` for how it is measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from lab.evidence.treebank import ewt
from lab.models.families.registry import read_weights
from lab.models.loading import Checkpoint, LoadedModel, load_model
from training.command_line import documented
from training.evaluation.head_accuracies import HeadAccuracies, head_accuracies

# Those with a name in table 1 of Clark et al. 2019 and enough cases in EWT dev.
RELATIONS = ("case", "nsubj", "det", "obj", "aux", "cop", "ccomp")


def loaded(model: BertForPreTraining, tokenizer: Tokenizer) -> LoadedModel:
    """The weights of a model in training, as the lab reads them."""
    checkpoint = Checkpoint(model.config.to_dict(), {name: tensor.cpu() for name, tensor in model.state_dict().items()})
    return LoadedModel("in training", read_weights(checkpoint.config, checkpoint.tensors), tokenizer, checkpoint)


def table(model: LoadedModel, count: int | None = None) -> dict[str, dict[str, Any]]:
    """For each of :data:`RELATIONS`: cases, best offset, best head and its name; and the means over all of them."""
    found = head_accuracies(model, ewt()[:count])
    rows = {relation: _row(found, relation) for relation in RELATIONS}
    rows["mean"] = {key: round(sum(rows[r][key] for r in RELATIONS) / len(RELATIONS), 3) for key in ("offset", "best")}
    return rows


def _row(found: HeadAccuracies, relation: str) -> dict[str, Any]:
    place = found.of(relation)
    best = found.accuracy[place]
    layer, head, _ = np.unravel_index(best.argmax(), best.shape)
    return {
        "count": int(found.counts[place]),
        "offset": round(float(found.offset_accuracy[place]), 3),
        "best": round(float(best.max()), 3),
        "head": f"{layer + 1}-{head + 1}",
    }


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    for relation, row in table(load_model(parser.parse_args().folder)).items():
        print(f"{relation:6} {json.dumps(row)}")


if __name__ == "__main__":
    main()
