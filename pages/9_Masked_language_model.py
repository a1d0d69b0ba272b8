"""Lesson: the masked-language model, from a hidden state to a word."""

import streamlit as st

from lab.lessons.embeddings import again as embeddings
from lab.lessons.feed_forward import again as feed_forward
from lab.lessons.inter_sentence_attention import again as sentences
from lab.lessons.masked_language_model import again
from lab.lessons.masked_language_model import screens as steps
from lab.lessons.masked_language_model.every_place import show_every_place
from lab.lessons.masked_language_model.lens import show_lens
from lab.lessons.masked_language_model.likelihood import show_likelihood
from lab.lessons.masked_language_model.next_sentence import show_next_sentence
from lab.lessons.masked_language_model.onward import show_onward
from lab.lessons.masked_language_model.quiz import show_checks
from lab.lessons.masked_language_model.sampling import show_sampling
from lab.lessons.masked_language_model.toy import TOY_STEPS, toy_trace
from lab.lessons.masked_language_model.tries import own_sentence
from lab.lessons.self_attention import again as self_attention
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY
from lab.ui.prediction import cannot_predict, look
from lab.ui.quiz.returning import with_earlier

EARLIER = {
    "inter-sentence-attention": sentences.questions,
    "feed-forward": feed_forward.questions,
    "embeddings": embeddings.questions,
    "self-attention": self_attention.questions,
}

page = open_lesson("9_Masked_language_model.py", again.questions)
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()
reason = cannot_predict(trace.model)
proven = trace

if reason is not None:
    st.info(reason, icon=":material/info:")
else:
    causal = trace.model.config.causal
    # Steps that ask about one place of the text, and those that take the text as it stands.
    ASKING = {
        **({"Next token": steps.show_next} if causal else {"Hide words": steps.show_hidden}),
        "From vector to word": steps.show_vector,
        "Softmax": steps.show_softmax,
        "Logit lens": show_lens,
        **({} if causal else {"Without the mask": steps.show_unmasked}),
        "Check": with_earlier(page, show_checks, EARLIER),
    }
    BESIDE = {"Sampling": show_sampling} if causal else {}
    WHOLE = {"Every place": show_every_place, "Likelihood": show_likelihood, "Next sentence": show_next_sentence}
    ASKING, BESIDE, WHOLE = page.offered(ASKING), page.offered(BESIDE), page.offered(WHOLE)
    names, more = [*(TOY_STEPS if toy else ()), *ASKING], [*BESIDE, *WHOLE]
    step = page.step(names, more)
    if step in TOY_STEPS:
        TOY_STEPS[step](page)
    elif step in WHOLE:
        proven = WHOLE[step](trace)
    elif (view := look(page, trace, first=step == "Hide words")) is not None:
        {**ASKING, **BESIDE}[step](view)
        proven = view.trace
    if step == "Check":
        show_onward(trace)
    if step == names[-1] and not toy and not page.selection.teach:
        own_sentence(names[0])
    page.next_step(names, more)
page.finish()
page.prove(proven)
