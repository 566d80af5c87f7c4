import pytest

from ctxlab.importers.derived import derived_facts


# covers DAT-170
def test_derived_facts_are_the_identifiers_in_order_of_first_occurrence():
    text = "Run src/app.py:42 for APPROVAL-17, then src/app.py and APPROVAL-17 again on 2024-05-15."
    assert derived_facts(text) == [
        ("path", "src/app.py:42"),
        ("identifier", "APPROVAL-17"),
        ("path", "src/app.py"),
        ("identifier", "2024-05-15"),
    ]
    assert {kind for kind, _ in derived_facts(text, kind="status")} == {"status"}


# covers DAT-170
@pytest.mark.parametrize(
    ("text", "found"),
    [("port 8080", True), ("in 250 ms", False), ("$1,234", True), ("at 99%", False), ("HAT123", True)],
)
def test_numbers_of_less_than_four_digits_are_no_facts(text, found):
    assert bool(derived_facts(text)) == found


# covers DAT-170
def test_at_most_sixty_four_are_derived():
    text = " ".join(f"CODE-{n}" for n in range(100, 200))
    assert [literal for _, literal in derived_facts(text)] == [f"CODE-{n}" for n in range(100, 164)]
