"""The course: which lessons there are, in which order, and what each one promises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """One lesson. ``page`` is its file in ``pages/``; objectives complete "you will be able to …"."""

    id: str
    page: str
    title: str
    icon: str
    minutes: int
    question: str
    objectives: tuple[str, ...]
    reading: tuple[str, ...]
    toy: bool = False


LESSONS = (
    Lesson(
        id="tokenization",
        page="pages/1_Tokenization.py",
        title="Tokenization",
        icon=":material/content_cut:",
        minutes=12,
        question="What does the model read, if not words?",
        objectives=(
            "follow a text through normalization, pre-tokens and WordPiece or BPE",
            "predict how an unknown word is split, and why",
            "say which special tokens the model adds and what they are for",
        ),
        reading=(
            "Devlin et al. 2019, BERT, §3",
            "Wu et al. 2016, Google's neural machine translation system, §4.1",
            "Sennrich et al. 2016, Neural machine translation of rare words with subword units",
            "Radford et al. 2019, Language models are unsupervised multitask learners, §2.2",
        ),
    ),
    Lesson(
        id="self-attention",
        page="pages/3_Self-attention.py",
        title="Self-attention",
        icon=":material/hub:",
        minutes=20,
        question="How does a token decide which other tokens to listen to?",
        objectives=(
            "compute one attention weight by hand, from query and key to softmax",
            "read an attention map: rows attend, columns are attended to",
            "say what √d_k, the mask and the values are for, by taking them away",
        ),
        reading=(
            "Vaswani et al. 2017, Attention is all you need, §3.2",
            "Clark et al. 2019, What does BERT look at?, §3",
        ),
        toy=True,
    ),
    Lesson(
        id="masked-language-model",
        page="pages/9_Masked_language_model.py",
        title="Masked-language model",
        icon=":material/visibility_off:",
        minutes=15,
        question="How does a vector become a word?",
        objectives=(
            "turn a hidden state into a probability for every word of the vocabulary",
            "explain why BERT must hide a word to be asked about it",
            "write out the softmax of one candidate",
        ),
        reading=(
            "Devlin et al. 2019, BERT, §3.1 and appendix A.1",
            "Radford et al. 2019, Language models are unsupervised multitask learners",
        ),
    ),
)


def number(lesson: Lesson) -> int:
    """The lesson's place in the course, from 1."""
    return LESSONS.index(lesson) + 1


def lesson_of(page_file: str) -> Lesson:
    """The lesson whose page file has this name. Raises KeyError for a page that is none."""
    for lesson in LESSONS:
        if lesson.page.endswith(page_file):
            return lesson
    raise KeyError(f"{page_file} is not a lesson; lab/course/lessons.py lists them.")


def neighbours(lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after ``lesson``."""
    at = LESSONS.index(lesson)
    return (LESSONS[at - 1] if at else None, LESSONS[at + 1] if at + 1 < len(LESSONS) else None)
