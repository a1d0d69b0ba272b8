"""What the tokens of a text mean, in sentences that the learner's own text chooses."""

from __future__ import annotations

from lab.course.words import quoted
from lab.lessons.tokenization.reading import TextReading, askable, count, hardest, joined, spelled
from lab.text.tokenizers.wordpiece import WordSteps


def whole_and_cut(reading: TextReading) -> str:
    """How many words of the text are tokens as a whole, how the hardest is cut, and what the model adds."""
    words, own = reading.words, sum(reading.encoding.special)
    added = f" The model adds {count(own, 'token')} of its own." if own else ""
    if not words or reading.encoding.cut:
        return f"The model reads {count(len(reading.encoding), 'token')}.{added}"
    lost = [word for word in words if isinstance(word, WordSteps) and word.unknown]
    cut = [word for word in words if len(word.pieces) > 1]
    whole = len(words) - len(lost) - len(cut)
    told = (
        f"Of the {len(words)} words and punctuation marks of your text, {whole} {'is' if whole == 1 else 'are'} in the "
        "vocabulary"
    )
    if len(words) == 1:
        told = f"The only word of your text is {'' if whole else 'not '}in the vocabulary"
    shown = [word for word in cut if askable(word)]
    at = hardest(shown)
    pieces = "" if at is None else f" {quoted(spelled(shown[at]))} is not: it is cut into {joined(shown[at].pieces)}."
    gone = f" The vocabulary cannot build {count(len(lost), 'word')}." if lost else ""
    return f"{told} as a whole.{pieces}{gone}{_respelled(reading)}{added}"


def spellings(reading: TextReading) -> str:
    """Whether words that are typed differently are one to the model."""
    words = [(steps.text[slice(*word.span)].strip(), word) for steps in reading.texts for word in steps.words]
    typed, read = {each for each, _ in words}, {spelled(word).removeprefix("Ġ") for _, word in words}
    told = f"Your text has {count(len(typed), 'different spelling')} as typed, and {len(read)} as the model reads it."
    if len(read) < len(typed):
        return f"{told} Spellings that fall together share their tokens."
    return f"{told} Here no two spellings fall together."


def pre_tokens(reading: TextReading) -> str:
    """How many pre-tokens there are beside the words between spaces, and how many hold no letter and no digit."""
    between = sum(len(steps.text.split()) for steps in reading.texts)
    signs = sum(not any(character.isalnum() for character in word.text) for word in reading.words)
    cut = sum(len(word.pieces) > 1 for word in reading.words)
    return (
        f"Between spaces, your text has {count(between, 'word')}. The tokenizer makes "
        f"{count(len(reading.words), 'pre-token')} of it; {signs or 'none'} of them {'has' if signs == 1 else 'have'} "
        f"neither a letter nor a digit. {cut or 'None'} of them {'are' if cut > 1 else 'is'} cut further, into "
        "several tokens."
    )


def _respelled(reading: TextReading) -> str:
    """How many of the text's words are looked up in another spelling than the typed one, and the first of them."""
    changed = [
        (typed, word)
        for steps in reading.texts
        for word in steps.words
        if isinstance(word, WordSteps) and (typed := steps.text[slice(*word.span)]) != word.text
    ]
    shown = next(((typed, word.text) for typed, word in changed if askable(word)), None)
    if shown is None:
        return ""
    more = f", and {count(len(changed) - 1, 'other word')} in another spelling, too" if len(changed) > 1 else ""
    return (
        f" Before a word is looked up, spellings are made alike (see **Normalize**): {quoted(shown[0])} is looked "
        f"up as {quoted(shown[1])}{more}."
    )
