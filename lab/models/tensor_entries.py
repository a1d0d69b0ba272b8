"""The entries of a trace's index: each tensor's other names, axes, formula, paper, and place in the figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TensorEntry:
    """One tensor of a trace. ``shape`` is its shape in this trace; a tensor of all layers has one entry, for one layer.

    ``name`` is the tensor's Python path from a trace, in which ``layer`` means ``trace.layer(i)``; ``alias`` is
    bertscope's name. ``axes`` names the dimensions of ``shape``. ``place`` is the block of the paper's figure to which
    the tensor belongs as a result or parameter. ``words`` are the tensor's names in checkpoints and other tools.
    """

    name: str
    alias: str | None
    group: str
    shape: tuple[int, ...]
    formula: str
    source: str
    axes: tuple[str, ...]
    place: str
    words: str

    @property
    def weight(self) -> bool:
        """True if the tensor was read from the checkpoint, not computed from the text."""
        return ".weights." in self.name

    @property
    def of_layer(self) -> bool:
        """True if each layer has such a tensor."""
        return self.name.startswith("layer.")


@dataclass(frozen=True)
class Described:
    """A tensor's entry without the shape, which depends on the trace."""

    name: str
    alias: str | None
    group: str
    formula: str
    source: str
    axes: tuple[str, ...]
    place: str
    words: str = ""

    def of_shape(self, shape: tuple[int, ...]) -> TensorEntry:
        """Return the entry for a trace in which the tensor has ``shape``."""
        return TensorEntry(
            self.name, self.alias, self.group, shape, self.formula, self.source, self.axes, self.place, self.words
        )


INPUT, EMBEDDINGS, ATTENTION, ADD_1 = "Input", "Embeddings", "Self-attention", "Add & norm 1"
FEED_FORWARD, ADD_2, STREAM, OUTPUT = "Feed-forward", "Add & norm 2", "Residual stream", "Output"
GROUPS = (INPUT, EMBEDDINGS, ATTENTION, ADD_1, FEED_FORWARD, ADD_2, STREAM, OUTPUT)

_V17, _D19, _R19 = "Vaswani et al. 2017, ", "Devlin et al. 2019, ", "Radford et al. 2019, "
_S20 = "Shazeer 2020, §2"
_BA16 = "Ba et al. 2016, eq. 4"
_STATE, _SQUARE = ("token", "dimension"), ("head", "query", "key")
_PROJECTED = ("head", "token", "head dimension")
_TABLE_WORDS = "nn.Embedding checkpoint"

_EMBEDDINGS = (
    Described("token_ids", "sym_token_ids", INPUT, "the tokenizer's id of each token", _D19 + "§3", ("token",), "token",
              "input_ids tokenizer sym_sent sym_tokens sym_seq_len"),
    Described("embeddings.token", "preemb_word_emb", EMBEDDINGS, "E_token[id]", _D19 + "fig. 2",
              ("token", "embedding"), "token", "word_embeddings inputs_embeds wte"),
    Described("embeddings.position", "preemb_pos_emb", EMBEDDINGS, "E_position[i]", _D19 + "fig. 2",
              ("token", "embedding"), "position", "position_embeddings wpe"),
    Described("embeddings.segment", "preemb_seg_emb", EMBEDDINGS, "E_segment[0 or 1]", _D19 + "fig. 2",
              ("token", "embedding"), "segment", "token_type_embeddings"),
    Described("embeddings.sum", "preemb_sum_emb", EMBEDDINGS, "token + position + segment", _D19 + "fig. 2",
              ("token", "embedding"), "sum", "embeddings add"),
    Described("embeddings.norm", "preemb_norm_sum_emb", EMBEDDINGS, "LayerNorm(sum)", "Ba et al. 2016",
              ("token", "embedding"), "embedding_norm", "embeddings.LayerNorm"),
    Described("embeddings.output", None, EMBEDDINGS, "what the first layer reads", _D19 + "fig. 2",
              _STATE, "embedded", "embedding_output embeddings_project"),
    Described("model.weights.embeddings.token", "preemb_vocab", EMBEDDINGS, "E_token", _V17 + "§3.4",
              ("word", "embedding"), "token", f"word_embeddings.weight wte.weight vocabulary {_TABLE_WORDS}"),
    Described("model.weights.embeddings.position", None, EMBEDDINGS, "E_position", _D19 + "fig. 2",
              ("position", "embedding"), "position", f"position_embeddings.weight wpe.weight {_TABLE_WORDS}"),
    Described("model.weights.embeddings.segment", None, EMBEDDINGS, "E_segment", _D19 + "fig. 2",
              ("segment", "embedding"), "segment", f"token_type_embeddings.weight {_TABLE_WORDS}"),
    Described("model.weights.embeddings.norm.gamma", None, EMBEDDINGS, "γ of LayerNorm(sum)", _BA16, ("embedding",),
              "embedding_norm", "embeddings.LayerNorm.weight gain scale"),
    Described("model.weights.embeddings.norm.beta", None, EMBEDDINGS, "β of LayerNorm(sum)", _BA16, ("embedding",),
              "embedding_norm", "embeddings.LayerNorm.bias shift"),
    Described("model.weights.embeddings.project[0]", None, EMBEDDINGS, "W_E: embedding width to d",
              "Clark et al. 2020, §3.1", ("embedding", "dimension"), "project", "embeddings_project.weight"),
    Described("model.weights.embeddings.project[1]", None, EMBEDDINGS, "b_E", "Clark et al. 2020, §3.1",
              ("dimension",), "project", "embeddings_project.bias"),
)  # fmt: skip


def _projection(part: str, letter: str, packed: int) -> tuple[Described, ...]:
    """Return the entries of query, key or value: result, matrix and bias."""
    words = f"attention.self.{part} {letter}_proj {letter}_lin c_attn[{packed}] Wqkv[{packed}]"
    formula, at = f"W_{letter.upper()}", f"layer.weights.{{}}_{letter}"
    return (
        Described(f"layer.{part}", f"selfattn_{part}_hidden", ATTENTION, f"x·{formula} + b_{letter.upper()}",
                  _V17 + "§3.2.2", _PROJECTED, part, f"{words} {part}_layer {part}_states"),
        Described(at.format("w"), f"selfattn_{part}_weight", ATTENTION, f"{formula}, all heads side by side",
                  _V17 + "§3.2.2", ("dimension", "head columns"), part, f"{words} {part}.weight"),
        Described(at.format("b"), f"selfattn_{part}_bias", ATTENTION, f"b_{letter.upper()}, all heads side by side",
                  _V17 + "§3.2.2", ("head columns",), part, f"{words} {part}.bias"),
    )  # fmt: skip


def _norm(number: int, group: str, words: str) -> tuple[Described, ...]:
    """Return the entries of γ and β of one of a layer's two LayerNorms."""
    return tuple(
        Described(
            f"layer.weights.norm_{number}.{name}",
            None,
            group,
            f"{sign} of LayerNorm {number}",
            _BA16,
            ("dimension",),
            f"norm_{number}",
            f"{words} LayerNorm.{torch_name} ln_{number}.{torch_name} {other}",
        )
        for name, sign, torch_name, other in (("gamma", "γ", "weight", "gain scale"), ("beta", "β", "bias", "shift"))
    )


_LAYER = (
    Described("layer.input", None, STREAM, "what the layer reads", _V17 + "fig. 1", _STATE, "input", "hidden_states"),
    Described("layer.input_norm", None, ATTENTION, "LayerNorm(x)", _R19 + "§2.3", _STATE, "norm_1", "ln_1"),
    *_projection("query", "q", 0),
    *_projection("key", "k", 1),
    *_projection("value", "v", 2),
    Described("layer.scores", "selfattn_qkt_hidden", ATTENTION, "QKᵀ", _V17 + "eq. 1", _SQUARE, "scores",
              "attention_scores logits dot product qk"),
    Described("layer.scaled_scores", "selfattn_qkt_scale_hidden", ATTENTION, "QKᵀ/√d_k", _V17 + "eq. 1", _SQUARE,
              "scale", "attention_scores scaling attention_mask"),
    Described("layer.attention", "selfattn_attention", ATTENTION, "softmax(QKᵀ/√d_k)", _V17 + "eq. 1", _SQUARE,
              "softmax", "attention_probs attentions attn_weights selfattn_qkt_scale_soft_hidden pipeline_attns"),
    Described("layer.context", "selfattn_contvec", ATTENTION, "attention·V", _V17 + "eq. 1", _PROJECTED, "mix",
              "context_layer attn_output z"),
    Described("layer.context_concat", "selfattn_contvec_concat", ATTENTION, "heads side by side", _V17 + "§3.2.2",
              ("token", "head columns"), "concat", "context_layer attn_output concatenated"),
    Described("layer.head_contribution", None, ATTENTION, "‖α·(x·W_V + b_V)·W_O‖", "Kobayashi et al. 2020, §3",
              _SQUARE, "projection", "norm-based analysis"),
    Described("layer.attention_output", "addnorm1_dense_hidden", ADD_1, "concat·W_O + b_O", _V17 + "§3.2.2", _STATE,
              "projection", "attention.output.dense out_proj out_lin c_proj"),
    Described("layer.weights.w_o", "addnorm1_dense_weight", ADD_1, "W_O, heads one below the other", _V17 + "§3.2.2",
              ("head rows", "dimension"), "projection", "attention.output.dense.weight out_proj out_lin c_proj.weight"),
    Described("layer.weights.b_o", "addnorm1_dense_bias", ADD_1, "b_O", _V17 + "§3.2.2", ("dimension",), "projection",
              "attention.output.dense.bias c_proj.bias"),
    Described("layer.attention_residual", "addnorm1_add_hidden", ADD_1, "x + attention output", _V17 + "§3.1", _STATE,
              "add_1", "residual skip connection resid_mid"),
    Described("layer.attention_norm", "addnorm1_norm_hidden", ADD_1, "LayerNorm(residual)", _V17 + "§3.1", _STATE,
              "norm_1", "attention.output.LayerNorm sa_layer_norm"),
    *_norm(1, ADD_1, "attention.output sa_layer_norm"),
    Described("layer.ffn_input_norm", None, FEED_FORWARD, "LayerNorm(residual)", _R19 + "§2.3", _STATE, "norm_2",
              "ln_2"),
    Described("layer.ffn_hidden", "ffnn_dense_hidden", FEED_FORWARD, "x·W_1 + b_1", _V17 + "eq. 2",
              ("token", "neuron"), "ffn_in", "intermediate.dense mlp c_fc fc1 lin1 Wi[0]"),
    Described("layer.weights.w_1", "ffnn_dense_weight", FEED_FORWARD, "W_1", _V17 + "eq. 2", ("dimension", "neuron"),
              "ffn_in", "intermediate.dense.weight mlp c_fc.weight fc1 lin1"),
    Described("layer.weights.b_1", "ffnn_dense_bias", FEED_FORWARD, "b_1", _V17 + "eq. 2", ("neuron",), "ffn_in",
              "intermediate.dense.bias mlp c_fc.bias fc1 lin1"),
    Described("layer.ffn_gate", None, FEED_FORWARD, "x·W_gate", _S20, ("token", "neuron"), "gate",
              "mlp.Wi[1] GeGLU GLU"),
    Described("layer.weights.w_gate", None, FEED_FORWARD, "W_gate", _S20, ("dimension", "neuron"), "gate",
              "mlp.Wi[1] GeGLU GLU"),
    Described("layer.ffn_activation", "ffnn_dense_act", FEED_FORWARD, "activation(x·W_1 + b_1)", _V17 + "eq. 2",
              ("token", "neuron"), "activation", "intermediate_act_fn gelu relu mlp neurons"),
    Described("layer.ffn_output", "addnorm2_dense_hidden", ADD_2, "activation·W_2 + b_2", _V17 + "eq. 2", _STATE,
              "ffn_out", "output.dense mlp c_proj fc2 lin2"),
    Described("layer.weights.w_2", "addnorm2_dense_weight", ADD_2, "W_2", _V17 + "eq. 2", ("neuron", "dimension"),
              "ffn_out", "output.dense.weight mlp c_proj.weight fc2 lin2"),
    Described("layer.weights.b_2", "addnorm2_dense_bias", ADD_2, "b_2", _V17 + "eq. 2", ("dimension",), "ffn_out",
              "output.dense.bias mlp c_proj.bias fc2 lin2"),
    Described("layer.ffn_residual", "addnorm2_add_hidden", ADD_2, "x + FFN output", _V17 + "§3.1", _STATE, "add_2",
              "residual skip connection resid_post"),
    Described("layer.output", "addnorm2_norm_hidden", ADD_2, "LayerNorm(residual)", _V17 + "§3.1", _STATE, "left",
              "output.LayerNorm output_layer_norm hidden_states layer_output"),
    *_norm(2, ADD_2, "output output_layer_norm"),
    Described("hidden_states", "manual_hiddens", STREAM, "embeddings' output, then each layer's", _V17 + "fig. 1",
              ("state", "token", "dimension"), "stream", "hidden_states residual stream pipeline_hiddens pipeline_res"),
)  # fmt: skip

_HEAD = "model.weights.vocabulary_head."
_PAIR = "model.weights.pair_head."
_REPLACED = "model.weights.replaced_head."
_MLM, _NSP, _RTD = _D19 + "§3.1, task 1", _D19 + "§3.1, task 2", "Clark et al. 2020, §2"
_OUTPUTS = (
    Described("output", None, OUTPUT, "what the output heads read", _V17 + "fig. 1", _STATE, "final",
              "last_hidden_state sequence_output ln_f"),
    Described("model.weights.final_norm.gamma", None, OUTPUT, "γ of the last LayerNorm", _R19 + "§2.3", ("dimension",),
              "final", "ln_f.weight gain scale"),
    Described("model.weights.final_norm.beta", None, OUTPUT, "β of the last LayerNorm", _R19 + "§2.3", ("dimension",),
              "final", "ln_f.bias shift"),
    Described("logits", None, OUTPUT, "a score for each word of the vocabulary", _V17 + "§3.4", ("token", "word"),
              "vocabulary", "prediction_logits prediction_scores lm_head cls.predictions"),
    Described(_HEAD + "w", None, OUTPUT, "W of the head's transform", _MLM, ("dimension", "transformed"), "vocabulary",
              "cls.predictions.transform.dense.weight lm_head.dense vocab_transform"),
    Described(_HEAD + "b", None, OUTPUT, "b of the head's transform", _MLM, ("transformed",), "vocabulary",
              "cls.predictions.transform.dense.bias lm_head.dense vocab_transform"),
    Described(_HEAD + "norm.gamma", None, OUTPUT, "γ of the head's LayerNorm", _BA16, ("transformed",), "vocabulary",
              "cls.predictions.transform.LayerNorm.weight gain"),
    Described(_HEAD + "norm.beta", None, OUTPUT, "β of the head's LayerNorm", _BA16, ("transformed",), "vocabulary",
              "cls.predictions.transform.LayerNorm.bias shift"),
    Described(_HEAD + "decoder", None, OUTPUT, "a vector for each word of the vocabulary", _V17 + "§3.4",
              ("word", "dimension"), "vocabulary", "cls.predictions.decoder.weight lm_head.weight tied embeddings"),
    Described(_HEAD + "bias", None, OUTPUT, "a number for each word of the vocabulary", _MLM, ("word",), "vocabulary",
              "cls.predictions.bias lm_head.bias"),
    Described("pair_logits", None, OUTPUT, "[B follows A, B is random]", _NSP, ("answer",), "pair",
              "seq_relationship_logits NSP next sentence"),
    Described(_PAIR + "w_pool", None, OUTPUT, "W of the pooler", _NSP, ("dimension", "pooled"), "pair",
              "pooler.dense.weight pooler_output NSP"),
    Described(_PAIR + "b_pool", None, OUTPUT, "b of the pooler", _NSP, ("pooled",), "pair",
              "pooler.dense.bias pooler_output NSP"),
    Described(_PAIR + "w", None, OUTPUT, "W of the next-sentence head", _NSP, ("pooled", "answer"), "pair",
              "cls.seq_relationship.weight NSP"),
    Described(_PAIR + "b", None, OUTPUT, "b of the next-sentence head", _NSP, ("answer",), "pair",
              "cls.seq_relationship.bias NSP"),
    Described("replaced_logits", None, OUTPUT, "above 0: taken for a replacement", _RTD, ("token",), "replaced",
              "discriminator_predictions electra"),
    Described(_REPLACED + "w", None, OUTPUT, "W of the head's transform", _RTD, ("dimension", "transformed"),
              "replaced", "discriminator_predictions.dense.weight"),
    Described(_REPLACED + "b", None, OUTPUT, "b of the head's transform", _RTD, ("transformed",), "replaced",
              "discriminator_predictions.dense.bias"),
    Described(_REPLACED + "w_out", None, OUTPUT, "W of the score", _RTD, ("transformed", "score"), "replaced",
              "discriminator_predictions.dense_prediction.weight"),
    Described(_REPLACED + "b_out", None, OUTPUT, "b of the score", _RTD, ("score",), "replaced",
              "discriminator_predictions.dense_prediction.bias"),
)  # fmt: skip

# Sorted by group, so that the entries have the order of the paper.
DESCRIBED: tuple[Described, ...] = tuple(
    sorted((*_EMBEDDINGS, *_LAYER, *_OUTPUTS), key=lambda entry: GROUPS.index(entry.group))
)
