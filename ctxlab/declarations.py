"""What users declare about a run beside its design: shared system prompt, deployment, provenance, attached gates.

All of it enters the fingerprint and the manifest; the text of the prompt enters requests only (EXP-003, 008, 027, 028).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from ctxlab.dataset import Case
from ctxlab.errors import InputError
from ctxlab.files import demand_file
from ctxlab.messages import Message
from ctxlab.strict_json import RuleError, check_depth, parse_json

MOST_PROMPT_BYTES = 32_768
MOST_PROVENANCE_BYTES = 64 * 1024
MOST_NAME_CHARACTERS = 128
Runtime = Literal["host", "docker", "compose", "other"]
RELATIVE_GATES = frozenset({"max_pass_rate_drop", "max_p95_latency_increase_percent"})
"""Gates that compare with a baseline."""
_NAME = re.compile(rf"[ -~]{{1,{MOST_NAME_CHARACTERS}}}")
_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
_WORD = re.compile(r"[a-z_]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """A system message that is put before every case's messages; stored nowhere but as its hash (EXP-008).

    Attributes:
        name, version: one line of 1 to 128 printable ASCII characters each.
        sha256: of the file's bytes.
    """

    name: str
    version: str
    text: str = field(repr=False)
    sha256: str

    def before(self, case: Case) -> Case:
        """The case with this prompt in front."""
        return replace(case, messages=(Message(role="system", content=self.text), *case.messages))

    def canonical(self) -> dict[str, str]:
        """What fingerprint and manifest say of it."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}


def load_system_prompt(
    path: str | Path | None, *, name: str | None, version: str | None
) -> SystemPrompt | None:
    """Read a shared system prompt: UTF-8 of 1 to 32,768 bytes; null if neither file nor name nor version is given.

    Raises:
        InputError: one of the three is missing, or the file breaks a rule.
    """
    if path is None and name is None and version is None:
        return None
    if path is None or name is None or version is None:
        raise InputError("system prompt: file, name and version are given together or not at all")
    for meaning, word in (("name", name), ("version", version)):
        _demand_name(f"system prompt {meaning}", word)
    content = _content(path, most_bytes=MOST_PROMPT_BYTES)
    if not content:
        raise InputError(f"{Path(path).name}: is empty; a system prompt has 1 to {MOST_PROMPT_BYTES:,} bytes")
    return SystemPrompt(
        name=name, version=version, text=_text(path, content), sha256=hashlib.sha256(content).hexdigest()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Where the platform runs, as the user says; `image` and `name` need a runtime (EXP-028)."""

    __pydantic_config__: ClassVar[dict[str, bool | str]] = {"strict": True, "extra": "forbid"}

    runtime: Runtime
    image: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.runtime not in get_args(Runtime):
            raise InputError(f"deployment runtime: allowed is {', '.join(get_args(Runtime))}")
        for meaning, word in (("image", self.image), ("name", self.name)):
            if word is not None:
                _demand_name(f"deployment {meaning}", word)

    def canonical(self) -> dict[str, str | None]:
        """What fingerprint and manifest say of it."""
        return {"runtime": self.runtime, "image": self.image, "name": self.name}


def deployment_from_words(
    *, runtime: str | None, image: str | None = None, name: str | None = None
) -> Deployment | None:
    """The deployment in words; null if nothing is said. Raises `InputError` for image or name without runtime."""
    if runtime is None:
        if image is not None or name is not None:
            raise InputError("deployment: image and name need --deployment-runtime")
        return None
    return Deployment(runtime=runtime, image=image, name=name)  # type: ignore[arg-type]  # checked there


def load_provenance(path: str | Path) -> dict[str, Any]:
    """Read an external provenance block: one JSON object of at most 64 KiB, strictly (EXP-028).

    Raises:
        InputError: naming the field and the rule.
    """
    name = Path(path).name
    try:
        found = parse_json(_text(path, _content(path, most_bytes=MOST_PROVENANCE_BYTES)))
        check_depth(found)
    except RuleError as broken:
        detail = f" ({broken.detail})" if broken.detail else ""
        raise InputError(f"{name}: {broken.field}: {broken.rule}{detail}") from None
    if not isinstance(found, dict):
        raise InputError(f"{name}: expected one JSON object")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedGates:
    """Gates that are judged at the end of a run, and the run that they compare with (EXP-027).

    Attributes:
        given: text by option of the gates, such as `{"min_pass_rate": "0.9", "recall": "context"}`.
        baseline: run id or alias as the user gave it.
        baseline_run_id: the run that it stands for.
    """

    given: Mapping[str, str]
    baseline: str | None = None
    baseline_run_id: str | None = None

    def __post_init__(self) -> None:
        relative = sorted(RELATIVE_GATES & set(self.given))
        if relative and self.baseline is None:
            raise InputError(f"gates: {relative[0]} compares with a baseline, and none is given")
        if self.baseline is not None and not self.given:
            raise InputError("baseline: is compared with only by gates, and none is given")
        for name, text in self.given.items():
            if not (_NUMBER.fullmatch(text) or _WORD.fullmatch(text)):
                raise InputError(f"gates: {name}: expected a number such as 0.9, or a word")

    @property
    def resolved(self) -> dict[str, str]:
        """Numbers as exact fractions, the same text however they were spelled; words as they are."""
        return {
            name: str(Fraction(Decimal(text))) if _NUMBER.fullmatch(text) else text
            for name, text in sorted(self.given.items())
        }


def _content(path: str | Path, *, most_bytes: int) -> bytes:
    demand_file(path)
    name = Path(path).name
    try:
        with Path(path).open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or 'I/O error'}") from None
    if len(content) > most_bytes:
        raise InputError(f"{name}: is too large; allowed are {most_bytes:,} bytes")
    return content


def _text(path: str | Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{Path(path).name}: is not UTF-8 at byte {error.start}") from None


def _demand_name(meaning: str, word: str) -> None:
    if not _NAME.fullmatch(word):
        raise InputError(f"{meaning}: expected 1 to {MOST_NAME_CHARACTERS} printable ASCII characters")
