"""The parameters of the URL, each an object, and the words among which learners choose.

Layers, heads and tokens count from 1, as on screen. If a number's default is 0, then 0 means that nobody has chosen
yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.analysis.heads import attention_variants
from lab.analysis.heads.metrics import METRICS
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.query_neurons import DECIDED
from lab.analysis.sentences.between_sentences import MASS, MAXIMUM, RELATIVE
from lab.course.sentences.examples import example_named
from lab.course.ways import SHORT, WHOLE
from lab.figures.choices import (
    FITTED,
    NEEDED,
    PATCHED,
    PLAIN,
    SUFFICES,
)
from lab.models.catalogue import DEFAULT_MODEL
from lab.toy.merges import BPE, MERGES, WORDPIECE
from lab.toy.rules import RULES
from lab.toy.settings import SETTINGS, TRAINED_HEADS
from lab.toy.tasks import TASKS
from lab.ui.parameter_kinds import (
    MAX_CHARACTERS,
    Buttons,
    Fraction,
    Menu,
    Name,
    NumberParameter,
    Parameter,
    ScaleParameter,
    Slider,
    TextParameter,
)
from lab.ui.parameters_of_a_run import Counted, HiddenParameter, Listed, Model, PlaceParameter, StepParameter

if TYPE_CHECKING:
    from lab.analysis.layers.embeddings import Order, SegmentChange

# The text with which a visit begins, unless the lesson has its own text.
DEFAULT_TEXT = example_named("A pronoun").text
SENTENCE, TOY = "Sentence", "Toy"
# Metrics as published, or corrected for the length of the text.
RAW, CORRECTED = "Raw", "Corrected"
# Whether [CLS] and [SEP], or the first token of a model without them, take part in a measurement of heads.
LEFT_OUT, KEPT = "Left out", "Kept"
# The sentences that the heads are averaged over.
BUNDLED, OWN = "Bundled", "Your own"
# The bench of flow: the heads, how a link is measured, the paths past the heads, and the tokens that take part.
MEAN_OF_HEADS, ONE_HEAD = "Mean over heads", "One head"
WEIGHTS, NORMS = "Weights", "Norms"
SHOWN, HIDDEN = "Shown", "Hidden"
HEADS_ONLY, WITH_RESIDUAL = "Heads only", "With residual"
EVERY_TOKEN, WORDS_ONLY = "All tokens", "Words only"
LAYERED, REPEATED = "Layer by layer", "One layer repeated"
# The neuron view: the keys that get a row if the text is long.
HEAVIEST, AROUND = "Heaviest", "Around the query"
# The neuron view: the pattern whose scores are taken apart, if no head is chosen by name.
OWN_PATTERN = "The clearest of this head"
# The head view: lines between tokens or between words.
TOKENS, WORDS = "Tokens", "Words"
# The prediction lesson: the bars of a likelihood, and the words that top-k leaves out.
LOG_PROBABILITY, PROBABILITY = "Log probability", "Probability"
EVERY_WORD = "all"
# The bench of comparisons: the difference between A and B, and the change made to B. The names of its figures repeat
# those in lab/benches/compare/comparable.py, which imports torch; a test compares the two lists.
TWO_TEXTS, TWO_MODELS, TWO_WEIGHTS, INTERVENTION = "Two texts", "Two models", "Trained or random", "An intervention"
ZERO_HEAD, MEAN_HEAD, UNIFORM_HEAD = "Head set to zero", "Head set to its mean", "Head made uniform"
NO_SCALING, NO_POSITIONS, NO_SEGMENTS = "No ÷ √d_k", "No positions", "No segments"
BLOCKED = "One token pair blocked"
COMPARED = (
    "Most probable words",
    "Attention of a head",
    "All heads of a layer",
    "Metric of every head",
    "Named heads",
    "Specialization",
    "Embeddings",
    "Sublayer changes",
    "Neurons of a token",
    "Sentence to sentence",
)
LEARNED = "Trained"
RANDOM, CONSTRUCTED, TRAINED = "Random", "Constructed", "Trained live"

_SEEDS = (0, 9999)  # larger seeds are the lab's own: they make sentences that no toy was trained on
_MOST = 10_000  # upper limit for the numbers of parts of a model or text; the page knows the real limit
_METRICS = tuple(metric.name for metric in METRICS)

# The input: a text, or a toy's sentence of letters.
MODE = Buttons("mode", SENTENCE, (SENTENCE, TOY))
TEXT = TextParameter("text", DEFAULT_TEXT, named=True, blanks=True)
PAIR = TextParameter("pair", "", blanks=True)
MODEL = Model("model", DEFAULT_MODEL)
TRAINING = Buttons("weights", LEARNED, (LEARNED, RANDOM))
TWIN_SEED = NumberParameter("twin_seed", 0, *_SEEDS)
TOY_VOCABULARY = NumberParameter("toy_vocabulary", 8, SETTINGS["vocabulary"].low, SETTINGS["vocabulary"].high)
TOY_LENGTH = NumberParameter("toy_length", 8, SETTINGS["max_length"].low, SETTINGS["max_length"].high)
TOY_COUNT = NumberParameter("toy_count", 20, SETTINGS["count"].low, SETTINGS["count"].high)
TOY_SEED = NumberParameter("toy_seed", 0, *_SEEDS)
TOY_SENTENCE = NumberParameter("toy_sentence", 1, 1, SETTINGS["count"].high)
TOY_OWN = TextParameter("toy_own", "", longest=64)
# A lesson opens on the toy that learners train.
TOY_WEIGHTS = Buttons("toy_weights", TRAINED, (TRAINED, CONSTRUCTED, RANDOM), named=True)
TOY_HEADS = NumberParameter(
    "toy_heads", 4, 1, 32
)  # number of heads into which the random toy is cut: at most one head per dimension
TOY_TRAINED_HEADS = Buttons("toy_trained_heads", TRAINED_HEADS, (1, 2, 4))
TOY_TASK = Menu("toy_task", TASKS[0].name, tuple(task.name for task in TASKS))
TOY_LAYERS = Buttons("toy_layers", TASKS[0].layers, tuple(range(SETTINGS["layers"].low, SETTINGS["layers"].high + 1)))
# The toys of single lessons: the rule behind the blanks; the tokenizer's trainer, its merges, the word that it splits.
TOY_RULE = Menu("toy_rule", RULES[0].name, tuple(rule.name for rule in RULES))
TOY_TRAINER = Buttons("toy_trainer", BPE, (BPE, WORDPIECE))
TOY_MERGES = Slider("toy_merges", 0, 0, MERGES)
TOY_WORD = TextParameter("toy_word", "", longest=40)
# Where to look. ``place`` is the token asked about, ``masked`` has the hidden tokens ("3.7"), ``heads`` the heads drawn
# ("2.5").
STEP = StepParameter("step", "", kept=False)
LAYER = Counted("layer", 1)
HEAD = Counted("head", 1)
# From a sentence to the sentence before it, to which its pronouns refer, and which a causal model sees, too.
FROM_SENTENCE = Counted("sentence", 2)
TO_SENTENCE = Counted("other_sentence", 1)
TOKEN = PlaceParameter("token", 0, 0, _MOST)
KEY_TOKEN = PlaceParameter("key_token", 0, 0, _MOST)
PLACE = PlaceParameter("place", 0, 0, _MOST)
DIMENSION = PlaceParameter("dimension", 0, 0, _MOST)
FIRST_DIMENSION = PlaceParameter("first_dimension", 1, 1, _MOST)
NEURON = PlaceParameter("neuron", 0, 0, _MOST)
MASKED = HiddenParameter("masked", "", written=True)
HEADS = Name("heads", "", written=True)
# The lines of these heads: whether they lead to special tokens, too, and how much of a row they cover (0: as usual).
SPECIALS = Buttons("specials", SHOWN, (SHOWN, HIDDEN), written=True)
COVER = NumberParameter("cover", 0, 0, 100, written=True)
WORD = Listed("word", "")
CARD = Listed("card", "", kept=False)
# The prepared sentence whose words were counted in the texts that taught the embedded models.
GAP = Listed("gap", "")
# Words, vectors and their positions. ``sense`` is a word with two meanings.
SENSE = Listed("sense", "")
SEGMENTS: Buttons[SegmentChange] = Buttons("segments", "all 0", ("all 0", "swapped", "left out"))
ORDER: Buttons[Order] = Buttons("order", "reversed", ("reversed", "shuffled", "moved on by one"))
PE_LENGTH = Slider("pe_length", 64, 8, 512)
PE_WIDTH = Slider("pe_width", 64, 4, 512)
PE_BASE = ScaleParameter("pe_base", 10_000, (10, 100, 1000, 10_000, 100_000, 1_000_000))
# Measurements of heads, and changes to a single head.
METRIC = Menu("metric", "Spread (entropy)", _METRICS)
VERSION = Buttons("version", CORRECTED, (CORRECTED, RAW))
SINKS = Buttons("sinks", LEFT_OUT, (LEFT_OUT, KEPT))
TAU = Buttons("tau", "0.01", ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3"))
SOURCE = Buttons("source", BUNDLED, (BUNDLED, OWN))
MEASURE = Buttons("measure", MASS, (MASS, RELATIVE, MAXIMUM))
# The other half of a layer. ``norm`` is the place of a LayerNorm, named as in its layer.
_NORMS = tuple(f"{side} {what}" for side in ("after", "before") for what in ("attention", "the feed-forward network"))
NORM = Buttons("norm", "after the feed-forward network", _NORMS)
# Predictions.
TOP = Buttons("top", 10, (5, 10, 20))
TEMPERATURE = Fraction("temperature", 1.0, 0.1, 2.0)
TOP_K = Menu("top_k", "50", ("1", "5", "10", "20", "50", "100", EVERY_WORD))
TOP_P = Menu("top_p", "0.9", ("0.5", "0.8", "0.9", "0.95", "0.99", "1"))
DRAW_SEED = NumberParameter("draw_seed", 0, *_SEEDS)
SCORE = Buttons("score", LOG_PROBABILITY, (LOG_PROBABILITY, PROBABILITY))
READ_WITH = Buttons("read_with", FITTED, (FITTED, PLAIN))
# The sentence from which lesson 9 takes vectors; "" is the lesson's own.
SECOND_TEXT = TextParameter("second_text", "", longest=400)
# The benches: head view, model view, neurons.
UNITS = Buttons("units", TOKENS, (TOKENS, WORDS))
COLOUR = Menu("colour", WEIGHTS, (WEIGHTS, *_METRICS, *(pattern.name for pattern in PATTERNS)))
KEYS = Buttons("keys", HEAVIEST, (HEAVIEST, AROUND))
PATTERN = Menu("pattern", OWN_PATTERN, (OWN_PATTERN, *(pattern.name for pattern in DECIDED)))
DIMENSIONS = NumberParameter("dimensions", 3, 0, 256)
# Flow. ``follow`` is the token whose paths are drawn (0: all), ``flow_layer`` the last layer (0: the model's last).
FLOW_HEADS = Buttons("flow_heads", ONE_HEAD, (ONE_HEAD, MEAN_OF_HEADS))
# By weights alone, nearly all bands would lead to [CLS], where lab-minilm parks attention but reads little.
FLOW_READING = Buttons("flow_reading", NORMS, (WEIGHTS, NORMS))
FLOW_RESIDUAL = Buttons("flow_residual", HEADS_ONLY, (HEADS_ONLY, WITH_RESIDUAL))
# The strongest paths run from [CLS] to [CLS], which says little, so a bench opens on the words.
FLOW_TOKENS = Buttons("flow_tokens", WORDS_ONLY, (WORDS_ONLY, EVERY_TOKEN))
FLOW_THRESHOLD = Menu("flow_threshold", "0.1", ("0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5"))
FLOW_LINKS = Menu("flow_links", "20", ("10", "20", "40"))
FOLLOW = PlaceParameter("follow", 0, 0, _MOST)
FLOW_LAYER = PlaceParameter("flow_layer", 0, 0, 1000)
TREE = Buttons("tree", LAYERED, (LAYERED, REPEATED))
TREE_K = NumberParameter("tree_k", 2, 1, 20)
TREE_DEPTH = NumberParameter("tree_depth", 4, 1, 10)
# Tensors.
TENSOR = Name("tensor", "layer.attention", written=True)
STATE = PlaceParameter("state", 0, 0, 1000)
TENSOR_ROWS = TextParameter("tensor_rows", "")
TENSOR_COLUMNS = TextParameter("tensor_columns", "")
VARIANTS = {
    "As it is": attention_variants.RAW,
    "No special tokens": attention_variants.NOSEP,
    "Rows sum to 1": attention_variants.LINSCALE,
    "Softmax again": attention_variants.SOFTMAX_SCALE,
    "Between words": attention_variants.REDUCED,
}
VARIANT = Buttons("variant", "Between words", tuple(VARIANTS))
WORD_CUT = TextParameter("word_cut", "", longest=2 * MAX_CHARACTERS)
# The bench of comparisons: the difference between A and B, and the settings of B.
COMPARE = Buttons("compare", TWO_TEXTS, (TWO_TEXTS, TWO_MODELS, TWO_WEIGHTS, INTERVENTION))
OTHER_TEXT = TextParameter("other_text", "")
OTHER_PAIR = TextParameter("other_pair", "")
OTHER_MODEL = Model("other_model", "lab-gpt2")
OTHER_TOY = Buttons("other_toy", RANDOM, (RANDOM, CONSTRUCTED, TRAINED))
TOY_OTHER = NumberParameter("toy_other", 2, 1, SETTINGS["count"].high)
CHANGE = Menu("change", ZERO_HEAD, (ZERO_HEAD, MEAN_HEAD, UNIFORM_HEAD, NO_SCALING, NO_POSITIONS, NO_SEGMENTS, BLOCKED))
FIGURE = Menu("figure", COMPARED[0], COMPARED)
# The experiment on patching: the part that is put into the other run, the direction, and the learner's own pair.
PATCH = Menu("patch", PATCHED[0], PATCHED)
PATCH_WAY = Buttons("patch_way", SUFFICES, (SUFFICES, NEEDED))
CLEAN_TEXT = TextParameter("clean_text", "The capital of France is _.", longest=400)
CORRUPT_TEXT = TextParameter("corrupt_text", "The capital of Russia is _.", longest=400)
GOOD_WORD = TextParameter("good_word", "Paris", longest=40)
BAD_WORD = TextParameter("bad_word", "Moscow", longest=40)
# The picture of a word that forms: the token watched (0: the blank), and the connections that are cut, written as in
# lab/analysis/flow/cuts.py. The sentence of the first page, with its blank.
WATCH = PlaceParameter("watch", 0, 0, _MOST)
CUT = Name("cut", "", written=True, longest=400)
BLANK_TEXT = TextParameter("blank", "The capital of France is _.", written=True, longest=400)
# The word looked up in the glossary.
LOOK_UP = TextParameter("look_up", "", kept=False, longest=60)
# The way through the course.
WAY = Buttons("way", WHOLE, (WHOLE, SHORT), written=True)
# A class: the seed of the questions (0: no questions), and whether the lab is shown to a class (1).
SEED = PlaceParameter("seed", 0, *_SEEDS, kept=False)
TEACH = PlaceParameter("teach", 0, 0, 1, kept=False)
# Whose sentences are taught in a task of the learner’s own.
TAUGHT_LAB, TAUGHT_OWN = "The lab’s", "Your own"
TAUGHT = Buttons("taught", TAUGHT_LAB, (TAUGHT_LAB, TAUGHT_OWN))
# The room that this visit is in, by its code, and whether its page is for the projector, or to be printed (1).
ROOM = Name("room", "", kept=False, written=True, longest=6)
PROJECTOR = PlaceParameter("projector", 0, 0, 1, kept=False)
SUMMARY = PlaceParameter("summary", 0, 0, 1, kept=False)

PARAMETERS: tuple[Parameter[Any], ...] = tuple(each for each in list(vars().values()) if isinstance(each, Parameter))
# The parameters of the toy's sentences, in the order of the sidebar, and the parameters that most toys have.
TOY_NUMBERS = (TOY_VOCABULARY, TOY_LENGTH, TOY_COUNT, TOY_SEED, TOY_SENTENCE)
TOYS = (*TOY_NUMBERS, TOY_OWN, TOY_WEIGHTS, TOY_HEADS, TOY_TRAINED_HEADS, TOY_TASK, TOY_LAYERS)
