"""What there is to select, under the names it has in a link: each parameter's default, its bounds, its choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.analysis.heads.metrics import METRICS
from lab.analysis.heads.neurons import DECIDED
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.variants import REDUCED, VARIANTS
from lab.analysis.sentences.attention import MASS, MAXIMUM, RELATIVE
from lab.figures.choices import BEST_WORD, CHANGE_COSINE, CHANGE_LENGTH, ENTROPY, RANK
from lab.models.catalogue import DEFAULT_MODEL
from lab.toy.tasks import TASKS

DEFAULT_TEXT = "The sleepy cat sat on the mat."
MAX_CHARACTERS = 4000
SENTENCE, TOY = "Sentence", "Toy"
# Metrics as published, or corrected for the length of the text.
RAW, CORRECTED = "Raw", "Corrected"
# [CLS] and [SEP], or the first token of a model without them: whether they take part in a measurement of heads.
LEFT_OUT, KEPT = "Left out", "Kept"
# Which sentences the heads are averaged over.
BUNDLED, OWN = "Bundled", "Your own"
# The bench of flow: which heads, what counts as a link, what goes past the heads, which tokens take part.
MEAN_OF_HEADS, ONE_HEAD = "Mean over heads", "One head"
WEIGHTS, NORMS = "Weights", "Norms"
HEADS_ONLY, WITH_RESIDUAL = "Heads only", "With residual"
EVERY_TOKEN, WORDS_ONLY = "All tokens", "Words only"
LAYERED, REPEATED = "Layer by layer", "One layer repeated"
# The neuron view of a long text: which keys have a row.
HEAVIEST, AROUND = "Heaviest", "Around the query"
# And which pattern it takes apart, if it is none by name.
OWN_PATTERN = "The clearest of this head"
# The head view: between what the lines run.
TOKENS, WORDS = "Tokens", "Words"
# The prediction lesson: the bars of a likelihood, and what top-k leaves out.
LOG_PROBABILITY, PROBABILITY = "Log probability", "Probability"
EVERY_WORD = "all"
# The bench of comparisons: what differs between A and B, and what is done to B. Its figures are named as in
# lab/benches/compare/comparable.py, which brings torch; a test holds the two lists together.
TWO_TEXTS, TWO_MODELS, TWO_WEIGHTS, INTERVENTION = "Two texts", "Two models", "Trained or random", "An intervention"
ZERO_HEAD, MEAN_HEAD, UNIFORM_HEAD = "Head set to zero", "Head set to its mean", "Head made uniform"
NO_SCALING, NO_POSITIONS, NO_SEGMENTS = "No ÷ √d_k", "No positions", "No segments"
BLOCKED = "One token pair blocked"
COMPARED = (
    "Most probable words", "Attention of a head", "All heads of a layer", "Metric of every head", "Named heads",
    "Specialization", "Embeddings", "Sublayer changes", "Neurons of a token", "Sentence to sentence",
)  # fmt: skip
_METRIC = "Spread (entropy)"
LEARNED = "Trained"
RANDOM, CONSTRUCTED, TRAINED = "Random", "Constructed", "Trained live"

# name: (default, least, most) of the whole numbers in the URL that any visitor may have typed.
TOY_NUMBERS: Mapping[str, tuple[int, int, int]] = {
    "toy_vocabulary": (8, 2, 50),
    "toy_length": (8, 2, 32),
    "toy_count": (20, 1, 200),
    "toy_seed": (0, 0, 9999),
    "toy_sentence": (1, 1, 200),
}
# The seed of a model's random weights is a number like those, for every model.
NUMBERS: Mapping[str, tuple[int, int, int]] = {
    **TOY_NUMBERS,
    "toy_heads": (4, 1, 32),
    "toy_layers": (1, 1, 2),
    "twin_seed": (0, 0, 9999),
    "pe_length": (64, 8, 512),
    "pe_width": (64, 4, 512),
    "pe_shift": (3, 1, 64),
    "follow": (0, 0, 10_000),
    "state": (0, 0, 1000),
    "tree_k": (2, 1, 20),
    "tree_depth": (6, 1, 10),
    "flow_layer": (0, 0, 1000),
    "draw_seed": (0, 0, 9999),
    "dimensions": (3, 0, 256),
    "seed": (0, 0, 9999),
    "teach": (0, 0, 1),
    "toy_other": (2, 1, 200),
}
# Of these a widget offers only some; the first is the default.
CHOICES: Mapping[str, tuple[int, ...] | tuple[str, ...]] = {
    "pe_base": (10_000, 10, 100, 1000, 100_000, 1_000_000),
    "toy_task": tuple(task.name for task in TASKS),
    "metric": (_METRIC, *(metric.name for metric in METRICS if metric.name != _METRIC)),
    "version": (RAW, CORRECTED),
    "sinks": (LEFT_OUT, KEPT),
    "measure": (MASS, RELATIVE, MAXIMUM),
    "clusters": ("3", "2", "4", "5", "6"),
    "source": (BUNDLED, OWN),
    "flow_heads": (MEAN_OF_HEADS, ONE_HEAD),
    "flow_reading": (WEIGHTS, NORMS),
    "flow_residual": (HEADS_ONLY, WITH_RESIDUAL),
    "flow_tokens": (EVERY_TOKEN, WORDS_ONLY),
    "flow_threshold": ("0.1", "0.005", "0.01", "0.02", "0.05", "0.2", "0.3", "0.5"),
    "flow_links": ("20", "10", "40"),
    "tree": (LAYERED, REPEATED),
    "units": (TOKENS, WORDS),
    "colour": (WEIGHTS, *(metric.name for metric in METRICS), *(pattern.name for pattern in PATTERNS)),
    "keys": (HEAVIEST, AROUND),
    "pattern": (OWN_PATTERN, *(each.name for each in DECIDED)),
    "variant": (REDUCED, *(name for name in VARIANTS if name != REDUCED)),
    "residual": (CHANGE_LENGTH, CHANGE_COSINE),
    "score": (LOG_PROBABILITY, PROBABILITY),
    "lens": (BEST_WORD, RANK, ENTROPY),
    "lens_tokens": ("8", "4", "16"),
    "top_k": ("50", EVERY_WORD, "1", "5", "10", "20", "100"),
    "top_p": ("0.9", "1", "0.99", "0.95", "0.8", "0.5"),
    "more": ("10", "20", "40"),
    "compare": (TWO_TEXTS, TWO_MODELS, TWO_WEIGHTS, INTERVENTION),
    "change": (ZERO_HEAD, MEAN_HEAD, UNIFORM_HEAD, NO_SCALING, NO_POSITIONS, NO_SEGMENTS, BLOCKED),
    "figure": COMPARED,
    "other_toy": (RANDOM, CONSTRUCTED, TRAINED),
    "tau": ("0.01", "0.001", "0.003", "0.03", "0.1", "0.3"),
}
# These too, but a bad one among them leaves the widget at its default without a note.
OFFERED: Mapping[str, tuple[int, ...] | tuple[str, ...]] = {
    **CHOICES,
    "mode": (SENTENCE, TOY),
    "weights": (LEARNED, RANDOM),
    "toy_weights": (RANDOM, CONSTRUCTED, TRAINED),
}
# Links made when two parameters shared a name: the old name, and the values that mean the new one.
RENAMED: Mapping[str, tuple[str, tuple[str, ...]]] = {"change": ("residual", (CHANGE_LENGTH, CHANGE_COSINE))}
# What these values were called in links made before: the old name, and the new one.
_NAMES_BEFORE = {
    "Focus (entropy)": "Spread (entropy)",
    "Uniformity (standard deviation)": "Unevenness (standard deviation)",
    "Bag of words in the sentence": "Bag of words",
}
RENAMED_VALUES: Mapping[str, Mapping[str, str]] = dict.fromkeys(("metric", "colour", "pattern"), _NAMES_BEFORE)
# What learners type, and what the server decides which there are of.
TYPED = ("text", "pair", "other_text", "other_pair")
MODELS = ("model", "other_model")
# What belongs to the visit, not to what is looked at.
VISIT = ("seed", "teach", "card")
# Parameters that no widget owns; they are written to the URL by hand. Tokens count from 1, as on screen.
UNBOUND = (
    "seed",
    "teach",
    "token",
    "key_token",
    "heads",
    "follow",
    "flow_layer",
    "tensor",
    "state",
    "place",
    "masked",
    "first_token",
    "dimension",
    "first_dimension",
    "neuron",
    "first_neuron",
)


@dataclass(frozen=True)
class Selection:
    """The state of the lab. Field names are the names of the URL's parameters.

    ``layer``, ``head``, ``token`` and ``key_token`` count from 1, as on screen. So do ``place``, the
    token asked about, and ``masked``, the hidden ones ("3.7"): see :mod:`lab.ui.masking`; and the
    dimensions of a vector and the neurons of a feed-forward network (0: not chosen). The numbers that
    begin with ``pe_`` shape the sinusoids of the embeddings lesson; those with ``flow_`` and ``tree_``
    belong to the bench of flow, as does ``follow``, the token whose paths are drawn (0: all); its ``flow_layer``
    is the layer after which it looks (0: the last). ``seed``
    (0: none) gives a class its own choice of questions, ``teach`` (1: on) is for showing the lab to one.
    ``compare`` and the fields that begin with ``other_`` say what the bench of comparisons sets beside the rest.
    ``heads`` are those drawn in the head view ("2.5"; empty: all), ``first_token`` the first one on the lens
    (0: around the place asked about).
    """

    mode: str = SENTENCE
    text: str = DEFAULT_TEXT
    pair: str = ""
    model: str = DEFAULT_MODEL
    layer: int = 1
    head: int = 1
    token: int = 5
    key_token: int = 4
    place: int = 0
    masked: str = ""
    first_token: int = 0
    dimension: int = 0
    first_dimension: int = 1
    neuron: int = 0
    first_neuron: int = 1
    toy_vocabulary: int = 8
    toy_length: int = 8
    toy_count: int = 20
    toy_seed: int = 0
    toy_sentence: int = 1
    toy_weights: str = CONSTRUCTED
    toy_heads: int = 4
    toy_task: str = TASKS[0].name
    toy_layers: int = TASKS[0].layers
    other_head: int = 2
    card: str = ""
    weights: str = LEARNED
    twin_seed: int = 0
    pe_length: int = 64
    pe_width: int = 64
    pe_base: int = 10_000
    pe_shift: int = 3
    metric: str = _METRIC
    version: str = RAW
    sinks: str = LEFT_OUT
    tau: str = "0.01"
    clusters: str = "3"
    source: str = BUNDLED
    measure: str = MASS
    units: str = TOKENS
    colour: str = WEIGHTS
    heads: str = ""
    keys: str = HEAVIEST
    pattern: str = OWN_PATTERN
    dimensions: int = 3
    flow_heads: str = MEAN_OF_HEADS
    flow_reading: str = WEIGHTS
    flow_residual: str = HEADS_ONLY
    flow_tokens: str = EVERY_TOKEN
    flow_threshold: str = "0.1"
    flow_links: str = "20"
    follow: int = 0
    flow_layer: int = 0
    tree: str = LAYERED
    tree_k: int = 2
    tree_depth: int = 6
    tensor: str = "layer.attention"
    state: int = 0
    tensor_rows: str = ""
    tensor_columns: str = ""
    variant: str = REDUCED
    word_cut: str = ""
    residual: str = CHANGE_LENGTH
    score: str = LOG_PROBABILITY
    lens: str = BEST_WORD
    lens_tokens: str = "8"
    top_k: str = "50"
    top_p: str = "0.9"
    more: str = "10"
    draw_seed: int = 0
    sentence: int = 1
    other_sentence: int = 2
    compare: str = TWO_TEXTS
    other_text: str = ""
    other_pair: str = ""
    other_model: str = "lab-gpt2"
    change: str = ZERO_HEAD
    figure: str = COMPARED[0]
    other_toy: str = RANDOM
    toy_other: int = 2
    seed: int = 0
    teach: int = 0


DEFAULTS = Selection()
