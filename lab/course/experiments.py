"""The experiments: published claims, tested on the model on screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Experiment:
    """One experiment. ``page`` is its file in ``pages/``.

    Attributes
    ----------
    question
        What the title asks more shortly.
    claim, whose
        The claim in two sentences, and the paper that makes it.
    against
        What would count against it, in a sentence.
    not_shown
        What the result does not show, whatever it is.
    after
        The ids of the lessons that one comes from.
    """

    id: str
    page: str
    title: str
    icon: str
    question: str
    claim: str
    whose: str
    against: str
    not_shown: tuple[str, ...]
    reading: tuple[str, ...]
    after: tuple[str, ...]


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        id="grammar",
        page="pages/30_Grammar.py",
        title="Grammar",
        icon=":material/account_tree:",
        question="Do heads know grammar?",
        claim="Single heads of BERT find single relations of grammar. From a word, such a head looks most at the word "
        "that it belongs to, far more often than a rule can that only knows how far apart the two usually stand.",
        whose="Clark et al. 2019, What does BERT look at?, §4.2 and table 1",
        against="A head that is no better than the best fixed distance on sentences it was not chosen on, or no better "
        "than the best head of the same model before training.",
        not_shown=(
            "That the model uses what the head finds. A head may look at the verb, and nothing may come of it: take "
            "the head away to find out.",
            "That the head knows grammar as grammar. A head that follows meaning, or frequent pairs of words, can name "
            "the same words.",
            "That no other head knows more. Knowledge may be spread over several heads, or stand in the vectors.",
            "How well the paper’s own model does here. Its treebank is newspaper text by other rules; so compare the "
            "lift, and only roughly.",
        ),
        reading=(
            "Clark et al. 2019, What does BERT look at? An analysis of BERT’s attention",
            "Voita et al. 2019, Analyzing multi-head self-attention, §5 (syntactic heads)",
            "Htut et al. 2019, Do attention heads in BERT track syntactic dependencies?",
            "Silveira et al. 2014, A gold standard dependency corpus for English (the treebank)",
            "Wilson 1927, Probable inference, the law of succession, and statistical inference",
            "Holm 1979, A simple sequentially rejective multiple test procedure",
        ),
        after=("head-specialization",),
    ),
    Experiment(
        id="needed-heads",
        page="pages/32_Needed_heads.py",
        title="Needed heads",
        icon=":material/content_cut:",
        question="Which heads does it need?",
        claim="A trained transformer needs few of its heads. Most can be taken away one at a time without a clear "
        "loss, some do better away, and many can go together.",
        whose="Michel et al. 2019, Are sixteen heads really better than one?, §3 and §4; Voita et al. 2019 for pruning "
        "with training",
        against="Half of the heads or more, each of which costs accuracy when it alone is away; or a fifth of them "
        "that cannot go together, though they were chosen as the least important.",
        not_shown=(
            "What a head does. That something is lost without it does not say by which way it helps.",
            "All that a head does. Later layers may repair what is missing, so an effect is a lower bound; a mean over "
            "templates hides a head that helps one and hurts another; and other sentences may need other heads.",
            "That a head that writes 0 is the model without the head. It is something that the later layers never met: "
            "that is why four other ways stand beside it.",
            "What training after pruning would mend. No weight is changed here; Voita et al. train on.",
            "That the model knows grammar. Templates are few and plain; a model can prefer a form because the two "
            "words are often neighbours.",
        ),
        reading=(
            "Michel, Levy and Neubig 2019, Are sixteen heads really better than one?",
            "Voita et al. 2019, Analyzing multi-head self-attention: specialized heads do the heavy lifting",
            "Goldberg 2019, Assessing BERT’s syntactic abilities",
            "Warstadt et al. 2020, BLiMP: the benchmark of linguistic minimal pairs for English",
            "Zhang and Nanda 2024, Towards best practices of activation patching, §4 (logit difference)",
            "Holm 1979, A simple sequentially rejective multiple test procedure",
        ),
        after=("multi-head-attention",),
    ),
    Experiment(
        id="explanation",
        page="pages/33_Explanation.py",
        title="Explanation",
        icon=":material/troubleshoot:",
        question="Is attention an explanation?",
        claim="What a token is worth to a prediction shows when it is blanked. Attention agrees with that only weakly, "
        "less than gradients do; rolled out over the layers it agrees more, most of all in the upper layers.",
        whose="Jain & Wallace 2019; Abnar & Zuidema 2020; Wiegreffe & Pinter 2019 object that this does not make "
        "attention useless",
        against="Attention of the last layer that agrees with leave-one-out as much as gradients do. Or rollout that "
        "does so no better than raw attention in the upper half of the layers.",
        not_shown=(
            "That leave-one-out is the truth. It blanks one token at a time: where two say the same, each alone looks "
            "worthless. And a text with a blank is another text.",
            "That attention has no use. Here it is the mean over the heads of a layer; a single head may follow what "
            "matters.",
            "That another word, or another model, would give the same order. What is explained is the word that this "
            "model finds likeliest.",
            "Whether people find an order convincing. Your own is scored by what the model does, not by what the text "
            "means.",
            "What the path of integrated gradients crosses. Between a blank and a word lie vectors that are neither.",
        ),
        reading=(
            "Jain & Wallace 2019, Attention is not explanation",
            "Wiegreffe & Pinter 2019, Attention is not not explanation",
            "Abnar & Zuidema 2020, Quantifying attention flow in transformers",
            "Kobayashi et al. 2020, Attention is not only a weight: analyzing transformers with vector norms",
            "Sundararajan et al. 2017, Axiomatic attribution for deep networks (integrated gradients)",
            "Neely et al. 2022, A song of (dis)agreement: evaluating the evaluation of explainable AI",
        ),
        after=("multi-head-attention", "masked-language-model"),
    ),
    Experiment(
        id="patching",
        page="pages/34_Patching.py",
        title="Patching",
        icon=":material/move_location:",
        question="Where is it kept?",
        claim="The number that decides between two words is kept at the subject’s token in early layers, and at the "
        "asked token before the last layer. Attention brings it there; at the subject the feed-forward networks work "
        "on it.",
        whose="Meng et al. 2022, Locating and editing factual associations in GPT, §2, on facts",
        against="The subject’s vector recovers no more than the asked token’s in early layers. Or the asked token’s "
        "recovers more only after the last layer. Or, up to the layer in which the two cross, feed-forward networks at "
        "the asked token recover as much as attention.",
        not_shown=(
            "Where facts are kept. The paper’s prompts ask GPT for facts, with noise as the corrupt run; here the "
            "number of a noun decides, with another sentence as the corrupt run.",
            "That a part alone does it. What a patch brings back may be read from it by parts further up, and the same "
            "may be kept in several places at once: then each suffices, and none is needed.",
            "The way it took. Only attention moves something from token to token. So a feed-forward network that "
            "recovers the answer, too, works on something that attention brought before. A patch shows that something "
            "passes, not where it came from.",
            "The untouched run. A patch puts a vector of one run among the vectors of another: a mix that perhaps no "
            "text makes.",
            "Another measure. Differences of logits count what speaks against the good word, too; probabilities can "
            "look different.",
        ),
        reading=(
            "Meng et al. 2022, Locating and editing factual associations in GPT",
            "Heimersheim and Nanda 2024, How to use and interpret activation patching",
            "Zhang and Nanda 2024, Towards best practices of activation patching in language models",
            "Nanda 2023, Attribution patching: activation patching at industrial scale",
            "Syed et al. 2023, Attribution patching outperforms automated circuit discovery",
            "Elhage et al. 2021, A mathematical framework for transformer circuits (what parts add to a logit)",
            "Holm 1979, A simple sequentially rejective multiple test procedure",
        ),
        after=("masked-language-model",),
    ),
    Experiment(
        id="copying",
        page="pages/31_Copying.py",
        title="Copying",
        icon=":material/content_copy:",
        question="How does copying work?",
        claim="Induction heads look for what came after the current token last time, and make it likelier as the next "
        "one. Such a head needs another, in an earlier layer, that tells each token which one came before it.",
        whose="Olsson et al. 2022, In-context learning and induction heads",
        against="Taking the best induction head away, or the earlier head that it depends on most, raises the loss of "
        "repeated tokens no more than taking random heads away.",
        not_shown=(
            "That these heads copy alone. Others may do the same, and a random head may be one of them: look at its "
            "induction score in the table.",
            "That the model continues real texts so. Random tokens have neither grammar nor meaning, so only copying "
            "helps.",
            "That the whole rise is lost copying. A head that writes 0 is something that the later layers never met in "
            "training; so the head writes its mean, too, and the lower of the two rises counts.",
            "How the second head’s help reaches the first. That takes comparing their queries and keys, not taking "
            "heads away.",
            "What the paper says of training: that such heads arise at once, and that in large models most of learning "
            "from context is theirs.",
        ),
        reading=(
            "Olsson et al. 2022, In-context learning and induction heads",
            "Elhage et al. 2021, A mathematical framework for transformer circuits (induction heads)",
            "Efron 1979, Bootstrap methods: another look at the jackknife",
            "Holm 1979, A simple sequentially rejective multiple test procedure",
        ),
        after=("masked-language-model", "multi-head-attention"),
    ),
)


def experiment_of(page_file: str) -> Experiment:
    """The experiment whose page file has this name. Raises KeyError for a page that is none."""
    for experiment in EXPERIMENTS:
        if experiment.page.endswith(page_file):
            return experiment
    raise KeyError(f"{page_file} is no experiment; lab/course/experiments.py lists them.")


# What a reader must know of an embedded model before its result in an experiment: how its training bears on it.
_READ = (
    "The model has read some of these sentences, but never their grammar: 17 documents of its training texts have a "
    "sentence of eight words or more in common with EWT or GUM."
)
_DISCLOSED = {
    ("grammar", "lab-bert"): _READ,
    ("grammar", "lab-gpt2"): _READ,
    ("grammar", "lab-minilm"): (
        "lab-minilm never learned from this grammar. But four recipes of its training were compared by their held-out "
        "loss and by the grammar of their heads on EWT, and its first four layers were held to the attention of the "
        "encoder that it comes from. So EWT flatters it. GUM does not: nothing was chosen on it. "
        f"{_READ}"
    ),
    ("copying", "lab-gpt2"): (
        "4 % of the windows that lab-gpt2 was trained on say their first part again and again. They were made so, for "
        "this small model to learn to copy."
    ),
}


def disclosed(experiment: str, model_id: str) -> str:
    """How the training of a model bears on its result in an experiment, in plain text; "" where it does not."""
    return _DISCLOSED.get((experiment, model_id), "")
