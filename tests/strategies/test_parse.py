import pytest

from ctxlab.errors import StrategyError
from ctxlab.strategies.extract import Extract, Weights
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.parse import KINDS, parse_strategies, with_full, with_helper
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize


# covers GEN-030
def test_strategies_are_separated_by_commas_and_parameters_by_colons():
    parsed = parse_strategies(
        "full,shorten:target_tokens=512:evidence=none, sum4=summarize:generations=4:form=slots"
    )
    assert parsed == (
        Full(),
        Shorten(target_tokens=512, evidence="none"),
        Summarize(generations=4, form="slots", label="sum4"),
    )
    assert parsed[2].name == "sum4"


# covers GEN-031
@pytest.mark.parametrize(
    ("strategy", "name"),
    [
        (Full(), "full"),
        (Shorten(), "shorten"),
        (Shorten(evidence="none", target_tokens=9), "shorten[target_tokens=9,evidence=none]"),
        (Extract(), "extract"),
        (Extract(target_tokens=512, question_weight=1.0), "extract[target_tokens=512,question_weight=1]"),
        (Extract(weights=Weights(pending=9, user=0.5)), "extract[weights=pending:9/user:0.5]"),
        (Summarize(), "summarize"),
        (Summarize(generations=4), "summarize[generations=4]"),
        (Empty(label="floor"), "floor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_is_the_kind_with_the_parameters_that_differ_in_field_order(strategy, name):
    assert strategy.name == name


# covers GEN-004
def test_full_is_put_first_when_it_is_left_out():
    assert [s.name for s in with_full([Empty(), Shorten()])] == ["full", "empty", "shorten"]
    assert [s.name for s in with_full([Empty(), Full()])] == ["empty", "full"]


# covers GEN-030
def test_two_strategies_of_one_name_are_refused():
    with pytest.raises(StrategyError, match="the name 'shorten' stands twice"):
        with_full([Shorten(), Shorten()])
    with pytest.raises(StrategyError, match="'full'"):
        with_full([Empty(label="full")])


# covers GEN-035, STR-011
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fulll", r"'fulll' is no strategy; allowed is full, empty, shorten, extract, summarize"),
        ("", "strategies: an empty strategy; allowed is full"),
        ("full,,empty", "an empty strategy"),
        ("x y=full", "a label is 1 to 64 letters"),
        ("shorten:target_tokens=5:target_tokens=6", "shorten: a parameter is given twice"),
        ("shorten:target=5", r"parameter 'target' is unknown; allowed is target_tokens, evidence"),
        ("full:x=1", "allowed is none"),
        ("shorten:target_tokens", "parameter 'target_tokens' is unknown"),
        ("shorten:target_tokens=many", "target_tokens: "),
        ("shorten:target_tokens=0", "target_tokens: expected a whole number of 1 or more"),
        (
            "extract:weights=5",
            "parameter 'weights' is unknown; allowed is target_tokens, evidence, question_weight",
        ),
        ("extract:question_weight=-1", "question_weight: expected a number of 0 or more"),
        ("extract:question_weight=nan", "question_weight: expected a number of 0 or more"),
        ("summarize:generations=11", "generations: allowed is 1 to 10"),
        ("summarize:form=verse", "form: "),
        ("summarize:client=x", "parameter 'client' is unknown"),
        ("a b", "no strategy; allowed is"),
    ],
)
def test_a_bad_specification_is_one_line_that_says_what_is_allowed(text, message):
    with pytest.raises(StrategyError, match=message) as error:
        parse_strategies(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) <= 240


# covers GEN-020, STR-011
def test_only_strategies_that_ask_a_model_get_the_helper_and_it_is_no_parameter():
    helper = object()
    full, summary = with_helper([Full(), Summarize()], helper)
    assert full == Full()
    assert summary.client is helper
    assert "client" not in summary.parameters
    other = Summarize(client="own")
    assert with_helper([other], helper) == (other,)


def test_every_kind_is_spelled_like_its_class():
    assert {kind: cls.kind for kind, cls in KINDS.items()} == {kind: kind for kind in KINDS}
