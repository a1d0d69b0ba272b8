"""For a folder that does not ship with the lab, the ids are AutoTokenizer's, or the folder is refused in a sentence."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import lab
from lab.models.encoding import Encoding, TextError
from lab.models.trace import trace_encoding
from tests.checkpoints import CORPUS, FEED_FORWARD, HEADS, LAYERS, WIDTH, Family
from tests.models.conftest import CopyOf
from tests.models.folders import change_config, change_tensors
from tests.models.foreign.sweep import TEXT, refusal
from tests.thorough import THOROUGH, one_by_day, some

_TEXT_FAMILIES: tuple[Family, ...] = ("bert", "roberta", "gpt2", "modernbert")
_PARTS = ("post_processor", "normalizer", "pre_tokenizer", "decoder", "added_tokens", "truncation", "padding", "model")
# Settings of tokenizer_config.json, each with other values than the tiny checkpoints have.
_SETTINGS: Mapping[str, tuple[Any, ...]] = {
    "do_lower_case": (False, True, None, "x"),
    "strip_accents": (True, False),
    "tokenize_chinese_chars": (False,),
    "add_prefix_space": (True, False, None),
    "trim_offsets": (False,),
    "tokenizer_class": (
        *("BertTokenizer", "BertTokenizerFast", "RobertaTokenizer", "GPT2Tokenizer", "PreTrainedTokenizerFast"),
        *("TokenizersBackend", "ClassOfNobody", "CanineTokenizer", "PhobertTokenizer", "XLMRobertaTokenizer"),
        *("MistralCommonBackend", None, 5, ...),
    ),
    "auto_map": ({"AutoTokenizer": ["code.Slow", "code.Fast"]}, {"AutoTokenizer": ["code.Slow", None]}, "x", None),
    "add_bos_token": (True,),
    "unk_token": ("the", "[NEW]", None),
    "cls_token": ("[NEW]", None),
    "sep_token": ("the",),
    "mask_token": (None, "[NEW]"),
    "pad_token": ("[NEW]",),
    "extra_special_tokens": (["cat", "[X]"], {"a": "[X]"}, 5),
    "model_input_names": (["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"]),
    "model_max_length": (3, 20, 20.5, None, "x", 0, -4, 10**30),
    "truncation_side": ("left", "nowhere"),
    "padding_side": ("left",),
    "added_tokens_decoder": ({"900": {"content": "zzz", "special": True}}, 5),
    "split_special_tokens": (True, False),
    "additional_special_tokens": (["cat"], ["[X]"]),
    "clean_up_tokenization_spaces": (True,),
    "add_eos_token": (True,),
    "bos_token": ("the",),
    "eos_token": ("the",),
    "errors": ("strict",),
    "legacy": (False,),
    "never_split": (["cat"],),
    "do_basic_tokenize": (False,),
    "max_length": (7,),
    "stride": (2,),
    "truncation_strategy": ("only_first",),
    "truncation": (True,),
    "padding": ("max_length",),
    "use_fast": (False,),
    "from_slow": (True,),
    "is_split_into_words": (True,),
    "tokenizer_file": ("nowhere.json",),
    "name_or_path": ("nowhere",),
    "normalizer": (None,),
}


def replace_token(encoding: Encoding, place: int, token_id: int) -> Encoding:
    ids = (*encoding.token_ids[:place], token_id, *encoding.token_ids[place + 1 :])
    return dataclasses.replace(encoding, token_ids=ids)


def _change(path: Path, **settings: Any) -> None:
    """Set entries of a JSON file; ``...`` removes one."""
    content = json.loads(path.read_text(encoding="utf-8")) | settings
    path.write_text(json.dumps({name: value for name, value in content.items() if value is not ...}))


@pytest.mark.parametrize("family", some(_TEXT_FAMILIES, 2))
def test_every_setting_of_the_tokenizer(copy_of: CopyOf, family: Family) -> None:
    """By day the ids are compared and the numbers of a pair; its segments are the tokenizer's, too."""
    folder, opened = copy_of(family), 0
    path = folder / "tokenizer_config.json"
    whole = path.read_text(encoding="utf-8")
    for name, value in ((name, value) for name, values in _SETTINGS.items() for value in values):
        path.write_text(whole)
        _change(path, **{name: value})
        try:
            opened += refusal(folder, numbers=THOROUGH) is None
        except BaseException as error:
            error.add_note(f"{name} = {value!r}")
            raise
    assert opened > 10


@one_by_day
@pytest.mark.parametrize("family", some(_TEXT_FAMILIES, 2))
@pytest.mark.parametrize("backend", [False, True], ids=["own class", "bare backend"])
def test_a_tokenizer_without_a_part_or_with_one_of_tomorrow(copy_of: CopyOf, family: Family, backend: bool) -> None:
    """Without a post-processor, for example, a text has no special tokens around it, as in Hugging Face."""
    folder = copy_of(family)
    if backend:
        _change(folder / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    path = folder / "tokenizer.json"
    whole = path.read_text(encoding="utf-8")
    for part in _PARTS:
        for value in (None, ..., {"type": "OfTomorrow", "strength": 3}):
            path.write_text(whole)
            _change(path, **{part: value})
            try:
                refusal(folder, numbers=THOROUGH)
            except BaseException as error:
                error.add_note(f"{part} = {value!r}")
                raise


@pytest.mark.parametrize("family", _TEXT_FAMILIES)
def test_an_added_token_without_a_row_is_refused_only_in_a_text(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"pad_token": "<|nothing|>"})
    tokenizer.save_pretrained(folder)
    assert refusal(folder) is None
    model = lab.load_model(folder)
    assert lab.trace(model, TEXT).token_ids
    with pytest.raises(TextError, match=r"'<\|nothing\|>'.* no vector"):
        lab.trace(model, "The cat <|nothing|> sat.")
    missing = model.tokenizer.token_to_id("<|nothing|>")
    assert missing is not None
    hidden = replace_token(lab.trace(model, TEXT).encoding, 2, missing)
    with pytest.raises(TextError, match="no vector"):  # as if [MASK] had been added to the tokenizer alone
        trace_encoding(model, hidden)


@pytest.mark.parametrize("family", _TEXT_FAMILIES)
def test_a_matrix_with_more_than_twice_the_rows(copy_of: CopyOf, family: Family) -> None:
    folder = copy_of(family)
    rows = json.loads((folder / "config.json").read_text())["vocab_size"]
    change_config(folder, vocab_size=3 * rows)
    change_tensors(
        folder,
        lambda ts: {n: torch.cat([t, t, t]).contiguous() if t.shape[:1] == (rows,) else t for n, t in ts.items()},
    )
    assert refusal(folder) is None


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "distilbert"])
@pytest.mark.parametrize("places", [1, 2, 3, 4, 5])
def test_few_places_are_named(copy_of: CopyOf, family: Family, places: int) -> None:
    folder = copy_of(family)
    rows = places + (2 if family == "roberta" else 0)
    change_config(folder, **{"n_positions" if family == "gpt2" else "max_position_embeddings": rows})
    at = ("position_embeddings.weight", "wpe.weight")
    change_tensors(folder, lambda ts: {n: t[:rows].contiguous() if n.endswith(at) else t for n, t in ts.items()})
    said = refusal(folder)
    assert said is None or f"only {places} places" in said
    assert said is not None or family == "gpt2" or places > 3


@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
@pytest.mark.parametrize("segments", [1, 3])
def test_one_segment_or_three(copy_of: CopyOf, family: Family, segments: int) -> None:
    folder = copy_of(family)
    change_config(folder, type_vocab_size=segments)
    change_tensors(
        folder,
        lambda ts: {n: torch.randn(segments, t.shape[1]) if "token_type" in n else t for n, t in ts.items()},
    )
    assert refusal(folder) is None


def test_a_text_is_one_string(copy_of: CopyOf) -> None:
    model = lab.load_model(copy_of("bert"))
    for words in (["The", "cat"], ("The", "cat")):
        with pytest.raises(TypeError, match=r"one string.*' '\.join\(words\)"):
            lab.trace(model, words)  # type: ignore[arg-type]
    others: tuple[tuple[Any, Any], ...] = ((b"The cat", None), (None, None), ("The cat", 3), ("The cat", ["sat"]))
    for text, pair in others:
        with pytest.raises(TypeError, match="must be one string"):
            lab.trace(model, text, pair)


@pytest.mark.parametrize("stem", ["XLMRoberta", "Camembert"])
@pytest.mark.parametrize("own", [False, True], ids=["bare backend", "own class"])
def test_sentencepiece(stem: str, own: bool, tmp_path: Path) -> None:
    """RoBERTa's encoder with the tokenizer that these two families have: Unigram pieces that begin with "▁"."""
    cut = Tokenizer(models.Unigram())
    cut.normalizer, cut.pre_tokenizer, cut.decoder = (
        normalizers.NFKC(),
        pre_tokenizers.Metaspace(),
        decoders.Metaspace(),
    )
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    cut.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>"))
    cut.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    named = dict(zip(("bos", "pad", "eos", "unk", "mask", "cls", "sep"), [*special, "<s>", "</s>"], strict=True))
    tokens = {f"{name}_token": token for name, token in named.items()}
    transformers.PreTrainedTokenizerFast(tokenizer_object=cut, **tokens).save_pretrained(tmp_path)
    kind = getattr(transformers, f"{stem}ForMaskedLM")
    torch.manual_seed(0)
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
    sizes |= {"intermediate_size": FEED_FORWARD, "vocab_size": 320, "max_position_embeddings": 130}
    kind(kind.config_class(**sizes, type_vocab_size=1, initializer_range=0.25)).save_pretrained(tmp_path)
    if own:
        _change(tmp_path / "tokenizer_config.json", tokenizer_class=f"{stem}Tokenizer")
    assert refusal(tmp_path) is None
    trace = lab.trace(lab.load_model(tmp_path), TEXT)
    assert trace.model.weights.vocabulary_head is not None and any(token.startswith("▁") for token in trace.tokens)


# What older programs left beside tokenizer.json, by the file's name. Hugging Face reads some of it.
_BESIDE: Mapping[str, tuple[Any, ...]] = {
    "special_tokens_map.json": (
        {"mask_token": "cat"},
        {"mask_token": {"content": "[mask]", "lstrip": True, "special": True}},
        {"additional_special_tokens": ["the", "[X]"]},
        {"unk_token": "cat", "cls_token": "the"},
    ),
    "added_tokens.json": ({"zzz": 900}, {"cat": 5}, {"[MASK]": 7}, []),
    "vocab.txt": ("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n", ""),
    "vocab.json": ({"<s>": 0, "the": 1}, {}),
    "merges.txt": ("#version: 0.2\nt h\nth e\n", ""),
    "sentencepiece.bpe.model": ("not a model",),
    "tokenizer.model": ("not a model",),
    "chat_template.jinja": ("{{ messages }}",),
    "sentence_bert_config.json": ({"max_seq_length": 7},),
}


@one_by_day
@pytest.mark.parametrize("family", some(["bert", "roberta", "gpt2"], 2))
@pytest.mark.parametrize("whole", [True, False], ids=["with tokenizer.json", "without"])
def test_every_file_beside_the_tokenizer(copy_of: CopyOf, family: Family, whole: bool) -> None:
    folder, opened = copy_of(family), 0
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    if not whole:
        described = json.loads((folder / "tokenizer.json").read_text())["model"]
        words = sorted(described["vocab"], key=described["vocab"].__getitem__)
        (folder / "vocab.txt").write_text("\n".join(words))
        (folder / "vocab.json").write_text(json.dumps(described["vocab"]))
        (folder / "merges.txt").write_text("\n".join(" ".join(pair) for pair in described.get("merges", [])))
        (folder / "tokenizer.json").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, contents in _BESIDE.items():
        for content in contents:
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
            try:
                opened += refusal(folder, numbers=THOROUGH) is None
            except BaseException as error:
                error.add_note(f"{name}: {content!r}")
                raise
            if name in before:
                (folder / name).write_bytes(before[name])
            else:
                (folder / name).unlink()
    assert opened > 5
