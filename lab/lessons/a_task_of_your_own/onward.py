"""The end of the course: how the model made a word, the uses of its last vectors, and where to go on."""

import streamlit as st

from lab.course.pages import step_name
from lab.lessons.masked_language_model.tries import show_own_sentence
from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.parameters import MODE, TEACH, TOY
from lab.ui.terms import say

_FILLS = (
    "The last vectors are useful for other tasks, too. A new layer reads BERT’s vector of [CLS] and sorts whole "
    "texts. Another layer reads the vectors of the tokens and marks names or answers (Devlin et al. 2019, §4 and "
    "§5.3). To compare sentences, the mean of the last vectors works better than the vector of [CLS]. Without "
    "further training, neither of them works well (Reimers and Gurevych 2019)."
)
_WRITES = (
    "To write, a model like this draws a token, appends it, and asks again. Only the last token has seen the whole "
    "text. With further training, its vector goes to a new layer that sorts or compares texts (Radford et al. 2018, "
    "§3.2 and §3.3). A larger model of this kind can do a task if its text merely describes the task (Radford et al. "
    "2019)."
)
ONWARD = (
    "Before transformers, recurrent networks read a text word by word (Hochreiter and Schmidhuber 1997). Attention "
    "was first added to help such networks (Bahdanau et al. 2015). Then models used attention alone (Vaswani et al. "
    "2017). What a model learns from unlabelled text also helps with other tasks. This is called **transfer "
    "learning** (Howard and Ruder 2018). Today, there are far larger models (Brown et al. 2020), and models that "
    "have learned to follow instructions (Ouyang et al. 2022). To learn what single parts of such models compute, "
    "read Elhage et al. 2021."
)


def uses(trace: Trace) -> str:
    """Say what the last vectors are used for, in a model that fills blanks or in a model that continues a text."""
    return _WRITES if trace.model.config.causal else _FILLS


def show_onward(page: LessonPage, trace: Trace) -> None:
    """Show the uses of the vectors, the sources of the ideas (folded), and a field for the learner's sentence."""
    st.header("Where to go from here")
    say(uses(trace))
    with st.expander("Before and beyond this lab", icon=":material/history:"):
        say(ONWARD)
    if page.selection[MODE] != TOY and not page.selection[TEACH]:
        show_own_sentence(step_name(page.lesson.id, "next-token" if trace.model.config.causal else "hide-words"))
