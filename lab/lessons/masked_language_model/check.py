"""Check: questions about what a blank and its logits show, and a challenge that the lab judges."""

from __future__ import annotations

from dataclasses import replace

from lab.analysis.heads.swapping import Asked, swapped
from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.predictions import word_of
from lab.course.sentences.looks import STORY_HEAD
from lab.course.words import beside, quoted
from lab.evidence.story import RIVAL
from lab.lessons.masked_language_model import LESSON
from lab.lessons.masked_language_model.from_vector_to_word import shifted
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import runs
from lab.ui.play import LessonRun
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks

LOOKS = 0.5  # a head that gives a word less than half of its attention does not look there most of all
_HEADS = (3, 5)  # the heads of layer 6, from 0, that look at the country in the course's sentence
LEADS = 0.15  # below this, no word leads
WANTED = (
    "*France* decides in *The capital of France is ▢.*: with *Russia* in its place, another word comes first. There, "
    "6-4 and 6-6 look at *France*. Do they bring it only if they look? Write another sentence with *France* and one "
    "blank (_), in which *France* decides, but neither head gives it half of the blank’s attention. A hint: *France* "
    "early, and the blank not at the end."
)
NOT_ONE = "The sentence needs *France* once, and one blank, written as _."
NO_WORD = "No word leads in this blank: the best one, {word}, has only {p:.2f}. Leave less room for it."
SAME = "With *Russia* in its place, the model still says {word}. So *France* does not decide here."
LOOKED = "*France* decides here: with *Russia*, {word} becomes {other}. But {head} gives it {weight}."
MET = (
    "The two heads give *France* at most {weight}, and with *Russia* in its place, {word} ({p:.2f}) becomes {other}. "
    "Who brings the country, then? "
)
# By what the model says with the two heads from the sentence with Russia: the rival's word, its own, or another one.
BROUGHT = (
    "Swap what 6-4 and 6-6 bring, as in lesson 4, and the model says {swapped}. So they bring it all the same, though "
    "they look less at *France* than there."
)
OTHERWISE = (
    "Swap what 6-4 and 6-6 bring, as in lesson 4, and the model still says {swapped}. So here another way is enough."
)
BETWEEN = "Swap what 6-4 and 6-6 bring, as in lesson 4, and the model says {swapped}: neither word."


def show(view: LessonRun) -> None:
    """Ask the three questions, and draw the challenge."""
    draw_checks(LESSON, [each() for each in (negated, why_hidden, shifted)])
    draw_challenge(LESSON, WANTED, "A sentence with France and _", look_at_entry)


@asks(
    basis=derivable(LESSON, "from-vector-to-word", "a probability says what the model would bet, not what is true"),
    hint="Compare both numbers: 0.38 without *not*, 0.66 with it.",
)
def negated() -> Question | None:
    """Ask what it shows that *not* makes *paris* more probable."""
    return Question(
        "negated",
        "In *The capital of France is ▢.*, lab-minilm gives *paris* 0.38. In *The capital of France is not ▢.*, it "
        "gives *paris* 0.66. What does this show?",
        (
            Option(
                "A probability says what fits such a text, not what is true",
                "*paris* fits beside *capital* and *France*, with or without *not*. Kassner & Schütze (2020) found the "
                "like in BERT.",
                correct=True,
            ),
            Option(
                "The model has read the sentence without the word *not*",
                "Then both numbers would be equal. *not* changes much here, but not in the direction of its meaning.",
            ),
            Option(
                "The model has learned that a city other than Paris is the capital",
                "Then *paris* would not lead without *not*. It leads in both sentences.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "hide-words", "with *Paris* in sight, it says *paris*"),
    hint="Think of what the model could do if the word were in the input.",
)
def why_hidden() -> Question | None:
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
                "A copy is right without any grammar or knowledge, so there would be little reason to learn more.",
                correct=True,
            ),
            Option(
                "Otherwise the model would know its texts by heart",
                "Models can repeat texts that they have read (Carlini et al. 2021, for GPT-2). And hidden words are "
                "asked for, so they can be learned by heart, too.",
            ),
        ),
        mixed=True,
    )


def look_at_entry(entry: str) -> ChallengeVerdict:
    """Look whether France decides in a sentence although neither of the two heads looks at it."""
    trace = runs.run(DEFAULT_MODEL, with_blank(runs.model(DEFAULT_MODEL), entry), "", Interventions())
    words = [label.lower() for label in trace.labels]
    if words.count("france") != 1 or words.count(BLANK) != 1:
        return ChallengeVerdict(met=False, said=NOT_ONE)
    blank, france = words.index(BLANK), words.index("france")
    p, best = trace.logits(blank)[0].double().softmax(-1).max(0)
    rival = with_rival(trace, france)
    other = int(rival.logits(blank)[0].argmax())
    layer = STORY_HEAD[0]
    weight, head = max((float(trace.layer(layer).attention[each, blank, france]), each) for each in _HEADS)
    word, instead = (quoted(word_of(trace.model.tokenizer, each)) for each in (int(best), other))
    seen = {"word": word, "p": float(p), "other": instead, "weight": beside(weight, LOOKS)}
    seen["head"] = f"{layer + 1}-{head + 1}"
    if p < LEADS:
        return ChallengeVerdict(met=False, said=NO_WORD.format(**seen))
    if other == best:
        return ChallengeVerdict(met=False, said=SAME.format(**seen))
    if weight >= LOOKS:
        return ChallengeVerdict(met=False, said=LOOKED.format(**seen))
    mixed = swapped(Asked(trace, blank), Asked(rival, blank), [(layer, each) for each in _HEADS])
    answer = int(mixed.logits(blank)[0].argmax())
    then = BROUGHT if answer == other else OTHERWISE if answer == best else BETWEEN
    word = quoted(word_of(trace.model.tokenizer, answer))
    return ChallengeVerdict(met=True, said=MET.format(**seen) + then.format(swapped=word))


def with_rival(trace: Trace, place: int) -> Trace:
    """Run the text with *Russia* in place of the token at ``place``."""
    rival = trace.model.tokenizer.token_to_id(RIVAL[0].lower())
    assert rival is not None  # the course's model has it
    ids = tuple(rival if at == place else each for at, each in enumerate(trace.token_ids))
    return trace_encoding(trace.model, replace(trace.encoding, token_ids=ids))
