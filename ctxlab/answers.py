"""Answers that were stored elsewhere, judged like those of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, cast

from ctxlab.citations import dropped_citations
from ctxlab.errors import InputError
from ctxlab.evaluators import EVALUATOR_VERSION, evaluate, judge_facts
from ctxlab.frames import facts_frame
from ctxlab.messages import canonical_json
from ctxlab.records import Row, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from ctxlab.dataset import Case, Dataset

    Answers = Mapping[str, str | None] | Iterable[tuple[str, str | None]] | pd.DataFrame


def evaluate_answers(dataset: Dataset, answers: Answers) -> pd.DataFrame:
    """Judge stored answers and give their `facts` frame: one row per answer and fact, with its fate.

    This is the grain at which an answer is wrong in one way and not in another; for verdicts, recall per answer and
    metrics, hand the run of `judge_answers` to `evaluations_frame`, `results_frame` or `metrics_frame`.
    """
    return facts_frame(judge_answers(dataset, answers))


def judge_answers(dataset: Dataset, answers: Answers) -> Run:
    """Judge stored answers and give the record of a run that was never made.

    Args:
        dataset: the cases. Each answer is judged as if its whole case had been sent: strategy `full`, client kind
            `stored`; nothing was fitted, so context recall is unknown.
        answers: case id to text, or pairs of both, or a frame with the columns `case_id` and `answer`; several
            answers of one case are its repeats, and null means that there is none.

    Returns:
        A run with one row per case and repeat; rows without an answer are `not_run`.

    Raises `InputError` if an answer belongs to no case of the dataset.
    """
    texts = _texts(dataset, answers)
    repeats = max(map(len, texts.values()), default=0) or 1
    rows = [
        _row(case, index, repeat, texts[case.id][repeat] if repeat < len(texts[case.id]) else None)
        for (index, case), repeat in product(enumerate(dataset), range(repeats))
    ]
    identity: dict[str, object] = {
        "answers": hashlib.sha256(canonical_json(texts).encode("utf-8", "surrogatepass")).hexdigest(),
        "dataset": dataset.sha256,
        "evaluators": EVALUATOR_VERSION,
    }
    fingerprint = hashlib.sha256(canonical_json(identity).encode()).hexdigest()
    return Run(
        run_id=f"stored-{fingerprint[:12]}",
        fingerprint=fingerprint,
        input_identity=fingerprint,
        identity=identity,
        dataset=dataset,
        strategies=("full",),
        repeats=repeats,
        rows=tuple(rows),
        counter="none",
        client_kind="stored",
        model_requested=None,
        warnings=dataset.warnings,
    )


def _texts(dataset: Dataset, answers: Answers) -> dict[str, list[str | None]]:
    """The answers of each case, in the order given."""
    texts: dict[str, list[str | None]] = {case.id: [] for case in dataset}
    for place, (case_id, answer) in enumerate(_pairs(answers)):
        if case_id not in texts:
            raise InputError(f"answers[{place}]: case_id is not in the dataset; allowed are ids of its cases")
        texts[case_id].append(answer)
    return texts


def _pairs(answers: Answers) -> Iterable[tuple[str, str | None]]:
    if isinstance(answers, Mapping):
        return answers.items()
    if not hasattr(answers, "columns"):
        return answers
    table = cast("pd.DataFrame", answers)
    if missing := [name for name in ("case_id", "answer") if name not in table.columns]:
        raise InputError(f"answers: missing columns are {', '.join(missing)}")
    values = table[["case_id", "answer"]].astype(object)
    return values.where(values.notna(), None).itertuples(index=False, name=None)


def _row(case: Case, index: int, repeat: int, answer: str | None) -> Row:
    """The row of one answer; an evaluator that fails makes it a row in error (EVA-013)."""
    fields: dict[str, Any] = {"status": "not_run", "facts": judge_facts(case, None, None)}
    if answer is not None:
        try:
            found = evaluate(answer, case)
        except Exception:  # noqa: BLE001  (one answer's failure never stops another)
            fields |= {
                "status": "error",
                "error_kind": "evaluator_failure",
                "stage": "evaluate",
                "passed": False,
            }
        else:
            fields |= {
                "status": "completed",
                "evaluations": found.results,
                "facts": found.facts,
                "passed": found.passed,
                "invented_identifiers": found.invented_identifiers,
                "dropped_citations": dropped_citations(answer, case, None),
            }
    return Row(
        case=case,
        case_index=index,
        strategy="full",
        strategy_kind="full",
        repeat=repeat,
        client_kind="stored",
        answer=answer,
        **fields,
    )
