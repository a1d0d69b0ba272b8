"""Lesson: head specialization, from parts of speech to names and clusters of heads."""

from lab.experiments.notable import grammar_head
from lab.lessons.embeddings import again as embeddings
from lab.lessons.head_specialization import again, clusters, grammar, patterns, survey
from lab.lessons.head_specialization import screens as steps
from lab.lessons.head_specialization.tagged import show_tags
from lab.lessons.multi_head_attention import again as multi_head_attention
from lab.lessons.self_attention import again as self_attention
from lab.ui.drawing import take_click
from lab.ui.page import open_lesson
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import chosen_run, play_head
from lab.ui.quiz.returning import with_earlier

EARLIER = {
    "multi-head-attention": multi_head_attention.questions,
    "embeddings": embeddings.questions,
    "self-attention": self_attention.questions,
}

page = open_lesson("6_Head_specialization.py", again.questions)
trace = chosen_run(page)
for chart in (patterns.NAMED, survey.AVERAGED, clusters.CLUSTERED):
    take_click(chart, {LAYER: "q", HEAD: "k"})
play_head(
    page,
    trace,
    {
        "Tagged sentence": show_tags,
        "Seven metrics": steps.show_seven,
        "Radar": steps.show_radar,
        "Named patterns": patterns.show_patterns,
        "Grammar": grammar.show_grammar,
        "Check": with_earlier(page, patterns.show_checks, EARLIER),
    },
    more={
        "Many sentences": survey.show_many,
        "Clusters": clusters.show_clusters,
    },
    first=grammar_head,
)
