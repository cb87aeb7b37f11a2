"""Capture from the page: write down a task, or add it to a similar one after a question."""

from pastchats_memory.http.page.answers import PageRequest, Redirect, Reply, WebPage, make_url
from pastchats_memory.memory import Memory
from pastchats_memory.tasks.capture import CaptureDecision
from pastchats_memory.tasks.similarity import SimilarTask


def show(_: Memory, request: PageRequest) -> WebPage:
    """Show the form."""
    return WebPage("capture", {"text": request.query.get("text", ""), "project": request.query.get("project", "")})


def capture(memory: Memory, request: PageRequest) -> Reply:
    """Store the text; ask first if a similar task exists that the reader has not seen yet.

    Raises UsageFault.
    """
    text, project = request.form.get("text", ""), request.form.get("project", "")
    seen, wish = request.form.get("similar"), request.form.get("decision")

    def decide(similar: SimilarTask) -> CaptureDecision:
        if similar.task.key != seen:
            return "nothing"
        return "comment" if wish == "comment" else "create" if wish == "create" else "nothing"

    captured = memory.tasks.capture(text, project, decide)
    if captured.outcome == "found":
        return WebPage("capture_similar", {"text": text, "project": project, "similar": captured.similar})
    return Redirect(make_url("/page/task", key=captured.task.key))
