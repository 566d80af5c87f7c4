"""How evidence is written into a request: a head, one entry per snippet, a notice; and what each costs.

Every entry begins with `[` and ends with a line break, and so do head and notice in turn. No vocabulary joins a line
break with a bracket behind it, so tokens of the pieces add up to the tokens of the whole (`Growing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxlab.estimates import MESSAGE_TOKENS
from ctxlab.tokens import ByteCounter, CountedOnce, VocabularyCounter, utf8_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxlab.admission.lineage import Label
    from ctxlab.dataset import Snippet
    from ctxlab.tokens import Counter

ELLIPSIS = "… "
NOTICE = "[Sources may have been left out of this list.]"
HEADING = "Evidence:"


class Entry(NamedTuple):
    """One snippet as it is to be written: its number from 1, its label, and its text, whole or the end of it."""

    snippet: Snippet
    number: int
    label: Label | None
    text: str
    is_clip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How evidence stands in a request.

    Attributes:
        head: what stands before the first entry.
        notice: what stands after the last one.
        write: an entry as text, from `[` to a line break; a clip has no less around its text than the whole.
        accounting: `chat`: evidence is a message of its own, which is left out without evidence; `content_bytes`:
            only contents count, and the head is sent in any case.
    """

    head: str
    notice: str
    write: Callable[[Entry], str]
    accounting: Literal["chat", "content_bytes"]

    def bare_tokens(self, counter: Counter) -> int:
        """What stands in place of the evidence when there is none."""
        return 0 if self.accounting == "chat" else counter(self.head)

    def framing_tokens(self, counter: Counter) -> int:
        """What the message that holds the evidence costs besides its text."""
        return MESSAGE_TOKENS + counter("user") if self.accounting == "chat" else 0


def write_entry(entry: Entry) -> str:
    """An entry of the evidence message: id, label and title, then the text."""
    label = f"({entry.label}) " if entry.label else ""
    ellipsis = ELLIPSIS if entry.is_clip else ""
    return f"[{entry.snippet.id}] {label}{entry.snippet.title}\n{ellipsis}{entry.text}\n\n"


EVIDENCE = Form(head=f"{HEADING}\n\n", notice=NOTICE, write=write_entry, accounting="chat")
"""The evidence message of every strategy that admits (STR-020)."""


def render_snippets(snippets: Iterable[Snippet]) -> str:
    """Every snippet whole, in rank order, without labels and without a notice (STR-021)."""
    entries = (f"[{snippet.id}] {snippet.title}\n{snippet.text}" for snippet in snippets)
    return "\n\n".join([HEADING, *entries])


@dataclass(slots=True, kw_only=True)
class Growing:
    """The text that holds the evidence, as it grows by whole entries, and whether it stays within its limit.

    Its size is always that of the whole text with head and notice. It is found by adding where that is exact: bytes of
    a counter of bytes, tokens of pieces of a vocabulary. With any other counter the whole text is counted each time.
    """

    form: Form
    counter: Counter
    limit_tokens: int
    pieces: list[str] = field(default_factory=list)
    _measure: Callable[[str], int] | None = field(init=False, default=None)
    _left: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        inner = self.counter.counter if isinstance(self.counter, CountedOnce) else self.counter
        if isinstance(inner, ByteCounter):
            # So many bytes, rounded up to tokens, are just within the limit.
            ratio = inner.bytes_per_token
            self._measure, self._left = utf8_bytes, self.limit_tokens * ratio.numerator // ratio.denominator
        elif isinstance(inner, VocabularyCounter):
            self._measure, self._left = self.counter, self.limit_tokens
        if self._measure is not None:
            self._left -= self._measure(self.form.head) + self._measure(self.form.notice)

    @property
    def text(self) -> str:
        """All of it."""
        return self._with("")

    def take(self, piece: str) -> bool:
        """Take one more entry in, if with it all stays within the limit."""
        if self._measure is None:
            if self.tokens_with(piece) > self.limit_tokens:
                return False
        else:
            size = self._measure(piece)
            if size > self._left:
                return False
            self._left -= size
        self.pieces.append(piece)
        return True

    def tokens_with(self, piece: str) -> int:
        """Its size with one more entry, or none more if that is empty."""
        return self.counter(self._with(piece))

    @property
    def bytes_left(self) -> int | None:
        """How many bytes one more entry may have; null if bytes do not tell."""
        return self._left if self._measure is utf8_bytes else None

    def _with(self, piece: str) -> str:
        return "".join([self.form.head, *self.pieces, piece, self.form.notice])
