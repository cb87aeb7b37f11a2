"""Gemini's activity from Google Takeout: one record for each prompt, with the answer as HTML, newest first."""

import re

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.locations import in_downloads
from pastchats_memory.formats.base.session import SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.formats.base.visible_words import strip_html

PRODUCTS = ("Gemini", "Bard")
"""Beginnings of the names that the product has had."""
OTHER_ACTIONS = ("Created ", "Used ", "Added ", "Gave ", "Selected ", "Viewed ")
"""Beginnings of titles that tell what was done, and quote no prompt. Titles in other languages are taken as they are."""

_PROMPT = re.compile(r"(?:Prompted|Asked|Said|Branched|Answered)(?: with| Gemini| Bard)?:?\s")
_ATTACHED = re.compile(r"\s+Attached \d+ files?\.\Z")


class _GeminiActivity(ConversationExport):
    """Records with `header`, `title`, `time` and mostly `safeHtmlItem`. No record names its conversation, so each is one."""

    def is_conversation(self, value: object) -> bool:
        record = mapping_of(value)
        return text_of(record.get("header")).startswith(PRODUCTS) and {"title", "time"} <= record.keys()

    def messages(self, conversation: Json) -> list[Message]:
        """Return the prompt and the answer; a record without both tells of another action."""
        title, time = text_of(conversation.get("title")), conversation.get("time")
        htmls = [text_of(item.get("html")) for item in objects_of(conversation.get("safeHtmlItem"))]
        answer = "\n\n".join(filter(None, (strip_html(f"<p>{html}</p>") for html in htmls)))
        verb = _PROMPT.match(title)
        is_prompt = verb is not None or (answer != "" and not title.startswith(OTHER_ACTIONS))
        words = _ATTACHED.sub("", title[verb.end() if verb else 0 :]) if is_prompt else ""
        images = int("imageFile" in conversation)
        return [
            Message({}, "user", words, title, time=time, images=images),
            Message({}, "assistant", answer, title, time=time),
        ]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        time = conversation.get("time")
        opening = (("user", text_of(conversation.get("title"))), ("time", text_of(time)))
        return SessionInfo(conversation_hash(opening), started=time)


GEMINI_ACTIVITY = _GeminiActivity().as_format(
    "gemini-activity", 1, service="gemini", locations=in_downloads("My Activity/Gemini Apps/MyActivity.json")
)
