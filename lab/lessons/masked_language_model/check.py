"""Check: questions about what a blank and its logits show, and a challenge that the lab judges."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.flow.cuts import Cuts, Way
from lab.analysis.flow.ways import effect
from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.predictions import word_of
from lab.course.sentences.looks import STORY_HEAD
from lab.course.words import quoted
from lab.evidence.story import RIVAL
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.from_vector_to_word import shifted
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.basis import bet, derivable
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.ui import runs
from lab.ui.play import LessonRun
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.challenge import ChallengeVerdict, draw_challenge

LOOKS = 0.3  # head 6-4 does not look at a word to which it gives less
LEADS = 0.1  # below this, no word leads
WANTED = (
    "In *The capital of France is ▢.*, head 4 of layer 6 looks from the blank at *France*, and *France* decides. Write "
    "a sentence with *France* and one blank (_) in which *France* decides, so that another word comes first with "
    "*Russia* in its place, although this head gives *France* less than 0.30."
)
NOT_ONE = "The sentence needs *France* once, and one blank, written as _."
NO_WORD = "No word leads in this blank: the best one, {word}, has only {p:.2f}. Leave less room for it."
KEEPS = "*France* hardly decides here: without it, {word} goes from {p:.2f} to {left:.2f} and stays what it was."
SAME = "With *Russia* in its place, the model still says {word}. So it needs a word there, but not *France*."
LOOKED = "*France* decides here, but the head looks at it: from the blank, it gives *France* {weight:.2f}."
MET = (
    "Here it is: the head gives *France* only {weight:.2f}, and without *France*, {word} goes from {p:.2f} to "
    "{left:.2f}. One head is not the whole story: other heads, or ways through other words, can bring it, too."
)


@asks(
    basis=bet(
        "The model understands that *not* rules a word out.",
        "The model says what fits the words around, with or without *not*.",
    ),
    hint="How many texts deny that a city is the capital, and name the city all the same?",
    always=True,
)
def negated(spot: Spot) -> Question | None:
    """Ask what *not* changes."""
    return Question(
        "negated",
        "In *The capital of France is ▢.*, lab-minilm says *paris*. What does it say in *The capital of France is not "
        "▢.*?",
        (
            Option(
                "*paris*, and it is even surer",
                "*paris* gets .66, and without *not* .38. Kassner & Schütze (2020) found in BERT, too, that *not* "
                "hardly changes which word comes first.",
                correct=True,
            ),
            Option(
                "Another city: *not* rules *paris* out",
                "This is what *not* means to a reader. The model learned which words fit the words around them, and "
                "*capital* and *France* are still there.",
            ),
            Option(
                "No word leads, as any other city would be true",
                "If it weighed what is true, the probability would spread over many cities. But one word gets more "
                "than half.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "hide-words", "with *Paris* in sight, it says *paris*"),
    hint="Think of what the model could do if the word were in the input.",
    returns=2,
    always=True,
)
def why_hidden(spot: Spot) -> Question | None:
    """Ask why BERT learns from hidden words."""
    return Question(
        "why-hidden",
        "Why does BERT’s training hide most of the words that it asks for?",
        (
            Option(
                "With fewer words to read, training takes less time",
                "Less to read would be less work. But [MASK] is a token like any other, so the model reads as many.",
            ),
            Option(
                "In sight, a word could be copied from its own place",
                "A copy is right without any grammar or knowledge, so nothing else would be learned.",
                correct=True,
            ),
            Option(
                "Otherwise the model would know its texts by heart",
                "Models can repeat texts that they have read, whether words were hidden or not (Carlini et al. 2021 "
                "show it for GPT-2). Hiding is no lock against this.",
            ),
        ),
        mixed=True,
    )


def show(view: LessonRun) -> None:
    """Ask the three questions, and draw the challenge."""
    draw_checks(LESSON, [each(Spot(view.trace, 0, 0, 0, 0)) for each in (negated, why_hidden, shifted)])
    draw_challenge(LESSON, WANTED, "A sentence with France and _", look_at_entry)


def look_at_entry(entry: str) -> ChallengeVerdict:
    """Look whether France decides in a sentence although head 4 of layer 6 does not look at it."""
    trace = runs.run(DEFAULT_MODEL, with_blank(runs.model(DEFAULT_MODEL), entry), "", Interventions())
    words = [label.lower() for label in trace.labels]
    if words.count("france") != 1 or words.count(BLANK) != 1:
        return ChallengeVerdict(met=False, said=NOT_ONE)
    (layer, head), blank, france = STORY_HEAD, words.index(BLANK), words.index("france")
    cut = effect(trace, blank, Cuts().cut(france, Way.BOTH))
    word = quoted(word_of(trace.model.tokenizer, cut.word))
    seen = {"word": word, "p": cut.was, "left": cut.kept}
    seen["weight"] = weight = float(trace.layer(layer).attention[head, blank, france])
    if cut.was < LEADS:
        return ChallengeVerdict(met=False, said=NO_WORD.format(**seen))
    if not cut.matters:
        return ChallengeVerdict(met=False, said=KEEPS.format(**seen))
    if best_with_rival(trace, france) == cut.word:
        return ChallengeVerdict(met=False, said=SAME.format(**seen))
    return ChallengeVerdict(met=weight < LOOKS, said=(MET if weight < LOOKS else LOOKED).format(**seen))


def best_with_rival(trace: Trace, place: int) -> int:
    """Return the id of the best word in the blank with *Russia* in place of the token at ``place``."""
    rival = trace.model.tokenizer.token_to_id(RIVAL[0].lower())
    assert rival is not None and trace.model.mask is not None  # the course's model has both
    ids = [rival if at == place else each for at, each in enumerate(trace.token_ids)]
    run = trace_encoding(trace.model, replace(trace.encoding, token_ids=tuple(ids)))
    return int(run.logits(ids.index(trace.model.mask[1]))[0].argmax())
