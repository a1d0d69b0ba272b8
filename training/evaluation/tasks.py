"""Print what each layer knows of the tasks of lesson 11, with intervals, and what training the last layer gains.

    python -m training.evaluation.tasks

Sentences are split by groups: the two sentences of a pair, and those of one document, stay together.
"""

from __future__ import annotations

import argparse

import numpy as np

from lab.analysis.tasks.few_examples import Examples, products_of, rise
from lab.analysis.tasks.logistic import Accuracy, LabelledTask, accuracy, folds, right
from lab.analysis.tasks.sentence_vectors import middle, read, together
from lab.analysis.tasks.tuning import scores, tune
from lab.course.sentences.news import NEWS_TASK, TASKS, task_of
from lab.models.loading import LoadedModel, load_model
from lab.models.twin import untrained_twin

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


def _cell(found: Accuracy) -> str:
    return f"{found.share:.2f} ({found.low:.2f}–{found.high:.2f})"


def layers(model: LoadedModel, task: LabelledTask) -> None:
    """Print a row for each vector: its accuracy after the embeddings and after each layer."""
    for whose, each in (("", model), (", random weights", untrained_twin(model))):
        found = read(each, task.texts)
        for name, vectors in (("[CLS] or last token", found.mark), ("mean of the words", found.mean)):
            cells = [_cell(accuracy(task, right(task, layer))) for layer in vectors]
            print(f"| {model.id} | {task.name} | {name}{whose} | {' | '.join(cells)} |")


def pairs(model: LoadedModel) -> None:
    """Print how good a classifier is that learned both sentences of pairs, or one of each."""
    task = task_of(NEWS_TASK)
    products = products_of(together(model, task.texts).mean)
    for name, marked in (
        ("both sentences of 15 pairs", set(range(30))),
        ("one sentence of 30 pairs", {2 * pair + pair % 2 for pair in range(30)}),
    ):
        marks = tuple(mark if i in marked else None for i, mark in enumerate(task.marks))
        found = rise(products, Examples(marks, task.marks, task.groups))
        assert found is not None
        cells = ", ".join(f"{size}: {mean:.2f}" for size, mean in zip(found.sizes, found.mean, strict=True))
        print(f"- {model.id}, mean of the words after layer {middle(model)}, {name}: {cells}")


def last_layer(model: LoadedModel, task: LabelledTask) -> None:
    """Print the accuracy after the last layer was trained on half of the groups, with its interval."""
    fold = folds(task.groups, 2)
    found = np.zeros(len(task.texts), dtype=bool)
    for learned in (0, 1):
        own = np.flatnonzero(fold == learned)
        tuned = tune(model, [task.texts[i] for i in own], [task.marks[i] for i in own])
        rest = np.flatnonzero(fold != learned)
        found[rest] = (scores(tuned.model, tuned.head, [task.texts[i] for i in rest]) > 0) == task.truth[rest]
    told = f"{_cell(accuracy(task, found))} from [CLS] (or the last token), each half told by the other"
    print(f"- {model.id}, {task.name}, last layer trained: {told}")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name in MODELS:
        model = load_model(name)
        print(
            f"\n| model | task | vector | {' | '.join(['embeddings', *map(str, range(1, model.config.layers + 1))])} |"
        )
        print(f"|{'---|' * (model.config.layers + 4)}")
        for task in TASKS.values():
            layers(model, task_of(task))
        print()
        pairs(model)
        for task in TASKS.values():
            last_layer(model, task_of(task))


if __name__ == "__main__":
    main()
