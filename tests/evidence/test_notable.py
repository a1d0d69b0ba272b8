"""What ships about the heads of a model is true of that model, and a head is named only where it beats chance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel

from lab.analysis.heads.induction import model_induction
from lab.analysis.heads.walk import NEAR_UNIFORM
from lab.evidence.notable import (
    BETTER,
    JOBS,
    Doing,
    HeadJob,
    Notable,
    as_record,
    from_record,
    in_folder,
    job_of,
    measured,
    shipped,
    told,
)
from lab.evidence.treebank import ewt
from lab.models.catalogue import CATALOGUE, EMBEDDED, ships
from lab.models.loading import LoadedModel, load_model
from tests.checkpoints import write_checkpoint
from tests.thorough import one_by_day
from training.evaluation import weights_hash
from training.evaluation.head_accuracies import head_accuracies

SHIPPED = [entry.id for entry in CATALOGUE if ships(entry)]
VERB, BROAD = HeadJob("obj:head", "finds the verb of an object"), HeadJob("broad", "looks at all tokens alike")


@pytest.mark.parametrize("model_id", SHIPPED)
def test_the_record_is_of_the_weights_that_ship(model_id: str) -> None:
    record = json.loads((EMBEDDED / model_id / "heads.json").read_text("utf-8"))
    assert record["weights"] == weights_hash(model_id)
    assert as_record(in_folder(EMBEDDED / model_id) or ()) == record["jobs"]


@pytest.mark.parametrize("model_id", SHIPPED)
def test_heads_are_listed_best_first_and_above_chance(model_id: str) -> None:
    found = in_folder(EMBEDDED / model_id)
    assert found
    for each in found:
        scores = [doing.score for doing in each.heads]
        assert scores == sorted(scores, reverse=True)
        assert (each.chance is None) == (each.job.id == "broad")
        least = NEAR_UNIFORM if each.chance is None else each.chance + BETTER
        assert 0 < len(scores) <= 3 and scores[-1] >= least - 1e-3, each.job.id


@one_by_day
@pytest.mark.parametrize("model_id", SHIPPED)
def test_grammar_measured_again_on_a_part_of_the_treebank(model_id: str) -> None:
    again = head_accuracies(load_model(model_id), ewt()[::12])
    checked = 0
    for each in in_folder(EMBEDDED / model_id) or ():
        relation, _, end = each.job.id.partition(":")
        if end:
            scores = again.accuracy[again.of(relation), ..., ("head", "dependent").index(end)]
            for doing in each.heads:
                # Some 80 to 170 cases: three standard errors are at most 0.17.
                assert scores[doing.layer, doing.head] == pytest.approx(doing.score, abs=0.17)
                checked += 1
    assert checked >= 3


def test_places_measured_again_with_hugging_face() -> None:
    """What looks at the token before, after and at delimiters, from Hugging Face's own attentions."""
    folder = EMBEDDED / "lab-bert"
    model = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = load_model("lab-bert").tokenizer
    texts = [" ".join(sentence.words) for sentence in ewt() if 6 <= len(sentence.words) <= 24][:40]
    found: dict[str, list[np.ndarray]] = {"previous_token": [], "next_token": [], "delimiter": []}
    for text in texts:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            layers = model(torch.tensor([ids]), output_attentions=True).attentions
        attention = torch.cat(layers).numpy()  # (layers, heads, n, n)
        found["previous_token"].append(attention.diagonal(-1, 2, 3).mean(-1))
        found["next_token"].append(attention.diagonal(1, 2, 3).mean(-1))
        found["delimiter"].append(attention[:, :, 1:-1][..., [0, -1]].sum(-1).mean(-1))
    for each in in_folder(folder) or ():
        if each.job.id in found:
            scores = np.mean(found[each.job.id], axis=0)
            for doing in each.heads:
                assert scores[doing.layer, doing.head] == pytest.approx(doing.score, abs=0.05)
            assert scores.max() == pytest.approx(each.heads[0].score, abs=0.05)


def test_a_model_that_reads_no_sentence_whole_has_no_grammar(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "short", "bert", seed=5)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    tensors = load_file(folder / "model.safetensors")
    name = "bert.embeddings.position_embeddings.weight"
    tensors[name] = tensors[name][:3].clone()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 3}), "utf-8")
    found = measured(load_model(folder), grammar=20, patterns=3)
    assert [each.job.id for each in found if ":" in each.job.id] == []


def test_induction_measured_again() -> None:
    best = next(each for each in in_folder(EMBEDDED / "lab-gpt2") or () if each.job.id == "induction").heads[0]
    scores = model_induction(load_model("lab-gpt2"), 50, seed=99)
    assert scores[best.layer, best.head] == scores.max()
    assert scores.max() == pytest.approx(best.score, abs=0.1)


def test_there_and_back() -> None:
    found = (Notable(VERB, 0.35, (Doing(2, 0, 0.72), Doing(0, 1, 0.5))),)
    assert as_record(found) == {"obj:head": {"chance": 0.35, "heads": [[3, 1, 0.72], [1, 2, 0.5]]}}
    assert from_record(as_record(found)) == found
    assert found[0].heads[0].name == "3-1"


def test_a_head_with_two_jobs_has_the_one_that_it_is_farther_above_chance_in() -> None:
    weak, strong = Notable(BROAD, None, (Doing(0, 0, 0.91),)), Notable(VERB, 0.35, (Doing(0, 0, 0.6),))
    assert job_of((weak, strong), 0, 0) == (strong, strong.heads[0])
    assert job_of((weak, strong), 0, 1) is None


def test_what_each_head_does_is_told_once() -> None:
    found = (Notable(BROAD, None, (Doing(0, 0, 0.91),)), Notable(VERB, 0.35, (Doing(0, 0, 0.6), Doing(1, 2, 0.5))))
    assert told(found) == {(0, 0): VERB.does, (1, 2): VERB.does}
    assert told(None) == {}


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(write_checkpoint(tmp_path_factory.mktemp("m") / "gpt2", "gpt2", seed=5))


def test_random_weights_know_no_grammar_and_do_not_copy(untrained: LoadedModel) -> None:
    found = measured(untrained, grammar=60, patterns=6)
    assert not [each.job.id for each in found if each.job.id not in ("broad", "same_word", "delimiter")]
    assert all(doing.score >= NEAR_UNIFORM for each in found if each.job.id == "broad" for doing in each.heads)
    assert not shipped(untrained) and {each.job for each in found} <= set(JOBS)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"jobs": 5}',
        b'{"jobs": []}',
        b'{"jobs": {"broad": {}}}',
        b'{"jobs": {"broad": {"chance": null, "heads": [[1, 2]]}}}',
        b'{"jobs": {"broad": {"chance": null, "heads": [["a", "b", 1]]}}}',
        b'{"jobs":' + b"[" * 100_000,
        b'{"jobs": {"broad": {"chance": null, "heads": [[9, 1, 0.9]]}}}',  # of a deeper model
        b'{"jobs": {"broad": {"chance": null, "heads": [[1, 0, 0.9]]}}}',
        None,
    ],
)
def test_a_record_that_cannot_be_read_is_none(record: bytes | None, tmp_path: Path) -> None:
    """Beside an operator's model: its heads can then be measured, and no page fails."""
    folder = write_checkpoint(tmp_path / "mine", "bert")
    if record is None:
        (folder / "heads.json").mkdir()
    else:
        (folder / "heads.json").write_bytes(record)
    assert shipped(load_model(folder)) is None


def test_a_record_beside_an_operators_model_is_read(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "mine", "bert")
    (folder / "heads.json").write_text('{"jobs": {"broad": {"chance": null, "heads": [[2, 4, 0.9]]}}}')
    found = shipped(load_model(folder))
    assert found is not None and found[0].heads == (Doing(1, 3, 0.9),)
