"""Tiny transformers with random weights, laid out as sentence-transformers lays them out.

They mean nothing; they are there to be computed by two runtimes and compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HIDDEN = 32
MAX_TOKENS = 24
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,-$%"


def save_tiny_model(
    folder: Path, *, kind: str = "bert", pooling: str = "mean", seed: int = 0
) -> Path:
    """Write a model of 2 layers; ``kind``: bert, xlm-roberta, mpnet."""
    folder.mkdir(parents=True, exist_ok=True)
    _save_transformer(folder, kind, seed)
    _save_tokenizer(folder, padding_id=1 if kind != "bert" else 0)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS})
    _write(folder / "modules.json", [_module(0, "Transformer", ""), _module(1, "Pooling", "1_P")])
    (folder / "1_P").mkdir(exist_ok=True)
    modes = {f"pooling_mode_{mode}": False for mode in ("cls_token", "mean_tokens", "max_tokens")}
    modes[f"pooling_mode_{pooling}" + ("_token" if pooling == "cls" else "_tokens")] = True
    _write(folder / "1_P" / "config.json", {"word_embedding_dimension": HIDDEN, **modes})
    return folder


def save_tiny_cross_encoder(folder: Path, *, labels: int = 1, seed: int = 0) -> Path:
    """Write a classifier of pairs, as those that rerank are laid out."""
    folder.mkdir(parents=True, exist_ok=True)
    _save_transformer(folder, "bert", seed, labels=labels)
    _save_tokenizer(folder, padding_id=0)
    return folder


def _save_transformer(folder: Path, kind: str, seed: int, labels: int | None = None) -> None:
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification
    from transformers.utils.logging import disable_progress_bar, enable_progress_bar

    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(_vocabulary(1)),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=MAX_TOKENS + 2,
        pad_token_id=0 if kind == "bert" else 1,
        # Random weights of the usual size make all texts alike.
        initializer_range=0.4,
    )
    if labels is None:
        model = AutoModel.from_config(config)
    else:
        config.num_labels = labels
        model = AutoModelForSequenceClassification.from_config(config)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.2)
    disable_progress_bar()
    model.save_pretrained(folder)
    enable_progress_bar()


def _vocabulary(padding_id: int) -> dict[str, int]:
    special = _SPECIAL if padding_id == 0 else ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
    pieces = [*_CHARACTERS, *(f"##{character}" for character in _CHARACTERS)]
    return {token: place for place, token in enumerate([*special, *pieces])}


def _save_tokenizer(folder: Path, padding_id: int) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = _vocabulary(padding_id)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]"}
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MAX_TOKENS,
            **{f"{name}_token": token for name, token in names.items()},
        },
    )


def _module(index: int, kind: str, path: str) -> dict[str, Any]:
    return {
        "idx": index,
        "name": str(index),
        "path": path,
        "type": f"sentence_transformers.models.{kind}",
    }


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
