"""Real models of a few random numbers, written into a folder as their authors write theirs."""

from __future__ import annotations

import json
from pathlib import Path

WORDS = (
    "the header util delay h declares ms which waits busily a busy wait keeps processor interrupts are by sei it is in"
)


def word_tokenizer(folder: Path, *more: str, limit: int = 64):
    """A fast tokenizer of whole words, of `WORDS` and `more`; others are unknown."""
    import tokenizers
    import transformers

    words = ["<pad>", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys([*WORDS.split(), *more])]
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=limit,
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def bert_config(n_words: int, limit: int, labels: tuple[str, ...] = ()):
    import transformers

    config = transformers.BertConfig(
        vocab_size=n_words,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=limit,
        initializer_range=1.0,
    )
    if labels:
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: i for i, label in enumerate(labels)}
    return config


def cross_encoder(folder: Path, labels: tuple[str, ...], limit: int = 64) -> str:
    """A BERT cross-encoder with these classes."""
    import torch
    import transformers

    torch.manual_seed(7)
    tokenizer = word_tokenizer(folder, limit=limit)
    transformers.BertForSequenceClassification(bert_config(len(tokenizer), limit, labels)).save_pretrained(folder)
    return str(folder)


def hhem(folder: Path) -> str:
    """A model laid out as HHEM-2.1-Open is: weights under `t5.`, a foundation elsewhere, code that is not to be run."""
    import torch
    import transformers
    from safetensors.torch import save_file

    torch.manual_seed(7)
    base = folder / "foundation"
    tokenizer = word_tokenizer(base, "Premise", "Hypothesis", "Determine", "if", "hypothesis", "true", limit=512)
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, initializer_factor=1.0
    )
    config.save_pretrained(base)
    model = transformers.T5ForTokenClassification(config)
    weights = {f"t5.{name}": value.clone() for name, value in model.state_dict().items() if "embed_tokens" not in name}
    save_file(weights, folder / "model.safetensors")
    code = {"AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification"}
    table = {"model_type": "HHEMv2", "foundation": str(base), "auto_map": code}
    (folder / "config.json").write_text(json.dumps(table))
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('this code was run')\n")
    return str(folder)


def sentence_model(folder: Path, limit: int = 64) -> str:
    """A sentence-transformers model over a random BERT, with mean pooling."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    torch.manual_seed(7)
    inner = folder / "inner"
    tokenizer = word_tokenizer(inner, "query", ":", limit=limit)
    transformers.BertModel(bert_config(len(tokenizer), limit)).save_pretrained(inner)
    module = Transformer(str(inner))
    model = SentenceTransformer(modules=[module, Pooling(module.get_embedding_dimension())], device="cpu")
    model.save(str(folder / "model"))
    return str(folder / "model")


def masked_language_model(folder: Path, limit: int = 64) -> str:
    """A random BERT with a masked language model's head, which a SparseEncoder pools as SPLADE does."""
    import torch
    import transformers

    torch.manual_seed(7)
    tokenizer = word_tokenizer(folder, limit=limit)
    transformers.BertForMaskedLM(bert_config(len(tokenizer), limit)).save_pretrained(folder)
    return str(folder)


def multi_vector_model(folder: Path, limit: int = 64) -> str:
    """A ColBERT over a random BERT: 8 numbers a token, a marker before each text, full stops of passages left out."""
    import torch
    import transformers
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    torch.manual_seed(7)
    inner = folder / "inner"
    tokenizer = word_tokenizer(inner, ".", limit=limit)
    transformers.BertModel(bert_config(len(tokenizer), limit)).save_pretrained(inner)
    tokens = {"module_input_name": "token_embeddings"}
    modules = [
        Transformer(str(inner)),
        Dense(16, 8, bias=False, activation_function=torch.nn.Identity(), **tokens),
        MultiVectorMask(skiplist_words=["."]),
        Normalize(**tokens),
    ]
    MultiVectorEncoder(modules=modules, device="cpu", prompts={"query": "it ", "document": "is "}).save(
        str(folder / "model")
    )
    return str(folder / "model")


def static_model(folder: Path, vectors: dict[str, tuple[float, ...]]) -> str:
    """A sentence-transformers model in which a text is the mean of its words' vectors; other words count as zeros."""
    import numpy as np
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    words = ["[UNK]", *vectors]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rows = np.array([np.zeros(len(next(iter(vectors.values())))), *vectors.values()], np.float32)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=rows)], device="cpu")
    model.save(str(folder / "static"))
    return str(folder / "static")


def classifier(folder: Path, labels: tuple[str, ...], *, apart: bool = False, limit: int = 64) -> str:
    """A BERT classifier of one text; apart: each class for itself, as those of toxic-bert are."""
    import torch
    import transformers

    torch.manual_seed(7)
    config = bert_config(len(word_tokenizer(folder, limit=limit)), limit, labels)
    config.problem_type = "multi_label_classification" if apart else "single_label_classification"
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def causal_model(folder: Path, limit: int = 512) -> str:
    """A random GPT-2 over the 256 bytes and one marker, which reads `limit` of them at a time."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(7)
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|endoftext|>", model_max_length=limit
    )
    tokenizer.save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=limit, n_embd=16, n_layer=1, n_head=2, initializer_range=0.5
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)
