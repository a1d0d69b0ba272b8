"""The end of the course: what the last vectors are used for, and where to go from here."""

import streamlit as st

USES = (
    "The last vectors serve other tasks, too. BERT’s vector of [CLS] goes to a new layer that sorts whole texts, and "
    "those of the tokens to one that marks names or answers (Devlin et al. 2019, §4 and §5.3). To compare sentences, "
    "the mean of the last vectors beats [CLS]; without further training neither does well (Reimers and Gurevych 2019)."
)
ONWARD = (
    "Before transformers, recurrent networks read a text word by word (Hochreiter and Schmidhuber 1997). Attention was "
    "first a help for them (Bahdanau et al. 2015). Then it stood alone (Vaswani et al. 2017). What a model learns from "
    "unlabelled text carries over to other tasks: this is **transfer learning** (Howard and Ruder 2018). Beyond this "
    "lab lie models that are far larger (Brown et al. 2020), and models that learned to follow instructions (Ouyang et "
    "al. 2022). For what single parts of such models compute, read on at Elhage et al. 2021."
)


def show_onward() -> None:
    """What the vectors are used for, and folded where the ideas come from."""
    st.header("Where to go from here")
    st.markdown(USES)
    with st.expander("Before and beyond this lab", icon=":material/history:"):
        st.markdown(ONWARD)
