"""Which token stands in which sentence, and the arithmetic behind one pair of sentences."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.between_sentences import inter_sentence, mean_cells
from lab.analysis.sentences.token_sentences import MOST, aside, expected, split
from lab.models.trace import Trace
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the mat. It was tired! Why?"


@pytest.fixture(params=["bert", "gpt2"])
def trace(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    family: Family = request.param
    return lab.trace(lab.load_model(tiny_checkpoint(family, seed=1)), TEXT, "The dog ran. It barked.")


def test_tokens_belong_to_the_sentence_their_characters_stand_in(trace: Trace) -> None:
    found = split(trace)
    assert found.texts == ("The cat sat on the mat.", "It was tired!", "Why?", "The dog ran.", "It barked.")
    assert found.in_pair == (False, False, False, True, True)
    assert (found.left_out, found.cut) == (0, 0)
    for place, sentence in enumerate(found.of_token):
        start, end = trace.offsets[place]
        text = trace.encoding.pair if trace.encoding.in_pair[place] else trace.encoding.text
        assert text is not None
        if sentence is None:
            assert text[start:end].strip() == ""
        else:
            assert text[start:end].strip() in found.texts[sentence]
    blank = [i for i, s in enumerate(found.of_token) if s is None and not trace.encoding.special[i]]
    assert found.blanks == len(blank)
    assert list(found.places(1)) == [place for place, sentence in enumerate(found.of_token) if sentence == 1]


def test_only_the_first_sentences_are_numbered(trace: Trace) -> None:
    found = split(trace, most=2)
    assert (len(found), found.left_out) == (2, 3)
    assert {sentence for sentence in found.of_token if sentence is not None} == {0, 1}


def test_sentences_without_tokens_get_no_number(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("bert")), "The cat sat. " * 200)
    found = split(trace, most=200)
    assert found.cut > 0
    assert len(found) + found.cut == 200
    assert sorted({s for s in found.of_token if s is not None}) == list(range(len(found)))
    assert split(trace).left_out == len(found) - MOST


def test_what_tokens_send_is_the_mass_and_its_expectation_the_correction(trace: Trace) -> None:
    sentences, causal = split(trace), is_causal(trace)
    for renormalise in (False, True):
        found = inter_sentence(trace, sentences.of_token, renormalise=renormalise)
        for a, b in np.ndindex(*found.mass.shape):
            even = expected(found, len(trace), causal, a, b)
            if np.isnan(found.relative[a, b]):
                assert causal and even == 0
                continue
            assert found.mass[a, b] / even == pytest.approx(found.relative[a, b], rel=1e-4)
            sent = mean_cells(trace, found, a, b).weights.sum(axis=1)
            assert len(sent) == len(found.members[a])
            assert sent.mean() == pytest.approx(found.mass[a, b], rel=1e-4)


def test_what_stands_aside_is_special_or_the_first_token(trace: Trace) -> None:
    sentences, others = split(trace), aside(trace, split(trace))
    assert others is not None
    if not trace.model.config.causal:
        assert others == sentences.of_token  # [CLS] and [SEP] stand in no sentence anyway
        return
    assert others == (None, *sentences.of_token[1:]) != sentences.of_token
    # A row of the mean over all heads, divided by what goes to the tokens that stay, worked out here.
    found = inter_sentence(trace, others, renormalise=True)
    queries = [i for i, sentence in enumerate(others) if sentence == 1]
    shares, mean = [], trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    for query in queries:
        row = {j: float(mean[query, j]) for j in range(query + 1) if others[j] is not None}
        shares.append(sum(w for j, w in row.items() if others[j] == 0) / sum(row.values()))
    assert found.mass[1, 0] == pytest.approx(np.mean(shares), rel=1e-4)
    seen = [[sentence for sentence in others[: query + 1] if sentence is not None] for query in queries]
    even = [own.count(0) / len(own) for own in seen]
    assert found.relative[1, 0] == pytest.approx(np.mean(shares) / np.mean(even), rel=1e-4)
    assert expected(found, len(trace), True, 1, 0) == pytest.approx(np.mean(even))
    outside = [place for place, sentence in enumerate(others) if sentence is None]  # white space, too
    gone = [
        float(trace.layer(layer).attention[:, query, outside].sum(-1).mean())
        for layer in range(trace.model.config.layers)
        for query in queries
    ]
    assert inter_sentence(trace, others).removed[1] == pytest.approx(np.mean(gone), rel=1e-4)


def test_a_sentence_of_one_token_keeps_it(tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint("gpt2")), "a", "The dog ran.")
    assert split(trace).places(0) == (0,)
    assert aside(trace, split(trace)) is None
