"""Admission on 1 to 100 snippets of four scripts, against rendering all of them, as `ctxlab admit` measures it.

Both build the request from the template; admission sizes the answer schema, too. The account of the decisions is made
when it is read, so it is measured apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.pairs import paired
from ctxlab.estimates import compact_json
from ctxlab.measurement import (
    LANGUAGES,
    NUMBERS,
    QUESTION,
    load_template,
    measurement_budget,
    request_with,
    request_without,
)
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    from collections.abc import Callable

AT_MOST = {1: 4.0, 100: 1.0}
SIZES = {"window_tokens": 16_000, "output_reserve_tokens": 2_000, "envelope_tokens": 1_024}
PAIRS = 15


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per script and number of snippets; microseconds per call."""
    numbers = (1, 100) if quick else NUMBERS
    return [_row(fixture, number) for fixture in LANGUAGES for number in numbers]


def _row(fixture: str, number: int) -> dict[str, object]:
    template = load_template()
    snippets = template.snippets(fixture, number)
    budget = measurement_budget(template=template)

    def admit() -> Callable[[], object]:
        UTF8_BYTES_1(compact_json(template.answer_schema))
        return request_with(template, snippets, QUESTION, budget=budget, counter=UTF8_BYTES_1).account

    def render() -> object:
        return request_without(template, snippets, QUESTION, counter=UTF8_BYTES_1, **SIZES)

    calls = 2_000 // number + 20
    timed = paired(_repeated(admit, calls), _repeated(render, calls), pairs=PAIRS)
    accounted = paired(_repeated(lambda: admit()(), calls // 10), _repeated(render, calls // 10))
    return {
        "fixture": fixture,
        "snippets": number,
        "admit_us": timed.work_s / calls * 1e6,
        "render_us": timed.against_s / calls * 1e6,
        "ratio": timed.ratio,
        "at_most": AT_MOST.get(number),
        "ratio_with_account": accounted.ratio,
    }


def _repeated(call: Callable[[], object], calls: int) -> Callable[[], object]:
    def work() -> None:
        for _ in range(calls):
            call()

    return work
