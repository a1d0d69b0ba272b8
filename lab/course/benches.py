"""The benches: where a learner looks around and a researcher takes the numbers, without a course."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bench:
    """One bench. ``page`` is its file in ``pages/``.

    ``after`` are the ids of the lessons that it goes on from. ``toy`` says whether sentences of letters may be its
    input, ``weights`` whether random weights may.
    """

    page: str
    title: str
    icon: str
    question: str
    reading: tuple[str, ...]
    after: tuple[str, ...]
    toy: bool = True
    weights: bool = True


BENCHES: tuple[Bench, ...] = (
    Bench(
        page="pages/10_Head_view.py",
        title="Head view",
        icon=":material/polyline:",
        question="Which token attends to which, in every head of a layer?",
        reading=(
            "Vig 2019, A multiscale visualization of attention in the transformer model",
            "Clark et al. 2019, What does BERT look at? (§4.1: from tokens to words)",
            "Hoover et al. 2020, exBERT (the strongest edges that cover a share of a row)",
        ),
        after=("multi-head-attention",),
    ),
    Bench(
        page="pages/11_Model_view.py",
        title="Model view",
        icon=":material/grid_view:",
        question="What does every head of the model do with this text, at a glance?",
        reading=(
            "Vig 2019, A multiscale visualization of attention in the transformer model",
            "Golshanrad & Faghih 2024, From attention to assurance (the six metrics)",
            "Clark et al. 2019, What does BERT look at?, §3 (patterns)",
            "Kovaleva et al. 2019, Revealing the dark secrets of BERT, §4.1 (patterns)",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks",
        ),
        after=("attention-metrics", "head-specialization"),
    ),
    Bench(
        page="pages/12_Neuron_view.py",
        title="Neuron view",
        icon=":material/blur_linear:",
        question="Which dimensions of query and key make a head attend where it does?",
        reading=(
            "Vig 2019, Deconstructing BERT, part 2: visualizing the inner workings of attention",
            "Vig 2019, A multiscale visualization of attention in the transformer model, §3.3",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks",
            "Kobayashi et al. 2020, Attention is not only a weight: analyzing transformers with vector norms",
        ),
        after=("self-attention",),
    ),
    Bench(
        page="pages/13_Flow.py",
        title="Flow",
        icon=":material/account_tree:",
        question="Through which tokens does attention lead, layer after layer?",
        reading=(
            "Abnar & Zuidema 2020, Quantifying attention flow in transformers",
            "Kobayashi et al. 2020, Attention is not only a weight: analyzing transformers with vector norms",
            "Brunner et al. 2020, On identifiability in transformers",
        ),
        after=("multi-head-attention", "inter-sentence-attention"),
    ),
    Bench(
        page="pages/14_Tensors.py",
        title="Tensors",
        icon=":material/data_array:",
        question="Which number stands where, and how do you get it in Python?",
        reading=(
            "Vaswani et al. 2017, Attention is all you need, §3",
            "Devlin et al. 2019, BERT: Pre-training of deep bidirectional transformers, §3",
            "Clark et al. 2019, What does BERT look at?, §4.1 (attention between words)",
            "Xiao et al. 2024, Efficient streaming language models with attention sinks",
        ),
        after=("embeddings", "feed-forward"),
    ),
    Bench(
        page="pages/15_Compare.py",
        title="Compare",
        icon=":material/compare:",
        question="What changes between two texts, two models, or with an intervention?",
        reading=(
            "Michel et al. 2019, Are sixteen heads really better than one?",
            "Zhang & Bowman 2018, Language modeling teaches you more than translation does (random controls)",
            "Kovaleva et al. 2019, Revealing the dark secrets of BERT, §4.3 (what training changes)",
        ),
        after=("inter-sentence-attention", "masked-language-model"),
        weights=False,
    ),
)


def bench_of(page_file: str) -> Bench:
    """The bench whose page file has this name. Raises KeyError for a page that is none."""
    for bench in BENCHES:
        if bench.page.endswith(page_file):
            return bench
    raise KeyError(f"{page_file} is not a bench; lab/course/benches.py lists them.")
