"""The technical words of the course, each explained in at most thirty words, with the lesson that teaches it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_WORDS = 30


@dataclass(frozen=True)
class Term:
    """A technical word.

    Attributes
    ----------
    name
        The word, as texts of the course write it.
    meaning
        The meaning in plain words, for BERT and GPT-2 unless it says otherwise.
    lesson
        The id of the lesson that teaches the word.
    formula
        A formula in LaTeX, or empty.
    paper
        The paper that used the word first, or explains it best; empty for a word older than the field.
    also
        Other spellings that a text may use.
    called
        Names for the word in other tools and papers, which the glossary shows.
    """

    name: str
    meaning: str
    lesson: str
    formula: str = ""
    paper: str = ""
    also: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.name, *self.also, *self.called)


_VASWANI, _DEVLIN = "Vaswani et al. 2017", "Devlin et al. 2019"
# The terms, each with name, meaning, and any other fields.
_ROWS: Mapping[str, Sequence[tuple[str, str, dict[str, Any]]]] = {
    "tokenization": (
        ("token", "A piece of text that the model reads as one unit: a word, a part of a word, or a sign.",
         {"also": ("tokens",)}),
        ("vocabulary", "The fixed list of all tokens that a model knows. Each token has a number in this list.",
         {"formula": r"V"}),
        ("token id", "The number of a token in the vocabulary. It says nothing about meaning: 4 is not closer to 5 "
         "than to 900.", {"also": ("token ids", "id", "ids")}),
        ("subword", "A part of a word that is a token of its own, as *##s* in *parisian ##s*. Rare words are made of "
         "several pieces.", {"paper": "Sennrich et al. 2016", "also": ("subwords", "piece", "pieces")}),
        ("WordPiece", "BERT’s way to split a word: take the longest token that it begins with, then go on with the "
         "rest. *##* marks a piece that continues a word.", {"paper": "Wu et al. 2016", "also": ("##",)}),
        ("byte-pair encoding", "GPT-2’s way to split a word: begin with single bytes, then join the two neighbours "
         "that come first in a learned list, again and again.",
         {"paper": "Sennrich et al. 2016", "also": ("BPE", "byte-level BPE")}),
        ("normalization", "Changes to a text before it is split. An uncased BERT turns capitals into small letters and "
         "drops accents.", {}),
        ("pre-token", "A part of a text between white space and punctuation, before words are split into pieces.",
         {"also": ("pre-tokens",)}),
        ("special token", "A token that is a mark. The tokenizer puts [CLS] at the start and [SEP] at the "
         "end of a text; [MASK] takes the place of a hidden word.", {"paper": _DEVLIN, "also": ("special tokens",)}),
        ("[CLS]", "BERT’s first token, a mark that belongs to no word. In training, its last vector had to show "
         "whether a second text follows the first.", {"paper": _DEVLIN}),
        ("[SEP]", "BERT’s mark at the end of a text, and between two texts of a pair.", {"paper": _DEVLIN}),
        ("[MASK]", "The token in place of a hidden word. The model says which word belongs there.",
         {"paper": _DEVLIN}),
    ),
    "embeddings": (
        ("vector", "A list of numbers for a token. Each layer computes it anew. The vectors of all tokens have the "
         "same length.", {"formula": r"x \in \mathbb{R}^d", "also": ("vectors",)}),
        ("dimension", "One place in a vector. The number of dimensions is the width of the model.",
         {"formula": r"d", "also": ("dimensions", "width")}),
        ("embedding", "The vector of a token, a position or a segment that the model looks up in a table before its "
         "first layer.", {"formula": r"E \in \mathbb{R}^{|V| \times d}", "also": ("embeddings",)}),
        ("position embedding", "The vector of a place. Without it BERT could not tell the order of its tokens.",
         {"paper": _VASWANI, "also": ("position embeddings", "position vector", "position vectors")}),
        ("segment embedding", "One of two vectors. BERT adds it to every token, to tell the first text of a pair from "
         "the second.", {"paper": _DEVLIN, "also": ("segment embeddings", "segment", "segments")}),
        ("sinusoids", "Position vectors made of sines and cosines with longer and longer wavelengths. Nothing about "
         "them is learned. "
         "BERT has learned position vectors instead.",
         {"formula": r"\sin(p / 10000^{2i/d})", "paper": _VASWANI, "also": ("sinusoid", "sinusoidal")}),
        ("rotary positions", "Positions that turn queries and keys by an angle, instead of adding a vector. Then a "
         "score depends on how far apart the tokens are, and which comes first.",
         {"paper": "Su et al. 2021", "also": ("rotary",)}),
        ("dot product", "Two vectors multiplied number by number, and added up. The dot product is large if both "
         "vectors are long and point the same way.", {"formula": r"x \cdot y = \sum_i x_i y_i",
                                                      "also": ("dot products",)}),
        ("cosine", "A number that says how much two vectors point the same way, whatever their lengths: 1 the same "
         "way, 0 at right angles, −1 opposite "
         "ways.", {"formula": r"\frac{x \cdot y}{\|x\|\,\|y\|}", "also": ("cosine similarity",)}),
        ("norm", "The length of a vector.", {"formula": r"\|x\| = \sqrt{\sum_i x_i^2}", "also": ("norms",)}),
        ("LayerNorm", "A step that shifts and stretches the numbers of a vector to mean 0 and variance 1, then scales "
         "each by a learned γ and adds a learned β.",
         {"formula": r"\gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta", "paper": "Ba et al. 2016"}),
        ("layer", "Attention and then a feed-forward network. A model is a stack of layers; each reads what the one "
         "below it wrote.", {"formula": r"L", "also": ("layers",)}),
        ("parameter", "A number that training sets: a cell of an embedding table, of a matrix, of a bias.",
         {"also": ("parameters",)}),
        ("training", "Showing a model many texts and moving its parameters, a little each time, so that its "
         "predictions get better.", {}),
    ),
    "self-attention": (
        ("attention", "The way in which a token collects from the tokens that it may see. It gives each a share, and "
         "their values are mixed in these shares.",
         {"paper": _VASWANI, "also": ("self-attention", "attend", "attends")}),
        ("query", "A vector that says what a token looks for. It is made from the token’s own vector by a learned "
         "matrix.", {"formula": r"q = x W_Q + b_Q", "paper": _VASWANI, "also": ("queries",)}),
        ("key", "A vector that queries are compared with: it says what a token has to offer.",
         {"formula": r"k = x W_K + b_K", "paper": _VASWANI, "also": ("keys",)}),
        ("value", "The vector that a token gives to the tokens that attend to it.",
         {"formula": r"v = x W_V + b_V", "paper": _VASWANI, "also": ("values",)}),
        ("score", "The dot product of a query and a key. The higher it is, the more the query attends to the key.",
         {"formula": r"q \cdot k", "also": ("scores",)}),
        ("scaling", "The division of scores by √d_k. Without this division, the more dimensions a key has, the more "
         "the scores would spread.", {"formula": r"\frac{q \cdot k}{\sqrt{d_k}}", "paper": _VASWANI}),
        ("softmax", "A step that turns any numbers into positive shares that add up to 1. The largest number gets the "
         "largest share.", {"formula": r"\frac{e^{s_j}}{\sum_k e^{s_k}}"}),
        ("attention weight", "The share that a query gives to a key. All weights of a query add up to 1.",
         {"formula": r"A_{ij}", "also": ("attention weights",)}),
        ("attention map", "All weights of a head as a picture: each row is a query, each column a key.",
         {"formula": r"A \in \mathbb{R}^{n \times n}", "also": ("map", "maps", "attention maps")}),
        ("attention mask", "A rule that keeps a query from looking at some keys: at padding in a batch, or, in GPT-2, "
         "at later tokens.", {"paper": _VASWANI, "also": ("causal mask",)}),
        ("context", "The vector that a query has collected: the values, mixed in the shares of its weights.",
         {"formula": r"\sum_j A_{ij} v_j", "also": ("contexts",)}),
    ),
    "multi-head-attention": (
        ("head", "One of several ways of looking that a layer has side by side, each with its own queries, keys and "
         "values.",
         {"formula": r"H", "paper": _VASWANI, "also": ("heads",)}),
        ("concatenation", "The contexts of all heads of a token, joined into one vector.",
         {"formula": r"[\text{head}_1; \dots; \text{head}_H]"}),
        ("output projection", "The matrix that mixes the concatenated heads into the vector that attention adds to a "
         "token.", {"formula": r"W_O", "paper": _VASWANI, "also": ("W_O",)}),
        ("residual stream", "The vector of a token on its way through the layers. Each sublayer reads it and adds to "
         "it.", {"formula": r"x + \text{sublayer}(x)", "paper": "Elhage et al. 2021"}),
        ("ablation", "Switching a part off to see what changes. A map shows where a head looks; only ablation shows "
         "whether anything depends on it.",
         {"paper": "Michel et al. 2019", "also": ("ablate", "switch off", "switched off")}),
        ("attention sink", "A token that gets much attention whatever it says, such as [SEP] in BERT and the first "
         "token in GPT-2.", {"paper": "Xiao et al. 2024", "also": ("sink", "sinks")}),
        ("divergence", "A number that says how differently two heads spread their attention: 0 for equal maps.",
         {"paper": "Clark et al. 2019", "also": ("Jensen–Shannon divergence",)}),
    ),
    "attention-metrics": (
        ("metric", "A number that says one thing about a head’s map, so that heads can be sorted by it.",
         {"also": ("metrics",)}),
        ("entropy", "A number that says how widely a row is spread: 0 if one key gets everything, largest if all "
         "keys get the same.",
         {"formula": r"-\sum_j A_{ij} \ln A_{ij}", "paper": "Clark et al. 2019", "called": ("Focus (entropy)",)}),
        ("nat", "The unit of an entropy or a logarithm with base e. One nat is 1.44 bits.", {"also": ("nats",)}),
        ("confidence", "The largest weight of a row, or of a map: how sure a head is of one key.",
         {"formula": r"\max_j A_{ij}", "paper": "Voita et al. 2019"}),
        ("sparsity", "The share of a map’s weights that are nearly 0.",
         {"formula": r"\frac{|\{A_{ij} < \tau\}|}{n^2}"}),
        ("uniform head", "An imaginary head that gives every key the same weight. It has no preference, so real heads "
         "are "
         "compared with it.", {}),
        ("standard deviation", "The typical distance of numbers from their mean.", {"called": ("Uniformity",)}),
        ("median", "The number in the middle when numbers are put in order: half of them are smaller.",
         {"called": ("Distribution (median)",)}),
    ),
    "head-specialization": (
        ("part of speech", "The kind of a word: noun, verb, determiner, preposition …", {"also": ("parts of speech",)}),
        ("tagger", "A small program that gives every word its part of speech. It is not part of the model, which never "
         "sees a tag.", {"also": ("tag", "tags")}),
        ("function word", "A word that holds a sentence together rather than naming something: an article, a "
         "preposition, a pronoun, a conjunction, an auxiliary.",
         {"also": ("function words",), "called": ("Syntax Focus",)}),
        ("content word", "A word that names something: a noun, a verb, an adjective, an adverb, a number.",
         {"also": ("content words",), "called": ("Semantics Focus",)}),
        ("entity", "The name of a person, a place or an organisation, or a date.",
         {"also": ("entities",), "called": ("Entities Focus",)}),
        ("punctuation", "Full stops, commas and the like.", {"called": ("Punctuation Focus",)}),
        ("long range", "Attention between tokens that are five or more places apart.",
         {"called": ("Long-Range Attention",)}),
        ("base rate", "The score of a uniform head, which has no preference. A score means something only in "
         "comparison with it.",
         {"also": ("chance",)}),
        ("corrected", "A score, divided by its base rate: 1 means no preference, and 2 means twice the score of a "
         "uniform head.", {}),
        ("radar", "A chart with one axis per metric, around a centre. Here each axis runs from a layer’s smallest "
         "value "
         "to its largest.", {}),
        ("pattern", "Something simple that a head does and that has a name, such as looking at the token before, or at "
         "the same word.", {"paper": "Kovaleva et al. 2019", "also": ("patterns",)}),
        ("delimiter", "A token that only marks where a text begins or ends: [CLS], [SEP].",
         {"paper": "Clark et al. 2019", "also": ("delimiters",)}),
        ("untrained twin", "A model of the same architecture with random numbers. If the twin shows a pattern, too, "
         "the pattern needs no training.",
         {"also": ("untrained head", "random weights", "twin")}),
        ("induction head", "A head that looks back to the token that followed an earlier occurrence of its own token, "
         "and makes this token likelier.", {"paper": "Olsson et al. 2022", "also": ("induction",)}),
    ),
    "inter-sentence-attention": (
        ("sentence pair", "Two texts that the model reads as one. [SEP] is between them, and each has its own segment.",
         {"paper": _DEVLIN, "also": ("pair",)}),
        ("mass", "The share of its attention that one sentence gives to another: the weights that a token gives to "
         "the other sentence, added up, and averaged over the tokens that give.", {}),
        ("length-corrected", "A share, divided by the share that a uniform head would give: 1 means that length alone "
         "explains it.", {}),
    ),
    "feed-forward": (
        ("feed-forward network", "The second half of a layer. It works on each token alone: a matrix, an activation, "
         "another matrix.", {"formula": r"\text{GELU}(x W_1 + b_1) W_2 + b_2", "paper": _VASWANI,
                             "also": ("feed-forward",)}),
        ("neuron", "One number inside the feed-forward network. It is large where the token’s vector fits the "
         "neuron’s own weights.", {"paper": "Geva et al. 2021", "also": ("neurons",)}),
        ("activation", "The number of a neuron after its curve, which is the network’s only step that is not linear.",
         {"also": ("activations",)}),
        ("GELU", "A curve that lets positive numbers through and holds negative ones back, smoothly.",
         {"formula": r"x\,\Phi(x)", "paper": "Hendrycks & Gimpel 2016"}),
        ("bias", "A learned vector that is added after a matrix.", {"formula": r"b", "also": ("biases",)}),
        ("residual connection", "The output of a sublayer is added to its input. So the input stays in the sum.",
         {"formula": r"x + f(x)", "paper": "He et al. 2016", "also": ("residual",)}),
        ("sublayer", "One half of a layer: attention, or the feed-forward network.", {"also": ("sublayers",)}),
        ("pre-norm", "LayerNorm comes before each sublayer, as in GPT-2. In BERT it comes after: post-norm.",
         {"paper": "Xiong et al. 2020", "also": ("post-norm",)}),
    ),
    "masked-language-model": (
        ("masked-language model", "A model that was trained to say which word is hidden, and that sees the text on "
         "both sides of this word.", {"paper": _DEVLIN, "also": ("masked language model",)}),
        ("causal language model", "A model that was trained to say which token comes next, and that sees only the "
         "tokens before it.", {"paper": "Radford et al. 2019", "also": ("language model", "next token")}),
        ("hidden state", "The vector of a token after a layer.", {"formula": r"h \in \mathbb{R}^d",
                                                                 "also": ("hidden states",)}),
        ("logit", "The score that the model gives to a word before softmax turns scores into probabilities.",
         {"formula": r"z \in \mathbb{R}^{|V|}", "also": ("logits",)}),
        ("probability", "A number from 0 to 1 that says how likely the model finds a word. The probabilities of the "
         "whole vocabulary add up to 1.", {"also": ("probabilities",)}),
        ("vocabulary head", "The last step of a model: it compares a vector with the vector of every word and gives "
         "each word a logit.",
         {"also": ("language-modelling head",)}),
        ("dense", "A step that multiplies each vector by a matrix and adds a bias. BERT’s vocabulary head begins with "
         "such a layer.", {}),
        ("log probability", "The logarithm of a probability. Multiplied probabilities become sums; 0 is certain, −7 is "
         "about one in a thousand.", {"formula": r"\ln p", "also": ("log-likelihood",)}),
        ("pseudo-log-likelihood", "A number that says how likely a text is to BERT: each token is hidden in turn, and "
         "the logarithms of their probabilities are added up.", {"paper": "Salazar et al. 2020"}),
        ("perplexity", "The number of equally likely words among which the model seems to choose, on average. Lower is "
         "better.",
         {"formula": r"e^{-\frac1n \sum_i \ln p_i}"}),
        ("logit lens", "A way to ask the vocabulary head after each layer, as if it were the last: which word would "
         "the model say so far?", {"paper": "nostalgebraist 2020"}),
        ("fitted lens", "A logit lens with a map before the vocabulary head, fitted to guess the last hidden state. A "
         "tuned lens is fitted to the last probabilities instead.", {"paper": "Belrose et al. 2023"}),
        ("temperature", "The number by which logits are divided before a token is drawn. If it is low, the likeliest "
         "token wins; if it is high, all tokens get a chance.", {"formula": r"\text{softmax}(z / T)"}),
        ("next-sentence prediction", "BERT’s second task in training: does the second text of a pair follow the first?",
         {"paper": _DEVLIN}),
        ("transformer", "A model made of attention and feed-forward networks. BERT, GPT-2 and the models behind "
         "chatbots are transformers.", {"paper": _VASWANI, "also": ("transformers",)}),
    ),
    "how-it-learns": (
        ("loss", "A number that says how wrong a model is: for a hidden word −ln p, where p is the probability of the "
         "right word, and for many words the mean.",
         {"formula": r"-\ln p", "also": ("losses",), "called": ("cross-entropy", "negative log-likelihood")}),
        ("gradient", "A number for each parameter: how much the loss grows if the parameter grows a little. Gradient "
         "descent moves each parameter in the opposite direction.", {"also": ("gradients",)}),
        ("learning rate", "How far a step of training goes; in gradient descent, by the gradient times this factor. If "
         "it is too large, a step jumps over the valley of the loss.",
         {"formula": r"\eta", "also": ("learning rates",)}),
        ("batch", "The sentences that one step of training reads. The step goes against the gradient of their mean "
         "loss.", {"also": ("batches",)}),
        ("optimizer", "The rule that turns gradients into moves of the weights, such as AdamW.",
         {"paper": "Loshchilov & Hutter 2019", "also": ("optimizers",)}),
    ),
    "a-task-of-your-own": (
        ("label", "The answer that a task wants for a sentence, such as good or bad news.", {"also": ("labels",)}),
        ("classifier", "A small model on top that gives a label to a vector. It has a weight for each number of the "
         "vector, and a bias.", {"formula": r"w \cdot x + b", "also": ("classifiers",), "called": ("linear probe",)}),
        ("logistic regression", "A way to learn the weights of a classifier: they are chosen so that the right labels "
         "become probable. A penalty keeps them small.", {}),
        ("fine-tuning", "Training a trained model further on a task of your own.",
         {"paper": _DEVLIN}),
    ),
}  # fmt: skip
GLOSSARY: tuple[Term, ...] = tuple(
    Term(name, meaning, lesson, **more) for lesson, rows in _ROWS.items() for name, meaning, more in rows
)


def _spelt() -> re.Pattern[str]:
    """A pattern that finds any spelling of any term as a whole word, the longest spelling that fits."""
    every = sorted((spelling for term in GLOSSARY for spelling in term.spellings), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, every))})(?!\w)", re.IGNORECASE)


_SPELT = _spelt()
_BY_SPELLING = {spelling.casefold(): term for term in GLOSSARY for spelling in term.spellings}


def uses(text: str) -> Iterator[tuple[Term, int, int]]:
    """Each use of a term in a text: the term, and where its spelling begins and ends."""
    return ((_BY_SPELLING[found[0].casefold()], found.start(), found.end()) for found in _SPELT.finditer(text))


def search(wanted: str) -> tuple[Term, ...]:
    """The terms whose spelling or meaning contains ``wanted``; matches of the spelling come first."""
    sought = wanted.strip().casefold()
    spelt = [t for t in GLOSSARY if any(sought in s.casefold() for s in t.spellings)]
    meant = [t for t in GLOSSARY if t not in spelt and sought in t.meaning.casefold()]
    return (*spelt, *meant)
