"""What admission does to one request of known sizes, and what it costs: 64 rows, nothing sent (ADM-080 to ADM-086).

The request is that of `templates/measurement.json`: a system message, and a user message with question and sources.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ctxlab.admission.passes import admit_snippets
from ctxlab.admission.receipt import AdmissionReceipt
from ctxlab.admission.rendering import ELLIPSIS, Entry, Form
from ctxlab.budget import Budget
from ctxlab.dataset import Scope, Snippet
from ctxlab.errors import BudgetError
from ctxlab.estimates import compact_json
from ctxlab.schemas import SCHEMAS
from ctxlab.statistics import nearest_rank
from ctxlab.tabulate import tabulate
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    import pandas as pd

    from ctxlab.tokens import Counter

TEMPLATE = Path(__file__).parent / "templates" / "measurement.json"
LANGUAGES = {"ASCII": "en", "pt-BR": "pt-BR", "CJK": "zh", "code": "code"}
"""The fixtures, and the language of each."""
NUMBERS = (1, 10, 50, 100)
QUESTION = "What does the newest source say?"
QUESTION_BYTES = (32, 160_000)
WARM_UP_CALLS, TRIALS, CALLS = 20, 31, 20
UNTIMED: Mapping[str, int | None] = {"p50_ns": None, "p95_ns": None}
Mode = Literal["off", "on"]
MODES: tuple[Mode, ...] = ("off", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The texts of the request; `sha256` is of the file."""

    system: str
    user: str
    entry: str
    extent: Mapping[str, str]
    notice: str
    answer_schema: Mapping[str, Any]
    texts: Mapping[str, str]
    sha256: str

    def snippets(self, fixture: str, number: int) -> tuple[Snippet, ...]:
        """So many snippets of one text, each a topic of its own; id and title have 31 bytes."""
        scope = Scope(workspace="measurement", project="fixture")
        return tuple(
            Snippet(
                id=f"m{place:03}",
                title=f"Measurement fixture, no {place:03}",
                text=self.texts[fixture],
                scope=scope,
                evidence_time="2025-01-01",
                language=LANGUAGES[fixture],
            )
            for place in range(1, number + 1)
        )

    def form(self, question: str) -> Form:
        """How the sources of a question are written with admission on."""
        return Form(
            head=self.head(question), notice=self.notice, write=self._write, accounting="content_bytes"
        )

    def head(self, question: str) -> str:
        """The user message before the sources."""
        before, after = self.user.split("{question}")
        return f"{before}{question}{after}"

    def plain(self, snippet: Snippet, number: int) -> str:
        """A source with admission off."""
        return self.entry.format(number=number, id=snippet.id, title=snippet.title, text=snippet.text)

    def _write(self, entry: Entry) -> str:
        snippet = entry.snippet
        extent = self.extent["clip" if entry.is_clip else "whole"]
        standing = f"Standing: {entry.label}\n" if entry.label else ""
        text = f"{extent}{standing}{ELLIPSIS if entry.is_clip else ''}{entry.text}"
        return self.entry.format(number=entry.number, id=snippet.id, title=snippet.title, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that was built, and the account of it; if none was built, the contents are null."""

    system: str | None
    user: str | None
    account: Callable[[], AdmissionReceipt]


def load_template() -> Template:
    """The template of the fixture."""
    content = TEMPLATE.read_bytes()
    return Template(**json.loads(content), sha256=hashlib.sha256(content).hexdigest())


def measurement_budget(
    *,
    template: Template,
    counter: Counter = UTF8_BYTES_1,
    window_tokens: int = 16_000,
    output_reserve_tokens: int = 2_000,
    envelope_tokens: int = 1_024,
) -> Budget:
    """The budget of the fixture, its answer schema included (ADM-003).

    Raises `BudgetError` if reserve, envelope and schema leave nothing of the window (ADM-005).
    """
    budget = Budget(
        window_tokens=window_tokens,
        output_reserve_tokens=output_reserve_tokens,
        protocol_reserve_tokens=envelope_tokens,
        safety_reserve_tokens=0,
        tool_tokens=counter(compact_json(template.answer_schema)),
    )
    if budget.message_allowance_tokens() == 0:
        held_back = output_reserve_tokens + envelope_tokens + budget.tool_tokens
        raise BudgetError(
            f"window_tokens: output reserve, envelope and schema reach it; allowed is over {held_back}"
        )
    return budget


def measurement_frame(
    *,
    counter: Counter = UTF8_BYTES_1,
    window_tokens: int = 16_000,
    output_reserve_tokens: int = 2_000,
    envelope_tokens: int = 1_024,
    timing: bool = True,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> pd.DataFrame:
    """64 rows: four numbers of snippets, four scripts, two questions, admission off and on (`measurement`).

    Args:
        counter: what sizes are counted by.
        window_tokens: the target.
        output_reserve_tokens: held back for the answer.
        envelope_tokens: held back for the form of the request.
        timing: whether calls are timed; if not, the columns of times are null.
        clock: monotonic nanoseconds.

    Raises:
        BudgetError: reserve, envelope and schema reach the window.
    """
    template = load_template()
    sizes = {
        "window_tokens": window_tokens,
        "output_reserve_tokens": output_reserve_tokens,
        "envelope_tokens": envelope_tokens,
    }
    measurement_budget(template=template, counter=counter, **sizes)

    def build(snippets: Sequence[Snippet], question: str, mode: Mode) -> Request:
        if mode == "off":
            return request_without(template, snippets, question, counter=counter, **sizes)
        budget = measurement_budget(template=template, counter=counter, **sizes)
        return request_with(template, snippets, question, budget=budget, counter=counter)

    records = []
    for fixture, number, size, mode in itertools.product(LANGUAGES, NUMBERS, QUESTION_BYTES, MODES):
        snippets = template.snippets(fixture, number)
        question = QUESTION * (size // len(QUESTION))
        key = {"fixture": fixture, "snippets": number, "question_bytes": size, "mode": mode}
        call = partial(build, snippets, question, mode)
        records.append(
            {**key, **_sizes(call().account()), **(call_times(call, clock) if timing else UNTIMED)}
        )
    attrs = {"run_id": None, "fingerprint": None, "counter": counter.name, "client_kind": "offline"}
    return tabulate(SCHEMAS["measurement"], records, attrs=attrs)


def request_with(
    template: Template, snippets: Sequence[Snippet], question: str, *, budget: Budget, counter: Counter
) -> Request:
    """The request with what is admitted of the snippets, or none."""
    form = template.form(question)
    found = admit_snippets(
        snippets, budget=budget, counter=counter, other_tokens=counter(template.system), form=form
    )
    system = None if found.text is None else template.system
    return Request(system=system, user=found.text, account=lambda: found.receipt)


def request_without(
    template: Template,
    snippets: Sequence[Snippet],
    question: str,
    *,
    counter: Counter,
    window_tokens: int,
    output_reserve_tokens: int,
    envelope_tokens: int,
) -> Request:
    """The request with every snippet whole, in rank order, without labels; nothing of it is estimated (ADM-008)."""
    entries = [template.plain(snippet, number) for number, snippet in enumerate(snippets, 1)]
    user = "".join([template.head(question), *entries])
    account = partial(
        AdmissionReceipt,
        enabled=False,
        request_built=True,
        refusal=None,
        target_tokens=window_tokens,
        reserved_output_tokens=output_reserve_tokens,
        envelope_tokens=envelope_tokens,
        schema_tokens=None,
        content_tokens=counter(template.system) + counter(user),
        estimated_input_tokens=None,
        limit_tokens=window_tokens - output_reserve_tokens,
        counter=counter.name,
        accounting="content_bytes",
        decisions=(),
    )
    return Request(system=template.system, user=user, account=account)


def measurement_csv(frame: pd.DataFrame) -> str:
    """The frame as CSV: comma, point, LF, `NA` for null (ADM-086)."""
    return str(frame.to_csv(index=False, lineterminator="\n", na_rep="NA"))


def _sizes(receipt: AdmissionReceipt) -> dict[str, Any]:
    """The columns of one request; with admission off nothing is decided (FRM-037)."""
    counts = {
        "admitted": len(receipt.admitted),
        "omitted": len(receipt.omitted),
        "clipped": len(receipt.clipped),
    }
    return {
        "request_built": receipt.request_built,
        "content_bytes": receipt.content_tokens,
        "schema_bytes": receipt.schema_tokens,
        "estimated_input": receipt.estimated_input_tokens,
        **(counts if receipt.enabled else dict.fromkeys(counts)),
    }


def call_times(call: Callable[[], object], clock: Callable[[], int]) -> dict[str, int | None]:
    """Nanoseconds per call: nearest rank over trials of many calls, after some that do not count (ADM-085)."""
    for _ in range(WARM_UP_CALLS):
        call()
    trials = []
    for _ in range(TRIALS):
        start = clock()
        for _ in range(CALLS):
            call()
        trials.append((clock() - start) // CALLS)
    return {
        "p50_ns": nearest_rank(trials, share=0.5),
        "p95_ns": nearest_rank(trials, share=0.95),
    }
