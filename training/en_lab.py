"""Make ``en_lab``, the spaCy pipeline that ships, from annotated text.

    python -m training.en_lab --corpora ../shared/corpora

Data preparation, spaCy's own training of the two stages (parts of speech and dependencies; names), joining
them, and the folder with its model card. Work files and ``log.json``, the training curve, stay in
``.training/en_lab``. ``--export`` skips the training and joins the stages that are there.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import Model

from lab.text.tags.pipeline import EMBEDDED, SHIPPED
from training.command_line import documented
from training.curve import curve
from training.en_lab_card import card
from training.en_lab_corpora import names_of
from training.en_lab_data import LABELS, Sentence, conllu, documents, without_adjectives
from training.en_lab_gazetteer import read_gazetteer
from training.en_lab_silver import treebank, wikipedia
from training.evaluation.en_lab import evaluate

WORK = Path(".training/en_lab")
FOLDER = EMBEDDED / SHIPPED
STAGES = ("parse", "names")
_CONFIGS = Path(__file__).parent
_SILVER_WORDS = 160_000
_POS_COLUMN = 4  # among the attributes of the names' embedding
_NEW_SCALE = 0.3
_SELECTION_SHARE = 25  # one EWT training document in so many is kept to choose the best step by


def prepare_parse(corpora: Path, work: Path) -> None:
    """Write ``parse-train`` and ``parse-dev`` (.spacy) and the counts in ``parse-data.json``."""
    annotated = corpora / "annotated"
    ewt = treebank_of(corpora)
    gum = [list(conllu(annotated / "ud_gum_open" / f"en_gum_open-ud-{part}.conllu.xz")) for part in ("train", "dev")]
    chosen = set(sorted({s.document for s in ewt})[::_SELECTION_SHARE])
    kept = [s for s in ewt if s.document not in chosen]
    _write(work / "parse-train.spacy", kept + gum[0])
    _write(work / "parse-dev.spacy", [s for s in ewt if s.document in chosen] + gum[1])
    (work / "parse-data.json").write_text(json.dumps({"EWT": _counts(kept), "GUM": _counts(gum[0])}))


def prepare_names(corpora: Path, work: Path) -> None:
    """The same for the names, once the first stage is there to tell adjectives."""
    corpus = names_of(corpora / "annotated" / "ner")
    selection = corpus.pop("held out")
    gazetteer = read_gazetteer(corpora, [s for sentences in corpus.values() for s in sentences])
    leads = list(wikipedia(corpora, gazetteer, tokenizer()))
    corpus["Wikipedia"] = _draw(leads, _SILVER_WORDS)
    corpus["EWT"] = list(treebank(treebank_of(corpora), gazetteer))
    tagger = spacy.load(work / "parse" / "model-best", exclude=["parser"])
    corpus = {name: _proper(sentences, tagger) for name, sentences in corpus.items()}
    _write(work / "names-train.spacy", *corpus.values())
    _write(work / "names-dev.spacy", _proper(selection, tagger))
    counts = {name: _counts(sentences) for name, sentences in corpus.items()}
    (work / "names-data.json").write_text(json.dumps(counts))


def treebank_of(corpora: Path) -> list[Sentence]:
    """The sentences of UD English EWT's training part."""
    return list(conllu(corpora / "annotated" / "ud_ewt" / "en_ewt-ud-train.conllu.xz"))


def _proper(sentences: list[Sentence], tagger: Language) -> list[Sentence]:
    """No names on adjectives alone."""
    docs = tagger.pipe(Doc(tagger.vocab, words=s.words, spaces=s.spaces) for s in sentences)
    return [without_adjectives(s, [t.pos_ for t in doc]) for s, doc in zip(sentences, docs, strict=True)]


def _draw(sentences: list[Sentence], words: int) -> list[Sentence]:
    """About ``words`` words of sentences drawn by chance, half of them from those that name an organization."""
    shuffled = random.Random(0).sample(sentences, len(sentences))
    chosen: list[Sentence] = []
    for wanted in (True, False):
        left = words // 2
        for sentence in shuffled:
            if left > 0 and any(tag.endswith("-ORG") for tag in sentence.entities) == wanted:
                chosen.append(sentence)
                left -= len(sentence.words)
    return chosen


def _write(path: Path, *corpora: Iterable[Sentence]) -> None:
    vocab = spacy.blank("en").vocab
    DocBin(docs=[doc for sentences in corpora for doc in documents(sentences, vocab)]).to_disk(path)


def _counts(sentences: list[Sentence]) -> dict[str, int]:
    """Words, and names of each label."""
    names = Counter(tag[2:] for s in sentences for tag in s.entities if tag[0] in "BU")
    return {"words": sum(len(s.words) for s in sentences)} | {label: names[label] for label in LABELS if names[label]}


@spacy.registry.callbacks("training.en_lab.start_from")
def start_from(pipeline: str) -> Callable[[Language], Language]:
    """Give the names the embeddings and lower layers of the parser's trained tok2vec, instead of random ones.

    The names' tok2vec also embeds the part of speech. That table stays as it is, and where the layer above reads it,
    small random weights stay too.
    """

    def copy(nlp: Language) -> Language:
        ours: Any = nlp.get_pipe("ner")
        theirs: Any = spacy.load(pipeline).get_pipe("tok2vec")
        tok2vec = ours.model.get_ref("tok2vec").layers[0]
        nodes = [node for node in _filled(tok2vec) if node.attrs.get("column") != _POS_COLUMN]
        for node, source in zip(nodes, _filled(theirs.model), strict=False):
            for name in node.param_names:
                own, given = np.asarray(node.get_param(name)), np.asarray(source.get_param(name))
                wider: Any = own * _NEW_SCALE
                wider[..., : given.shape[-1]] = given
                node.set_param(name, wider)
        return nlp

    return copy


def _filled(model: Model) -> list[Model]:
    """The layers that hold weights, from the input up: embeddings, their mixer, the encoder's layers."""
    return [node for node in model.walk() if node.param_names]


def train_stage(stage: str, work: Path) -> None:
    """Train by ``en_lab_<stage>.cfg``; the best step is in ``<stage>/model-best``, the curve in ``<stage>.jsonl``."""
    (work / f"{stage}.jsonl").unlink(missing_ok=True)  # spaCy would not write over it
    started = time.monotonic()
    train(
        _CONFIGS / f"en_lab_{stage}.cfg",
        work / stage,
        overrides={
            "paths.train": str(work / f"{stage}-train.spacy"),
            "paths.dev": str(work / f"{stage}-dev.spacy"),
            **({"paths.parser": str(work / "parse" / "model-best")} if stage == "names" else {}),
            "training.logger.output_file": str(work / f"{stage}.jsonl"),
        },
    )
    (work / f"{stage}.seconds").write_text(f"{time.monotonic() - started:.0f}")


def write_log(work: Path) -> dict[str, Any]:
    """Gather both stages' curves, seconds and the counts of the data in ``log.json``."""
    log: dict[str, Any] = {"data": {stage: json.loads((work / f"{stage}-data.json").read_text()) for stage in STAGES}}
    for stage in STAGES:
        rows = [json.loads(line) for line in (work / f"{stage}.jsonl").read_text().splitlines()]
        log[stage] = {"seconds": int((work / f"{stage}.seconds").read_text()), "log": rows}
    (work / "log.json").write_text(json.dumps(log))
    return log


def join_stages(work: Path) -> Language:
    """One pipeline of both stages' best steps."""
    nlp = spacy.load(work / "parse" / "model-best")
    names = spacy.load(work / "names" / "model-best")
    nlp.add_pipe("ner", source=names)
    nlp.meta.update(
        name=SHIPPED,
        version="1.0.0",
        license="CC BY-SA 4.0",
        author="Inside BERT",
        description="Parts of speech, UD dependencies and names for English, trained for Inside BERT.",
    )
    nlp.meta["performance"] = {}
    for key in nlp.config["paths"]:
        nlp.config["paths"][key] = None
    return nlp


def export(nlp: Language, folder: Path) -> None:
    """Write ``nlp`` and leave out the words of the training text, which no component needs.

    Raises
    ------
    RuntimeError
        If the folder does not tag like the pipeline in memory.
    """
    shutil.rmtree(folder, ignore_errors=True)
    nlp.to_disk(folder)
    (folder / "vocab" / "strings.json").write_text("[]")
    text = "Dr. Maria Stone flew from Paris to New York on 4 May 1999, didn't she? IBM's offices weren't open."
    before, after = nlp(text), spacy.load(folder)(text)
    for a, b in zip(before, after, strict=True):
        if (a.text, a.pos_, a.dep_, a.head.i, a.ent_type_) != (b.text, b.pos_, b.dep_, b.head.i, b.ent_type_):
            raise RuntimeError(f"{folder} tags {a.text!r} unlike the pipeline it was written from")


def learning_curve(log: dict[str, Any]) -> str:
    """The selection scores of both stages over their steps, in per cent."""

    def line(stage: str, score: str) -> list[tuple[float, float]]:
        return [(row["step"], row["scores"][score]) for row in log[stage]["log"]]

    scores = {"UPOS": ("parse", "pos_acc"), "LAS": ("parse", "dep_las"), "names F1": ("names", "ents_f")}
    return curve(
        "Scores on the documents kept for selection, in per cent, over training steps",
        {name: line(*where) for name, where in scores.items()},
        "{:,.0f} steps",
    )


def tokenizer() -> Any:
    """spaCy's English tokenizer as a function from a text to its words."""
    english = spacy.blank("en")
    return lambda text: [token.text for token in english.tokenizer(text) if not token.is_space]


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("--corpora", type=Path, help="folder of the corpora, annotated/ in it")
    parser.add_argument("--export", action="store_true", help="join and write the stages trained before")
    options = parser.parse_args()
    if not options.export:
        if options.corpora is None:
            parser.error("--corpora is needed for training")
        WORK.mkdir(parents=True, exist_ok=True)
        prepare_parse(options.corpora, WORK)
        train_stage("parse", WORK)
        prepare_names(options.corpora, WORK)
        train_stage("names", WORK)
    log = write_log(WORK)
    export(join_stages(WORK), FOLDER)
    (FOLDER / "curve.svg").write_text(learning_curve(log))
    (FOLDER / "MODEL_CARD.md").write_text(card(log, evaluate()))


if __name__ == "__main__":
    main()
