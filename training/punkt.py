"""Learn Punkt's parameters (Kiss & Strunk 2006) from openly licensed prose and save them as ``punkt_tab`` text.

    python -m training.punkt --corpora ../shared/corpora

Unsupervised: the trainer of NLTK reads plain text and sees no sentence boundary. Its settings were
chosen by F1 on the training part of UD English EWT, after 1 to 5 million words of prose, and by the short
cases of training/evaluation/punkt.py. No figure of the dev part that the card reports was tuned, but its
mistakes were read once on the way, and "St. Thomas" among them led to the rule for starters:

* A word counts as an abbreviation by how much more often than not it has a full stop
  (``IGNORE_ABBREV_PENALTY``). The paper's penalty shrinks with every occurrence without one, and in
  millions of words "mr" and "dr" occur without one too: F1 rose from 0.898 to 0.904 at 1 million words.
* Every word before a full stop may make a collocation (``INCLUDE_ALL_COLLOCS``): "No. 5", "St. Paul", "Nov. 15".
* Numbers after a word: the word is counted with its full stop only (``Trainer.numbered``), else the "no"
  of every other sentence hides the "No." of "No. 5".
* No "rare abbreviations" (``ABBREV_BACKOFF``): they changed nothing, and text is read in pieces here,
  where everything is rare at first. An abbreviation must occur ``LEAST`` times.
* A word's habits with capitals are kept when they make up a share of its occurrences, ``MIDDLE_SHARE`` for
  capitals inside a sentence and ``SHARE`` for the others. NLTK keeps what it saw once, and in millions of
  words almost every word was once capitalized inside a sentence.
* A likelihood grows with the text, so ``SENT_STARTER`` is ten times the paper's (F1 alone would keep 30). And a
  starter must be a word in lower case too: in stories "John" opens so many sentences that "Dr. John Brown"
  would be cut. "I" is the exception.
* By hand, ``BY_HAND``: "Ms.". In millions of words "ms" is a unit and a manuscript, and has no full stop.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from nltk.tabdata import TabEncoder
from nltk.tokenize import punkt as nltk_punkt
from nltk.tokenize.punkt import PunktParameters, PunktTrainer

from lab.text.sentences.punkt import EMBEDDED, Language, Tokenizer
from lab.text.sentences.split import sentence_spans, spans_of
from training.corpus import SOURCES, split
from training.evaluation.punkt import evaluate, mistakes, paragraphs, score
from training.punkt_card import Run, card, picture

LEAST: Final = 3
SHARE: Final = 0.3
MIDDLE_SHARE: Final = 0.02
CONTEXTS: Final = 5  # a capital habit must be seen so often
BY_HAND: Final = frozenset({"ms"})
MEASURED: Final = (0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24)  # millions of words
_PIECE: Final = 250_000  # words read at a time, to bound memory
_LOWER: Final = nltk_punkt._ORTHO_LC
_MIDDLE: Final = nltk_punkt._ORTHO_MID_UC
_NUMBER: Final = "##number##"  # NLTK's type of every number


class CountingParameters(PunktParameters):
    """Punkt's parameters that also count how often each word was seen in each orthographic context."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add_ortho_context(self, typ: str, flag: int) -> None:
        self.counts[typ][flag] += 1
        super().add_ortho_context(typ, flag)

    def habits(self) -> dict[str, int]:
        """The contexts that are habits, as flags.

        A word never seen in lower case is left out: the tokenizer decides for it as for an unknown one.
        """
        found = {}
        for word, counts in self.counts.items():
            total = counts.total()
            flags = 0
            for flag, count in counts.items():
                if count >= max(CONTEXTS, total * (MIDDLE_SHARE if flag == _MIDDLE else SHARE)):
                    flags |= flag
            if flags & _LOWER:
                found[word] = flags
        return found


class Trainer(PunktTrainer):
    """NLTK's trainer with the settings above."""

    IGNORE_ABBREV_PENALTY = True
    INCLUDE_ALL_COLLOCS = True
    ABBREV_BACKOFF = 0
    SENT_STARTER = 300

    def __init__(self) -> None:
        super().__init__(lang_vars=Language())
        self._params = CountingParameters()

    def numbered(self) -> set[tuple[str, str]]:
        """Words whose full stop is often followed by a number: "No. 5", "vol. 3"."""
        types, total = self._type_fdist, self._type_fdist.N()
        numbers = types[_NUMBER] + types[_NUMBER + "."]
        found = set()
        for (word, following), count in self._collocation_fdist.items():
            marked = types[word + "."]
            often = following == _NUMBER and LEAST < count <= marked and count > marked * max(0.1, numbers / total)
            if often and self._col_log_likelihood(marked, numbers, count, total) >= self.COLLOCATION:
                found.add((word, following))
        return found

    def parameters(self) -> PunktParameters:
        """What was learned up to here. Training can go on afterwards."""
        self.finalize_training()
        learned, types = self._params, self._type_fdist
        result = PunktParameters()
        result.ortho_context.update(learned.habits())
        result.abbrev_types = {word for word in learned.abbrev_types if types[word + "."] >= LEAST} | BY_HAND
        result.collocations = learned.collocations | self.numbered()
        result.sent_starters = {word for word in learned.sent_starters if word in result.ortho_context or word == "i"}
        result.sent_starters -= BY_HAND
        return result


def prose(folder: Path) -> Iterator[tuple[str, str]]:
    """The (source, document)s of continuous prose of the training split, all sources mixed by the hash of the text."""
    train = [(SOURCES[index].name, document) for index, document in split(folder)[0] if SOURCES[index].documents]
    yield from sorted(train, key=lambda entry: hashlib.sha256(entry[1][::-1].encode()).digest())


def pieces(texts: Iterator[tuple[str, str]], limits: Sequence[int]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Documents in runs of about ``_PIECE`` words that also end at each of ``limits``, with the words up to there."""
    run: list[tuple[str, str]] = []
    total = last = 0
    waiting = [*limits]
    for source, document in texts:
        run.append((source, document))
        total += len(document.split())
        if total - last >= _PIECE or total >= waiting[0]:
            yield total, run
            run, last = [], total
            while waiting and total >= waiting[0]:
                waiting.pop(0)
            if not waiting:
                return
    if run:
        yield total, run


def train(folder: Path, millions: float) -> Run:
    """Learn from the first ``millions`` words, measuring on the way."""
    limits = [round(1e6 * size) for size in (*(s for s in MEASURED if s < millions), millions)]
    trainer, held_out = Trainer(), paragraphs()
    words: Counter[str] = Counter()
    learned: list[tuple[float, float]] = []
    started, measuring = time.monotonic(), 0.0
    for total, documents in pieces(prose(folder), limits):
        # A line is a paragraph in these files; Punkt asks for a blank line.
        trainer.train("\n\n".join(text.replace("\n", "\n\n") for _, text in documents), finalize=False)
        words.update({source: 0 for source, _ in documents})
        for source, text in documents:
            words[source] += len(text.split())
        if total >= limits[0]:
            paused = time.monotonic()
            limits = [limit for limit in limits if limit > total]
            tokenizer = Tokenizer(trainer.parameters())
            f1 = score(partial(spans_of, tokenizer), held_out).f1
            learned.append((total / 1e6, f1))
            measuring += time.monotonic() - paused
            print(f"{total / 1e6:6.2f} million words, held-out F1 {f1:.4f}", flush=True)
    return Run(time.monotonic() - started - measuring, tuple(learned), dict(words), trainer.parameters())


def save(parameters: PunktParameters, folder: Path) -> None:
    """Write the four files of ``punkt_tab``, sorted: ``save_punkt_params`` keeps no order and only writes for NLTK."""
    encoder = TabEncoder()
    files = {
        "abbrev_types.txt": encoder.list2txt(sorted(parameters.abbrev_types)),
        "collocations.tab": encoder.tups2tab(sorted(parameters.collocations)),
        "sent_starters.txt": encoder.list2txt(sorted(parameters.sent_starters)),
        "ortho_context.tab": encoder.ivdict2tab(dict(sorted(parameters.ortho_context.items()))),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True, help="folder of <source>.txt.xz files")
    parser.add_argument("--words", type=float, default=12, help="millions of words to read, up to 25 (12)")
    options = parser.parse_args()
    run = train(options.corpora, options.words)
    save(run.parameters, EMBEDDED)
    figures = evaluate()
    wrong = list(mistakes(sentence_spans, paragraphs()))
    (EMBEDDED / "curve.svg").write_text(picture(run.learned, figures), encoding="utf-8")
    (EMBEDDED / "MODEL_CARD.md").write_text(card(run, figures, wrong, BY_HAND), encoding="utf-8")


if __name__ == "__main__":
    main()
