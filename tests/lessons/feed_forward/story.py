"""The course's sentence for the tests of lesson 8: Hugging Face's model, its words, and the survey of the neurons."""

from __future__ import annotations

from functools import cache

from lab.analysis.layers.excitation import NeuronSurvey, neuron_survey
from lab.course.sentences.looks import STORY_TEXT
from lab.models.catalogue import EMBEDDED
from lab.models.encoding import word_of
from lab.models.loading import load_model
from lab.text.bundled import bundled_sentences
from tests.models.reference import Theirs, load_theirs

BLANK = 6


def in_theirs() -> Theirs:
    """Hugging Face's lab-minilm, to be changed in place."""
    return load_theirs(EMBEDDED / "lab-minilm", "bert").edited()


def likeliest(theirs: Theirs, text: str = STORY_TEXT, place: int = BLANK) -> list[tuple[str, float]]:
    """The five likeliest words at a place, with their probabilities."""
    logits = theirs.run(text).logits
    assert logits is not None
    found = logits[place].double().softmax(-1).topk(5)
    tokenizer = load_model("lab-minilm").tokenizer
    return [(word_of(tokenizer, id), p) for id, p in zip(found.indices.tolist(), found.values.tolist(), strict=True)]


@cache
def finished_survey() -> NeuronSurvey:
    """The neurons of lab-minilm over the short texts."""
    survey = neuron_survey(model := load_model("lab-minilm"), bundled_sentences())
    while not survey.finished:
        survey.step(model)
    return survey
