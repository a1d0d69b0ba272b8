"""Several texts in one pass are the same texts run one by one."""

from __future__ import annotations

import pytest
import torch

from lab.models.batches import by_length, contexts, embed_batch, layer_attentions, logits_of, rerun_batch, run_batch
from lab.models.encoding import Encoding, encode, padded
from lab.models.interventions import Interventions, Patch
from lab.models.loading import LoadedModel
from lab.models.trace import trace_encoding
from tests.checkpoints import CORPUS, WIDTH, Family
from tests.models.conftest import LabModel
from tests.models.reference import close

CHANGES = (
    Interventions(),
    Interventions(zero_heads=frozenset({(0, 1), (1, 2)}), uniform_heads=frozenset({(1, 0)})),
    Interventions(mean_heads=frozenset({(1, 3)}), no_positions=True, blocked=frozenset({(2, 1)})),
)


def encoded(model: LoadedModel) -> list[Encoding]:
    return [encode(model.tokenizer, model.config, text) for text in CORPUS]


def batches(model: LoadedModel, most: int) -> list[list[Encoding]]:
    texts = encoded(model)
    return [[texts[place] for place in batch] for batch in by_length(texts, lambda _: most)]


@pytest.mark.parametrize("changes", CHANGES, ids=["plain", "heads", "more"])
def test_a_batch_is_its_texts_one_by_one(lab_model: LabModel, family: Family, changes: Interventions) -> None:
    model = lab_model(family)
    for batch in batches(model, 3):
        found = run_batch(model, batch, changes)
        for number, encoding in enumerate(batch):
            close(found[:, number], trace_encoding(model, encoding, changes).hidden_states, 1e-5)


def test_a_rerun_begins_at_the_first_changed_head(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    batch = batches(model, 3)[0]
    plain = run_batch(model, batch)
    for heads in ({(0, 1)}, {(1, 2)}, {(0, 0), (1, 3)}, set()):
        for changes in (Interventions(zero_heads=frozenset(heads)), Interventions(mean_heads=frozenset(heads))):
            for at, expected in enumerate(run_batch(model, batch, changes)):
                close(rerun_batch(model, plain, changes, at), expected, 1e-5)
    with pytest.raises(ValueError, match="more than heads"):
        rerun_batch(model, plain, CHANGES[2], 2)
    with pytest.raises(ValueError, match="no head 9"):
        rerun_batch(model, plain, Interventions(zero_heads=frozenset({(0, 9)})), 2)


def test_attention_is_that_of_each_text_alone(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    for batch in batches(model, 3):
        together = torch.stack(list(layer_attentions(model, batch)))
        for number, encoding in enumerate(batch):
            close(together[:, number], trace_encoding(model, encoding).attention, 1e-5)


def test_contexts_are_those_of_the_traces(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    batch = max(batches(model, 3), key=len)
    found = contexts(model, run_batch(model, batch))
    for number, encoding in enumerate(batch):
        plain = trace_encoding(model, encoding)
        for layer in range(model.config.layers):
            close(found[layer, number], plain.layer(layer).context, 1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2", "modernbert"])
def test_a_few_logits_are_those_of_the_whole_vocabulary(lab_model: LabModel, family: Family) -> None:
    model = lab_model(family)
    plain = trace_encoding(model, encoded(model)[0])
    words = [7, 3, 50]
    with torch.inference_mode():
        close(logits_of(model, plain.hidden_states[-1], words), plain.logits(range(len(plain)))[:, words], 1e-5)


def test_the_shortest_texts_come_first_and_a_batch_is_bounded(lab_model: LabModel) -> None:
    model = lab_model("bert")
    one, two = sorted(encoded(model)[:2], key=len)
    assert len(one) < len(two)
    mixed = [one, two, one, two, one]
    assert list(by_length(mixed, lambda n: 3 if n == len(one) else 1)) == [[0, 2, 4], [1], [3]]
    assert list(by_length([], lambda n: n)) == []


def test_every_text_is_in_one_batch_of_its_length(lab_model: LabModel) -> None:
    texts = encoded(lab_model("bert"))
    found = list(by_length(texts, lambda n: 2 if n < 12 else 0))
    assert sorted(place for batch in found for place in batch) == list(range(len(texts)))
    for batch in found:
        (n,) = {len(texts[place]) for place in batch}
        assert len(batch) <= (2 if n < 12 else 1)


def test_what_is_no_batch_is_refused(lab_model: LabModel) -> None:
    model = lab_model("bert")
    one, two = encoded(model)[:2]
    assert len(one) != len(two)
    with pytest.raises(ValueError, match="one length"):
        embed_batch(model, [one, two])
    filled = padded(model, one, 2)
    assert filled is not None
    with pytest.raises(ValueError, match="without padding"):
        embed_batch(model, [filled])
    with pytest.raises(ValueError, match="one text"):
        run_batch(model, [one], Interventions(patches=(Patch(0, 0, torch.zeros(WIDTH)),)))
    with pytest.raises(ValueError, match="no head 9"):
        run_batch(model, [one], Interventions(zero_heads=frozenset({(0, 9)})))
