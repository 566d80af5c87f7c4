"""Citations of snippets in an answer, compared with what was sent; a wrong one is counted and never repaired (ADM-064)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxlab.dataset import Case
    from ctxlab.strategies.base import Span

_BRACKETS = re.compile(r"(?<![A-Za-z0-9_])\[([^\[\]\x00-\x1f\x7f]{1,256})\](?!\()")
"""Something in brackets that is neither an index nor the text of a link."""
_DIGITS = re.compile(r"\d+")


def dropped_citations(answer: str, case: Case, ledger: Iterable[Span] | None) -> int | None:
    """How many citations of an answer name no snippet that stood in its request; null for a case without snippets.

    A citation is an id of the case in square brackets, or a word there that is written like one but for its digits:
    beside `[s1]` and `[s2]` also `[s7]`. Several may share the brackets, between commas or semicolons. Without a ledger
    all snippets are taken to have been sent.
    """
    if not case.snippets:
        return None
    ids = [snippet.id for snippet in case.snippets]
    sent = set(ids) if ledger is None else {ids[place] for place in _standing(ledger)}
    return sum(name not in sent for name in _citations(answer, ids))


def _standing(ledger: Iterable[Span]) -> Iterator[int]:
    return (span.item_index for span in ledger if span.item == "snippet" and span.fate != "omitted")


def _citations(answer: str, ids: list[str]) -> Iterator[str]:
    known, shapes = set(ids), {_DIGITS.sub("0", name) for name in ids}
    for found in _BRACKETS.finditer(answer):
        names = [found[1]] if found[1] in known else re.split(r"[,;]", found[1])
        for name in map(str.strip, names):
            if name in known or (_DIGITS.search(name) and _DIGITS.sub("0", name) in shapes):
                yield name
