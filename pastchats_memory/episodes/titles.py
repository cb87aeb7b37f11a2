"""Name conversations and episodes as people would: by the agent's own title, else by a sentence of the user's own words."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache, partial

from pastchats_memory.model import Hit
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import OPENING
from pastchats_memory.text.display import one_line, shorten_line
from pastchats_memory.text.identifiers import is_foreign
from pastchats_memory.text.instruction import parse_template
from pastchats_memory.text.lazy_pattern import LazyPattern, read_pattern
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.topics import is_small_talk, measure_topic

TITLE_WIDTH = 80
"""Characters of a title."""
UNNAMED = "Conversation"
"""Title of a conversation in which nobody names anything."""
LEAST_TOPIC, PLAIN_WORDS = 0.5, 6
"""Topic that a sentence names, or words that it has; one with less is taken only if no other has more."""
HEADING_TOPIC = 1.0
"""Topic that a heading needs, or a line that only opens what follows; "## User Input" is a form that somebody filled in."""
LEAST_PROSE = 0.5
"""Share of words in a sentence; less is code."""
WHOLE_SENTENCE = 4
"""Words of a sentence that is preferred to a shorter one before it ("Priya again.")."""
LEAST_WORDS, LEAST_OF_TITLE = 2, 3
"""Words of a sentence, and of a title that the agent gave; one word alone ("test") names nothing."""

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_PLACEHOLDERS = frozenset({"new chat", "new session", "new conversation", "new agent", "new thread", "untitled chat"})
_ADDED = read_pattern(__file__, "added-by-client", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_OWN_WORDS = LazyPattern(
    r"</?(?:user_query|user-query|user_message|user_input|user_request|channel|task|prompt)(?: [^<>]{0,200})?>"
)
_COMMAND = LazyPattern(r"\A\s*/[A-Za-z][\w:.-]*(?=\s|\Z)")
_SENTENCE_END = LazyPattern(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\d\.)(?<!\bvs\.)[\"')\]*]*\s+(?=[^\sa-z])|(?<=[。！？])"
)
_WRAPPED = LazyPattern(r"(?<=\S)[ \t]*\n[ \t]*(?=[a-z(])")
_LINK = LazyPattern(r"\[([^\[\]\n]+)\]\([^()\s]+\)", 0, ("](",))
_NAMED_FILES = LazyPattern(r"\A(?:@[^\s@]+\s+)+(?=\S+\s|[^\x00-\x7f])", 0, ("@",))
"""Files that a client attaches, before what is asked about them."""
_MARKS = LazyPattern(r"^(?:[ \t]*(?:[-*+•>]|\#{1,6}|\d{1,3}[.)])[ \t]+)+")
_HEADING = LazyPattern(r"[ \t]*(?:\#{1,6}[ \t]|(?:\*\*[^*]+\*\*|__[^_]+__):?[ \t]*\Z)|.*[:：]\W*\Z", re.DOTALL)
_NO_WORDS = read_pattern(__file__, "no-words", re.IGNORECASE)
_WORD = LazyPattern(r"[^\W\d_]{2,}")
_PLAIN_WORD = LazyPattern(r"[(\"'“‘*_`«„@]*[^\W\d_][^\W_]*(?:['’-][^\W_]+)*[^\w/\\({\[=]*\Z")
_EMPHASIS = LazyPattern(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`")


def name_conversation(database: Database, project: str, conversation_id: str) -> str:
    """Return the title of a conversation.

    It is the agent's own, else the first sentence of the user that names something, else one of the first answer.
    """
    opening = turns.load_opening(database, project, conversation_id)
    own = next((one for one in opening.titles if _has_words(one) and len(one.split()) >= LEAST_OF_TITLE), "")
    return (
        _shorten(_strip_marks(own))
        or find_title([*opening.titles, *opening.prompts])
        or find_title(opening.others)
        or UNNAMED
    )


def name_episode(database: Database, request: str, project: str, conversation_id: str | None) -> str:
    """Return the title of an episode: its own request, or for one such as "go on" the title of its conversation."""
    own = _pick_sentence(request)
    if conversation_id is None or (own is not None and own[0] >= LEAST_TOPIC):
        return _shorten(own[1]) if own else UNNAMED
    return name_conversation(database, project, conversation_id)


def name_hits(database: Database, hits: Iterable[Hit]) -> dict[str, str]:
    """Return the title of each hit by its id: of a task, of the episode that a prompt begins, else of the conversation."""
    of_conversation = cache(partial(name_conversation, database))
    titles: dict[str, str] = {}
    for hit in hits:
        if hit.task is not None:
            titles[hit.id] = one_line(hit.task.title)
        elif hit.role == "user" or hit.conversation_id is None:
            titles[hit.id] = name_episode(database, hit.content, hit.source_project, hit.conversation_id)
        else:
            titles[hit.id] = of_conversation(hit.source_project, hit.conversation_id)
    return titles


def find_title(texts: Iterable[str]) -> str:
    """Return the sentence that names what the texts are about, the first that names something; empty if none has words."""
    weakest = ""
    for text in texts:
        found = _pick_sentence(text[:OPENING])
        if found is not None and found[0] >= LEAST_TOPIC:
            return _shorten(found[1])
        weakest = weakest or (found[1] if found else "")
    return _shorten(weakest)


@lru_cache(maxsize=2000)
def _pick_sentence(text: str) -> tuple[float, str] | None:
    """Return the first sentence of a text that names something, else the first of all, and how much it names.

    Without any, return the error in what was pasted, as one that names nothing.
    """
    typed = parse_template(text)
    text = _ADDED.sub("\n", _OWN_WORDS.sub("\n", text if typed is None else typed))
    pasted = split_paste(_LINK.sub(r"\1", _COMMAND.sub("", text)))
    lines = _WRAPPED.sub(" ", pasted.typed).splitlines()
    parts = (part for line in lines for part in _SENTENCE_END.split(line) if _has_words(part))
    first = naming = None
    for one in ((_measure(part), _strip_marks(part)) for part in parts):
        if one[0] >= LEAST_TOPIC and (len(one[1].split()) >= WHOLE_SENTENCE or is_foreign(one[1])):
            return one  # the sentences behind it are not measured
        first = first or one
        naming = naming or (one if one[0] >= LEAST_TOPIC else None)
    return naming or first or ((0.0, _strip_marks(pasted.error)) if pasted.error else None)


def _has_words(sentence: str) -> bool:
    """Check whether a sentence is no command, path or small talk."""
    bare = _strip_marks(sentence)
    if _NO_WORDS.match(bare) or _UUID.search(bare) or bare.lower() in _PLACEHOLDERS or is_small_talk(bare):
        return False
    return is_foreign(bare) or sum(_WORD.search(part) is not None for part in bare.split()) >= LEAST_WORDS


def _measure(sentence: str) -> float:
    """Return how much a sentence names; nothing for code and for a heading of a form."""
    topic, parts = measure_topic(sentence), _MARKS.sub("", sentence).split()
    plain = sum(_PLAIN_WORD.match(part) is not None for part in parts)
    is_code = plain < LEAST_PROSE * len(parts) and not is_foreign(sentence)
    if is_code or (_HEADING.match(sentence) and topic < HEADING_TOPIC):
        return 0.0
    return max(topic, LEAST_TOPIC) if len(parts) >= PLAIN_WORDS else topic


def _strip_marks(sentence: str) -> str:
    return _NAMED_FILES.sub("", one_line(_EMPHASIS.sub("", _MARKS.sub("", sentence)))).strip(" :：")


def _shorten(title: str) -> str:
    """Return a title of at most TITLE_WIDTH characters that ends with a whole word."""
    return title.rstrip(".") if len(title) <= TITLE_WIDTH else shorten_line(title, TITLE_WIDTH)
