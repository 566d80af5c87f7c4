import pytest

from ctxlab.admission.clips import Clip, clip_of
from tests.admission.gold_pairs import PAIRS
from tests.admission.joining import GOLD, SEPARATORS, Tally, gold_sentences

needs_gold = pytest.mark.skipif(not GOLD.exists(), reason="public data is not here")
TOLD = {"pt", "es", "de", "ru", "hi", "ar", "code"}


def tally(combinations, *, tag, language):
    counted = Tally()
    for sentences in combinations:
        counted.add(sentences, language=language, tag=tag)
    print(counted.told(f"{tag} read as {language or 'unknown'}"))
    return counted


def test_there_are_twenty_pairs_of_each_language():
    assert set(PAIRS) == TOLD
    assert all(len({first for first, _ in pairs}) >= 20 for pairs in PAIRS.values())


# covers ADM-024, ADM-035, ADM-040, ADM-048
@pytest.mark.parametrize("tag", sorted(TOLD))
def test_each_pair_is_cut_between_its_sentences_and_nowhere_else(tag):
    counted = tally(PAIRS[tag], tag=tag, language=tag)
    assert counted.wrong == []
    assert counted.possible == len(PAIRS[tag])
    assert counted.refused.total() == 0
    separator = SEPARATORS.get(tag, " ")
    for first, second in PAIRS[tag]:
        found = clip_of(f"{first}{separator}{second}\n", tag)
        assert isinstance(found, Clip)
        assert f"{first}{separator}{second}\n"[found.start :].rstrip() == second


# covers ADM-035
@pytest.mark.parametrize("language", ["own", None])
@pytest.mark.parametrize("tag", sorted(TOLD))
def test_triples_are_cut_at_gold_boundaries_alone(tag, language):
    sentences = [sentence for pair in PAIRS[tag] for sentence in pair]
    triples = list(zip(sentences, sentences[1:], sentences[2:], strict=False))
    counted = tally(triples, tag=tag, language=tag if language or tag == "code" else None)
    assert counted.wrong == []
    assert 2 * counted.refused.total() < counted.possible


# covers ADM-035
@needs_gold
@pytest.mark.parametrize("language", ["own", None])
def test_public_gold_sentences_are_cut_at_their_boundaries_alone(language):
    possible = refused = 0
    for tag, sentences in gold_sentences().items():
        pairs = [
            (sentences[i], sentences[j % len(sentences)])
            for i in range(len(sentences))
            for j in range(i, i + 6)
        ]
        counted = tally(pairs, tag=tag, language=tag if language else None)
        assert counted.wrong == []
        possible, refused = possible + counted.possible, refused + counted.refused.total()
    assert language is None or 2 * refused < possible


# covers ADM-035
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["own", None])
@pytest.mark.parametrize("tag", sorted(TOLD))
def test_every_two_and_three_hand_written_sentences_are_cut_at_gold_boundaries_alone(tag, language):
    sentences = [sentence for pair in PAIRS[tag] for sentence in pair]
    counted = tally(every(sentences), tag=tag, language=tag if language or tag == "code" else None)
    assert counted.wrong == []
    assert 2 * counted.refused.total() < counted.possible


# covers ADM-035
@needs_gold
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["own", None])
def test_every_two_and_three_public_gold_sentences_are_cut_at_their_boundaries_alone(language):
    possible = refused = 0
    for tag, sentences in gold_sentences().items():
        counted = tally(every(sentences), tag=tag, language=tag if language else None)
        assert counted.wrong == []
        possible, refused = possible + counted.possible, refused + counted.refused.total()
    assert language is None or 2 * refused < possible


def every(sentences):
    """Every two sentences, and each two with a third that differs from pair to pair."""
    n = len(sentences)
    yield from ((a, b) for a in sentences for b in sentences)
    yield from ((sentences[i], sentences[j], sentences[(i + j) % n]) for i in range(n) for j in range(n))
