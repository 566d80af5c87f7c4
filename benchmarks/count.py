"""Counting with a vocabulary against `encode_ordinary` of tiktoken itself: long texts of four kinds, and short ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.pairs import paired
from benchmarks.texts import KINDS
from ctxlab.tokens import ENCODING_VOCABULARIES, counter_named
from ctxlab.vocabulary import encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODING = "o200k_base"
LONG_BYTES = 1_000_000
SHORT_TEXTS, SHORT_CHARACTERS = 10_000, 240
AT_LEAST = 0.95
PAIRS = 9


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per kind of text: MB/s of the counter and of tiktoken, and their ratio."""
    part = 10 if quick else 1
    texts: dict[str, list[str]] = {}
    for name, make in KINDS.items():
        texts[name] = [_of_bytes(make(random.Random(0), LONG_BYTES), LONG_BYTES // part)]
    prose = KINDS["prose"](random.Random(1), SHORT_TEXTS * SHORT_CHARACTERS)
    starts = range(0, SHORT_TEXTS * SHORT_CHARACTERS // part, SHORT_CHARACTERS)
    texts["240 characters"] = [prose[start : start + SHORT_CHARACTERS] for start in starts]
    return [_row(name, made) for name, made in texts.items()]


def _of_bytes(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")


def _row(name: str, texts: Sequence[str]) -> dict[str, object]:
    counter = counter_named(ENCODING)
    found = encoding(ENCODING_VOCABULARIES[ENCODING])
    if found is None:
        raise SystemExit("no vocabulary to count with")
    encode = found.encode_ordinary
    timed = paired(
        lambda: [counter(text) for text in texts], lambda: [len(encode(text)) for text in texts], pairs=PAIRS
    )
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {
        "text": name,
        "texts": len(texts),
        "mb": megabytes,
        "counter_mb_s": megabytes / timed.work_s,
        "tiktoken_mb_s": megabytes / timed.against_s,
        "ratio": 1 / timed.ratio,
        "at_least": AT_LEAST,
    }
