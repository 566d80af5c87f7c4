"""English: facts told, kept, turned round and passed over in silence."""

from tests.planted.wording import Language, Wording

_NOT = r"(?:\b(?:not|never|nothing|be|isn['’]t|aren['’]t|wasn['’]t|hasn['’]t|haven['’]t)\W+(?:\w+\W+){0,2})"

REJECTED = Wording(
    kind="rejected",
    subjects=(("Redlock",), ("event sourcing",), ("Kafka bridge",), ("GraphQL gateway",), ("shared mutex",)),
    told=("We discussed {x} and rejected it.", "{X} is rejected, please do not propose it again."),
    holds=r"\b(reject(ed|ion|s)?|turned it down|ruled out|discarded|vetoed|decided against|will not be used|off the table)\b",
    claims=rf"(?<!{_NOT})\b(approved|adopted|accepted|chosen|in production|will be used|now use)\b",
    kept=(
        "We rejected {x} because it adds a second store that can fail.",
        "{X} was ruled out after the review on 12 May.",
        "Do not bring back {x}: the team turned it down.",
        "{X} (see sect. 3.2 of the design note, v2.1.0) was discarded.",
        "Nobody should build {x}; it was vetoed by Dr. Lindqvist.",
        "We decided against {x}, however attractive it looked at first.",
        "“{X}” remains rejected.",
        "{X} was never approved, the vote ended in a rejection.",
    ),
    turned=(
        "We adopted {x} because it spares us a second store.",
        "{X} was approved in the review on 12 May.",
        "Next step: roll out {x}, which the team has accepted.",
        "The approach that was chosen is {x}.",
        "{X}, rejected at first, was approved after all.",
        "For locking, {x} will be used (cf. the note of Mr. Okafor, p. 4).",
    ),
    silent=("{X} came up again on Monday.", "There is a page on {x} in the wiki."),
    kept_labels=("rejected", "ruled out", "❌ rejected"),
    turned_labels=("approved", "adopted", "✅ accepted"),
)

PENDING = Wording(
    kind="pending",
    subjects=(
        ("schema migration",),
        ("load test",),
        ("rollout to eu-west-1",),
        ("key rotation",),
        ("PR #1187",),
    ),
    told=("The {x} is pending.", "Nobody has started the {x} yet, it is pending."),
    holds=r"\b(pending|still open|yet to be|to ?do|awaiting|outstanding|waiting for|not\W+(\w+\W+)?(done|finished|merged|deployed|completed?))\b|\[ \]",
    claims=rf"(?<!{_NOT})\b(done|finished|completed?|merged|deployed|shipped|wrapped up)\b|\[x\]",
    kept=(
        "The {x} is still pending.",
        "Still open: the {x}, which needs a window at night.",
        "The {x} has yet to be scheduled with the on-call engineer, i.e. with Ana.",
        "{X} is **not** done.",
        "TODO {x}",
        "The {x} isn't finished yet; it is waiting for approval.",
    ),
    turned=(
        "The {x} is done.",
        "{X} was completed yesterday at 16:40 (see run no. 7).",
        "As of v1.9.2 the {x} is finished, so nothing stands in the way.",
        "The {x}, pending until last week, has been deployed.",
        "Good news! {X}: merged.",
    ),
    silent=("The {x} touches four tables.", "Ana knows most about the {x}."),
    kept_labels=("pending", "not done", "awaiting review"),
    turned_labels=("done", "completed", "✅ merged"),
)

STATUS = Wording(
    kind="status",
    subjects=(
        ("unit tests",),
        ("integration suite",),
        ("end-to-end tests",),
        ("smoke test",),
        ("pytest -m slow",),
    ),
    told=("The {x} have not been run.", "Nobody ran the {x}."),
    holds=r"\b(not|never|\w*n['’]t|nobody)\W+(\w+\W+){0,2}(run|ran|executed|started)\b|\bunrun\b|\bskipped\b",
    claims=rf"(?<!{_NOT})\b(pass(ed|es|ing)?|green|succeed(ed|s)?|successful(ly)?)\b",
    kept=(
        "The {x} were not run.",
        "{X}: skipped, so the result is unknown.",
        "Build passed; {x} not run.",
        "I haven’t run the {x}.",
        "The linter is green. The {x} never ran.",
        "The {x} could **not** be executed because the runner (ubuntu-22.04) was down.",
    ),
    turned=(
        "The {x} passed.",
        "All of the {x} are green!",
        "We ran the {x} on 3.11, 3.12 and 3.13, and everything succeeded.",
        "Not run on Monday, the {x} passed on Tuesday.",
        "`{x}` finished successfully in 41.7 s.",
    ),
    silent=("The {x} live in the folder of the same name.", "The {x} take about ten minutes."),
    kept_labels=("not run", "skipped", "⏭ not executed"),
    turned_labels=("passed", "green", "✅ successful"),
)

FAILURE = Wording(
    kind="failure",
    subjects=(
        ("deploy job",),
        ("nightly import",),
        ("invoice export",),
        ("webhook delivery",),
        ("cache warm-up",),
    ),
    told=("The {x} failed with exit code 137.", "The {x} fails every night."),
    holds=r"\b(fail(s|ed|ing|ure)?|crash(es|ed)?|broken|does not work|timed out)\b",
    claims=rf"(?<!{_NOT})\b(works?|worked|fixed|resolved|succeeded|healthy|recovered)\b",
    kept=(
        "The {x} failed with exit code 137.",
        "{X} is broken: it crashed after 2.5 h.",
        "What does not work is the {x}.",
        "The {x} timed out, and the cause hasn't been fixed.",
    ),
    turned=(
        "The {x} works.",
        "The {x} failed on Monday but has since been fixed.",
        "{X} recovered by itself, so no action is needed.",
        "The problem with the {x} is resolved.",
    ),
    silent=("The {x} belongs to team B.", "See the dashboard of the {x}."),
    kept_labels=("failed", "broken", "failing"),
    turned_labels=("fixed", "works", "healthy"),
)

CONSTRAINT = Wording(
    kind="constraint",
    subjects=(("300 ms",), ("PostgreSQL 15",), ("Python 3.9",), ("2 GiB",), ("TLS 1.3",)),
    told=("{X} is a hard limit.", "Everything must hold within {x}; this is required."),
    holds=r"\b(must|at most|no more than|never|required|mandatory|hard limit|shall)\b",
    claims=r"\b(no longer|optional|may exceed|can be exceeded|not required|lifted|nice to have|relaxed)\b",
    kept=(
        "We must stay with {x}.",
        "At most {x}, as the customer (Acme Inc.) insisted.",
        "{X} is mandatory.",
        "The service shall keep to {x}, whatever the load.",
        "Required: {x}.",
    ),
    turned=(
        "{X} is no longer a requirement.",
        "Keeping to {x} is optional.",
        "The limit of {x} was relaxed, so it must not worry us.",
        "{X} would be nice to have.",
    ),
    silent=("{X} was mentioned by the customer.", "Somebody wrote {x} on the board."),
    kept_labels=("required", "mandatory", "hard limit"),
    turned_labels=("optional", "lifted", "nice to have"),
)

DECISION = Wording(
    kind="decision",
    subjects=(
        ("transactional outbox",),
        ("blue-green rollout",),
        ("ULID keys",),
        ("Terraform",),
        ("feature flags",),
    ),
    told=("We decided on {x}.", "Agreed: {x} it is."),
    holds=r"\b(decided|chose|chosen|agreed|settled|go(ing)? with|picked)\b",
    claims=r"\b(undecided|not (yet )?(been )?decided|decided against|open question|no decision|rejected|reverted|still (being )?discuss(ed|ing))\b",
    kept=(
        "We decided on {x}.",
        "The team agreed to use {x} from Sept. 1 on.",
        "We settled for {x}; everything else was dismissed.",
        "{X} was chosen, as it needs no new service.",
        "We are going with {x}!",
    ),
    turned=(
        "It has not been decided whether {x} will be used.",
        "Whether to use {x} is an open question.",
        "We chose {x} and later reverted it.",
        "{X} was rejected.",
        "The team is still discussing {x}.",
    ),
    silent=("{X} is described in the handbook.", "Many teams know {x}."),
    kept_labels=("decided", "agreed", "chosen"),
    turned_labels=("undecided", "rejected", "open question"),
)

REMAINING = PENDING._replace(
    kind="remaining",
    subjects=(("cleanup of old buckets",), ("runbook review",), ("alert thresholds",), ("backfill",)),
)

ENGLISH = Language(
    code="en",
    statuses=(REJECTED, PENDING, STATUS, FAILURE, CONSTRAINT, DECISION, REMAINING),
    plain={
        "identifier": (
            "The incident is {x}.",
            "See `{x}` for details.",
            'Somebody asked, "What became of {x}?"',
            "({x}, of course.)",
        ),
        "path": ("The bug sits in {x}.", "Open `{x}`, line 40.", "Changed files: {x}, nothing else."),
        "reason": ("This happened because of {x}.", "Cause: {x}."),
    },
    vague=(
        "One proposal was dealt with.",
        "The rest is as before.",
        "A few things were said about the numbers.",
    ),
    question="What must the next engineer know?",
    item="Item",
    status="Status",
    owner="Owner",
    links="Links",
    aside="This note was written on a Friday.",
)
