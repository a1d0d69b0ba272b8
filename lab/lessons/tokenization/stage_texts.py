"""The sentences of the tokenization lesson about stages, special tokens and words that cannot be cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.course.words import quoted
from lab.lessons.tokenization.view import joined
from lab.models.encoding import Encoding
from lab.models.loading import LoadedModel
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.wordpiece import Lookup, StageName, WordSteps

STAGES: Mapping[StageName, tuple[str, str]] = {
    "clean_text": ("Clean", "Control characters are deleted, and every kind of white space becomes a plain space."),
    "handle_chinese_chars": (
        "Space out ideographs",
        "Each Chinese character gets a space on both sides, in Japanese or Korean text, too.",
    ),
    "strip_accents": ("Strip accents", "Letters lose their accents."),
    "lowercase": ("Lower case", "Capital letters become small ones."),
}

_STARTS = "marks the beginning, and belongs to no word (lesson 3 tells what it is for)"
_ENDS = "ends each text"
_UNKNOWN = "replaces a word that cannot be built, for example one with a sign that is in no token"
_HIDES = "hides a word that the model must guess"
_FILLS = "fills up the shorter texts if several texts are read at once"
_SEPARATES = "separated two documents while the model learned"
# The purpose of a special token, by its role, with its usual names; the settings of a tokenizer may name another token.
_ROLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pad_token": (_FILLS, ("[PAD]", "<pad>")),
    "unk_token": (_UNKNOWN, ("[UNK]", "<unk>")),
    "mask_token": (_HIDES, ("[MASK]", "<mask>")),
    "sep_token": (_ENDS, ("[SEP]", "</s>")),
    "cls_token": (_STARTS, ("[CLS]", "<s>")),
}


@dataclass(frozen=True)
class SpecialToken:
    """A special token of the tokenizer, with its places in this input, counted from 1, if it has any."""

    token: str
    positions: tuple[int, ...]
    role: str


def special_tokens(model: LoadedModel, encoding: Encoding) -> list[SpecialToken]:
    """The tokenizer's special tokens: first those in this input, in the order of the input, then the others."""
    found, roles = [], {name: told for told, usual in _ROLES.values() for name in usual}
    roles |= {model.named[role]: told for role, (told, _) in _ROLES.items() if role in model.named}
    if model.config.causal:
        roles |= {"<|endoftext|>": _SEPARATES, model.named.get("eos_token", "<|endoftext|>"): _SEPARATES}
    for token_id, token in sorted(model.tokenizer.get_added_tokens_decoder().items()):
        if token.special:
            places = tuple(i for i, each in enumerate(encoding.token_ids, start=1) if each == token_id)
            found.append(SpecialToken(token.content, places, roles.get(token.content, "was added to this checkpoint")))
    return sorted(found, key=lambda each: each.positions[:1] or (len(encoding) + 1,))


def about_lookup(word: WordSteps, lookups: tuple[Lookup, ...], at: int) -> str:
    """Put the result of lookup ``at`` (from 0) into a sentence, and say what happens next."""
    lookup = lookups[at]
    name, token = quoted(lookup.candidate), quoted(word.pieces[0].token)
    if lookup.found and len(word.pieces) == 1:
        return f"{name} is in the vocabulary as a whole, so one lookup gives one token."
    if lookup.found and lookup.end == len(word.text):
        return f"{name} is in the vocabulary, and no part of the word is left. Its tokens are {joined(word.pieces)}."
    if lookup.found:
        rest = quoted(word.text[lookup.end :])
        mark = quoted(word.continuing_prefix)
        return f"{name} is in the vocabulary. {rest} is left. The tokenizer looks it up next, with {mark} in front."
    if at + 1 < len(lookups):
        return f"{name} is not in the vocabulary. The next candidate is one character shorter."
    dropped = len(word.matches)
    pieces = "piece already found is" if dropped == 1 else f"{dropped} pieces already found are"
    lost = f" The {pieces} dropped." if dropped else ""
    return f"{name} is not in the vocabulary, and there is nothing shorter. So the whole word becomes {token}.{lost}"


def about_merge(word: BpeWord, at: int) -> str:
    """Put the result of merge ``at`` (from 0) into a sentence, and say whether another merge follows."""
    step = word.merges[at]
    made = f"{quoted(step.left)} + {quoted(step.right)} has the lowest rank of all neighbours, {step.rank}."
    if at + 1 < len(word.merges):
        return made
    if len(word.pieces) == 1:
        return f"{made} One piece is left: {joined(word.pieces)}."
    return f"{made} No two neighbours of {joined(word.pieces)} are in the list of merges, so these are the tokens."


def about_uncut(word: WordSteps | BpeWord, limit: int) -> str | None:
    """Say why a word is not cut step by step; None if it is.

    ``limit`` is the length of the longest word that WordPiece cuts.
    """
    name = joined(word.pieces)
    if word.added:
        token_id = word.pieces[0].token_id
        return (
            f"{name} is an added token with the id {token_id}. It is taken out before words are cut, so it stays whole."
        )
    if isinstance(word, BpeWord):
        return _unmerged(word, name)
    if word.unknown == "too many characters":
        return (
            f"The word has {len(word.text)} characters, but this tokenizer looks at no more than {limit}. So the word "
            f"becomes {name} without a lookup."
        )
    return None


def _unmerged(word: BpeWord, name: str) -> str | None:
    if word.taken_whole:
        return f"The whole word is in the vocabulary, so this tokenizer keeps it whole: {name}."
    if len(word.symbols) == 1:
        return f"This word is a single byte, so there is nothing to merge: {name}."
    if not word.merges:
        return f"No two neighbours are in the list of merges, so every byte stays a token: {name}."
    return None
