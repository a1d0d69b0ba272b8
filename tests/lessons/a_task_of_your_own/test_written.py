"""What the lesson says of the course's model, computed again by Hugging Face, scikit-learn and other trainings."""

from __future__ import annotations

import random
from functools import cache
from math import comb

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from transformers import AutoModel, AutoTokenizer

from lab.analysis.tasks import tuning
from lab.analysis.tasks.few_examples import turning
from lab.analysis.tasks.tuning import Tuned, scores, tune
from lab.course.sentences.looks import STORY_TEXT
from lab.course.sentences.news import NEWS, news
from lab.evidence.story import known
from lab.lessons.a_task_of_your_own import change_the_model as change
from lab.lessons.a_task_of_your_own import check
from lab.lessons.a_task_of_your_own import teach_it as teach
from lab.lessons.a_task_of_your_own import why_this_answer as why
from lab.lessons.a_task_of_your_own.check import judge
from lab.lessons.a_task_of_your_own.taught import LAB_TEXTS, LAB_TRUTH, SPLIT, VisitLabels, one_of_each_pair
from lab.lessons.a_task_of_your_own.trained_layer import split
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace
from tests.thorough import THOROUGH, at_night, one_by_day, some

WAYS = some(range(1000), 100)
CLOSE = 0.5 if THOROUGH else 1.0  # of sentences: how far a mean over the ways may be from a number in a text
Vectors = NDArray[np.float64]
TASK = news()


@cache
def theirs(name: str, texts: tuple[str, ...]) -> tuple[Vectors, Vectors]:
    """Hugging Face's mean of the words after the middle layer, and its first (GPT-2: last) vector after all layers."""
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED / name)
    model = AutoModel.from_pretrained(EMBEDDED / name).eval()
    means, marks = [], []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        words = ids.pop("special_tokens_mask")[0] == 0
        with torch.no_grad():
            states = model(**ids, output_hidden_states=True).hidden_states
        means.append(states[len(states) // 2][0][words].mean(0).numpy())
        marks.append(states[-1][0, -1 if name == "lab-gpt2" else 0].numpy())
    return scaled(means), scaled(marks)


def scaled(vectors: list[NDArray[np.float32]]) -> Vectors:
    x = np.array(vectors, dtype=np.float64)
    x -= x.mean(0)
    found: Vectors = x / np.sqrt((x**2).sum(1).mean())
    return found


def hits(x: Vectors, truth: NDArray[np.bool_], learned: list[int], tested: list[int]) -> NDArray[np.bool_]:
    """Which sentences scikit-learn classifies rightly after it has learned others."""
    fitted = LogisticRegression(C=1, class_weight="balanced", tol=1e-8, max_iter=1000).fit(x[learned], truth[learned])
    found: NDArray[np.bool_] = fitted.predict(x[tested]) == truth[tested]
    return found


def both(pairs: list[int]) -> list[int]:
    return [2 * pair + side for pair in pairs for side in (0, 1)]


def test_on_average_half_of_the_partners_and_three_in_four_others_are_right() -> None:
    x, truth, rows = theirs(DEFAULT_MODEL, LAB_TEXTS)[0], np.array(LAB_TRUTH), []
    for way in WAYS:
        one = [place for place, mark in enumerate(one_of_each_pair(way).marks) if mark is not None]
        rest = both([pair for pair in range(30) if pair not in {place // 2 for place in one}])
        ten = both(random.Random(way).sample(range(30), SPLIT)[:10])
        tests = (one, [place ^ 1 for place in one]), (one, rest), (ten, rest)
        rows.append([hits(x, truth, learned, tested).sum() for learned, tested in tests])
    wanted = teach.ON_PARTNERS, teach.ON_OTHERS, teach.WHOLE_PAIRS
    assert np.abs(np.mean(rows, axis=0) - wanted).max() <= CLOSE
    assert np.mean([own < others for own, others, _ in rows]) > 0.9


@one_by_day
@pytest.mark.parametrize("name", [DEFAULT_MODEL, *teach.ELSEWHERE])
def test_thirty_examples_make_it_right_about_so_many_others(name: str) -> None:
    rows, truth = [], np.array(LAB_TRUTH)
    for way in WAYS:
        pairs = random.Random(way).sample(range(30), 15)
        rest = both([pair for pair in range(30) if pair not in pairs])
        rows.append([hits(x, truth, both(pairs), rest).sum() for x in theirs(name, LAB_TEXTS)])
    mean, mark = np.mean(rows, axis=0)
    assert abs(mean - teach.ELSEWHERE.get(name, teach.THIRTY)) <= CLOSE
    assert name != DEFAULT_MODEL or abs(mark - teach.THIRTY_MARK) <= CLOSE


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model(DEFAULT_MODEL)


FOUND = split(VisitLabels(), wants_own=False)


@cache
def trained(model: LoadedModel, seed: int) -> Tuned:
    """A training in another order of its sentences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "_SEED", seed)
        return tune(model, FOUND.texts, FOUND.marks)


def capitals(model: LoadedModel) -> int:
    """How many of the capitals that the story's model names this model names, too."""
    count = 0
    for row in known_rows():
        run = trace(model, STORY_TEXT.replace("France", row[0]))
        assert model.mask is not None
        best = int(run.logits(run.token_ids.index(model.mask[1]))[0].argmax())
        count += model.tokenizer.id_to_token(best) == row[1].lower()
    return count


@cache
def known_rows() -> list[tuple[str, str]]:
    told = known(load_model(DEFAULT_MODEL))
    assert told is not None
    return [(row.country, row.capital) for row in told.named]


def luck(gained: int, lost: int) -> int:
    """In how many of a hundred cases coins give at least such a difference (McNemar's exact test)."""
    tail = sum(comb(gained + lost, few) for few in range(min(gained, lost) + 1)) / 2 ** (gained + lost)
    return round(100 * min(1.0, 2 * tail))


@pytest.mark.parametrize("seed", some(range(5), 1))
def test_a_training_gains_and_forgets_what_is_said(model: LoadedModel, seed: int) -> None:
    tuned = trained(model, seed)
    now = change.gain(model, tuned, FOUND)
    x = theirs(DEFAULT_MODEL, FOUND.task.texts)
    mean, mark = (hits(each, FOUND.task.truth, list(FOUND.learned), list(FOUND.tested)).sum() for each in x)
    assert (now.before, now.after, now.tested) == (mark, change.TRAINED[seed], 62) and mark == change.ALONE
    assert now.after - now.before == now.gained - now.lost and now.mean == mean and now.known <= now.count
    assert luck(now.gained, now.lost) == change.BY_LUCK[seed]
    assert seed not in (0, 2) or (now.gained, now.lost) == {0: (8, 1), 2: (7, 5)}[seed]
    assert capitals(tuned.model) == change.CAPITALS[seed] and len(known_rows()) == change.NAMED == capitals(model)
    example = turning(run := trace(tuned.model, change.LOOKED_AT), tuned)
    assert example is not None and [run.labels[place] for place in example.turns] == ["not"]
    assert run.labels[example.looked_at] == "good"


@at_night
@pytest.mark.parametrize("seed", range(5))
def test_in_so_many_sentences_attention_points_at_the_word_that_matters_most(model: LoadedModel, seed: int) -> None:
    tuned = trained(model, seed)
    told = [turning(trace(tuned.model, FOUND.task.texts[place]), tuned) for place in FOUND.tested]
    turned = [each for each in told if each is not None]
    agree = sum(
        each.attention.argmax() == ((each.score - each.without) * np.sign(each.score)).argmax() for each in turned
    )
    assert why.FIVE[0] <= agree <= why.FIVE[1] and (seed or agree == why.AGREE) and len(turned) == why.TESTED
    assert round(sum(1 / len(each.places) for each in turned)) == why.BY_LOT


@at_night
def test_over_twenty_halves_the_training_helps_as_much_as_the_mean_does(model: LoadedModel) -> None:
    right, tested = np.zeros((3, len(TASK.texts))), np.zeros(len(TASK.texts))
    for seed in range(20):
        order = np.random.Generator(np.random.PCG64(seed)).permutation(62).tolist()
        own, rest = both(order[:31]), both(order[31:])
        mean, mark = (hits(x, TASK.truth, own, rest) for x in theirs(DEFAULT_MODEL, TASK.texts))
        tuned = tune(model, [TASK.texts[i] for i in sorted(own)], [TASK.marks[i] for i in sorted(own)])
        after = (scores(tuned.model, tuned.head, [TASK.texts[i] for i in rest]) > 0) == TASK.truth[rest]
        right[:, rest] += np.stack([mark, after, mean])
        tested[rest] += 1
    assert np.round(right.sum(1) / 20).tolist() == [change.HALVED, change.HALVED_TRAINED, change.HALVED_MEAN]
    gain = ((right[1] - right[0]) / tested).reshape(62, 2).mean(1)
    drawn = gain[np.random.default_rng(0).integers(62, size=(5000, 62))].mean(1) * 62
    assert tuple(np.round(np.quantile(drawn, (0.025, 0.975)))) == change.INTERVAL


def from_two(good: str, bad: str) -> int:
    """How many unseen sentences are right after only two were learned."""
    x = theirs(DEFAULT_MODEL, (good, bad, *check.UNSEEN))[0]
    truth = np.arange(len(x)) % 2 == 0
    return int(hits(x, truth, [0, 1], list(range(2, len(x)))).sum())


@one_by_day
@pytest.mark.parametrize(
    "entry", ["She was happy. / She was sad.", "Good news! / Bad news!", "He died. / He recovered."]
)
def test_the_challenge_counts_what_two_sentences_teach(entry: str) -> None:
    good, bad = entry.split(" / ")
    right, verdict = from_two(good, bad), judge(entry)
    assert f"gets {right} of 64 right" in verdict.said and verdict.met == (right >= check.LEAST)


@at_night
def test_the_labs_own_pairs_seldom_meet_the_challenge() -> None:
    found = [from_two(*pair) for pair in NEWS[:30]]
    assert sum(each >= check.LEAST for each in found) == 3 and np.median(found) == 37


@pytest.mark.parametrize("entry", ["", "/", "It is good.", "a / b / c", "It is good. /"])
def test_the_challenge_asks_for_two_sentences(entry: str) -> None:
    assert judge(entry) == check.ChallengeVerdict(met=False, said=check.TWO)


def test_the_challenge_refuses_the_labs_sentences() -> None:
    assert judge(f"{NEWS[3][0]} / It was bad.").said == judge(f"It was good / {NEWS[40][1][:-1]}").said == check.SHOWN
