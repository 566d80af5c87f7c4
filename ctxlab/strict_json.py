"""JSON read strictly: every departure from the rules is named, and where it stands (specification, dataset 2)."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAXIMUM_DEPTH = 32
MAXIMUM_DIGITS = 20
FLOAT_DIGITS = 40
"""Enough for every float as Python writes it, such as 0.00012345678901234567, which has 21."""

_DEPTH = f"at most {MAXIMUM_DEPTH} levels"
_DETAILS = {
    "number_too_long": "at most {most_digits} digits",
    "number_not_finite": "",
    "duplicate_key": "",
}

Path = tuple[str | int, ...]

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


class RuleError(Exception):
    """A value breaks a rule: which one, at which path, and what is allowed; never what was found (DAT-121)."""

    def __init__(self, rule: str, path: Sequence[str | int] = (), detail: str = "") -> None:
        super().__init__(rule, path, detail)
        self.rule = rule
        self.path = tuple(path)
        self.detail = detail

    @property
    def field(self) -> str:
        """The path as `messages[3].content`, up to the first name that is not safe to show; `-` if none is."""
        shown = ""
        for step in self.path:
            if isinstance(step, str) and not _SAFE_NAME.fullmatch(step):
                break
            shown += f"[{step}]" if isinstance(step, int) else f".{step}"
        return shown.removeprefix(".") or "-"


def parse_json(text: str, *, duplicate_keys: bool = False, most_digits: int = MAXIMUM_DIGITS) -> Any:
    """The value of a JSON text; raises `RuleError` for everything that the rules do not allow.

    With `duplicate_keys` the last of equal keys wins instead of being an error. Files that ctxlab writes hold floats,
    which need `FLOAT_DIGITS`. Depth is left to `check_depth`.
    """
    try:
        value = _decoder(duplicate_keys, most_digits).decode(text)
    except RecursionError:
        raise RuleError("too_deep", detail=_DEPTH) from None
    except ValueError as error:
        if "\r" in _STRING.sub("", text):
            raise RuleError("lone_cr") from None
        at = f"not JSON at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise RuleError("json", detail=at) from None
    except _Suspect:
        raise _explained(text, duplicate_keys=duplicate_keys, most_digits=most_digits) from None
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        _check_surrogates(value)
    return value


class _Suspect(Exception):
    """Something breaks a rule; a second reading finds out where."""


def _constant(_: str) -> None:
    raise _Suspect


def _distinct(items: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(items)
    if len(made) < len(items):
        raise _Suspect
    return made


@functools.cache
def _decoder(duplicate_keys: bool, most_digits: int) -> json.JSONDecoder:
    def integer(digits: str) -> int:
        if len(digits) > most_digits and _too_long(digits, most_digits):
            raise _Suspect
        return int(digits)

    def real(digits: str) -> float:
        value = float(digits)
        if _too_long(digits, most_digits) or not math.isfinite(value):
            raise _Suspect
        return value

    return json.JSONDecoder(
        parse_int=integer,
        parse_float=real,
        parse_constant=_constant,
        object_pairs_hook=None if duplicate_keys else _distinct,
    )


@dataclass(frozen=True, slots=True)
class _Fault:
    """Stands in a value where something breaks a rule, so that its path can be found."""

    rule: str
    name: str | None = None


def _explained(text: str, *, duplicate_keys: bool, most_digits: int) -> RuleError:
    """The first break of a rule in a JSON text, in the order of the text."""

    def number(digits: str) -> _Fault | None:
        if _too_long(digits, most_digits):
            return _Fault("number_too_long")
        return None if math.isfinite(float(digits)) else _Fault("number_not_finite")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any] | _Fault:
        made = dict(items)
        return (
            made if duplicate_keys or len(made) == len(items) else _Fault("duplicate_key", _repeated(items))
        )

    decoder = json.JSONDecoder(
        parse_int=number,
        parse_float=number,
        parse_constant=lambda _: _Fault("number_not_finite"),
        object_pairs_hook=pairs,
    )
    for path, found in _walk(decoder.decode(text)):
        if isinstance(found, _Fault):
            detail = _DETAILS[found.rule].format(most_digits=most_digits)
            return RuleError(found.rule, path if found.name is None else (*path, found.name), detail)
    # It stood under a key that was repeated later, which is allowed here.
    return RuleError("json")


def _too_long(digits: str, most: int) -> bool:
    return len(digits) > most and sum(map(str.isdigit, digits)) > most


def check_depth(value: Any) -> None:
    """Raise `RuleError` if arrays and objects are nested deeper than the limit."""
    level = [value]
    for _ in range(MAXIMUM_DEPTH):
        level = [child for parent in level for _, child in _children(parent)]
    if any(isinstance(child, (dict, list)) for child in level):
        raise RuleError("too_deep", detail=_DEPTH)


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _walk(value: Any) -> Iterator[tuple[Path, Any]]:
    """Every value with its path, in the order of the text."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        waiting.extend(((*path, step), child) for step, child in reversed(list(_children(value))))


def _repeated(items: list[tuple[str, Any]]) -> str:
    counts = Counter(key for key, _ in items)
    return next(key for key, count in counts.items() if count > 1)


def _check_surrogates(value: Any) -> None:
    for path, found in _walk(value):
        texts = found.keys() if isinstance(found, dict) else [found] if isinstance(found, str) else ()
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise RuleError("lone_surrogate", path)
