"""Lesson: self-attention, from query and key to the weighted sum of values."""

from lab.lessons.embeddings import again as embeddings
from lab.lessons.self_attention import again
from lab.lessons.self_attention import screens as steps
from lab.lessons.self_attention.break_it import break_it
from lab.lessons.self_attention.extras import by_hand
from lab.lessons.self_attention.row import show_built
from lab.lessons.tokenization import again as tokenization
from lab.ui.page import open_lesson
from lab.ui.play import chosen_run, play_head
from lab.ui.quiz.returning import with_earlier

EARLIER = {"tokenization": tokenization.questions, "embeddings": embeddings.questions}

page = open_lesson("3_Self-attention.py", again.questions)
play_head(
    page,
    chosen_run(page),
    {
        "Map": steps.show_map,
        "Queries and keys": steps.show_queries_and_keys,
        "Build a row": show_built,
        "Scale": steps.show_scale,
        "Values": steps.show_values,
        "Break it": break_it,
        "Check": with_earlier(page, steps.show_checks, EARLIER),
    },
    more={"Scores": steps.show_scores, "Softmax": steps.show_softmax, "By hand": by_hand},
)
