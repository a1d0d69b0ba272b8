"""The head that lesson 6 found: a page that meets this head again says so, and leads back to lesson 6."""

from __future__ import annotations

import streamlit as st

from lab.course.pages import lesson_of, number
from lab.course.words import head_name
from lab.evidence.notable import shipped
from lab.models.interventions import Head
from lab.models.loading import LoadedModel
from lab.ui import parameters, selection
from lab.ui.texts import put_texts

_JOB = "nsubj:dependent"  # the job: from a verb, the head finds the verb's subject
_LESSON, _STEP = "head-specialization", "grammar"


def subject_head(model: LoadedModel) -> Head | None:
    """The head that finds the subject of a verb best, layer and head from 0; None if no result ships that names it."""
    found = (each.heads[0] for each in shipped(model) or () if each.job.id == _JOB)
    best = next(found, None)
    return None if best is None else (best.layer, best.head)


def met_again(model: LoadedModel, head: Head) -> None:
    """If ``head`` is the head of lesson 6, say that the learner has met it, and lead back; otherwise draw nothing."""
    if head != subject_head(model):
        return
    lesson = lesson_of(_LESSON)
    with st.container(horizontal=True, vertical_alignment="center"):
        told = f"You have met {head_name(head)} in lesson {number(lesson)}."
        st.markdown(told, width="content")
        label, icon = f"Back to lesson {number(lesson)}", ":material/arrow_back:"
        if st.button(label, key="_met_again", icon=icon, type="tertiary", on_click=_take, args=(head,)):
            selection.open_page(lesson, lesson.step(_STEP).name)


def _take(head: Head) -> None:
    """Choose this head for every page."""
    parameters.LAYER.set(head[0] + 1)
    parameters.HEAD.set(head[1] + 1)
    parameters.STEP.set(lesson_of(_LESSON).step(_STEP).name)
    put_texts()
