"""The end of the last lesson: other uses of the last vectors, and the history of the ideas."""

import streamlit as st

from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.screen import say

_FILLS = (
    "The last vectors are useful for other tasks, too. A new layer reads the vectors of the tokens and marks names or "
    "answers (Devlin et al. 2019, §4 and §5.3). To compare sentences, the mean of the last vectors works better than "
    "the vector of [CLS], and both work well only after further training (Reimers and Gurevych 2019)."
)
_WRITES = (
    "To write, a model like this draws a token, appends it, and asks again. Only the last token has seen the whole "
    "text. With further training, its vector goes to a new layer that sorts or compares texts (Radford et al. 2018, "
    "§3.2 and §3.3). A larger model of this kind can do a task if its text merely describes the task (Radford et al. "
    "2019)."
)
ONWARD = (
    "Before transformers, recurrent networks read a text word by word (Hochreiter and Schmidhuber 1997). Attention was "
    "first added to help such networks (Bahdanau et al. 2015). Then attention took the place of recurrence (Vaswani "
    "et al. 2017). "
    "What a model learns from unlabelled text also helps with other tasks. This is one kind of **transfer learning** "
    "(Howard and Ruder 2018). Today, there are far larger models (Brown et al. 2020), and models that have learned to "
    "follow instructions (Ouyang et al. 2022). To learn what single parts of such models compute, read Elhage et al. "
    "2021."
)


def uses(trace: Trace) -> str:
    """Say what the last vectors are used for, in a model that fills blanks or in a model that continues a text."""
    return _WRITES if trace.model.config.causal else _FILLS


def show_onward(page: LessonPage, trace: Trace) -> None:
    """Show the other uses of the vectors, and, folded, the sources of the ideas."""
    st.header("Where to go from here")
    say(uses(trace))
    with st.expander("Before and beyond this lab", icon=":material/history:"):
        say(ONWARD)
