"""Tiny random Hugging Face checkpoints: one folder per family, as a model hub would serve it.

    folder = write_checkpoint(tmp_path / "bert", "bert", seed=0)
    AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)

Each folder holds ``config.json``, ``model.safetensors``, ``tokenizer.json`` and
``tokenizer_config.json``. Two layers of four heads on 32 dimensions take milliseconds, and every
parameter that a trained checkpoint would have moved is moved here too: LayerNorm gains are not 1,
biases are not 0, attention is not uniform, so that a forward pass that forgets one is found out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.sentences import CAT, FOX

if TYPE_CHECKING:
    from transformers import BertConfig, PreTrainedModel, PreTrainedTokenizerBase

Family = Literal["bert", "bert-headless", "distilbert", "roberta", "electra", "gpt2", "modernbert"]
FAMILIES: tuple[Family, ...] = get_args(Family)
# The tiny checkpoint of each family that the lab reads; one with the fields and code of another takes that one's.
CHECKPOINT_OF: Mapping[str, Family] = {
    "bert": "bert",
    "roberta": "roberta",
    "electra": "electra",
    "distilbert": "distilbert",
    "gpt2": "gpt2",
    "modernbert": "modernbert",
    "xlm-roberta": "roberta",
    "camembert": "roberta",
}

LAYERS = 2
WIDTH = 32
HEADS = 4
FEED_FORWARD = 64
POSITIONS = 512
ELECTRA_EMBEDDING = 16
WINDOW = 4  # tokens to either side that ModernBERT's second layer sees
# Scores then spread by about 2 (WIDTH * 0.25²), so that no softmax row is near uniform.
INITIAL_STD = 0.25

# The examples are in it, so that their words are tokens.
CORPUS = f"""\
{CAT}
The dog chased the cat across the garden, and the children laughed.
She read a book about the history of the river.
He doesn't know whether they're coming to the café tomorrow.
In 1969 two astronauts walked on the moon; a third stayed in orbit.
Paris is the capital of France, and Berlin is the capital of Germany.
A transformer reads every word of a sentence at once.
Attention decides how much each token takes from each other token.
The bank by the river was covered with grass.
The bank lent money to the farmers after the flood.
Numbers such as 3, 17 and 256 are split into pieces.
Unbelievable, unhappily, replaying: long words have parts.
"Where are you going?" asked the teacher, smiling.
{FOX}
Maria gave the letter to John before he left the station.
It was raining, so the players waited under the old bridge.
The scientists measured the temperature of the water twice a day.
Every student in the classroom wrote a sentence on the board.
My grandmother's house has a blue door and three windows.
The train to London leaves at half past seven in the morning.
If the weather is good, we will walk to the top of the hill.
The music was so loud that nobody heard the bell.
Birds build nests in spring and fly south in autumn.
The doctor told the nurse that she had finished her work.
""".splitlines()


def write_checkpoint(folder: Path, family: Family, seed: int = 0) -> Path:
    """Write a random checkpoint of ``family`` into ``folder`` and return the folder.

    The same family and seed give the same files. ``bert-headless`` is a plain ``BertModel``,
    without vocabulary or next-sentence head.
    """
    import torch

    tokenizer = _TOKENIZERS[family]()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _MODELS[family](len(tokenizer)).eval()
        _move_vectors(model)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _move_vectors(model: PreTrainedModel) -> None:
    """Add noise to every bias and LayerNorm gain; a fresh model has them at exactly 0 and 1."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(INITIAL_STD * torch.randn_like(parameter))


def _bert(vocabulary: int) -> PreTrainedModel:
    from transformers import BertForPreTraining

    return BertForPreTraining(_bert_config(vocabulary))


def _bert_headless(vocabulary: int) -> PreTrainedModel:
    from transformers import BertModel

    return BertModel(_bert_config(vocabulary))


# What most of Hugging Face's configurations call the same.
_SIZES: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": FEED_FORWARD,
    "initializer_range": INITIAL_STD,
}


def _bert_config(vocabulary: int) -> BertConfig:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=vocabulary,
        **_SIZES,
        max_position_embeddings=POSITIONS,
    )


def _distilbert(vocabulary: int) -> PreTrainedModel:
    from transformers import DistilBertConfig, DistilBertForMaskedLM

    return DistilBertForMaskedLM(
        DistilBertConfig(
            vocab_size=vocabulary,
            dim=WIDTH,
            n_layers=LAYERS,
            n_heads=HEADS,
            hidden_dim=FEED_FORWARD,
            max_position_embeddings=POSITIONS,
            initializer_range=INITIAL_STD,
        )
    )


def _roberta(vocabulary: int) -> PreTrainedModel:
    from transformers import RobertaConfig, RobertaForMaskedLM

    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=vocabulary,
            **_SIZES,
            # RoBERTa counts positions from padding_idx + 1 = 2, and has one segment.
            max_position_embeddings=POSITIONS + 2,
            type_vocab_size=1,
            layer_norm_eps=1e-5,
        )
    )


def _electra(vocabulary: int) -> PreTrainedModel:
    from transformers import ElectraConfig, ElectraForPreTraining

    return ElectraForPreTraining(
        ElectraConfig(
            vocab_size=vocabulary,
            embedding_size=ELECTRA_EMBEDDING,
            **_SIZES,
            max_position_embeddings=POSITIONS,
        )
    )


def _gpt2(vocabulary: int) -> PreTrainedModel:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            n_embd=WIDTH,
            n_layer=LAYERS,
            n_head=HEADS,
            n_inner=FEED_FORWARD,
            n_positions=POSITIONS,
            initializer_range=INITIAL_STD,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def _modernbert(vocabulary: int) -> PreTrainedModel:
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    return ModernBertForMaskedLM(
        ModernBertConfig(
            vocab_size=vocabulary,
            **_SIZES,
            max_position_embeddings=POSITIONS,
            local_attention=2 * WINDOW,
            layer_types=["full_attention", "sliding_attention"],
            pad_token_id=1,
            cls_token_id=2,
            sep_token_id=3,
            bos_token_id=2,
            eos_token_id=3,
        )
    )


def _wordpiece() -> PreTrainedTokenizerBase:
    """BERT's tokenizer on a vocabulary of the corpus: lower case, accents stripped, ``##`` pieces."""
    from transformers import BertTokenizer

    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.normalizer = normalizers.BertNormalizer(lowercase=True)
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # The trainer numbers "##a", "##b" … in the order of a hash map and breaks ties by that number;
    # given beforehand, in alphabetical order, they make every training give the same vocabulary.
    letters = sorted({letter for line in CORPUS for letter in trained.normalizer.normalize_str(line)} - {" "})
    given = special + [f"##{letter}" for letter in letters]
    trained.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=given))
    return BertTokenizer(vocab=trained.get_vocab(), model_max_length=POSITIONS)


def _roberta_bytes() -> PreTrainedTokenizerBase:
    from transformers import RobertaTokenizer

    vocabulary, merges = _byte_pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=POSITIONS)


def _modernbert_bytes() -> PreTrainedTokenizerBase:
    """GPT-2's way to cut, BERT's special tokens around it."""
    from transformers import PreTrainedTokenizerFast

    vocabulary, merges = _byte_pairs(["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"])
    cut = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    cut.normalizer = normalizers.NFC()
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    cut.decoder = decoders.ByteLevel()
    cut.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=cut,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=POSITIONS,
        model_input_names=["input_ids", "attention_mask"],
    )


def _gpt2_bytes() -> PreTrainedTokenizerBase:
    from transformers import GPT2Tokenizer

    vocabulary, merges = _byte_pairs(["<|endoftext|>"])
    return GPT2Tokenizer(vocab=vocabulary, merges=merges, model_max_length=POSITIONS)


def _byte_pairs(special: list[str]) -> tuple[dict[str, int], Any]:
    """Train a byte-level BPE: its vocabulary and its merges. Every byte is in it, so nothing is unknown.

    The merges are pairs of strings, which transformers takes but does not declare: hence ``Any``.
    """
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=450, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    trained.train_from_iterator(CORPUS, trainer)
    learnt = json.loads(trained.to_str())["model"]
    return learnt["vocab"], [(left, right) for left, right in learnt["merges"]]


_MODELS: dict[Family, Callable[[int], PreTrainedModel]] = {
    "bert": _bert,
    "bert-headless": _bert_headless,
    "distilbert": _distilbert,
    "roberta": _roberta,
    "electra": _electra,
    "gpt2": _gpt2,
    "modernbert": _modernbert,
}
_TOKENIZERS: dict[Family, Callable[[], PreTrainedTokenizerBase]] = {
    "bert": _wordpiece,
    "bert-headless": _wordpiece,
    "distilbert": _wordpiece,
    "roberta": _roberta_bytes,
    "electra": _wordpiece,
    "gpt2": _gpt2_bytes,
    "modernbert": _modernbert_bytes,
}
