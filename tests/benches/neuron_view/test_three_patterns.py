"""The keys of [SEP] beside those of words: Hugging Face's keys, and a sentence that these bear out on every text."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.walk import walk
from lab.benches.neuron_view import three_patterns
from lab.benches.neuron_view.three_patterns import WORDS, delimiter_said, keys_beside_words
from lab.course.sentences.examples import EXAMPLES
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from tests.models.reference import load_theirs
from tests.thorough import one_by_day, some

(DELIMITER,) = (pattern for pattern in PATTERNS if pattern.id == "delimiter")


def keys_of_theirs(trace: Trace, layer: int, head: int) -> torch.Tensor:
    """The keys of a head, (n, d_k), as the linear layer of Hugging Face's module computes them."""
    theirs = load_theirs(EMBEDDED / trace.model.id, "bert")
    caught: list[torch.Tensor] = []
    linear = theirs.part("attention.self.key", "", "", "", layer)
    hook = linear.register_forward_hook(lambda _module, _inputs, output: caught.append(output[0]))
    theirs.run(trace.text, trace.pair or None)
    hook.remove()
    return caught[0].unflatten(-1, (trace.model.config.heads, -1))[:, head]


@one_by_day
@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert"])
@pytest.mark.parametrize("pair", [None, "It slept all day on the old chair."])
def test_the_sentence_is_true_of_hugging_face_s_keys(model: str, pair: str | None) -> None:
    for text in some([each.text for each in EXAMPLES if each.text], 3):
        trace = lab.trace(lab.load_model(model), text, pair)
        found = walk(trace, DELIMITER)
        assert found is not None
        at = found.best.layer, found.best.head
        keys = keys_of_theirs(trace, *at).double()
        ends = [i for i, token in enumerate(trace.tokens) if token == "[SEP]"]
        own = [i for i, token in enumerate(trace.tokens) if token not in ("[CLS]", "[SEP]")]
        cosines = torch.nn.functional.cosine_similarity(keys[:, None], keys[None], dim=-1).numpy()
        shown = three_patterns.delimiter_keys(trace, *at)
        assert shown is not None and list(shown.ends) == ends
        beyond = cosines[np.ix_(ends, own)].max()
        told = [float(each.replace("−", "-")) for each in re.findall(r"\*\*(−?[\d.]+)\*\*", delimiter_said(shown))]
        if pair is None:
            assert told == pytest.approx([beyond], abs=0.0051)
        else:
            between = cosines[ends[0], ends[1]]
            assert told == pytest.approx([between, beyond], abs=0.0051)
            assert ("are alike" in delimiter_said(shown)) == (between >= beyond + 0.05)
        drawn = sorted(own, key=lambda i: -cosines[ends, i].max())[:WORDS]
        assert list(shown.words) == sorted(drawn)
        rows = keys_beside_words(trace, *at).table().to_numpy()
        np.testing.assert_allclose(rows, keys[[*ends, *sorted(drawn)]].numpy(), atol=2e-5)
        dimension = re.search(r"Dimension (\d+) tells them apart", delimiter_said(shown))
        split = [
            keys[ends, d].min() > keys[own, d].max() or keys[ends, d].max() < keys[own, d].min()
            for d in range(keys.shape[1])
        ]
        assert (dimension is not None) == any(split)
        assert dimension is None or split[int(dimension[1]) - 1]


def test_without_delimiters_nothing_is_compared() -> None:
    assert three_patterns.delimiter_keys(lab.trace(lab.load_model("lab-gpt2"), "The cat sat."), 0, 0) is None
    with pytest.raises(ValueError, match="no delimiter"):
        keys_beside_words(lab.trace(lab.load_model("lab-gpt2"), "The cat sat."), 0, 0)
