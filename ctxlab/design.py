"""What is compared and how: the part of a run that its fingerprint speaks of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ctxlab.budget import SIZES, Budget
from ctxlab.calls import ChatClient, Generation
from ctxlab.cues import CUE_LISTS_SHA256
from ctxlab.dataset import Case, Dataset
from ctxlab.declarations import AttachedGates, Deployment, SystemPrompt
from ctxlab.evaluators import EVALUATOR_VERSION
from ctxlab.experiments import Source, package_source, sha256_of
from ctxlab.identifiers import IDENTIFIER_RULES_SHA256
from ctxlab.prompts import PROMPT_VERSION, prompts_sha256
from ctxlab.segments import SEGMENT_RULES_SHA256

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxlab.prices import Prices
    from ctxlab.strategies.base import Strategy
    from ctxlab.tokens import Counter

Verb = Literal["compare", "eval", "sweep", "admit", "route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is compared and how: the part of a run that its fingerprint speaks of, and what else a manifest tells.

    Attributes:
        verb: which job the run is.
        source: the checkout that the package stands in, looked up once per design.
        system_prompt: put before every case's messages.
        deployment, provenance, attached: what the user declares about the run.
        previews: whether frames and reports may show beginnings of answers (EVA-122).
        ledger: whether the ledger is kept among the frames (FRM-036).
    """

    dataset: Dataset
    strategies: tuple[Strategy, ...]
    client: ChatClient | None
    helper: ChatClient | None
    budget: Budget
    counter: Counter
    helper_budget: Budget | None = None
    generation: Generation = field(default_factory=Generation)
    repeats: int = 1
    concurrency: int = 1
    max_attempts: int = 1
    stream: bool = False
    shuffle_seed: int | None = None
    warmup: int = 0
    tools: tuple[Mapping[str, Any], ...] = ()
    guidance: str | None = None
    prices: Prices | None = None
    verb: Verb = "compare"
    source: Source = field(default_factory=package_source)
    system_prompt: SystemPrompt | None = None
    deployment: Deployment | None = None
    provenance: Mapping[str, Any] | None = None
    attached: AttachedGates | None = None
    previews: bool = True
    ledger: bool = False

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases as they are run: behind the shared system prompt, if there is one (EXP-008)."""
        if self.system_prompt is None:
            return self.dataset.cases
        return tuple(map(self.system_prompt.before, self.dataset.cases))

    @property
    def client_kind(self) -> str:
        """The client's kind, `offline` without one."""
        return "offline" if self.client is None else self.client.kind

    def identity(self) -> dict[str, object]:
        """Everything that shapes the results, as one object for the fingerprint (EXP-003)."""
        generation = self.generation
        return {
            "dataset": self.dataset.sha256,
            "models": {
                "main": self.client.model if self.client else None,
                "helper": self.helper.model if self.helper else None,
            },
            "generation": [generation.temperature, generation.max_tokens, generation.seed],
            "repeats": self.repeats,
            "strategies": [
                {"name": s.name, "kind": s.kind, "parameters": getattr(s, "parameters", {})}
                for s in self.strategies
            ],
            "budget": _sizes(self.budget),
            "helper_budget": _sizes(self.helper_budget) if self.helper_budget else None,
            "thresholds": self.budget.thresholds.canonical(),
            "counter": [self.counter.name, self.counter.vocabulary_sha256],
            "accounting": "chat",
            "prompts": [PROMPT_VERSION, prompts_sha256()],
            "identifier_rules": IDENTIFIER_RULES_SHA256,
            "cue_lists": CUE_LISTS_SHA256,
            "segment_rules": SEGMENT_RULES_SHA256,
            "evaluators": EVALUATOR_VERSION,
            "client": [self.client_kind, "streaming" if self.stream else "buffered"],
            "endpoint_model": self.client.endpoint if self.client_kind == "local" and self.client else None,
            "attempts": self.max_attempts,
            "concurrency": self.concurrency,
            "timeout_s": getattr(self.client, "timeout_s", None),
            "tools": sha256_of(list(self.tools)),
            "guidance": hashlib.sha256((self.guidance or "").encode()).hexdigest(),
            "system_prompt": self.system_prompt.canonical() if self.system_prompt else None,
            "baseline": self.attached.baseline_run_id if self.attached else None,
            "gates": self.attached.resolved if self.attached else None,
            "deployment": self.deployment.canonical() if self.deployment else None,
            "provenance": None if self.provenance is None else sha256_of(self.provenance),
            "commit": self.source.commit,
        }


def _sizes(budget: Budget) -> dict[str, int]:
    return {name: int(getattr(budget, name)) for name in SIZES}
