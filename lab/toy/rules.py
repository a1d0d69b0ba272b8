"""Sentences of letters that follow a rule, so that a hidden letter can be found from the other letters.

A toy that fills the blank is trained like BERT (Devlin et al. 2019, §3.1), but with one hidden letter in each sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lab.toy.data import ToyData
from lab.toy.tasks import IGNORED

if TYPE_CHECKING:
    from torch import Generator, Tensor

# The number of letters and the longest sentence of every rule, small enough for a chart that can be read at a glance.
LETTERS, LONGEST = 8, 8
# The most sentences that a learner may look at.
SENTENCES = 20


def hidden_id(vocabulary: int) -> int:
    """Return the token id of [MASK] in a toy whose words are 1 to ``vocabulary``."""
    return vocabulary + 1


@dataclass(frozen=True)
class Rule:
    """A rule of sentences, and the settings for learning it. ``short`` is the rule's name inside a model's name.

    ``why`` explains how to find a hidden letter. ``lengths`` are the lengths of the rule's sentences, ``steps`` is the
    number of weight updates in a whole run. ``make(vocabulary, length, count, generator)`` gives sentences (count,
    length), and ``holds`` tests if a sentence follows the rule.
    """

    id: str
    name: str
    short: str
    description: str
    why: str
    lengths: tuple[int, ...]
    steps: int
    make: Callable[[int, int, int, Generator], Tensor]
    holds: Callable[[tuple[int, ...]], bool]
    causal: ClassVar[bool] = False
    hides: ClassVar[bool] = True

    def lengths_to(self, longest: int) -> tuple[int, ...]:
        """Return the lengths of the rule's sentences, up to ``longest``."""
        return tuple(length for length in self.lengths if length <= longest)

    def draw(self, vocabulary: int, length: int, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw ``count`` sentences with a hidden letter each; return sentences and hidden letters, (count, length)."""
        import torch

        words = self.make(vocabulary, length, count, generator)
        place = torch.randint(length, (count, 1), generator=generator)
        hidden = torch.arange(length) == place
        return words.masked_fill(hidden, hidden_id(vocabulary)), words.masked_fill(~hidden, IGNORED)


def _distinct(vocabulary: int, length: int, count: int, generator: Generator) -> Tensor:
    """Draw sentences in which all letters differ, (count, length)."""
    import torch

    return torch.rand(count, vocabulary, generator=generator).argsort(-1)[:, :length] + 1


def _turns(vocabulary: int, length: int, count: int, generator: Generator) -> Tensor:
    return _distinct(vocabulary, 2, count, generator).repeat(1, length // 2 + 1)[:, :length]


def _take_turns(words: tuple[int, ...]) -> bool:
    return words[0] != words[1] and words[2:] == words[:-2]


def _alphabet(vocabulary: int, length: int, count: int, generator: Generator) -> Tensor:
    import torch

    first = torch.randint(1, vocabulary - length + 2, (count, 1), generator=generator)
    return first + torch.arange(length)


def _in_order(words: tuple[int, ...]) -> bool:
    return words == tuple(range(words[0], words[0] + len(words)))


def _mirror(vocabulary: int, length: int, count: int, generator: Generator) -> Tensor:
    import torch

    half = _distinct(vocabulary, length // 2, count, generator)
    return torch.cat([half, half.flip(-1)], dim=-1)


def _mirrored(words: tuple[int, ...]) -> bool:
    return words == words[::-1] and len(set(words)) == len(words) // 2


RULES = (
    Rule(
        "turns", "Two letters take turns", "taking turns", "Two letters take turns, as in a b a b.",
        "The letter two places away is the same.", (4, 5, 6, 7, 8), 160, _turns, _take_turns,
    ),
    Rule(
        "mirror", "The end mirrors the beginning", "mirror",
        "The second half is the first half read backwards, as in a b c c b a.",
        "The letter as far from the other end is the same.", (6,), 160, _mirror, _mirrored,
    ),
    Rule(
        "alphabet", "In the order of the alphabet", "alphabet",
        "Each letter is followed by the next of the alphabet, as in c d e f.",
        "The letters beside it tell which one is missing.", (4, 5, 6), 160, _alphabet, _in_order,
    ),
)  # fmt: skip


def rule_named(name: str) -> Rule:
    """Return the rule with this name on screen, or the first rule if there is no such name."""
    return next((entry for entry in RULES if entry.name == name), RULES[0])


def ruled(rule: Rule, count: int, seed: int) -> ToyData:
    """Draw ``count`` sentences of a rule; all lengths of the rule are equally likely.

    A seed always gives the same sentences, and a larger ``count`` only adds more sentences.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)

    def sentence() -> tuple[int, ...]:
        length = rule.lengths[int(torch.randint(len(rule.lengths), (), generator=generator))]
        return tuple(rule.make(LETTERS, length, 1, generator)[0].tolist())

    return ToyData(tuple(sentence() for _ in range(count)), LETTERS, max(rule.lengths), count, seed)
