"""The course: which lessons there are, in which order, and what each one promises."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from lab.course.minutes import MINUTES
from lab.course.story import STORIES, Story

COURSE_PAGE, MODELS_PAGE, GLOSSARY_PAGE = "pages/0_Course.py", "pages/20_Models.py", "pages/21_Glossary.py"
ROOM_PAGE = "pages/40_Room.py"
CHECK_STEP = "Check"  # every lesson's last step


class Toy(Enum):
    """What is made of letters: sentences for a small model’s heads, two at a time, words for a vocabulary, blanks."""

    HEADS = 1
    VOCABULARY = 2
    BLANK = 3
    PAIR = 4


@dataclass(frozen=True)
class Lesson:
    """One lesson. ``page`` is its file in ``pages/``; objectives complete "you will be able to …".

    ``toy`` says which toy may be its input, ``weights`` whether it looks at any. ``text`` is what it begins with, where
    its point needs another text than the other lessons have.
    """

    id: str
    page: str
    title: str
    icon: str
    question: str
    objectives: tuple[str, ...]
    reading: tuple[str, ...]
    toy: Toy | None = None
    weights: bool = True
    story: Story | None = None
    text: str = ""

    @property
    def minutes(self) -> int:
        """How long a careful reader needs for the steps on the way."""
        return sum(MINUTES[self.id].values())


LESSONS = (
    Lesson(
        id="tokenization",
        page="pages/1_Tokenization.py",
        title="Tokenization",
        icon=":material/content_cut:",
        question="What does the model read, if not words?",
        objectives=(
            "follow a text through normalization and pre-tokens to its pieces (WordPiece, byte-pair encoding)",
            "predict how an unknown word is split, and why",
            "say which special tokens the model adds and what they are for",
        ),
        reading=(
            "Devlin et al. 2019, BERT, §3",
            "Wu et al. 2016, Google's neural machine translation system, §4.1",
            "Sennrich et al. 2016, Neural machine translation of rare words with subword units",
            "Radford et al. 2019, Language models are unsupervised multitask learners, §2.2",
        ),
        toy=Toy.VOCABULARY,
        weights=False,
        story=STORIES["tokenization"],
    ),
    Lesson(
        id="embeddings",
        page="pages/2_Embeddings.py",
        title="Embeddings",
        icon=":material/layers:",
        question="How does an id become a vector that knows its place?",
        objectives=(
            "find words with like vectors, and say what the layers make of one word in two sentences",
            "add up one number of a token’s input vector by hand, and take it through LayerNorm *(More on this)*",
            "say what segment vectors change in the output, and by how much *(More on this)*",
            "compare learned positions with sinusoids, and say which dimensions turn fast",
            "say what rotary positions turn, and why only the distance of two tokens counts then",
            "test what a transformer knows of the order of its tokens when its positions are taken away",
        ),
        reading=(
            "Mikolov et al. 2013, Efficient estimation of word representations in vector space, §4",
            "Peters et al. 2018, Deep contextualized word representations, §5.3",
            "Vaswani et al. 2017, Attention is all you need, §3.4 and §3.5",
            "Devlin et al. 2019, BERT, §3 and figure 2",
            "Ba et al. 2016, Layer normalization, §3.1",
            "Wang and Chen 2020, What do position embeddings learn?",
            "Su et al. 2021, RoFormer: Enhanced transformer with rotary position embedding, §3.2 and §3.4",
            "Haviv et al. 2022, Transformer language models without positional encodings still learn positional "
            "information",
        ),
        toy=Toy.HEADS,
        story=STORIES["embeddings"],
    ),
    Lesson(
        id="self-attention",
        page="pages/3_Self-attention.py",
        title="Self-attention",
        icon=":material/hub:",
        question="How does a token decide which other tokens to listen to?",
        objectives=(
            "compute one attention weight by hand, from query and key to softmax",
            "read an attention map: rows attend, columns are attended to",
            "say what √d_k, the mask and the values are for, by taking them away",
        ),
        reading=(
            "Vaswani et al. 2017, Attention is all you need, §3.2",
            "Clark et al. 2019, What does BERT look at?, §3",
        ),
        toy=Toy.HEADS,
        story=STORIES["self-attention"],
    ),
    Lesson(
        id="multi-head-attention",
        page="pages/4_Multi-head_attention.py",
        title="Multi-head attention",
        icon=":material/grid_view:",
        question="Why several heads, and what becomes of them?",
        objectives=(
            "read all heads of a layer side by side and say how far two of them are apart",
            "take the attention output apart into what each head adds, and show that it adds up",
            "compute how many parameters a layer’s heads have, and what another number changes *(More on this)*",
            "switch a head off in the right place and measure what it changes",
            "find the heads that park their attention, and see whether the model misses them",
        ),
        reading=(
            "Vaswani et al. 2017, Attention is all you need, §3.2.2",
            "Michel et al. 2019, Are sixteen heads really better than one?",
            "Voita et al. 2019, Analyzing multi-head self-attention",
            "Kobayashi et al. 2020, Attention is not only a weight, §3",
            "Elhage et al. 2021, A mathematical framework for transformer circuits",
            "Clark et al. 2019, What does BERT look at?, §3 and §6",
        ),
        toy=Toy.HEADS,
        story=STORIES["multi-head-attention"],
    ),
    Lesson(
        id="attention-metrics",
        page="pages/5_Attention_metrics.py",
        title="Attention metrics",
        icon=":material/straighten:",
        question="What can one number say about a head?",
        objectives=(
            "compute six metrics of a head from its map, and the entropy of one row by hand",
            "compare a head with its layer and with a head that prefers nothing",
            "say which metrics move with the length of the text, and correct them *(More on this)*",
            "say what special tokens and a threshold do to a metric *(More on this)*",
            "set the share that a head parks beside what changes without it, and claim no more than the numbers do",
        ),
        reading=(
            "Golshanrad & Faghih 2024, From attention to assurance",
            "Clark et al. 2019, What does BERT look at?, §3.3",
            "Voita et al. 2019, Analyzing multi-head self-attention, §4",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks, §3.1",
        ),
        toy=Toy.HEADS,
        story=STORIES["attention-metrics"],
    ),
    Lesson(
        id="head-specialization",
        page="pages/6_Head_specialization.py",
        title="Head specialization",
        icon=":material/category:",
        question="Do heads have jobs, and how sure can you be?",
        objectives=(
            "measure how much of a head’s attention goes to function words, names or far tokens",
            "divide by what a head without preference would give, and say why that matters",
            "read a radar of a head, and say what a layer’s minimum and maximum do to it",
            "name a head only where its score is clearly above chance",
            "say which head finds a relation of grammar, how often, and how often a fixed distance does",
            "cluster heads over many sentences, and say how far others give the same clusters *(More on this)*",
        ),
        reading=(
            "Clark et al. 2019, What does BERT look at?, §3 and §4",
            "Vig 2019, A multiscale visualization of attention in the transformer model",
            "Kovaleva et al. 2019, Revealing the dark secrets of BERT, §4.1",
            "Voita et al. 2019, Analyzing multi-head self-attention, §5",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks, §3.1",
            "Cohen 1960, A coefficient of agreement for nominal scales",
            "Rousseeuw 1987, Silhouettes",
            "Hubert & Arabie 1985, Comparing partitions",
        ),
        toy=Toy.HEADS,
        story=STORIES["head-specialization"],
        # Of each relation that is measured the sentence has a case, and of each kind of word a few, names included.
        text="Tom bought a ticket in Paris and took the train to Rome.",
    ),
    Lesson(
        id="inter-sentence-attention",
        page="pages/7_Inter-sentence_attention.py",
        title="Inter-sentence attention",
        icon=":material/compare_arrows:",
        question="How much do sentences look at each other?",
        objectives=(
            "read a matrix of sentences, and find the tokens behind a number in it",
            "tell a mean mass from a maximum, and correct a mass for the length of a sentence",
            "say why the attention from one sentence to another differs from the attention back",
            "say what special tokens, or the first token of GPT-2, take, and what a second segment changes",
        ),
        reading=(
            "Devlin et al. 2019, BERT, §3 and figure 2",
            "Kiss & Strunk 2006, Unsupervised multilingual sentence boundary detection",
            "Clark et al. 2019, What does BERT look at?, §3.2",
            "Kovaleva et al. 2019, Revealing the dark secrets of BERT, §4.1",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks, §3.1",
        ),
        toy=Toy.PAIR,
        story=STORIES["inter-sentence-attention"],
        # Sentences that refer to each other.
        text="The little girl lost her dog in the park. She looked for it until it was dark. The dog came home before "
        "her.",
    ),
    Lesson(
        id="feed-forward",
        page="pages/8_Feed-forward_and_LayerNorm.py",
        title="Feed-forward and LayerNorm",
        icon=":material/layers:",
        question="What does a layer do after attention?",
        objectives=(
            "look for what excites a neuron and what it writes, and say how far to trust it",
            "take a neuron away, and say what becomes of the word in the blank",
            "compute one neuron by hand: dot product, bias, GELU",
            "measure how much each sublayer changes a token, and draw where LayerNorm stands",
            "normalize a vector by hand, and say what γ, β and ε are for",
        ),
        reading=(
            "Vaswani et al. 2017, Attention is all you need, §3.1 and §3.3",
            "Hendrycks & Gimpel 2016, Gaussian error linear units (GELUs)",
            "Geva et al. 2021, Transformer feed-forward layers are key-value memories",
            "He et al. 2016, Deep residual learning for image recognition",
            "Ba et al. 2016, Layer normalization",
            "Xiong et al. 2020, On layer normalization in the transformer architecture",
        ),
        toy=Toy.HEADS,
        story=STORIES["feed-forward"],
    ),
    Lesson(
        id="masked-language-model",
        page="pages/9_Masked_language_model.py",
        title="Masked-language model",
        icon=":material/visibility_off:",
        question="How does a vector become a word?",
        objectives=(
            "turn a hidden state into a probability for every word of the vocabulary",
            "explain why BERT must hide a word to be asked about it",
            "write out the softmax of one candidate",
            "add up the (pseudo-)log-likelihood of a text, and get its perplexity from it",
            "read off a prediction layer by layer, and say what the logit lens does not show",
            "say what temperature, top-k and top-p remove before a token is drawn",
            "compute the probability that one text follows another from two logits",
        ),
        reading=(
            "Devlin et al. 2019, BERT, §3.1 and appendix A.1",
            "Radford et al. 2019, Language models are unsupervised multitask learners",
            "Wang & Cho 2019, BERT has a mouth, and it must speak",
            "Salazar et al. 2020, Masked language model scoring, §2",
            "nostalgebraist 2020, Interpreting GPT: the logit lens",
            "Belrose et al. 2023, Eliciting latent predictions from transformers with the tuned lens, §3",
            "Fan et al. 2018, Hierarchical neural story generation, §5.4",
            "Holtzman et al. 2020, The curious case of neural text degeneration, §3.1",
        ),
        toy=Toy.BLANK,
        story=STORIES["masked-language-model"],
        # Its last word is the blank. One word fits well, and what a model says second may surprise.
        text="The fish swam in the water.",
    ),
)


def number(lesson: Lesson) -> int:
    """The lesson's place in the course, from 1."""
    return LESSONS.index(lesson) + 1


@cache
def script(page: str) -> str:
    """The path of a page's file, whichever file the server was started with."""
    return str(Path(__file__).resolve().parents[2] / page)


def lesson_of(page_file: str) -> Lesson:
    """The lesson whose page file has this name. Raises KeyError for a page that is none."""
    for lesson in LESSONS:
        if lesson.page.endswith(page_file):
            return lesson
    raise KeyError(f"{page_file} is not a lesson; lab/course/lessons.py lists them.")


def neighbours(lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after ``lesson``."""
    at = LESSONS.index(lesson)
    return (LESSONS[at - 1] if at else None, LESSONS[at + 1] if at + 1 < len(LESSONS) else None)
