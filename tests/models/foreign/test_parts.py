"""Has a model this part? Asked of the model, the answer is that of Hugging Face's tokenizer and of the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import lab
from lab.analysis.words.masking import asked_run, masked_run
from lab.analysis.words.predictions import predictions
from lab.benches.compare.comparable import hidden
from lab.evidence.pairs import can_be_asked
from lab.figures.machine_of_run import machine
from lab.models.batches import run_batch
from lab.models.encoding import Encoding, TextError, encode, padded
from lab.models.families.registry import FAMILIES
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import trace_encoding
from lab.models.twin import random_twin
from tests.checkpoints import Family
from tests.models.conftest import CopyOf
from tests.models.folders import change_config, change_tensors
from tests.models.foreign.sweep import TEXT, refusal

_TEXT_FAMILIES: tuple[Family, ...] = ("bert", "roberta", "gpt2", "modernbert")
_OTHERS = ("[mask]", "<|mask|>", "▢")


def rename(folder: Path, names: dict[str, str]) -> None:
    """Give the special tokens of a folder other names, wherever its files have them."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (folder / name).read_text(encoding="utf-8")
        for old, new in names.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("family", ["bert", "roberta", "modernbert"])
@pytest.mark.parametrize("mask", _OTHERS)
def test_the_mask_is_the_token_that_the_settings_name(copy_of: CopyOf, family: Family, mask: str) -> None:
    folder = copy_of(family)
    rename(folder, {"[MASK]": mask, "<mask>": mask, "[UNK]": "[?]", "<unk>": "[?]", "[PAD]": "[-]", "<pad>": "[-]"})
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    model = lab.load_model(folder)
    assert refusal(folder) is None and not model.no_words
    assert model.mask == (mask, theirs.mask_token_id) and theirs.mask_token == mask
    assert model.padding == ("[-]", theirs.pad_token_id) and model.unknown == theirs.unk_token_id
    asked = asked_run(lab.trace(model, "The cat sat on the mat."))
    assert asked is not None and asked[0].token_ids[asked[1]] == theirs.mask_token_id
    assert lab.trace(model, f"The {mask} sat.").token_ids.count(theirs.mask_token_id) == 1


@pytest.mark.parametrize("family", _TEXT_FAMILIES)
def test_the_first_token_is_the_one_that_the_tokenizer_puts_there(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    rename(folder, {"[CLS]": "<cls>"})
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    first = theirs.convert_ids_to_tokens(theirs("The cat")["input_ids"])[0]
    own = first in theirs.all_special_tokens
    assert lab.load_model(folder).first_token == (first if own else None)
    described = json.loads((folder / "tokenizer.json").read_text()) | {"post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "tokenizer_class": "TokenizersBackend"}))
    assert lab.load_model(folder).first_token is None


def test_a_mask_without_a_row_is_no_mask(copy_of: CopyOf) -> None:
    folder = copy_of("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "<hide>"})
    tokenizer.save_pretrained(folder)
    model = lab.load_model(folder)
    assert model.mask is None and "mask" in model.no_words and not model.headless
    assert asked_run(lab.trace(model, TEXT)) is None
    with pytest.raises(ValueError, match="mask"):
        can_be_asked(model)


@pytest.mark.parametrize("name", ["ElectraForMaskedLM", "ElectraForPreTraining", "BertModel", "RobertaModel"])
def test_one_reason_why_a_model_predicts_no_words(copy_of: CopyOf, name: str) -> None:
    stem: Family = next(each for each in ("electra", "bert", "roberta") if name.lower().startswith(each))
    folder = copy_of(stem)
    kind = getattr(transformers, name)
    kind(kind.config_class.from_pretrained(folder)).save_pretrained(folder)
    model = lab.load_model(folder)
    trace = lab.trace(model, TEXT)
    said = model.no_words
    assert ("discriminator:" in said) == (name == "ElectraForPreTraining")
    assert ("generator" in said) == (name == "ElectraForMaskedLM")
    asked = (
        lambda: trace.logits(0),
        lambda: can_be_asked(model),
        lambda: predictions(trace, [0], [None]),
        lambda: hidden(trace, 1),
    )
    for ask in asked:
        with pytest.raises(ValueError) as caught:
            ask()
        assert str(caught.value) == said
    assert machine(trace).unread == said
    assert not machine(masked_run(trace, (2,)), 2).words, "its mask is in the text, and there are no words to show"


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "distilbert"])
@pytest.mark.parametrize("places", [1, 2, 3, 4, 5, 6])
def test_few_places_and_a_pair(copy_of: CopyOf, family: Family, places: int) -> None:
    """Two texts have more special tokens around them than one; if no word fits between, a sentence says so."""
    folder = copy_of(family)
    rows = places + 2 * (family == "roberta")
    change_config(folder, max_position_embeddings=rows)
    change_tensors(
        folder, lambda ts: {n: t[:rows].contiguous() if "position_embeddings" in n else t for n, t in ts.items()}
    )
    model = lab.load_model(folder)
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    for text, pair in (("cat", "dog"), ("The cat sat.", "It slept."), ("The", "cat sat on the mat again and again")):
        around = theirs.num_special_tokens_to_add(pair=True)
        given = theirs(text, pair, truncation=True, max_length=places) if places > around else None
        if given is None or not {0, 1} <= {*given.sequence_ids()}:
            with pytest.raises(TextError, match=rf"only {places} places.*{around} special tokens.*each text"):
                lab.trace(model, text, pair)
        else:
            assert list(lab.trace(model, text, pair).token_ids) == given["input_ids"]


def test_a_twin_reads_as_its_model_does(copy_of: CopyOf) -> None:
    """The tokenizer's settings limit both: the number of tokens, the side that is cut, the numbers of segments."""
    folder = copy_of("bert")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings |= {"model_max_length": 9, "truncation_side": "left", "model_input_names": ["input_ids", "attention_mask"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model = lab.load_model(folder)
    twin = random_twin(model)
    for text, pair in ((TEXT, None), (TEXT, "A second one.")):
        one, other = lab.trace(model, text, pair), lab.trace(twin, text, pair)
        assert (one.token_ids, one.segment_ids) == (other.token_ids, other.segment_ids) and len(one) == 9
    assert (twin.mask, twin.padding, twin.named) == (model.mask, model.padding, model.named)


# --- Numbers that are none


def _grown(folder: Path, part: str, times: float) -> LoadedModel:
    change_tensors(folder, lambda ts: {n: t * times if n.endswith(part) else t for n, t in ts.items()})
    return lab.load_model(folder)


@pytest.mark.parametrize(
    ("family", "part"),
    [
        ("bert", "intermediate.dense.weight"),
        ("bert", "output.dense.weight"),
        ("bert", "attention.self.value.weight"),
        ("bert", "query.weight"),
        ("roberta", "intermediate.dense.weight"),
        ("distilbert", "lin1.weight"),
        ("gpt2", "mlp.c_proj.weight"),
        ("gpt2", "mlp.c_fc.weight"),
        ("gpt2", "wte.weight"),
        ("modernbert", "mlp.Wi.weight"),
        ("modernbert", "attn.Wo.weight"),
    ],
)
def test_a_run_that_overflows_says_so_or_has_numbers(copy_of: CopyOf, family: Family, part: str) -> None:
    for times in (1e8, 1e15, 1e20, 1e30, 1e36):
        model = _grown(copy_of(family), part, times)
        try:
            run = lab.trace(model, TEXT)
        except TextError as error:
            assert model.id in str(error) and "32 bits" in str(error)
            with pytest.raises(TextError, match="32 bits"):
                run_batch(model, [encode(model.tokenizer, model.config, TEXT)])
            continue
        assert np.isfinite(run.hidden_states.norm(dim=-1).numpy()).all(), times
        for layer in range(model.config.layers):
            try:
                inside = run.layer(layer)
            except TextError as error:
                assert "32 bits" in str(error)
                continue
            for name, found in vars(inside).items():
                if isinstance(found, torch.Tensor) and name != "scaled_scores":
                    assert found.norm(dim=-1).isfinite().all(), (times, layer, name)


def test_scores_that_overflow_say_so(copy_of: CopyOf) -> None:
    model = _grown(copy_of("bert"), "cls.predictions.transform.LayerNorm.weight", 1e38)
    assert model.vocabulary_head.norm is not None  # its numbers are finite, though their sum is not
    trace = lab.trace(model, TEXT)
    with pytest.raises(TextError, match="32 bits"):
        trace.logits(1)


# --- Padding


def _local(folder: Path, window: int) -> LoadedModel:
    change_config(folder, local_attention=2 * window, layer_types=["sliding_attention"] * 2)
    return lab.load_model(folder)


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_padding_that_would_see_only_padding(copy_of: CopyOf, window: int, count: int) -> None:
    """Hugging Face's numbers for the real tokens, or no padded run."""
    folder = copy_of("modernbert")
    model = _local(folder, window)
    plain = encode(model.tokenizer, model.config, TEXT)
    filled = padded(model, plain, count)
    assert (filled is None) == (count > window)
    if filled is None:
        return
    run = trace_encoding(model, filled)
    n = len(plain)
    theirs = transformers.ModernBertModel.from_pretrained(folder, attn_implementation="eager").eval()
    mask = torch.tensor([[1] * n + [0] * count])
    with torch.inference_mode():
        states = theirs(input_ids=torch.tensor([filled.token_ids]), attention_mask=mask).last_hidden_state[0]
    assert torch.allclose(run.output[:n], states[:n], atol=1e-4)
    assert torch.allclose(run.output[:n], trace_encoding(model, plain).output, atol=1e-4)


def test_a_padded_run_by_hand_is_checked_as_blocked_links_are(copy_of: CopyOf) -> None:
    model = _local(copy_of("modernbert"), 2)
    plain = encode(model.tokenizer, model.config, TEXT)

    def by_hand(count: int) -> Encoding:
        return Encoding(**{**vars(plain), "padding": count})

    with pytest.raises(ValueError, match="nothing left to attend to"):
        trace_encoding(model, by_hand(4))
    links = frozenset((0, key) for key in (0, 1, 2))
    with pytest.raises(ValueError, match="nothing left to attend to"):
        trace_encoding(model, by_hand(1), Interventions(blocked=links))
    bert = lab.load_model(copy_of("bert"))
    plain = encode(bert.tokenizer, bert.config, "cat")
    real = frozenset((0, key) for key in range(len(plain) - 1))
    with pytest.raises(ValueError, match="nothing left to attend to"):
        trace_encoding(bert, by_hand(1), Interventions(blocked=real))


def test_every_family_without_a_head_names_itself() -> None:
    assert {name for name, family in FAMILIES.items() if family.decoder is None} == {"electra"}
