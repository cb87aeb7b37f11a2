"""The words that plain questions are read by, and what each stands for; alternatives are parted by bars. Tables only."""

from __future__ import annotations

from pastchats_memory.statuses import OPEN, RESOLVED

STATUS_PHRASES: dict[str, tuple[str, ...]] = {
    "not blocked|unblocked|ready|ready to start|available|actionable|can i start|next": ("pending",),
    "not done|not finished|not completed|not closed|unfinished|incomplete|open|outstanding|remaining|left to do|left|unresolved|"
    "still to do|still open|remains|remain|is missing|still to be done|to be done|have to do|need to do|needs doing|yet to do|active": OPEN,
    "not started|not yet started|unstarted|todo|to do|to-do|todos|pending|queued|in the backlog|on the backlog|backlog|nothing started": (
        "pending",
    ),
    "in progress|in-progress|doing|under way|underway|ongoing|being worked on|started|wip|working on|current|currently|"
    "happening|on my plate": ("in_progress",),
    "blocked|stuck|waiting for someone|waiting on someone|waiting|on hold|held up|stalled|impeded": ("blocked",),
    "in review|under review|reviewing|awaiting review|waiting for review|needs review|to review|reviewed": ("review",),
    "done|finished|finish|completed|complete|closed|close|resolved|resolve|shipped|ship|fixed|accomplished|accomplish|"
    "did we fix|did i fix|did they fix|delivered|deliver|solved|achieved|achieve|get done|got done|wrapped up|wrap up|ticked off|tick off|checked off|crossed off|"
    "got through|finalised|finalized": RESOLVED,
    "archived": ("archived",),
    "decided not to do|decide not to do|decided against|not going to do|no longer needed|cancelled|canceled|abandoned|dropped|rejected|won't do|wont do|won't fix|wontfix|gave up|given up|discarded|scrapped": (
        "cancelled",
    ),
    "deferred|postponed|put off|parked|snoozed|later|someday": ("deferred",),
}
PRIORITY_PHRASES: dict[str, tuple[int, ...]] = {
    "critical|p0|blocker|blockers|showstopper|showstoppers|highest priority|top priority|priority 0": (0,),
    "urgent|most urgent|high priority or above|pressing|important|most important": (0, 1),
    "high priority|p1|high-priority|priority 1": (1,),
    "medium priority|p2|normal priority|medium-priority|priority 2": (2,),
    "low priority|p3|low-priority|minor|priority 3": (3,),
    "lowest priority|p4|trivial|priority 4": (4,),
}
TYPE_PHRASES: dict[str, tuple[str, ...]] = {
    "epic|epics": ("epic",),
    "subtask|subtasks|sub-task|sub-tasks": ("subtask",),
    "task|tasks|ticket|tickets|issue|issues|item|items|work|things|story|stories|cards|card|todo items": (),
}
TAG_PHRASES = {"bug|bugs|defect|defects": "bug", "feature|features": "feature", "chore|chores": "chore"}
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
    i'm others people else's""".split()  # noqa: SIM905 - as a list it would fill three pages
)
RELATION_PATTERNS = (
    ("dependencies_of", r"what (?:does|do|did|is|are) (?P<of>.+?) (?:depends? on|waiting (?:for|on)|blocked (?:by|on)|need)\Z"),
    ("dependencies_of", r"(?:dependencies|prerequisites|requirements) (?:of|for) (?P<of>.+)\Z"),
    ("dependencies_of", r"(?:what|which|who)(?:'s| is| are)?(?: \w+)? (?:block(?:s|ing)|holding up|holds up|in the way of)(?: tasks?)? (?P<of>.+)\Z"),
    ("dependencies_of", r"why is (?P<of>.+) (?:blocked|stuck)\Z"),
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
