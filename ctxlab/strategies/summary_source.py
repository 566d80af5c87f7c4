"""What a summary is made of: the unpinned messages before the question as one text, and where it quotes them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ctxlab.strategies.base import Span
from ctxlab.strategies.mined import decoded, end_of
from ctxlab.strategies.project import claims_of, project, tool_names
from ctxlab.strategies.writer import ELLIPSIS
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.messages import Message
    from ctxlab.strategies.project import Excerpt
    from ctxlab.strategies.source import Source

ARGUMENTS_CHARACTERS = 400
BLOCKS_BETWEEN = "\n\n"


class Quote(NamedTuple):
    """Characters of the source, and the half-open range of the text that shows them.

    Attributes:
        item_index, part: the message and its part.
        first, last: the half-open span there.
        start, end: the range of the text.
        escaped: the span's own text where that is a JSON string, or a part of one, and the range shows what it stands
            for; else null.
    """

    item_index: int
    part: str
    first: int
    last: int
    start: int
    end: int
    escaped: str | None = None

    def place(self, end: int) -> int:
        """Where in the part the characters end that the range shows up to this place of the text."""
        characters = end - self.start
        if self.escaped is None:
            return self.first + characters
        return self.first + end_of(self.escaped, characters=characters)

    def span(self, first: int, last: int, *, call_index: int) -> Span:
        """The ledger's row for these characters of the part, seen by a call."""
        return Span(
            item="message",
            item_index=self.item_index,
            part=self.part,
            start=first,
            end=last,
            fate="summarised",
            call_index=call_index,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedSource:
    """A text made of blocks, one per message.

    Attributes:
        blocks: where each block begins in the text.
        quotes: what it shows of the source.
        unseen: what a projection left out of it.
    """

    text: str
    blocks: tuple[int, ...]
    quotes: tuple[Quote, ...]
    unseen: tuple[Span, ...]

    def claims(self, pieces: Sequence[str], *, calls: int) -> tuple[Span, ...]:
        """The source's spans, each with the call of the piece that it is in; one that crosses a cut is split.

        Only the first so many pieces were sent: what stands in the others reached no helper.
        """
        ends: list[int] = []
        for piece in pieces:
            ends.append(len(piece) + (ends[-1] if ends else 0))
        seen = (span for quote in self.quotes for span in _split(quote, ends, calls=calls))
        return (*self.unseen, *seen)


def _split(quote: Quote, ends: Sequence[int], *, calls: int) -> list[Span]:
    """The spans of a quotation by the pieces that it stands in."""
    first, last = bisect_right(ends, quote.start), bisect_right(ends, quote.end - 1)
    if first == last:
        return [quote.span(quote.first, quote.last, call_index=first)] if first < calls else []
    places = [quote.first, *(quote.place(ends[i]) for i in range(first, last)), quote.place(quote.end)]
    sent = range(first, min(last + 1, calls))
    return [quote.span(places[n - first], places[n - first + 1], call_index=n) for n in sent]


def format_source(source: Source) -> FormattedSource:
    """Every unpinned message before the question as one block each, long results projected (STR-081)."""
    writer = _Writer()
    level = source.budget.thresholds.projection_levels[0]
    names = tool_names(source.messages)
    for index in source.layout.history:
        message = source.messages[index]
        if index in source.layout.pinned or not (message.text or message.tool_calls):
            continue
        writer.begin_block()
        if message.text:
            writer.write(f"[{message.role}] ")
            short = project(
                message,
                name=names.get(index, "tool"),
                level=level,
                thresholds=source.budget.thresholds,
            )
            if short is None:
                writer.quote(index, "content", message.text, end=len(message.text))
            else:
                writer.quote_excerpt(index, message.text, short[1])
        _write_calls(writer, index, message)
    return writer.finish()


def _write_calls(writer: _Writer, index: int, message: Message) -> None:
    for number, call in enumerate(message.tool_calls):
        arguments = call.function.arguments
        cut = safe_cut(arguments, characters=ARGUMENTS_CHARACTERS)
        lead = "\n" if number or message.text else ""
        writer.write(f"{lead}[tool call] {call.function.name}(")
        writer.quote(index, f"arguments:{number}", arguments, end=cut)
        writer.write(")" if cut == len(arguments) else f"{ELLIPSIS})")


@dataclass(slots=True)
class _Writer:
    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    blocks: list[int] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    unseen: list[Span] = field(default_factory=list)

    def begin_block(self) -> None:
        self.write(BLOCKS_BETWEEN if self.blocks else "")
        self.blocks.append(self.characters)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.characters += len(text)

    def quote(self, index: int, part: str, text: str, *, end: int) -> None:
        """Write the first so many characters of a part word for word."""
        if end:
            self.quotes.append(Quote(index, part, 0, end, self.characters, self.characters + end))
            self.write(text[:end])

    def quote_excerpt(self, index: int, text: str, short: Excerpt) -> None:
        """Write the projection of a message, and remember where it shows which of its spans."""
        for span in claims_of(index, short, fate="summarised"):
            quote = None if span.fate == "omitted" else _found(span, text, short.text, self.characters)
            if quote is None:
                self.unseen.append(replace(span, fate="omitted", reason="projection"))
            else:
                self.quotes.append(quote)
        self.write(short.text)

    def finish(self) -> FormattedSource:
        return FormattedSource(
            text="".join(self.pieces),
            blocks=tuple(self.blocks),
            quotes=tuple(self.quotes),
            unseen=tuple(self.unseen),
        )


def _found(span: Span, text: str, shown: str, offset: int) -> Quote | None:
    """Where a projection shows a span, as it stands or as what it stands for as a JSON string; null if nowhere."""
    own = text[span.start : span.end]
    for form, escaped in ((own, None), (decoded(own) or "", own)):
        if form and (at := shown.find(form)) >= 0:
            start = offset + at
            return Quote(span.item_index, span.part, span.start, span.end, start, start + len(form), escaped)
    return None
