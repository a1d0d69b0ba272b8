"""The meanings of the tokens of a text, in sentences that the learner's own text chooses."""

from __future__ import annotations

from lab.course.words import quoted
from lab.lessons.tokenization.reading import TextReading, Word, askable, count, hardest, joined, spelled
from lab.models.trace import Trace
from lab.text.tokenizers.wordpiece import WordSteps


def whole_and_cut(reading: TextReading) -> str:
    """Say how many words of the text are whole tokens, and into which pieces the most cut word falls."""
    words, total = reading.words, f"The model reads {count(len(reading.encoding), 'id')} and nothing else."
    if not words or reading.encoding.cut:
        return total
    lost = [word for word in words if isinstance(word, WordSteps) and word.unknown]
    cut = [word for word in words if len(word.pieces) > 1]
    shown = [word for word in cut if askable(word)]
    if (at := hardest(shown)) is not None:
        told = f"{quoted(spelled(shown[at]))} is not in the vocabulary, so it becomes {joined(shown[at].pieces)}."
        if len(cut) > 1:
            return f"{told} {count(len(cut) - 1, 'other word')} {'is' if len(cut) == 2 else 'are'} cut, too."
        return f"{told} {_counted(len(words) - len(cut) - len(lost))} in the vocabulary."
    if lost:
        return f"The vocabulary has no token for {count(len(lost), 'word')} of your text. {total}"
    if cut:
        return f"{_counted(len(words) - len(cut))} in the vocabulary. {total}"
    whole = "The only word of your text is" if len(words) == 1 else f"All {len(words)} words and signs of your text are"
    return f"{whole} in the vocabulary. {total}"


def _counted(whole: int) -> str:
    """Begin a sentence about the words that are in the vocabulary, with subject and verb."""
    if not whole:
        return "No other word of your text is"
    return f"{whole} other {'word or sign' if whole == 1 else 'words and signs'} {'is' if whole == 1 else 'are'}"


def pieces(word: Word) -> str:
    """Say what the model reads in place of a word."""
    name, read = quoted(spelled(word).strip("Ġ ")), joined(word.pieces)
    if isinstance(word, WordSteps) and word.unknown:
        return f"The model reads {read}. It cannot tell {name} from any other word that the vocabulary cannot build."
    if len(word.pieces) == 1:
        return f"{name} is in the vocabulary: it is one token, with the id {word.pieces[0].token_id:,}."
    return f"The model does not see {name}. It reads {read}: {len(word.pieces)} tokens that it knows from other words."


def cut(reading: TextReading) -> str:
    """Say which spelling the model reads in place of the typed spelling, and how many pre-tokens there are."""
    between = sum(len(steps.text.split()) for steps in reading.texts)
    parts = f"{count(between, 'word')} between spaces became {count(len(reading.words), 'pre-token')}"
    signs = sum(not any(character.isalnum() for character in word.text) for word in reading.words)
    why = (
        ": a punctuation mark or another sign is cut off from its word"
        if signs and len(reading.words) > between
        else ""
    )
    return f"{_spellings(reading)} {parts}{why}."


def _spellings(reading: TextReading) -> str:
    """Say how normalization changes the typed words."""
    words = [(steps.text[slice(*word.span)].strip(), word) for steps in reading.texts for word in steps.words]
    typed, read = {each for each, _ in words}, {_bare(word) for _, word in words}
    if len(read) < len(typed):
        return (
            f"You typed {len(typed)} spellings, and the model sees {len(read)}: to the model, the other spellings are "
            "the same word."
        )
    changed = next(((each, word.text) for each, word in words if _respelled(each, word) and askable(word)), None)
    if changed is not None:
        return f"You typed {quoted(changed[0])}, and the model reads {quoted(changed[1])}."
    if all(isinstance(word, WordSteps) for _, word in words):
        return "Every spelling stays as you typed it."
    return "This model keeps capitals and accents, so “She” and “she” are two words to it."


def _respelled(typed: str, word: Word) -> bool:
    return isinstance(word, WordSteps) and typed != word.text


def _bare(word: Word) -> str:
    return spelled(word).removeprefix("Ġ")


def added(trace: Trace) -> str:
    """Say how many of the tokens that the model reads are not from the text."""
    own, total = sum(trace.encoding.special), len(trace.encoding)
    if not own:
        return f"This model adds no token: all {total} are from your text."
    told = f"{own} of the {total} tokens {'is' if own == 1 else 'are'} not from your text."
    return f"{told} The model reads them like words."
