"""Read the JSON export of a Trello board: its lists are the states of its cards.

Fields are those of https://developer.atlassian.com/cloud/trello/rest/.
"""

from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, task_format
from pastchats_memory.formats.base.source import Places, SourceFile
from pastchats_memory.formats.base.tasks import folder_of_project, names_of, one_line
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.model import Comment, Task, TaskLink
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import status_of

FORMAT = "trello"
TIME = slice(8)
"""The digits of an id that are its time of creation, in hexadecimal seconds."""
DONE = {"complete": "complete", "incomplete": "todo"}


def detect(source: SourceFile) -> int:
    """Return 90 for a board: lists, and cards that are in them, else 0."""
    board = mapping_of(source.outline) if source.shape == "json" else {}
    lists, cards = (objects_of(board.get(key)) for key in ("lists", "cards"))
    return CERTAIN if lists and cards and all("idList" in card and "name" in card for card in cards) else 0


def read(source: SourceFile) -> Iterator[Task]:
    """Yield each card with its comments, and below it the items of its checklists."""
    board, places = mapping_of(source.document), Places(source.text)
    lists = {text_of(each.get("id")): each for each in objects_of(board.get("lists"))}
    comments: dict[str, list[Comment]] = {}
    for action in objects_of(board.get("actions")):
        data, author = mapping_of(action.get("data")), mapping_of(action.get("memberCreator"))
        text = text_of(data.get("text")).strip()
        if action.get("type") == "commentCard" and text:
            comment = Comment(text, text_of(author.get("fullName")), iso_utc(action.get("date")))
            comments.setdefault(text_of(mapping_of(data.get("card")).get("id")), []).insert(0, comment)  # newest first
    cwd, project = folder_of_project(source.path), text_of(board.get("name")) or None
    names = {text_of(each.get("id")): text_of(each.get("fullName")) for each in objects_of(board.get("members"))}
    for card in filter(_is_named, objects_of(board.get("cards"))):
        own_id = text_of(card.get("id"))
        people = [name for member in names_of(card.get("idMembers")) if (name := names.get(member, ""))]
        extra = {"assignees": people, "url": text_of(card.get("shortUrl")) or text_of(card.get("url"))}
        labels = [text_of(one.get("name")) or text_of(one.get("color")) for one in objects_of(card.get("labels"))]
        yield Task(
            native_id=own_id,
            title=one_line(text_of(card.get("name"))),
            line=places.line(own_id),
            scope=FORMAT,
            description=text_of(card.get("desc")).strip(),
            status_raw=_status(card, lists.get(text_of(card.get("idList")), {})),
            tags=tuple(dict.fromkeys(filter(None, labels))),
            project=project,
            cwd=cwd,
            created_at=_created(own_id),
            updated_at=iso_utc(card.get("dateLastActivity")),
            due_at=iso_utc(card.get("due")),
            comments=tuple(comments.get(own_id, ())),
            metadata={"format": FORMAT} | {key: value for key, value in extra.items() if value},
        )
    for checklist in objects_of(board.get("checklists")):
        for item in filter(_is_named, objects_of(checklist.get("checkItems"))):
            own_id = text_of(item.get("id"))
            yield Task(
                native_id=own_id,
                title=one_line(text_of(item.get("name"))),
                line=places.line(own_id),
                scope=FORMAT,
                type="subtask",
                status_raw=DONE.get(text_of(item.get("state")), "todo"),
                project=project,
                cwd=cwd,
                links=(TaskLink("parent", text_of(checklist.get("idCard"))),),
                created_at=_created(own_id),
                due_at=iso_utc(item.get("due")),
                metadata={"format": FORMAT},
            )


def _is_named(fields: Json) -> bool:
    return bool(text_of(fields.get("id")) and text_of(fields.get("name")))


def _status(card: Json, held_in: Json) -> str:
    """Return the name of the card's list; an archived card or list, or a due date that is done, says more."""
    name = text_of(held_in.get("name"))
    if card.get("dueComplete") is True and status_of(name) != "completed":
        return "complete"
    is_archived = card.get("closed") is True or held_in.get("closed") is True
    return "archived" if is_archived and status_of(name) != "completed" else name


def _created(own_id: str) -> str | None:
    digits = own_id[TIME]
    return iso_utc(int(digits, 16)) if len(digits) == TIME.stop and not set(digits) - set("0123456789abcdef") else None


TRELLO = task_format(FORMAT, 1, detect, read)
