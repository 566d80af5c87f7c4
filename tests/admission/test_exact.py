"""Admission against the best choice there is, on small instances."""

import random
from itertools import combinations

import pytest

from tests.admission.building import snip

exact = pytest.importorskip("benchmarks.admit_exact", reason="only in the repository")


def brute_force(listed, room):
    """The largest value of any set of items within the room that holds what its members need."""
    places = range(len(listed))
    sets = (set(chosen) for size in range(len(listed) + 1) for chosen in combinations(places, size))
    return max(
        sum(listed[i].value for i in chosen)
        for chosen in sets
        if sum(listed[i].cost for i in chosen) <= room and all(listed[i].needs <= chosen for i in chosen)
    )


@pytest.mark.parametrize("seed", range(25))
def test_branch_and_bound_finds_what_trying_every_choice_finds(seed):
    chance = random.Random(seed)
    listed, room = exact.instance(chance)
    for facts in (False, True):
        items = exact.items(listed[:9], facts=facts)
        assert exact.optimum(items, room // 2) == brute_force(items, room // 2)


@pytest.mark.parametrize("seed", range(40))
def test_admission_never_keeps_more_than_the_best_choice(seed):
    by_bytes, by_facts = exact.shares(*exact.instance(random.Random(seed)))
    assert 0 <= by_bytes <= 1
    assert 0 <= by_facts <= 1


def test_a_gap_by_hand():
    # entries take 7 more than their texts, `[a] ` and three line breaks. Room is 60: a takes 49, b and c 29 each.
    listed = (snip("a", "x" * 42), snip("b", "y" * 22), snip("c", "z" * 22))
    assert [item.cost for item in exact.items(listed, facts=False)] == [49, 29, 29]
    assert exact.optimum(exact.items(listed, facts=False), 60) == 44
    assert exact.shares(listed, 60) == (42 / 44, 1 / 2)


def test_where_everything_fits_nothing_is_lost():
    listed = (snip("a", "x" * 42, by=("b",)), snip("b", "y" * 22))
    assert exact.shares(listed, 300) == (1.0, 1.0)
