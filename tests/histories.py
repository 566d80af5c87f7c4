"""Random histories that meet the dataset's rules: what strategies have to survive."""

from __future__ import annotations

from hypothesis import strategies as st

from ctxlab.dataset import Scope, Snippet
from ctxlab.messages import Function, Message, ToolCall
from tests.factories import make_case, make_snippet

TEXTS = (
    "Please keep port 8080 open and never touch /etc/hosts.",
    "",
    "   \n\t\n  ",
    "第一条约束：端口必须是 8080。第二条还没有完成。" * 6,
    "👨‍👩‍👧‍👦 family, 🇰🇷🇯🇵 flags, 👍🏽 thumbs " * 12,
    "क्षत्रिय हिन्दी पाठ है। " * 20,
    "e\u0301" * 120,
    '{"status": "failed", "exitCode": 1, "stdout": "' + "line\\n" * 90 + '"}',
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=" * 40,
    "line one\r\nline two\r\n" * 40,
    "word " * 300,
    "x" * 5000,
)

texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=60))


@st.composite
def call_groups(draw: st.DrawFn, *, answered: bool = True) -> list[Message]:
    """One assistant message with one to three calls and, if answered, their results."""
    number = draw(st.integers(1, 3))
    calls = tuple(
        ToolCall(id=f"c{i}", function=Function(name=f"tool_{i}", arguments=draw(st.sampled_from(TEXTS[:8]))))
        for i in range(number)
    )
    head = Message(
        role="assistant", content=draw(st.one_of(st.none(), st.sampled_from(TEXTS))), tool_calls=calls
    )
    results = [Message(role="tool", content=draw(texts), tool_call_id=call.id) for call in calls]
    return [head, *(results if answered else [])]


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """A user message and what followed it."""
    messages = [Message(role="user", content=draw(texts))]
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["text", "calls", "system"]))
        if kind == "calls":
            messages += draw(call_groups())
        else:
            role = "system" if kind == "system" else "assistant"
            messages.append(Message(role=role, content=draw(texts)))
    return messages


@st.composite
def cases(draw: st.DrawFn):
    """A whole case: preamble, greeting, turns, question, running turn with an unanswered call at its end or not."""
    messages = [Message(role="system", content=draw(texts)) for _ in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        messages.append(Message(role="assistant", content="Hello, how can I help?"))
    for _ in range(draw(st.integers(0, 5))):
        messages += draw(turns())
    messages.append(Message(role="user", content=draw(texts)))
    for _ in range(draw(st.integers(0, 3))):
        messages += draw(call_groups())
        if draw(st.booleans()):
            messages.append(Message(role="system", content=draw(texts)))
    if draw(st.booleans()):
        messages += draw(call_groups(answered=False))
    return make_case(
        messages=tuple(messages),
        snippets=draw(retrievals(text=texts, most=4)),
        language=draw(st.sampled_from([None, "en", "zh", "code"])),
    )


TITLES = ("", "Ports", "ports", "Ｐｏｒｔｓ", "Ports of the gateway", "Retries")
SCOPES = tuple(Scope(workspace="w", project=project) for project in ("p", "q"))
TIMES = (None, "2025-01-01", "2025-03-01T09:00:00Z", "2025-03-01T10:00:00+01:00", "2025-06-01")
EVIDENCE_TEXTS = st.sampled_from(
    (
        "",
        "  \n ",
        "...",
        "Port 8080 is open. It closes at noon.",
        "The limit was 30 s. The limit is 45 s now.",
        "上限是三十秒。现在上限是四十五秒。",
        "retries = 3;\nretries = 5;\n",
        "مهلة الطلب ثلاثون ثانية. المهلة الآن خمس وأربعون ثانية.",
        "A sentence that never ends",
        "word " * 40 + "ends here. The last one stands alone.",
    )
)


@st.composite
def retrievals(
    draw: st.DrawFn, *, text: st.SearchStrategy[str] = EVIDENCE_TEXTS, most: int = 12
) -> tuple[Snippet, ...]:
    """A retrieval list with topics and lineages of any shape: chains, forks, cycles, broken and foreign links."""
    number = draw(st.integers(0, most))
    ids = [f"s{i}" for i in range(number)]
    successors = st.lists(st.sampled_from([*ids, "gone"]), max_size=2, unique=True).map(tuple)
    return tuple(
        make_snippet(
            name,
            draw(text),
            title=draw(st.sampled_from(TITLES)),
            scope=draw(st.sampled_from(SCOPES)),
            evidence_time=draw(st.sampled_from(TIMES)),
            session_start=draw(st.sampled_from((None, None, *TIMES[1:]))),
            ingested_at=draw(st.sampled_from((None, *TIMES[1:]))),
            superseded_by=draw(st.one_of(st.just(()), successors)),
        )
        for name in ids
    )
