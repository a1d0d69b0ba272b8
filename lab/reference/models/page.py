"""Models: the cards of the trained parts on screen (a picker, the facts, the card), and the models of the Hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from lab.course.words import escaped, quoted
from lab.evidence.kind_rules import shipped
from lab.evidence.notable import Notable, in_folder
from lab.models.catalogue import CATALOGUE, ModelCard, card
from lab.models.config import CheckpointError
from lab.reference.models.model_cards import CARD, Code, ModelCardText, Part, Picture, Table, read_model_card
from lab.reference.models.shipped_parts import PUBLISHED, facts, parts, sizes, specification
from lab.ui import parameters, runs, selection
from lab.ui.page import OpenPage, open_reference
from lab.ui.screen import SHARE, show_table


def play() -> None:
    """Run the page."""
    page = open_reference("Models", "What was each model trained on, and what does it know?")
    show_cards(page)
    page.finish()


# The sections that learners read first, and the folded ones, for readers who want to make such a model.
_FIRST, _FOLDED = ("What it knows", "Limits"), ("How it was made", "Outside the lab")


def show_cards(page: OpenPage) -> None:
    """Draw the list of parts, and the card of the chosen part."""
    folders = {part.id: part.folder for part in parts()}
    model = page.selection[parameters.MODEL]
    chosen = _choose([*([] if model in folders else [model]), *folders], model)
    entry = card(chosen)
    if chosen in folders:
        _show_part(folders[chosen])
    elif entry is not None and entry.repository is not None:
        _show_hub(entry)
    else:
        _show_local(chosen)
    _show_side_by_side()
    _show_catalogue()


def _choose(offered: Sequence[str], model: str) -> str:
    """Draw the picker. The list starts at the sidebar's model, and follows changes in the sidebar."""
    asked, before = parameters.CARD.chosen(), st.session_state.get("_card.model")
    st.session_state["_card.model"] = model
    if before not in (None, model):
        parameters.CARD.set(model)
    elif asked and asked not in offered:
        selection.note(f"There is no card for {quoted(asked[:40])}, so you see the one for {escaped(model)}.")
    return parameters.CARD.buttons("Card of", offered, model)


def _show_part(folder: Path) -> None:
    _show(folder, read_model_card(folder))


def _show(folder: Path, text: ModelCardText) -> None:
    st.header(escaped(text.title))
    sections = text.sections(demote=1)
    _show_parts(sections.pop(""))
    _show_facts(facts(folder, text))
    for title in _FIRST:
        _show_section(title, sections.pop(title, ()))
    _show_jobs(in_folder(folder) or ())
    for title in [title for title in sections if title not in _FOLDED]:
        _show_section(title, sections.pop(title))
    for title, folded in sections.items():
        with st.expander(escaped(title), icon=":material/article:"):
            _show_parts(folded)


def _show_section(title: str, parts: Sequence[Part]) -> None:
    if parts:
        st.subheader(escaped(title))
        _show_parts(parts)


def _show_parts(parts: Sequence[Part]) -> None:
    """Draw the parts of a card, in their order."""
    if any(isinstance(part, str) and "top-1" in part for part in parts):
        st.caption(
            "**Top-1** says how often the first guess is right. **Top-5** says how often one of the first five "
            "guesses is right."
        )
    for part in parts:
        match part:
            case Picture():
                st.image(str(part.path), width=640, alt=part.alt)
            case Table():
                st.table(pd.DataFrame(part.rows, columns=list(part.header)), hide_index=True)
            case Code():
                st.code(part.text, language=None, wrap_lines=True)
            case _:
                st.markdown(part)


def _show_jobs(found: Sequence[Notable]) -> None:
    """Draw the table of jobs with the head that does each job best; the best job comes first."""
    if not found:
        return
    st.header("What its heads do")
    st.markdown(
        "The jobs are measured on UD English EWT dev, which are sentences whose grammar people marked. Copying is "
        "measured on random tokens that occur twice. A head is named by layer and number: 3-1 is head 1 of layer 3. "
        "**Rule** is the score of a rule that knows nothing of the head: for a relation, the better one of the best "
        "fixed distance and a rule by kinds of words, such as the nearest noun to the left; for other jobs, a uniform "
        "head, "
        "which for “looks at all tokens alike” does just that. The best of many heads is chosen and measured on the "
        "same sentences, so its score is a little too high."
    )
    show_head_jobs(found)


def _show_facts(known: dict[str, str]) -> None:
    st.table({name: escaped(value) for name, value in known.items()}, border="horizontal")


def _show_hub(entry: ModelCard) -> None:
    """Draw the catalogue's facts about a model from the Hub, and whether the model can be downloaded."""
    st.header(escaped(entry.title))
    st.markdown(
        f"{quoted(entry.id)} is {escaped(str(entry.repository))} on the Hugging Face Hub. It has about "
        f"{entry.megabytes:,} MB, and its licence is {entry.licence}. {_HERE[_state(entry)]}"
    )


_HERE = {
    "on this machine": "The model is on this machine.",
    "can be downloaded": "The model is not on this machine yet; a lesson offers the download.",
    "not on this server": "The model is not on this machine, and this server does not download models.",
}


def _state(entry: ModelCard) -> str:
    if runs.needs_download(entry.id) is None:
        return "on this machine"
    return "can be downloaded" if runs.downloads_allowed() else "not on this server"


def _show_local(name: str) -> None:
    """Draw a folder that the operator offers, with its card if it has one."""
    folder = runs.local_models()[name]
    try:
        if (folder / CARD).is_file():
            _show_part(folder)
            return
        st.header(escaped(name))
        st.markdown("This is a checkpoint folder on this server. It has no card.")
        _show_facts(facts(folder, None))
    except CheckpointError as error:
        st.warning(escaped(str(error)), icon=":material/error:")


def _show_side_by_side() -> None:
    """Draw the sizes of the models that ship with the lab, and of the models of the papers, one per column."""
    own = {part.id: specification(part.folder) for part in parts()}
    known = {name: each for name, each in own.items() if each is not None}
    known |= {each.id: sizes(each, each.parameters) for each in PUBLISHED}
    st.header("Side by side")
    st.table(pd.DataFrame(known).map("{:,}".format), border="horizontal")
    st.caption(
        "The first columns show the lab’s own models. Their parameters are counted in their files, including "
        "vocabulary heads. The other columns show the papers’ models. Their parameters follow from the published "
        "configurations, without such heads. BERT’s paper rounds the numbers to 110 and 340 million."
    )


def _millions(entry: ModelCard) -> float:
    """Millions of parameters: computed if the configuration is known, else all numbers in the file, heads included."""
    counted = next((each.parameters / 1e6 for each in PUBLISHED if each.id == entry.id), None)
    return entry.megabytes / 4 if counted is None else counted


def _show_catalogue() -> None:
    """List the models that do not ship with the lab."""
    entries = [entry for entry in CATALOGUE if entry.repository is not None]
    st.header("From the Hugging Face Hub")
    table = pd.DataFrame(
        {
            "Model": [entry.id for entry in entries],
            "Family": [entry.family for entry in entries],
            "Parameters": [f"about {_millions(entry):,.0f} million" for entry in entries],
            "Size": [f"about {entry.megabytes:,} MB" for entry in entries],
            "Licence": [entry.licence for entry in entries],
            "Here": [_state(entry) for entry in entries],
        }
    )
    st.table(table, border="horizontal", hide_index=True)
    if runs.downloads_allowed():
        st.markdown("Choose a model in the sidebar. A lesson then offers the download.")
    else:
        with st.expander("For whoever runs this server", icon=":material/dns:"):
            st.markdown("Downloads are allowed with `LAB_ALLOW_DOWNLOADS=1`.")


def show_head_jobs(found: Sequence[Notable]) -> None:
    """Draw one row per job: its best head, that head's score, a simple rule's, and other heads that do the job."""
    rules = shipped()
    rows = [
        {
            "what it does": each.job.does,
            "best head": each.heads[0].name,
            "score": each.heads[0].score,
            "rule": max(each.chance or 0.0, rules[each.job.id].share) if each.job.grammatical else each.chance,
            "also": ", ".join(f"{doing.name} ({doing.score:.0%})" for doing in each.heads[1:]),
        }
        for each in found
    ]
    show_table(pd.DataFrame(rows), formats=dict.fromkeys(("score", "rule"), SHARE))
