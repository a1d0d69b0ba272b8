"""The pages: their order, and the record of each.

``order.toml`` has the order. The record of a lesson is ``lesson.toml`` in the lesson's folder; benches have
``bench.toml``, and experiments ``experiment.toml``. A record describes everything about its page that does not depend
on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from lab.course.record import Record

_LAB = Path(__file__).resolve().parents[1]
CHECK = "check"  # the id of every lesson's last step on the way


class Toy(Enum):
    """The toys, named after their input: sentences for a small model’s heads, pairs of sentences, words, or blanks."""

    HEADS = 1
    VOCABULARY = 2
    BLANK = 3
    PAIR = 4


@dataclass(frozen=True)
class Stop:
    """A stop on the way from a text to a word; ``repeats`` says that each layer has this stop."""

    name: str
    repeats: bool


@dataclass(frozen=True)
class NotForToys:
    """The reason why a step is not offered for a toy, as a sentence, and the name of the step shown ``instead``."""

    why: str
    instead: str


@dataclass(frozen=True)
class Step:
    """One step of a lesson or of a bench.

    Attributes
    ----------
    name
        The name in the row of steps, and in the address.
    aside
        Whether the step is optional in its lesson.
    minutes
        The time that a careful reader of a lesson needs with the default sentence: 130 words a minute, a minute for a
        figure, half a minute for a question. None for optional steps, and on a bench.
    idea
        The subject of the step, before any question or measurement: the problem, and the idea. Only steps whose own
        first sentences depend on the screen have an idea. The idea is true of every model and text.
    models
        "causal" or "masked" if only such models have the step, "" if every model has it.
    was
        The names that the step has in old links, and the names of former steps that are now part of this step.
    """

    id: str
    name: str
    aside: bool
    minutes: int | None
    idea: str
    models: str
    was: tuple[str, ...]
    not_for_toys: NotForToys | None


@dataclass(frozen=True)
class Story:
    """The beginning and the end of a lesson, in sentences that are true of every model and text, including toys.

    ``last`` says where the last stop ended, ``now`` which problem is left; ``recap`` has the findings in three
    sentences, and ``remember`` is the sentence to keep.
    """

    last: str
    now: str
    recap: tuple[str, ...]
    remember: str


@dataclass(frozen=True)
class Page:
    """The fields of every page.

    ``page`` is the file in ``pages/``; ``question`` is the title as a full question. ``parameters`` are the names, in a
    link, of the choices on this page besides its input.
    """

    id: str
    page: str
    title: str
    icon: str
    question: str
    reading: tuple[str, ...]
    parameters: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def slug(self) -> str:
        """The page's part of the address, which Streamlit derives from the file's name."""
        return self.page.removeprefix("pages/").partition("_")[2].removesuffix(".py")

    def step(self, id: str) -> Step:
        """A step by its id. Raises KeyError, with the existing ids, for any other."""
        for step in self.steps:
            if step.id == id:
                return step
        raise KeyError(f"{self.id} has no step {id}; it has {', '.join(step.id for step in self.steps)}.")


@dataclass(frozen=True)
class Lesson(Page):
    """One lesson; objectives complete "you will be able to …".

    Attributes
    ----------
    toy
        The toy that may be its input, if any.
    weights
        Whether the lesson can look at any weights, also random ones.
    text
        The lesson's first text, if the lesson needs another text than the others.
    hints
        Hints after a first wrong answer, by the question's id; an id that ends in "-" stands for all ids that begin
        with it. A hint says where to look, or what to think of, but never names the answer or a number in it.
    """

    objectives: tuple[str, ...]
    stop: str
    story: Story
    hints: Mapping[str, str]
    toy: Toy | None
    weights: bool
    text: str

    @property
    def minutes(self) -> int:
        """The time that a careful reader needs for the steps that are not optional."""
        return sum(step.minutes or 0 for step in self.steps if step.models != "causal")


@dataclass(frozen=True)
class Bench(Page):
    """A page for learners who look around and researchers who take numbers, without the order of a course.

    ``after`` are the ids of the lessons that the bench continues. ``toy`` says whether sentences of letters may be its
    input, ``weights`` whether it offers random weights.
    """

    after: tuple[str, ...]
    toy: bool
    weights: bool


@dataclass(frozen=True)
class ExperimentRecord(Page):
    """A published claim, tested on the model on screen.

    Attributes
    ----------
    claim, whose
        The claim in one sentence, and the paper that makes it.
    test
        The test, in one sentence.
    against
        The finding that would count against the claim.
    not_shown
        The limits of the result, whichever result it is.
    after
        The ids of the lessons that lead here.
    disclosed
        By the id of an embedded model, the influence of its training on its result.
    model
        The id of the model that the page opens on while the learner has chosen none, if it needs a particular one.
    """

    after: tuple[str, ...]
    claim: str
    whose: str
    test: str
    against: str
    not_shown: tuple[str, ...]
    disclosed: Mapping[str, str]
    model: str


def read_lesson(id: str, page: str, folder: Path) -> Lesson:
    """Read the record of a lesson. Raises ValueError for a missing key, a wrong kind of value, or an unknown key."""
    record = Record.of(folder / "lesson.toml")
    story = record.part("story")
    if story is None:
        raise ValueError(f"{folder.name}/lesson.toml has no [story].")
    told = Story(story.text("last"), story.text("now"), story.texts("recap"), story.text("remember"))
    story.done()
    toy = record.text("toy", "")
    lesson = Lesson(
        **_common(id, page, record, taught=True),
        objectives=record.texts("objectives"),
        stop=record.text("stop"),
        story=told,
        hints=record.named_texts("hints"),
        toy=Toy[toy.upper()] if toy else None,
        weights=record.flag("weights", True),
        text=record.text("text", ""),
    )
    record.done()
    return lesson


def read_bench(id: str, page: str, folder: Path) -> Bench:
    """Read the record of a bench; raises as :func:`read_lesson` does."""
    record = Record.of(folder / "bench.toml")
    bench = Bench(
        **_common(id, page, record),
        after=record.texts("after"),
        toy=record.flag("toy", True),
        weights=record.flag("weights", True),
    )
    record.done()
    return bench


def read_experiment(id: str, page: str, folder: Path) -> ExperimentRecord:
    """Read the record of an experiment; raises as :func:`read_lesson` does."""
    record = Record.of(folder / "experiment.toml")
    experiment = ExperimentRecord(
        **_common(id, page, record),
        after=record.texts("after"),
        claim=record.text("claim"),
        whose=record.text("whose"),
        test=record.text("test"),
        against=record.text("against"),
        not_shown=record.texts("not_shown"),
        disclosed=record.named_texts("disclosed"),
        model=record.text("model", ""),
    )
    record.done()
    return experiment


def _common(id: str, page: str, record: Record, *, taught: bool = False) -> dict[str, Any]:
    """The fields that every record has; the steps of a ``taught`` page, that is, of a lesson, have minutes."""
    parts = list(record.parts("steps"))
    names = {part.text("id"): part.text("name") for part in parts}
    return {
        "id": id,
        "page": page,
        "title": record.text("title"),
        "icon": record.text("icon"),
        "question": record.text("question"),
        "reading": record.texts("reading"),
        "parameters": record.texts("parameters"),
        "steps": tuple(_step(part, names, taught=taught) for part in parts),
    }


def _step(record: Record, names: Mapping[str, str], *, taught: bool) -> Step:
    aside, toys, gone = record.flag("aside", False), record.part("not_for_toys"), None
    if toys is not None:
        gone = NotForToys(toys.text("why"), names[toys.text("instead")])
        toys.done()
    step = Step(
        id=record.text("id"),
        name=record.text("name"),
        aside=aside,
        minutes=record.whole("minutes") if taught and not aside else None,
        idea=record.text("idea", ""),
        models=record.text("models", ""),
        was=record.texts("was"),
        not_for_toys=gone,
    )
    record.done()
    return step


def _entry(id: str, menu: str, order: Record) -> Page:
    """The page for one line of ``order.toml``, with the record of the page if there is one."""
    if menu in _READERS:
        room, read = _READERS[menu]
        return read(id, f"pages/{order.text(id)}", _LAB / room / id.replace("-", "_"))
    about = order.part(id)
    assert about is not None
    file, title, icon = (about.text(key) for key in ("page", "title", "icon"))
    page = Page(id, f"pages/{file}", title, icon, "", (), about.texts("parameters"), ())
    about.done()
    return page


# For each heading in the menu, the folder with the pages' folders, and the function that reads their records.
_READERS: Mapping[str, tuple[str, Callable[[str, str, Path], Page]]] = {
    "Lessons": ("lessons", read_lesson),
    "Benches": ("benches", read_bench),
    "Experiments": ("experiments", read_experiment),
}
_ORDER = Record.of(Path(__file__).with_name("order.toml"))
STOPS = tuple(Stop(stop.text("name"), stop.flag("repeats", False)) for stop in _ORDER.parts("stops"))
# The pages by their heading in the menu, in order. The first page has no heading, because it bears the name of the lab.
MENUS: Mapping[str, tuple[Page, ...]] = {
    name: tuple(_entry(id, name, menu) for id in menu)
    for name in _ORDER
    if name != "stops" and (menu := _ORDER.part(name)) is not None
}
LESSONS = tuple(page for page in MENUS["Lessons"] if isinstance(page, Lesson))
BENCHES = tuple(page for page in MENUS["Benches"] if isinstance(page, Bench))
EXPERIMENTS = tuple(page for page in MENUS["Experiments"] if isinstance(page, ExperimentRecord))
_BY_ID = {page.id: page for menu in MENUS.values() for page in menu}
_BY_SLUG = {page.slug: page for page in _BY_ID.values()}
COURSE_PAGE, MODELS_PAGE, GLOSSARY_PAGE, ROOM_PAGE = (
    _BY_ID[id].page for id in ("course", "models", "glossary", "room")
)
# The name of every lesson's last step.
CHECK_STEP = LESSONS[0].step(CHECK).name

P = TypeVar("P", Lesson, Bench, ExperimentRecord, Page)


def _of(pages: Sequence[P], id: str, kind: str) -> P:
    for page in pages:
        if page.id == id:
            return page
    raise KeyError(f"There is no {kind} {id}; lab/course/order.toml lists {', '.join(page.id for page in pages)}.")


def lesson_of(id: str) -> Lesson:
    """The lesson with this id. Raises KeyError, with the existing ids, for any other."""
    return _of(LESSONS, id, "lesson")


def bench_of(id: str) -> Bench:
    """The bench with this id. Raises KeyError, with the existing ids, for any other."""
    return _of(BENCHES, id, "bench")


def experiment_of(id: str) -> ExperimentRecord:
    """The experiment with this id. Raises KeyError, with the existing ids, for any other."""
    return _of(EXPERIMENTS, id, "experiment")


def disclosed(experiment: str, model_id: str) -> str:
    """The influence of a model's training on its result in an experiment, in plain text; "" if there is none."""
    return experiment_of(experiment).disclosed.get(model_id, "")


def page_of(id: str) -> Page:
    """The page with this id. Raises KeyError, with the existing ids, for any other."""
    return _of(tuple(_BY_ID.values()), id, "page")


def step_name(page: str, step: str) -> str:
    """The name of a step on screen and in the address, found by the ids of its page and of the step."""
    return page_of(page).step(step).name


def number(lesson: Lesson) -> int:
    """The lesson's place in the course, from 1."""
    return LESSONS.index(lesson) + 1


def neighbours(lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after ``lesson``."""
    at = LESSONS.index(lesson)
    return (LESSONS[at - 1] if at else None, LESSONS[at + 1] if at + 1 < len(LESSONS) else None)


def stop_of(lessons: Sequence[str]) -> Stop | None:
    """The stop that all of these ``lessons`` (ids) are about; None if they have several stops, or if there are none."""
    about = {lesson_of(id).stop for id in lessons}
    return next((stop for stop in STOPS if about == {stop.name}), None)


def page_at(slug: str) -> Page:
    """The page with this address; "" is the first page. Raises KeyError for an address without a page."""
    return _BY_SLUG[slug] if slug else _BY_ID["course"]


@cache
def script(page: str) -> str:
    """The path of a page's file, whichever file the server was started with."""
    return str(_LAB.parent / page)
