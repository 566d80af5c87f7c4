"""Stored answers, in four languages, with fates worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from ctxlab.answers import evaluate_answers, judge_answers
from ctxlab.dataset import Expected, Pattern
from ctxlab.errors import InputError
from ctxlab.frames import evaluations_frame, metrics_frame, results_frame
from tests.factories import assistant, make_case, make_dataset, make_fact, user


def near(phrase: str) -> Pattern:
    return Pattern(phrase=phrase, near=True)


def either(expression: str) -> Pattern:
    return Pattern(regex=expression, near=True)


ENGLISH = make_case(
    "en",
    language="en",
    expected=None,
    messages=(
        user("Port 8443 is fixed. We rejected Redis. The unit tests were not run."),
        assistant("Noted."),
        user("Where do we stand?"),
    ),
    facts=(
        make_fact("port", "8443", kind="constraint"),
        make_fact(
            "redis", "Redis", kind="rejected",
            must_hold=(either("reject|not use|ruled out"),), must_not_claim=(near("we use redis"), near("chose redis")),
        ),
        make_fact(
            "tests", "unit tests", kind="status",
            must_hold=(either("not (been )?run|pending"),), must_not_claim=(near("passed"), near("green")),
        ),
        make_fact("owner", "Dana", kind="decision"),  # nobody said so
        make_fact("note", "Noted", kind="reason", where="context"),
    ),
)  # fmt: skip
PORTUGUESE = make_case(
    "pt",
    language="pt-BR",
    expected=None,
    messages=(
        user("O chamado CH-17 está pendente. A opção MongoDB foi rejeitada."),
        assistant("Certo."),
        user("Qual é a situação?"),
    ),
    facts=(
        make_fact(
            "chamado", "CH-17", kind="pending",
            must_hold=(either("pendente|não foi concluíd"),),
            must_not_claim=(near("foi concluído"), either("(?<!não )está resolvido")),
        ),
        make_fact(
            "mongo", "MongoDB", kind="rejected",
            must_hold=(near("rejeitad"),), must_not_claim=(near("foi escolhid"),),
        ),
    ),
)  # fmt: skip
CHINESE = make_case(
    "zh",
    language="zh",
    expected=None,
    messages=(user("单元测试尚未运行。端口改为8080。"), assistant("好的。"), user("现在的状态？")),
    facts=(
        make_fact(
            "tests", "单元测试", kind="status",
            must_hold=(either("尚未|没有运行|未运行"),), must_not_claim=(near("已通过"), near("已经通过")),
        ),
        make_fact("port", "8080", kind="constraint"),
    ),
)  # fmt: skip
RUSSIAN = make_case(
    "ru",
    language="ru",
    expected=None,
    messages=(user("Миграция не выполнена. Вариант Kafka отклонён."), assistant("Хорошо."), user("Что дальше?")),
    facts=(
        make_fact(
            "migration", "миграция", "миграцию", kind="status",
            must_hold=(either("не выполнена|предстоит|ещё не"),),
            must_not_claim=(either("(?<!не )выполнена|завершена"),),
        ),
        make_fact(
            "kafka", "Kafka", kind="rejected",
            must_hold=(either("отклон|отказались"),), must_not_claim=(either("(?<!не )выбра(ли|н)"),),
        ),
    ),
)  # fmt: skip
DATASET = make_dataset(ENGLISH, PORTUGUESE, CHINESE, RUSSIAN)

RETAINED, MISSING, REVERSED = "retained", "missing", "reversed"
UNSUPPORTED, NOT_JUDGED = "unsupported_claim", "not_judged"
STATUS, LITERAL = "status_not_stated", "no_literal"

# Case, answer, and per fact of the case its fate and detail.
TEN = [
    (
        "en",
        "Port 8443 stays. Redis was rejected. The unit tests have not been run.",
        [(RETAINED, None), (RETAINED, None), (RETAINED, None), (MISSING, LITERAL), (NOT_JUDGED, None)],
    ),
    (
        # the build's success is told in the same sentence as the tests, so it is a claim about them
        "en",
        "Port 84430. We use Redis now. Build and unit tests passed. Dana owns it.",
        [(MISSING, LITERAL), (REVERSED, None), (REVERSED, None), (UNSUPPORTED, None), (NOT_JUDGED, None)],
    ),
    (
        # a list: each line is a sentence of its own
        "en",
        "- build: passed\n- unit tests: pending\n- Redis: see above\n- port: 8443",
        [(RETAINED, None), (MISSING, STATUS), (RETAINED, None), (MISSING, LITERAL), (NOT_JUDGED, None)],
    ),
    ("pt", "O CH-17 segue pendente; o MongoDB foi rejeitado.", [(RETAINED, None), (RETAINED, None)]),
    ("pt", "O CH-17 foi concluído. O MongoDB foi escolhido.", [(REVERSED, None), (REVERSED, None)]),
    # negated: "não está resolvido" is no claim, and does not say that it is pending either
    ("pt", "CH-17 não está resolvido. MONGODB: rejeitado.", [(MISSING, STATUS), (RETAINED, None)]),
    ("zh", "单元测试尚未运行，端口是8080。", [(RETAINED, None), (RETAINED, None)]),
    ("zh", "单元测试已通过。端口是80801。", [(REVERSED, None), (MISSING, LITERAL)]),
    ("ru", "Миграция ещё не выполнена, Kafka отклонили.", [(RETAINED, None), (RETAINED, None)]),
    ("ru", "Миграция завершена. Для очереди выбрали Kafka.", [(REVERSED, None), (REVERSED, None)]),
]


# covers EVA-024, EVA-025, EVA-027
@pytest.mark.parametrize(("case_id", "answer", "expected"), TEN)
def test_the_fate_of_each_fact_of_ten_answers(case_id, answer, expected):
    frame = evaluate_answers(DATASET, {case_id: answer})
    found = frame[frame["case_id"] == case_id]
    details = [None if pd.isna(detail) else detail for detail in found["detail"]]
    assert list(zip(found["fate"], details, strict=True)) == expected


# covers EVA-029
def test_the_five_fates_of_ten_answers_add_up_to_their_facts():
    answers = [(case_id, answer) for case_id, answer, _ in TEN]
    frame = evaluate_answers(DATASET, answers)
    # three repeats, the most of one case, of 5 + 2 + 2 + 2 facts; the third of zh and ru has no answer
    assert len(frame) == 3 * 11
    assert frame["fate"].value_counts().to_dict() == {
        RETAINED: 12,
        MISSING: 6,
        REVERSED: 7,
        UNSUPPORTED: 1,
        NOT_JUDGED: 3 + 4,
    }
    assert frame.attrs["client_kind"] == "stored"
    (metrics,) = metrics_frame(judge_answers(DATASET, answers)).to_dict("records")
    fates = [metrics[fate] for fate in (RETAINED, MISSING, REVERSED, UNSUPPORTED, NOT_JUDGED)]
    assert fates == [12, 6, 7, 1, 7]


def test_the_other_grains_come_from_the_judged_run():
    run = judge_answers(DATASET, [("en", TEN[0][1]), ("en", TEN[1][1]), ("pt", TEN[3][1])])
    results = results_frame(run)
    assert list(zip(results["case_id"], results["repeat"], results["status"], strict=True)) == [
        ("en", 0, "completed"), ("en", 1, "completed"), ("pt", 0, "completed"), ("pt", 1, "not_run"),
        ("zh", 0, "not_run"), ("zh", 1, "not_run"), ("ru", 0, "not_run"), ("ru", 1, "not_run"),
    ]  # fmt: skip
    assert list(results["passed"][:3]) == [False, False, True]
    assert list(results["answer_recall"][:3]) == [3 / 4, 3 / 4, 1.0]
    assert results["context_recall"].isna().all()
    assert results["sent_tokens"][:3].isna().all()
    evaluators = evaluations_frame(run)
    assert list(evaluators["evaluator"]) == ["non_empty", "facts"] * 3


def test_answers_may_be_a_mapping_pairs_or_a_frame():
    mapping = {"pt": TEN[3][1], "zh": None}
    table = pd.DataFrame({"case_id": ["pt", "zh"], "answer": [TEN[3][1], None], "other": [1, 2]})
    expected = evaluate_answers(DATASET, mapping)
    pd.testing.assert_frame_equal(evaluate_answers(DATASET, list(mapping.items())), expected)
    pd.testing.assert_frame_equal(evaluate_answers(DATASET, table), expected)
    assert expected.attrs == evaluate_answers(DATASET, table).attrs


# covers EVA-015
def test_the_same_answers_give_the_same_run_and_others_another():
    first, again = judge_answers(DATASET, {"pt": "CH-17"}), judge_answers(DATASET, {"pt": "CH-17"})
    assert first == again
    assert judge_answers(DATASET, {"pt": "CH-18"}).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([("en", "x"), ("secret-id", "y")], r"answers\[1\]: case_id is not in the dataset"),
        (pd.DataFrame({"case_id": ["en"]}), "answers: missing columns are answer"),
    ],
)
def test_answers_of_no_case_are_refused_without_repeating_them(answers, message):
    with pytest.raises(InputError, match=message) as caught:
        judge_answers(DATASET, answers)
    assert "secret-id" not in str(caught.value)


# covers EVA-013, EVA-014
def test_an_evaluator_that_fails_makes_one_row_an_error_and_the_others_go_on():
    runaway = make_case("slow", facts=(make_fact("f", "X", must_not_claim=(Pattern(regex="(a|aa)+$"),)),))
    plain = make_case("plain", expected=Expected(contains_all=("x",)))
    run = judge_answers(make_dataset(runaway, plain), {"slow": "a" * 200 + "b", "plain": "x"})
    slow, fine = run.rows
    assert (slow.status, slow.error_kind, slow.stage, slow.passed) == (
        "error",
        "evaluator_failure",
        "evaluate",
        False,
    )
    assert (slow.evaluations, slow.facts[0].fate) == ((), "not_judged")
    assert slow.answer is not None
    assert (fine.status, fine.passed) == ("completed", True)
