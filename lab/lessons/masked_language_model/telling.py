"""The lab's sentence with a blank that shows most about a model."""

from __future__ import annotations

from lab.analysis.words.in_blank import Run, blank_of
from lab.course.sentences.blanks import BLANKS, Blank
from lab.models.loading import LoadedModel


def telling(run: Run, model: LoadedModel) -> Blank:
    """The first sentence to which this model has two answers, before and after the change; otherwise the first one."""
    for blank in BLANKS:
        both = [blank_of(run, model, text) for text in (blank.text, blank.changed)]
        if len({each.best(1)[0] for each in both if each is not None}) == len(both):
            return blank
    return BLANKS[0]
