"""How far the passage around each unit speaks of a question: BM25 over words, weighted by how near they stand.

An answer's neighbours belong to it, whether or not they repeat the words of the question. So a word counts where it
stands, and less and less before and behind; the time is proportional to the text and to the words of the question.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from math import exp, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SATURATION, LENGTH_SHARE = 1.2, 0.75
"""The usual k1 and b of BM25."""
REACH_UNITS = 12
"""At this distance a word counts 1/e of what it counts where it stands."""

_TERM = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W_]+")


def relevance(texts: Sequence[str], question: str) -> list[float]:
    """For each text the score of its passage as a share of the best one's; all 0 without a common word."""
    wanted = dict.fromkeys(_terms(question))
    if not wanted:
        return [0.0] * len(texts)
    found, lengths = [], []
    for text in texts:
        terms = _terms(text)
        found.append(Counter(term for term in terms if term in wanted))
        lengths.append(float(len(terms)))
    around = _blurred(lengths)
    mean = sum(around) / max(1, len(around))
    scores = [0.0] * len(texts)
    for term in wanted:
        counts = [float(counted[term]) for counted in found]
        holders = sum(1 for count in counts if count)
        if not holders:
            continue
        # Squared, because the words around the subject of a question are common ones.
        rarity = log(1 + (len(texts) - holders + 0.5) / (holders + 0.5)) ** 2
        for place, count in enumerate(_blurred(counts)):
            room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * around[place] / mean)
            scores[place] += rarity * count * (SATURATION + 1) / (count + room)
    best = max(scores, default=0.0)
    return [score / best for score in scores] if best else scores


def _blurred(values: Sequence[float]) -> list[float]:
    """Each value with all others, the less the farther they are away."""
    fade = exp(-1 / REACH_UNITS)
    before, behind = 0.0, 0.0
    blurred = []
    for value in values:
        before = before * fade + value
        blurred.append(before)
    for place in range(len(values) - 1, -1, -1):
        blurred[place] += behind
        behind = (behind + values[place]) * fade
    return blurred


def _terms(text: str) -> list[str]:
    """Words in small letters; of scripts written without spaces each character is one."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _TERM.findall(folded)
