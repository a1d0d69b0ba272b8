"""The verb that a model prefers without each head, when a noun of the other number is nearer than the subject."""

from __future__ import annotations

from dataclasses import dataclass

from lab.analysis.words.masking import hide
from lab.analysis.words.preferred import Preferred, preferred
from lab.course.sentences.subject_verb import ATTRACTIONS, FORMS, Attraction
from lab.evidence.pairs import before
from lab.models.encoding import encode
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, changed, trace_encoding


@dataclass(frozen=True, eq=False)
class AskedVerb:
    """A run in which the verb at ``place`` (from 0) is to be predicted; ``forms`` are the ids of :data:`FORMS`."""

    trace: Trace
    place: int
    forms: tuple[int, int]


def asked_verb(model: LoadedModel, sentence: Attraction) -> AskedVerb | None:
    """The sentence with its verb hidden, or, for a causal model, the words before its verb.

    None if a form of the verb is not one token, or a word is unknown to the model.
    """
    good, bad = (encode(model.tokenizer, model.config, sentence.filled(form)) for form in FORMS)
    both = list(zip(good.token_ids, bad.token_ids, strict=False))
    places = [at for at, (one, other) in enumerate(both) if one != other]
    if len(good) != len(bad) or len(places) != 1 or model.unknown in good.token_ids:
        return None
    place, mask = places[0], model.mask
    if model.config.causal:
        return AskedVerb(trace_encoding(model, before(good, place)), place - 1, both[place])
    return None if mask is None else AskedVerb(trace_encoding(model, hide(good, [place], mask)), place, both[place])


@once
def attractions(model: LoadedModel) -> tuple[Preferred, ...] | None:
    """The share of “were” against “was” in each of :data:`ATTRACTIONS`, with all heads and without each single head.

    None if the model cannot read one of the sentences. Raises ValueError for a model without a vocabulary head.
    """
    asked = [asked_verb(model, sentence) for sentence in ATTRACTIONS]
    read = [each for each in asked if each is not None]
    if len(read) < len(asked):
        return None
    return tuple(preferred(each.trace, each.place, each.forms) for each in read)


@once
def attractions_at_mean(model: LoadedModel, head: Head) -> tuple[float, ...]:
    """The share of “were” in each of :data:`ATTRACTIONS` with ``head`` at its mean over the sentence.

    Zero may be a value that a head never has, so its mean is the second way to take a head away (Michel et al. 2019 set
    heads to 0; Wang et al. 2022 to a mean). Raises ValueError if the model cannot read one of the sentences.
    """
    asked = [each for sentence in ATTRACTIONS if (each := asked_verb(model, sentence)) is not None]
    if len(asked) < len(ATTRACTIONS):
        raise ValueError(f"{model.id} cannot read all of these sentences.")
    off = Interventions(mean_heads=frozenset({head}))
    logits = [changed(each.trace, off).logits(each.place)[0][list(each.forms)].double() for each in asked]
    return tuple(float((first - second).sigmoid()) for first, second in logits)
