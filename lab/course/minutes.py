"""How long a careful reader needs: for each step on the way through a lesson, and so for the lesson.

Counted with the default sentence: 130 words a minute, a minute for a figure, half a minute for a question.
"""

from __future__ import annotations

from collections.abc import Mapping

MINUTES: Mapping[str, Mapping[str, int]] = {
    "tokenization": {
        "Tokens": 2, "Normalize": 2, "Pre-tokens": 1, "Pieces": 3, "Special tokens": 2, "Check": 2,
    },
    "embeddings": {
        "Vectors": 3, "Like words": 3, "Sum": 3, "Position lab": 4, "Learned or computed": 3, "Check": 3,
    },
    "self-attention": {
        "Map": 3, "Queries and keys": 3, "Build a row": 3, "Scale": 3, "Values": 2, "Break it": 3, "Check": 3,
    },
    "multi-head-attention": {
        "All heads": 5, "Alike or different": 4, "Concatenate": 3, "Add up": 3, "One head off": 5, "Each head off": 5,
        "Check": 5,
    },
    "attention-metrics": {
        "All heads": 5, "Two heads": 4, "Six numbers": 6, "By hand": 4, "Parked heads": 5, "Check": 4,
    },
    "head-specialization": {
        "Tagged sentence": 4, "Seven metrics": 6, "Radar": 4, "Named patterns": 6, "Grammar": 4, "Check": 4,
    },
    "inter-sentence-attention": {
        "Sentences": 3, "Matrix": 4, "Special tokens": 3, "Pair or not": 3, "Check": 4,
    },
    "feed-forward": {
        "Order": 4, "Neurons": 4, "Activation": 3, "Excited by": 4, "In the blank": 4, "Residual": 4,
        "LayerNorm": 4, "Check": 4,
    },
    "masked-language-model": {
        "Hide words": 6, "From vector to word": 5, "Softmax": 5, "Logit lens": 5, "Without the mask": 4, "Check": 5,
    },
}  # fmt: skip
