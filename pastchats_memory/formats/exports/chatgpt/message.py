"""Parse one message of a ChatGPT conversation into the text that the user saw, if any."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pastchats_memory.formats.base.agent_spellings import CHATGPT_HIDDEN_TYPES
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, parse_json, text_of
from pastchats_memory.text.clean import IMAGE, clean
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.truncate import truncate_middle

MEMORY = "bio"
CANVAS = "canmore.create_textdoc"
EVERYONE = ("all", "")

_CITATION = re.compile(r"\ue200([^\ue200\ue201]*)\ue201")
_PRIVATE = re.compile(r"[\ue200-\ue206]")
_SOURCE = re.compile(r"【[^【】\n]{1,200}†[^【】\n]{0,200}】")
_ERROR = re.compile(r"^Traceback |^\w*(Error|Exception)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message that becomes a turn."""

    role: str
    kind: str
    text: str
    first_text: str
    """The beginning of the text as it stands in the file, which tells its line."""
    message_id: str
    timestamp: str | None
    metadata: Mapping[str, object]


def parse_message(message: Json) -> ShownMessage | None:
    """Return what a message shows to a person, or None for a hidden one, an instruction, a call or a plain result."""
    content, metadata = mapping_of(message.get("content")), mapping_of(message.get("metadata"))
    author = mapping_of(message.get("author"))
    content_type = text_of(content.get("content_type"))
    recipient = text_of(message.get("recipient")) or "all"
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True or content_type in CHATGPT_HIDDEN_TYPES
    if is_hidden or MEMORY in (recipient, author.get("name")):
        return None
    texts = _texts(content)
    text = remove_citations(clean("\n".join(texts))).strip()
    role, kind, text = _classify(text_of(author.get("role")), content_type, recipient, text, message)
    if not text:
        return None
    first, own_id = next((one for one in texts if one.strip() and one != IMAGE), ""), text_of(message.get("id"))
    time = iso_utc(message.get("create_time"))
    return ShownMessage(role, kind, text, first, own_id, time, _metadata(message, metadata))


def remove_citations(text: str) -> str:
    """Return the text without source markers; the words of an entity or a link stay."""
    return _SOURCE.sub("", _PRIVATE.sub("", _CITATION.sub(_visible_words, text)))


def _visible_words(marker: re.Match[str]) -> str:
    kind, _, rest = marker[1].partition("\ue202")
    if kind == "entity":
        named = list_of(parse_json(rest))
        return text_of(named[1]) if len(named) > 1 else ""
    return rest.partition("\ue202")[0] if kind == "url" else ""


def _classify(author: str, content_type: str, recipient: str, text: str, message: Json) -> tuple[str, str, str]:
    """Return role, kind and text; no text for a message that becomes no turn."""
    if author == "user":
        return "user", "prompt", text
    if content_type == "system_error":
        return "tool", "error", truncate_middle(text)
    if author == "tool":
        failed = content_type == "execution_output" and _ERROR.search(text)
        return "tool", "error", truncate_middle(text) if failed else ""
    if author == "system":
        return "system", "prompt", "" if message.get("weight") == 0 else text
    if recipient in EVERYONE:
        return "assistant", "answer", text
    return "tool", "result", _format_document(text) if recipient == CANVAS else ""


def _format_document(call: str) -> str:
    """Return the document that a call wrote to a canvas: it is the answer, and stands nowhere else."""
    fields = mapping_of(parse_json(call))
    text = text_of(fields.get("content"))
    return truncate_middle(f"{text_of(fields.get('name'))}\n\n{text}".strip()) if text else ""


def _texts(content: Json) -> list[str]:
    parts = content.get("parts")
    if isinstance(parts, list):
        return [text for part in parts if (text := _text_of_part(part))]
    named = [text_of(content.get(key)) for key in ("name", "text", "result", "content")]
    return [text for text in named if text]


def _text_of_part(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping_of(part)
    return IMAGE if "image" in text_of(fields.get("content_type")) else text_of(fields.get("text"))


def _metadata(message: Json, metadata: Json) -> dict[str, object]:
    """Return the model, the names of attached files, and whether the answer was cut off."""
    files = [name for item in list_of(metadata.get("attachments")) if (name := text_of(mapping_of(item).get("name")))]
    status = text_of(message.get("status"))
    unfinished = status if status == "in_progress" else ""
    values = {"model": text_of(metadata.get("model_slug")), "attachments": files, "status": unfinished}
    return {key: value for key, value in values.items() if value}
