"""The records: what is wrong in one is told by name, and every step has its function, every function its step."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from lab.course import pages
from lab.course.pages import CHECK_STEP, LESSONS, Lesson, page_at, page_of, read_page, step_name
from lab.course.record import read_toml
from lab.lessons.open_lesson import step_file

ROOT = Path(pages.__file__).parents[2]
RECORD = """
title = "Counting"
icon = ":material/tag:"
question = "How many?"
stop = "Word"

[story]
last = "Last."
now = "Now?"
remember = "This."

[[steps]]
id = "check"
name = "Check"
minutes = 3
"""


def read(tmp_path: Path, text: str) -> Lesson:
    path = tmp_path / "lesson.toml"
    path.write_text(text, "utf-8")
    return read_page(Lesson, "counting", "10_Counting.py", path)


def test_a_record_is_read_and_lines_are_only_for_the_eye(tmp_path: Path) -> None:
    lesson = read(tmp_path, RECORD.replace('"How many?"', "'''\nHow\n   many?'''"))
    assert lesson.question == "How many?" and lesson.minutes == 3 and lesson.slug == "Counting"
    assert lesson.weights and lesson.toy is None and lesson.step("check").name == "Check"
    with pytest.raises(KeyError, match="counting has no step map; it has check"):
        lesson.step("map")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Counting"\n', "", "lesson.toml has no title"),
        ('title = "Counting"', "title = 3", "title is 3, not a text"),
        ('title = "Counting"', 'title = "Counting"\nid = "c"', r"lesson\.toml has id, which order\.toml says already"),
        ('stop = "Word"', 'stop = "Word"\ntilte = "Counting"', r"lesson\.toml has tilte, which no code reads"),
        ("minutes = 3", 'minutes = "3"', r"lesson\.toml, \[steps\] 1: minutes is '3', not a whole number"),
        ("minutes = 3\n", "", r"lesson\.toml: steps: check has no minutes"),
        ("minutes = 3", "minutes = 3\nbeside = true", r"lesson\.toml, \[steps\] 1 has beside"),
        ("minutes = 3", "minutes = 3\naside = true", r"lesson\.toml: steps: check is aside and has minutes"),
        (
            "minutes = 3",
            'minutes = 3\n[steps.not_for_toys]\nwhy = "No."\ninstead = "map"',
            r"lesson\.toml: steps: check has no step map instead of it",
        ),
        ('now = "Now?"\n', "", r"\[story\] has no now"),
        (
            'icon = ":material/tag:"',
            'icon = ":material/tag:"\nreading = [1]',
            r"\[reading\] 1 is 1, not a text",
        ),
        ('title = "Counting"', "title = Counting", "lesson.toml: "),
    ],
)
def test_a_gap_and_a_wrong_word_are_told_by_name(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in RECORD
    with pytest.raises(ValueError, match=said):
        read(tmp_path, RECORD.replace(old, new))


def test_a_missing_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"lesson\.toml is missing"):
        read_toml(tmp_path / "lesson.toml")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_step_has_a_function_and_every_function_a_step(lesson: Lesson) -> None:
    assert all(callable(step_file(lesson, step.id).show) for step in lesson.steps)
    assert [step.name for step in lesson.steps if not step.aside][-1] == CHECK_STEP
    names = [step.name for step in lesson.steps]
    assert len({*names}) == len(names)


def test_every_page_file_is_in_the_order_and_the_other_way_round() -> None:
    order = tomllib.loads((ROOT / "lab/course/order.toml").read_text("utf-8"))
    files = [
        each if isinstance(each, str) else each["page"]
        for name in order
        if name != "stops"
        for each in order[name].values()
    ]
    assert sorted(files) == sorted(path.name for path in (ROOT / "pages").glob("*.py"))


def test_pages_are_found_by_id_and_by_address() -> None:
    assert page_at("").id == "course" and page_at("Self-attention") is page_of("self-attention")
    assert step_name("flow", "influence-tree") == "Influence tree"
    with pytest.raises(KeyError, match=r"There is no page flows; lab/course/order\.toml lists course, "):
        page_of("flows")
