"""LearnerProgress and its file: what was done comes back, what anybody may have written breaks nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.course.pages import LESSONS, lesson_of
from lab.course.words import escaped, plain, quoted
from lab.questions.progress import (
    LONGEST,
    MAX_BYTES,
    PREDICTIONS_KEPT,
    TRIED_KEPT,
    Answer,
    Count,
    LearnerProgress,
    answer_to,
)
from lab.questions.progress_file import ProgressFileError, read
from lab.questions.question import Option, Question, reordered, selected, shuffled

IDS = [lesson.id for lesson in LESSONS]
LESSON = lesson_of("self-attention")
STEPS = sum(not step.aside for step in LESSON.steps)
SENTENCE = {"text": "The cat sat.", "layer": "2"}

names = st.text(st.characters(codec="utf-8"), max_size=20)
texts = st.text(st.characters(codec="utf-8"), max_size=60)
answers = st.just(Answer(correct=True)) | st.builds(
    Answer, *[texts] * 5, link=st.none() | st.dictionaries(names, texts, max_size=3)
)
keys = st.tuples(st.sampled_from(IDS), names)
steps = st.sampled_from([(lesson.id, step.id) for lesson in LESSONS for step in lesson.steps])
wordings = st.text("0123456789abcdef", min_size=12, max_size=12)
options = st.integers(0, 9)
tries = st.dictionaries(wordings, st.lists(options, max_size=4, unique=True).map(tuple), max_size=3)
progresses = st.builds(
    LearnerProgress,
    done=st.frozensets(steps, max_size=8),
    checks=st.dictionaries(keys, st.none() | answers, max_size=6),
    predictions=st.dictionaries(names, st.dictionaries(wordings, st.none() | options, max_size=4), max_size=4),
    tries=st.dictionaries(names, tries, max_size=3),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def file_of(lessons: object, **other: object) -> bytes:
    return json.dumps({"lab": "Inside BERT", "version": 3, "lessons": lessons, **other}).encode()


def answer(correct: bool, question: str = "?") -> Answer:
    return Answer(correct=True) if correct else Answer(question, "a", "because", "b", "therefore", correct, SENTENCE)


def content_of(check: dict[str, Any]) -> dict[str, Any]:
    return {"self-attention": {"done": ["map"], "checks": {"most-even": check}}}


RIGHT = {**vars(answer(False)), "correct": True}


def test_only_the_first_try_counts() -> None:
    first, second = answer(False, "first"), answer(True, "second")
    a, other = LESSON.id, lesson_of("embeddings")
    progress = LearnerProgress().asked(a, "q").asked(a, "r").asked(a, "s")
    progress = progress.answered(a, "q", first).answered(a, "q", second).answered(a, "r", second)
    assert progress.count(LESSON) == Count(done=0, steps=STEPS, right=1, answered=2, asked=3)
    assert progress.asked(a, "q") == progress, "asking again forgets no answer"
    assert progress.missed() == [(a, first)]
    assert (progress.count(other).answered, progress.count(other).asked) == (0, 0)


def test_a_step_is_done_once_and_for_all() -> None:
    progress = LearnerProgress().did(LESSON.id, "map")
    assert progress.did(LESSON.id, "map") is progress
    assert progress.did("embeddings", "check").count(LESSON) == Count(done=1, steps=STEPS, right=0, answered=0, asked=0)


def test_steps_beside_the_way_are_kept_and_not_counted() -> None:
    aside = next(step.id for step in LESSON.steps if step.aside)
    progress = LearnerProgress().did(LESSON.id, aside)
    assert (LESSON.id, aside) in progress.done and progress.count(LESSON).done == 0


def test_a_lesson_is_complete_with_any_model() -> None:
    """A lesson may have one step for causal models where it has another one for the others."""
    for lesson in LESSONS:
        for kind in ("causal", "masked"):
            progress = LearnerProgress()
            for step in lesson.steps:
                if step.models in ("", kind):
                    progress = progress.did(lesson.id, step.id)
            count = progress.count(lesson)
            assert count.done <= count.steps and (kind == "causal" or count.done == count.steps), lesson.id


@given(progresses)
def test_a_file_brings_back_what_was_written(progress: LearnerProgress) -> None:
    assert read(progress.to_json().encode()) == (progress, ())


@given(progresses, progresses, progresses)
def test_merging_loses_nothing_and_its_grouping_does_not_matter(
    a: LearnerProgress, b: LearnerProgress, c: LearnerProgress
) -> None:
    both = a.merged(b)
    assert both.merged(c) == a.merged(b.merged(c))
    assert a.merged(a) == a == a.merged(LearnerProgress())
    assert set(both.checks) == {*a.checks, *b.checks}
    for key, one in both.checks.items():
        assert one == (a.checks.get(key) or b.checks.get(key))
    assert both.done == a.done | b.done


def test_what_is_kept_stays_below_its_bound_and_the_checks_missed_first_lose_their_texts() -> None:
    many = {("self-attention", str(i)): Answer("é" * LONGEST, "é" * LONGEST, "é" * LONGEST) for i in range(99)}
    text = LearnerProgress(checks=many).to_json()
    assert MAX_BYTES * 0.8 < len(text.encode()) <= MAX_BYTES
    kept, _ = read(text.encode())
    assert kept.count(LESSON).answered == 99
    assert [at for at, _ in enumerate(kept.checks.values()) if _ == Answer()] == list(range(99 - len(kept.missed())))


def test_a_prediction_that_is_skipped_keeps_its_answer_and_the_oldest_wording_goes() -> None:
    progress = LearnerProgress().predicted("a", "first", 2).predicted("a", "first", None)
    assert progress.predictions == {"a": {"first": 2}}
    for i in range(PREDICTIONS_KEPT):
        progress = progress.predicted("a", str(i), None)
    assert "first" not in progress.predictions["a"] and len(progress.predictions["a"]) == PREDICTIONS_KEPT


def test_of_a_check_that_was_tried_twice_the_longer_list_of_tries_stays() -> None:
    one = LearnerProgress().tried("x", "a", 2).tried("x", "b", 0)
    other = LearnerProgress().tried("x", "b", 1).tried("x", "b", 0).tried("x", "b", 1).tried("y", "a", 1)
    assert other.tries == {"x": {"b": (1, 0)}, "y": {"a": (1,)}}
    assert one.merged(other).tries == other.merged(one).tries == {"x": {"a": (2,), "b": (1, 0)}, "y": {"a": (1,)}}
    for i in range(TRIED_KEPT):
        one = one.tried("x", str(i), 0)
    assert list(one.tries["x"]) == list(map(str, range(TRIED_KEPT)))


def test_what_was_tried_before_lists_were_kept_otherwise_comes_back() -> None:
    key = "0123456789ab"
    kept = {"self-attention": {"number": 2, "asked": [key], "seen": [key], "tries": {key: [1, 0]}}}
    progress, notes = read(file_of({}, shown=kept))
    assert progress.tries == {"self-attention": {key: (1, 0)}} and not notes


def test_a_toy_s_checks_are_kept_and_not_counted() -> None:
    a = LESSON.id
    progress = LearnerProgress().asked(a, "toy.q").asked(a, "q").answered(a, "toy.q", answer(True))
    assert progress.first_tries == {(a, "toy.q"): True}
    assert progress.count(LESSON) == Count(0, STEPS, right=0, answered=0, asked=1)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(ProgressFileError, match=r"^[A-Z].*\.$"):
        read(data)


def read_or_refused(data: bytes) -> bool:
    """Whether a file was read; what was read is well formed, what was refused has its sentence."""
    try:
        progress, notes = read(data)
    except ProgressFileError as error:
        assert str(error).endswith(".") and str(error).encode("utf-8")
        return False
    assert all(lesson in IDS for lesson, _ in (*progress.done, *progress.checks))
    assert read(progress.to_json().encode("utf-8")) == (progress, ())
    assert all(note.encode("utf-8") for note in notes)
    return True


@given(values, values)
def test_any_json_is_read_or_refused_with_a_sentence(done: object, checks: object) -> None:
    read_or_refused(file_of({"self-attention": {"done": done, "checks": checks}}))


@given(st.data())
def test_one_wrong_value_anywhere_is_read_or_refused_with_a_sentence(data: st.DataObject) -> None:
    content: dict[str, Any] = json.loads(file_of(content_of({**RIGHT})))
    assert read_or_refused(json.dumps(content).encode())
    at: dict[str, Any] = content
    while True:
        name = data.draw(st.sampled_from(sorted(at)))
        if not isinstance(at[name], dict) or data.draw(st.integers(0, 3)) == 0:
            break
        at = at[name]
    expected, at[name] = type(at[name]), data.draw(values)
    if read_or_refused(json.dumps(content).encode()):
        assert name in ("most-even", "link") or isinstance(at[name], expected)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * (MAX_BYTES + 1), "64,001 bytes"),
        (b"[" * 60_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "not a progress file"),
        (b'{"version": 2}', "not a progress file"),
        (file_of({}, version=1), "version 3"),
        (file_of({}, version=True), "version 3"),
        (file_of([]), "lessons.*valid dictionary"),
        (file_of({"self-attention": {"done": {"map": True}}}), "done.*valid list"),
        (file_of({"self-attention": {"done": ["map"] * 101}}), "done.*at most 100"),
        (file_of({"self-attention": {"done": [1]}}), "done.*valid string"),
        (file_of({"self-attention": {"checks": dict.fromkeys(map(str, range(101)))}}), "at most 100"),
        (file_of({"self-attention": {"checks": {"x" * 81: None}}}), "at most 80 characters"),
        (file_of(content_of({**RIGHT, "chosen": 3})), "chosen.*valid string"),
        (file_of(content_of({**RIGHT, "right": "x" * (LONGEST + 1)})), "right.*at most 600"),
        (file_of(content_of({**RIGHT, "link": {"text": 3}})), "text.*valid string"),
        (file_of(content_of({**RIGHT, "link": {"a": "x" * 400, "b": "x" * 400}})), "link.*at most 600"),
        (file_of({}, predictions={"a/Map": {"0123456789ab": 10}}), "Map.*less than 10"),
        (file_of({}, predictions={"a/Map": {"0123456789ab": True}}), "Map.*valid integer"),
        (file_of({}, predictions={"a/Map": {"<b>": 1}}), "match pattern"),
        (file_of({}, predictions={str(i): {} for i in range(301)}), "at most 300"),
        (file_of({}, tries={"a": {"0123456789ab": [-1]}}), "tries.*greater than or equal to 0"),
        (file_of({}, tries={"a": {"0123456789ab": [1] * 11}}), "tries.*at most 10"),
        (file_of(content_of({**RIGHT, "correct": "yes"})), "correct.*valid boolean"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    with pytest.raises(ProgressFileError, match=said):
        read(data)


def test_what_is_unknown_is_left_out_with_a_note() -> None:
    content = {**content_of({**RIGHT, "colour": 1}), "<b>alchemy": {"done": "?"}}
    content["self-attention"]["done"].append("<b>transmute")
    progress, (note,) = read(file_of(content, mood="good"))
    assert progress.count(LESSON) == Count(done=1, steps=STEPS, right=1, answered=1, asked=1)
    for name in ("mood", "colour", "<b>alchemy", "<b>transmute"):
        assert quoted(name) in note
    assert "<b>" not in note


def test_a_long_list_of_unknown_names_is_cut() -> None:
    _, (note,) = read(file_of({f"lesson {i}": {} for i in range(50)}))
    assert "and 45 more" in note


def test_lone_surrogates_cannot_reach_the_screen() -> None:
    data = file_of({"self-attention": {"done": ["\ud800"]}}, **{"\udc00": 0})
    progress, (note,) = read(data)
    assert (progress.to_json() + note).encode("utf-8")


def test_an_answer_is_kept_as_plain_text_with_its_sentence() -> None:
    hostile = "<script>*x* $y$"
    options = (Option(quoted(hostile), "why not"), Option("b", "because", correct=True))
    kept = answer_to(Question("q", f"Which is {quoted(hostile)}?", options), 0, SENTENCE)
    assert hostile in kept.question and hostile in kept.chosen
    assert (kept.right, kept.why_right, kept.correct, kept.link) == ("b", "because", False, SENTENCE)
    long = answer_to(Question("q", "?" * 5000, options), 0, {"text": "x" * 5000})
    assert (len(long.question), long.link, long.correct) == (LONGEST, None, False)
    assert answer_to(Question("q", "Why?", options), 1, SENTENCE) == Answer(correct=True)


@given(st.text())
def test_plain_is_the_way_back_from_escaped(text: str) -> None:
    assert plain(escaped(text)) == " ".join(text.split())


def questions() -> list[Question]:
    made = [
        shuffled(f"q{i}", f"Question {i}?", [Option(str(j), "why", correct=j == 0) for j in range(5)]) for i in range(6)
    ]
    return [*made, Question("fixed", "In order?", tuple(Option(str(j), "why", correct=j == 0) for j in range(5)))]


def test_without_a_seed_nothing_changes() -> None:
    asked = questions()
    assert selected([None, *asked], 3) == asked[:3]
    assert all(reordered(question, 0) is question for question in asked)


def test_a_seed_draws_the_same_questions_in_the_same_order_every_time() -> None:
    by_seed = {seed: selected(questions(), 3, seed) for seed in range(1, 30)}
    for seed, drawn in by_seed.items():
        assert drawn == selected([*questions(), None], 3, seed)
        assert len({question.id for question in drawn}) == 3
        for question in drawn:
            original = next(each for each in questions() if each.id == question.id)
            assert sorted(o.text for o in question.options) == sorted(o.text for o in original.options)
            assert question.options[question.answer].text == "0"
            assert question.id != "fixed" or question == original, "an order that means something stays"
    assert len({tuple(question.id for question in drawn) for drawn in by_seed.values()}) > 10
