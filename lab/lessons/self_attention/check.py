"""Check: three questions, and a country whose capital the model gets wrong although its head looks there."""

from __future__ import annotations

from lab.course.sentences.looks import STORY_HEAD, STORY_TEXT
from lab.course.words import escaped, share
from lab.evidence.story import capitals
from lab.lessons.self_attention import LESSON
from lab.lessons.self_attention.build_a_row import one_score_up, value_gone, what_a_weight_says
from lab.lessons.self_attention.map import most_attended, most_even
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.interventions import Interventions
from lab.ui import runs
from lab.ui.quiz.draw_check import ChallengeVerdict, OfClass, draw_challenge, draw_checks
from lab.ui.shared.one_head import OneHead

WANTED = """
Find a country at which head 6-4 looks from the blank in *The capital of … is ▢.*, and whose capital the model still
gets wrong. (Not Italy: there it says *milan*.)"""
LOOKED = "From the blank, head 6-4 gives *{country}* {weight:.2f}, and the model says *{said}* ({p}). "
MET = "The capital is {capital}: the head looks at the right word, and the answer is wrong. Looking is not answering."
RIGHT = "That is right. Try another country."
ASIDE = "So the head does not look at the country. Try another one."
UNKNOWN = """
The lab’s list has no *{country}*. It has the members of the United Nations whose name is one word, without an article,
and whose capital, by this list, is another word. (Israel is left out, because its capital is disputed.)"""
PIECES = "The capital, {capital}, is several tokens for this model, and one blank cannot say it. Try another country."
TOLD = "The lab has told you about Italy. Find another country."
# The least share of the blank's attention that counts as a look.
_LEAST = 0.5


def show(view: OneHead) -> None:
    """Ask the three questions, and set the challenge; a class can also be asked to pick a token."""
    asked = (value_gone, one_score_up, what_a_weight_says)
    draw_checks(LESSON, [each() for each in asked], OfClass((most_attended, most_even), view.spot, view.place))
    draw_challenge(LESSON, WANTED, "A country", judge)


def judge(entry: str) -> ChallengeVerdict:
    """Look at a country: where the head looks, and what the default model says."""
    named = {country.lower(): (country, capital) for country, capital in capitals()}
    entry = entry.strip(" .!?,")
    if entry.lower() == "italy":
        return ChallengeVerdict(met=False, said=TOLD)
    if entry.lower() not in named:
        return ChallengeVerdict(met=False, said=UNKNOWN.format(country=escaped(entry[:40])))
    country, capital = named[entry.lower()]
    trace = runs.run(DEFAULT_MODEL, STORY_TEXT.replace("France", country), "", Interventions())
    blank = trace.token_ids.index((trace.model.mask or ("", -1))[1])
    pieces = slice(trace.labels.index("of") + 1, trace.labels.index("is"))
    weight = float(trace.layer(STORY_HEAD[0]).attention[STORY_HEAD[1], blank, pieces].sum())
    top = trace.logits(blank)[0].double().softmax(-1).max(0)
    said = trace.model.tokenizer.id_to_token(int(top.indices))
    looked = LOOKED.format(country=country, weight=weight, said=said, p=share(float(top.values)))
    if weight < _LEAST:
        return ChallengeVerdict(met=False, said=looked + ASIDE)
    if trace.model.tokenizer.token_to_id(capital.lower()) is None:
        return ChallengeVerdict(met=False, said=PIECES.format(capital=capital))
    wrong = said != capital.lower()
    return ChallengeVerdict(met=wrong, said=looked + (MET.format(capital=capital) if wrong else RIGHT))
