"""Cases and answers whose fates are known by construction: wordings, put into the layouts in which people answer."""

from __future__ import annotations

import random
import textwrap
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from ctxlab.dataset import Case, Fact, Pattern
from tests.factories import assistant, make_case, user
from tests.planted.chinese import CHINESE
from tests.planted.english import ENGLISH
from tests.planted.portuguese import PORTUGUESE
from tests.planted.russian import RUSSIAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxlab.dataset import FactKind
    from ctxlab.messages import Message
    from tests.planted.wording import Language, Wording

LANGUAGES = (ENGLISH, PORTUGUESE, CHINESE, RUSSIAN)
ROLES = ("kept", "turned", "kept", "turned", "silent", "absent", "unsent", "context")
PLAIN_ROLES = ("kept", "absent", "unsent", "kept", "lookalike", "answer", "context")
FATES = {
    "kept": ("retained", None),
    "turned": ("reversed", None),
    "silent": ("missing", "status_not_stated"),
    "absent": ("missing", "no_literal"),
    "lookalike": ("missing", "no_literal"),
    "unsent": ("unsupported_claim", None),
    "context": ("not_judged", None),
    "answer": ("retained", None),
}
"""What a fact becomes when the answer says of it what the role says."""


class Part(NamedTuple):
    """One fact, what the answer says of it as a sentence and as a label, and the fate that this gives it."""

    fact: Fact
    told: str
    role: str
    subject: str | None
    sentence: str
    label: str | None


class Planted(NamedTuple):
    """A case, what was sent of it, the answer (null: none came), and (fate, detail) of each fact."""

    case: Case
    sent: tuple[Message, ...]
    answer: str | None
    fates: dict[str, tuple[str, str | None]]
    layout: str


def planted(seed: int = 0, *, per_language: int = 40) -> Iterator[Planted]:
    """The set: the same for the same seed."""
    for language in LANGUAGES:
        for number in range(per_language):
            chance = random.Random(f"{seed}/{language.code}/{number}")
            yield _case(language, number, chance)


def _case(language: Language, number: int, chance: random.Random) -> Planted:
    layout = list(LAYOUTS)[number % len(LAYOUTS)]
    parts = _parts(language, number, chance)
    answer = None if number % 13 == 12 else _noisy(LAYOUTS[layout](parts, language, chance), chance)
    told = {part.fact.id: assistant(f"{part.told} {language.aside}") for part in parts}
    case = make_case(
        f"{language.code}-{number}".lower(),
        category="planted",
        messages=(user(language.aside), *told.values(), user(language.question)),
        facts=tuple(part.fact for part in parts),
        language=language.code,
        expected=None,
    )
    unsent = [told[part.fact.id] for part in parts if part.role == "unsent"]
    sent = tuple(message for message in case.messages if not any(message is one for one in unsent))
    fates = {p.fact.id: FATES["context" if answer is None else p.role] for p in parts}
    return Planted(case, sent, answer, fates, layout)


def _parts(language: Language, number: int, chance: random.Random) -> list[Part]:
    wordings = chance.sample(language.statuses, 4)
    plain: list[FactKind] = chance.sample(["identifier", "path", "reason"], 2)
    parts = [
        _status_part(wording, f"f{i}", ROLES[(5 * number + i) % len(ROLES)], language, chance)
        for i, wording in enumerate(wordings)
    ]
    for i, kind in enumerate(plain, start=len(parts)):
        role = PLAIN_ROLES[(2 * number + i) % len(PLAIN_ROLES)]
        parts.append(_plain_part(kind, f"f{i}", role, language, chance))
    chance.shuffle(parts)
    return parts


def _status_part(
    wording: Wording, fact_id: str, role: str, language: Language, chance: random.Random
) -> Part:
    subject = chance.choice(wording.subjects)
    fact = Fact(
        id=fact_id,
        kind=wording.kind,
        literals=tuple(dict.fromkeys(subject)),
        must_hold=(Pattern(regex=wording.holds, near=True),),
        must_not_claim=(Pattern(regex=wording.claims, near=True),),
        where="context" if role == "context" else "both",
    )
    says = {"unsent": "kept", "context": chance.choice(["kept", "turned"])}.get(role, role)
    sentences = {"kept": wording.kept, "turned": wording.turned, "silent": wording.silent}
    labels = {"kept": wording.kept_labels, "turned": wording.turned_labels}
    return Part(
        fact=fact,
        told=filled(chance.choice(wording.told), subject),
        role=role,
        subject=None if says == "absent" else subject[0],
        sentence=filled(chance.choice(sentences.get(says, language.vague)), subject),
        label=chance.choice(labels[says]) if says in labels else None,
    )


def _plain_part(kind: FactKind, fact_id: str, role: str, language: Language, chance: random.Random) -> Part:
    literal, lookalike = _literal(kind, chance)
    where = {"context": "context", "answer": "answer"}.get(role, "both")
    fact = Fact(id=fact_id, kind=kind, literals=(literal,), where=where)  # type: ignore[arg-type]
    named = {"absent": None, "lookalike": lookalike}.get(role, literal)
    sentence = language.vague[0] if named is None else chance.choice(language.plain[kind])
    return Part(
        fact=fact,
        told=language.vague[1] if role == "answer" else filled(language.plain[kind][0], (literal,)),
        role=role,
        subject=named,
        sentence=filled(sentence, (named or "",)),
        label=None,
    )


def _literal(kind: FactKind, chance: random.Random) -> tuple[str, str]:
    """A literal, and what looks like it and is another word."""
    number = chance.randint(1000, 9999)
    made = {
        "identifier": [(f"INC-{number}", f"INC-{number}7"), (f"cfg_{number}", f"xcfg_{number}")],
        "path": [(f"src/app/part_{number}.py", f"src/app/part_{number}.pyi")],
        "reason": [(f"E{number}", f"E{number}0"), (f"errno {number}", f"errno {number}1")],
    }
    return chance.choice(made[kind])


def filled(sentence: str, subject: tuple[str, ...]) -> str:
    """The sentence about this subject."""
    nominative, accusative, genitive = subject if len(subject) == 3 else (subject[0],) * 3
    forms = {"x": nominative, "a": accusative, "g": genitive}
    capital = {name.upper(): form[:1].upper() + form[1:] for name, form in forms.items()}
    return sentence.format(**forms, **capital)


# Layouts


def _said(parts: list[Part]) -> list[str]:
    return [part.sentence for part in parts if part.sentence]


def _prose(parts: list[Part], language: Language, chance: random.Random) -> str:
    return ("" if language.code == "zh" else " ").join([language.aside, *_said(parts)])


def _paragraphs(parts: list[Part], language: Language, chance: random.Random) -> str:
    return "\n\n".join([*_said(parts), language.aside])


def _lines(parts: list[Part], language: Language, chance: random.Random) -> str:
    return "\n".join([language.aside, *_said(parts)])


def _bullets(parts: list[Part], language: Language, chance: random.Random) -> str:
    mark = chance.choice(["- ", "* ", "• "])
    return f"{language.aside}\n\n" + "\n".join(mark + line for line in _said(parts))


def _numbered(parts: list[Part], language: Language, chance: random.Random) -> str:
    return "\n".join(f"{n}. {line}" for n, line in enumerate(_said(parts), start=1))


def _wrapped(parts: list[Part], language: Language, chance: random.Random) -> str:
    return textwrap.fill(_prose(parts, language, chance), 48, break_on_hyphens=False, break_long_words=False)


def _quoted(parts: list[Part], language: Language, chance: random.Random) -> str:
    return f"{language.aside}\n\n" + "\n>\n".join(f"> {line}" for line in _said(parts))


def _table(parts: list[Part], language: Language, chance: random.Random) -> str:
    head = f"| {language.item} | {language.status} | {language.owner} |\n|---|---|---|"
    rows = [f"| {p.subject} | {p.label or '-'} | Ana |" for p in parts if p.subject]
    return "\n".join([head, *rows])


def _headed(parts: list[Part], language: Language, chance: random.Random) -> str:
    """Items under headings that say their status; a heading may be marked or a word with a colon."""
    form = chance.choice(["## {}\n", "**{}**\n", "{}:", "### {}\n\n"])
    groups: dict[str, list[str]] = {}
    for part in parts:
        if part.subject:
            groups.setdefault(_capital(part.label or language.links), []).append(f"- {part.subject}")
    return "\n\n".join(form.format(name) + "\n" + "\n".join(items) for name, items in groups.items())


def _nested(parts: list[Part], language: Language, chance: random.Random) -> str:
    """Each item with its status as an item below it."""
    lines = []
    for part in parts:
        if part.subject:
            lines.append(f"- {part.subject}")
            lines += [f"  - {language.status}: {part.label}"] if part.label else []
            lines.append(f"  - {language.owner}: Ana")
    return "\n".join(lines)


def _titled(parts: list[Part], language: Language, chance: random.Random) -> str:
    """Each item as a heading, its status as the text below."""
    stop = "。" if language.code == "zh" else "."
    shown = [(p.subject, p.label) for p in parts if p.subject]
    return "\n\n".join(
        f"### {subject}\n\n{_capital(label) + stop if label else language.aside}" for subject, label in shown
    )


def _labelled(parts: list[Part], language: Language, chance: random.Random) -> str:
    """The status first: a bold word, a colon, the item."""
    shown = [(_capital(p.label or language.links), p.subject) for p in parts if p.subject]
    return "\n".join(f"- **{label}:** {subject}" for label, subject in shown)


def _keyed(parts: list[Part], language: Language, chance: random.Random) -> str:
    """A fenced block of keys and values."""
    shown = [(p.subject, p.label or "-") for p in parts if p.subject]
    lines = "\n".join(f'  "{subject}": "{label}",' for subject, label in shown)
    return f"{language.aside}\n\n```json\n{{\n{lines}\n}}\n```"


def _checklist(parts: list[Part], language: Language, chance: random.Random) -> str:
    """Open work as boxes to tick, the rest as sentences."""
    boxes = {"kept": "[ ]", "unsent": "[ ]", "turned": "[x]"}
    lines = []
    for part in parts:
        if part.fact.kind in ("pending", "remaining") and part.role in boxes:
            lines.append(f"- {boxes[part.role]} {part.subject}")
        else:
            lines.append(f"- {part.sentence}")
    return "\n".join(lines)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


LAYOUTS: dict[str, Callable[[list[Part], Language, random.Random], str]] = {
    "prose": _prose,
    "bullets": _bullets,
    "table": _table,
    "paragraphs": _paragraphs,
    "headed": _headed,
    "wrapped": _wrapped,
    "numbered": _numbered,
    "nested": _nested,
    "lines": _lines,
    "titled": _titled,
    "quoted": _quoted,
    "labelled": _labelled,
    "checklist": _checklist,
    "keyed": _keyed,
}


# Noise that changes no meaning


def _noisy(answer: str, chance: random.Random) -> str:
    noise = chance.choice([None, None, None, "decomposed", "crlf", "no_break", "opening"])
    if noise == "decomposed":
        return unicodedata.normalize("NFD", answer)
    if noise == "crlf":
        return answer.replace("\n", "\r\n")
    if noise == "no_break":
        return answer.replace(" ms", "\N{NO-BREAK SPACE}ms").replace(" GiB", "\N{NO-BREAK SPACE}GiB")
    return f"\ufeff\n\n{answer}\n" if noise == "opening" else answer
