"""Check: three questions, and a sentence in which the head for subjects looks at a word outside the subject."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.words.in_blank import with_blank
from lab.course.sentences.examples import FORMS
from lab.course.words import escaped, quoted
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.does_it_matter import what_shows_need
from lab.lessons.head_specialization.grammar import same_as_distance
from lab.lessons.head_specialization.radar import share_or_preference
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.encoding import BLANK
from lab.models.interventions import Interventions
from lab.text.tags.pipeline import PipelineUnavailable, TaggedToken, spelled_out
from lab.text.tags.token_tags import TaggedSpan, encoding_tags, parsed, trace_tags
from lab.ui import runs
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks
from lab.ui.shared.one_head import OneHead

HEAD = (4, 10)  # 5-11 of the default model, from 0
WANTED = """
5-11 is called the head that *finds the subject of a verb*. Is this what it does? Write a sentence with _ for *was* or
*were*, in which the model prefers *were*, and 5-11 looks from the blank most at a word that does not belong to the
subject. (In *the keys to the cabinet*, all five words belong to it.)"""
NO_BLANK = "Your sentence needs one blank, written as _, in place of *was* or *were*."
NO_TAGS = "The tagger is not available here, so the lab cannot name the kind of a word."
LOOKED = "From the blank, 5-11 gives {word} most ({weight:.2f}), and *were* has {share:.0%} against *was*. "
NOT_WERE = "Here the model prefers *was*. Write a sentence in which more than one does something."
NO_SUBJECT = "The parser finds no subject in this sentence."
NO_WORD = "That is a mark and no word. Try another sentence."
INSIDE = "The parser says that this word belongs to the subject. Which words can be nearer to the verb?"
MET = "It is *{kind}*, and the parser says that it does not belong to the subject: names of heads are ours."


def show(view: OneHead) -> None:
    """Ask the three questions, and set the challenge."""
    asked = (share_or_preference, same_as_distance, what_shows_need)
    draw_checks(LESSON, [each() for each in asked])
    draw_challenge(LESSON, WANTED, "A sentence with _", judge)


def judge(entry: str) -> ChallengeVerdict:
    """Look at a sentence: where 5-11 looks from its blank, and which verb the model prefers."""
    model = runs.model(DEFAULT_MODEL)
    trace = runs.run(DEFAULT_MODEL, with_blank(model, entry), "", Interventions())
    if trace.labels.count(BLANK) != 1:
        return ChallengeVerdict(met=False, said=NO_BLANK)
    place = trace.labels.index(BLANK)
    weights = trace.layer(HEAD[0]).attention[HEAD[1], place]
    key = int(weights.argmax())
    word = quoted(trace.labels[key])
    logits = trace.logits(place)[0][[model.tokenizer.token_to_id(form) for form in FORMS]].double()
    share = float((logits[0] - logits[1]).sigmoid())
    said = LOOKED.format(word=word, weight=float(weights[key]), share=share)
    if share <= 0.5:
        return ChallengeVerdict(met=False, said=said + NOT_WERE)
    try:
        runs.load_tagger()
        filled = trace.text.replace((model.mask or ("",))[0], "were")
        run = runs.run(DEFAULT_MODEL, filled, "", Interventions())
        kind, inside = trace_tags(run)[0][key], words_of_subject(parsed(run).tokens)
        in_subject = encoding_tags(run.encoding, inside)[key] is not None
    except PipelineUnavailable:
        return ChallengeVerdict(met=False, said=said + NO_TAGS)
    if not inside or kind in (None, "PUNCT"):
        return ChallengeVerdict(met=False, said=said + (NO_WORD if inside else NO_SUBJECT))
    told = INSIDE if in_subject else MET.format(kind=escaped(spelled_out(str(kind))))
    return ChallengeVerdict(met=not in_subject, said=said + told)


def words_of_subject(tokens: Sequence[TaggedToken]) -> list[TaggedSpan]:
    """The subjects of a parsed text, and all words that depend on them, directly or by way of other words."""

    def belongs(at: int) -> bool:
        while not tokens[at].relation.startswith("nsubj"):
            if tokens[at].head == at:
                return False
            at = tokens[at].head
        return True

    return [TaggedSpan(each.start, each.end, "subject") for at, each in enumerate(tokens) if belongs(at)]
