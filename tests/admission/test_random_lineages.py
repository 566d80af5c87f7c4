"""Random lineages against the definitions, read off pair by pair."""

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ctxlab.admission.lineage import arrange, folded_title, own_time
from ctxlab.admission.passes import admit_snippets
from ctxlab.admission.rendering import EVIDENCE, Entry
from ctxlab.tokens import UTF8_BYTES_1
from tests.admission.building import room
from tests.histories import retrievals


class Definitions:
    """Topics, chains, times and what obsoletes what, by their definitions and not by any order."""

    def __init__(self, snippets):
        self.snippets = snippets
        self.ranks = range(len(snippets))
        places = {snippet.id: rank for rank, snippet in enumerate(snippets)}
        named = {
            (rank, places[name])
            for rank, snippet in enumerate(snippets)
            for name in snippet.superseded_by
            if name in places and snippets[places[name]].scope == snippet.scope
        }
        reach = self.closed(named)
        self.chains = self.closed({(a, b) for a, b in named if (b, a) not in reach and a != b})
        same = {
            (a, b)
            for a, b in product(self.ranks, self.ranks)
            if snippets[a].scope == snippets[b].scope
            and folded_title(snippets[a].title) == folded_title(snippets[b].title) != ""
        }
        self.topics = self.closed(same | named | {(b, a) for a, b in named})

    def closed(self, pairs):
        """The transitive closure."""
        found = set(pairs)
        for middle in self.ranks:
            found |= {(a, b) for a in self.ranks for b in self.ranks if {(a, middle), (middle, b)} <= found}
        return found

    def time(self, rank):
        known = [own_time(self.snippets[r]) for r in self.ranks if r == rank or (r, rank) in self.chains]
        return max((time for time in known if time is not None), default=None)

    def newer(self, one, other):
        mine, theirs = self.time(one), self.time(other)
        return mine is not None and (theirs is None or mine > theirs)

    def obsoletes(self, one, other):
        if (other, one) in self.chains:
            return True
        between = (one, other) in self.chains
        return not between and (one, other) in self.topics and self.newer(one, other)

    def order(self):
        """Topics by best rank; in each always the newest of those that follow all that obsolete them, by rank."""
        left, found = list(self.ranks), []
        while left:
            topic = [r for r in left if r == left[0] or (left[0], r) in self.topics]
            left = [r for r in left if r not in topic]
            while topic:
                free = [r for r in topic if not any(self.obsoletes(other, r) for other in topic)]
                best = next(r for r in free if not any(self.newer(other, r) for other in free))
                topic.remove(best)
                found.append(best)
        return found


def check(snippets, tokens):
    definitions = Definitions(snippets)
    order = arrange(snippets)
    assert [place.rank for place in order] == definitions.order()
    assert {place.rank: place.time for place in order} == {r: definitions.time(r) for r in definitions.ranks}
    options = {"budget": room(tokens), "counter": UTF8_BYTES_1, "other_tokens": 20}
    found = admit_snippets(snippets, **options)
    assert found.text == admit_snippets(snippets, **options).text
    assert found.receipt == admit_snippets(snippets, **options).receipt
    check_receipt(snippets, definitions, found, tokens)


def check_receipt(snippets, definitions, found, tokens):
    receipt = found.receipt
    whole = {one.rank for one in receipt.decisions if one.decision == "admitted"}
    assert [one.rank for one in receipt.decisions] == list(definitions.ranks)
    assert sorted([*receipt.admitted, *receipt.omitted]) == sorted(snippet.id for snippet in snippets)
    assert set(receipt.clipped) <= set(receipt.admitted)
    assert len(receipt.clipped) <= 1
    for one in receipt.decisions:
        unmet = {r for r in definitions.ranks if definitions.obsoletes(r, one.rank)} - whole
        assert one.position is None or not unmet
        if receipt.refusal != "pinned_too_large":
            blank = not snippets[one.rank].text.strip()
            assert (one.reason == "empty") == blank
            assert (one.reason == "blocked_by_newer") == (bool(unmet) and not blank)
        assert (one.label == "superseded") == (
            one.position is not None and any((one.rank, r) in definitions.chains for r in definitions.ranks)
        )
    check_size(snippets, found, tokens)


def check_size(snippets, found, tokens):
    """The bound holds, and what was too large does not fit beside the others."""
    receipt = found.receipt
    size = 20 if found.text is None else 20 + 12 + 4 + len(found.text.encode())
    if receipt.request_built:
        assert receipt.content_tokens == size <= tokens
    elif not {*receipt.omitted.values()} <= {"empty", "blocked_by_newer"}:
        assert receipt.estimated_input_tokens > tokens
    for one in receipt.decisions:
        text = snippets[one.rank].text
        if one.position is not None:
            assert text[one.start : one.end] in found.text
        elif one.reason not in ("empty", "blocked_by_newer") and receipt.request_built:
            entry = EVIDENCE.write(Entry(snippets[one.rank], 1, None, text))
            label = len("(superseded, successor not retrieved) ")
            assert size + len(entry.encode()) + label > tokens


# covers ADM-007, ADM-012, ADM-013, ADM-015, ADM-021, ADM-026, ADM-027, ADM-061
@pytest.mark.properties
@given(snippets=retrievals(), tokens=st.integers(40, 900))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_obsolete_snippet_stands_without_all_that_obsolete_it(snippets, tokens):
    check(snippets, tokens)


# covers ADM-026
@pytest.mark.properties
@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(snippets=retrievals(), tokens=st.integers(40, 900))
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def test_no_obsolete_snippet_stands_without_all_that_obsolete_it_in_10_000_lineages(snippets, tokens):
    check(snippets, tokens)


@pytest.mark.properties
@given(snippets=retrievals(), tokens=st.integers(40, 900))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_looking_for_a_last_sentence_only_where_it_has_room_changes_nothing(snippets, tokens):
    """A counter that is not known to count bytes has every clip looked for."""

    class Bytes:
        name = "utf8_bytes_1"
        vocabulary_sha256 = None

        def __call__(self, text):
            return len(text.encode())

    first, second = (
        admit_snippets(snippets, budget=room(tokens), counter=counter, other_tokens=20)
        for counter in (UTF8_BYTES_1, Bytes())
    )
    assert first.text == second.text
    assert first.receipt == second.receipt
