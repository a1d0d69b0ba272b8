"""Published results for comparison with the experiments; relations have their names in the papers' treebank and in
ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A row of table 1 of Clark et al. 2019 ("What Does BERT Look At?"), bert-base on the Penn Treebank.

    Attributes
    ----------
    name
        The relation in Stanford Dependencies, as the paper writes it.
    relation
        The relation in Universal Dependencies.
    accuracy, offset
        The share of cases that the best of 144 heads names right, and the share for the best fixed offset.
    note
        The known difference between the two relations, or between the table and the output of the authors' code; or "".
    """

    name: str
    relation: str
    accuracy: float
    offset: float
    note: str = ""

    @property
    def lift(self) -> float:
        """The share of the offset's wrong cases by which the head is better: (accuracy − offset) / (1 − offset)."""
        return lift(self.accuracy, self.offset)


def lift(accuracy: float, baseline: float) -> float:
    """(accuracy − baseline) / (1 − baseline), after Cohen 1960; nan if the baseline is always right."""
    return (accuracy - baseline) / (1 - baseline) if baseline < 1 else float("nan")


_NOTEBOOK = "Not in the paper. The authors’ notebook prints it."
_ROW = (
    "The paper prints 82.5 with an offset of 40.5. The authors’ notebook prints 94.1 with 82.5, and 72.2 with 40.5 for "
    "cop: the paper’s row seems to pair two offsets. The notebook’s figures stand here."
)
CLARK = (
    Published(
        "pobj",
        "case",
        0.763,
        0.346,
        "Universal Dependencies turn it round: there the noun is the head of its preposition. The pair of words is the "
        "same.",
    ),
    Published("det", "det", 0.943, 0.517),
    Published("nsubj", "nsubj", 0.585, 0.455, "Here with the subjects of passive verbs."),
    Published("dobj", "obj", 0.868, 0.400),
    Published("amod", "amod", 0.756, 0.683),
    Published("advmod", "advmod", 0.488, 0.402),
    Published("nn", "compound", 0.704, 0.702),
    Published("mark", "mark", 0.507, 0.145, "Here with the “to” of infinitives, which is aux in the paper’s treebank."),
    Published("aux", "aux", 0.811, 0.715, "Here without the “to” of infinitives."),
    Published("cop", "cop", 0.722, 0.405, _NOTEBOOK),
    Published("poss", "nmod:poss", 0.805, 0.477),
    Published("ccomp", "ccomp", 0.488, 0.124),
    Published("auxpass", "aux:pass", 0.941, 0.825, _ROW),
    Published("prt", "compound:prt", 0.991, 0.914),
)
# Rows of the table without a counterpart in Universal Dependencies, and the reason.
WITHOUT_TWIN = {
    "prep": "Universal Dependencies have no relation from a preposition up to what it modifies.",
    "all": "It counts punctuation, and roots, which no head can name right; the sentences here leave both out.",
}


@dataclass(frozen=True)
class PublishedAgreement:
    """The accuracy of other models and of people in sentences like a template's; nan if no paper reports it.

    Attributes
    ----------
    bert, people
        BERT base and people, table 3 of Goldberg 2019 ("Assessing BERT's Syntactic Abilities").
    gpt2, people_blimp
        GPT-2 large and people, the corrected table of BLiMP (Warstadt et al. 2020) in its repository.
    """

    bert: float
    people: float
    gpt2: float
    people_blimp: float


_NOBODY = float("nan")
# The keys are the ids of the templates in lab.evidence.lexicon. BLiMP has one figure for all its subjects and verbs.
AGREEMENT = {
    "simple": PublishedAgreement(1.00, 0.96, 0.864, 0.909),
    "prepositional": PublishedAgreement(0.85, 0.85, _NOBODY, _NOBODY),
    "object_relative": PublishedAgreement(0.89, 0.85, _NOBODY, _NOBODY),
    "determiner_noun": PublishedAgreement(_NOBODY, _NOBODY, 0.958, 0.922),
    "noun_determiner": PublishedAgreement(_NOBODY, _NOBODY, _NOBODY, _NOBODY),
    "reflexive": PublishedAgreement(0.94, 0.96, 0.993, 0.975),
}
# Table 1 of Abnar & Zuidema 2020: Spearman's ρ with blank-out, layers 1 to 6, of raw attention and of rollout.
ABNAR = ((0.69, 0.10, -0.11, -0.09, 0.20, 0.29), (0.32, 0.38, 0.51, 0.62, 0.70, 0.71))
# Kendall's τ in the result files of Jain & Wallace 2019, for LSTMs that classify, by task: attention with
# leave-one-out, and gradients with leave-one-out.
JAIN = {"SST": (0.29, 0.66), "IMDb": (0.34, 0.52), "SNLI": (0.29, 0.24)}
