"""The rules of a case that no single field can state: by version, between fields, between messages.

Each rule is a function from a case to the breaks that it finds; adding a rule adds a function to `CASE_RULES`.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from ctxlab.dataset import parse_time
from ctxlab.facts import compile_pattern, fact_warnings
from ctxlab.strict_json import RuleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxlab.dataset import Case, Fact, Pattern
    from ctxlab.messages import Message
    from ctxlab.strict_json import Path

MESSAGES_OF_1_0 = 128
CHARACTERS_OF_1_0 = 32_768
CHARACTERS = 1_048_576
VALUE_FIELDS = ("exact_match", "contains_all", "contains_any", "not_contains")
EXPECTATIONS = (*VALUE_FIELDS, "minimum_characters", "maximum_characters")


# What is written, before it is a record


def fill_defaults(raw: dict[str, Any]) -> None:
    """Write the default that depends on the version into a parsed case, where it can stand."""
    expected = raw.get("expected")
    if raw.get("schema_version") == "1.1" and isinstance(expected, dict):
        expected.setdefault("unicode_form", "NFC")


def raw_breaks(raw: dict[str, Any]) -> Iterator[RuleError]:
    """Breaks that a record would not show: fields that 1.0 does not know, and a tool call without its type."""
    old = raw.get("schema_version") == "1.0"
    if old:
        yield from _unknown(raw, (), ("facts", "snippets", "language"))
        yield from _unknown(raw.get("expected"), ("expected",), ("unicode_form", "whole_words"))
    messages = raw.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else ()):
        if old:
            yield from _unknown(message, ("messages", index), ("name", "tool_calls", "tool_call_id"))
        elif isinstance(message, dict) and "tool_calls" in message:
            calls = message["tool_calls"]
            for place, call in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(call, dict) and "type" not in call:
                    yield RuleError("missing", ("messages", index, "tool_calls", place, "type"))


def _unknown(raw: object, path: Path, names: Sequence[str]) -> Iterator[RuleError]:
    if isinstance(raw, dict):
        yield from (
            RuleError("unknown_field", (*path, name), "of schema 1.1") for name in names if name in raw
        )


# Messages


def _messages(case: Case) -> Iterator[RuleError]:
    old = case.schema_version == "1.0"
    characters = CHARACTERS_OF_1_0 if old else CHARACTERS
    if old and (count := len(case.messages)) > MESSAGES_OF_1_0:
        yield _length(("messages",), f"at most {MESSAGES_OF_1_0} items", count)
    if not old and not any(message.role == "user" for message in case.messages):
        yield RuleError("value", ("messages",), "at least one message has the role user")
    for index, message in enumerate(case.messages):
        path: Path = ("messages", index)
        if message.role == "tool":
            yield from _tool_message(message, path, old=old)
        elif message.tool_calls or message.tool_call_id is not None:
            yield from _calls(message, path)
        if message.content is None and not message.tool_calls:
            yield RuleError("type", (*path, "content"), "expected a string")
        elif not message.content and not message.tool_calls and message.role != "tool":
            yield _length((*path, "content"), "at least 1 characters", 0)
        elif message.content and len(message.content) > characters:
            yield _length((*path, "content"), f"at most {characters} characters", len(message.content))


def _tool_message(message: Message, path: Path, *, old: bool) -> Iterator[RuleError]:
    if old:
        yield RuleError("value", (*path, "role"), "allowed are system, user and assistant")
    elif message.tool_call_id is None:
        yield RuleError("missing", (*path, "tool_call_id"))
    if message.tool_calls:
        yield RuleError("value", (*path, "tool_calls"), "allowed on the role assistant only")


def _calls(message: Message, path: Path) -> Iterator[RuleError]:
    if message.tool_calls and message.role != "assistant":
        yield RuleError("value", (*path, "tool_calls"), "allowed on the role assistant only")
    if message.tool_call_id is not None:
        yield RuleError("value", (*path, "tool_call_id"), "allowed on the role tool only")
    yield from _repeats(
        ((*path, "tool_calls", i, "id"), call.id) for i, call in enumerate(message.tool_calls)
    )


def pairing_breaks(messages: Sequence[Message]) -> Iterator[RuleError]:
    """Tool messages without a call or with one that is answered, and calls that are not answered (DAT-041, DAT-042).

    Calls without an answer in the group that ends the list are among them; only there they are allowed.
    """
    waiting: dict[str, Path] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        if message.role != "tool":
            yield from (RuleError("unanswered_call", path) for path in waiting.values())
            calls = message.tool_calls if message.role == "assistant" else ()
            waiting = {call.id: ("messages", index, "tool_calls", i) for i, call in enumerate(calls)}
            answered = set()
        elif message.tool_call_id in waiting:
            answered.add(message.tool_call_id)
            del waiting[message.tool_call_id]
        elif message.tool_call_id is not None:
            rule = "answered_twice" if message.tool_call_id in answered else "orphan_tool_message"
            yield RuleError(rule, ("messages", index, "tool_call_id"))
    yield from (RuleError("unanswered_call", path) for path in waiting.values())


def _pairing(case: Case) -> Iterator[RuleError]:
    if any(message.tool_calls or message.role == "tool" for message in case.messages):
        ending = _ending_group(case.messages)
        for found in pairing_breaks(case.messages):
            if found.rule != "unanswered_call" or found.path[1] != ending:
                yield found


def _ending_group(messages: Sequence[Message]) -> int:
    """Index of the message that the list ends with, tool messages after it left out."""
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role != "tool"), -1)


# Expectations, facts and snippets


def _expectations(case: Case) -> Iterator[RuleError]:
    expected = case.expected
    if expected is None:
        if not case.facts:
            yield RuleError("missing", ("expected",))
        return
    if all(getattr(expected, name) is None for name in EXPECTATIONS):
        yield RuleError("nothing_expected", ("expected",), f"at least one of {', '.join(EXPECTATIONS)}")
    least, most = expected.minimum_characters, expected.maximum_characters
    if least is not None and most is not None and least > most:
        yield RuleError("range", ("expected", "minimum_characters"), "at most maximum_characters")


def _empty_values(case: Case) -> Iterator[RuleError]:
    """In 1.1, values of which normalising would leave nothing: it takes away white space and nothing else."""
    if case.schema_version == "1.0" or case.expected is None:
        return
    for name in VALUE_FIELDS:
        value: str | tuple[str, ...] | None = getattr(case.expected, name)
        if isinstance(value, tuple):
            yield from _empty((("expected", name, i), text) for i, text in enumerate(value))
        elif value is not None:
            yield from _empty([(("expected", name), value)])


def _empty(texts: Iterable[tuple[Path, str]]) -> Iterator[RuleError]:
    return (RuleError("empty_after_normalization", path) for path, text in texts if not text.strip())


def _facts(case: Case) -> Iterator[RuleError]:
    """Paths are made only for what breaks a rule: a file may hold hundreds of thousands of patterns."""
    if len({fact.id for fact in case.facts}) < len(case.facts):
        yield from _repeats((("facts", i, "id"), fact.id) for i, fact in enumerate(case.facts))
    for index, fact in enumerate(case.facts):
        if not all(map(str.strip, fact.literals)):
            yield from _empty((("facts", index, "literals", i), text) for i, text in enumerate(fact.literals))
        for pattern in (*fact.must_hold, *fact.must_not_claim):
            if _pattern_fault(pattern) is not None:
                yield from _pattern_breaks(fact, ("facts", index))
                break


def _pattern_breaks(fact: Fact, path: Path) -> Iterator[RuleError]:
    for name, patterns in (("must_hold", fact.must_hold), ("must_not_claim", fact.must_not_claim)):
        for i, pattern in enumerate(patterns):
            if (found := _pattern_fault(pattern)) is not None:
                rule, field, detail = found
                yield RuleError(rule, (*path, name, i, *field), detail)


def _pattern_fault(pattern: Pattern) -> tuple[str, Path, str] | None:
    """The rule that a pattern breaks, the field of it and what is allowed; null if it breaks none."""
    phrase, expression = pattern.phrase, pattern.regex
    if expression is None:
        if phrase is None:
            return "value", (), "exactly one of phrase and regex"
        return None if phrase.strip() else ("empty_after_normalization", (), "")
    if phrase is not None:
        return "value", (), "exactly one of phrase and regex"
    fault = _regex_fault(expression)
    return None if fault is None else ("bad_regex", ("regex",), fault)


@functools.lru_cache(maxsize=4096)
def _regex_fault(expression: str) -> str | None:
    """Where an expression is wrong, without the expression; null if it is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile_pattern(expression)
        except Exception as error:  # noqa: BLE001 - the engine fails in many ways on what is no expression
            position = getattr(error, "pos", None)
            return "cannot be compiled" if position is None else f"at position {position}"
    return None


def _snippets(case: Case) -> Iterator[RuleError]:
    yield from _repeats((("snippets", i, "id"), snippet.id) for i, snippet in enumerate(case.snippets))
    for index, snippet in enumerate(case.snippets):
        path: Path = ("snippets", index)
        if (count := len(snippet.text)) > CHARACTERS:
            yield _length((*path, "text"), f"at most {CHARACTERS} characters", count)
        if snippet.id in snippet.superseded_by:
            yield RuleError("value", (*path, "superseded_by"), "a snippet does not supersede itself")
        yield from _repeats(
            ((*path, "superseded_by", i), name) for i, name in enumerate(snippet.superseded_by)
        )
        for name in ("evidence_time", "session_start", "ingested_at"):
            if (text := getattr(snippet, name)) is not None and not _is_time(text):
                yield RuleError("value", (*path, name), "not a date or time of the calendar")


def _is_time(text: str) -> bool:
    try:
        parse_time(text)
    except ValueError:
        return False
    return True


def _tags(case: Case) -> Iterator[RuleError]:
    if len(set(case.metadata.tags)) < len(case.metadata.tags):
        yield RuleError("value", ("metadata", "tags"), "tags are unique")


def _repeats(ids: Iterable[tuple[Path, str]]) -> Iterator[RuleError]:
    seen: set[str] = set()
    for path, name in ids:
        if name in seen:
            yield RuleError("duplicate_id", path)
        seen.add(name)


def _length(path: Path, allowed: str, found: int) -> RuleError:
    return RuleError("length", path, f"{allowed}, found {found}")


CASE_RULES: tuple[Callable[[Case], Iterator[RuleError]], ...] = (
    _messages,
    _pairing,
    _expectations,
    _empty_values,
    _facts,
    _snippets,
    _tags,
)


def case_breaks(case: Case) -> Iterator[RuleError]:
    """Every break of a rule in a case, in the order of the rules."""
    for rule in CASE_RULES:
        yield from rule(case)


def case_warnings(case: Case) -> Iterator[RuleError]:
    """What is allowed but odd: an unanswered call at the end, and facts that cannot be measured (DAT-042, DAT-055)."""
    if case.messages[_ending_group(case.messages)].tool_calls:
        yield from (one for one in pairing_breaks(case.messages) if one.rule == "unanswered_call")
    if found := fact_warnings(case):
        places = {fact.id: index for index, fact in enumerate(case.facts)}
        yield from (RuleError(rule, ("facts", places[fact])) for rule, fact in found)
