"""Snippets, a small form and budgets for tests of admission, so that sizes can be added up in the head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxlab.admission.clips import Clip
from ctxlab.admission.passes import admit_snippets
from ctxlab.admission.rendering import Entry, Form
from ctxlab.budget import Budget
from ctxlab.dataset import Scope, Snippet
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    from ctxlab.admission.passes import Admission

HERE = Scope(workspace="w", project="p")
THERE = Scope(workspace="w", project="q")


def snip(
    name: str, text: str | None = None, *, by: tuple[str, ...] = (), time: str | None = None, **fields: Any
) -> Snippet:
    """A snippet whose text is `<name> text.` unless given; `by` names what supersedes it."""
    defaults: dict[str, Any] = {"title": "", "scope": HERE, "text": f"{name} text." if text is None else text}
    return Snippet(id=name, evidence_time=time, superseded_by=by, **{**defaults, **fields})


def write(entry: Entry) -> str:
    """`[id]`, a mark for each label, text, a line break: three bytes more than id and text."""
    label = {None: "", "older": "o", "superseded": "s"}.get(entry.label, "m")
    ellipsis = "… " if entry.is_clip else ""
    return f"[{entry.snippet.id}{label}]{ellipsis}{entry.text}\n"


SMALL = Form(head="H\n", notice="[N]\n", write=write, accounting="content_bytes")
"""Six bytes around the entries; two of them also without evidence."""


def room(tokens: int, **sizes: int) -> Budget:
    """A budget that leaves this many tokens."""
    held_back = sum(sizes.values())
    zero = {"output_reserve_tokens": 0, "protocol_reserve_tokens": 0, "safety_reserve_tokens": 0}
    return Budget(window_tokens=tokens + held_back, **{**zero, **sizes})


def admit(*snippets: Snippet, tokens: int, other: int = 0, **options: Any) -> Admission:
    """Admission in the small form, bytes as tokens."""
    return admit_snippets(
        snippets,
        **{
            "budget": room(tokens),
            "counter": UTF8_BYTES_1,
            "other_tokens": other,
            "form": SMALL,
            **options,
        },
    )


def last_sentence(text: str, language: str | None) -> Clip | str:
    """A rule of clipping that a test can follow: what stands behind the last `. `, if a full stop ends it."""
    if not text.rstrip().endswith("."):
        return "incomplete_tail"
    place = text.rstrip().rfind(". ")
    return Clip(start=place + 2) if place >= 0 else "no_complete_sentence"
