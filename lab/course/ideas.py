"""What a step is about, in plain words, before anything is asked or measured: the problem, and the idea.

Only for steps whose own first sentences depend on nothing on screen; the others say it themselves. Every sentence is
true of every model and every text.
"""

from __future__ import annotations

from collections.abc import Mapping

IDEAS: Mapping[str, Mapping[str, str]] = {
    "embeddings": {
        "Like words": "A row of numbers says nothing by itself. But two rows can be compared. The **cosine** of two "
        "vectors says how much they point the same way: 1 for the same direction, 0 for a right angle, below 0 for "
        "more opposite ones. Which rows are most like that of your word?",
        "Two meanings": "A word can mean two things, but the table has one row for it. Each layer of the model then "
        "changes the vector by what stands around it; the next lessons show how. What has become of the word after "
        "the last layer?",
        "Position lab": "A row of the table knows its word, not its place. *The dog bit the man* and *The man bit the "
        "dog* have the same words. In a layer, a token adds up vectors, each with a weight. Take all places away and "
        "reorder your tokens: what becomes of the outputs, the vectors after the last layer?",
        "Learned or computed": "So a model must be told where a token stands. BERT adds a vector for the place to "
        "that of the word. Where does this vector come from? It can be **learned**, one row of a table for each "
        "position, or **computed** by a formula.",
        "King and queen": "Vectors can be added and subtracted. Take the row of *king*, subtract that of *man*, "
        "add that of *woman*. If directions mean something, the row of *queen* should be near. Is it?",
        "Sum": "A token may have several vectors now: for its word, its place, its segment. The first layer reads only "
        "one. So they are added, number by number.",
        "Lengths": "Why care how long a vector is? The layers read only the sum, and a summand that is much shorter "
        "than the others hardly moves it. So lengths say what a token starts out as: more its word, or more its place.",
    },
    "self-attention": {
        "Scale": "In “Build a row”, each score was divided by a number before softmax. Why? What would softmax make of "
        "the scores as they are?",
    },
    "multi-head-attention": {
        "Alike or different": "Do two heads of a layer look at the same tokens? Put their maps side by side, on one "
        "scale. Then one number says how far the maps are apart. It compares where the heads look, not what they bring "
        "from there.",
        "Concatenate": "Each head has found something of its own for a token. The next part of the model takes one "
        "vector a token. How does one come of what all heads found?",
        "Add up": "Side by side, the numbers of different heads have not met yet. A matrix, $W_O$, turns the numbers "
        "of each head into a vector as wide as the model, and these vectors are added. What does each head bring to "
        "the token?",
        "One head off": "A map shows where a head looks, not whether the model needs it. So take the head away, and "
        "see what changes.",
        "Through several layers": "A layer reads what the layer before it wrote. A token may attend to one that has "
        "already collected from others. So information can take several steps. Follow it.",
        "Lengths": "A map says where a head looks. What the head adds to a token is a vector, and a long one can "
        "change the token much, a short one hardly. But these vectors are added up: where two point in opposite "
        "directions, they cancel.",
        "How many": "A layer could have more heads, or fewer. What would that cost in parameters, the numbers that "
        "training sets?",
        "Each head off": "Does the model need all its heads? Switch off each of them, one at a time, and see what "
        "becomes of the prediction. A head can also **park**: nearly all attention of the words goes to tokens that "
        "are no words of the text. Look whether the model misses such a head less.",
    },
    "attention-metrics": {
        "Six numbers": "Each of these six numbers says one thing about a map, and each is good for one decision: "
        "which head to open next. None says what the head is good for.",
        "By hand": "**Entropy** measures how widely a row is spread: 0 if one key gets everything, most if all keys "
        "get the same. Here you compute it for one row.",
        "All heads": "A **metric** turns each map into one number, and numbers can be sorted. Below, the rows are "
        "layers and the columns are heads.",
        "Parked heads": "A head may rest nearly all its attention on tokens that are no words of the text. One "
        "number finds such heads. Does it also tell which heads the model can spare?",
        "One layer": "Is this head unusual? Compare it with the other heads of its layer, and with a head that prefers "
        "nothing.",
        "Special tokens": "Some attention goes to special tokens, or to the first token of a model without them. Leave "
        "these tokens out, and look at what is left.",
        "Threshold": "Sparsity counts the weights that are next to nothing. What counts as nothing? A threshold τ "
        "decides, and you choose it.",
        "Length": "Can you compare texts of different length? With more keys to share among, weights get smaller, "
        "whatever the head does. So a metric may move with the length alone.",
    },
    "head-specialization": {
        "Tagged sentence": "Do heads prefer a kind of word? To measure that, each token needs a kind. A small program, "
        "a **tagger**, gives every word its part of speech. The lab sorts these into function words (*the*, *on*), "
        "content words (*cat*, *sat*) and punctuation.",
        "Seven metrics": "Add up the attention that a head gives to one kind of token, or to one kind of place. That "
        "is a number. Up to seven of them say what a head looks at. Compare each with what a head that prefers nothing "
        "has.",
        "Grammar": "A head that prefers nouns need not know which noun. Does any head find **one** word, such as the "
        "object of a verb? A count of kinds cannot show that.",
        "Radar": "How does this head stand among the heads of its layer? Each axis is one of the numbers. It runs from "
        "the lowest head of the layer, 0, to the highest, 1.",
    },
    "inter-sentence-attention": {
        "Matrix": "How much does one sentence look at another? Take a token of one sentence, and add up its weights on "
        "the tokens of the other. The mean over the tokens and over all heads is one number for the two sentences.",
        "Special tokens": "Does all attention go to sentences? Special tokens stand in none, and a model without them "
        "may rest on its first token. See how much goes there, and what changes without it.",
        "Pair or not": "Two texts can be one text for the model, or two: a **pair**. Does attention cross less when "
        "there is a border between them? The lab runs the model both ways, on the same words.",
    },
    "feed-forward": {
        "Order": "Attention has brought information to each token. The second half of a layer, the **feed-forward "
        "network**, then works on each token alone. What it makes of a token’s vector is added to this vector. Each "
        "half is called a **sublayer**.",
        "Neurons": "The network widens each token to many more numbers. Each of them is the **activation** of one "
        "**neuron**. It adds up the token’s numbers with weights of its own; most models add a bias. A function then "
        "holds back sums below 0: in BERT and GPT-2, **GELU**.",
        "Activation": "After its sum, a neuron applies a function that lets large numbers pass and holds back those "
        "below 0. In BERT and GPT-2 it is called **GELU**.",
        "One neuron": "What makes one neuron respond? Multiply the token’s numbers by the neuron’s weights and add up; "
        "most models add a bias. The better the two match, the larger the sum.",
        "Excited by": "What does a neuron respond to? Look at the tokens that excite it most, in many texts. A pattern "
        "there is a hint, not a proof.",
        "In the blank": "A large activation says that a neuron responds, not what the model makes of it. So take the "
        "neuron away: set its activation to 0 at every token, run the rest of the model again, and see what becomes of "
        "the word in the blank.",
        "Through the layers": "One token is one vector, and each layer changes it. Follow it from the input to the "
        "last layer. How far does each layer turn it? Is it still like its own word in the end?",
        "Residual": "A sublayer does not replace a token’s vector: it adds to it. So ask how long the addition is, "
        "compared with what was there.",
        "LayerNorm": "Vectors that are added to can grow. **LayerNorm** makes the mean of its numbers 0 and "
        "their variance 1. Then it multiplies each by a number γ that training sets; most models add a number β, too.",
    },
    "masked-language-model": {
        "Hide words": "How does the model know what belongs in a blank? The bars of the first page are made here. "
        "Hide a word behind [MASK]. The model gives every word of its vocabulary a **probability**: a number from 0 to "
        "1. All of them together make 1.",
        "From vector to word": "After the last layer, the place you ask about is one vector. How does it become a "
        "word? It is compared with every word of the vocabulary. Each comparison gives a number, a **logit**. "
        "The part of the model that compares is the **vocabulary head**.",
        "Softmax": "Logits can be any numbers. **Softmax** turns them into probabilities: all above 0, and together 1. "
        "How far two logits are apart decides how many times as probable one word is as the other.",
        "Without the mask": "Does it matter that the word is hidden? Leave it in plain sight, and ask about the same "
        "place again.",
        "Logit lens": "When does the word appear? The **logit lens** stops after each layer and asks the **vocabulary "
        "head** for a word. The plain lens gives it the vector as it is. The fitted lens first guesses the last vector "
        "from it.",
        "Every place": "What would the model say at every place, with nothing hidden? One figure: the five likeliest "
        "words for each token.",
        "Sampling": "The model gives probabilities. To write on, one token has to be drawn. **Top-k** and **top-p** "
        "leave out the less probable tokens first.",
    },
}


def idea(lesson: str, step: str) -> str | None:
    """What the step ``step`` of the lesson with the id ``lesson`` is about; None where the step says it itself."""
    return IDEAS.get(lesson, {}).get(step)
