"""The words that plain questions are read by, and what each stands for; alternatives are parted by bars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from pastchats_memory.model import OPEN, RESOLVED

T = TypeVar("T")

STATUS_PHRASES: dict[str, tuple[str, ...]] = {
    "not blocked|unblocked|ready|ready to start|available|actionable|can i start|next": ("pending",),
    "not done|not finished|not completed|not closed|unfinished|incomplete|open|outstanding|remaining|left to do|left|unresolved|"
    "still to do|still open|remains|remain|is missing|still to be done|to be done|have to do|need to do|needs doing|yet to do|active": OPEN,
    "not started|not yet started|haven't started|hasn't started|haven't begun|not begun|yet to start|haven't been started|hasn't been started|unstarted|todo|to do|to-do|todos|pending|queued|in the backlog|on the backlog|backlog|nothing started": (
        "pending",
    ),
    "in progress|in-progress|doing|under way|underway|ongoing|being worked on|started|wip|working on|current|currently|"
    "happening|on my plate": ("in_progress",),
    "blocked|blockers|a blocker|the blocker|open blockers|current blockers|blocking us|blocking me|blocking progress|blocks us|blocks me|standing in the way|stands in the way|in the way|in our way|in my way|holding us back|holding us up|holds us back|holds us up|"
    "holding me back|holding me up|holds me back|holds me up|holding things up|impediments|roadblocks|stuck|waiting for someone|waiting on someone|waiting|on hold|held up|stalled|impeded": (
        "blocked",
    ),
    "in review|under review|reviewing|awaiting review|waiting for review|needs review|to review|reviewed": ("review",),
    "done|finished|finish|completed|complete|closed|close|resolved|resolve|shipped|ship|fixed|accomplished|accomplish|"
    "did we fix|did i fix|did they fix|delivered|deliver|solved|achieved|achieve|get done|got done|wrapped up|wrap up|ticked off|tick off|checked off|crossed off|"
    "got through|finalised|finalized": RESOLVED,
    "archived": ("archived",),
    "decided not to do|decide not to do|decided against|not going to do|no longer needed|cancelled|canceled|abandoned|dropped|rejected|won't do|wont do|won't fix|wontfix|gave up on|gave up|given up on|given up|give up on|give up|"
    "abandon|discarded|scrapped|killed|did we cancel|did i cancel|did they cancel|did we drop|did i drop|did they drop|did we reject|did we scrap": (
        "cancelled",
    ),
    "deferred|defer|postponed|postpone|put off|push back|pushed back|parked|did we park|shelved|shelve|snoozed|on ice|later|someday": (
        "deferred",
    ),
}
PRIORITY_PHRASES: dict[str, tuple[int, ...]] = {
    "critical|p0|blocker|blocker priority|showstopper|showstoppers|highest priority|top priority|priority 0": (0,),
    "urgent|most urgent|high priority or above|pressing|important|most important": (0, 1),
    "high priority|p1|high-priority|priority 1": (1,),
    "medium priority|p2|normal priority|medium-priority|priority 2": (2,),
    "low priority|p3|low-priority|minor|priority 3": (3,),
    "lowest priority|p4|trivial|priority 4": (4,),
    "unimportant|not important|not so important|less important|least important|not urgent|least urgent|nice to have|nice-to-have": (
        3,
        4,
    ),
}
TYPE_PHRASES: dict[str, tuple[str, ...]] = {
    "epic|epics": ("epic",),
    "subtask|subtasks|sub-task|sub-tasks": ("subtask",),
    "task|tasks|ticket|tickets|issue|issues|item|items|work|things|story|stories|cards|card|todo items": (),
}
TAG_PHRASES = {
    "bug|bugs|defect|defects|bug report|bug reports": "bug",
    "feature|features|feature request|feature requests": "feature",
    "chore|chores": "chore",
}
MISSING_PHRASES = {
    "epic": "an epic|epic|a parent|parent|parents|epics",
    "priority": "a priority|priority|priorities",
    "description": "a description|description|descriptions|details",
    "dependencies": "dependencies|a dependency|any dependencies|blockers",
    "comments": "comments|a comment|any comments|discussion",
    "due": "a due date|due date|due dates|a deadline|deadline",
    "tags": "tags|a tag|labels|a label|label|any tags",
    "subtasks": "subtasks|a subtask|children",
    "project": "a project|project",
    "assignee": "an assignee|assignee|an owner|owner",
}
ASKING_WORDS = frozenset(
    """am tried try anyone someone anybody somebody what what's whats which who when where how why is are was were be been being do does did done have has had we i you they it
    us me my our the a an of to on in at for by with that this these those there any all some every each show list give find get
    tell display see look looking please can could should would will need needs still yet now right just most more than currently
    about anything something everything nothing else and or if not ones one stuff so far up go going went our's let's lets know
    thing already ever recently been got as into from only also related regarding concerning around per me? into status state
    been work worked working happened happening next remind look'd kind sort that's there's it's who's where's here's i've we've
    i'm others people else's other biggest decide decided agreed haven't hasn't aren't isn't""".split()  # noqa: SIM905 - as a list it would fill three pages
)
RELATION_PATTERNS = (
    ("dependencies_of", r"what (?:does|do|did|is|are) (?P<of>.+?) (?:depends? on|wait(?:s|ing)? (?:for|on)|blocked (?:by|on)|needs?|requires?|rel(?:y|ies) on)\Z"),
    ("dependencies_of", r"(?:dependencies|prerequisites|requirements) (?:of|for) (?P<of>.+)\Z"),
    ("dependencies_of", r"(?:what|which|who)(?:'s| is| are)?(?: \w+)? (?:block(?:s|ing)|holding up|holds up|in the way of)(?: tasks?)? (?P<of>.+)\Z"),
    ("dependencies_of", r"why is (?P<of>.+) (?:blocked|stuck)\Z"),
    ("dependencies_of", r"\b(?:blockers?|impediments|roadblocks) (?:of|for|to|on) (?:tasks? )?(?P<of>.+)\Z"),
    ("dependencies_of", r"what\b.*\b(?:before|prior to) (?:i |we )?(?:can )?(?:start |begin |do )?(?P<of>[a-z]+-[a-z]*\d[\w.]*)\Z"),
    ("depends_on", r"(?:depend(?:s|ing|ent)?(?: up)?on|depend(?:s|ing|ent)? (?:up)?on|waiting (?:for|on)|waits (?:for|on)|blocked (?:by|on)|needs?) (?P<of>(?!review)\S.*)\Z"),
    ("depends_on", r"(?:dependents|dependants) of (?P<of>.+)\Z"),
    ("depends_on", r"what (?:does|is) (?P<of>.+?) (?:block|blocking|hold up|holding up)\Z"),
    ("part_of", r"(?:subtasks|sub-tasks|children|child tasks|parts|steps|tasks|issues) (?:of|under|in|inside|within|belonging to) (?:the )?(?:epic )(?P<of>.+)\Z"),
    ("part_of", r"(?:subtasks|sub-tasks|children|child tasks|parts|steps) (?:of|under|in|inside|for) (?P<of>.+)\Z"),
    ("part_of", r"what(?:'s| is| are)? in (?:the )?epic (?P<of>.+)\Z"),
    ("part_of", r"(?:what|which|tasks|everything|anything)?.*?\b(?:part of|belongs? to|under|falls? under) (?:the )?(?:epic )?(?P<of>.+)\Z"),
    ("parent_of", r"(?:parent|epic) (?:of|for) (?P<of>.+)\Z"),
    ("parent_of", r"(?:which|what) epic (?:does|is|has) (?P<of>.+?)(?: belongs? to| part of| in| under)?\Z"),
)  # fmt: skip
"""Of a relation, and how it is asked for; `of` is the other task."""
NO_TASK = re.compile(
    r"(?:me|us|progress)(?: (?:right )?now| today)?|review|it|that|this|anything|something|the backlog|on|way|consideration|(?:any|some)(?:one|body)(?: else)?|other(?: people|s| tasks| work)"
    r"|(?:my|our|your) attention"
)
"""What stands where a relation names a task and is none."""
NO_TAGS = frozenset(
    phrase
    for table in (STATUS_PHRASES, PRIORITY_PHRASES, TYPE_PHRASES, TAG_PHRASES, MISSING_PHRASES)
    for phrases in table
    for phrase in phrases.split("|")
) | {"due", "overdue", "not", "is", "are", "no", "about", "created", "closed", "updated"}
"""Words that a list of tags does not go on with."""
LOOKED_AT = re.compile(
    r"\b(?:(?:has|have|had|did|does|is|was) (?:any(?:one|body)|some(?:one|body)|we|i|they|you) (?:ever |already )?)"
    r"(?:look(?:ed|ing)? (?:in)?(?:to|at)|work(?:ed|ing)? on|deal(?:t|ing)? with|handled?|tackled?|run into|seen|discussed?|talk(?:ed)? about"
    r"|thought about|mentioned?)\b|\blast time\b"
)
"""Ways to ask whether there was something; what follows is what it is about."""
WE_COULD = re.compile(
    r"\b(?:that |which )?(?:we|i|you|one|they) (?:could|can|might|may|should|would|will)(?: \w+ly| just| perhaps)? "
    r"(?:drop|skip|cut|ignore|close|do|take(?: on)?|tackle|fix|finish|pick(?: up)?|leave|get to)\b"
)
"""What might be done with whatever is found: no word of it is what the question is about."""
TAIL = re.compile(
    r"(?<!\s)\s++(?:(?:that|which) (?:is|are|was|were|have|has|do|does|isn't|aren't|haven't|hasn't)\b|(?:and|but) (?:is|are|still|not)\b).*"
)
KEY = re.compile(r"(?:the )?(?:task |issue |ticket |epic )?(?P<key>[a-z]+-[a-z]*\d[\w.]*)(?![\w-])")
"""A task as trackers name it."""
UNTOUCHED = (
    r"\b(?:ha(?:ve|s)(?:n't| not)|(?:nobody|no[ -]one|none of us)(?: has| have| ever)?|not|never)(?: been)? "
    r"(?:touched|updated|changed|modified|moved|worked on|looked at)\b"
    r"|\b(?:without|with no|no|no recent) (?:any )?(?:recent )?(?:activity|changes?|updates?|progress|movement)\b"
    r"|\b(?:stale|untouched|dormant|forgotten|neglected|inactive|idle|gathering dust)\b"
)
TO_DO_NOW = (
    r"\b(?:to|should (?:i|we)|shall (?:i|we)|can (?:i|we)) (?:do|work on|start(?: with)?|tackle|begin(?: with)?|pick up)"
    r"(?: right)? (?:now|today|first|this morning|this afternoon)\b"
)
DUE_BY = re.compile(
    r"\b(?:(?:should|must|has to|have to|needs? to|to) be (?:done|finished|completed|closed|ready|delivered)"
    r"|(?:have|has|had|needs?|got|supposed) to (?:do|finish|complete|close|deliver|ship))(?= (?:by|before|until)\b)"
)


def longest_first(table: Mapping[str, tuple[T, ...]]) -> list[tuple[str, tuple[T, ...]]]:
    """Every phrase of a table with what it stands for."""
    entries = ((phrase, value) for phrases, value in table.items() for phrase in phrases.split("|"))
    return sorted(entries, key=lambda entry: -len(entry[0]))


def any_of(phrases: str) -> str:
    """A pattern of each of them, standing alone."""
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"
