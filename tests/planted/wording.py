"""The form in which a language says what can become of a fact; the sentences themselves are written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ctxlab.dataset import FactKind


class Wording(NamedTuple):
    """How people speak of one kind of fact.

    In sentences `{x}` is the subject, `{a}` and `{g}` its accusative and genitive, `{X}` the subject with a capital.

    Attributes:
        subjects: literals of each subject, by case where the language has cases.
        told: how the history states the fact.
        holds, claims: the regular expressions that a careful author of a dataset gives, searched near a literal.
        kept: sentences of an answer that repeat the fact as it is.
        turned: sentences that claim what must not be claimed.
        silent: sentences that name the subject and not its status.
        kept_labels, turned_labels: the same as the short words of tables, headings and lists.
    """

    kind: FactKind
    subjects: tuple[tuple[str, ...], ...]
    told: tuple[str, ...]
    holds: str
    claims: str
    kept: tuple[str, ...]
    turned: tuple[str, ...]
    silent: tuple[str, ...]
    kept_labels: tuple[str, ...]
    turned_labels: tuple[str, ...]


class Language(NamedTuple):
    """All wordings of a language.

    Attributes:
        plain: of the kinds without patterns, what an answer says around a literal.
        vague: sentences about facts that name none of them.
        item, status, owner, links: words for the columns of a table, the lines of a list and a last heading.
        aside: a line that says nothing of any status.
    """

    code: str
    statuses: tuple[Wording, ...]
    plain: dict[FactKind, tuple[str, ...]]
    vague: tuple[str, ...]
    question: str
    item: str
    status: str
    owner: str
    links: str
    aside: str
