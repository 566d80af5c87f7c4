"""Every exception of ctxlab; the command line prints one as one line and leaves with its exit code.

```text
CtxlabError                  1-line message: where, what was found, what is allowed
├── InputError          2    arguments, files, notebook parameters: found before the first request
│   ├── BudgetError          a size or a share is out of range
│   ├── DatasetError         the dataset file; `errors` holds one record per faulty line
│   ├── StrategyError        an unknown strategy, parameter or value
│   ├── ParameterError       a notebook parameter
│   └── LocalModelError      the embedded model or its runtime is missing, damaged or does not start
├── NotFoundError       5    a well-formed run id or alias that does not exist
├── IntegrityError      4    a journal or an artifact is damaged
├── NotebookError       4    a notebook cell failed
├── NestedLoopError     2    a synchronous name inside a loop that cannot be nested
└── CallError           -    one call failed: becomes a row with an error kind, never an answer
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

CallErrorKind = Literal[
    "platform_http_error",
    "timeout",
    "connection_failure",
    "malformed_platform_response",
    "response_too_large",
]

ERROR_MESSAGES: dict[str, str] = {
    "platform_http_error": "The platform answered with an HTTP error.",
    "timeout": "The request exceeded its deadline.",
    "connection_failure": "The platform could not be reached.",
    "malformed_platform_response": "The platform response has an unsupported form.",
    "response_too_large": "The platform response exceeds the size limit.",
    "evaluator_failure": "An evaluator failed.",
    "internal_error": "The row failed inside ctxlab.",
    "budget_exceeded": "No request was sent: nothing valid fits.",
}
"""The fixed message of each error kind (specification, runner section 3)."""


class CtxlabError(Exception):
    """Base of every error that ctxlab raises on purpose."""

    exit_code = 4


class InputError(CtxlabError, ValueError):
    """Invalid input, found before the first request."""

    exit_code = 2


class BudgetError(InputError):
    """A window, reserve, share or target is out of range or of the wrong type."""


class StrategyError(InputError):
    """An unknown strategy, parameter or value in a strategy specification."""


class ParameterError(InputError):
    """A notebook parameter is unknown, of the wrong type, or named like a secret."""


class LocalModelError(InputError):
    """The embedded model or its runtime is missing, damaged, or does not start."""


class NestedLoopError(InputError):
    """A synchronous name was called inside an event loop that cannot be nested."""


class NotFoundError(CtxlabError):
    """A well-formed run id or alias is not found."""

    exit_code = 5


class IntegrityError(CtxlabError):
    """A file that ctxlab wrote is damaged."""


class NotebookError(CtxlabError):
    """A notebook cell failed, or its kernel died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineError:
    """One faulty line of a dataset: `line` is 1-based, `field` dotted with list indices or `-`."""

    file: str
    line: int
    field: str
    rule: str
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.file}:{self.line}: {self.field}: {self.rule}{detail}"


class DatasetError(InputError):
    """A dataset was refused; `errors` holds at most 20 `LineError`, `further` counts the other faulty lines."""

    def __init__(self, errors: Sequence[LineError], *, further: int = 0) -> None:
        self.errors = tuple(errors)
        self.further = further
        lines = [str(error) for error in self.errors]
        if further:
            lines.append(f"{self.errors[0].file}: {further} further faulty lines")
        super().__init__("\n".join(lines))


class CallError(CtxlabError):
    """One attempt of one call failed.

    Attributes:
        kind: error kind, a key of `ERROR_MESSAGES`.
        http_status: status code for `platform_http_error`, else null.
        reached: whether the request may have reached the platform.
        duration_s: monotonic seconds spent on the attempt.
        retry_after_s: seconds the platform asked to wait, else null.
    """

    def __init__(
        self,
        kind: CallErrorKind,
        *,
        http_status: int | None = None,
        reached: bool = True,
        duration_s: float = 0.0,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(ERROR_MESSAGES[kind])
        self.kind: CallErrorKind = kind
        self.http_status = http_status
        self.reached = reached
        self.duration_s = duration_s
        self.retry_after_s = retry_after_s
