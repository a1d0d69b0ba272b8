"""The pages: their order, and the record of each.

``order.toml`` has the order. The record of a lesson is ``lesson.toml`` in the lesson's folder; benches have
``bench.toml``, and experiments ``experiment.toml``. A record describes everything about its page that does not depend
on the screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, StrictBool, StrictInt, StrictStr

from lab.course.record import KNOWN_KEYS, Text, as_record, read_toml

_LAB = Path(__file__).resolve().parents[1]
CHECK = "check"  # the id of every lesson's last step on the way


class Toy(Enum):
    """The toys, named after their input: sentences for a small model’s heads, pairs of sentences, words, or blanks."""

    HEADS = "heads"
    VOCABULARY = "vocabulary"
    BLANK = "blank"
    PAIR = "pair"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop on the way from a text to a word; ``repeats`` says that each layer has this stop."""

    __pydantic_config__ = KNOWN_KEYS
    name: Text
    repeats: StrictBool = False


@dataclass(frozen=True, kw_only=True)
class NotForToys:
    """The reason why a step is not offered for a toy, as a sentence, and the name of the step shown ``instead``.

    A record says the id of that step.
    """

    __pydantic_config__ = KNOWN_KEYS
    why: Text
    instead: Text


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a lesson or of a bench.

    Attributes
    ----------
    name
        The name in the row of steps, and in the address.
    aside
        Whether the step is optional in its lesson.
    short
        Whether the short way through the course has the step.
    before
        What the short way says before the step, in place of the steps that it leaves out.
    can
        For a step of the short way: the end of the sentence "You can …" for who has done the step.
    minutes
        The time that a careful reader of a lesson needs with the default sentence: 130 words a minute, a minute for a
        figure, half a minute for a question. None for optional steps, and on a bench.
    models
        "causal" or "masked" if only such models have the step, "" if every model has it.
    own_words
        Whether the step brings its own words, and does not read the sentence on the page.
    own_head
        Whether the step chooses the head itself, and does not show the head that a learner has chosen.
    text
        The step's own example, which takes the place of the course's sentence there; "" if it needs none.
    instead
        What the step shows in place of the course's sentence, which is in the field, in a sentence; "" if it shows it.
    """

    __pydantic_config__ = KNOWN_KEYS
    id: Text
    name: Text
    aside: StrictBool = False
    short: StrictBool = False
    before: Text = ""
    can: Text = ""
    minutes: StrictInt | None = None
    models: Literal["", "causal", "masked"] = ""
    own_words: StrictBool = False
    own_head: StrictBool = False
    text: Text = ""
    instead: Text = ""
    not_for_toys: NotForToys | None = None


def _taught(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps of a lesson, which have minutes unless they are aside, and say by its name what is there instead."""
    names = {step.id: step.name for step in steps}
    for step in steps:
        if step.aside is not (step.minutes is None):
            raise ValueError(f"{step.id} {'is aside and has' if step.aside else 'has no'} minutes")
        if step.short is not bool(step.can) or (step.before and not step.short):
            raise ValueError(f"{step.id}: the steps of the short way, and no others, say what one can do then")
        if step.not_for_toys is not None and step.not_for_toys.instead not in names:
            raise ValueError(f"{step.id} has no step {step.not_for_toys.instead} instead of it")
    return tuple(
        replace(step, not_for_toys=gone and replace(gone, instead=names[gone.instead]))
        for step in steps
        for gone in (step.not_for_toys,)
    )


@dataclass(frozen=True, kw_only=True)
class Story:
    """The beginning and the end of a lesson, in sentences that are true of every model and text, including toys.

    ``last`` says where the last stop ended, ``now`` which problem is left; ``recap`` has the findings in three
    sentences, and ``remember`` is the sentence to keep.
    """

    __pydantic_config__ = KNOWN_KEYS
    last: Text
    now: Text
    recap: tuple[Text, ...] = ()
    remember: Text


@dataclass(frozen=True, kw_only=True)
class Page:
    """The fields of every page.

    ``page`` is the file in ``pages/``; ``question`` is the title as a full question. ``parameters`` are the names, in a
    link, of the choices on this page besides its input.
    """

    __pydantic_config__ = KNOWN_KEYS
    id: Text
    page: Text
    title: Text
    icon: Text
    question: Text
    reading: tuple[Text, ...] = ()
    parameters: tuple[Text, ...] = ()
    steps: tuple[Step, ...] = ()

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


@dataclass(frozen=True, kw_only=True)
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
    """

    steps: Annotated[tuple[Step, ...], AfterValidator(_taught)] = ()
    objectives: tuple[Text, ...] = ()
    stop: Text
    story: Story
    toy: Toy | None = None
    weights: StrictBool = True
    text: Text = ""

    def text_at(self, step: str) -> str:
        """The text on which a step, by its name, opens; "" means that of a new visit."""
        return next((each.text for each in self.steps if each.name == step and each.text), self.text)

    @property
    def minutes(self) -> int:
        """The time that a careful reader needs for the steps that are not optional."""
        return sum(step.minutes or 0 for step in self.steps if step.models != "causal")


@dataclass(frozen=True, kw_only=True)
class Bench(Page):
    """A page for learners who look around and researchers who take numbers, without the order of a course.

    ``after`` are the ids of the lessons that the bench continues. ``toy`` says whether sentences of letters may be its
    input, ``weights`` whether it offers random weights.
    """

    after: tuple[Text, ...] = ()
    toy: StrictBool = True
    weights: StrictBool = True


@dataclass(frozen=True, kw_only=True)
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

    after: tuple[Text, ...] = ()
    claim: Text
    whose: Text
    test: Text
    against: Text
    not_shown: tuple[Text, ...] = ()
    disclosed: Mapping[StrictStr, Text] = field(default_factory=dict)
    model: Text = ""


P = TypeVar("P", Lesson, Bench, ExperimentRecord, Page)


def read_page(kind: type[P], id: str, file: str, path: Path) -> P:
    """Read the record at ``path``, of the page that ``file`` in ``pages/`` shows.

    Raises ValueError, which names the file and the key, for a missing or unknown key, and for a value of a wrong kind.
    """
    told = read_toml(path)
    if ids := {"id", "page"} & told.keys():
        raise ValueError(f"{path.parent.name}/{path.name} has {', '.join(ids)}, which order.toml says already.")
    return as_record(kind, {**told, "id": id, "page": f"pages/{file}"}, path)


def _entry(id: str, menu: str, about: Any) -> Page:
    """The page for one line of ``order.toml``: the name of a file with a record of its own, or the record itself."""
    if isinstance(about, str):
        room, kind, record = _ROOMS[menu]
        return read_page(kind, id, about, _LAB / room / id.replace("-", "_") / record)
    return as_record(Page, {"question": "", **about, "id": id, "page": f"pages/{about['page']}"}, _PATH)


# For each heading in the menu: the folder with the pages' folders, the kind of its pages, the name of their records.
_ROOMS: Mapping[str, tuple[str, type[Page], str]] = {
    "Lessons": ("lessons", Lesson, "lesson.toml"),
    "Benches": ("benches", Bench, "bench.toml"),
    "Experiments": ("experiments", ExperimentRecord, "experiment.toml"),
}
_PATH = Path(__file__).with_name("order.toml")
_ORDER = read_toml(_PATH)
STOPS = tuple(as_record(Stop, each, _PATH) for each in _ORDER.pop("stops"))
# The pages by their heading in the menu, in order. The first page has no heading, because it bears the name of the lab.
MENUS: Mapping[str, tuple[Page, ...]] = {
    menu: tuple(_entry(id, menu, about) for id, about in entries.items()) for menu, entries in _ORDER.items()
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
def home() -> Path:
    """The file that Streamlit starts: beside ``lab`` in a checkout, in ``lab/app`` in a wheel (pyproject.toml)."""
    packed = _LAB / "app" / "Home.py"
    return packed if packed.is_file() else _LAB.parent / "Home.py"


@cache
def page_path(page: str) -> str:
    """The path of a page's file, whichever file the server was started with."""
    return str(home().parent / page)
