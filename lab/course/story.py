"""The story of the course, lesson by lesson: where you come from, what the problem is now, and what to keep.

Every sentence is true of every model and every text, toys included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Story:
    """How a lesson begins and ends.

    Attributes
    ----------
    last
        Where the last stop ended.
    now
        The problem that is left.
    recap
        Three sentences on what was found.
    remember
        The one to keep.
    """

    last: str
    now: str
    recap: tuple[str, str, str]
    remember: str


STORIES: Mapping[str, Story] = {
    "tokenization": Story(
        "The first page asked which word belongs in a blank.",
        "A model computes with numbers, and a sentence is made of letters. So the text must become numbers first.",
        (
            "The text became tokens: words, parts of words and signs that stand in the model’s vocabulary.",
            "Each token became a number, its id. An id is a name. It says nothing about meaning.",
            "A word that the vocabulary lacks falls, as a rule, into pieces that it has.",
        ),
        "The model reads the ids of tokens, not words.",
    ),
    "embeddings": Story(
        "The text became a row of ids.",
        "An id is only a name. The model does not know yet what a token means, or where it stands. Each token needs "
        "numbers that say so.",
        (
            "Each token begins as a row of a table, its vector. The cosine says how alike two of them are.",
            "The place comes in, too: BERT and GPT-2 add a vector for it. Many newer models turn vectors instead.",
            "Nothing in the vector knows the neighbours yet.",
        ),
        "Same token, same position, same segment: the same first vector, whatever stands beside it.",
    ),
    "self-attention": Story(
        "Each token has a vector that knows its word and its place.",
        "It does not know its neighbours. A token has to find out which others matter to it, and collect from them.",
        (
            "Each token makes a query, a key and a value out of its vector.",
            "Query times key gives a score. Softmax turns the scores of a row into shares that add up to 1.",
            "The token collects the values in these shares.",
        ),
        "Query and key say where to look. The value is what is taken from there.",
    ),
    "multi-head-attention": Story(
        "In one head, each token collects from the others in one set of shares.",
        "A word may need several things at once, from several places. Do several heads bring more than one does?",
        (
            "Heads have queries, keys and values of their own, so they can look at different tokens. “All heads” shows "
            "whether they do.",
            "What the heads collect is laid side by side. One matrix makes a vector of each head’s part, and these "
            "vectors are added. There the heads can help each other, or cancel.",
            "To see whether the model needs a head, switch it off and measure what changes.",
        ),
        "Where a head looks and whether the model needs it are two questions.",
    ),
    "attention-metrics": Story(
        "A layer can have several heads, and a model several layers.",
        "Nobody reads all these maps. Which of them are worth a look?",
        (
            "A metric turns a map into one number. Then heads can be sorted.",
            "A number says little alone. Set it beside the other heads, and beside a head that prefers nothing.",
            "One number finds the heads that park their attention. Whether they matter, only switching them off shows.",
        ),
        "A metric says how a head spreads its attention, not what the head is good for.",
    ),
    "head-specialization": Story(
        "You can say in numbers how a head spreads its attention.",
        "What does a head look at? One that prefers verbs, or finds the object of a verb, may have a job.",
        (
            "Add up a head’s attention by kinds of words, or by distance: that is what it looks at.",
            "A share means something beside the base rate, what a head without preference gives.",
            "In one text, a score clearly above chance suggests a name. Many sentences have to confirm it, as they did "
            "for the heads that find one word of a relation.",
        ),
        "Before you name a head, ask what chance would give.",
    ),
    "inter-sentence-attention": Story(
        "You know what single heads look at.",
        "A text has several sentences, and a word like *it* may stand for something in another one. Attention has to "
        "cross from one to the other.",
        (
            "What each token of a sentence sends to another sentence, as a mean, is one number. A matrix has all of "
            "them.",
            "There and back are two numbers: the tokens of each sentence have queries of their own.",
            "Special tokens, or the first token, can take much of the attention. Look with them and without.",
        ),
        "A mass has a direction, and a base rate: the longer a sentence, the more an even spread gives it.",
    ),
    "feed-forward": Story(
        "Tokens have collected from each other, in many heads.",
        "Each token has to make something of what it collected, alone.",
        (
            "The feed-forward network works on each token alone. Each neuron adds up the token’s numbers with weights "
            "of its own.",
            "What a sublayer computes is added to the vector. What was there stays in the sum, if only as a small "
            "part.",
            "LayerNorm brings the numbers of a vector to one scale, before or after each half of a layer.",
        ),
        "Attention moves information between tokens. The feed-forward network works on each token by itself.",
    ),
    "masked-language-model": Story(
        "A layer is complete: attention, then the feed-forward network. A model is one such layer after another.",
        "The last vectors are there, and the vocabulary is a list of words. Something must turn one into the other.",
        (
            "The last vector is compared with every word of the vocabulary. Each word gets a logit.",
            "Softmax turns the logits into probabilities.",
            "What the other tokens say came into this vector through attention, layer by layer.",
        ),
        "The likeliest word is the one that fits best what its place has collected.",
    ),
}
