"""What is admitted, in which order, and what the receipt says; sizes are added up by hand.

In the small form head and notice take 6 bytes, and an entry 3 more than its id, label and text.
"""

import dataclasses

import pytest

from ctxlab.admission.lineage import in_rank_order
from ctxlab.admission.passes import admit_snippets, ends_in_more_than
from ctxlab.admission.rendering import NOTICE
from ctxlab.estimates import messages_tokens
from ctxlab.messages import Synthetic
from ctxlab.tokens import UTF8_BYTES_1, UTF8_BYTES_2, counter_named, utf8_ratio
from tests.admission.building import SMALL, THERE, admit, last_sentence, room, snip
from tests.factories import user

TEN = "ten bytes."  # an entry `[a]ten bytes.` and a line break takes 14


class Words:
    """A counter whose counts do not add up."""

    name = "words"
    vocabulary_sha256 = None

    def __call__(self, text):
        return len(text.split())


def reasons(*snippets, **options):
    return admit(*snippets, **options).receipt.omitted


def admitted(*snippets, **options):
    return admit(*snippets, **options).receipt.admitted


# covers ADM-001
def test_the_retrieval_list_is_the_same_before_and_after():
    snippets = [snip("a", by=("b",)), snip("b")]
    before = list(snippets)
    receipt = admit_snippets(
        snippets, budget=room(100), counter=UTF8_BYTES_1, other_tokens=0, form=SMALL
    ).receipt
    assert snippets == before
    assert [(one.snippet_id, one.rank) for one in receipt.decisions] == [("a", 0), ("b", 1)]


# covers ADM-020
def test_what_does_not_fit_is_skipped_and_the_next_is_tried():
    # 6 around, 14 for a, 103 for b, 14 for c: 34
    found = admit(snip("a", TEN), snip("b", "x" * 99), snip("c", TEN), tokens=34)
    assert found.text == "H\n[a]ten bytes.\n[c]ten bytes.\n[N]\n"
    assert found.receipt.omitted == {"b": "incomplete_tail"}
    assert found.receipt.content_tokens == 34


# covers ADM-006
@pytest.mark.parametrize(("tokens", "expected"), [(20, ("a",)), (19, ())])
def test_head_notice_and_entry_are_priced_before_a_snippet_is_admitted(tokens, expected):
    assert admitted(snip("a", TEN), tokens=tokens) == expected


# covers ADM-006
def test_a_label_is_priced():
    # new takes 16, old without its mark 16: 6 + 16 + 16 = 38, with the mark 39
    snippets = (snip("new", TEN), snip("old", TEN, by=("new",)))
    assert admit(*snippets, tokens=39).text == "H\n[new]ten bytes.\n[olds]ten bytes.\n[N]\n"
    assert admitted(*snippets, tokens=38) == ("new",)


# covers ADM-006, ADM-023, ADM-024, ADM-027
def test_the_ellipsis_of_a_clip_is_priced_and_the_clip_stands_last():
    # a takes 14 of the 20; the clip `[b]… end.` takes 3 + 1 + 4 + 4 = 12 bytes: 6 + 14 + 12 = 32
    snippets = (snip("b", "x" * 29 + ". end."), snip("a", TEN))
    found = admit(*snippets, tokens=32, clip=last_sentence)
    assert found.text == "H\n[a]ten bytes.\n[b]… end.\n[N]\n"
    assert found.receipt.admitted == ("a", "b")
    assert found.receipt.clipped == {"b": (35, 4)}
    assert reasons(*snippets, tokens=31, clip=last_sentence) == {"b": "too_large"}


# covers ADM-024
def test_kept_bytes_count_neither_ellipsis_nor_white_space_after_the_sentence():
    found = admit(snip("b", "x" * 39 + ". fín.  \n "), tokens=20, clip=last_sentence)
    assert found.text == "H\n[b]… fín.\n[N]\n"
    assert found.receipt.clipped == {"b": (50, 5)}  # 40 + 1 + 5 + 4 bytes
    assert [(one.start, one.end) for one in found.receipt.decisions] == [(41, 45)]


# covers ADM-023
def test_at_most_one_clip_is_taken_and_of_the_first_that_can_be():
    tall = "x" * 90
    found = admit(
        snip("a", f"{tall} without an end"), snip("b", f"{tall} {tall}."), snip("c", f"{tall}. c."),
        snip("d", f"{tall}. d."), tokens=80, clip=last_sentence,
    )  # fmt: skip
    assert found.receipt.admitted == ("c",)
    assert found.receipt.clipped == {"c": (94, 2)}
    assert found.receipt.omitted == {"a": "incomplete_tail", "b": "no_complete_sentence", "d": "too_large"}


# covers ADM-023
def test_whole_snippets_come_before_clips():
    # the clip of a alone would leave no room for b: 6 + 12 + 14 = 32
    found = admit(snip("a", "x" * 19 + ". end."), snip("b", TEN), tokens=31, clip=last_sentence)
    assert found.receipt.admitted == ("b",)
    assert found.receipt.omitted == {"a": "too_large"}


# covers ADM-021
@pytest.mark.parametrize("text", ["x" * 200 + ".", "", "  \n", "x" * 200, "x" * 200 + " end"])
def test_a_newer_one_that_is_too_large_empty_or_unusable_blocks_the_older_one(text):
    snippets = (
        snip("old", TEN, title="T", time="2024-01-01"),
        snip("new", text, title="T", time="2025-01-01"),
    )
    found = admit(*snippets, snip("else", TEN), tokens=40)
    assert found.receipt.admitted == ("else",)
    assert found.receipt.omitted["old"] == "blocked_by_newer"


# covers ADM-021
def test_blocking_is_transitive():
    found = admit(snip("a", TEN, by=("b",)), snip("b", TEN, by=("c",)), snip("c", "x" * 90 + "."), tokens=60)
    assert found.receipt.omitted == {
        "a": "blocked_by_newer",
        "b": "blocked_by_newer",
        "c": "no_complete_sentence",
    }
    assert found.receipt.refusal == "no_evidence_admitted"


# covers ADM-022
@pytest.mark.parametrize(
    "other",
    [{"title": "U"}, {"title": "T", "scope": THERE}, {"title": ""}],
    ids=["topic", "scope", "untitled"],
)
def test_other_topics_and_scopes_never_block(other):
    newer = snip("new", "x" * 90 + ".", title="T", time="2025-01-01")
    assert admitted(newer, snip("b", TEN, time="2024-01-01", **other), tokens=30) == ("b",)


# covers ADM-017
@pytest.mark.parametrize(("size", "expected"), [(10, ("n", "m", "old")), (200, ("n",))])
def test_with_several_successors_all_in_the_list_have_to_be_whole(size, expected):
    snippets = (snip("n", TEN), snip("m", "x" * (size - 1) + "."), snip("old", TEN, by=("n", "m", "gone")))
    assert admitted(*snippets, tokens=60) == expected


# covers ADM-016
def test_a_predecessor_whose_successor_was_not_retrieved_is_admitted_under_its_label():
    found = admit(snip("a", TEN, by=("gone",)), tokens=40)
    assert found.text == "H\n[am]ten bytes.\n[N]\n"
    assert found.receipt.labels == {"a": "superseded, successor not retrieved"}


# covers ADM-025
def test_a_clipped_correction_frees_nothing():
    snippets = (snip("old", TEN, by=("new",)), snip("new", "x" * 49 + ". end."))
    found = admit(*snippets, tokens=50, clip=last_sentence)
    assert found.receipt.admitted == ("new",)
    assert found.receipt.clipped == {"new": (55, 4)}
    assert found.receipt.omitted == {"old": "blocked_by_newer"}


# covers ADM-026
def test_an_obsolete_snippet_stands_beside_all_that_obsolete_it_and_says_why():
    found = admit(
        snip("lineage", TEN, by=("new",)),
        snip("time", TEN, title="T", time="2024-01-01"),
        snip("new", TEN, title="T", time="2025-01-01"),
        tokens=100,
    )
    assert found.text == "H\n[new]ten bytes.\n[timeo]ten bytes.\n[lineages]ten bytes.\n[N]\n"
    assert found.receipt.labels == {"lineage": "superseded", "time": "older"}


# covers ADM-027
def test_the_evidence_message_names_ids_labels_and_titles_and_ends_with_the_notice():
    snippets = [snip("s1", "Old rule.", title="Rule", by=("s2",)), snip("s2", "New rule.", title="Rule, new")]
    found = admit_snippets(snippets, budget=room(400), counter=UTF8_BYTES_1, other_tokens=0)
    assert found.text == (
        "Evidence:\n\n[s2] Rule, new\nNew rule.\n\n[s1] (superseded) Rule\nOld rule.\n\n"
        "[Sources may have been left out of this list.]"
    )
    assert not any(character.isdigit() for character in NOTICE)


# covers ADM-027
def test_the_same_input_gives_the_same_bytes_and_receipt():
    snippets = [snip(name, TEN * 3, title="T" if name in "ace" else "", time=f"2025-01-0{n}")
                for n, name in enumerate("abcdef", 1)]  # fmt: skip
    first, second = (admit(*snippets, tokens=140, clip=last_sentence) for _ in range(2))
    assert first.text == second.text
    assert first.receipt == second.receipt


# covers ADM-009
def test_without_snippets_the_request_is_built_if_it_fits():
    found = admit(tokens=30, other=28)  # the head takes 2
    assert (found.text, found.receipt.request_built, found.receipt.refusal) == (None, True, None)
    assert (found.receipt.content_tokens, found.receipt.decisions) == (30, ())
    refused = admit(tokens=29, other=28)
    assert (refused.receipt.request_built, refused.receipt.refusal) == (False, "pinned_too_large")


# covers ADM-009, ADM-062
def test_other_messages_over_the_limit_leave_every_snippet_out_as_too_large_and_try_no_clip():
    def never(text, language):
        raise AssertionError("a clip was tried")

    found = admit(snip("a", ""), snip("b", "B. Bb."), snip("c", by=("a",)), tokens=30, other=29, clip=never)
    receipt = found.receipt
    assert (found.text, receipt.refusal) == (None, "pinned_too_large")
    assert receipt.omitted == dict.fromkeys("abc", "too_large")
    # 29 and the head of 2; the notice is left out of that test
    assert (receipt.content_tokens, receipt.estimated_input_tokens, receipt.limit_tokens) == (0, 31, 30)
    assert not receipt.request_built


# covers ADM-009
def test_the_test_of_other_messages_leaves_the_notice_out():
    found = admit(snip("a", TEN), tokens=31, other=29)
    assert found.receipt.refusal == "no_evidence_admitted"


# covers ADM-009, ADM-062
def test_snippets_of_which_none_is_admitted_refuse_the_request_with_what_it_would_have_needed():
    found = admit(snip("a", TEN * 3), snip("b", TEN * 2), snip("c", ""), tokens=20)
    receipt = found.receipt
    assert (found.text, receipt.refusal, receipt.admitted) == (None, "no_evidence_admitted", ())
    # the cheapest of those tried is b: 6 + 3 + 1 + 20
    assert (receipt.content_tokens, receipt.estimated_input_tokens) == (0, 30)
    assert not receipt.request_built
    nothing_tried = admit(snip("c", " "), tokens=20).receipt
    assert nothing_tried.estimated_input_tokens == 6
    assert nothing_tried.omitted == {"c": "empty"}


# covers ADM-002, ADM-003, ADM-060, ADM-062
def test_a_receipt_adds_up():
    budget = room(
        40, output_reserve_tokens=1000, protocol_reserve_tokens=20, safety_reserve_tokens=3, tool_tokens=7,
        guidance_tokens=2,
    )  # fmt: skip
    receipt = admit(snip("a", TEN), snip("b", "x" * 99), tokens=0, other=11, budget=budget).receipt
    told = {field.name: getattr(receipt, field.name) for field in dataclasses.fields(receipt)}
    del told["decisions"]
    assert told == {
        "enabled": True, "request_built": True, "refusal": None, "target_tokens": 1072,
        "reserved_output_tokens": 1000, "envelope_tokens": 23, "schema_tokens": 9, "content_tokens": 31,
        "estimated_input_tokens": 63, "limit_tokens": 72, "counter": "utf8_bytes_1",
        "accounting": "content_bytes",
    }  # fmt: skip
    assert receipt.admitted == ("a",)
    assert receipt.omitted == {"b": "incomplete_tail"}
    assert (receipt.clipped, receipt.labels, receipt.flags) == ({}, {}, {})


# covers ADM-063
@pytest.mark.parametrize(
    "reason", ["no_complete_sentence", "incomplete_tail", "ambiguous_boundary", "leaning_sentence", "empty"]
)
def test_a_snippet_tried_for_the_clip_gets_the_reason_that_refused_it(reason):
    assert reasons(snip("a", "x. " * 40), tokens=60, clip=lambda text, language: reason) == {"a": reason}


# covers ADM-063
def test_empty_precedes_blocked_and_blocked_precedes_too_large():
    found = reasons(
        snip("new", "x" * 99), snip("e", " ", by=("new",)), snip("l", "y" * 99, by=("new",)), tokens=50
    )
    assert found == {"new": "incomplete_tail", "e": "empty", "l": "blocked_by_newer"}


def test_a_clip_is_sought_in_the_language_of_the_snippet_or_else_of_the_case():
    seen = []

    def remember(text, language):
        seen.append(language)
        return "incomplete_tail"

    admit(
        snip("a", "x. " * 50), snip("b", "y. " * 50, language="pt"), tokens=60, language="zh", clip=remember
    )
    assert seen == ["zh", "pt"]


# covers ADM-061
def test_admitted_and_omitted_are_all_snippets_and_a_clip_is_among_the_admitted():
    receipt = admit(
        snip("a", "x" * 69 + ". end."), snip("b", TEN), snip("c", ""), tokens=40, clip=last_sentence
    ).receipt
    assert receipt.admitted == ("b", "a")
    assert (set(receipt.omitted), set(receipt.clipped)) == ({"c"}, {"a"})


# covers ADM-002, ADM-004, ADM-007
@pytest.mark.parametrize(
    "counter",
    [
        UTF8_BYTES_1,
        UTF8_BYTES_2,
        utf8_ratio(3.3),
        counter_named("o200k_base"),
        Words(),
    ],
    ids=["bytes", "half bytes", "ratio", "vocabulary", "words"],
)
@pytest.mark.parametrize("tokens", range(70, 190, 17))
def test_the_size_in_the_receipt_is_that_of_the_rendered_messages_and_within_the_bound(counter, tokens):
    snippets = [
        snip(name, f"{name} says: the limit is {name}. It holds. ☕ 中文", title="T") for name in "abcdefgh"
    ]
    messages = (user("What is the limit?"),)
    other = messages_tokens(messages, counter)
    found = admit_snippets(
        snippets, budget=room(tokens, protocol_reserve_tokens=5), counter=counter, other_tokens=other
    )
    receipt = found.receipt
    assert receipt.counter == counter.name
    assert receipt.accounting == "chat"
    if receipt.request_built:
        evidence = Synthetic(role="user", content=found.text, made_by="evidence")
        assert receipt.content_tokens == messages_tokens((evidence, *messages), counter)
        assert receipt.estimated_input_tokens == receipt.content_tokens + 5
        assert receipt.estimated_input_tokens <= receipt.limit_tokens
    else:
        assert (receipt.content_tokens, found.text) == (0, None)
        assert receipt.estimated_input_tokens > receipt.limit_tokens


# covers ADM-021
def test_without_the_rules_of_order_and_blocking_the_outdated_one_comes_first():
    snippets = (snip("old", TEN, by=("new",)), snip("new", TEN))
    assert admitted(*snippets, tokens=22, arrange=in_rank_order) == ("old",)
    assert admitted(*snippets, tokens=22) == ("new",)


BAD = {
    "one megabyte": snip("a", "word " * 209_715 + "."),
    "one megabyte of one word": snip("a", "x" * 1_048_576),
    "right to left": snip("a", "مهلة الطلب ثلاثون ثانية. " * 200),
    "mixed direction": snip("a", "limit \u202e drawkcab \u202c is עברית. " * 200),
    "only punctuation": snip("a", "?!…。" * 200),
    "only quotes": snip("a", "\"'»«" * 200),
    "only combining marks": snip("a", "\u0301" * 1000),
    "itself": snip("a", "x" * 1000, by=("a",)),
    "line breaks": snip("a", "\n\r\n\u2028\x0b\x0c" * 200 + "x"),
}


# covers ADM-061, ADM-062
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_odd_snippets_get_a_receipt_that_explains(bad):
    for tokens in (0, 5, 40, 120):
        receipt = admit(bad, snip("b", TEN), tokens=tokens).receipt
        assert {*receipt.admitted, *receipt.omitted} == {"a", "b"}
        assert receipt.request_built == (receipt.refusal is None) == (receipt.content_tokens > 0)
        assert receipt.content_tokens <= tokens
    assert admit(bad, tokens=2_000_000).receipt.admitted == ("a",)


@pytest.mark.parametrize(
    ("text", "characters", "longer"),
    [
        ("One. The last one is long.", 10, True),
        ("One. The last one is long.", 21, False),
        ("One. last.", 5, False),
        ("short.", 50, False),
        ("f(1);\nlong_name_of_a_call(2);", 10, True),
        ("以前是二十个。现在是五十个。", 4, True),
        ("以前是二十个。现在是五十个。", 8, False),
    ],
)
def test_a_last_sentence_is_surely_longer_if_nothing_can_end_before_it_there(text, characters, longer):
    assert ends_in_more_than(text, characters=characters) is longer
