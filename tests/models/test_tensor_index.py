"""bertscope's 45 names, the shapes its README documents, and the index of a trace."""

from __future__ import annotations

import pytest
import torch
import transformers
from torch import Tensor

import lab
from lab.models.reference import reference
from lab.models.tensor_entries import GROUPS
from lab.models.tensor_index import catalogue, expression, missing, tensor, tensor_of
from lab.models.trace import Trace, trace
from tests.checkpoints import FEED_FORWARD, HEADS, LAYERS, WIDTH, Family
from tests.models.conftest import HuggingFace, LabModel
from tests.models.reference import HEAD_WIDTH, SENTENCE, close

L, H, K, D, F = LAYERS, HEADS, HEAD_WIDTH, WIDTH, FEED_FORWARD
N, V = -1, -2  # stand for the number of tokens and the size of the vocabulary
# Every name of bertscope's README with the shape it gives, 12×12×64×768 and so on; () where it gives none.
DOCUMENTED = {
    "model": (), "tokenizer": (), "pipeline_res": (), "pipeline_attns": (), "pipeline_hiddens": (),
    "sym_sent": (), "sym_token_ids": (N,), "sym_tokens": (), "sym_seq_len": (),
    "preemb_vocab": (V, D), "preemb_word_emb": (N, D), "preemb_pos_emb": (N, D), "preemb_seg_emb": (N, D),
    "preemb_sum_emb": (N, D), "preemb_norm_sum_emb": (N, D),
    "selfattn_query_weight": (L, H, K, D), "selfattn_key_weight": (L, H, K, D), "selfattn_value_weight": (L, H, K, D),
    "selfattn_query_bias": (L, H, K), "selfattn_key_bias": (L, H, K), "selfattn_value_bias": (L, H, K),
    "selfattn_query_hidden": (L, H, N, K), "selfattn_key_hidden": (L, H, N, K), "selfattn_value_hidden": (L, H, N, K),
    "selfattn_qkt_hidden": (L, H, N, N), "selfattn_qkt_scale_hidden": (L, H, N, N),
    "selfattn_qkt_scale_soft_hidden": (L, H, N, N), "selfattn_attention": (L, H, N, N),
    "selfattn_contvec": (L, H, N, K), "selfattn_contvec_concat": (L, N, D),
    "addnorm1_dense_weight": (L, D, D), "addnorm1_dense_bias": (L, D), "addnorm1_dense_hidden": (L, N, D),
    "addnorm1_add_hidden": (L, N, D), "addnorm1_norm_hidden": (L, N, D),
    "ffnn_dense_weight": (L, D, F), "ffnn_dense_bias": (L, F), "ffnn_dense_hidden": (L, N, F),
    "ffnn_dense_act": (L, N, F),
    "addnorm2_dense_weight": (L, F, D), "addnorm2_dense_bias": (L, D), "addnorm2_dense_hidden": (L, N, D),
    "addnorm2_add_hidden": (L, N, D), "addnorm2_norm_hidden": (L, N, D), "manual_hiddens": (L + 1, N, D),
}  # fmt: skip


@pytest.fixture
def bert_trace(lab_model: LabModel) -> Trace:
    return trace(lab_model("bert"), SENTENCE)


def _tensor(value: object) -> Tensor:
    assert isinstance(value, Tensor)
    return value


def test_the_list_is_complete() -> None:
    assert len(DOCUMENTED) == 45


@pytest.mark.parametrize(("name", "shape"), [entry for entry in DOCUMENTED.items() if entry[1]])
def test_a_documented_shape_is_kept(bert_trace: Trace, name: str, shape: tuple[int, ...]) -> None:
    sizes = {N: len(bert_trace), V: bert_trace.model.tokenizer.get_vocab_size()}
    assert tuple(_tensor(tensor(bert_trace, name)).shape) == tuple(sizes.get(size, size) for size in shape)


def test_symbols_and_the_pipeline(bert_trace: Trace, hugging_face: HuggingFace) -> None:
    theirs = hugging_face("bert")
    encoded, outputs = theirs.tokenize(SENTENCE)["input_ids"], theirs.run(SENTENCE)

    assert tensor(bert_trace, "sym_sent") == SENTENCE
    assert _tensor(tensor(bert_trace, "sym_token_ids")).tolist() == encoded
    assert tensor(bert_trace, "sym_tokens") == theirs.tokenize.convert_ids_to_tokens(encoded)  # type: ignore[attr-defined]
    assert tensor(bert_trace, "sym_seq_len") == len(encoded)
    assert isinstance(tensor(bert_trace, "model"), transformers.BertModel)
    assert tensor(bert_trace, "tokenizer").encode(SENTENCE).ids == encoded  # type: ignore[attr-defined]
    for name, theirs_of in (("pipeline_attns", outputs.attentions), ("pipeline_hiddens", outputs.hidden_states)):
        ours = tensor(bert_trace, name)
        assert isinstance(ours, tuple) and len(ours) == len(theirs_of)
        for mine, their in zip(ours, theirs_of, strict=True):
            close(mine, their, 1e-6)
    assert tensor(bert_trace, "pipeline_res").attentions[0].shape == outputs.attentions[0].shape  # type: ignore[attr-defined]


def test_weights_are_theirs(bert_trace: Trace, hugging_face: HuggingFace) -> None:
    module = hugging_face("bert").base
    state = {name: tensor.detach() for name, tensor in module.state_dict().items()}

    def stacked(name: str) -> Tensor:
        return torch.stack([state[f"encoder.layer.{layer}.{name}"] for layer in range(L)])

    assert torch.equal(_tensor(tensor(bert_trace, "preemb_vocab")), state["embeddings.word_embeddings.weight"])
    for part in ("query", "key", "value"):
        # bertscope: every d_k rows of torch's matrix are a head.
        rows = stacked(f"attention.self.{part}.weight").view(L, H, K, D)
        assert torch.equal(_tensor(tensor(bert_trace, f"selfattn_{part}_weight")), rows)
        biases = stacked(f"attention.self.{part}.bias").view(L, H, K)
        assert torch.equal(_tensor(tensor(bert_trace, f"selfattn_{part}_bias")), biases)
    for group, name in (
        ("addnorm1", "attention.output.dense"),
        ("ffnn", "intermediate.dense"),
        ("addnorm2", "output.dense"),
    ):
        # bertscope transposes these three, so that hidden = before @ weight + bias.
        assert torch.equal(_tensor(tensor(bert_trace, f"{group}_dense_weight")), stacked(f"{name}.weight").mT)
        assert torch.equal(_tensor(tensor(bert_trace, f"{group}_dense_bias")), stacked(f"{name}.bias"))


def test_values_are_theirs(bert_trace: Trace, hugging_face: HuggingFace) -> None:
    outputs = hugging_face("bert").run(SENTENCE)
    close(_tensor(tensor(bert_trace, "selfattn_attention")), torch.stack(outputs.attentions))
    close(_tensor(tensor(bert_trace, "selfattn_qkt_scale_soft_hidden")), torch.stack(outputs.attentions))
    close(_tensor(tensor(bert_trace, "manual_hiddens")), torch.stack(outputs.hidden_states))
    close(_tensor(tensor(bert_trace, "addnorm2_norm_hidden")), torch.stack(outputs.hidden_states[1:]))
    close(_tensor(tensor(bert_trace, "preemb_norm_sum_emb")), outputs.hidden_states[0])


def test_stacked_steps_follow_bertscopes_own_recipe(bert_trace: Trace) -> None:
    t = {name: _tensor(tensor(bert_trace, name)) for name, shape in DOCUMENTED.items() if shape}
    before = t["manual_hiddens"][:-1, None]  # (L, 1, n, d), for all heads
    for part in ("query", "key", "value"):
        rows, bias = t[f"selfattn_{part}_weight"], t[f"selfattn_{part}_bias"]
        close(t[f"selfattn_{part}_hidden"], before @ rows.mT + bias[:, :, None], 1e-5)
    close(t["selfattn_qkt_scale_hidden"], t["selfattn_qkt_hidden"] / K**0.5, 1e-5)
    close(t["selfattn_contvec"], t["selfattn_attention"] @ t["selfattn_value_hidden"], 1e-5)
    steps = (("addnorm1", "selfattn_contvec_concat"), ("ffnn", "addnorm1_norm_hidden"), ("addnorm2", "ffnn_dense_act"))
    for group, source in steps:
        made = t[source] @ t[f"{group}_dense_weight"] + t[f"{group}_dense_bias"][:, None]
        close(t[f"{group}_dense_hidden"], made, 1e-5)
    close(t["addnorm1_add_hidden"], t["addnorm1_dense_hidden"] + t["manual_hiddens"][:-1], 1e-5)
    close(t["addnorm2_add_hidden"], t["addnorm2_dense_hidden"] + t["addnorm1_norm_hidden"], 1e-5)
    close(t["preemb_sum_emb"], t["preemb_word_emb"] + t["preemb_pos_emb"] + t["preemb_seg_emb"], 1e-6)


def test_an_unknown_name_is_answered_with_the_list(bert_trace: Trace) -> None:
    with pytest.raises(KeyError) as caught:
        _ = tensor(bert_trace, "selfattn_atention")
    message = str(caught.value)
    assert "'selfattn_atention' is not a bertscope name" in message
    assert all(name in message for name in DOCUMENTED)


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("distilbert", {"preemb_seg_emb"}),
        ("roberta", set()),
        ("electra", set()),
        ("bert-headless", set()),
        ("gpt2", {"preemb_seg_emb", "preemb_norm_sum_emb", "addnorm1_norm_hidden"}),
        (
            "modernbert",
            {
                "preemb_pos_emb",
                "preemb_seg_emb",
                "addnorm1_norm_hidden",
                "selfattn_query_bias",
                "selfattn_key_bias",
                "selfattn_value_bias",
                "addnorm1_dense_bias",
                "ffnn_dense_bias",
                "addnorm2_dense_bias",
            },
        ),
    ],
)
def test_a_family_says_which_steps_it_lacks(lab_model: LabModel, family: Family, names: set[str]) -> None:
    run = trace(lab_model(family), SENTENCE)
    for name in DOCUMENTED:
        if name in names:
            with pytest.raises(KeyError, match=rf"{run.model.id} is a {family} model and has no"):
                _ = tensor(run, name)
        else:
            assert tensor(run, name) is not None


def test_the_catalogue_lists_every_tensor_with_its_shape(lab_model: LabModel, family: Family) -> None:
    run = trace(lab_model(family), SENTENCE, "A cat.")
    for entry in catalogue(run):
        tensor = tensor_of(run, entry.name, L - 1)
        assert entry.shape == tuple(tensor.shape), entry.name
        assert entry.formula and entry.source and entry.group in GROUPS and entry.place
        assert len(entry.axes) == len(entry.shape)
        # The expression is what the page tells the learner to type.
        typed = eval(expression(entry.name, L - 1), {"trace": run, "lab": lab})
        assert torch.equal(typed, tensor) and typed.dtype == tensor.dtype
    names = [entry.name for entry in catalogue(run)]
    assert len(set(names)) == len(names)
    pre_norm = family in ("gpt2", "modernbert")
    assert ("layer.input_norm" in names) == ("layer.ffn_input_norm" in names) == pre_norm
    assert ("layer.attention_norm" in names) == (not pre_norm)
    assert ("embeddings.segment" in names) == (family not in ("gpt2", "distilbert", "modernbert"))
    assert ("embeddings.position" in names) == (family != "modernbert")
    assert ("model.weights.final_norm.gamma" in names) == pre_norm
    assert ("layer.ffn_gate" in names) == ("layer.weights.w_gate" in names) == (family == "modernbert")
    assert ("layer.weights.b_q" in names) == ("layer.weights.norm_2.beta" in names) == (family != "modernbert")
    assert ("pair_logits" in names) == (family == "bert")
    assert ("logits" in names) == (family not in ("electra", "bert-headless"))
    assert ("replaced_logits" in names) == ("model.weights.embeddings.project[0]" in names) == (family == "electra")


def test_an_alias_answers_with_the_stack_of_the_listed_tensor(lab_model: LabModel, family: Family) -> None:
    run = trace(lab_model(family), SENTENCE)
    for entry in catalogue(run):
        if entry.alias is None:
            continue
        whole = _tensor(tensor(run, entry.alias))
        own = tensor_of(run, entry.name, L - 1)
        theirs = whole[L - 1] if entry.of_layer else whole
        if entry.weight and "head columns" in entry.axes:
            # bertscope keeps torch's rows of each head; here heads stand side by side, as x @ w wants them.
            theirs = theirs.flatten(0, 1).T if own.ndim == 2 else theirs.flatten()
        assert torch.equal(theirs, own), entry.name


def test_every_parameter_of_the_checkpoint_is_listed(lab_model: LabModel, family: Family) -> None:
    run = trace(lab_model(family), SENTENCE)
    listed = [tensor_of(run, entry.name, layer).numel() for entry in catalogue(run) if entry.weight
              for layer in range(L if entry.of_layer else 1) if not missing(run, entry, layer)]  # fmt: skip
    parameters = dict(reference(run.model).named_parameters())
    unread = sum(p.numel() for name, p in parameters.items() if "pooler" in name and family in ("bert-headless",))
    tied = [e.name for e in catalogue(run) if e.name.endswith("vocabulary_head.decoder")]
    total = sum(p.numel() for p in parameters.values()) - unread
    assert sum(listed) == total + sum(run.model.weights.embeddings.token.numel() for _ in tied)


def test_a_name_that_is_not_in_the_catalogue(lab_model: LabModel) -> None:
    run = trace(lab_model("gpt2"), SENTENCE)
    for name in ("layer.attention_norm", "pair_logits", "model.id", "nonsense"):
        with pytest.raises(KeyError, match=r"gpt2-0 has no tensor .*lab\.catalogue\(trace\) lists"):
            tensor_of(run, name)
