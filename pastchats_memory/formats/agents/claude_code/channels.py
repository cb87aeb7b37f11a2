"""Messages that reach a session through a channel, such as a messenger: the client wraps each one in a tag.

Only a message that names its author is a person's. Webhooks, monitors and other sessions use channels, too.
"""

import re
from dataclasses import dataclass
from html import unescape

from pastchats_memory.formats.base.dialect import read_spellings

AUTHOR_KEYS = read_spellings(__file__)["author_keys"]
"""Attributes that name the person who wrote the message, best first."""
SOURCE = "source"
CLOSING = "</channel>"

_OPENING = re.compile(
    r"""\s*<channel(?P<attributes>(?:\s+[\w:.-]{1,60}=(?:"[^"]{0,2000}"|'[^']{0,2000}')){1,40})\s*>"""
)
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]{1,80})=(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """One message of a channel."""

    text: str
    source: str
    """The channel, such as `plugin:telegram`."""
    author: str
    """The person; empty if a program sent the message."""


def parse_channel(text: str) -> list[ChannelMessage]:
    """Return the messages of a text that consists of channel tags alone, else an empty list."""
    messages: list[ChannelMessage] = []
    at = 0
    while found := _OPENING.match(text, at):
        end = _find_end(text, found.end())
        if end < 0:
            return []
        pairs = _ATTRIBUTE.findall(found["attributes"])
        attributes = {key: unescape(double or single) for key, double, single in pairs}
        author = next((name for key in AUTHOR_KEYS if (name := attributes.get(key, "").strip())), "")
        messages.append(ChannelMessage(text[found.end() : end].strip(), attributes.get(SOURCE, ""), author))
        at = end + len(CLOSING)
    return messages if not text[at:].strip() else []


def _find_end(text: str, start: int) -> int:
    """Return where a message ends: before the last closing tag, or before one that another message follows."""
    last = text.rstrip()
    end = text.find(CLOSING, start)
    while end >= 0:
        after = end + len(CLOSING)
        if after >= len(last) or _OPENING.match(text, after):
            return end
        end = text.find(CLOSING, after)
    return -1
