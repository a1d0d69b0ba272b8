"""Check: three questions, and two sentences of one's own of which the second is filled from the first."""

from __future__ import annotations

from lab.analysis.flow.cuts import Cuts, Way, cut_run
from lab.analysis.sentences.token_sentences import split
from lab.analysis.words.in_blank import with_blank
from lab.analysis.words.predictions import word_of
from lab.course.sentences.looks import STORY_HEAD
from lab.course.words import beside, quoted
from lab.lessons.inter_sentence_attention import LESSON
from lab.lessons.inter_sentence_attention.behind_a_cell import LOOKS, is_word
from lab.lessons.inter_sentence_attention.view import SentencesView
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK
from lab.models.interventions import Interventions
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.questions.toy_questions import pair_checks
from lab.toy.letter_pairs import PAIRED
from lab.ui import runs
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks

LEADS = 0.15  # below this, no word leads
SHOWN = ("france", "capital")
WANTED = """
Write two sentences. The second has one blank (_), and the model fills it from the first. From the blank, head 6-4 must
give one word of the first sentence {looks:.2f} or more. And the answer must need this look: with the link cut in all
heads, the model must say another word. *France* and *capital* are in the course’s own text, so take other words."""
NOT_TWO = "Write two sentences, each with its full stop, and one blank (_) in the second."
TAKEN = "The page has shown this with *{word}*. Write about something else."
NO_WORD = "No word leads in this blank: the best one, {word}, has only {p:.2f}. Leave less room for it."
LOOKED = "The model says {word} ({p:.2f}). From the blank, 6-4 gives {key} {weight}, the most in the first sentence. "
ASIDE = "That is not enough: the head does not look across."
SAME = "But with this link cut, the model still says {word} ({after:.2f})."
MET = "With this link cut, {word} has {after:.2f}, and {other} comes first: the answer needs the look at {key}."


def show(view: SentencesView) -> None:
    """Ask the three questions, or those about the toy's heads, and set the challenge."""
    if view.trace.model.id == PAIRED:
        draw_checks(LESSON, pair_checks(*(text.split() for text in view.sentences.texts)))
        return
    draw_checks(LESSON, [each() for each in (hidden_by_a_mean, one_token_back, no_border)])
    draw_challenge(LESSON, WANTED.format(looks=LOOKS), "Two sentences, with _ in the second", judge)


@asks(
    basis=derivable(LESSON, "behind-a-cell", "the two figures, one head and the mean over all heads"),
    hint="How many heads are in the mean, and where does each of them look from the blank?",
)
def hidden_by_a_mean() -> Question:
    """Ask why a link can be strong in a head and weak in the mean over all heads."""
    return Question(
        "hidden-by-a-mean",
        "From the blank of *She lives in France. The capital is ▢.*, head 6-4 gives *france* 0.88. In the mean over "
        "all 72 heads, *france* gets 0.05. How can both be true?",
        (
            Option(
                "Softmax makes the weights of other heads small if one head has a large weight",
                "Within one row of one head, a large weight leaves little for the rest. But each head has its own "
                "rows.",
            ),
            Option(
                "The other tokens of the sentence look elsewhere, and they are in the mean",
                "They are in the mean of a whole sentence. But this mean is about one link, the one from the blank.",
            ),
            Option(
                "Most heads look elsewhere, and each counts as much",
                "Two heads of 72 give *france* more than half of the blank’s attention. A mean hides so few.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=bet(
        "A large weight between two sentences shows that they belong together.",
        "A head that looks one token back also does so at the beginning of a sentence.",
        "The full stop holds what its sentence says.",
    ),
    hint="Where is the full stop, seen from *the*?",
)
def one_token_back() -> Question:
    """Ask what the largest weight between two neighbouring sentences shows."""
    return Question(
        "one-token-back",
        "In *She lives in France. The capital is ▢.*, the largest weight from sentence 2 to sentence 1 is 1.00, in "
        "head 1-3: from *the* to the full stop. Inside the sentences, this head looks from *capital* at *the*, and "
        "from *lives* at *she*. What does the weight of 1.00 show?",
        (
            Option(
                "A head looks one token back, also across the end of a sentence",
                "The head does the same inside each sentence. A maximum finds such a link whatever the sentences say.",
                correct=True,
            ),
            Option(
                "The second sentence belongs to the first one, because it tells more about the same country",
                "It does. But this head would also look back if the first sentence were about something else.",
            ),
            Option(
                "The full stop has collected what the sentence before it says, and *the* takes it from there",
                "A later layer could do so. In layer 1, the full stop has collected nothing yet: it is a mark at its "
                "place.",
            ),
        ),
        mixed=True,
    )


@asks(
    basis=bet(
        "A head looks only at what is near.",
        "The border of a text ends what a token can see.",
        "Only a mask takes a token out of a row.",
    ),
    hint="Which of these changes takes *France* out of the row of the blank?",
)
def no_border() -> Question:
    """Ask what would keep the blank from looking at a word of another sentence."""
    return Question(
        "no-border",
        "Which change would keep head 6-4 from looking at *France* from the blank of the second sentence?",
        (
            Option(
                "A long sentence between the two sentences",
                "*Every summer she goes to the sea with her two brothers and an old dog.* between them leaves 0.76.",
            ),
            Option(
                "A mask between them",
                "A score of −∞ takes a token out of the row: so the lab cut the link. BERT has no such mask between "
                "sentences.",
                correct=True,
            ),
            Option(
                "[SEP] between them, as in a pair of texts",
                "[SEP] is one more token, at which one can look or not. As a pair, 6-4 gives *france* 0.90.",
            ),
        ),
        mixed=True,
    )


def judge(entry: str) -> ChallengeVerdict:
    """Look whether the blank of a second sentence is filled through a look at a word of the first."""
    model = runs.model(DEFAULT_MODEL)
    trace = runs.run(DEFAULT_MODEL, with_blank(model, entry), "", Interventions())
    words, sentences = [label.lower() for label in trace.labels], split(trace)
    if len(sentences) != 2 or words.count(BLANK) != 1 or sentences.of_token[words.index(BLANK)] != 1:
        return ChallengeVerdict(met=False, said=NOT_TWO)
    if taken := [word for word in SHOWN if word in words]:
        return ChallengeVerdict(met=False, said=TAKEN.format(word=taken[0]))
    blank, first = words.index(BLANK), [place for place in sentences.places(0) if is_word(trace, place)]
    row = trace.layer(STORY_HEAD[0]).attention[STORY_HEAD[1], blank]
    if not first:
        return ChallengeVerdict(met=False, said=NOT_TWO)
    key = max(first, key=lambda place: float(row[place]))
    p = trace.logits(blank)[0].double().softmax(-1)
    cut = cut_run(trace, blank, Cuts(((key, Way.DIRECT),))).logits(blank)[0].double().softmax(-1)
    best, other = int(p.argmax()), int(cut.argmax())
    seen = {
        "word": quoted(word_of(model.tokenizer, best)), "p": float(p[best]), "after": float(cut[best]),
        "key": quoted(trace.labels[key]), "weight": beside(float(row[key]), LOOKS),
        "other": quoted(word_of(model.tokenizer, other)),
    }  # fmt: skip
    if p[best] < LEADS:
        return ChallengeVerdict(met=False, said=NO_WORD.format(**seen))
    if row[key] < LOOKS:
        return ChallengeVerdict(met=False, said=(LOOKED + ASIDE).format(**seen))
    return ChallengeVerdict(met=other != best, said=(LOOKED + (SAME if other == best else MET)).format(**seen))
