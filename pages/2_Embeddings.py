"""Lesson: embeddings, from an id to the vector that enters the first layer."""

from lab.lessons.embeddings import positions, sinusoids
from lab.lessons.embeddings import screens as steps
from lab.lessons.embeddings.position_lab import show_position_lab
from lab.lessons.embeddings.quiz import show_checks
from lab.lessons.embeddings.segments import show_segments
from lab.ui.chosen_tokens import with_tokens
from lab.ui.one_head import choose_token
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY
from lab.ui.toys.steps import TOY_STEPS, toy_trace

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
view = steps.EmbeddingView(page, trace, token)

if step in OF_A_TOKEN:
    choose_token(trace, "Token", token)
    OF_A_TOKEN[step](view)
elif step in OF_THE_TEXT:
    OF_THE_TEXT[step](view)
else:
    TOY_STEPS[step](page)
page.next_step(names)

page.finish()
page.prove(trace)
