"""The course map: where a learner starts and comes back to."""

from urllib.parse import quote

import streamlit as st

from lab.course.benches import BENCHES
from lab.course.lessons import GLOSSARY_PAGE, MODELS_PAGE, ROOM_PAGE, script
from lab.front import experiment, way
from lab.ui import progress_view, selection, shell, teaching

# The answer, were, depends on a word before the blank: with one boy it is was.
TASK = f"Masked_language_model?text={quote('The boys [MASK] playing in the garden.')}"

shell.route()

st.title("Inside BERT")
st.markdown("**How does a machine know what belongs in the blank?**")
now = experiment.show(experiment.filling_model(selection.current().model))
st.markdown(
    "A **BERT** is a neural network that learns by filling blanks in texts. To fill them well, it has to pick up "
    "grammar, and something about the world. The chatbots you know are built of the same parts: they are "
    "**transformers**, too, and learned to write the next word."
)
way.start()
if now is not None:
    st.header("The way from text to word, for this sentence")
    way.show(now)
st.header("Explore")
st.markdown("Benches show the same runs as the lessons, with every control and without questions.")
with st.container(horizontal=True):
    for bench in BENCHES:
        st.page_link(script(bench.page), label=bench.title, icon=bench.icon, help=bench.question)
    st.page_link(script(MODELS_PAGE), label="Models", icon=":material/badge:")
    st.page_link(script(GLOSSARY_PAGE), label="Glossary", icon=":material/dictionary:")
progress_view.review()
progress_view.keep()
st.header("For teachers", anchor="for-teachers")
st.markdown(
    "- **Before a class.** In the teaching view the type is larger, answers wait for a click on Reveal, and nothing is "
    "scored. Click Teach, or add `?teach=1` to the address of a page: [lesson 3 before a "
    "class](Self-attention?teach=1).\n- **The same questions for everybody.** Add `?seed=7`, or another number, to the "
    "address. Everybody who opens it gets the same checks, with the answers in the same order: [the checks of lesson "
    "3, seed 7](Self-attention?seed=7&step=Check).\n- **A task.** Sentence, model, step and head are part of the "
    f"address. Choose them, then copy it: [why not *was*?]({TASK})\n- **The class answers together.** Open a room. "
    "Everybody answers a question of a lesson alone, discusses, answers again, and then one of the same kind about "
    "another sentence.\n- **What you show them.** The [cards of the "
    "models](Models) say what they were trained on and what they cannot do."
)
with st.container(horizontal=True, vertical_alignment="center"):
    st.button("Teach", icon=":material/co_present:", on_click=teaching.turn, args=(1,))
    st.page_link(script(ROOM_PAGE), label="Open a room", icon=":material/groups:")
