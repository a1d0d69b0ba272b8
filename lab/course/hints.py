"""What helps after a first wrong answer: where to look, or what to think of; never the answer, never a number of it."""

from __future__ import annotations

from collections.abc import Mapping

from lab.course.checks import Question

# By the question's id. An id that ends in "-" stands for all that begin so.
HINTS: Mapping[str, str] = {
    # Lesson 1
    "split": "The longest entry of the vocabulary that fits is taken first, then the longest that fits the rest.",
    "unknown": "A word is either built whole from pieces, or it is not built.",
    "mistyped": "Is the mistyped word in the vocabulary? If not, what does the tokenizer do with a word like that?",
    "mark": "Compare pieces that begin a word with pieces that do not.",
    "distinct-ids": "A token that stands twice has one id. Count kinds of token, not tokens.",
    "added": "Look for tokens of which no character is in your text.",
    # Lesson 2
    "nearest-word": "Which words stand where this one stands? Such words get rows that point the same way.",
    "where-equal": "The table knows the token alone. Every layer mixes in what stands around it.",
    "turns-fastest": "Look at the heat map of the sinusoids: in which columns do the colours alternate at each row?",
    "same-distance": "Compare how far apart the two positions of a pair are.",
    "added-up": "The vectors are added number by number, each with its sign.",
    "normalized": "LayerNorm takes the mean away, divides by the deviation, multiplies by γ and adds β, in this order.",
    "nearest-position": "Look along the row of this position in the map of similarities.",
    "learned-numbers": "A table has rows and columns.",
    # Lesson 3
    "second-weight": "Two weights of a row are to each other as e to the difference of their scaled scores.",
    "most-attended-overall": "Look for the darkest column of the map, not for the darkest cell.",
    "previous-token-head": "Look for a line that runs just below the diagonal.",
    "other-direction": "What changes places, the query or the key? Does the same row still count?",
    "most-even": "In such a row no cell is much darker than the others.",
    "without-scaling": "What does a softmax do to scores that lie farther apart?",
    # Lesson 4
    "whose-dimension": "Each head fills as many dimensions as the others, in order.",
    "missing-share": "The heads and the bias add up to the output.",
    "together": "Think of two arrows that point to different sides, laid end to end.",
    "why-several": "How many times does one head share out the attention of a token?",
    "after-w-o": "How many heads write into one dimension after $W_O$?",
    "change-of-log": "The step *Each head off* says what −0.69 and +0.69 mean.",
    "both-off": "Does a later layer read the heads one by one, or their sum?",
    "elsewhere": "From which share on does the lab say that a head parks? And how many texts were read?",
    "parameters": "When there are more heads, what becomes of the width of each?",
    "first-moved": "A layer reads what the layers before it wrote.",
    "parked-or-busy": "What does a token bring home that carries little, and what one that carries much?",
    # Lesson 5
    "row-share": "The largest entropy of a row is that of equal weights: the logarithm of how many keys there are.",
    "most-even-layer": "Look at the step *All heads*, and compare whole rows of it.",
    "most-confident": "Look at the step *One layer*, with confidence (average) chosen.",
    "effective-keys": "An even spread over k keys has the entropy ln k. Turn that round.",
    "uniform-average": "Every weight of such a row is the same, and they add up to 1.",
    "maximum-is-one-row": "One of the two numbers speaks for one row, the other for all of them.",
    "why-divided": "Think of an even row over a few keys, and of one over many.",
    "another-sentence": "How many texts were read? What do they show, and what is open?",
    "said-twice": "Divide each number by that of the uniform head beside it.",
    # Lesson 6
    "rim-of-radar": "Each axis runs from the smallest to the largest value of this layer.",
    "base-rate-": "Count how many of the keys are of this kind, then think of equal weights.",
    "corrected-": "The corrected value says how many times as much as without preference.",
    "looks-most-": "Look along the row of this layer in the table of raw values.",
    "best-head-": "Look at the step where this pattern is scored for every head.",
    "most-common-name": "Look at the colours of all heads, and count.",
    "name-of": "A name needs a score clearly above what a uniform and an untrained head reach.",
    # Lesson 7
    "why-less": "What would an even spread send to each of the two sentences?",
    "other-order": "The words stay. What do the heads see of places?",
    "keeps-or-sends": "Which tokens stand near those of this sentence?",
    "where-it-goes": "Where do heads send attention that they have no use for?",
    "one-weight": "How many weights is each of the two numbers made of?",
    "without-positions": "What do positions tell a head about tokens that stand near?",
    "pair-effect": "What is new in the input when the texts become a pair?",
    "into-the-future": "In which order does this model read, and what may a token see?",
    "even-share": "Such a token gives every key that it may see the same weight.",
    "corrected": "The corrected value is 1 where as much is sent as an even spread sends.",
    "to-specials": "All attention of a token adds up to 1.",
    # Lesson 8
    "another-word": "Does a feed-forward network read one token or several?",
    "neuron-activation": "First the sum, then the activation function.",
    "parameter-share": "Write down the shapes of the matrices on both sides, and compare their products.",
    "more-than-untrained": "Look at the step *Residual*, with random weights beside the trained ones.",
    "below-zero": "Look at the histogram of the hidden values, and at where 0 is.",
    "normalized-value": "Take the mean away, divide by the root of the variance, multiply by γ, add β.",
    "most-changed": "Look at the figure beside the question: where is what is added longest for its token?",
    "most-exciting-token": "Look at the row of this neuron, over all tokens of your text.",
    "shapes": "One matrix leads from narrow to wide, another back.",
    "scaled-input": "What do the mean and the variance do when every number grows ten times?",
    "hidden-numbers": "Every token excites every neuron once.",
    # Lesson 9
    "why-hidden": "Think of what the output could do if the word itself were in the input.",
    "other-subject": "Which word of the sentence does the verb have to agree with?",
    "other-sentence": "Say the sentence aloud with each of the words in its place.",
    "one-more-hidden": "What did that other word tell about the blank?",
    "least-certain": "Where would you yourself find the most words that fit?",
    "best-word": "Which word fits both what stands before the blank and what stands after it?",
    "next-best-word": "Which of these words could take the place of the first one, before and after it?",
    "settled": "Read the list from its end: how far back does the last word reach?",
    "quotient": "A probability is one exponential over the sum of all.",
    "shifted": "What happens to every exponential, and to their sum?",
    "tempered": "Logits are divided by the temperature before the softmax.",
    "odds": "The softmax raises e to each logit. What becomes of a difference of logits?",
    "easiest-word": "For which of these words do the others leave the fewest choices?",
    "perplexity": "Take the mean of the logarithms first, then undo the logarithm.",
    "kept-tokens": "First top-k cuts the list, then top-p cuts what is left.",
    "nucleus": "Add the probabilities up from the first, until the sum reaches top-p.",
    "pair-softmax": "Two logits, two exponentials, one sum.",
    "swapped": "What could tell this model which of two texts comes first?",
    "shown-word": "The model now sees what it had to guess.",
    # Toys
    "toy-next-pair": "Count each pair of neighbours over the whole corpus, every word as often as it stands there.",
    "toy-size": "What does one merge add, and does it take anything away?",
    "toy-unseen": "Apply the merges in the order in which they were learned.",
    "toy-score": "Divide the count of each pair by the product of the counts of its two letters.",
    "toy-across": "Two things must be true of such a pair of tokens.",
    "toy-shared": "This head compares letters and sentences. What scores highest for this letter?",
    "toy-alone": "No letter of the other sentence is equal. What scores highest then?",
    "toy-mass": "In head 1 a letter sends all or nothing. The matrix shows the mean over two heads.",
    "toy-segment": "For this head every token is in one sentence now. What is left to compare?",
}


def hint_of(question: Question) -> str | None:
    """The hint for a question; None where there is nothing to choose from any more, as there are two options."""
    if len(question.options) < 3:
        return None
    id = question.id.rpartition(".")[2]  # before a point stands the lesson of a question that returns
    parts = id.split("-")
    beginnings = ("-".join(parts[:count]) + "-" for count in range(len(parts) - 1, 0, -1))
    return next((HINTS[each] for each in (id, *beginnings) if each in HINTS), None)
