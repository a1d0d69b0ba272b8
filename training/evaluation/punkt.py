"""How well the shipped Punkt parameters find sentences, from the repository alone.

    python -m training.evaluation.punkt
    python -m training.evaluation.punkt --treebanks ../corpora/en_ewt-ud-train.conllu.xz

The second form scores other treebanks. The text is UD English EWT's dev part, which the parameters were not trained
on. It is rebuilt from its ``# text`` lines: the sentences of a paragraph (``# newpar``) joined by one space. A boundary
is the character offset where a sentence ends, the end of the text itself left out: it needs no finding. A predicted
boundary is right when it stands at the very offset. ``documents`` joins the paragraphs of a document (``# newdoc``) by
one space too, so that nothing but the words tells where a heading ends. ``gum`` does the same with 40 documents of UD
English GUM.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.evidence.treebank import EWT, GUM
from lab.text.sentences.split import sentence_spans
from lab.text.tokenizers.cut_text import Span
from training.command_line import documented

# One sentence each, though a full stop stands inside.
WHOLE = (
    "Dr. Smith arrived at noon.",
    "I met Mr. Brown there.",
    "We saw Mrs. Dalloway buy flowers.",
    "Ms. Lee is the director.",
    "The note was for Mr. White.",
    "Both Mrs. Rose and Dr. Young came.",
    "It was signed by Dr. John Brown.",
    "Prof. Jones teaches history.",
    "Gen. Grant won the battle.",
    "He moved to St. Louis last year.",
    "It was built by St. Francis himself.",
    "Growth in the U.S. economy was slow.",
    "The U.N. Security Council met on Monday.",
    "Fruit, e.g. this apple, is healthy.",
    "One of them, i.e. the younger, was late.",
    "We start at 9 a.m. in the main hall.",
    "The shop closes at 5 p.m. on Sundays.",
    "They played Symphony No. 5 in the park.",
    "J. R. R. Tolkien wrote The Hobbit.",
    "George W. Bush was president.",
    "Apple Inc. said it would wait.",
    "Smith & Co. makes furniture.",
    "Pens, paper, etc. and ink were sold.",
    "Martin Luther King Jr. spoke first.",
    "It was France vs. Brazil in the final.",
    "It rained on Sept. 17 that year.",
    "It weighs 3.5 kilos.",
    "Smith et al. found it.",
    "See fig. 3 for more.",
    "He said “Go away.” and left.",
    "1. First we rest.",
    "Wait . . . what is it?",
)
# Two sentences each, cut where the bar stands; some end in an abbreviation.
TWO = (
    "I saw the doctor.|He was kind.",
    "Is it true?|Yes, it is.",
    "Stop!|The bridge is closed.",
    "He left at 5 p.m.|She stayed.",
    "They live in the U.S.|They like it there.",
    "He bought pens, paper, etc.|Then he went home.",
    "She slept until 10 a.m.|I was up.",
    "It costs 3.50.|That is cheap.",
    "We had no.|No means no.",
    "“Where is he?”|She did not know.",
    "It was 1999.|The war had ended.",
)


@dataclass(frozen=True)
class Score:
    """Boundaries found: ``right`` of ``predicted``, out of ``gold``."""

    gold: int
    predicted: int
    right: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Mistake:
    """A boundary that was missed or invented, with the characters on both sides of it."""

    invented: bool
    before: str
    after: str


Cut = Callable[[str], Sequence[Span]]


def documents(path: Path = EWT) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The sentences of each paragraph of each document of a CoNLL-U file (.xz)."""
    found: list[list[list[str]]] = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("# newdoc"):
                found.append([])
            elif line.startswith("# newpar"):
                found[-1].append([])
            elif line.startswith("# text = "):
                if not found[-1]:  # the lab's selection of GUM names no paragraphs
                    found[-1].append([])
                found[-1][-1].append(line.removeprefix("# text = ").strip())
    return tuple(tuple(map(tuple, document)) for document in found)


def paragraphs(path: Path = EWT) -> tuple[tuple[str, ...], ...]:
    """The sentences of each paragraph."""
    return tuple(paragraph for document in documents(path) for paragraph in document)


def whole_documents(path: Path = EWT) -> tuple[tuple[str, ...], ...]:
    """The sentences of each document, its paragraphs run together."""
    return tuple(tuple(sentence for paragraph in document for sentence in paragraph) for document in documents(path))


def _ends(sentences: Sequence[str]) -> set[int]:
    """Where each sentence but the last ends in the text that they make, joined by one space."""
    ends, position = set(), 0
    for sentence in sentences[:-1]:
        ends.add(position + len(sentence))
        position += len(sentence) + 1
    return ends


def score(cut: Cut, texts: Sequence[Sequence[str]]) -> Score:
    """Hold the boundaries that ``cut`` finds in each text against the true ones."""
    gold = predicted = right = 0
    for sentences in texts:
        truth, found = _ends(sentences), {end for _, end in cut(" ".join(sentences))[:-1]}
        gold, predicted, right = gold + len(truth), predicted + len(found), right + len(truth & found)
    precision, recall = right / predicted, right / gold
    return Score(gold, predicted, right, precision, recall, 2 * right / (gold + predicted))


def mistakes(cut: Cut, texts: Sequence[Sequence[str]], width: int = 28) -> Iterator[Mistake]:
    """Every wrong boundary, with ``width`` characters before and after it."""
    for sentences in texts:
        text, truth = " ".join(sentences), _ends(sentences)
        found = {end for _, end in cut(text)[:-1]}
        for end in sorted(truth ^ found):
            yield Mistake(end in found, text[max(0, end - width) : end], text[end : end + width].strip())


def failed_cases(cut: Cut) -> list[str]:
    """The sentences of ``WHOLE`` that are cut, and of ``TWO`` that are not cut at the bar."""
    expected = {case: [case] for case in WHOLE} | {case: case.split("|") for case in TWO}
    wrong = []
    for case, sentences in expected.items():
        text = " ".join(sentences)
        if [text[start:end] for start, end in cut(text)] != sentences:
            wrong.append(case)
    return wrong


def evaluate() -> dict[str, Any]:
    """All figures: ours, NLTK's untrained default, and our parameters in NLTK's tokenizer without our rules."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    from lab.text.sentences.punkt import load_parameters

    def nltk_cut(tokenizer: PunktSentenceTokenizer) -> Cut:
        return lambda text: tuple(tokenizer.span_tokenize(text))

    ways = {
        "ours": sentence_spans,
        "untrained": nltk_cut(PunktSentenceTokenizer()),
        "parameters_only": nltk_cut(PunktSentenceTokenizer(load_parameters())),
    }
    texts = {"paragraphs": paragraphs(), "documents": whole_documents(), "gum": whole_documents(GUM)}
    return {
        **{unit: {name: asdict(score(cut, held)) for name, cut in ways.items()} for unit, held in texts.items()},
        "cases": len(WHOLE) + len(TWO),
        "failed_cases": {name: failed_cases(cut) for name, cut in ways.items()},
    }


def of_treebank(path: Path) -> dict[str, Any]:
    """The scores of the shipped parameters with the lab's rules on one CoNLL-U file (.xz)."""
    texts = {"paragraphs": paragraphs(path), "documents": whole_documents(path)}
    return {unit: asdict(score(sentence_spans, held)) for unit, held in texts.items()}


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("--treebanks", type=Path, nargs="+", help="score these CoNLL-U files (.xz) instead")
    paths = parser.parse_args().treebanks
    figures = {path.name: of_treebank(path) for path in paths} if paths else evaluate()
    print(json.dumps(figures, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
