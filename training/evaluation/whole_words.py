"""Two masked-language models with two vocabularies on equal terms: one whole word hidden at a time.

    python -m training.evaluation.whole_words                    on the held-out prose that ships
    python -m training.evaluation.whole_words --conllu FILE      on other text, kept in whole_words.json

Only words that are one piece in both vocabularies are hidden, the same ones for both models. Other text is that of a
treebank, GUM without the genres that the models were trained on; the repository holds what was found there.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from lab.models.loading import EMBEDDED
from training.command_line import documented
from training.corpus import HELD_OUT, paragraphs_to_sentences
from training.evaluation import sha256, weights_hash

MODELS = ("lab-bert", "lab-minilm")
RECORD = Path(__file__).with_suffix(".json")
# Words that stand around a hidden one, at most; and how many are hidden of one text.
WINDOW, HIDDEN = 48, 2
# Of these genres of GUM the training's corpora have Wikinews, Wikipedia and OpenStax.
SEEN_GENRES = ("news", "bio", "textbook")
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Blank:
    """A text with one word hidden by [MASK], and the word in lower case."""

    text: str
    word: str


@dataclass(frozen=True)
class Share:
    """How many words were hidden; the shares found first, and among the first five."""

    words: int
    top_1: float
    top_5: float


def model_of(model_id: str) -> tuple[BertForPreTraining, Tokenizer]:
    """An embedded model as transformers reads it, and its tokenizer."""
    folder = EMBEDDED / model_id
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
    return model, Tokenizer.from_file(str(folder / "tokenizer.json"))


def windows(sentences: Sequence[str]) -> Iterator[str]:
    """Runs of whole sentences of at most :data:`WINDOW` words; a longer sentence alone is left out."""
    run: list[str] = []
    for sentence in sentences:
        if sum(len(each.split()) for each in (*run, sentence)) > WINDOW:
            if run:
                yield " ".join(run)
            run = []
        if len(sentence.split()) <= WINDOW:
            run.append(sentence)
    if run:
        yield " ".join(run)


def held_out_windows() -> list[str]:
    """Of the documents that travel in the repository."""
    with lzma.open(HELD_OUT, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    return [window for text in texts for window in windows(paragraphs_to_sentences(text))]


def treebank_windows(path: Path) -> list[str]:
    """Of the documents of a CoNLL-U file of GUM, packed by xz, that are of no genre in :data:`SEEN_GENRES`."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.startswith(("# newdoc id = ", "# text = "))]
    texts: list[tuple[str, str]] = []
    document = ""
    for line in lines:
        name, _, value = line.partition(" = ")
        if name == "# newdoc id":
            document = value
        elif document.split("_")[1] not in SEEN_GENRES:
            texts.append((document, value))
    return [
        window
        for _, group in groupby(texts, key=lambda each: each[0])
        for window in windows([text for _, text in group])
    ]


def blanks(texts: Sequence[str], tokenizers: Sequence[Tokenizer], count: int, seed: int = 7) -> list[Blank]:
    """``count`` hidden words, :data:`HIDDEN` a text at most, each one piece in every vocabulary."""
    draw = random.Random(seed)
    vocabularies = [set(tokenizer.get_vocab()) for tokenizer in tokenizers]
    found: list[Blank] = []
    for text in draw.sample(list(texts), len(texts)):
        words = [m for m in _WORD.finditer(text) if all(m[0].lower() in v for v in vocabularies)]
        for match in draw.sample(words, min(HIDDEN, len(words))):
            found.append(Blank(f"{text[: match.start()]}[MASK]{text[match.end() :]}", match[0].lower()))
    return found[:count]


@torch.inference_mode()
def share(model: BertForPreTraining, tokenizer: Tokenizer, hidden: Sequence[Blank]) -> Share:
    """How often the hidden word is the model's first guess, and among its five best."""
    ranks = []
    for blank in hidden:
        encoded = tokenizer.encode(blank.text)
        at = encoded.tokens.index("[MASK]")
        states = model.bert(input_ids=torch.tensor([encoded.ids])).last_hidden_state[0, at]
        logits = model.cls.predictions(states)
        ranks.append(int((logits > logits[tokenizer.token_to_id(blank.word)]).sum()))
    n = len(ranks)
    return Share(n, sum(rank == 0 for rank in ranks) / n, sum(rank < 5 for rank in ranks) / n)


def compared(texts: Sequence[str], count: int = 2000) -> dict[str, Share]:
    """:func:`share` of each of :data:`MODELS`, on the same hidden words."""
    models = {model_id: model_of(model_id) for model_id in MODELS}
    hidden = blanks(texts, [tokenizer for _, tokenizer in models.values()], count)
    return {model_id: share(*each, hidden) for model_id, each in models.items()}


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("--conllu", type=Path, help="a treebank that is not in the repository")
    path = parser.parse_args().conllu
    torch.set_num_threads(1)
    found = {
        name: asdict(each) for name, each in compared(treebank_windows(path) if path else held_out_windows()).items()
    }
    print(json.dumps(found, indent=1))
    if path:
        weights = {model_id: weights_hash(model_id) for model_id in MODELS}
        record = {"file": path.name, "sha256": sha256(path), "weights": weights, "found": found}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
