import pytest

from ctxlab.budget import Budget
from ctxlab.errors import StrategyError
from ctxlab.messages import Function, Message, Projected, Synthetic, ToolCall
from ctxlab.strategies.project import project, tool_names
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.verify import violations
from ctxlab.thresholds import Thresholds
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, user

COUNTER = token_counter(None)  # ceil(bytes / 2)
LEVEL = (384, 128)


def calls(*names, start=1):
    return tuple(
        ToolCall(id=f"c{i}", function=Function(name=name, arguments="{}"))
        for i, name in enumerate(names, start)
    )


def result(text, call_id="c1"):
    return Message(role="tool", content=text, tool_call_id=call_id)


def shorten(messages, **options):
    budget = options.pop("budget", Budget())
    return Shorten(**options).fit(make_case(messages=tuple(messages)), budget, COUNTER)


# covers STR-050, STR-051, STR-052
def test_a_result_longer_than_head_and_tail_shows_its_beginning_and_its_end_around_a_mark():
    text = "a" * 384 + "m" * 100 + "z" * 128
    projected, excerpt = project(result(text), name="read_log", level=LEVEL, thresholds=Thresholds())
    assert isinstance(projected, Projected)
    mark, head, dots, tail = projected.content.split("\n")
    assert mark == "[tool result of read_log: 612 characters, shortened; run the tool again to see the rest]"
    assert (head, dots, tail) == ("a" * 384, "…", "z" * 128)
    assert excerpt.ranges == ((0, 384), (484, 612))
    assert projected.tool_call_id == "c1"


# covers STR-050
@pytest.mark.parametrize(("length", "shortened"), [(511, False), (512, False), (513, True)])
def test_a_result_is_projected_when_it_exceeds_head_plus_tail(length, shortened):
    found = project(result("x" * length), name="tool", level=LEVEL, thresholds=Thresholds())
    assert (found is not None) == shortened


# covers STR-053
def test_a_projection_is_not_projected_again_but_an_output_that_imitates_one_is():
    once, _ = project(result("x" * 5000), name="tool", level=(3000, 1000), thresholds=Thresholds())
    assert project(once, name="tool", level=LEVEL, thresholds=Thresholds()) is None
    imitation = result(once.content)
    assert project(imitation, name="tool", level=LEVEL, thresholds=Thresholds()) is not None


# covers STR-059
def test_the_name_of_a_tool_is_found_through_the_call():
    messages = [
        user("go"),
        assistant(None, tool_calls=calls("read", "list")),
        result("1", "c1"),
        result("2", "c2"),
        assistant(None, tool_calls=calls("write")),
        result("3", "c1"),
        result("4", "unknown"),
    ]
    assert tool_names(messages) == {2: "read", 3: "list", 5: "write", 6: "tool"}


# covers STR-061
def test_the_first_level_at_which_the_request_fits_wins():
    messages = [user("go"), assistant(None, tool_calls=calls("read")), result("x" * 9000)]
    by_level = [
        (4600, 9000, "unchanged"),  # 12 + 2 + 1 | 12 + 5 + 20 + 1 + 2 + 1 | 12 + 2 + 1 + 4500 = 4571
        (3000, 4000, "shortened"),
        (1500, 2000, "shortened"),
        (800, 1000, "shortened"),
        (500, 512, "shortened"),
    ]
    for target, shown, outcome in by_level:
        fitted = shorten(messages, target_tokens=target)
        assert fitted.outcome == outcome
        assert fitted.messages[-1].content.count("x") == shown
    assert shorten(messages, target_tokens=300).receipt.reason == "pinned_too_large"


def long_turn(number, note="done"):
    return [
        user(f"Request {number}: " + "u" * 700),
        assistant("thinking " * 100),
        assistant(f"{note} {number}."),
    ]


# covers STR-062, STR-063
def test_old_turns_become_one_digest_after_the_preamble_and_the_newest_two_stay():
    messages = [Message(role="system", content="sys")]
    for number in range(1, 5):
        messages += long_turn(number)
    messages += [user("The question?")]
    fitted = shorten(messages, target_tokens=2400)
    digest = fitted.messages[1]
    assert isinstance(digest, Synthetic)
    assert digest.made_by == "digest"
    lines = digest.content.split("\n")
    assert lines[0] == "[Digest of 3 earlier turns, 0 of them left out]"
    assert lines[1] == "user: Request 1: " + "u" * 588 + "…"  # 600 characters
    assert lines[2] == "assistant: done 1."
    assert lines[5:7] == ["user: Request 3: " + "u" * 588 + "…", "assistant: done 3."]
    assert list(fitted.messages[2:]) == messages[10:]
    fates = {(s.item_index, s.fate, s.reason) for s in fitted.ledger}
    assert (1, "digested", None) in fates
    assert (1, "omitted", "digest_limit") in fates
    assert (2, "omitted", "digest") in fates
    assert (3, "digested", None) in fates


# covers STR-062
def test_when_two_turns_do_not_fit_only_the_newest_stays():
    messages = [*long_turn(1), *long_turn(2), user("The question?")]
    fitted = shorten(messages, target_tokens=700)
    assert [type(m).__name__ for m in fitted.messages] == ["Synthetic", "Message"]
    assert fitted.messages[0].content.startswith("[Digest of 2 earlier turns, 0 of them left out]")


# covers STR-063
def test_a_digest_takes_the_newest_turns_first_and_says_how_many_it_left_out():
    messages = []
    for number in range(1, 13):
        messages += [user(f"{number} " + "u" * 600), assistant(f"{number} " + "a" * 800)]
    messages += [user("The question?")]
    digest = shorten(messages, target_tokens=3300).messages[0].content
    # an entry is a bit over 600 + 800 characters: four whole ones fit 6,000 characters, the fifth is cut
    assert digest.startswith("[Digest of 12 earlier turns, 7 of them left out]\nuser: 8 ")
    assert [n for n in range(1, 13) if f"user: {n} " in digest] == [8, 9, 10, 11, 12]


# covers STR-063
def test_a_digest_names_at_most_ten_distinct_tools_and_flattens_line_breaks():
    many = [f"t{i}" for i in range(12)]
    messages = [
        user("line one\r\nline two\n\nline three"),
        assistant(None, tool_calls=calls(*many)),
        *(result("r" * 3000, f"c{i}") for i in range(1, 13)),
        assistant(None, tool_calls=calls("t0")),
        result("x"),
        assistant("note\nwith a break"),
        user("The question?"),
    ]
    digest = shorten(messages, target_tokens=300).messages[0].content
    assert digest.split("\n")[1:] == [
        "user: line one line two line three",
        "assistant: note with a break",
        "tools: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9",
    ]


# covers STR-067
def test_a_greeting_before_the_first_user_message_belongs_to_the_oldest_turn():
    messages = [assistant("Hello " * 300), user("One"), assistant("Noted one."), user("The question?")]
    fitted = shorten(messages, target_tokens=120)
    assert fitted.messages[0].content == (
        "[Digest of 1 earlier turns, 0 of them left out]\nuser: One\nassistant: Noted one."
    )
    assert {s.reason for s in fitted.ledger if s.item_index == 0} == {"digest"}


def running(number):
    """Groups of a call and a result of 200 bytes each: 12 + 5 + 2 + 20 + 1 + 2 + 1 and 12 + 2 + 1 + 100 tokens."""
    messages = []
    for index in range(number):
        messages += [
            assistant(f"s{index}", tool_calls=calls(f"tool_{index}")),
            result("r" * 200),
        ]
    return messages


# covers STR-064, STR-065
def test_the_smallest_cut_of_the_running_turn_that_fits_is_taken():
    messages = [user("Go."), *running(6)]
    # question 12 + 2 + 2 = 16; each group 42 + 1 + 115 = 159: the tool's name is 6 bytes, 3 tokens, so 45 - 1
    fitted = shorten(messages, target_tokens=600)
    progress = fitted.messages[1]
    assert isinstance(progress, Synthetic)
    assert progress.made_by == "progress"
    kept = [m for m in fitted.messages if m.role == "tool"]
    dropped = 6 - len(kept)
    assert progress.content == (
        f"[Progress so far, {2 * dropped} messages left out]\nnote: s{dropped - 1}\n"
        f"tools: {', '.join(f'tool_{i}' for i in range(dropped))}"
    )
    one_more = shorten(messages, target_tokens=fitted.receipt.result_tokens - 1)
    assert len([m for m in one_more.messages if m.role == "tool"]) == len(kept) - 1
    assert list(fitted.messages[2:]) == messages[1 + 2 * dropped :]


# covers STR-065, STR-066
def test_a_running_turn_is_never_cut_inside_its_newest_group():
    messages = [user("Go."), *running(3)]
    fitted = shorten(messages, target_tokens=260)
    assert [m.role for m in fitted.messages] == ["user", "user", "assistant", "tool"]
    refused = shorten(messages, target_tokens=150)
    assert (refused.outcome, refused.receipt.reason) == ("refused", "pinned_too_large")


# covers STR-065
def test_when_no_cut_fits_the_digests_in_front_are_shortened():
    old = [user("o" * 600), assistant("p" * 800)] * 4
    messages = [*old, user("Go."), *running(2)]
    lengths = []
    for target in (3200, 1300, 700, 420):
        fitted = shorten(messages, target_tokens=target)
        assert fitted.outcome == "shortened"
        lengths.append(
            len(fitted.messages[0].content) - len("[Digest of 4 earlier turns, 0 of them left out]")
        )
    assert lengths[1] <= 2000 < lengths[0] <= 6000
    assert 300 < lengths[2] <= 800
    assert 0 < lengths[3] <= 300


# covers STR-066
def test_what_does_not_fit_at_all_is_refused_with_the_reason():
    messages = [user("o" * 600), assistant("p" * 800), user("Go.")]
    refused = shorten(messages, target_tokens=60)  # the question alone is 16
    assert (refused.outcome, refused.receipt.reason, refused.messages) == (
        "refused",
        "target_not_reached",
        (),
    )
    pinned = shorten([user("o" * 600), user("q" * 200)], target_tokens=100)
    assert pinned.receipt.reason == "pinned_too_large"


# covers STR-016
def test_a_missed_target_is_sent_and_flagged_only_on_demand():
    messages = [user("o" * 600), assistant("p" * 800), user("Go.")]
    sent = shorten(messages, target_tokens=60, on_missed_target="send")
    assert sent.outcome == "shortened"
    assert sent.receipt.flags == ("target_missed",)
    assert sent.receipt.result_tokens > 60
    over = shorten(messages, target_tokens=60, on_missed_target="send", budget=Budget(window_tokens=2350))
    assert (over.outcome, over.messages) == ("refused", ())


# covers STR-060
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_tokens": 0}, "target_tokens"),
        ({"target_tokens": 1.5}, "target_tokens"),
        ({"evidence": "some"}, "evidence: allowed is all, admit, none"),
        ({"on_missed_target": "hope"}, "on_missed_target: allowed is refuse, send"),
    ],
)
def test_a_bad_parameter_is_refused_with_what_is_allowed(parameters, message):
    with pytest.raises(StrategyError, match=message):
        Shorten(**parameters)


# covers STR-010
def test_a_user_message_that_imitates_a_digest_is_a_real_message():
    imitation = user("[Digest of 9 earlier turns, 8 of them left out]")
    messages = [imitation, assistant("a" * 2000), user("b" * 2000), user("Go.")]
    digest = shorten(messages, target_tokens=600).messages[0]
    assert digest.content.startswith("[Digest of 2 earlier turns, 0 of them left out]\nuser: [Digest of 9")


# covers STR-003, STR-064
def test_a_system_message_in_the_running_turn_stays_word_for_word():
    late = Message(role="system", content="Late rule: never touch port 22.")
    messages = (user("Go on."), *[assistant("n" * 4000)] * 2, late, *[assistant("n" * 4000)] * 2)
    case = make_case(messages=messages)
    budget = Budget(window_tokens=6000, output_reserve_tokens=500)
    fitted = Shorten().fit(case, budget, COUNTER)
    assert fitted.outcome == "shortened"
    question, kept, progress, newest = fitted.messages
    assert (question, kept, newest) == (messages[0], late, messages[-1])
    assert progress.text.startswith("[Progress so far, 3 messages left out]")
    assert violations(case, fitted, budget, COUNTER) == []
