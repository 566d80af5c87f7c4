"""The rules by which text is cut into segments, as data: marks, abbreviations, kinds of lines."""

from __future__ import annotations

import re

SEGMENT_RULES_VERSION = 2

OPENING, CLOSING = "([{“„«‘「『（［【〈《", ")]}”“»’」』）］】〉》"
"""Brackets and quotation marks that open and those that close, pair by pair."""
CLOSERS = "[)\\]}”’»“‘」』）］】〉》\"'*_`]*"

SPACED_MARKS = ".!?…"
"""They end a sentence before white space."""
FREE_MARKS = "。！？｡．\u0964\u0965\u061f\u06d4\u1362\u1367\u0589\u17d4\u17d5\u104b"
"""They end a sentence with or without space after: CJK, Devanagari, Arabic and Urdu, Ethiopic, Armenian, Khmer, Myanmar."""

ABBREVIATIONS: dict[str, str] = {
    "en": "mr mrs ms messrs dr prof st jr sr gen col lt capt cpt sgt rev hon gov sen rep pres vs etc e.g i.e eg ie al cf "
    "ca approx dept univ assn inc ltd co corp bros est esp incl excl resp viz viz ave blvd tel ext misc",
    "pt": "sr sra srs sras srta dr dra drs exmo exma ilmo ilma prof profa eng av tel etc ex cf ed ltda cia obs aprox "
    "ref p.ex s.a v.exa",
    "es": "sr sra srs sras srta dr dra ud uds vd vds dña lic ing prof profa etc p.ej ej aprox tel av avda cía ee.uu s.a",
    "de": "z.b d.h u.a o.ä u.ä u.u i.d.r z.t z.zt v.a bzw bspw usw ca dr prof dipl ing evtl ggf inkl exkl zzgl abzgl "
    "vgl sog hr hrn fr tel str bzgl einschl etc zit hrsg",
    "fr": "m mm mme mmes mlle mlles dr pr me st ste env ex cf etc av bd tél éd c.-à-d j.-c p.ex",
    "it": "sig sigg sig.ra dott dott.ssa prof ing avv ecc es cfr tel gent spett",
    "nl": "dhr mw mevr dr prof ir ing drs bijv bv enz o.a m.b.t i.v.m d.w.z t.a.v a.u.b ca incl excl aanw vnw",
    "pl": "np itd itp tzn tj m.in ul al prof dr hab mgr inż ok ww ds św pt",
    "ru": "т.е т.д т.п т.к и.о н.э г гг ул им см тыс млн млрд руб коп проф акад напр др пр ред изд корп кв обл",
}
"""Words, without their last full stop, after which a full stop is no sure end; all apply to every language."""

BEFORE_NUMBERS = (
    "no nos nr nrs fig figs p pp pág págs pag vol vols ch chap cap sec sect art arts abs eq eqs tab ver rev v n núm num nº n.º "
    "jan feb mar apr jun jul aug sep sept oct nov dec min max máx mín mio mrd lei s ss z rn рис стр п ст гл № табл"
)
"""Words that are abbreviations only before a number."""

MONTHS = (
    "januar februar märz april mai juni juli august september oktober november dezember jänner "
    "januari februari maart mei augustus marts maj stycznia lutego marca kwietnia maja czerwca lipca sierpnia września "
    "października listopada grudnia января февраля марта апреля мая июня июля августа сентября октября ноября декабря"
)
"""After a number and a full stop they make a date, in languages that write ordinals so."""
ORDINAL_LANGUAGES = frozenset(
    {"de", "da", "nb", "no", "nn", "pl", "cs", "sk", "hu", "fi", "et", "lv", "sl", "hr", "sr"}
)

LINE_KINDS: tuple[tuple[str, str], ...] = (
    ("blank", r"\s*$"),
    ("fence", r"[ \t>]*(?:```|~~~)"),
    ("rule", r"\s*(?:[-=*_]\s*){3,}$"),
    ("heading", r"\s{0,3}#{1,6}\s"),
    ("row", r"\s*(?:\||>)"),
    ("item", r"\s*(?:[-*+•▪◦‣·–—]|[(（]?[0-9]{1,3}[.)）、．]|[(（]?[A-Za-z][.)）]|\[[ xX]?\])[ \t\u3000]+\S"),
    (
        "field",
        r"\s*(?:\*\*|__)?[^\W\d_][^:：|.!?\n]{0,30}(?:[:：](?:\*\*|__)?|(?:\*\*|__)[:：])(?:[ \t\u3000]+|(?<=：))\S",
    ),
)
"""Kinds of lines, by how they begin, in the order in which they are tried; any other line is plain."""

CODE_LINE = re.compile(
    r"""
      .*[;{}):]\s*$                                # code ends its lines so
    | \s{4,}\S | \t                                # indented
    | \s*[0-9]{1,6}\s?[:|│]                        # numbered
    | [-+@]{1,3}(?![-\w\s]\s*[A-Z]) | <{5,} | >{5,} | ={5,}    # a difference between files
    | [$%>#]\s?\S | >>> | \S+[$#]\s*$              # a prompt
    | \[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ] | \[?[0-9]{2}:[0-9]{2}:[0-9]{2}      # a log
    | \s*(?:File\ "|at\ \S+\(|\.\.\.\ )            # a trace
    | \s*(?:import|from|def|class|return|const|let|var|func|function|public|private|static|elif|else|async|await)\b
    | \s*[^\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+\s*$ # one word alone
    | \s*\(.*\)\s*$ | \s*\[.*\]\s*$                # a remark in brackets
    | \s*</?[A-Za-z] | \s*["']\S*["']\s*[:=]       # mark-up, JSON
    """,
    re.VERBOSE,
)
"""A line that looks like code, output or data rather than prose; more than half of them make a block of lines."""
