"""Read conversations of Posit Assistant: the messages to the model, with the files that say when, where and on which branch.

Source: the tests of github.com/kenn-io/agentsview. `<workspace>/<conversation>/lm-messages.jsonl` has messages of the AI SDK,
`conversation.json` beside it their tree, and `workspace.json` above it the folder.
"""

import re

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.chat_messages import add_message, blocks_of
from pastchats_memory.formats.base.companions import named_after
from pastchats_memory.formats.base.format import CERTAIN, Format, confident
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of
from pastchats_memory.formats.base.sibling_files import read_sibling_json
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of

MESSAGES, TREE, SHOWN, WORKSPACE = "lm-messages.jsonl", "conversation", "ui-messages", "workspace.json"
SUBAGENTS = "subagents"
VENDOR = ("providerOptions", "providerMetadata", "positai")
"""Keys down to the facts of a message."""

_SUMMARY = re.compile(r"\n?<MESSAGESUMMARY>[^<]*</MESSAGESUMMARY>")
"""What the model writes for the program's list of messages."""


class _Session(AgentSession):
    record_noun = "a message"

    def session_info(self) -> SessionInfo:
        folder = self.source.path.parent
        self.is_aside = folder.parent.name == SUBAGENTS
        outer = folder.parents[1] if self.is_aside else folder
        tree = mapping_of(read_sibling_json(folder / f"{TREE}.json"))
        root = mapping_of(tree.get("root"))
        nodes = [node for node in objects_of(tree.get("messages")) if node.get("isActive") is not False]
        self.active = [number for node in nodes for number in list_of(node.get("lmMessageIds"))]
        cwd = folder_of(mapping_of(read_sibling_json(outer.parent / WORKSPACE)).get("path"))
        branch, parent = text_of(mapping_of(root.get("metadata")).get("gitBranch")), outer.name if self.is_aside else ""
        metadata: Json = {"title": text_of(root.get("title")), "git_branch": branch, "parent_conversation_id": parent}
        return SessionInfo(folder.name or None, cwd, metadata=metadata)

    def add_record(self, record: Json, line: int) -> None:
        message = facts = mapping_of(record.get("message"))
        for key in VENDOR:
            facts = mapping_of(facts.get(key))
        is_left = bool(self.active) and record.get("id") not in self.active
        branch = "sidechain" if self.is_aside else "abandoned" if is_left else "main"
        self.builder.model = text_of(facts.get("modelId")) or self.builder.model
        at = Position(line, facts.get("timestamp"), str(record.get("id", "")), branch)
        add_message(self.builder, message | {"content": _without_summary(message)}, at)


def _without_summary(message: Json) -> object:
    if isinstance(content := message.get("content"), str):
        return _SUMMARY.sub("", content)
    return [block | {"text": _SUMMARY.sub("", text_of(block.get("text")))} for block in blocks_of(message)]


def matches(source: SourceFile) -> bool:
    """Return whether a file has messages of a conversation."""
    return source.path.name == MESSAGES and any("role" in mapping_of(record.get("message")) for record in source.sample)


POSIT_ASSISTANT = Format(
    name="posit-assistant",
    version=2,
    detect=confident(matches, CERTAIN),
    read=_Session.read,
    program="Posit Assistant",
    companions=named_after({MESSAGES: (TREE, SHOWN)}),
)
