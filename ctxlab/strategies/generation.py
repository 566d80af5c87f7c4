"""One generation: from a text to one summary of it, by one prompt, or by parts and rounds of merging (STR-082 to 089)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.budget import part_target
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message
from ctxlab.prompts import MERGE_LABEL, merge_prompt, part_prompt, summary_prompt
from ctxlab.strategies.partition import Partition
from ctxlab.strategies.summary_calls import HEADING, UnusableError
from ctxlab.strategies.summary_source import BLOCKS_BETWEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxlab.budget import Thresholds
    from ctxlab.strategies.summary_calls import Helpers


def joined_blocks(blocks: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Blocks as one text, and where each of them begins."""
    pieces: list[str] = []
    starts: list[int] = []
    place = 0
    for block in blocks:
        starts.append(place)
        pieces.append(block)
        place += len(block) + len(BLOCKS_BETWEEN)
    return BLOCKS_BETWEEN.join(pieces), tuple(starts)


@dataclass(slots=True, kw_only=True)
class Generation:
    """One generation at work, with limits of its own (STR-091).

    Attributes:
        helpers: who is asked.
        index: counts generations from 1.
        target_tokens: how long the summary's message may be.
        thresholds: shares and limits.
        language: BCP 47 tag of the text.
        first_call: how many calls of the row were made before.
        pieces: what the prompts over the text hold; joined they are the text.
        rounds: rounds of merging that were begun.
    """

    helpers: Helpers
    index: int
    target_tokens: int
    thresholds: Thresholds
    language: str | None
    first_call: int
    pieces: tuple[str, ...] = ()
    rounds: int = 0

    @property
    def part_tokens(self) -> int:
        """How long the summary of a part may be."""
        return part_target(target_tokens=self.target_tokens, thresholds=self.thresholds)

    @property
    def calls_left(self) -> int:
        """How many more calls this generation may make."""
        return self.thresholds.max_calls - (len(self.helpers.calls) - self.first_call)

    async def condense(self, text: str, blocks: Sequence[int]) -> str:
        """The content of a message that summarises the text, heading included.

        Raises:
            UnusableError: there is no usable summary.
            CallError: a call failed.
        """
        prompt = summary_prompt(text, target_tokens=self.target_tokens, form=self.helpers.form)
        if self.helpers.size(prompt) > self.helpers.allowance_tokens:
            return await self._merge(await self._summarize_parts(text, blocks))
        if self.calls_left < 1:
            raise UnusableError("call_limit")
        self.pieces = (text,)
        return await self.helpers.ask(
            prompt,
            given=text,
            kind="whole",
            generation_index=self.index,
            target_tokens=self.target_tokens,
            heading=HEADING,
        )

    async def _summarize_parts(self, text: str, blocks: Sequence[int]) -> list[str]:
        """One summary per part; there have to be calls left to merge them."""
        most = self.calls_left - 1

        def prompt(piece: str, number: int, of: int, target_tokens: int) -> str:
            return part_prompt(
                piece, number=number, of=of, target_tokens=target_tokens, form=self.helpers.form
            )

        widest = self.thresholds.max_calls
        pieces = self._cut(
            text, blocks, lambda piece: prompt(piece, widest, widest, self.target_tokens), most=most
        )
        if not pieces or len(pieces) > most:
            raise UnusableError("partition_limit")
        self.pieces = pieces
        return [
            await self.helpers.ask(
                prompt(piece, number, len(pieces), self.part_tokens),
                given=piece,
                kind="part",
                generation_index=self.index,
                target_tokens=self.part_tokens,
                heading="",
            )
            for number, piece in enumerate(pieces, 1)
        ]

    async def _merge(self, summaries: list[str]) -> str:
        """One summary of the summaries: in rounds, the last of which is one call."""
        while True:
            groups = self._groups(summaries)
            self.rounds += 1
            if len(groups) == 1:
                return await self._merged(groups[0], target_tokens=self.target_tokens, heading=HEADING)
            merged = [
                await self._merged(group, target_tokens=self.part_tokens, heading="") for group in groups
            ]
            if len(merged) >= len(summaries) and self._tokens(merged) >= self._tokens(summaries):
                raise UnusableError("non_converging")
            summaries = merged

    def _groups(self, summaries: Sequence[str]) -> tuple[str, ...]:
        """What the prompts of the next round hold, if there may be one."""
        if self.rounds == self.thresholds.max_rounds:
            raise UnusableError("merge_limit")
        labels = (MERGE_LABEL.format(number=n, of=len(summaries)) for n in range(1, len(summaries) + 1))
        text, blocks = joined_blocks(
            label + summary for label, summary in zip(labels, summaries, strict=True)
        )
        groups = self._cut(
            text,
            blocks,
            lambda group: merge_prompt(group, target_tokens=self.target_tokens, form=self.helpers.form),
            most=self.calls_left,
        )
        if not groups:
            raise UnusableError("partition_limit")
        if len(groups) > self.calls_left:
            raise UnusableError("call_limit")
        return groups

    async def _merged(self, group: str, *, target_tokens: int, heading: str) -> str:
        return await self.helpers.ask(
            merge_prompt(group, target_tokens=target_tokens, form=self.helpers.form),
            given=group,
            kind="merge",
            generation_index=self.index,
            target_tokens=target_tokens,
            heading=heading,
        )

    def _cut(
        self, text: str, blocks: Sequence[int], prompt: Callable[[str], str], *, most: int
    ) -> tuple[str, ...]:
        """The one splitter of parts and of groups (STR-086)."""
        partition = Partition(
            text=text,
            blocks=blocks,
            size=lambda piece: self.helpers.size(prompt(piece)),
            limit_tokens=self.helpers.allowance_tokens,
            language=self.language,
        )
        return partition.pieces(most=most)

    def _tokens(self, summaries: Iterable[str]) -> int:
        counter = self.helpers.reply_counter
        return sum(message_tokens(Message(role="user", content=text), counter) for text in summaries)
