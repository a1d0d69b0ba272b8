"""Lesson: attention metrics, from a head's map to six numbers that can be compared."""

from lab.lessons.attention_metrics import again, limits, parked
from lab.lessons.attention_metrics import screens as steps
from lab.lessons.attention_metrics.quiz import show_checks
from lab.lessons.multi_head_attention import again as multi_head_attention
from lab.lessons.self_attention import again as self_attention
from lab.lessons.tokenization import again as tokenization
from lab.ui.drawing import take_click
from lab.ui.page import open_lesson
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import chosen_run, play_head
from lab.ui.quiz.returning import with_earlier

EARLIER = {
    "self-attention": self_attention.questions,
    "tokenization": tokenization.questions,
    "multi-head-attention": multi_head_attention.questions,
}

page = open_lesson("5_Attention_metrics.py", again.questions)
trace = chosen_run(page)
for chart in (steps.ALL_HEADS, parked.SHARES):
    take_click(chart, {LAYER: "q", HEAD: "k"})
play_head(
    page,
    trace,
    {
        "All heads": steps.show_all,
        "Two heads": steps.show_two,
        "Six numbers": steps.show_six,
        "By hand": steps.show_by_hand,
        "Parked heads": parked.show_parked,
        "Check": with_earlier(page, show_checks, EARLIER),
    },
    more={
        "One layer": steps.show_layer,
        "Special tokens": limits.show_specials,
        "Threshold": limits.show_threshold,
        "Length": limits.show_length,
    },
)
