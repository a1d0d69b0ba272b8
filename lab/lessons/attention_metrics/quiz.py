"""The last screen of the attention-metrics lesson: questions graded on this text and this head."""

from __future__ import annotations

from functools import partial

from lab.analysis.heads.attention import attention_map
from lab.analysis.heads.effective import effective_keys
from lab.analysis.heads.metrics import one_head
from lab.analysis.heads.values import is_causal
from lab.course.sentences.examples import EXAMPLES
from lab.lessons.attention_metrics import LESSON, checks, what_if
from lab.models.interventions import Head, Interventions
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.ui import runs
from lab.ui.parameters import MODE, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.metric_choice import found, uniform
from lab.ui.shared.one_head import OneHead


def show_checks(view: OneHead) -> None:
    """Questions on this text and this head."""
    trace, causal, layer = view.trace, is_causal(view.trace), view.layer.index
    weights = attention_map(view.layer, view.head)
    row = weights[view.query]
    keys = float(effective_keys(weights[None])[0, view.query])
    candidates = (
        *_really_run(view),
        checks.maximum_is_one_row((layer, view.head), one_head(weights, causal=causal)),
        checks.one_word_more(keys, float(row.max())),
        what_if.why_divided(len(trace)),
    )
    draw_checks(LESSON, candidates)


def _confidence(trace: Trace, head: Head) -> tuple[float, float]:
    """Raw average confidence of a head, and of a uniform head on the same number of tokens."""
    return float(found(trace).raw["confidence_avg"][head]), float(uniform(trace).raw["confidence_avg"][0])


def _really_run(view: OneHead) -> tuple[Question | None, ...]:
    """Questions that the model answers by reading another text; none about a toy, which reads no other text."""
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
