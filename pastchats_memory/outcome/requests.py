"""Whether the person went on to something else: a new request is the commonest sign that the work before it was good.

After work that is in sight, whoever asks for more has no complaint; whoever states something mostly has. A request is told by its
first words: a verb of doing, "can you", "I want", a question; in other languages by the commonest words of asking.
"""

from __future__ import annotations

import re

from pastchats_memory.outcome.next_words import doubted, speaks_against
from pastchats_memory.outcome.rows import Episode, Pattern, once
from pastchats_memory.outcome.said import first_sentence, opening

LONG_TEXT = 240
"""Characters from which on what is said is a task rather than a word about the last one."""

_VERBS = frozenset({
    "add", "adjust", "allow", "analyse", "analyze", "append", "apply", "ask", "audit", "build", "bump", "call", "catch", "change",
    "check", "clean", "clone", "combine", "commit", "compare", "compile", "complete", "configure", "consider", "convert", "copy",
    "create", "define", "delete", "deploy", "describe", "design", "disable", "display", "document", "download", "draft", "drop",
    "edit", "enable", "ensure", "execute", "expand", "explain", "export", "extend", "extract", "figure", "fill", "find", "finish",
    "focus", "format", "generate", "get", "give", "hide", "highlight", "identify", "implement", "import", "improve", "include",
    "increase", "insert", "inspect", "install", "integrate", "investigate", "keep", "leave", "limit", "link", "list", "load",
    "log", "look", "maintain", "make", "map", "mark", "merge", "migrate", "modify", "move", "name", "omit", "open", "optimise",
    "optimize", "order", "organize", "pass", "pick", "place", "plan", "prepare", "print", "process", "provide", "publish", "pull",
    "push", "put", "read", "reduce", "refactor", "release", "remove", "rename", "render", "reorder", "reorganize", "replace",
    "report", "research", "reset", "resize", "restart", "restrict", "review", "rewrite", "run", "save", "scan", "search",
    "select", "send", "set", "setup", "ship", "show", "simplify", "skip", "sort", "split", "start", "stop", "store", "style",
    "submit", "suggest", "summarise", "summarize", "support", "switch", "sync", "tag", "tell", "test", "tidy", "track",
    "translate", "treat", "trim", "turn", "update", "upgrade", "upload", "use", "validate", "verify", "view", "walk", "wrap",
    "write",
})  # fmt: skip
_BEFORE = re.compile(
    r"\W*(?:(?:ok(?:ay)?|alright|all right|great|perfect|nice|good|cool|yes|yeah|yep|thanks|thank you|thx|please|pls|now|next|then|also|and|so|but|just"
    r"|first|finally|lastly|well|btw|by the way|further|always)\b[\s,.!:;-]*|[@`#]\S+\s+)*",
    re.IGNORECASE,
)
"""Words and names of files before what is asked for."""
_VERB = re.compile(r"[a-zA-Z]+")
_CONDITION = re.compile(r"(?:if|when|whenever|once|where|for|in|on|after|before)\b[^.?!\n]{0,100}?,\s+", re.IGNORECASE)
_ASKS = Pattern(
    r"""(?:(?:can|could|would|will)\ (?:you|we|i|it|this)|let(?:'?s)?|i(?:'d|\ would)\ like|i\ (?:want|need|wish)|we\ (?:should|need|want|could|can)|you\ (?:should|can|need|could)
    |what|how|which|where|who|is|are|do(?:es)?|did|should|shall|will|has|have)\b
    |(?:peux-tu|pouvez|pourrais|ajoute[rz]?|crée[rz]?|fais|faites|mets|change|modifie|je\ (?:veux|voudrais)|maintenant|adicione|crie|faça|coloque|altere|mude|agora|(?:você\ )?(?:pode|poderia)|quero|preciso
    |agrega|añade|crea|haz|pon|cambia|ahora|puedes|podrías|quiero|necesito|füge|erstelle|mach|ändere|kannst\ du|bitte|jetzt|ich\ (?:möchte|will|brauche)|tambahkan|buat(?:kan)?|tolong|silahkan|ubah|ganti|sekarang|saya\ (?:ingin|mau|butuh)|lanjut\w*
    |добавь|сделай|создай|напиши|измени|теперь|можешь|додай|зроби|створи|тепер)\b
    |(?:[^。！\n]{0,40}[。！]\s*){0,3}(?:请|帮我|把|给|再加|现在|接下来|然后|添加|增加|修改|改成|实现|생성|추가)|[^。\n]{0,80}(?:应该|してください|お願いします|して(?:ほしい|下さい)|해줘|해주세요)"""
)
_WISHED = Pattern(
    r"\b(?:should|must|needs?\ to|has\ to|have\ to)\ (?!have\b)(?:\w+\ )?\w|\b(?:too|also|as\ well)\b\W*(?:\Z|\n|here\b)|\balso\ (?:here|in|for)\b"
)
"""What has to be, in a statement."""
_BARE = re.compile(r"[/!]|@\S+\s*\Z")
"""A command, or a file alone."""
_AGAIN = Pattern(
    r"""\b(?:again|instead|(?:put|bring|change|switch|turn|move)\b[^.\n]{0,30}\bback|properly|correctly|even|supposed|fix\w*|stop|why|seem\w*|didn't|doesn't|isn't|wasn't)\b|!{2,}"""
)
"""A request to do it over."""


@once
def went_on(episode: Episode) -> bool:
    """Whether the person's next words ask for something else, without a word against what was done."""
    said = opening(episode)
    if not said:
        return bool(episode.following)
    if speaks_against(episode):
        return False
    first = first_sentence(said)
    if _is_request(first):
        return not _AGAIN.search(first)
    return bool(_BARE.match(said)) or (len(episode.following) > LONG_TEXT and not doubted(episode))


def _is_request(sentence: str) -> bool:
    start = _BEFORE.match(sentence)
    rest = sentence[start.end() if start else 0 :]
    if condition := _CONDITION.match(rest):
        rest = rest[condition.end() :]
    word = _VERB.match(rest)
    is_verb = word is not None and word[0].lower() in _VERBS
    return is_verb or bool(_ASKS.match(rest) or _ASKS.match(sentence) or _WISHED.search(sentence))
