"""The toy of the tokenization lesson: a vocabulary is learned from made-up words step by step, then used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import pandas as pd
import streamlit as st

from lab.charts.tokens.token_chips import token_chips
from lab.course.words import quoted
from lab.lessons.tokenization import LESSON, toy_checks
from lab.lessons.tokenization.toy_checks import written
from lab.lessons.tokenization.view import count, next_pairs
from lab.toy import merges
from lab.toy.merges import BPE, MERGES, UNKNOWN, WORDPIECE, Corpus, Learned
from lab.ui.drawing import code, draw
from lab.ui.page import LessonPage
from lab.ui.parameters import TOY_MERGES, TOY_SEED, TOY_TRAINER, TOY_WORD
from lab.ui.quiz.draw_check import draw_checks
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import meaning, say, show_table, try_this

MERGE_STEP = "Merge by merge"
_PURPOSE = "A toy shows where a vocabulary comes from. It learns tokens from made-up words."
_WORDPIECE = (
    "**WordPiece** learns in the same way, but it merges the pair with the largest score, count(pair) / "
    "(count(first) · count(second)). Google has not published its training program, so this rule is from the Hugging "
    "Face course."
)


@dataclass(frozen=True)
class ToyView:
    """The words, drawn from a seed, and the vocabulary that a trainer learns from them."""

    seed: int
    trainer: str

    @cached_property
    def corpus(self) -> Corpus:
        return merges.made_up(self.seed)

    @cached_property
    def learned(self) -> Learned:
        return merges.learn(self.corpus.times, self.trainer)


def show_toy(page: LessonPage) -> None:
    """Draw the whole page in toy mode."""
    page.here(None)
    st.info(_PURPOSE, icon=":material/toys:")
    view, names = ToyView(page.selection[TOY_SEED], page.selection[TOY_TRAINER]), list(_STEPS)
    asking = _STEPS[page.step(names)](view)
    page.next_step(names)
    page.finish()
    if view.learned.trainer == BPE:
        _show_agreement(page, view, tell=not asking)


def _show_corpus(view: ToyView) -> None:
    """The words, as letters."""
    corpus, learned = view.corpus, view.learned
    say(
        "Where do the pieces in a vocabulary come from? They are learned from a large text, the **corpus**, before "
        f"the model is trained. This corpus is so small that you can read all of it. It has {len(corpus.times)} "
        "made-up words, each several times. At the start, every letter is a token."
    )
    _show_words(learned, 0)
    say(
        f"The corpus is {count(_tokens(learned, 0), 'token')} long. The vocabulary has {len(learned.letters)} letters "
        f"({written(learned.letters)}), and {UNKNOWN} stands for every other sign."
    )
    with st.expander("How the words were made"):
        say(
            f"Each word is one of the stems {written(corpus.stems)} with one of the endings "
            f"{written(corpus.endings)}. The program that learns the vocabulary does not know this. The corpus leaves "
            f"out {written(corpus.unseen)}. You can try these words later, as words that the program has never seen."
        )
        rows = {
            "different words": len(corpus.times),
            "words in all": sum(corpus.times.values()),
            "letters in all": _tokens(learned, 0),
            "different letters": len(learned.letters),
        }
        show_table(pd.DataFrame({"summary": rows.keys(), "number": rows.values()}))


def _show_words(learned: Learned, made: int) -> None:
    """Show every word of the corpus in its pieces, with the newest token marked."""
    newest = "".join(learned.merges[made - 1]) if made else ""
    rows = [
        "| "
        + " ".join(f":blue-background[**{each}**]" if each == newest else f"`{each}`" for each in pieces)
        + f" | × {times} |"
        for pieces, times in learned.states[made].items()
    ]
    say("\n".join(["| word | times |", "|:--|--:|", *rows]))


def _tokens(learned: Learned, made: int) -> int:
    """Draw the length of the corpus in tokens."""
    return sum(len(pieces) * times for pieces, times in learned.states[made].items())


def _choose_merges() -> int:
    """Let the learner choose the number of merges: by a slider, or one merge forward or back."""
    made = TOY_MERGES.choose("Merges made")
    with st.container(horizontal=True):
        st.button(
            "Next merge",
            key="_toy_merge_next",
            icon=":material/skip_next:",
            disabled=made == MERGES,
            on_click=TOY_MERGES.set,
            args=(made + 1,),
        )
        st.button(
            "Back",
            key="_toy_merge_back",
            type="tertiary",
            disabled=made == 0,
            on_click=TOY_MERGES.set,
            args=(made - 1,),
        )
    return made


def _show_merges(view: ToyView) -> bool:
    """Show the corpus after every merge, and the numbers that decide on the next merge.

    Returns True while its question is unanswered.
    """
    corpus, learned = view.corpus, view.learned
    say(
        "**Byte-pair encoding** finds the two tokens that are neighbours most often, and joins them into one token "
        "everywhere. Then it counts again."
    )
    if learned.trainer == WORDPIECE:
        say(_WORDPIECE)
    question = toy_checks.next_pair("toy-first-pair", "Which two neighbours are merged first?", learned, 0)
    if question is not None:
        waiting = st.container()
        if not predict(LESSON, question):
            with waiting:
                _show_words(learned, 0)
            return True
    made = _choose_merges()
    if made:
        won = learned.next(made - 1)[0]
        joined = f"`{won.pair[0]}` + `{won.pair[1]}` → `{''.join(won.pair)}`"
        say(f"**Merge {made}:** {joined}. {toy_checks.about(won, learned.trainer)}")
    left, right = st.columns(2)
    with left:
        _show_words(learned, made)
    with right:
        draw(partial(next_pairs, view.seed, learned.trainer, made), "toy-pairs")
    _show_found(corpus, learned, made)
    if made and learned.trainer == BPE:
        say(f"*Try:* choose WordPiece in the sidebar. {_WORDPIECE}")
    code(merges.learn, merges.candidates, merges.merged)
    return False


def _show_found(corpus: Corpus, learned: Learned, made: int) -> None:
    """Count the merges so far whose result is a part of a word."""
    if not made:
        say(
            f"Nothing is joined yet: each letter is a token, and the corpus is {_tokens(learned, 0)} tokens long. "
            "Press **Next merge**."
        )
        return
    stems, endings = learned.whole(made, corpus.stems), learned.whole(made, corpus.endings)
    words = learned.whole(made, tuple(corpus.times))
    whole = f", and so {'is' if len(words) == 1 else 'are'} {count(len(words), 'whole word')}" if words else ""
    meaning(
        f"Counting alone has found **{len(stems)}** of the {len(corpus.stems)} stems and **{len(endings)}** of the "
        f"{len(corpus.endings)} endings: they are now single tokens{whole}. The corpus was {_tokens(learned, 0)} "
        f"tokens long, and now it has **{_tokens(learned, made)}**. The vocabulary has "
        f"{len(learned.vocabulary(made))}."
    )


def _show_use(view: ToyView) -> None:
    """Cut a word that the learner types with the merges learned so far."""
    corpus, learned = view.corpus, view.learned
    say(
        "A vocabulary must also cut words that it has never seen. The corpus left out "
        f"{written(corpus.unseen)}. Type one of them, or any other word."
    )
    typed = TOY_WORD.line("Your word", placeholder=corpus.unseen[0]).split()
    word = "".join(typed) or corpus.unseen[0]
    if len(typed) > 1:
        st.caption("The toy cuts one word, so it reads your words without the spaces.")
    made = _choose_merges()
    cut = learned.tokenizer(made).encode(word)
    chips = [
        (word[start:end], (place,), f"{UNKNOWN} · id 0" if token == UNKNOWN else f"id {token_id}")
        for place, (token, token_id, (start, end)) in enumerate(zip(cut.tokens, cut.ids, cut.offsets, strict=True))
    ]
    st.html(token_chips(chips))
    times = corpus.times.get(word, 0)
    seen = f"is in the corpus {count(times, 'time')}" if times else "is not in the corpus"
    say(
        f"{quoted(word)} {seen}. After {count(made, 'merge')} it becomes **{count(len(cut.tokens), 'token')}**. The "
        "id below a token is its number in the vocabulary."
    )
    if UNKNOWN in cut.tokens:
        lost = "that sign becomes" if learned.trainer == BPE else "the whole word becomes"
        say(f"A sign that is not in the corpus is not in the vocabulary either: {lost} {UNKNOWN}.")
    if learned.trainer == BPE:
        _show_way(learned, word, made)
    else:
        say("WordPiece takes the longest token that begins the word, and then does the same with the rest.")
    say("Many real vocabularies, such as GPT-2’s, are also learned merge by merge, from far more text.")


def _show_way(learned: Learned, word: str, made: int) -> None:
    """List the merges that change the word, in their order."""
    way = learned.way(word, made)
    joined = ["the letters", *(f"{number} · {' + '.join(learned.merges[number - 1])}" for number, _ in way[1:])]
    if not made:
        why = "you have made no merge yet, so the word is still cut into letters. Which merges change it?"
        try_this(why, f"Make all {MERGES} merges", {TOY_MERGES: MERGES})
        return
    say(
        "BPE cuts a word by making its merges again, in the order in which they were learned. (BERT’s WordPiece "
        "takes the longest entry that fits, as the step **Pieces** shows.) These merges change the word:"
    )
    show_table(pd.DataFrame({"merge": joined, "pieces": [" · ".join(each) for _, each in way]}))


def _show_checks(view: ToyView) -> None:
    draw_checks(LESSON, toy_checks.all_checks(view.corpus, view.learned))


def _show_agreement(page: LessonPage, view: ToyView, *, tell: bool) -> None:
    """Draw the badge that compares these merges with the library's; without ``tell``, the table is not drawn yet."""
    own, library = view.learned.merges, merges.library_merges(view.corpus.times)
    same = own == library
    label = ":green[Equals Hugging Face’s tokenizer]" if same else ":red[Differs from Hugging Face’s tokenizer]"
    icon = ":material/verified:" if same else ":material/error:"
    with page.header.badge.container(), st.popover(label, icon=icon, on_change="rerun", key="agreement") as badge:
        if badge.open:
            verdict = "Its merges are the same, in the same order." if same else "Its merges are not the same."
            st.markdown(f"The library *tokenizers* learns merges from the same words. {verdict}")
            if not tell:
                st.markdown("Answer the question on the page, and a table that compares the two appears here.")
                return
            both = {"this lesson": [" + ".join(pair) for pair in own], "tokenizers": [" + ".join(p) for p in library]}
            show_table(pd.DataFrame({name: pd.Series(column) for name, column in both.items()}), numbered=True)


_STEPS: Mapping[str, Callable[[ToyView], bool | None]] = {
    "Toy corpus": _show_corpus,
    MERGE_STEP: _show_merges,
    "Use it": _show_use,
    "Check": _show_checks,
}
