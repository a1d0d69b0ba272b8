"""The last screen of the attention-metrics lesson: questions graded on this text and this head."""

from __future__ import annotations

from functools import partial

import numpy as np

from lab.analysis.heads import metric_parts
from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.values import is_causal
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import named
from lab.lessons.attention_metrics import LESSON, checks, what_if
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.ui import runs
from lab.ui.parameters import MODE, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.metric_choice import found, threshold, uniform
from lab.ui.shared.one_head import OneHead


def show_checks(view: OneHead) -> None:
    """Questions on this text and this head."""
    trace, causal, layer = view.trace, is_causal(view.trace), view.layer.index
    weights = attention_map(view.layer, view.head)
    # “By hand” asks about the chosen row itself.
    query = view.query + 1 if view.query + 1 < len(trace) else max(view.query - 1, 0)
    row, token = metric_parts.entropy_of_row(weights, query, causal=causal), named(trace, query)
    draw_checks(
        LESSON,
        (
            *_really_run(view),
            what_if.why_divided(len(trace)),
            checks.maximum_is_one_row(
                (layer, view.head), metric_parts.metric_parts(weights, causal=causal, threshold=threshold())
            ),
            checks.row_share(token, row),
            checks.most_even_layer(spread) if not np.isnan(spread := found(trace).corrected["spread"]).any() else None,
            checks.most_confident(layer, found(view.trace).raw["confidence_avg"][layer]),
            checks.effective_keys(token, row),
            checks.uniform_average(len(trace), causal),
        ),
        most=4,
    )


def _confidence(trace: Trace, head: Head) -> tuple[float, float]:
    """Confidence (average), raw, of a head and of a uniform one on as many tokens."""
    return float(found(trace).raw["confidence_avg"][head]), float(uniform(trace).raw["confidence_avg"][0])


def _really_run(view: OneHead) -> tuple[Question | None, ...]:
    """Questions that the model answers by reading another text: none about a toy, which reads no other."""
    trace, head = view.trace, (view.layer.index, view.head)
    if view.page.selection[MODE] == TOY:
        return ()
    run = partial(runs.run, trace.model.id, pair="", changes=Interventions())
    other = next(example.text for example in EXAMPLES if example.text != trace.text)
    longer = run(f"{trace.text} {trace.text}") if 2 * len(trace) <= trace.model.config.max_tokens else None
    return (
        what_if.another_sentence(head, found(trace).corrected["spread"], found(run(other)).corrected["spread"], other),
        None
        if longer is None or trace.pair
        else what_if.said_twice(head, *(_confidence(each, head) for each in (trace, longer))),
    )
