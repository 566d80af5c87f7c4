from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.budget import Budget
from ctxlab.errors import StrategyError
from ctxlab.estimates import messages_tokens
from ctxlab.messages import Function, Message, Synthetic, ToolCall
from ctxlab.strategies.choosing import Chooser, body_of, corrections_of
from ctxlab.strategies.extract import HEADING, Extract, Weights
from ctxlab.strategies.relevance import relevance
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.survey import survey
from ctxlab.strategies.verify import violations
from ctxlab.tokens import CountedOnce, counter_named, token_counter, utf8_bytes
from tests.factories import assistant, make_case, user

ROOT = Path(__file__).parents[2]
PUBLIC = ROOT.parent / "shared/data"
COUNTER = token_counter(None)  # ceil(bytes / 2)
WIDE = Budget(window_tokens=4_000_000)


def result(text, call_id="c1"):
    return Message(role="tool", content=text, tool_call_id=call_id)


def calls(*names):
    return tuple(
        ToolCall(id=f"c{i}", function=Function(name=n, arguments="{}")) for i, n in enumerate(names, 1)
    )


def extract(messages, budget=WIDE, **options):
    return Extract(**options).fit(make_case(messages=tuple(messages)), budget, COUNTER)


def extracted(fitted):
    return [m for m in fitted.messages if isinstance(m, Synthetic) and m.made_by == "extract"]


def lines(fitted):
    [message] = extracted(fitted)
    heading, *rest = message.content.split("\n")
    assert heading == HEADING.strip()
    return rest


HISTORY = (
    Message(role="system", content="You help."),
    user("Keep port 8080 open. The sky is blue."),
    assistant("Noted, and it is a fine day."),
    user("We rejected Redlock on INC-4821 today."),
    assistant("Good to know."),
    user("What now?"),
)


# covers STR-074, STR-010, STR-070
def test_an_extract_is_one_message_after_the_preamble_with_a_line_per_unit_and_marks_where_something_is_missing():
    # pinned: 12 + 3 + 5 = 20 and 12 + 2 + 5 = 19; the message 12 + 2 and its text, of which the heading takes 53 bytes
    # value for cost, position 0, 0.2, ... 1:
    #   "Keep port 8080 open." 20 bytes: identifier 3, number 1, user 1, position 0 = 5 / (8 + 10)
    #   "We rejected Redlock on INC-4821 today." 38 bytes: 3 + 4 + 1 + 1 + 0.75 = 9.75 / (8 + 19)
    # the lines "[user] Keep ... open." and "[user] We ... today." take 28 and 46 bytes with their line breaks, the gaps
    # 4 and, without one, 3: 53 + 28 + 4 + 46 + 3 = 134 bytes, 67 tokens; together 20 + 19 + 14 + 67 = 120
    fitted = extract(HISTORY, target_tokens=120)
    assert lines(fitted) == [
        "[user] Keep port 8080 open.",
        "…",
        "[user] We rejected Redlock on INC-4821 today.",
        "…",
    ]
    assert [m.role for m in fitted.messages] == ["system", "user", "user"]
    assert fitted.messages[2] is HISTORY[-1]
    assert fitted.outcome == "extracted"
    assert fitted.receipt.target_tokens == 120


# covers STR-073
def test_with_one_token_less_a_unit_is_passed_over_for_what_still_fits():
    # beside the best unit "[assistant] Good to know." takes the place of the last gap: 53 + 4 + 46 + 25 = 128 bytes
    fitted = extract(HISTORY, target_tokens=119)
    assert lines(fitted) == [
        "…",
        "[user] We rejected Redlock on INC-4821 today.",
        "[assistant] Good to know.",
    ]
    assert fitted.receipt.result_tokens == 20 + 19 + 14 + 64


# covers STR-034, STR-036, STR-037
def test_the_ledger_holds_a_span_for_each_unit_and_why_the_rest_is_missing():
    fitted = extract(HISTORY, target_tokens=120)
    spans = [
        (s.item_index, s.start, s.end, s.fate, s.reason) for s in fitted.ledger if s.item_index in (1, 2, 3)
    ]
    assert spans == [
        (1, 0, 20, "digested", None),
        (1, 20, 37, "omitted", "not_selected"),
        (2, 0, 28, "omitted", "not_selected"),
        (3, 0, 38, "digested", None),
    ]


# covers STR-074
def test_units_that_follow_each_other_on_a_line_share_it_and_the_running_turn_stays():
    messages = [
        user(
            "Use port 8080. Never use 9090! Thanks a lot for all of this, it is a fine day and so on and so on"
        ),
        assistant("x" * 400),
        user("Go on."),
        assistant("Looking.", tool_calls=calls("read")),
        result("found"),
    ]
    # the question 17, the call 45, its result 18; the message 14, its text 53 + 37 + 4 bytes: 47
    fitted = extract(messages, target_tokens=141)
    assert lines(fitted) == ["[user] Use port 8080. Never use 9090!", "…"]
    assert fitted.messages[1:] == tuple(messages[2:])


# covers STR-071, STR-074
def test_units_are_sentences_of_prose_and_lines_of_code_and_results():
    messages = (
        user("Is it done? See:\n```\na = 1\nb = 2\n```"),
        assistant("I look.", tool_calls=calls("read")),
        result("one. two\nthree: 4"),
        Message(role="system", content="Be brief. Never guess."),
        assistant("E.g. this. Fine\nso far."),
    )
    units = survey(messages, None).units
    assert [(u.message, u.role, u.text) for u in units] == [
        (0, "user", "Is it done?"),
        (0, "user", "See:"),
        (0, "user", "a = 1"),
        (0, "user", "b = 2"),
        (1, "assistant", "I look."),
        (2, "tool", "one. two"),
        (2, "tool", "three: 4"),
        (4, "assistant", "E.g. this."),
        (4, "assistant", "Fine so far."),
    ]
    # between the assistant's text and the result stand the arguments of its call, which no unit holds
    assert [u.follows for u in units] == [False, True, True, True, True, False, True, True, True]
    assert [u.between for u in units] == [None, " ", None, None, None, None, None, None, " "]


# covers STR-072
@pytest.mark.parametrize(
    ("text", "role", "value"),
    [
        ("The sky is blue", "assistant", 0),
        ("The sky is blue", "user", 1),
        ("The sky has 2 moons", "assistant", 1),
        ("1. The sky is blue", "assistant", 0),  # what numbers an item is no number
        ("It must be blue", "assistant", 4),
        ("We rejected it", "assistant", 4),
        ("It is pending", "assistant", 4),
        ("It must be blue, we rejected red, which is pending", "assistant", 12),
        ("It must be blue and never be red", "assistant", 4),  # a class counts once
        ("We agreed on blue", "assistant", 3),
        ("The build failed", "assistant", 3),
        ("The build is done", "assistant", 3),
        ("It is so because of the sky", "assistant", 2),
    ],
)
def test_a_value_adds_cues_by_class_a_number_and_the_user(text, role, value):
    units = survey((Message(role=role, content=text), assistant("End")), None).units
    assert Weights().worth(units)[0] == value


# covers STR-072
def test_position_goes_from_0_for_the_oldest_to_1_for_the_newest():
    units = survey(tuple(assistant(text) for text in ("One", "Two", "Three")), None).units
    assert Weights().worth(units) == [0, 0.5, 1]
    assert Weights().worth(units[:1]) == [1]


def chooser(units, *, room, weights=None):
    weights = weights or Weights()
    return Chooser(
        units=units,
        worth=weights.worth(units),
        tokens=[COUNTER(unit.text) for unit in units],
        identifier_worth=weights.identifier,
        most_identifiers=weights.most_identifiers,
        corrections=corrections_of(units),
        size=utf8_bytes,
        room=room,
    )


def choices(texts, *, room=10_000, **weights):
    units = survey(tuple(assistant(text) for text in texts), None).units
    assert len(units) == len(texts)
    made = chooser(units, room=room, weights=Weights(**weights))
    made.run(made.ranking(range(len(units))))
    return made.choices


# covers STR-072, STR-073
def test_an_identifier_counts_where_it_is_chosen_first_and_at_most_three_do():
    flat = {"number": 0, "position": 0}
    # 3 identifiers in 8 + 9 tokens, then 3 of 4 in 8 + 11; once chosen they are worth nothing in the last unit
    texts = ["Aa_1 Bb_2 Cc_3 here", "Dd_1 Ee_2 Ff_3 Gg_4 h", "See Aa_1 Dd_1 now", "See Hh_9 now"]
    assert choices(texts, **flat) == [[0], [1], [3], [2]]


# covers STR-073
def test_ties_go_to_the_later_message_then_to_the_earlier_span():
    flat = {"number": 0, "position": 0, "user": 0}
    assert choices(["must aa", "must bb", "must cc"], **flat) == [[2], [1], [0]]
    units = survey((assistant("Must go. Must do."), assistant("Must be.")), None).units
    made = chooser(units, room=1000, weights=Weights(**flat))
    made.run(made.ranking(range(3)))
    assert made.choices == [[2], [0], [1]]


# covers STR-073
def test_a_unit_that_says_what_a_chosen_one_says_is_not_chosen_again():
    assert choices(["It must be so", "It must be so", "It must be so"]) == [[2]]


# covers STR-075
def test_a_correction_is_chosen_together_with_what_it_corrects_or_before_it():
    flat = {"position": 0, "number": 0}
    early = "Must be LIMIT-250 now"
    later = (
        "LIMIT-250 was wrong, and a long tail of words follows here that nobody needs at all, not even now"
    )
    # the earlier is worth 7 for 8 + 11, the correction 7 for 8 + 49: both are 14 for 76, still the best that there is
    assert choices([early, later, "Plain words"], **flat) == [[0, 1], [2]]
    # without room for both none is chosen, though the earlier one would fit
    assert choices([early, later, "Plain words"], room=60, **flat) == [[2]]
    # a correction that is worth more goes first
    assert choices([early, "LIMIT-250 was wrong"], **flat) == [[1], [0]]
    # what came before is no correction of what came after
    assert choices(["LIMIT-250 was wrong, with many words after it", early], **flat) == [[1], [0]]


# covers STR-075
def test_a_correction_of_a_correction_comes_along():
    flat = {"position": 0, "number": 0, "rejection": 0.1, "identifier": 0.1}
    texts = ["Must be A-1", "A-1 is wrong, B-2 is right, and so on", "B-2 is wrong, C-3 is right, and so on"]
    assert choices(texts, **flat) == [[0, 1, 2]]


NAMES = ("APP-1", "APP-2", "src/a.py", "8080", "retry_limit")
TEMPLATES = (
    "Use {} now.", "The value {} was wrong.", "We rejected {} and {}.", "It must be {}.", "Fine weather.",
    "{} is pending because of {}.", "Note that {} no longer holds, whatever else has been said about it so far.",
)  # fmt: skip
sentence = st.builds(
    lambda template, one, two: (
        template.format(one, two) if template.count("{}") == 2 else template.format(one)
    ),
    st.sampled_from(TEMPLATES),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
)
histories = st.lists(
    st.builds(
        lambda role, texts: Message(role=role, content=" ".join(texts)),
        st.sampled_from(["user", "assistant"]),
        st.lists(sentence, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=12,
)


# covers STR-073, STR-075
@given(history=histories, room=st.integers(0, 1500))
@settings(max_examples=150, deadline=None)
def test_no_unit_is_chosen_before_a_later_one_that_corrects_it_and_no_room_is_wasted(history, room):
    units = survey(tuple(history), None).units
    made = chooser(units, room=room)
    chosen = made.run(made.ranking(range(len(units))))
    assert sorted(place for together in made.choices for place in together) == chosen
    assert chosen == [] or utf8_bytes(body_of(units, chosen)) < room + len("\n")
    seen = set()
    for together in made.choices:
        seen.update(together)
        for place in together:
            later = [i for i in range(place + 1, len(units)) if "rejection" in units[i].cues]
            assert {i for i in later if units[i].identifiers & units[place].identifiers} <= seen
    said = {units[place].text for place in chosen}
    for place, unit in enumerate(units):
        corrected = made._with_corrections(place)
        if unit.text not in said and corrected == [place]:
            assert utf8_bytes(body_of(units, sorted([*chosen, place]))) >= room


# covers STR-007, STR-070
def test_a_source_that_fits_stays_and_what_does_not_fit_at_all_is_refused():
    whole = extract(HISTORY, target_tokens=1000)
    assert (whole.outcome, whole.messages) == ("unchanged", HISTORY)
    refused = extract(HISTORY, target_tokens=38)
    assert (refused.outcome, refused.receipt.reason, refused.messages) == ("refused", "pinned_too_large", ())
    running = [*HISTORY, assistant("r" * 100), assistant("End.")]
    refused = extract(running, target_tokens=60)
    assert (refused.outcome, refused.receipt.reason) == ("refused", "target_not_reached")


# covers STR-074
def test_without_room_for_a_unit_there_is_no_extract():
    fitted = extract(HISTORY, target_tokens=39)
    assert fitted.messages == (HISTORY[0], HISTORY[-1])
    assert fitted.outcome == "extracted"


# covers STR-070
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_tokens": 0}, "target_tokens"),
        ({"evidence": "admit it"}, "evidence: allowed is"),
        ({"question_weight": -1}, "question_weight"),
        ({"question_weight": float("nan")}, "question_weight"),
        ({"question_weight": float("inf")}, "question_weight"),
        ({"question_weight": True}, "question_weight"),
    ],
)
def test_a_bad_parameter_is_refused_with_what_is_allowed(parameters, message):
    with pytest.raises(StrategyError, match=message):
        Extract(**parameters)


# covers STR-011
def test_the_parameters_are_plain_values_in_field_order():
    assert list(Extract().parameters) == ["target_tokens", "weights", "evidence", "question_weight"]
    assert Extract().parameters["weights"] == {
        "identifier": 3, "most_identifiers": 3, "constraint": 4, "rejection": 4, "pending": 4, "decision": 3,
        "failure": 3, "status": 3, "reason": 2, "number": 1, "user": 1, "position": 1,
    }  # fmt: skip


# covers STR-070, STR-072
def test_the_question_counts_only_with_a_weight():
    talk = [assistant(f"The weather of day {i} is fine and the sun shines.") for i in range(20)]
    talk[3] = assistant("The remote control has a rubber case.")
    talk[17] = assistant("Lunch is served in the hall.")

    def kept(question, **options):
        return lines(extract([*talk, user(question)], target_tokens=130, **options))

    assert kept("Where is the remote control?") == kept("Where is the lunch, and why?")
    assert "[assistant] The remote control has a rubber case." in kept(
        "Where is the remote control?", question_weight=1
    )
    assert "[assistant] Lunch is served in the hall." in kept(
        "Where is the lunch, and why?", question_weight=1
    )


def test_relevance_is_a_share_of_the_best_passage_and_fades_with_distance():
    texts = ["plain"] * 30 + ["the remote control"] + ["plain"] * 30
    shares = relevance(texts, "Which remote control?")
    assert shares[30] == max(shares) == 1
    assert shares[30] > shares[31] > shares[40] > shares[60] > 0
    assert shares[:30] == pytest.approx(shares[31:][::-1])
    assert relevance(texts, "Something else") == [0.0] * 61
    assert relevance([], "remote") == []
    assert relevance(["遥控器的价格", "天气"], "价格")[0] == 1


# covers STR-073
@given(
    history=histories,
    target=st.integers(40, 700),
    name=st.sampled_from(["utf8_bytes_1", "utf8_bytes_2", "o200k_base"]),
)
@settings(max_examples=80, deadline=None)
def test_the_list_is_within_the_target_and_holds_what_the_ledger_says(history, target, name):
    case = make_case(messages=(*history, user("Go on.")))
    counter = counter_named(name)
    fitted = Extract(target_tokens=target).fit(case, WIDE, counter)
    assert violations(case, fitted, WIDE, counter) == []
    assert fitted.receipt.result_tokens == messages_tokens(fitted.messages, counter) <= target


class Asked:
    """A counter that remembers what it was asked."""

    def __init__(self, counter):
        self.counter, self.texts = counter, []
        self.name, self.vocabulary_sha256 = counter.name, counter.vocabulary_sha256

    def __call__(self, text):
        self.texts.append(text)
        return self.counter(text)


# covers STR-008
@pytest.mark.parametrize("strategy", [Shorten, Extract])
def test_more_settings_read_the_source_no_more_often(strategy):
    messages = [
        message
        for n in range(30)
        for message in (
            user(f"Keep INC-{n} open. It must stay. Why?"),
            assistant(f"Noted {n}. " + "Fine day. " * 40),
        )
    ]
    case = make_case(messages=(*messages, user("Go on.")))
    survey.cache_clear()
    asked = Asked(COUNTER)
    counter = CountedOnce(asked)
    for target in range(400, 1000, 20):
        strategy(target_tokens=target).fit(case, WIDE, counter)
    results = [text for text in asked.texts if text.startswith((HEADING, "[Digest"))]
    rest = [text for text in asked.texts if text not in results]
    assert len(rest) == len(set(rest))
    assert len(results) <= 2 * 30
    assert survey.cache_info().misses == (1 if strategy is Extract else 0)


# covers STR-070
def test_evidence_is_sent_whole_or_not_at_all():
    case = replace(make_case(messages=HISTORY), snippets=())
    assert Extract(evidence="none").fit(case, WIDE, COUNTER).outcome == "unchanged"


# covers STR-071
def test_a_line_of_megabytes_is_looked_through_at_its_beginning_only():
    """Work is bounded: names and cues behind the first 262,144 characters are not looked for."""
    line = "must keep APP-1 " + "x " * 131_064 + "must keep APP-2"
    (unit,) = survey((result(line),), None).units
    assert unit.identifiers == {"APP-1"}
    (near,) = survey((result("x " * 100 + "must keep APP-2"),), None).units
    assert near.identifiers == {"APP-2"}
