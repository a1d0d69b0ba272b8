"""Every question about sentences has one right answer, recomputed here from the tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lab
from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.attention import AVERAGE, InterSentence, inter_sentence
from lab.analysis.sentences.split import as_one, aside, crossing, split
from lab.course.words import quoted
from lab.figures.sentences import behind, read
from lab.lessons.inter_sentence_attention import checks, meanings, what_if
from lab.lessons.inter_sentence_attention.view import EXAMPLE
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.question import Question
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the mat. It was tired! The dog chased the cat across the garden."


@pytest.fixture(params=["bert", "gpt2"])
def trace(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    family: Family = request.param
    return lab.trace(lab.load_model(tiny_checkpoint(family, seed=2)), TEXT)


def sentences_of(trace: Trace) -> InterSentence:
    return inter_sentence(trace, split(trace).of_token)


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def made(maximum: list[list[float]], mass: list[list[float]], removed: list[float]) -> InterSentence:
    members = tuple(np.array([3 * sentence, 3 * sentence + 1]) for sentence in range(len(maximum)))
    where = np.zeros((len(maximum), len(maximum), 4), dtype=np.int64)
    arrays = (np.array(each, dtype=np.float64) for each in (maximum, mass, mass, removed))
    top, sent, relative, gone = arrays
    return InterSentence(top, where, sent, relative, gone, members, renormalised=False)


def test_where_it_goes_is_the_largest_share_of_a_row() -> None:
    ones = np.ones((3, 3)).tolist()
    found = made(ones, [[0.2, 0.1, 0.1], [0.5, 0.3, 0.1], [0.3, 0.31, 0.3]], [0.6, 0.1, 0.09])
    assert right(checks.where_it_goes(found, 0, "[CLS] and [SEP]")) == "[CLS] and [SEP]"
    assert right(checks.where_it_goes(found, 1, "[CLS] and [SEP]")) == "Sentence 1"
    assert checks.where_it_goes(found, 2, "[CLS] and [SEP]") is None  # nothing leads clearly
    causal = made([[1, np.nan], [1, 1]], [[0.8, 0.0], [0.2, 0.5]], [0.2, 0.3])
    question = checks.where_it_goes(causal, 0, "the first token")
    assert question is not None and {option.text for option in question.options} == {
        "Sentence 1 itself",
        "The first token",
    }


def test_where_it_goes_of_a_trace(trace: Trace) -> None:
    """The largest of the row's sums over sentences, and over what stands aside, summed here by hand."""
    sentences = split(trace)
    others = aside(trace, sentences)
    assert others is not None
    question = checks.where_it_goes(inter_sentence(trace, others), 1, "the rest")
    attention = trace.attention.numpy().mean(axis=(0, 1))[[i for i, s in enumerate(others) if s == 1]].mean(axis=0)
    shares = {
        name: attention[[s == number for s in others]].sum()
        for name, number in (("Sentence 1", 0), ("Sentence 2 itself", 1), ("Sentence 3", 2), ("The rest", None))
    }
    best, second = sorted(shares.values(), reverse=True)[:2]
    if best - second < 0.05:
        assert question is None
    else:
        assert right(question) == max(shares, key=shares.__getitem__)


def test_only_a_causal_model_has_empty_cells(trace: Trace) -> None:
    causal = is_causal(trace)
    question = checks.into_the_future(sentences_of(trace), causal)
    assert (question is not None) == causal == bool(np.isnan(sentences_of(trace).maximum[0, 1]))
    if causal:
        assert "cannot see" in right(question)


def test_one_weight_is_asked_where_maximum_and_mass_differ_most() -> None:
    found = made([[0.9, 0.8, 0.3], [0.3, 0.9, 0.2], [0.1, 0.1, 0.9]], np.full((3, 3), 0.1).tolist(), [0.7] * 3)
    question = checks.one_weight(found)
    assert right(question).startswith("The map is a mean")
    assert question is not None and "sentence 1 gives only 10% to sentence 2" in question.prompt
    assert "80% of its attention to one token of sentence 2" in question.prompt
    low = made([[0.9, 0.2], [0.2, 0.9]], np.full((2, 2), 0.1).tolist(), [0.7] * 2)
    assert checks.one_weight(low) is None


@pytest.mark.parametrize(
    ("paired", "text"), [(0.3, "It rises"), (0.1, "It falls"), (0.205, "It hardly moves"), (0.215, None)]
)
def test_pair_effect(paired: float, text: str | None) -> None:
    question = checks.pair_effect(0.2, paired, ("Text A", "Text B"))
    assert (None if question is None else right(question)) == text


def test_keeps_or_sends_is_the_largest_of_a_row() -> None:
    ones = np.ones((2, 2)).tolist()
    assert right(checks.keeps_or_sends(made(ones, [[0.2, 0.7], [0.6, 0.4]], [0.1, 0]), 0)) == "Sentence 2"
    assert right(checks.keeps_or_sends(made(ones, [[0.2, 0.7], [0.4, 0.6]], [0.1, 0]), 1)) == "Sentence 2 itself"
    assert checks.keeps_or_sends(made(ones, [[0.5, 0.48], [0.4, 0.6]], [0, 0]), 0) is None
    assert checks.keeps_or_sends(made([[1, np.nan], [1, 1]], [[1, 0], [0.4, 0.6]], [0, 0]), 0) is None  # no choice


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_the_word_behind_a_cell_is_the_one_that_gets_most(model: str) -> None:
    """Of the words of sentence 1, by the mean of all maps; the row's sum changes nothing in the order."""
    trace = lab.trace(lab.load_model(model), EXAMPLE)
    sentences = split(trace)
    links = meanings.strongest(trace, 1, 0, AVERAGE, True)
    question = checks.word_behind(trace, behind(trace, sentences, 1, 0, AVERAGE, True), links[0], "sentence 1")
    mean = trace.attention.numpy().astype(np.float64).mean(axis=(0, 1))
    words = [place for place in sentences.places(0) if any(letter.isalpha() for letter in trace.labels[place])]
    if model == "lab-gpt2":
        words.remove(0)  # the first token is left out
    row = mean[links[0].query]
    strongest = {
        trace.labels[place]: max(row[p] for p in words if trace.labels[p] == trace.labels[place]) for place in words
    }
    best, second = sorted(strongest, key=lambda label: -strongest[label])[:2]
    lead = (strongest[best] - strongest[second]) / sum(strongest.values())
    assert (question is None) == (lead < 0.05)
    if question is not None:
        assert right(question) == quoted(best)
        assert len({option.text for option in question.options}) == len(question.options)
    nothing = checks.word_behind(trace, behind(trace, sentences, 1, 0, AVERAGE, True), None, "sentence 1")
    assert nothing is None


def test_why_less_is_asked_where_length_turns_the_order() -> None:
    """Sentence 2 has six tokens of eleven, sentence 3 two; sentence 1 sends them 0.5 and 0.3."""
    mass = np.array([[0.2, 0.5, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])
    members = (np.arange(3), np.arange(3, 9), np.arange(9, 11))
    even = np.array([3, 6, 2]) / 11
    found = replace(made(np.ones((3, 3)).tolist(), mass.tolist(), [0, 0, 0]), members=members, relative=mass / even)
    question = checks.why_less(found)
    assert right(question) == "Sentence 2 is longer"
    assert question is not None and "gives 50% to sentence 2 and only 30% to sentence 3" in question.prompt
    assert "0.92 times and 1.65 times" in question.prompt
    assert checks.why_less(replace(found, relative=mass / (1 / 3))) is None


def mean_mass(trace: Trace, a: list[int], b: list[int]) -> float:
    """By hand: over layers, heads and the tokens of a."""
    return float(trace.attention.numpy().astype(np.float64)[:, :, a][..., b].sum(axis=-1).mean())


def moves(change: float) -> str | None:
    """What a change is called; None where it is hard to tell."""
    if 0.01 <= abs(change) < 0.02:
        return None
    return "It hardly moves" if abs(change) < 0.01 else "It rises" if change > 0 else "It falls"


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_what_if_really_runs_the_model(model: str) -> None:
    texts = ("The little girl lost her dog.", "She looked for it until it was dark.", "It came home.")
    trace = lab.trace(lab.load_model(model), " ".join(texts))
    places = [list(split(trace).places(number)) for number in range(3)]
    found = sentences_of(trace)

    other = lab.trace(trace.model, " ".join((texts[1], texts[0], texts[2])))
    second, first = (list(split(other).places(number)) for number in (0, 1))
    question = checks.other_order(found, what_if.exchanged(trace, False), texts)
    change = mean_mass(other, first, second) - mean_mass(trace, places[0], places[1])
    if is_causal(trace):
        assert right(question).endswith("sentence 1")  # it comes later now
    else:
        assert (None if question is None else right(question)) == moves(change)

    without = lab.trace(trace.model, trace.text, None, Interventions(no_positions=True))
    asked = checks.without_positions(found, what_if.unplaced(trace, False))
    own = [np.mean([mean_mass(each, at, at) for at in places]) for each in (trace, without)]
    assert (None if asked is None else right(asked)) == moves(float(own[1] - own[0]))

    pair = lab.trace(trace.model, texts[0], " ".join(texts[1:]))
    sides = [
        [p for p, second in enumerate(pair.encoding.in_pair) if second == side and not pair.encoding.special[p]]
        for side in (False, True)
    ]
    made = what_if.first_and_rest(trace)
    assert made is not None and (made.token_ids, made.segment_ids) == (pair.token_ids, pair.segment_ids)
    apart = crossing(read(made, split(made), False), split(made).in_pair)
    together = crossing(read(*as_one(made), False), split(made).in_pair)
    wanted = mean_mass(trace, places[0], places[1] + places[2]), mean_mass(pair, *sides)
    assert (together[0, 1], apart[0, 1]) == pytest.approx(wanted, abs=1e-5)
    assert what_if.exchanged(pair, False) is None


def test_other_order_and_positions_say_whether_anything_moves() -> None:
    ones = np.ones((2, 2)).tolist()
    before = made(ones, [[0.6, 0.3], [0.4, 0.6]], [0.1, 0])
    for back, text in ((0.4, "It rises"), (0.305, "It hardly moves"), (0.2, "It falls"), (0.315, None)):
        after = made(ones, [[0.6, 0.3], [back, 0.6]], [0.1, 0])
        question = checks.other_order(before, after, ("A.", "B."))
        assert (None if question is None else right(question)) == text
    assert checks.other_order(before, None, ("A.", "B.")) is None
    low = made(ones, [[0.4, 0.3], [0.4, 0.4]], [0.1, 0])
    assert right(checks.without_positions(before, low)) == "It falls"
    assert right(checks.without_positions(low, before)) == "It rises"


@pytest.mark.parametrize("left_out", [True, False])
def test_a_question_says_whether_its_numbers_count_special_tokens(left_out: bool) -> None:
    """The same share is another number where special tokens are left out, and the matrix on screen has either."""
    trace = lab.trace(lab.load_model("lab-bert"), TEXT)
    special = list(trace.encoding.special)
    mine = list(split(trace).places(0))
    weights = trace.attention.numpy().mean(axis=(0, 1))
    if left_out:
        weights[:, special] = 0
        weights /= weights.sum(axis=-1, keepdims=True)
    kept = float(weights[np.ix_(mine, mine)].sum(axis=-1).mean())
    asked = checks.keeps_or_sends(read(trace, split(trace), left_out), 0)
    assert asked is not None and f"{kept:.3f}" in asked.options[asked.answer].why
    said = checks.counting(asked, "\\[CLS\\] and \\[SEP\\]", left_out)
    assert said is not None and said.prompt.startswith(asked.prompt) and said.options == asked.options
    assert said.prompt.endswith(f"({'Without' if left_out else 'With'} \\[CLS\\] and \\[SEP\\].)")
    assert checks.counting(None, "x", left_out) is None
