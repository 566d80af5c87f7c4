"""Deterministic evaluators in fixed order: an answer and its case in, verdicts out, the same at any time and place.

```text
non_empty -> exact_match -> contains_all -> contains_any -> not_contains -> response_length -> facts
```
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING

from ctxlab.facts import Places, Searched, is_judged, judge, judge_facts
from ctxlab.identifiers import identifiers
from ctxlab.messages import Synthetic
from ctxlab.records import FATES, EvaluatorResult
from ctxlab.text import find_literal, normalize, preview, searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxlab.dataset import Case, Expected
    from ctxlab.messages import Maker, Message
    from ctxlab.records import FactResult
    from ctxlab.text import Match

__all__ = ["EVALUATOR_VERSION", "Evaluation", "evaluate", "invented_in_context", "judge_facts"]

EVALUATOR_VERSION = "2"
"""Changes whenever a verdict, score or fate can; part of the fingerprint (EVA-015)."""

_WRITTEN: tuple[Maker, ...] = ("digest", "progress", "extract", "summary", "checkpoint")
_HEADING = re.compile(r"\A\[[^\]\n]*\]")
_QUOTES = "\"'`“”„«»「」『』"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the evaluators say of one answer.

    Attributes:
        results: one verdict per configured evaluator, in fixed order.
        facts: one result per fact of the case.
        passed: whether all passed; null if the case has nothing to judge in an answer (EVA-003).
        invented_identifiers: distinct identifiers of the answer that stand in nothing sent (EVA-027a).
    """

    results: tuple[EvaluatorResult, ...]
    facts: tuple[FactResult, ...]
    passed: bool | None
    invented_identifiers: int


def evaluate(answer: str, case: Case, fitted_messages: Sequence[Message] | None = None) -> Evaluation:
    """Judge an answer to a case; pure.

    `fitted_messages` is what was sent; null judges a stored answer as if the whole case had been sent. Raises
    `TimeoutError` if the case's regular expressions search the answer for over a second (EVA-014).
    """
    places = Places(case, fitted_messages, answer)
    facts = judge(places)
    results = [*_expected_results(answer, case.expected), *_facts_results(facts)]
    return Evaluation(
        results=tuple(results),
        facts=facts,
        passed=all(result.passed for result in results) if is_judged(case) else None,
        invented_identifiers=_invented([answer], places.sent),
    )


def invented_in_context(case: Case, fitted_messages: Sequence[Message]) -> int:
    """Distinct identifiers in what a strategy wrote that stand nowhere in the source (EVA-027a).

    The question counts as source: a summary may name what is asked. Evidence and guidance are texts of the user,
    and a heading in square brackets, with its own numbers, is ctxlab's; neither is an invention.
    """
    written = [
        _HEADING.sub("", message.text)
        for message in fitted_messages
        if isinstance(message, Synthetic) and message.made_by in _WRITTEN
    ]
    return _invented(written, Places(case, None, None).sent) if written else 0


def _invented(texts: Iterable[str], known: Sequence[Searched]) -> int:
    found = {searchable(one.text.strip(_QUOTES)) for text in texts for one in identifiers(text)}
    return sum(not any(place.has(identifier) for place in known) for identifier in found)


# Expectations of the case


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer as received, and normalised as its case wants it (EVA-004)."""

    raw: str
    expected: Expected

    def normal(self, text: str) -> str:
        return normalize(
            text,
            unicode_form=self.expected.unicode_form,
            collapse_whitespace=self.expected.normalize_whitespace,
            casefold=not self.expected.case_sensitive,
        )

    def split(self, values: Sequence[str]) -> tuple[list[str], list[str]]:
        """The values that are found, and those that are not."""
        answer = self.normal(self.raw)
        match: Match = "word" if self.expected.whole_words else "substring"
        there = [find_literal(answer, self.normal(value), match=match) is not None for value in values]
        return list(compress(values, there)), list(compress(values, map(not_, there)))


def _expected_results(raw: str, expected: Expected | None) -> list[EvaluatorResult]:
    results = [_non_empty(raw)]
    if expected is not None:
        answer = _Answer(raw, expected)
        results += [result for check in _CHECKS if (result := check(answer, expected))]
    return results


def _non_empty(raw: str) -> EvaluatorResult:
    passed = bool(raw.strip())
    return _result(
        "non_empty",
        passed,
        reason="the answer is empty or white space",
        expected="a character other than white space",
        actual=f"{len(raw)} characters",
    )


def _exact_match(answer: _Answer, expected: Expected) -> EvaluatorResult | None:
    if (value := expected.exact_match) is None:
        return None
    passed = answer.normal(answer.raw) == answer.normal(value)
    return _result(
        "exact_match",
        passed,
        reason="the answer differs from the expected one",
        expected=value,
        actual=answer.raw,
    )


def _contains_all(answer: _Answer, expected: Expected) -> EvaluatorResult | None:
    if (values := expected.contains_all) is None:
        return None
    found, missing = answer.split(values)
    return _result(
        "contains_all",
        not missing,
        score=len(found) / len(values),
        reason=f"missing: {_listed(missing)}",
        expected=f"all of {_listed(values)}",
        actual=f"{len(found)} of {len(values)} found",
    )


def _contains_any(answer: _Answer, expected: Expected) -> EvaluatorResult | None:
    if (values := expected.contains_any) is None:
        return None
    found, missing = answer.split(values)
    return _result(
        "contains_any",
        bool(found),
        score=len(found) / len(values),
        reason=f"missing: {_listed(missing)}",
        expected=f"any of {_listed(values)}",
        actual=f"{len(found)} of {len(values)} found",
    )


def _not_contains(answer: _Answer, expected: Expected) -> EvaluatorResult | None:
    if (values := expected.not_contains) is None:
        return None
    found, _ = answer.split(values)
    return _result(
        "not_contains",
        not found,
        reason=f"found: {_listed(found)}",
        expected=f"none of {_listed(values)}",
        actual=f"{len(found)} of {len(values)} found",
    )


def _response_length(answer: _Answer, expected: Expected) -> EvaluatorResult | None:
    low, high = expected.minimum_characters, expected.maximum_characters
    if low is None and high is None:
        return None
    length = len(answer.raw)
    passed = (low or 0) <= length and (high is None or length <= high)
    bounds = f"{low or 0}..{'unbounded' if high is None else high}"
    return _result(
        "response_length",
        passed,
        reason=f"{length} characters are outside {bounds}",
        expected=bounds,
        actual=str(length),
    )


_CHECKS: tuple[Callable[[_Answer, Expected], EvaluatorResult | None], ...] = (
    _exact_match,
    _contains_all,
    _contains_any,
    _not_contains,
    _response_length,
)


# Facts


def _facts_results(facts: Sequence[FactResult]) -> list[EvaluatorResult]:
    """The verdict over all facts that are judged in an answer; none if there are no such facts."""
    judged = [fact for fact in facts if fact.where != "context"]
    if not judged:
        return []
    lost = [fact for fact in judged if fact.fate != "retained"]
    fates = Counter(fact.fate for fact in judged)
    return [
        _result(
            "facts",
            not lost,
            score=sum(fact.in_answer is True for fact in judged) / len(judged),
            reason=", ".join(
                f"{one.fact_id} {one.fate}{f' ({one.detail})' if one.detail else ''}" for one in lost
            ),
            expected=f"{len(judged)} retained",
            actual=", ".join(f"{fates[fate]} {fate}" for fate in FATES if fates[fate]),
        )
    ]


def _result(
    name: str, passed: bool, *, reason: str, expected: str, actual: str, score: float | None = None
) -> EvaluatorResult:
    """A result with its texts as one line of at most 240 characters; without a score of its own 0 or 1."""
    return EvaluatorResult(
        name=name,
        passed=passed,
        score=float(passed) if score is None else score,
        failure_reason=None if passed else preview(reason),
        expected_summary=preview(expected),
        actual_summary=preview(actual),
    )


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)
