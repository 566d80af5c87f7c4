"""What became of each fact: where its literals are, and its fate in an answer (specification, evaluation section 2).

Literals are looked for in four places: history, snippets, the fitted context, and the answer. The question is in
none of the first three: an answer that repeats it remembers nothing. Each text is normalised once per row.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import regex

from ctxlab.messages import Synthetic, question_place
from ctxlab.records import FactResult
from ctxlab.statements import statements
from ctxlab.text import find_literal, normalize, searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxlab.dataset import Case, Fact, Pattern
    from ctxlab.messages import Message
    from ctxlab.records import Fate

_CLAUSE = re.compile("[;；]")
_BESIDE_LITERAL = 16
"""How many letters and digits a title may have besides the literal that it is taken to name."""
PATTERN_SECONDS = 1.0
"""How long all regular expressions of one answer may search together (EVA-014)."""


def is_judged(case: Case) -> bool:
    """Whether an answer to the case can pass or fail; if not, its rows are unjudged (EVA-003)."""
    return case.expected is not None or any(fact.where != "context" for fact in case.facts)


def judge_facts(
    case: Case, fitted_messages: Sequence[Message] | None, answer: str | None
) -> tuple[FactResult, ...]:
    """Every fact of a case: where it was found, and its fate.

    Args:
        case: the case with its facts.
        fitted_messages: what was sent or would have been; null if nothing was fitted.
        answer: the stored answer; null without one, which gives the fate `not_judged`.

    Raises `TimeoutError` if the regular expressions search the answer for over a second; never without an answer.
    """
    if not case.facts:
        return ()
    return judge(Places(case, fitted_messages, answer))


def judge(places: Places) -> tuple[FactResult, ...]:
    """`judge_facts` on places that were prepared before."""
    answer_time, context_time = PatternTime(), PatternTime()
    return tuple(_judge(fact, places, answer_time, context_time) for fact in places.case.facts)


def fact_warnings(case: Case) -> tuple[tuple[str, str], ...]:
    """What is odd about a case's facts, as (rule, fact id) in order (DAT-055).

    `fact_not_in_source`: no literal in messages or snippets, though one is expected there; `literal_in_question`:
    the question gives the fact away.
    """
    if not case.facts:
        return ()
    place = question_place(case.messages)
    question = Searched(_texts([case.messages[place]]))
    others = (*case.messages[:place], *case.messages[place + 1 :])
    source = Searched([*_texts(others), *_snippet_texts(case)])
    asking = question.folded
    found = []
    for fact in case.facts:
        asked = _holds(asking, fact)
        if fact.where != "answer" and not asked and not source.shows(fact):
            found.append(("fact_not_in_source", fact.id))
        if asked:
            found.append(("literal_in_question", fact.id))
    return tuple(found)


class Unit(NamedTuple):
    """A text as literals and phrases are found in it, and as regular expressions are (EVA-026)."""

    folded: str
    collapsed: str


class Said(NamedTuple):
    """A sentence or line, and the titles over it (EVA-025)."""

    text: Unit
    titles: tuple[Unit, ...]
    is_fragment: bool


class Searched:
    """Some texts to be searched, normalised once and only as far as they are needed."""

    def __init__(
        self,
        texts: Iterable[str],
        fold: Callable[[str], str] = searchable,
        *,
        language: str | None = None,
    ) -> None:
        self._texts = tuple(texts)
        self._fold = fold
        self._language = language

    @cached_property
    def folded(self) -> str:
        """All texts for literals, apart from each other: a newline is in no normalised text."""
        return "\n".join(map(self._fold, self._texts))

    @cached_property
    def written(self) -> str:
        """All texts as they are."""
        return "\0".join(self._texts)

    @cached_property
    def wholes(self) -> tuple[Unit, ...]:
        """Each text for patterns."""
        return tuple(map(_unit, self._texts))

    @cached_property
    def sentences(self) -> tuple[Said, ...]:
        """Each sentence and line for near patterns."""
        unit = lru_cache(maxsize=None)(_unit)  # a title stands over many
        return tuple(
            Said(unit(said.text), tuple(map(unit, said.titles)), said.is_fragment)
            for text in self._texts
            for said in statements(text, language=self._language)
        )

    def near(self, fact: Fact) -> Iterator[Said]:
        """The sentences and lines that hold one of the fact's literals, and those under a title that is one."""
        for said in self.sentences:
            if _holds(said.text.folded, fact) or any(_is_title_of(title, fact) for title in said.titles):
                yield said

    def holds(self, fact: Fact) -> bool:
        """Whether one of the fact's literals occurs."""
        return _holds(self.folded, fact)

    def shows(self, fact: Fact) -> bool:
        """The same as `holds`, found without normalising anything where a literal stands as it is written."""
        written = self.written
        for literal in fact.literals:
            if find_literal(written, literal, match=fact.match) is not None:
                return True
        return self.holds(fact)

    def has(self, literal: str) -> bool:
        """Whether the literal occurs as a word of its own."""
        return find_literal(self.folded, searchable(literal)) is not None


def _unit(text: str) -> Unit:
    collapsed = normalize(text, unicode_form="NFC", collapse_whitespace=True, casefold=False)
    return Unit(collapsed.casefold(), collapsed)


_folded_literal = lru_cache(maxsize=4096)(searchable)


def _holds(folded: str, fact: Fact) -> bool:
    for literal in fact.literals:
        sought = _folded_literal(literal)
        if sought in folded and find_literal(folded, sought, match=fact.match) is not None:
            return True
    return False


class Places:
    """Where a case's facts are looked for.

    Attributes:
        history, snippets: the source, without the question; of a snippet its id, title and text.
        context: the fitted messages but the question and trailing guidance; null if nothing was fitted.
        synthetic: those of them that a strategy wrote.
        question: the question alone.
        answer: null without one.
    """

    def __init__(self, case: Case, fitted_messages: Sequence[Message] | None, answer: str | None) -> None:
        place = question_place(case.messages)
        question = case.messages[place]
        others = [message for i, message in enumerate(case.messages) if i != place]
        fold = lru_cache(maxsize=None)(searchable)  # most messages stand in the source and in the context
        self.case = case
        language = case.language
        self.history = Searched(_texts(others), fold, language=language)
        self.snippets = Searched(_snippet_texts(case), language=language)
        self.question = Searched(_texts([question]))
        self.answer = None if answer is None else Searched([answer], language=language)
        fitted = None if fitted_messages is None else list(_without(fitted_messages, question))
        self.context = None if fitted is None else Searched(_texts(fitted), fold)
        self.synthetic = Searched(
            _texts(m for m in fitted or () if isinstance(m, Synthetic)), language=language
        )

    @property
    def source(self) -> tuple[Searched, Searched]:
        """History and snippets."""
        return self.history, self.snippets

    @property
    def sent(self) -> tuple[Searched, ...]:
        """Everything that the model saw; without a fitted context, the whole case."""
        return (*(self.source if self.context is None else (self.context,)), self.question)


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """Content of each message, and of its calls names and arguments."""
    for message in messages:
        yield message.text
        for call in message.tool_calls:
            yield call.function.name
            yield call.function.arguments


def _snippet_texts(case: Case) -> Iterator[str]:
    """Id, title and text of each snippet."""
    for snippet in case.snippets:
        yield from (snippet.id, snippet.title, snippet.text)


def _without(messages: Sequence[Message], question: Message) -> Iterator[Message]:
    """The fitted messages but the question, which is the last one equal to it, and trailing guidance (STR-013)."""
    place = next((i for i in range(len(messages) - 1, -1, -1) if messages[i] == question), -1)
    for i, message in enumerate(messages):
        if i != place and not (isinstance(message, Synthetic) and message.made_by == "guidance"):
            yield message


def _judge(fact: Fact, places: Places, answer_time: PatternTime, context_time: PatternTime) -> FactResult:
    in_history, in_snippets = places.history.holds(fact), places.snippets.holds(fact)
    fate, detail = _fate(fact, places, answer_time)
    return FactResult(
        fact_id=fact.id,
        kind=fact.kind,
        where=fact.where,
        source=_source(in_history=in_history, in_snippets=in_snippets),
        in_source=in_history or in_snippets,
        in_context=None if places.context is None else places.context.holds(fact),
        in_answer=None if places.answer is None else places.answer.holds(fact),
        context_reversed=_context_reversed(fact, places, context_time),
        fate=fate,
        detail=detail,
    )


def _source(*, in_history: bool, in_snippets: bool) -> Literal["history", "snippet", "both", "none"]:
    if in_history:
        return "both" if in_snippets else "history"
    return "snippet" if in_snippets else "none"


def _fate(fact: Fact, places: Places, time: PatternTime) -> tuple[Fate, str | None]:
    """The first rule that applies (EVA section 2, table of fates)."""
    answer = places.answer
    if answer is None or fact.where == "context":
        return "not_judged", None
    if any(_claimed(pattern, fact, answer, time) for pattern in fact.must_not_claim):
        return "reversed", None
    if not answer.holds(fact):
        return "missing", "no_literal"
    if fact.where != "answer" and not any(place.holds(fact) for place in places.sent):
        return "unsupported_claim", None
    if all(_found(pattern, fact, answer, time) for pattern in fact.must_hold):
        return "retained", None
    return "missing", "status_not_stated"


def _context_reversed(fact: Fact, places: Places, time: PatternTime) -> bool | None:
    """Whether a strategy's own words claim what the fact forbids and the source does not claim (EVA-028).

    Null if nothing was fitted, and if the expressions ran over their time: then it is unknown.
    """
    if places.context is None:
        return None
    try:
        return any(
            _claimed(pattern, fact, places.synthetic, time)
            and not any(_claimed(pattern, fact, place, time) for place in places.source)
            for pattern in fact.must_not_claim
        )
    except TimeoutError:
        return None


# Patterns


class PatternTime:
    """The time that regular expressions have left; searching beyond it raises `TimeoutError`."""

    def __init__(self, seconds: float = PATTERN_SECONDS) -> None:
        self._left_s = seconds

    def finds(self, expression: str, text: str) -> bool:
        """Whether the expression matches somewhere in the text."""
        if self._left_s <= 0:
            raise TimeoutError
        start_s = perf_counter()
        try:
            return compile_pattern(expression).search(text, timeout=self._left_s) is not None
        finally:
            self._left_s -= perf_counter() - start_s


@lru_cache(maxsize=4096)
def compile_pattern(expression: str) -> regex.Pattern[str]:
    """A fact's regular expression, case ignored; raises `regex.error` if it is none."""
    return regex.compile(expression, regex.IGNORECASE)


def _found(pattern: Pattern, fact: Fact, place: Searched, time: PatternTime) -> bool:
    """Whether a pattern that has to hold is found, near one of the fact's literals if it has to be (EVA-025)."""
    if not pattern.near:
        return any(_matches(pattern, unit, time) for unit in place.wholes)
    return any(
        _matches(pattern, unit, time) for said in place.near(fact) for unit in (said.text, *said.titles)
    )


def _claimed(pattern: Pattern, fact: Fact, place: Searched, time: PatternTime) -> bool:
    """Whether a pattern that must not be claimed is found.

    A title claims it of the fragments below, and of a sentence unless that states the fact by itself.
    """
    if not pattern.near:
        return any(_matches(pattern, unit, time) for unit in place.wholes)
    for said in place.near(fact):
        if _matches(pattern, _from_literal(said.text, fact), time):
            return True
        if any(_matches(pattern, title, time) for title in said.titles) and (
            said.is_fragment or not _states(fact, said.text, time)
        ):
            return True
    return False


def _states(fact: Fact, unit: Unit, time: PatternTime) -> bool:
    return bool(fact.must_hold) and all(_matches(pattern, unit, time) for pattern in fact.must_hold)


def _matches(pattern: Pattern, unit: Unit, time: PatternTime) -> bool:
    if pattern.phrase is not None:
        return searchable(pattern.phrase) in unit.folded
    return time.finds(pattern.regex or "", unit.collapsed)


def _from_literal(unit: Unit, fact: Fact) -> Unit:
    """The sentence without the clauses before the one that names the fact (DAT-051).

    A clause may speak of what an earlier one has named, but hardly of what only a later one names.
    """
    clauses = _CLAUSE.split(unit.collapsed)
    first = next((i for i, clause in enumerate(clauses) if _holds(clause.casefold(), fact)), 0)
    return _unit(";".join(clauses[first:])) if first else unit


def _is_title_of(title: Unit, fact: Fact) -> bool:
    """Whether a title consists of one of the fact's literals, a few characters aside."""
    written = sum(map(str.isalnum, title.folded))
    return _holds(title.folded, fact) and any(
        written - sum(map(str.isalnum, literal)) <= _BESIDE_LITERAL for literal in fact.literals
    )
