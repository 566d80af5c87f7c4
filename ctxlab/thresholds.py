"""Thresholds: every number that a strategy goes by, in one immutable record."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ctxlab.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHARE = re.compile(r"\d{1,30}(\.\d{1,30})?(e-?\d{1,3})?|\d{1,18}/\d{1,18}", re.ASCII)
MAXIMUM = 2**63 - 1


def share(value: object) -> Fraction:
    """An exact share of 0 to 1: a fraction, an integer, a float by its shortest decimal form, `"0.7"` or `"3/5"`."""
    text = str(value) if isinstance(value, (Fraction, str, float, int)) and value is not True else ""
    if not _SHARE.fullmatch(text):
        raise BudgetError("expected a share such as 0.7 or 3/5")
    try:
        exact = Fraction(text)
    except ZeroDivisionError:
        raise BudgetError("a share has no denominator of 0") from None
    if not 0 <= exact <= 1:
        raise BudgetError("out of range; allowed is 0 to 1")
    return exact


def share_tokens(part: Fraction, tokens: int) -> int:
    """A share of a number of tokens, rounded down, in exact arithmetic."""
    return tokens * part.numerator // part.denominator


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The numbers that can be set; shares accept what `share` reads and are held as exact fractions.

    The defaults are heuristics, not optima. Shares are of the message allowance M unless a line says otherwise.

    Attributes:
        ahead_trigger_share: compaction ahead of need starts here.
        deterministic_target_share: target of shortening when a memory is kept.
        retry_growth_share: growth before the next attempt, at least 1 token.
        minimum_gain_share: least saving that a checkpoint has to bring, at least 1 token.
        recent_keep_share, recent_keep_turns: recent turns kept beside a checkpoint, and by shortening.
        turn_summary_share, turn_summary_cap_tokens: target of a turn or fallback summary: the smaller.
        history_summary_share, history_summary_cap_tokens: target of a history summary: the smaller.
        summary_share: of U: upper bound of any summary target.
        summary_cap_tokens, summary_floor_tokens: clamp of a request; below the floor the operation is off.
        part_share, part_cap_tokens: target of a part, as a share of the summary's target.
        max_rounds, max_calls: merge rounds and calls of one summary.
        evidence_share: of U: room set aside for evidence while the history is fitted.
        projection_levels: head and tail characters per level of projection, widest first.
        projection_fact_share, projection_head_share: facts in a projection; the head in the rest.
        digest_user_characters, digest_note_characters, digest_characters, digest_tools: digest of old turns.
        progress_tools, progress_retry_characters: digest of the running turn.
        calibration_cap_share: of the window: most that calibration may take.
    """

    ahead_trigger_share: Fraction = Fraction(7, 10)
    deterministic_target_share: Fraction = Fraction(4, 5)
    retry_growth_share: Fraction = Fraction(1, 10)
    minimum_gain_share: Fraction = Fraction(1, 10)
    recent_keep_share: Fraction = Fraction(1, 5)
    recent_keep_turns: int = 2
    turn_summary_share: Fraction = Fraction(1, 10)
    turn_summary_cap_tokens: int = 1500
    history_summary_share: Fraction = Fraction(1, 5)
    history_summary_cap_tokens: int = 3000
    summary_share: Fraction = Fraction(1, 4)
    summary_cap_tokens: int = 4000
    summary_floor_tokens: int = 64
    part_share: Fraction = Fraction(1, 2)
    part_cap_tokens: int = 1500
    max_rounds: int = 4
    max_calls: int = 64
    evidence_share: Fraction = Fraction(2, 5)
    projection_levels: tuple[tuple[int, int], ...] = ((3000, 1000), (1500, 500), (750, 250), (384, 128))
    projection_fact_share: Fraction = Fraction(1, 2)
    projection_head_share: Fraction = Fraction(3, 4)
    digest_user_characters: int = 600
    digest_note_characters: int = 800
    digest_characters: int = 6000
    digest_tools: int = 10
    progress_tools: int = 20
    progress_retry_characters: tuple[int, ...] = (2000, 800, 300)
    calibration_cap_share: Fraction = Fraction(1, 4)

    def __post_init__(self) -> None:
        for field in fields(self):
            read = _READERS.get(field.name, share if field.name.endswith("_share") else _count)
            try:
                object.__setattr__(self, field.name, read(getattr(self, field.name)))
            except BudgetError as error:
                raise BudgetError(f"{field.name}: {error}") from None

    @classmethod
    def parse(cls, settings: Mapping[str, str]) -> Thresholds:
        """The defaults with `name=value` settings applied; a list of numbers is written as JSON."""
        known = {field.name for field in fields(cls)}
        if not settings.keys() <= known:
            raise BudgetError(f"threshold: unknown name; allowed are {', '.join(sorted(known))}")
        return cls(**{name: _parsed(name, text) for name, text in settings.items()})

    def canonical(self) -> dict[str, str | int | list[Any]]:
        """The record for a fingerprint: shares as `7/10`, numbers as they are, levels as lists."""
        return {field.name: _canonical(getattr(self, field.name)) for field in fields(self)}


def _count(value: object) -> int:
    if type(value) is not int:
        raise BudgetError(f"expected an integer, found {type(value).__name__}")
    if not 0 <= value <= MAXIMUM:
        raise BudgetError(f"out of range; allowed is 0 to {MAXIMUM}")
    return value


def _positive(value: object) -> int:
    if (number := _count(value)) == 0:
        raise BudgetError(f"out of range; allowed is 1 to {MAXIMUM}")
    return number


def _counts(value: object) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)) or not value:
        raise BudgetError("expected a list of integers")
    return tuple(_count(item) for item in value)


def _levels(value: object) -> tuple[tuple[int, int], ...]:
    pairs = [_counts(pair) for pair in value] if isinstance(value, (tuple, list)) else []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise BudgetError("expected a list of pairs of integers")
    return tuple((head, tail) for head, tail in pairs)


_READERS = {
    "projection_levels": _levels,
    "progress_retry_characters": _counts,
    "summary_floor_tokens": _positive,
}


def _parsed(name: str, text: str) -> Any:
    if name.endswith("_share"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BudgetError(f"{name}: expected an integer or a JSON list of integers") from None


def _canonical(value: object) -> Any:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    return [_canonical(item) for item in value] if isinstance(value, tuple) else value
