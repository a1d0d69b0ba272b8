"""What normalization and pre-tokens are said to mean: counted again by the tokenizer of the library."""

from __future__ import annotations

import pytest

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import quoted
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
    said = meanings.cut(reading)
    between = len(text.split())
    assert f"{between} word{'s' * (between != 1)} between spaces became {len(found)} pre-token" in said


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("lab-bert", "CAFÉ café Café", "You typed 3 spellings, and the model sees 1"),
        ("lab-bert", "She met him.", f"You typed {quoted('She')}, and the model reads {quoted('she')}."),
        ("lab-bert", "she met him.", "Every spelling stays"),
        ("lab-gpt2", "She met him.", "This model keeps capitals and accents"),
    ],
)
def test_what_becomes_of_the_spelling(model: str, text: str, said: str) -> None:
    trace = lab.trace(lab.load_model(model), text)
    steps = (tokenization_steps(trace.model.tokenizer, text),)
    assert said in meanings.cut(TextReading(trace.encoding, steps, trace.model.tokenizer))


@pytest.mark.parametrize(("model", "own"), [("lab-minilm", 2), ("lab-gpt2", 0)])
def test_tokens_that_the_model_adds_are_counted(model: str, own: int) -> None:
    trace = lab.trace(lab.load_model(model), "She met him.")
    said = meanings.added(trace)
    assert (f"{own} of the {len(trace)} tokens are not from your text" if own else "adds no token") in said
