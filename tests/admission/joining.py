"""Gold sentences joined and cut at every place: which clips are wrong, how many of the possible are refused."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ctxlab.admission.clips import Clip, clip_of

GOLD = Path(__file__).parents[3] / "shared/data/sentences/pysbd-rules.jsonl"
TAGS = {
    "french": "fr", "italian": "it", "dutch": "nl", "polish": "pl", "chinese": "zh", "japanese": "ja", "issues": "en",
}  # fmt: skip
SEPARATORS = {"zh": "", "ja": "", "code": "\n"}
LEANING = ("This ", "Nevertheless,", "Thus,", "Then ", "Both ", "Elle ", "Hij ", "...en ", "それは")
"""How the gold sentences open that lean on the one before them, which are refused for that (ADM-034)."""


@dataclass
class Tally:
    """What became of every cut: wrong clips with their text, possible clips, refusals of possible clips by reason."""

    wrong: list[tuple[str, str]] = field(default_factory=list)
    possible: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, sentences, *, language, tag):
        """Count every beginning of the joined sentences as a text of its own."""
        separator = SEPARATORS.get(tag, " ")
        text, starts = sentences[0], [0]
        for sentence in sentences[1:]:
            starts.append(len(text) + len(separator))
            text += separator + sentence
        possible = {
            start + len(last)
            for start, before, last in zip(starts[1:], sentences, sentences[1:], strict=False)
            if is_sentence(before) and is_sentence(last) and not last.startswith(LEANING)
        }
        for length in range(1, len(text) + 1):
            found = clip_of(text[:length], language)
            if isinstance(found, Clip) and found.start not in starts:
                self.wrong.append((text[:length], text[found.start : length]))
            if length in possible:
                self.possible += 1
                self.refused.update([found] if isinstance(found, str) else [])

    def told(self, name):
        """One line for the reader."""
        share = f"{sum(self.refused.values()):,} of {self.possible:,} possible clips refused"
        return f"{name}: {len(self.wrong)} wrong, {share} {dict(self.refused)}"


def is_sentence(text):
    """Whether a piece of the gold says something and ends in a mark; some are `??`, or a fragment."""
    is_ended = text[-1] in ")};" or text.rstrip('"”»')[-1:] in tuple(".!?。！？।؟")
    return is_ended and any(map(str.isalpha, text))


def gold_sentences():
    """The public gold sentences by language tag, each once."""
    found = {}
    for line in GOLD.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for sentence in row["sentences"]:
            found.setdefault(TAGS[row["lang"]], {})[sentence.strip()] = True
    return {tag: tuple(sentences) for tag, sentences in found.items()}
