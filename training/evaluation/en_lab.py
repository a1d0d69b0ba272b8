"""What ``en_lab`` knows about text it never saw.

    python -m training.evaluation.en_lab

Parts of speech and dependencies on UD English EWT dev, names on Universal NER's annotation of the same
text, with the treebank's own tokens and, where it says "raw", with spaCy's. Documents come as runs
of up to eight sentences, and the parser finds the sentence ends itself. Punctuation counts. Names are
also found sentence by sentence, which is how Universal NER's own figures are measured.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from lab.evidence.treebank import EWT
from lab.text.tags.pipeline import EMBEDDED, SHIPPED
from training.command_line import documented
from training.en_lab_data import columns, conllu, documents
from training.evaluation import folder_bytes

FOLDER = EMBEDDED / SHIPPED
_HELD_OUT = Path(__file__).parents[1] / "held_out"
NAMES = ("PERSON", "ORG", "LOC")
_LOADS = 3
# A batch takes half of the time that its documents take one by one, and finds the same.
_AT_ONCE = 32


def evaluate() -> dict[str, Any]:
    """Measure the folder that ships.

    Returns
    -------
    What :func:`syntax` and :func:`names` find; ``mistakes`` of the names; ``load_seconds``, the best of three, spaCy
    already imported; ``folder_bytes``, the sum of all files.
    """
    load_seconds, nlp = load()
    return {
        **syntax(nlp),
        **names(nlp),
        "mistakes": mistakes(nlp, _named(nlp)),
        "load_seconds": round(load_seconds, 3),
        "folder_bytes": folder_bytes(FOLDER),
    }


def syntax(nlp: Language) -> dict[str, Any]:
    """Shares between 0 and 1 of what is right: ``upos``, ``uas``, ``las`` with gold tokens, and how many ``words``.

    ``raw`` holds the same with spaCy's tokens, and how well those and the sentences fit (F1). ``words_per_second``
    are those of the whole pipeline; seconds are those of the processor.
    """
    treebank = list(documents(conllu(EWT), nlp.vocab))
    words = sum(map(len, treebank))
    started = time.process_time()
    parsed = _examples(nlp, treebank, raw=False)
    seconds = time.process_time() - started
    raw = _examples(nlp, treebank, raw=True)
    return {
        **_syntax(parsed),
        "raw": _syntax(raw) | _segmentation(raw),
        "words": words,
        "words_per_second": round(words / seconds),
    }


def names(nlp: Language) -> dict[str, Any]:
    """Precision, recall and F1 over exact spans, per label and over all (``micro``).

    ``names`` are found sentence by sentence, ``names_in_runs`` in the runs.
    """
    return {
        "names": _name_scores(_examples(nlp, _named(nlp, most=1), raw=False)),
        "names_in_runs": _name_scores(_examples(nlp, _named(nlp), raw=False)),
    }


def _named(nlp: Language, **runs: int) -> list[Doc]:
    return list(documents(columns(_HELD_OUT / "uner_ewt_dev.iob2.xz", word=1, tag=2), nlp.vocab, **runs))


def load() -> tuple[float, Language]:
    """The pipeline that ships, and the fewest seconds that it took to load."""
    best = float("inf")
    for _ in range(_LOADS):
        started = time.process_time()
        nlp = spacy.load(FOLDER)
        best = min(best, time.process_time() - started)
    return best, nlp


def _examples(nlp: Language, references: Iterable[Doc], *, raw: bool) -> list[Example]:
    """The pipeline's tags beside the gold ones, on gold tokens or on spaCy's own."""
    known = list(references)
    given = [
        nlp.make_doc(r.text) if raw else Doc(nlp.vocab, [t.text for t in r], [bool(t.whitespace_) for t in r])
        for r in known
    ]
    return [Example(found, r) for found, r in zip(nlp.pipe(given, batch_size=_AT_ONCE), known, strict=True)]


def _syntax(examples: list[Example]) -> dict[str, float]:
    scores = Scorer.score_token_attr(examples, "pos") | Scorer.score_deps(examples, "dep", ignore_labels=())
    return {name: round(scores[key], 4) for name, key in (("upos", "pos_acc"), ("uas", "dep_uas"), ("las", "dep_las"))}


def _segmentation(examples: list[Example]) -> dict[str, float]:
    tokens = Scorer.score_tokenization(examples)["token_f"]
    sentences = Scorer.score_spans(examples, "sents", getter=lambda doc, _: doc.sents, has_annotation=None)["sents_f"]
    return {"tokens_f1": round(tokens, 4), "sentences_f1": round(sentences, 4)}


def _spans(doc: Doc) -> set[tuple[int, int, str]]:
    return {(e.start, e.end, e.label_) for e in doc.ents if e.label_ in NAMES}


def _name_scores(examples: list[Example]) -> dict[str, dict[str, float]]:
    pairs = [(_spans(example.predicted), _spans(example.reference)) for example in examples]

    def score(labels: tuple[str, ...]) -> dict[str, float]:
        found = sum(span[2] in labels for predicted, _ in pairs for span in predicted)
        gold = sum(span[2] in labels for _, reference in pairs for span in reference)
        right = sum(span[2] in labels for predicted, reference in pairs for span in predicted & reference)
        return {
            "precision": round(right / max(found, 1), 4),
            "recall": round(right / max(gold, 1), 4),
            "f1": round(2 * right / max(found + gold, 1), 4),
            "gold": gold,
        }

    return {"micro": score(NAMES)} | {name: score((name,)) for name in NAMES}


def mistakes(nlp: Language, named: list[Doc], most: int = 10) -> list[tuple[str, str, str]]:
    """(words around it, tagged as, should be) of name mistakes, spread evenly over the held-out text."""
    rows = []
    for example in _examples(nlp, named, raw=False):
        predicted, gold = _spans(example.predicted), _spans(example.reference)
        for start, end, label in sorted(predicted ^ gold):
            wrong = (start, end, label) in predicted
            other = next((k for a, b, k in (gold if wrong else predicted) if (a, b) == (start, end)), "no name")
            if not (other != "no name" and not wrong):
                around = example.reference[max(0, start - 4) : end + 4].text.replace("\n", " ")
                name = example.reference[start:end].text
                rows.append((f"{around} [{name}]", label if wrong else other, other if wrong else label))
    return rows[:: max(1, len(rows) // most)][:most]


def main() -> None:
    documented(__doc__).parse_args()
    print(json.dumps(evaluate(), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
