"""What strategies keep at the same number of tokens."""

from pathlib import Path

import pytest

import ctxlab
from ctxlab.admission.lineage import in_rank_order, in_time_order
from ctxlab.budget import Budget
from ctxlab.equal_tokens import AtTarget, compare_at, kept_table, target_of
from ctxlab.errors import InputError, StrategyError
from ctxlab.messages import Function, Message, ToolCall
from ctxlab.plots import describe_kept, plot_kept
from ctxlab.strategies.verify import violations
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, make_dataset, make_fact, make_snippet, user

ROOT = Path(__file__).parents[1]
PUBLIC = ROOT.parent / "shared/data"
COUNTER = token_counter(None)  # ceil(bytes / 2); a message costs 12 and 2 more for its role
WIDE = Budget(window_tokens=4_000_000)
STRATEGIES = (ctxlab.Newest(), ctxlab.Shorten(), ctxlab.Extract())


def weighing(tokens, letter):
    """A message of so many tokens."""
    return user(letter * (2 * (tokens - 14)))


FIVE = make_case(
    messages=(
        Message(role="system", content="s" * 12),  # 6 + 12 + 2 or 3 for its role
        weighing(100, "a"), weighing(60, "b"), weighing(40, "c"), weighing(30, "q"),
    )
)  # fmt: skip


def kept_letters(strategy, target):
    fitted = AtTarget(strategy=strategy, target=target).fit(FIVE, WIDE, COUNTER)
    return "".join(message.text[0] for message in fitted.messages)


# Targets


@pytest.mark.parametrize(
    ("target", "tokens"), [("512", 512), ("25 %", 51 + 50), ("100%", 51 + 200), ("0.5 %", 51 + 1)]
)
def test_a_share_is_of_what_is_not_pinned_and_comes_on_top_of_it(target, tokens):
    # pinned are the system message of 21 tokens and the question of 30; the others have 200
    assert target_of(FIVE, target, WIDE, COUNTER) == tokens


@pytest.mark.parametrize(
    "target", ["", "0", "000", "-5", "0.25", "25 percent", "1e3", "101 %", "250 %x", 512]
)
def test_a_target_in_other_words_is_refused_before_anything_is_fitted(target):
    with pytest.raises(InputError, match="target: expected tokens such as 512, or a share such as 25 %"):
        compare_at({"named": NAMED}, STRATEGIES, [target], counter=COUNTER)


@pytest.mark.parametrize(
    ("datasets", "strategies", "targets"),
    [
        ({}, STRATEGIES, ["80"]),
        ({"d": None}, (), ["80"]),
        ({"d": None}, STRATEGIES, []),
        ({"d": None}, STRATEGIES, ["80", "80"]),
    ],
)
def test_a_comparison_of_nothing_or_of_one_target_twice_is_refused(datasets, strategies, targets):
    with pytest.raises(
        InputError, match="compare_at: expected datasets, strategies and targets, each target once"
    ):
        compare_at(datasets, strategies, targets)


# The newest messages


@pytest.mark.parametrize(
    ("target", "letters"),
    [
        ("51", "sq"),
        ("90", "sq"),
        ("91", "scq"),
        ("150", "scq"),
        ("151", "sbcq"),
        ("250", "sbcq"),
        ("251", "sabcq"),
    ],
)
def test_newest_keeps_messages_back_to_the_first_that_does_not_fit(target, letters):
    assert kept_letters(ctxlab.Newest(), target) == letters


def test_newest_refuses_when_the_pinned_messages_alone_are_too_large():
    fitted = AtTarget(strategy=ctxlab.Newest(), target="50").fit(FIVE, WIDE, COUNTER)
    assert (fitted.outcome, fitted.receipt.reason, fitted.messages) == ("refused", "pinned_too_large", ())


def test_newest_keeps_a_call_with_its_results_or_drops_both():
    call = ToolCall(id="c", function=Function(name="read", arguments="{}"))
    case = make_case(
        messages=(
            user("first"),
            assistant(None, tool_calls=(call,)),
            Message(role="tool", content="x" * 200, tool_call_id="c"),
            assistant("done"),
            user("question"),
        )
    )
    for target in range(10, 260, 5):
        fitted = ctxlab.Newest(target_tokens=target).fit(case, WIDE, COUNTER)
        assert violations(case, fitted, WIDE, COUNTER) == []
        roles = [message.role for message in fitted.messages]
        assert ("tool" in roles) == any(message.tool_calls for message in fitted.messages)


# The comparison

NAMED = make_dataset(
    make_case(
        "one",
        messages=(user("The code is ALPHA-1."), assistant("x" * 400), user("Port is 8080."), user("Well?")),
        facts=(make_fact("code", "ALPHA-1"), make_fact("port", "8080")),
    ),
    make_case(
        "two",
        messages=(user("The code is BETA-2."), assistant("x" * 400), user("Nothing new."), user("Well?")),
        facts=(make_fact("code", "BETA-2"),),
    ),
)


def test_each_strategy_is_counted_on_the_same_cases_and_paired_with_the_first():
    frame = compare_at({"named": NAMED}, STRATEGIES, ["90"], counter=COUNTER)
    assert list(frame["strategy"]) == ["newest", "shorten", "extract"]
    assert list(frame["facts"]) == [3, 3, 3]
    # the newest message holds the port of case one; extract finds both codes besides
    assert list(frame["kept"])[::2] == [1, 3]
    assert list(frame["context_recall"])[::2] == [0.25, 1.0]
    row = frame.iloc[2]
    assert (row["pairs"], row["difference"], row["p"]) == (2, 0.75, 0.5)  # both cases better: 2 / 2 ** 2
    assert frame.iloc[0][["pairs", "difference", "p"]].isna().all()
    assert (frame["result_tokens_mean"] <= 90).all()


def test_a_refused_case_is_counted_as_refused_and_never_as_lost():
    frame = compare_at({"named": NAMED}, STRATEGIES, ["10"], counter=COUNTER)
    assert list(frame["refused"]) == [2, 2, 2]
    assert frame["kept"].isna().all()
    assert frame["context_recall"].isna().all()
    assert list(kept_table(frame).iloc[0])[3:] == ["\N{EN DASH} (2 refused)"] * 3


def test_the_table_has_a_row_per_set_and_target():
    frame = compare_at({"named": NAMED, "again": NAMED}, STRATEGIES[:1], ["80", "100 %"], counter=COUNTER)
    table = kept_table(frame)
    assert [tuple(row) for row in table.itertuples(index=False)] == [
        ("named", "80", "3", "1"),
        ("named", "100 %", "3", "3"),
        ("again", "80", "3", "1"),
        ("again", "100 %", "3", "3"),
    ]


def test_the_figure_shows_one_dataset_with_a_line_per_strategy():
    frame = compare_at({"named": NAMED}, STRATEGIES, ["80", "100 %"], counter=COUNTER)
    axes = plot_kept(frame)
    lines = [line for line in axes.get_lines() if line.get_marker() in "osD"]
    assert list(lines[0].get_ydata()) == [0.25, 1.0]
    words = " ".join(text.get_text() for text in axes.texts)
    assert "n = 2 cases" in words
    assert "newest" in words
    assert "newest: 0.25 at 80, 1.00 at 100 %." in describe_kept(frame)
    two = compare_at({"named": NAMED, "again": NAMED}, STRATEGIES[:1], ["80"], counter=COUNTER)
    with pytest.raises(InputError, match="expected one dataset"):
        plot_kept(two)


# Real input


def kept_of(dataset, target, **options):
    """Facts kept with the newest messages, with `shorten` and with `extract`."""
    strategies = (ctxlab.Newest(), ctxlab.Shorten(), ctxlab.Extract(**options))
    frame = compare_at({"set": dataset}, strategies, [target])
    return [int(value) for value in frame["kept"]], int(frame["facts"].max())


# covers STR-076
def test_at_512_tokens_the_continuation_cases_keep_more_than_eight_of_nineteen_facts():
    (latest, shortened, kept), facts = kept_of(ctxlab.load_dataset(ROOT / "data/continuation.jsonl"), "512")
    assert facts == 19
    assert kept > 8
    assert kept > max(latest, shortened)


@pytest.mark.skipif(not PUBLIC.exists(), reason="public data is not here")
@pytest.mark.parametrize(
    ("files", "options"),
    [
        ("tau_bench:agent-transcripts/tau-bench*.jsonl", {}),
        ("swe_agent:agent-transcripts/swe-agent/*.traj", {}),
        ("qmsum:conversations/qmsum*.jsonl", {"question_weight": 1}),
    ],
    ids=["tau_bench", "swe_agent", "qmsum, with the question"],
)
def test_at_a_quarter_of_real_histories_extract_keeps_most(files, options):
    form, _, pattern = files.partition(":")
    (dataset,) = ctxlab.datasets_from_words([f"{form}:{PUBLIC}/{pattern}"]).values()
    (latest, shortened, kept), _ = kept_of(dataset, "25 %", **options)
    assert kept > max(latest, shortened)


# Datasets in words


def test_files_of_one_pattern_become_one_dataset_with_ids_of_their_own(tmp_path):
    line = (ROOT / "data/continuation.jsonl").read_text().splitlines(keepends=True)[0]
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(line)
    found = ctxlab.datasets_from_words([f"{tmp_path}/a.jsonl", f"ctxlab:{tmp_path}/*.jsonl"])
    assert list(found) == ["a", "*"]
    assert [case.id for case in found["*"]] == ["1-debugging", "2-debugging"]
    assert found["*"].sha256 not in (found["a"].sha256, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [(["{}/nothing.jsonl"], "no file matches"), (["{}/a.jsonl", "{}/a.jsonl"], "a name stands twice")],
)
def test_datasets_that_cannot_be_told_apart_or_found_are_refused(tmp_path, words, says):
    (tmp_path / "a.jsonl").write_text((ROOT / "data/continuation.jsonl").read_text())
    with pytest.raises(InputError, match=f"datasets: {says}"):
        ctxlab.datasets_from_words([word.format(tmp_path) for word in words])


# Evidence at an allowance

RULE = make_snippet(
    "old", "The limit is 100 requests. Ask the owner.", title="Limit", evidence_time="2024-01-01"
)
FIX = make_snippet("new", "The limit is 250 requests now.", title="Limit", evidence_time="2025-01-01")
OTHER = make_snippet("other", "Lunch is at noon. " * 6, title="Lunch", evidence_time="2025-06-01")
ASKED = make_dataset(
    make_case(
        "q",
        messages=(user("Which limit holds?"),),
        snippets=(RULE, OTHER, FIX),
        facts=(make_fact("f", "250"),),
    )
)
ORDERS = (
    ctxlab.Admit(order="rank", label="rank"),
    ctxlab.Admit(order="newest", label="newest"),
    ctxlab.Admit(),
)


# covers ADM-015, STR-022
def test_the_orders_that_admission_is_measured_against_try_snippets_by_rank_and_by_time():
    assert [place.rank for place in in_rank_order((RULE, OTHER, FIX))] == [0, 1, 2]
    assert [place.rank for place in in_time_order((RULE, OTHER, FIX))] == [1, 2, 0]
    assert [place.rank for place in in_time_order((make_snippet("x", "a"), FIX, FIX))] == [1, 2, 0]
    assert all(place.successors == () and place.label is None for place in in_time_order((RULE, FIX)))
    with pytest.raises(StrategyError, match="order: "):
        ctxlab.Admit(order="random")


def test_what_enters_at_each_allowance_and_what_is_kept_of_it():
    """At 100 tokens one of the two rules fits: by rank the old one, which is tried first."""
    runs = ctxlab.run_at_allowances(
        ASKED, ORDERS, [100, 4000], client=None, counter=COUNTER, runs_dir=None, progress=False
    )
    assert list(runs) == [("made", "100"), ("made", "4000")]
    assert [run.rows[0].fitted.receipt.allowance_tokens for run in runs.values()] == [100, 4000]
    table = ctxlab.entered_table(runs, "admit")
    assert [tuple(row) for row in table.itertuples(index=False)] == [
        ("q", "old", "1", "too large", "admitted, older"),
        ("q", "other", "2", "too large", "admitted"),
        ("q", "new", "3", "admitted", "admitted"),
    ]
    frame = ctxlab.kept_frame(runs, baseline="rank")
    kept = {(row.target, row.strategy): row.kept for row in frame.itertuples()}
    assert [kept["100", name] for name in ("rank", "admit")] == [0, 1]
    assert [kept["4000", name] for name in ("rank", "newest", "admit")] == [1, 1, 1]


def test_where_a_client_answers_the_recall_is_that_of_the_answers():
    runs = ctxlab.run_at_allowances(
        ASKED, ORDERS, [4000], client="stand-in:extractive", runs_dir=None, progress=False
    )
    frame = ctxlab.kept_frame(runs, baseline="rank")
    assert frame["answer_recall"].notna().all()
    assert list(frame["kept"]) == [int(recall) for recall in frame["answer_recall"]]
    assert "answer recall, mean" in ctxlab.kept_differences_table(frame).columns


@pytest.mark.parametrize("allowances", [[0], [-5], ["300"], [1.5]])
def test_an_allowance_is_a_whole_number_of_tokens(allowances):
    with pytest.raises(InputError, match="allowances: expected whole numbers of 1 or more"):
        ctxlab.run_at_allowances(ASKED, ORDERS, allowances, client=None)
