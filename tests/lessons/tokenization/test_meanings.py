"""What normalization and pre-tokens are said to mean: counted again by the tokenizer of the library."""

from __future__ import annotations

import re

import pytest

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.lessons.tokenization import meanings
from lab.lessons.tokenization.reading import TextReading
from lab.text.tokenizers.steps import tokenization_steps

TEXTS = [
    *(each.text.replace("[MASK]", "are") for each in EXAMPLES[:5]),
    "CAFÉ, café, Café",
    "I don't pay 3.50 for it.",
    "☃",
]


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("text", TEXTS)
def test_words_are_counted_as_the_library_cuts_them(model: str, text: str) -> None:
    trace = lab.trace(lab.load_model(model), text)
    tokenizer = trace.model.tokenizer
    reading = TextReading(trace.encoding, (tokenization_steps(tokenizer, text),), tokenizer)
    normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    found = [each for each, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
    said = meanings.pre_tokens(reading)
    assert f"has {len(text.split())} word" in said and f"makes {len(found)} pre-token" in said
    word_ids = [each for each in tokenizer.encode(text).word_ids if each is not None]
    several = sum(word_ids.count(each) > 1 for each in set(word_ids))
    assert f"{several or 'None'} of them {'are' if several > 1 else 'is'} cut further" in said
    told = re.findall(r"\d+", meanings.spellings(reading))
    typed = {text[slice(*span)].strip() for _, span in tokenizer.pre_tokenizer.pre_tokenize_str(text)}
    assert [int(each) for each in told] == [len(typed), len({each.removeprefix("Ġ") for each in found})]


def test_three_spellings_are_one_word() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), TEXTS[5])
    reading = TextReading(trace.encoding, (tokenization_steps(trace.model.tokenizer, TEXTS[5]),), trace.model.tokenizer)
    assert "share their tokens" in meanings.spellings(reading)
