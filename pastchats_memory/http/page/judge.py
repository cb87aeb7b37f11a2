"""Judge from the page: read an episode, and say how it ended and which words show it."""

from pastchats_memory.fields import OUTCOMES
from pastchats_memory.http.page.answers import PageRequest, Redirect, Reply, WebPage, make_url, require
from pastchats_memory.memory import Memory

LISTED = 20


def show(memory: Memory, request: PageRequest) -> WebPage:
    """Show the episode of a turn with the form that labels it; without an id, the episodes with unknown outcome.

    Raises RequestError, UsageFault.
    """
    if "id" not in request.query:
        (sheets, left), warnings = memory.list_unjudged(request.query.get("project"), limit=LISTED)
        return WebPage("judge_list", {"sheets": sheets, "left": left, "warnings": warnings})
    sheet = require(memory.load_episode(request.query["id"]), "turn")
    return WebPage("judge", {"sheet": sheet, "id": request.query["id"], "verdicts": OUTCOMES})


def judge(memory: Memory, request: PageRequest) -> Reply:
    """Store the label of the form, or remove the present one. Raises RequestError, UsageFault."""
    id_ = request.form.get("id", "")
    if "undo" in request.form:
        sheet, _ = memory.unjudge(id_)
    else:
        sheet, _ = memory.judge(id_, request.form.get("verdict", ""), request.form.get("because"))
    require(sheet, "turn")
    return Redirect(make_url("/page/turn", id=id_))
