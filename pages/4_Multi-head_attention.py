"""Lesson: multi-head attention, from the heads of a layer to what changes without one."""

from lab.course.sentences.looks import look_at_various
from lab.lessons.embeddings import again as embeddings
from lab.lessons.multi_head_attention import again, compared, heads_off, several_layers
from lab.lessons.multi_head_attention import screens as steps
from lab.lessons.self_attention import again as self_attention
from lab.lessons.tokenization import again as tokenization
from lab.ui.drawing import take_click
from lab.ui.page import open_lesson
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import chosen_run, play_head
from lab.ui.quiz.returning import with_earlier

EARLIER = {
    "embeddings": embeddings.questions,
    "self-attention": self_attention.questions,
    "tokenization": tokenization.questions,
}

page = open_lesson("4_Multi-head_attention.py", again.questions)
trace = chosen_run(page)
take_click(steps.MAPS, {HEAD: "map"})
take_click(heads_off.EFFECTS, {LAYER: "q", HEAD: "k"})
play_head(
    page,
    trace,
    {
        "All heads": steps.show_all,
        "Alike or different": compared.show_two,
        "Concatenate": steps.show_concat,
        "Add up": steps.show_sum,
        "One head off": heads_off.show_one,
        "Each head off": heads_off.show_each,
        "Check": with_earlier(page, steps.show_checks, EARLIER),
    },
    more={
        "Through several layers": several_layers.show_layers,
        "Lengths": steps.show_norms,
        "How many": compared.show_count,
    },
    first=look_at_various,
)
