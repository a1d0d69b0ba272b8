"""Every sentence about a cut, checked against three cuts in Hugging Face.

    python -m training.evaluation.cuts                     200 held-out sentences and the lab's examples, 3 models
    python -m training.evaluation.cuts --sentences 20

A word is hidden in each sentence (GPT-2 reads up to the last word), and one token after the other is cut off from the
place where the word forms: its direct way, the ways around, and both. The lab writes its sentences; Hugging Face runs
the checkpoint with a mask for each cut. A sentence is false if a percentage in it is not Hugging Face's, or if it says
something that the rule (docs/results.md, "What a cut may say") does not allow for Hugging Face's numbers.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.flow.cuts import Cuts, Way
from lab.analysis.words.masking import asked_run
from lab.charts.components.word_forms_picture import text_of
from lab.course.sentences.examples import BLANK, EXAMPLES, FIRST
from lab.figures.cut_story import cut_story
from lab.figures.forming import Forming
from lab.models.loading import EMBEDDED, LoadedModel, load_model
from lab.models.trace import Trace, trace
from training.corpus import HELD_OUT, paragraphs_to_sentences

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
SIGNS = ("", "~", "*")  # of a cut token in a link: its direct way, the ways around, both
WORDS = range(5, 17)  # of a held-out sentence
# A percentage in a sentence may be off by half a percent, and by what float32 may differ in.
_ROUNDED = 0.005 + 1e-4
_NEAR = 1e-4  # a probability this near to the rule's limit may be on either side
_SAID = re.compile(r"(<1|>99|\d+)%")


@dataclass(frozen=True, eq=False)
class Picture:
    """A text with a place where a word forms."""

    trace: Trace
    watched: int


@dataclass(frozen=True)
class Loss:
    """What Hugging Face finds for one cut: the best word's probability before and after it, and which words lead."""

    was: float
    kept: float
    leads: float
    changed: bool

    def matters(self, slack: float = 0.0) -> bool:
        """Whether the word loses half of its probability, or the first place and a fifth."""
        half, fifth = self.was / 2 + slack, 0.8 * self.was + slack
        return self.kept <= half or (self.changed and self.kept <= fifth)

    def is_close(self) -> bool:
        """Whether rounding decides if the cut matters."""
        return self.matters(_NEAR) != self.matters(-_NEAR)


def sentences(count: int, seed: int = 0) -> list[str]:
    """``count`` sentences of the held-out texts, drawn at random, of five words to sixteen."""
    with lzma.open(HELD_OUT, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    found = sorted({each for text in texts for each in paragraphs_to_sentences(text) if len(each.split()) in WORDS})
    return random.Random(seed).sample(found, count)


def picture(model: LoadedModel, text: str) -> Picture | None:
    """The picture of a text: at its blank, or else at its last word; GPT-2 reads up to the blank."""
    if model.config.causal:
        text = text.partition(BLANK)[0].partition("[MASK]")[0].strip() or text
    found = asked_run(trace(model, text.replace(BLANK, "[MASK]")))
    return None if found is None else Picture(*found)


def shown(model: LoadedModel, count: int) -> Iterator[Picture]:
    """The pictures of the first page's sentences, of the examples, and of ``count`` held-out sentences."""
    texts = [*(each.text for each in FIRST), *(each.text for each in EXAMPLES), *sentences(count)]
    yield from filter(None, (picture(model, text) for text in texts))


def blocked(picture: Picture, token: int, sign: str) -> set[tuple[int, int]]:
    """The (query, key) that a cut blocks: written out here once more, so that the lab's own code is not its judge."""
    others = {query for query in range(len(picture.trace)) if query not in (token, picture.watched)}
    return {(query, token) for query in {"": {picture.watched}, "~": others, "*": others | {picture.watched}}[sign]}


@torch.inference_mode()
def probabilities(module: Any, picture: Picture, cuts: list[set[tuple[int, int]]]) -> NDArray[np.float64]:
    """The probability of every word at the watched place without a cut and with each of c ``cuts``, (1 + c, V)."""
    n, causal = len(picture.trace), picture.trace.model.config.causal
    mask = torch.zeros(1 + len(cuts), 1, n, n)
    if causal:
        mask += torch.full((n, n), -torch.inf).triu(1)
    for row, pairs in enumerate(cuts, start=1):
        for query, key in pairs:
            mask[row, 0, query, key] = -torch.inf
    encoding = picture.trace.encoding
    ids, segments = (torch.tensor(each).expand(len(mask), n) for each in (encoding.token_ids, encoding.segment_ids))
    given = {"input_ids": ids, "attention_mask": mask, **({} if causal else {"token_type_ids": segments})}
    out = module(**given)
    logits = out.logits if causal else out.prediction_logits
    return np.asarray(logits[:, picture.watched].double().softmax(-1).numpy())


def losses(module: Any, picture: Picture, tokens: list[int]) -> dict[tuple[int, str], Loss]:
    """What Hugging Face finds for the three cuts of each token."""
    cuts = [(token, sign) for token in tokens for sign in SIGNS]
    before, *after = probabilities(module, picture, [blocked(picture, *cut) for cut in cuts])
    word = int(before.argmax())
    return {
        cut: Loss(float(before[word]), float(found[word]), float(found.max()), int(found.argmax()) != word)
        for cut, found in zip(cuts, after, strict=True)
    }


def faults(picture: Picture, token: int, sign: str, found: dict[tuple[int, str], Loss]) -> list[str]:
    """What is false in the lab's sentence about one cut."""
    cuts = Cuts().cut(token, Way(sign))
    told = text_of(cut_story(Forming.of(picture.trace, picture.watched, cuts)))
    here, (direct, around, both) = found[token, sign], (found[token, each] for each in SIGNS)
    special = picture.trace.encoding.special[token] or (picture.trace.model.config.causal and token == 0)
    needs_direct = not special and both.matters() and direct.matters() and not around.matters()
    needs_around = not special and both.matters() and around.matters() and not direct.matters()
    allowed = {
        "the direct way is needed": needs_direct,
        "needs the direct way": needs_direct,
        "tokens, are needed": needs_around,
        "needs the ways around": needs_around,
        "Either way is enough": not special and both.matters() and not direct.matters() and not around.matters(),
        "Both ways are needed": not special and both.matters() and direct.matters() and around.matters(),
        "lost without the direct way": around.kept - direct.kept >= here.was / 5 - _NEAR,
        "lost without the ways around": direct.kept - around.kept >= here.was / 5 - _NEAR,
        "Little changes": not here.changed and abs(here.kept - here.was) < here.was / 10 + _NEAR,
        "is likely any more": here.was >= 0.1 - _NEAR and here.leads < 0.1 + _NEAR,
        " falls ": here.kept < here.was,
        " rises ": here.kept > here.was,
        " is now ": here.changed,
        "stays the best word": not here.changed,
    }
    if any(each.is_close() for each in (direct, around, both)):
        allowed = dict.fromkeys(allowed, True)
    true = {round(each, 6) for each in (here.was, here.kept, here.leads, direct.kept, around.kept)}
    numbers = [told[at.start() : at.end()] for at in _SAID.finditer(told) if not any(_is(at[1], each) for each in true)]
    return [f"{says!r} in {told!r}" for says, fits in allowed.items() if says in told and not fits] + [
        f"{number} in {told!r}" for number in numbers
    ]


def _is(said: str, share: float) -> bool:
    if said == "<1":  # what rounds to 1 % from below is "less than 1 %", too
        return share < 0.01 + 1e-4
    return share > 0.99 if said == ">99" else abs(int(said) / 100 - share) <= _ROUNDED


def check(model_id: str, count: int, tokens_each: int | None = None, seed: int = 0) -> tuple[Counter[str], list[str]]:
    """Check a model's sentences; return how many pictures, cuts and ways there were, and what is false.

    ``tokens_each`` limits how many tokens of a picture are cut; None for all.
    """
    import transformers

    model, drawn = load_model(model_id), random.Random(seed)
    auto = transformers.AutoModelForCausalLM if model.config.causal else transformers.AutoModelForPreTraining
    module = auto.from_pretrained(EMBEDDED / model_id, attn_implementation="eager").eval()
    counted, false = Counter[str](), list[str]()
    for each in shown(model, count):
        tokens = [token for token in range(len(each.trace)) if token != each.watched]
        tokens = drawn.sample(tokens, min(len(tokens), tokens_each or len(tokens)))
        found = losses(module, each, tokens)
        counted["pictures"] += 1
        for token, sign in found:
            counted["cuts"] += 1
            false += faults(each, token, sign, found)
    return counted, false


def main() -> None:
    """Print the number of pictures, cuts and false sentences for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=200, help="held-out sentences, beside the lab's own")
    parsed = parser.parse_args()
    torch.set_num_threads(1)
    for model_id in MODELS:
        counted, false = check(model_id, parsed.sentences)
        print(f"{model_id}: {counted['pictures']} pictures, {counted['cuts']} cuts, {len(false)} false", flush=True)
        print(*false, sep="\n", end="\n" if false else "")


if __name__ == "__main__":
    main()
