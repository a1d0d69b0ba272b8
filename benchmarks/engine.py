"""The engine beside an eager Hugging Face forward, on a BERT of bert-base's size with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel

import lab
from benchmarks.measure import Comparison, seconds, time_ratio
from lab.models.ablation import ablate_each_head
from lab.models.families.registry import read_weights
from lab.models.interventions import Interventions
from lab.models.loading import Checkpoint, LoadedModel

LENGTHS = (16, 128, 512)
# One by one is 144 whole passes: two lengths are enough to see the ratio, and a minute is enough to wait.
ABLATION_LENGTHS = (16, 32)
ROUNDS = {16: 31, 128: 11, 512: 9}


@dataclass(frozen=True, eq=False)
class Pair:
    """The same random weights, as Hugging Face runs them and as the lab does."""

    theirs: BertModel
    ours: LoadedModel

    def text(self, tokens: int) -> str:
        """A text of exactly ``tokens`` tokens, the two special ones included."""
        return " ".join(f"w{1000 + i}" for i in range(tokens - 2))


def _tokenizer(vocabulary: int) -> Tokenizer:
    """One token a word, between [CLS] and [SEP]; bert-base's vocabulary size."""
    ids = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, **{f"w{i}": i for i in range(3, vocabulary)}}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def random_bert_base() -> Pair:
    """12 layers, 12 heads, 768 wide, 30,522 words; both sides share the memory of the weights."""
    torch.manual_seed(0)
    config = BertConfig()
    theirs = BertModel(config).eval()
    theirs.set_attn_implementation("eager")
    checkpoint = Checkpoint({**config.to_dict(), "model_type": "bert"}, dict(theirs.state_dict()))
    weights = read_weights(checkpoint.config, checkpoint.tensors)
    return Pair(theirs, LoadedModel("bert-base, random", weights, _tokenizer(config.vocab_size), checkpoint))


def _passes(pair: Pair, tokens: int) -> Iterator[Comparison]:
    """A whole pass and one layer, at one length."""
    text, rounds = pair.text(tokens), ROUNDS[tokens]
    run = lab.trace(pair.ours, text)
    ids = torch.tensor([run.token_ids])

    def forward() -> None:
        with torch.inference_mode():
            out = pair.theirs(ids, output_attentions=True, output_hidden_states=True)
        # Under sdpa there are no attentions, and the comparison would be an empty one.
        assert len(out.attentions) == pair.ours.config.layers and len(run) == tokens

    numbers = cycle(range(pair.ours.config.layers))
    yield Comparison(
        "lab.trace / eager Hugging Face forward, time",
        tokens,
        1.0,
        lambda: time_ratio(lambda: lab.trace(pair.ours, text), forward, rounds),
    )
    yield Comparison(
        "trace.layer(l) / the same forward, time",
        tokens,
        0.1,
        # Of a copy each time: the layers of one run stay in memory.
        lambda: time_ratio(lambda: replace(run).layer(next(numbers)), forward, rounds),
    )


def _ablations(pair: Pair, tokens: int) -> Comparison:
    """All 144 heads switched off one at a time: in one batch, and by 144 passes."""
    text, config = pair.text(tokens), pair.ours.config
    run = lab.trace(pair.ours, text)

    def one_by_one() -> None:
        for layer in range(config.layers):
            for head in range(config.heads):
                lab.trace(pair.ours, text, interventions=Interventions(zero_heads=frozenset({(layer, head)})))

    # No warm-up: the passes before have done that, and one by one takes its time.
    return Comparison(
        "144 ablations, batched / one by one, time",
        tokens,
        0.6,
        lambda: seconds(lambda: ablate_each_head(run)) / seconds(one_by_one),
    )


def comparisons() -> Iterator[Comparison]:
    """All comparisons of the engine."""
    torch.set_num_threads(1)
    pair = random_bert_base()
    for tokens in LENGTHS:
        yield from _passes(pair, tokens)
    for tokens in ABLATION_LENGTHS:
        yield _ablations(pair, tokens)
