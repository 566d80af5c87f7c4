"""Facts that nobody wrote down: the identifiers of a text (DAT-170)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.identifiers import identifiers

if TYPE_CHECKING:
    from ctxlab.dataset import FactKind
    from ctxlab.identifiers import Identifier

MAXIMUM_DERIVED = 64
LEAST_DIGITS = 4
PATH_KINDS = frozenset({"path", "file_line"})


def derived_facts(text: str, *, kind: FactKind | None = None) -> list[tuple[FactKind, str]]:
    """Kind and literal of each distinct identifier of a text, at most 64, in order of first occurrence.

    Numbers of less than four digits are left out. Without a `kind`, paths are of kind `path`, all else `identifier`.
    """
    found: dict[str, FactKind] = {}
    for one in identifiers(text):
        if not _is_short_number(one):
            found.setdefault(one.text, kind or ("path" if one.kind in PATH_KINDS else "identifier"))
    return [(kind_of, literal) for literal, kind_of in found.items()][:MAXIMUM_DERIVED]


def _is_short_number(one: Identifier) -> bool:
    return one.kind == "number" and sum(character.isdigit() for character in one.text) < LEAST_DIGITS
