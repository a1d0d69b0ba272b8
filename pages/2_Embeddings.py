"""Lesson: embeddings, from an id to the vector that enters the first layer."""

from lab.ui import embedding_steps as steps
from lab.ui import position_steps as positions
from lab.ui import sinusoid_steps as sinusoids
from lab.ui.attention_steps import choose_token
from lab.ui.chosen_tokens import with_tokens
from lab.ui.embedding_quiz import show_checks
from lab.ui.lesson import open_lesson
from lab.ui.parameters import TOY
from lab.ui.position_lab import show_position_lab
from lab.ui.segment_steps import show_segments
from lab.ui.toy_steps import TOY_STEPS, toy_trace

page = open_lesson("2_Embeddings.py")
toy = page.selection.mode == TOY
trace = toy_trace(page) if toy else page.trace()

OF_A_TOKEN = {
    "Vectors": steps.show_vectors,
    "Sum": steps.show_sum,
    "Lengths": steps.show_lengths,
}
OF_THE_TEXT = {
    "Segments": show_segments,
    "Learned or computed": positions.show_tables,
    "Similarity": positions.show_similarity,
    "Wavelengths": sinusoids.show_wavelengths,
    "Shift": sinusoids.show_shift,
    "Position lab": show_position_lab,
    "Check": show_checks,
}
names = [*(TOY_STEPS if toy else ()), *OF_A_TOKEN, *OF_THE_TEXT]
step = page.step(names)
token, _ = with_tokens(page.selection, trace)
view = steps.View(page, trace, token)

if step in OF_A_TOKEN:
    choose_token(trace, "token", "Token", token)
    OF_A_TOKEN[step](view)
elif step in OF_THE_TEXT:
    OF_THE_TEXT[step](view)
else:
    TOY_STEPS[step](page)
page.next_step(names)

page.finish()
page.prove(trace)
