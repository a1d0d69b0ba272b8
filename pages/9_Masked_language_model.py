"""Lesson: the masked-language model, from a hidden state to a word."""

import streamlit as st

from lab.ui import prediction_steps as steps
from lab.ui.lesson import open_lesson
from lab.ui.prediction_view import cannot_predict, look

page = open_lesson("9_Masked_language_model.py")
trace = page.trace()
reason = cannot_predict(trace.model)
proven = trace

if reason is not None:
    st.info(reason, icon=":material/info:")
else:
    causal = trace.model.config.causal
    STEPS = {
        **({"Next token": steps.show_next} if causal else {"Hide words": steps.show_hidden}),
        "From vector to word": steps.show_vector,
        "Softmax": steps.show_softmax,
        **({} if causal else {"Without the mask": steps.show_unmasked}),
        "Check": steps.show_checks,
    }
    step = page.step(list(STEPS))
    view = look(page, trace, first=step == "Hide words")
    if view is not None:
        STEPS[step](view)
        proven = view.trace
    page.next_step(list(STEPS))
page.finish()
page.prove(proven)
