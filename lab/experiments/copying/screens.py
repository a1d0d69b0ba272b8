"""The page of the experiment about copying, from the prediction to a sequence that a reader can follow."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.course.heads import head_name
from lab.course.words import escaped
from lab.evidence.shipped import model_hash
from lab.experiments.copying import meanings, measure, sequence
from lab.experiments.copying.figures import as_frame, distance_frame, head_table, loss_chart, score_frame
from lab.experiments.copying.induction import copying
from lab.experiments.copying.measure import BOUND, DRAWS, MEASUREMENT, PERIOD, TEXTS, CopyingTest
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import parameters
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.experiments.guesses import show_score
from lab.ui.experiments.page import ExperimentPage
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.script import meaning
from lab.ui.long_work import offer
from lab.ui.tables import DECIMAL, Column, show_table

TESTED = "lab-gpt2"  # a model that ships with the lab, and that the experiment can test
_AWAY = Column("away", 140), Column("head", 80)
_RISES = (
    Column("loss rises by", 70, DECIMAL, "at 0", "The rise of the loss when the head writes 0."),
    Column("low", 54, DECIMAL),
    Column("high", 54, DECIMAL),
    Column("at its mean", 70, DECIMAL, "at mean", "The rise of the loss when the head writes its mean."),
    Column("at its mean, low", 54, DECIMAL, "low"),
    Column("at its mean, high", 54, DECIMAL, "high"),
)
_SCORES = (
    Column("induction score", 76, DECIMAL, "induction", "The induction score of one head; a pair of heads has none."),
    Column("previous-token score", 74, DECIMAL, "previous", "The previous-token score of one head; a pair has none."),
)
_BEYOND = (
    Column("decides", 66, help="The verdict uses the column named here, because its effect is the smaller of the two."),
    Column("beyond random", 72, DECIMAL, "beyond", "The rise of the loss minus the rise without random heads."),
    Column("beyond, low", 54, DECIMAL, "low"),
    Column("beyond, high", 54, DECIMAL, "high"),
    Column("untrained twin", 56, DECIMAL, "twin", "The effect in the untrained twin."),
    Column("n", 46),
)
_DISTANCES = (
    Column("tokens back", 110),
    Column("repeated", 150, DECIMAL, "in repeated text"),
    Column("not repeated", 170, DECIMAL, "without repetition"),
)


def show(page: ExperimentPage) -> Trace | None:
    """Draw the whole experiment; returns one of its runs, for the badge."""
    model = page.model()
    if reason := measure.untestable(model):
        st.info(f"**Not testable here.** {escaped(reason)}", icon=":material/info:")
        st.button(
            f"Choose {TESTED}",
            icon=":material/swap_horiz:",
            key="_experiment_model",
            on_click=parameters.MODEL.set,
            args=(TESTED,),
        )
        return None
    name, found = f"{MEASUREMENT.id}.{model.id}", measure.known(model)
    if not page.predicted(name, meanings.ASKS):
        return None
    if found is None:
        st.markdown(
            f"{escaped(model.id)} has not been measured yet. This takes half a minute for a small model and a few "
            "minutes for GPT-2."
        )
        _run(model, "Run the experiment")
        return None
    show_score(name, meanings.ASKS, meanings.answers(found))
    _result(model, found)
    with st.expander("One sequence, token by token", icon=":material/format_quote:"):
        return sequence.show(model, found)


def method(model: LoadedModel) -> str:
    """Say in full how the claim is tested on a model."""
    period = min(PERIOD, model.config.max_tokens // 2)
    return (
        f"Each of {TEXTS} texts has {period} random tokens, then the same tokens again. A model cannot guess the "
        "tokens of the first copy, but it can copy them in the second. A head’s **induction score** is the mean weight "
        "that it gives to the token that came after the current one last time; its **previous-token score** is the "
        "mean weight that it gives to the token before. On half **A** of the texts two heads are chosen: the **best "
        "induction head**, with the highest induction score, and the earlier head whose removal lowers that score "
        "most. On half **B** each of the two heads is taken away, then both: a head that is taken away writes 0, or "
        "its mean over the text. The controls are the other heads, each taken away alone, and other pairs of heads; if "
        f"there are more than {DRAWS}, {DRAWS} are drawn at random.\n\n"
        f"{meanings.what_a_loss_is(model.config.vocabulary)}"
    )


def _run(model: LoadedModel, label: str) -> None:
    help = "The model reads the texts again without each earlier head, then without the chosen heads and random heads."
    offer((MEASUREMENT.id, model_hash(model)), label, partial(measure.again, model), help)


def _result(model: LoadedModel, found: CopyingTest) -> None:
    draw(partial(loss_chart, model), "copying-loss")
    st.caption(
        f"The **loss** says how unlikely the right token was: the lower, the better. **No {found.rows[0].name}**: the "
        f"output of {head_name(found.best)} is replaced by its mean. **All alike**: every token gets the same "
        "probability."
    )
    meaning(meanings.meaning_of(found, model.id))
    show_verdict(meanings.verdict_of(found))
    with st.expander("More about the result", icon=":material/notes:"):
        st.markdown(meanings.in_full(found))
        if found.distances:
            show_table(distance_frame(found), _DISTANCES)
            st.caption(
                "The numbers are means over B of the weight that the best head gives to the token at this distance."
            )
    with st.expander("All numbers, and each verdict with its reason", icon=":material/table_rows:"):
        _tables(as_frame(found))
        st.caption(
            "**At 0**, **at mean**: the rise of the loss over the second copy, without its first token, when the heads "
            "write 0 or their mean. **Beyond**: this rise minus the mean rise without random heads (one random head "
            "for one head, two for two). **Low** to **high** is the 95 % interval of this difference, with the random "
            "heads held fixed (2,000 bootstraps over the texts of B). The scores are means over B."
        )
        show_numbers(partial(head_table, model), "copying-heads", partial(head_table, model))
        st.markdown(meanings.verdicts(found))
    show_rule(
        "The effect is the rise of the loss minus the rise without random heads. Heads are taken away in two ways: the "
        "smaller effect counts, and the loss must clearly rise in both ways. The paper reports no such figure, so an "
        f"effect must be at least {BOUND} nats."
    )
    with st.expander("Every head’s scores", icon=":material/table_rows:"):
        scores = score_frame(found)
        shown = dict.fromkeys(scores.columns[1:], "%.3f")
        show_table(scores, formats=shown)
        st.caption(
            f"{meanings.bias_of(found)} **Best head’s score falls by**: the fall on A when this head is taken away."
        )
    with origin(found.made, "texts"):
        _run(model, "Measure it again here")
    code(copying)


def _tables(frame: pd.DataFrame) -> None:
    """Draw the heads of the claim, and the random heads below."""
    judged = frame["verdict"].notna()
    means = [each for each in _RISES if each.heading in ("at 0", "at mean")]
    show_table(frame[judged], [*_AWAY, Column("verdict", 100), *means, *_BEYOND], long_texts=True)
    with st.expander("Without random heads", icon=":material/casino:"):
        show_table(frame[~judged], [*_AWAY, *_RISES, *_SCORES], scrolls=True)
