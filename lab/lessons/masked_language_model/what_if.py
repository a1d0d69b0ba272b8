"""Checks that ask why, what would happen if, and about another sentence; the model really runs each case."""

from __future__ import annotations

from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import Candidate, Prediction, candidate, prediction_at, word_of
from lab.course.sentences.blanks import BLANK, Blank
from lab.course.words import quoted, share
from lab.lessons.masked_language_model.telling import Run, blank_of
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.kinds import ranked, rises_or_falls, which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

_BLUR = 0.01  # a change nearer to the margin than this is on neither side visibly
_LEAD = 1.1


def why_hidden(causal: bool) -> Question:
    """Ask why BERT needs the mask, or why GPT-2 needs none."""
    if causal:
        right = Option(
            "It never sees the tokens after the one you ask about",
            "The causal mask hides the future, so the model cannot simply read off the answer.",
            correct=True,
        )
        prompt = "Why can you ask this model for the next token without hiding anything?"
    else:
        right = Option(
            "It could read the word off its own place",
            "It sees every token, even the token that you ask about.",
            correct=True,
        )
        prompt = "Why do you hide a word before you ask this model about it?"
    wrong = (
        Option(
            "That way it computes fewer numbers",
            "A mask is a token like any other. The number of tokens stays the same.",
        ),
        Option("Its vocabulary lacks that word", "Every token that it reads or names has an id in the vocabulary."),
        Option(
            "It knows this text by heart",
            "It keeps no texts. It gives every word a probability, even a word that it never saw.",
        ),
    )
    return shuffled("why-hidden", prompt, (right, *wrong))


def one_more_hidden(seen: Trace, place: int, others: tuple[int, ...]) -> Question | None:
    """Ask which further hidden word costs the best word most; ``others`` are places that are not hidden in ``seen``."""
    prediction = prediction_at(seen, place, None)
    best, tokenizer = prediction.best(1)[0], seen.model.tokenizer
    before = float(prediction.probabilities[best])
    after = [float(prediction_at(masked_run(seen, (other,)), place, None).probabilities[best]) for other in others]
    lost = [before - each for each in after]
    if not lost or max(lost) < MARGIN:
        return None

    def name(at: int) -> str:
        return f"{quoted(word_of(tokenizer, seen.token_ids[others[at]]))} (token {others[at] + 1})"

    def why(at: int, most: int) -> str:
        tail = ", the lowest of these." if at == most else f"; without {name(most)} it has {share(after[most])}."
        return f"With this word hidden, too, it has {share(after[at])}{tail}"

    word = quoted(word_of(tokenizer, best))
    prompt = (
        f"At token {place + 1}, {word} has the probability {share(before)}. Suppose that you hide one more of these "
        f"words. Which one lowers the probability of {word} most?"
    )
    return ranked("one-more-hidden", prompt, lost, name, why)


def in_blank(model: LoadedModel, prediction: Prediction, word: str) -> Candidate | None:
    """Return ``word`` as an answer in the blank; None if it is not a single token."""
    spellings = (f"Ġ{word}", f"▁{word}", word) if model.config.causal else (word, f"Ġ{word}", f"▁{word}")
    ids = (model.tokenizer.token_to_id(each) for each in spellings)
    found = next((i for i in ids if i is not None and i < len(prediction.logits)), None)
    return None if found is None else candidate(prediction, found, model.tokenizer)


def _read(text: str, causal: bool) -> str:
    """The part of a sentence with a blank that a model reads."""
    return quoted(text.partition(BLANK)[0].rstrip() if causal else text)


def other_subject(run: Run, model: LoadedModel, blank: Blank) -> Question | None:
    """Ask what happens to the answer's probability if one word of the sentence is changed."""
    before, after = (blank_of(run, model, text) for text in (blank.text, blank.changed))
    if before is None or after is None:
        return None
    first, then = (in_blank(model, each, blank.answers[0]) for each in (before, after))
    if first is None or then is None:
        return None
    change = then.probability - first.probability
    if abs(abs(change) - MARGIN) < _BLUR:
        return None
    told = f"It goes from {share(first.probability)} to {share(then.probability)}."
    old, new = map(quoted, blank.change)
    prompt = (
        f"{_read(blank.text, model.config.causal)}: this model gives {quoted(blank.answers[0])} "
        f"{share(first.probability)} {'as the next word' if model.config.causal else 'in the blank'}. Change {old} to "
        f"{new}. What happens to that probability?"
    )
    return which_holds("other-subject", prompt, told, rises_or_falls(change))
