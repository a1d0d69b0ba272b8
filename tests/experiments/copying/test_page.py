"""What the page on copying says of a result is computed again from the result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import numpy as np
import pytest

import lab
from lab.evidence.reasons import LABELS, why
from lab.experiments.copying import page
from lab.experiments.copying.induction import MEAN, losses
from lab.experiments.copying.measure import BEST, BOTH, SOURCE, CopyingTest, known
from lab.experiments.copying.page import as_frame, distance_frame, head_table, loss_chart, score_frame
from lab.figures.notebook import python_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from tests.conftest import TinyCheckpoint


@pytest.fixture(scope="module")
def gpt2() -> LoadedModel:
    return lab.load_model("lab-gpt2")


@pytest.fixture(scope="module")
def found(gpt2: LoadedModel) -> CopyingTest:
    result = known(gpt2)
    assert result is not None
    return result


def moved(found: CopyingTest, kind: str, by: float) -> CopyingTest:
    """The result, had the loss without these heads been the plain one and ``by`` more, by both ablations."""
    runs = [replace(run, second=found.plain.second + by) if run.kind == kind else run for run in found.runs]
    return replace(found, runs=tuple(runs))


def test_the_meaning_has_the_table_s_numbers(found: CopyingTest, gpt2: LoadedModel) -> None:
    said, full, table = page.meaning_of(found, "m"), page.in_full(found), as_frame(found)
    best, random = table.iloc[0], table[table["away"] == "random head"]
    layer, head = best["head"].split("-")
    assert f"Without layer {layer}, head {head} the loss of the second copy rises by {best['at its mean']:.2f};" in said
    assert f"without a random head it rises by {random['at its mean'].mean():.2f}." in said
    both = found.run(BOTH, MEAN)
    assert both is not None and f"the loss rises by {both.second.mean() - found.plain.second.mean():.2f}." in said
    assert (
        f"When head {best['head']} writes 0 instead of its mean, the loss rises by {best['loss rises by']:.2f}"
    ) in full
    assert f"When a random head writes 0, the loss rises by {random['loss rises by'].mean():.2f}." in full
    alike, second = log(gpt2.config.vocabulary), found.plain.second.mean()
    first = found.plain.by_place[: found.period - 1].mean()
    assert f"falls from {first:.1f} in the first copy to {second:.1f} in the second." in said
    assert 0.25 < (alike - second) / alike < 0.75 and "**m copies in part:**" in said
    most = random.sort_values("at its mean").iloc[-1]
    assert (f"Removing one of the random heads, {most['head']}, raises the loss by" in page.in_full(found)) == (
        most["at its mean"] >= best["at its mean"] / 2
    )


def test_what_a_0_costs_beyond_all_copying_is_said_to_be_more(found: CopyingTest) -> None:
    assert found.most_lost == pytest.approx(log(found.vocabulary) - found.plain.second.mean())
    told = page.in_full(found)
    assert f"losing all copying costs at most **{found.most_lost:.2f} nats**" in told
    for row in found.rows:
        assert (f"{row.name} ({row.zero.rise:.2f})" in told) == (row.zero.rise > found.most_lost)
    less = moved(moved(moved(found, BEST, 0.5), SOURCE, 0.5), BOTH, 0.5)
    assert "rises even more" not in page.in_full(less)


def test_the_meaning_says_where_the_two_heads_look(found: CopyingTest) -> None:
    said, scores = page.in_full(found), score_frame(found).set_index("head")
    best, source = found.rows[0].name, found.rows[1].name
    before = scores["previous-token score"]
    assert f"Head {best} gives {scores['induction score'][best]:.2f} of its attention" in said
    assert (
        f"Head {source} gives {before[source]:.2f} of its attention to the previous token, the largest share among "
        "all 32 heads"
    ) in said
    assert before.idxmax() == source and f"{source} tells each token which token came before it" in said
    other = page.in_full(replace(found, previous=-found.previous))
    assert "number 32 among all 32 heads" in other and "work together" not in other
    assert "work together" not in page.in_full(moved(found, BEST, 0.0))


def test_the_control_for_position_is_read_off_the_texts(found: CopyingTest) -> None:
    place = next(each for each in found.distances if each.period == found.period)
    fresh, repeated = place.fresh.mean(), place.repeated.mean()
    said = page.in_full(found)
    assert (
        f"gives {fresh:.2f} of its attention to the token at that distance; in repeated text, it gives {repeated:.2f}"
        in said
    )
    assert fresh < 0.25 * repeated and "not for the distance" in said
    assert (page.decided(found) or (None,))[0] == 1
    same = tuple(replace(each, fresh=each.repeated) for each in found.distances)
    fixed = replace(found, distances=same)
    assert "not for the distance" not in page.in_full(fixed)
    assert (page.decided(fixed) or (None,))[0] == 0
    assert page.decided(replace(found, distances=())) is None
    assert distance_frame(found)["repeated"].tolist() == [each.repeated.mean() for each in found.distances]


@pytest.mark.parametrize(
    ("more", "told"), [(1.0, "raises the loss by another 1.00"), (0.0, "hardly changes the loss"), (-1.0, "")]
)
def test_the_second_head_s_part_is_read_off_the_couple(found: CopyingTest, more: float, told: str) -> None:
    said = page.in_full(moved(moved(found, BEST, 2.0), BOTH, 2.0 + more))
    assert ("away as well" in said) == bool(told) and told in said


def test_beyond_all_copying_the_couple_says_nothing_of_copying(found: CopyingTest) -> None:
    most = found.most_lost
    said = page.in_full(moved(moved(found, BEST, most + 1), BOTH, most + 3))
    assert "tells us nothing about copying" in said and "does not serve" not in said


def test_a_loss_is_explained_by_that_of_a_model_that_knows_nothing() -> None:
    assert f"a loss of {log(8192):.1f}." in page.what_a_loss_is(8192)


def test_equal_verdicts_are_said_once(found: CopyingTest) -> None:
    told = page.verdicts(found)
    in_a_line = page.verdict_of(found)
    for row in found.rows:
        (part,) = [part for part in in_a_line.split(" Without ") if page.AWAY[row.kind] in part]
        assert f"**{LABELS[row.judged.verdict]}**" in part
    for verdict in {LABELS[row.judged.verdict].capitalize() for row in found.rows}:
        reasons = {why(row.judged) for row in found.rows if LABELS[row.judged.verdict].capitalize() == verdict}
        assert told.count(f"**{verdict}**") == len(reasons)
    none = page.verdicts(moved(found, BEST, 0.0))
    assert none.startswith(("- **Opposite**: the best induction head", "- **Not reproduced**: the best"))


def test_a_model_that_does_not_copy_is_said_not_to(found: CopyingTest) -> None:
    worse = replace(found.plain, second=found.plain.second + 20)
    assert "does not copy" in page.meaning_of(replace(found, runs=(worse, *found.runs[1:])), "m")
    few = replace(found, vocabulary=10)
    said = "no lower than the loss of a model that gives every token the same probability"
    assert said in page.meaning_of(few, "m")


def test_choosing_is_said_to_flatter_only_where_it_does(found: CopyingTest) -> None:
    assert "no visible bias" in page.bias_of(replace(found, chosen_on=found.induction))
    assert "selection bias" in page.bias_of(replace(found, chosen_on=found.induction + 0.1))


def test_the_figure_has_the_losses_of_the_second_copy(found: CopyingTest, gpt2: LoadedModel) -> None:
    table = loss_chart(gpt2).table()
    assert table["Token of the second copy"].tolist() == list(range(2, found.period + 1))
    for row in (found.run(BEST, MEAN), found.run(BOTH, MEAN)):
        assert row is not None
        line = table["neither" if row.kind == BOTH else f"no {row.name}"]
        assert np.allclose(line, row.by_place[found.period :], atol=1e-5)
        assert line.mean() == pytest.approx(row.second.mean(), abs=1e-4)
    assert np.allclose(table["all alike"], log(gpt2.config.vocabulary))


@pytest.mark.parametrize("call", [loss_chart, head_table])
def test_figure_and_table_can_be_taken_home(call: Any, gpt2: LoadedModel) -> None:
    setup, expression = python_of(partial(call, gpt2))
    scope: dict[str, Any] = {}
    exec(setup, scope)
    again, here = eval(expression, scope), call(gpt2)
    assert again.equals(here) if call is head_table else again.table().equals(here.table())


def test_every_head_has_its_scores(found: CopyingTest) -> None:
    frame = score_frame(found)
    assert len(frame) == found.induction.size
    assert frame["head"][0] == found.rows[0].name
    assert frame["induction score"][0] == found.induction[found.best]


def test_a_sequence_is_its_words_twice_and_its_numbers_the_model_s(found: CopyingTest, gpt2: LoadedModel) -> None:
    texts = [page.readable(gpt2, seed) for seed in range(3)]
    assert len(set(texts)) == 3
    for text in texts:
        words = text.split()
        assert words[: page.WORDS] == words[page.WORDS :] and len(set(words)) == page.WORDS
        trace = lab.trace(gpt2, text)
        assert [label.strip("␣") for label in trace.labels] == words
        layer, head = found.best
        weights = trace.layer(layer).attention[head]
        plain = losses(gpt2, [trace.encoding])[0]
        without = losses(gpt2, [trace.encoding], Interventions(zero_heads=frozenset({found.best})))[0]
        for place in page.places(trace, found.best):
            first = words.index(words[place.query])
            assert words[place.sought] == words[first + 1] and place.sought == first + 1
            assert place.weight == pytest.approx(float(weights[place.query, first + 1]))
            assert place.most == int(weights[place.query].argmax())
            assert (place.plain, place.without) == pytest.approx((plain[place.query], without[place.query]))


def test_a_vocabulary_without_words_has_no_sequence(tiny_checkpoint: TinyCheckpoint) -> None:
    assert page.readable(lab.load_model(tiny_checkpoint("bert")), 0) == ""
