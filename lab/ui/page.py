"""The parts of every page with a model: header, trace and proof; in a lesson also the way through the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.pages import (
    BENCHES,
    COURSE_PAGE,
    EXPERIMENTS,
    Bench,
    Lesson,
    NotForToys,
    Step,
    Story,
    bench_of,
    lesson_of,
    neighbours,
    number,
    page_of,
    page_path,
)
from lab.course.sentences.looks import as_read, look_head
from lab.course.ways import SHORT
from lab.course.words import escaped, quoted
from lab.models.catalogue import twin_id
from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.ui import address, download_offer, parameters, runs, selection, shell, sidebar, teaching
from lab.ui.chosen_tokens import FirstHead, begin
from lab.ui.frame import strip
from lab.ui.frame.header import Header, draw_header, say_time, show_feedback
from lab.ui.frame.proof_badge import show_proof
from lab.ui.frame.way_buttons import draw_dots, draw_way_on
from lab.ui.parameters_of_a_run import Counted
from lab.ui.quiz.done import begin_step, look_for_use, step_on_screen, went_on
from lab.ui.quiz.question_on_screen import progress
from lab.ui.quiz.step_questions import keep_place
from lab.ui.screen import offer_back, papers, say, way_to
from lab.ui.selection import Selection
from lab.ui.shared.machine import open_machine
from lab.ui.shared.unreadable_text import say_unreadable
from lab.ui.texts import COURSE, show_switch, shown_at, whose

_PLAIN = Interventions()
_CAME = "_step_before"  # the step of a page from which the learner went on


@dataclass(frozen=True)
class OpenPage:
    """One run of a page: its selection, and the places for the strip, the proof badge and the notes."""

    selection: Selection
    header: Header
    notes: DeltaGenerator
    weights: bool  # whether the learner may switch to the untrained model with random weights

    def step(self, names: Sequence[str], more: Sequence[str] = ()) -> str:
        """Draw the row of steps under the header: one idea per screen; the steps in ``more`` are optional.

        Returns the chosen step.
        """
        asked = parameters.STEP.asked()
        linked = parameters.STEP.linked()
        gone = {name: each for name, each in self.gone().items() if name not in (*names, *more)}
        instead = {name: each.instead for name, each in gone.items()}
        chosen = parameters.STEP.choose(names, more, instead)
        if asked in gone:
            selection.note(f"{gone[asked].why} “{asked}” does not work with toys, so you see “{chosen}”.")
        elif linked and asked not in (*names, *more, *instead):
            selection.note(f"This page has no step {quoted(asked[:40])}, so you see “{chosen}”.")
        keep_place()
        return chosen

    @property
    def brings_its_own_words(self) -> bool:
        """Whether the step on screen reads neither the page's sentence nor a head that one could choose."""
        return False

    @property
    def brings_its_own_head(self) -> bool:
        """Whether the step on screen chooses its head itself."""
        return False

    def gone(self) -> Mapping[str, NotForToys]:
        """Return the steps that are left out because the page reads a toy; no steps on other pages."""
        return {}

    def next_step(self, names: Sequence[str], more: Sequence[str] = ()) -> None:
        """Draw the buttons for the next and the previous step at the end of a step; for a class, keys press them.

        Optional steps come before the last step, and their next step is the last step, which leads back to the step
        from which one came.
        """
        now = parameters.STEP.chosen() or names[0]
        came = str(st.session_state.get(f"{_CAME}.{address.here().id}"))
        aside = now in more or (now == names[-1] and came in more)
        way = [*names[:-1], *more, names[-1]] if aside else list(names)
        if now == names[-1] and aside:
            way = [*way[: way.index(came) + 1], now]
        at = way.index(now)
        back, forward = teaching.keys()
        offer_back()
        if at + 1 == len(way):
            self.ending()
        with st.container(horizontal=True):
            if at > 0:
                go, icon = partial(parameters.STEP.set, way[at - 1]), ":material/arrow_back:"
                label = f"Previous: {way[at - 1]}"
                st.button(label, key="_previous_step", icon=icon, type="tertiary", on_click=go, shortcut=back)
            elif back is not None:
                self.previous_page(back)
            if at + 1 < len(way):
                go, icon = partial(self.go_on, way[at + 1]), ":material/arrow_forward:"
                label = f"Next: {way[at + 1]}"
                st.button(label, key="_next_step", icon=icon, type="primary", on_click=go, shortcut=forward)
            else:
                self.next_page(forward)

    def go_on(self, step: str) -> None:
        """Go on to a step of the page. For a button's callback."""
        st.session_state[f"{_CAME}.{address.here().id}"] = parameters.STEP.chosen()
        parameters.STEP.set(step)

    def ending(self) -> None:
        """Draw the end of the last step; draw nothing if the page is not a lesson."""

    def next_page(self, key: str | None) -> None:
        """Draw the button to the next page after the last step; draw nothing on a page that is not part of a series."""

    def previous_page(self, key: str) -> None:
        """Draw, for a class, the button back to the last step of the page before; nothing on a page without one."""

    def trace(self, changes: Interventions = _PLAIN) -> Trace:
        """Run the selected text through the selected model. Stops the page with a sentence if the run is impossible."""
        model_id, text = self._model_id(), self.selection[parameters.TEXT]
        if whose() == COURSE:
            text = as_read(runs.model(model_id), text)
        traced = self.run(model_id, text, self.selection[parameters.PAIR], changes)
        self.here(traced)
        return traced

    def here(self, traced: Trace | None) -> None:
        """Show where the page is on the way from text to word, with the shapes of this run; nothing for a class."""
        if self.header.about and not self.selection[parameters.TEACH]:
            with self.header.way:
                strip.show(traced, self.header.about, self.header.lesson)

    def run(self, model_id: str, text: str, pair: str, changes: Interventions = _PLAIN, whose: str = "") -> Trace:
        """Run any text through any model of this server.

        ``whose`` ("Text B: ") begins every sentence about the text.
        """
        try:
            traced = runs.run(model_id, text, pair, changes)
        except TextError as error:
            if not whose:
                self.here(None)
            st.info(f"{whose}{error}", icon=":material/edit:")
            self.finish()
            st.stop()
        cut = traced.encoding.cut
        if cut:
            name, limit = escaped(traced.model.id), traced.model.config.max_tokens
            side = "beginning" if traced.model.config.from_end else "end"
            where = f", from the {side} of the longer text first" if traced.pair else f" from the {side}"
            st.warning(
                f"{whose}{name} reads at most {limit} tokens, so {cut} were cut{where}.",
                icon=":material/content_cut:",
            )
        say_unreadable(traced, whose)
        return traced

    def _model_id(self) -> str:
        """Return the id of the model to run: the selected model, or its random twin if the page offers the twin."""
        wanted = download_offer.available(self.selection[parameters.MODEL])
        if self.selection[parameters.TRAINING] != parameters.RANDOM or not self.weights:
            return wanted
        seed = self.selection[parameters.TWIN_SEED]
        st.info(
            f"Random weights, seed {seed}: {escaped(wanted)} before its first training step. Nothing is learned here.",
            icon=":material/casino:",
        )
        return twin_id(wanted, seed)

    def head_controls(self, trace: Trace, first: FirstHead = look_head) -> tuple[int, int]:
        """Draw the layer and head selectors in the sidebar; returns both from 0. ``first`` finds the initial choice."""
        found, config = begin(trace, first), trace.model.config
        if self.brings_its_own_words or self.brings_its_own_head:
            return min(parameters.LAYER.chosen(), config.layers) - 1, min(parameters.HEAD.chosen(), config.heads) - 1
        with sidebar.controls():
            left, right = st.columns(2)
        with left:
            layer = choose_layer(trace, found)
        with right:
            head = choose_head(trace, found)
        sidebar.choose_by_job(trace.model, layer, head)
        return layer, head

    def head_control(self, trace: Trace) -> int:
        """Draw the head selector in the sidebar, for a bench that looks at all layers; returns the head from 0."""
        with sidebar.controls():
            return choose_head(trace, begin(trace, look_head))

    def layer_control(self, trace: Trace, first: FirstHead = look_head) -> int:
        """Draw the layer selector in the sidebar, for a lesson without heads; returns the layer from 0.

        ``first``: see :meth:`head_controls`.
        """
        with sidebar.controls():
            return choose_layer(trace, begin(trace, first))

    def prove(self, *traces: Trace, names: Sequence[str] = ()) -> None:
        """Fill the badge. Call this method last, so that the page is on screen while Hugging Face's model runs, if the
        reader asks for the proof.

        With several traces there is a badge for each, labelled with the trace's model, or with its name in ``names``.
        """
        badge = self.header.badge
        with badge.container(horizontal=True) if len(traces) > 1 else badge:
            for place, trace in enumerate(traces):
                name = names[place] if names else trace.model.id if len(traces) > 1 else None
                show_proof(trace, f"_proof_{place}", name, bool(names) and not trace.interventions.changes_nothing)

    def finish(self) -> None:
        """Draw the notes on changed selections. Call this method when all controls are drawn."""
        selection.refuse_the_rest()
        if notes := selection.take_notes():
            with self.notes.container():
                for message in notes:
                    st.warning(message, icon=":material/info:")


@dataclass(frozen=True)
class LessonPage(OpenPage):
    """The page of a lesson."""

    lesson: Lesson

    @property
    def short(self) -> bool:
        """Whether the lesson is seen on the short way, which has no toys."""
        return self.selection[parameters.WAY] == SHORT and self.selection[parameters.MODE] != parameters.TOY

    def step(self, names: Sequence[str], more: Sequence[str] = ()) -> str:
        """Draw the row of steps as on every page, on the short way also its dots, and state the step's idea."""
        begin_step()
        way = st.empty()
        chosen = super().step(names, more)
        if self.short:
            draw_dots(way, self.lesson.id, step_on_screen(self.lesson.id))
        story = self._story if chosen == names[0] else None
        if self.short:
            self._lead_in(self.lesson.step(step_on_screen(self.lesson.id)))
        elif story is not None:
            st.markdown(f"*Last stop:* {story.last} **Now:** {story.now}")
        if not self.selection[parameters.TEACH]:
            say_time(self.header.time, self.lesson, chosen)
        if self.selection[parameters.MODE] != parameters.TOY:
            shown_at(self.lesson, chosen)
            if not self.brings_its_own_words:
                show_switch(self.lesson.text_at(chosen))
        return chosen

    @property
    def brings_its_own_words(self) -> bool:
        return sidebar.brings_its_own_words(self.lesson)

    @property
    def brings_its_own_head(self) -> bool:
        return sidebar.brings_its_own_head(self.lesson)

    def _lead_in(self, step: Step) -> None:
        """Say what the short way leaves out before a step."""
        if step.before:
            say(step.before)

    def here(self, traced: Trace | None) -> None:
        """Show where the lesson is on the way from text to word, and the button that opens the whole machine."""
        super().here(traced)
        if traced is None:
            return
        with self.header.machine.container(key="machine.mark", width="content"):
            label = "The whole machine"
            if st.button(label, icon=":material/account_tree:", help=label, key="_machine"):
                open_machine(traced, self.lesson.id)

    def gone(self) -> Mapping[str, NotForToys]:
        """Return the steps of the lesson that make no sense for a toy, if the page reads a toy; otherwise no steps."""
        if self.selection[parameters.MODE] != parameters.TOY:
            return {}
        return {step.name: step.not_for_toys for step in self.lesson.steps if step.not_for_toys is not None}

    def offered(self, *, causal: bool) -> list[Step]:
        """The steps that suit the input and the model, which reads from left to right (``causal``) or both ways."""
        other, gone = "masked" if causal else "causal", self.gone()
        return [step for step in self.lesson.steps if step.models != other and step.name not in gone]

    @property
    def _story(self) -> Story | None:
        """Return the beginning and the findings of the lesson as a story; None for a class and for a toy."""
        return (
            None
            if self.selection[parameters.TEACH] or self.selection[parameters.MODE] == parameters.TOY
            else self.lesson.story
        )

    def next_step(self, names: Sequence[str], more: Sequence[str] = ()) -> None:
        """Draw the buttons for the next and the previous step: of the lesson, or of the short way across lessons."""
        if not self.short:
            return super().next_step(names, more)
        offer_back()
        draw_way_on(self.lesson.id, step_on_screen(self.lesson.id))

    def go_on(self, step: str) -> None:
        """Go on to a step of the lesson, and note that this step is done. For a button's callback."""
        went_on(self.lesson.id)
        super().go_on(step)

    def ending(self) -> None:
        """Draw the lesson's findings and the sentence to remember."""
        if self.selection[parameters.TEACH]:
            return
        if (story := self._story) is not None:
            # The findings give away some checks, so they are folded until the checks are answered.
            done = progress().count(self.lesson)
            with st.expander("What you found", expanded=0 < done.asked <= done.answered):
                st.markdown("\n".join(f"- {each}" for each in story.recap))
                st.markdown(f":material/bookmark: **Remember.** {story.remember}")
        for kind, pages in (("On the bench", BENCHES), ("The experiment", EXPERIMENTS)):
            for each in (page for page in pages if self.lesson.id in page.after):
                way_to(kind, each)

    def next_page(self, key: str | None) -> None:
        """Draw the button to the next lesson, or, in the last one, to the end; ``key`` presses the button, too."""
        _, after = neighbours(self.lesson)
        label = page_of("end").title if after is None else f"lesson {number(after)}, {after.title}"
        # The button has a key of its own: the click that led to this step would otherwise count for this button, too.
        if st.button(f"Next: {label}", key="_next_page", icon=":material/arrow_forward:", type="primary", shortcut=key):
            went_on(self.lesson.id)
            selection.open_page(after or page_of("end"))

    def previous_page(self, key: str) -> None:
        """Draw the button to the last step of the lesson before, from which the key for the next step leads here."""
        before, _ = neighbours(self.lesson)
        if before is None:
            return
        label, icon = f"Previous: lesson {number(before)}, {before.title}", ":material/arrow_back:"
        if st.button(label, key="_previous_page", icon=icon, type="tertiary", shortcut=key):
            selection.open_page(before, [step.name for step in before.steps if not step.aside][-1])

    def finish(self) -> None:
        """Draw the notes on changed selections, the reading list, and the links to the neighbouring lessons."""
        super().finish()
        look_for_use(self.lesson)
        st.divider()
        papers(self.lesson.reading)
        show_feedback(parameters.STEP.chosen())
        if self.short:
            return
        before, after = neighbours(self.lesson)
        icons = "arrow_back", "map" if after is None else "arrow_forward"
        with st.container(horizontal=True):
            for other, icon in zip((before, after), icons, strict=True):
                page, label = (COURSE_PAGE, "Course") if other is None else (other.page, other.title)
                st.page_link(page_path(page), label=label, icon=f":material/{icon}:", width="stretch")


def open_lesson(id: str) -> LessonPage:
    """Guard the page, draw its header, and return the page to fill."""
    shell.route()
    lesson = lesson_of(id)
    header = draw_header(lesson.title, lesson.question, (lesson.id,), lesson)
    return LessonPage(selection.current(), header, st.empty(), lesson.weights, lesson)


def open_reference(title: str, question: str) -> OpenPage:
    """Guard a page of the reference, draw its header, and return the page to fill."""
    shell.route()
    return OpenPage(selection.current(), draw_header(title, question), st.empty(), weights=False)


@dataclass(frozen=True)
class BenchPage(OpenPage):
    """The page of a bench."""

    bench: Bench

    def choose(self) -> str:
        """Draw the row of the bench's steps; returns the id of the chosen step."""
        chosen = self.step([step.name for step in self.bench.steps])
        return next(step.id for step in self.bench.steps if step.name == chosen)

    def finish(self) -> None:
        """Draw the notes on changed selections, and the reading list."""
        super().finish()
        papers(self.bench.reading)


def open_bench(id: str) -> BenchPage:
    """Guard the page of a bench, draw its header, and return the page to fill."""
    shell.route()
    bench = bench_of(id)
    header = draw_header(bench.title, bench.question, bench.after)
    return BenchPage(selection.current(), header, st.empty(), bench.weights, bench)


def choose_layer(trace: Trace, found: tuple[int, int]) -> int:
    """Draw the selector of a layer, which starts at the layer of ``found`` (layer and head, from 0)."""
    return _choose(parameters.LAYER, "Layer", trace.model.config.layers, trace.model.id, found[0])


def choose_head(trace: Trace, found: tuple[int, int]) -> int:
    """Draw the selector of a head, which starts at the head of ``found`` (layer and head, from 0)."""
    return _choose(parameters.HEAD, "Head", trace.model.config.heads, trace.model.id, found[1])


def _choose(parameter: Counted, label: str, count: int, model_id: str, first: int) -> int:
    selection.fit(parameter, count, model_id)
    return parameter.choose(label, range(1, count + 1), first + 1) - 1
