"""The lenses that ship: how they are fitted, what is measured of them, and that the cards say so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertModel, GPT2Model

from lab.course.pages import disclosed
from lab.models.catalogue import EMBEDDED
from lab.models.fitted_lens import FOLDER, MAPS, RECORD, fitted_lens
from lab.models.loading import load_model
from lab.models.reference import reference
from lab.models.twin import random_twin
from tests.conftest import TinyCheckpoint
from tests.thorough import at_night
from tests.training.conftest import Corpora
from training.card_parts import lenses
from training.corpus import TokenCorpus
from training.evaluation import sha256, weights_hash
from training.evaluation.lens import MODELS, Control, compared, held_out, in_sight, states_at, windows
from training.lens import STRENGTHS, Moments, chosen, parted, sharing, treebanks
from training.windows import Batch


@pytest.mark.parametrize("strength", [1e-6, 1e-2, 1.0])
def test_a_map_is_the_ridge_regression_that_numpy_finds(strength: float) -> None:
    """Least squares of the centred numbers, with a row of √λ for each dimension below them."""
    draw = np.random.default_rng(0)
    x, y = draw.normal(2, 3, (2, 90, 5)).astype(np.float32), draw.normal(-1, 2, (90, 5)).astype(np.float32)
    sums = Moments.none(2, 5)
    for part in (slice(0, 50), slice(50, 90)):
        sums.add(torch.from_numpy(x[:, part]), torch.from_numpy(y[part]))
    found = sums.ridge(strength)
    for state, own in enumerate(x.astype(np.float64)):
        centred, target = own - own.mean(0), y - y.mean(0, dtype=np.float64)
        penalty = np.sqrt(strength * centred.var(0).mean() * len(own)) * np.eye(5)
        w, *_ = np.linalg.lstsq(np.vstack([centred, penalty]), np.vstack([target, np.zeros((5, 5))]), rcond=None)
        assert np.abs(found.w[state].numpy() - w).max() < 1e-5
        shift = y.mean(0, dtype=np.float64) - own.mean(0) @ w
        assert np.abs(found.b[state].numpy() - shift).max() < 1e-5


def test_each_state_gets_the_strength_with_the_least_divergence(tiny_checkpoint: TinyCheckpoint) -> None:
    model, draw = load_model(tiny_checkpoint("bert")), torch.Generator().manual_seed(0)
    x, last = torch.randn(2, 40, 32, generator=draw), torch.randn(40, 32, generator=draw)
    x[1] += last
    sums = Moments.none(2, 32)
    sums.add(x[:, :34], last[:34])
    head: Any = reference(model)
    with torch.inference_mode():
        own = head.cls.predictions(last[34:]).log_softmax(-1)
        found, strengths = chosen(sums, [(x[:, 34:], own)], model)
        for state, strength in enumerate(strengths):
            apart = []
            for each in STRENGTHS:
                lens = sums.ridge(each)
                read = head.cls.predictions(x[state, 34:] @ lens.w[state] + lens.b[state]).log_softmax(-1)
                apart.append(float(torch.nn.functional.kl_div(read, own, reduction="batchmean", log_target=True)))
            assert strength == STRENGTHS[int(np.argmin(apart))]
            assert torch.equal(found.w[state], sums.ridge(strength).w[state])


def test_what_is_compared_is_their_divergence_and_the_share_by_hand() -> None:
    own, read = (torch.randn(7, 11, generator=torch.Generator().manual_seed(i)).log_softmax(-1) for i in (0, 1))
    truths = torch.arange(7)
    same, true, apart = compared(own, read, truths)
    assert same == sum(int(a.argmax()) == int(b.argmax()) for a, b in zip(own, read, strict=True))
    assert true == pytest.approx(sum(float(read[i, i].exp()) for i in range(7)), rel=1e-5)
    assert apart == pytest.approx(
        float(torch.nn.functional.kl_div(read, own, reduction="sum", log_target=True)), rel=1e-5
    )


def documents(corpus: TokenCorpus) -> set[int]:
    return set(corpus.document_of.tolist())


def test_no_document_is_fitted_on_and_chosen_on(wordpiece: Corpora) -> None:
    train, _ = wordpiece[1]
    fitting, choosing = parted(train, [3, 20])
    assert documents(fitting) | documents(choosing) == documents(train) - {3, 20}
    assert not documents(fitting) & documents(choosing)
    sentences = np.split(train.tokens, train.sentence_starts[1:-1])
    for part, aside in ((fitting, False), (choosing, True)):
        kept = [
            sentence
            for sentence, document in zip(sentences, train.document_of, strict=True)
            if (document % 10 == 0) == aside and document not in (3, 20)
        ]
        assert [s.tolist() for s in np.split(part.tokens, part.sentence_starts[1:-1])] == [s.tolist() for s in kept]


def test_documents_with_a_sentence_of_a_treebank_are_found() -> None:
    sentence = "Who else is involved in this project, then?"
    texts = [
        "Nothing. Here is nothing.",
        f'He asked: "{sentence}"',
        f"Yes. {sentence.upper()} No.",
        f"{sentence} Well.",
    ]
    assert sharing(texts, ["".join(sentence.replace("?", " ?").split())]) == [2, 3]
    found = treebanks()
    assert len(found) > 2500 and all(len(each) > 8 for each in found)


@pytest.fixture
def batch() -> Batch:
    ids = torch.randint(5, 60, (3, 9), generator=torch.Generator().manual_seed(2))
    return Batch(ids, torch.zeros_like(ids), None, torch.tensor([1, 8, 9, 20]), torch.tensor([5, 6, 7, 8]))


def test_the_states_are_theirs(tiny_checkpoint: TinyCheckpoint, batch: Batch) -> None:
    theirs = BertModel.from_pretrained(tiny_checkpoint("bert")).eval()
    with torch.inference_mode():
        states = theirs(batch.inputs, token_type_ids=batch.segments, output_hidden_states=True).hidden_states
    expected = torch.stack([each.flatten(0, 1)[batch.chosen] for each in states])
    assert (states_at(load_model(tiny_checkpoint("bert")), batch) - expected).abs().max() < 1e-5


def test_the_last_state_of_gpt2_is_what_its_final_norm_is_given(tiny_checkpoint: TinyCheckpoint, batch: Batch) -> None:
    theirs, given = GPT2Model.from_pretrained(tiny_checkpoint("gpt2")).eval(), []
    theirs.ln_f.register_forward_pre_hook(lambda _, args: given.append(args[0]))
    with torch.inference_mode():
        theirs(batch.inputs)
    expected = given[0].flatten(0, 1)[batch.chosen]
    assert (states_at(load_model(tiny_checkpoint("gpt2")), batch)[-1] - expected).abs().max() < 1e-4


def test_a_bert_is_asked_at_its_blanks(wordpiece: Corpora, tiny_checkpoint: TinyCheckpoint) -> None:
    tokenizer, (train, _) = wordpiece
    model = load_model(tiny_checkpoint("bert"))
    model = type(model)(model.id, model.weights, tokenizer, model.source)
    mask, rows = tokenizer.token_to_id("[MASK]"), 0
    for found in windows(model, train, 40, seed=0):
        assert sorted(found.chosen.tolist()) == [
            i for i, word in enumerate(found.inputs.flatten().tolist()) if word == mask
        ]
        assert mask not in found.labels.tolist()
        rows += len(found.inputs)
    assert rows == 40


def test_gpt2_is_asked_everywhere_but_at_the_first(bpe: Corpora, tiny_checkpoint: TinyCheckpoint) -> None:
    tokenizer, (train, _) = bpe
    model = load_model(tiny_checkpoint("gpt2"))
    model = type(model)(model.id, model.weights, tokenizer, model.source)
    found = list(windows(model, train, 40, seed=0))
    assert sum(len(each.inputs) for each in found) == 40
    for each in found:
        flat, (rows, width) = each.inputs.flatten(), each.inputs.shape
        assert sorted(each.chosen.tolist()) == [i for i in range(rows * width) if i % width]
        after = {int(at): int(word) for at, word in zip(each.chosen, each.labels, strict=True)}
        assert all(after[i] == int(flat[i + 1]) for i in after if i + 1 in after)


@pytest.mark.parametrize("model_id", MODELS)
def test_a_reader_of_the_grammar_is_told_how_many_documents_the_model_had_read(model_id: str) -> None:
    record = json.loads((EMBEDDED / model_id / FOLDER / RECORD).read_text("utf-8"))
    assert f"{record['left_out']} documents of its training texts" in disclosed("grammar", model_id)


@pytest.mark.parametrize("model_id", MODELS)
def test_the_record_is_of_the_files_that_ship_and_the_card_says_what_it_holds(model_id: str) -> None:
    folder = EMBEDDED / model_id
    record = json.loads((folder / FOLDER / RECORD).read_text("utf-8"))
    assert record["weights"] == weights_hash(model_id) and record["lens"] == sha256(folder / FOLDER / MAPS)
    assert model_id in record["command"]
    assert lenses(model_id) in (folder / "MODEL_CARD.md").read_text("utf-8")


@at_night
@pytest.mark.parametrize("model_id", MODELS)
def test_measured_again_on_a_part_it_reads_as_recorded_and_better_than_the_plain_one(model_id: str) -> None:
    torch.set_num_threads(1)
    model = load_model(model_id)
    lens, record = fitted_lens(model), json.loads((EMBEDDED / model_id / FOLDER / RECORD).read_text("utf-8"))
    assert lens is not None
    found = held_out(model, lens, rows=200)
    assert found["places"] > 1000
    for kind in ("plain", "fitted"):
        # A share of a thousand places is within .05 of its own, three standard errors; so is a mean probability.
        for key, far in (("agreement", 0.05), ("probability", 0.05), ("divergence", 0.5)):
            assert found[kind][key] == pytest.approx(record["held_out"][kind][key], abs=far)
    for before in range(model.config.layers):
        # Before the first layer a hidden word is nothing but its place: least squares then guess the mean state, of
        # which the head may be surer than of any other.
        assert not before or found["fitted"]["divergence"][before] < found["plain"]["divergence"][before]
        assert found["fitted"]["agreement"][before] >= found["plain"]["agreement"][before]
    # What the twin's map can guess, the trained layers tell better.
    of = {kind: record["held_out"][kind]["divergence"] for kind in ("untrained", "fitted")}
    assert all(twin > own for twin, own in list(zip(of["untrained"], of["fitted"], strict=True))[1:])


def test_the_control_reads_the_twin(tiny_checkpoint: TinyCheckpoint) -> None:
    """A control that guesses nothing but zeros says the same after every layer; the model's own lenses do not."""
    model = load_model("lab-bert")
    lens = fitted_lens(model)
    assert lens is not None
    nothing = type(lens)(torch.zeros(5, 256, 256), torch.zeros(5, 256))
    found = held_out(model, lens, Control(random_twin(model), nothing), rows=20)
    assert len(set(found["untrained"]["divergence"])) == 1 and len(set(found["fitted"]["divergence"])) == 5


@at_night
@pytest.mark.parametrize("model_id", MODELS)
def test_words_in_plain_sight_read_again_as_recorded(model_id: str) -> None:
    torch.set_num_threads(1)
    model = load_model(model_id)
    lens, record = fitted_lens(model), json.loads((EMBEDDED / model_id / FOLDER / RECORD).read_text("utf-8"))
    assert lens is not None
    assert ("in_sight" in record) != model.config.causal
    if not model.config.causal:
        again = in_sight(model, lens, rows=40)
        assert again["places"] > 1000
        for kind in ("plain", "fitted"):
            assert again[kind] == pytest.approx(record["in_sight"][kind], abs=0.05)
