"""Where a snippet may be clipped: at the beginning of its complete last sentence, or nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "empty", "incomplete_tail", "no_complete_sentence", "ambiguous_boundary", "leaning_sentence"
]  # fmt: skip
_BOUNDARY = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])\s*(?=\S)|(?<=[;}])\n(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """The complete last sentence or statement is `text[start:].rstrip()`."""

    start: int


def clip_of(text: str, language: str | None) -> Clip | Reason:
    """Where the complete last sentence or statement of a text begins, or why it may not be taken alone."""
    written = text.rstrip()
    if not written:
        return "empty"
    if written[-1] not in (".!?。！？" if language != "code" else ";}"):
        return "incomplete_tail"
    starts = [match.end() for match in _BOUNDARY.finditer(written)]
    return Clip(start=starts[-1]) if starts else "no_complete_sentence"
