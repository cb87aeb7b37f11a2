"""Recognise requests by their first words, such as "can you" or "I want".

Other languages are recognised by their commonest words. `recall` uses this grammar too, so it is not in the phrase file.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pastchats_memory.episodes.outcome.episode import OPENING, Episode, Pattern

_VERBS = frozenset({
    "add", "adjust", "allow", "analyse", "analyze", "append", "apply", "ask", "audit", "build", "bump", "call", "catch", "change",
    "check", "clean", "clone", "combine", "commit", "compare", "compile", "complete", "configure", "consider", "convert", "copy",
    "create", "define", "delete", "deploy", "describe", "design", "disable", "display", "document", "download", "draft", "drop",
    "edit", "elaborate", "enable", "ensure", "execute", "expand", "explain", "export", "extend", "extract", "figure", "fill", "find", "finish",
    "focus", "follow", "format", "generate", "get", "give", "hide", "highlight", "identify", "implement", "import", "improve", "include",
    "increase", "insert", "inspect", "install", "integrate", "investigate", "keep", "leave", "limit", "link", "list", "load",
    "log", "look", "maintain", "make", "map", "mark", "merge", "migrate", "modify", "move", "name", "omit", "open", "optimise",
    "optimize", "order", "organize", "pass", "pick", "place", "plan", "prepare", "print", "process", "provide", "publish", "pull",
    "push", "put", "read", "reduce", "refactor", "release", "remove", "rename", "render", "reorder", "reorganize", "replace",
    "report", "research", "reset", "resize", "restart", "restrict", "review", "reword", "rephrase", "rewrite", "run", "save", "scan", "search",
    "select", "send", "set", "setup", "ship", "shorten", "show", "simplify", "skip", "sort", "split", "start", "stop", "store", "style",
    "submit", "suggest", "summarise", "summarize", "support", "switch", "sync", "tag", "tell", "test", "tidy", "track",
    "translate", "treat", "trim", "turn", "update", "upgrade", "upload", "use", "validate", "verify", "view", "walk", "wrap",
    "write",
})  # fmt: skip
_BEFORE = re.compile(
    r"[^\w@`#]*(?:(?:ok(?:ay)?|alright|all right|great|perfect|nice|good|cool|yes|yeah|yep|thanks|thank you|thx|please|pls"
    r"|now|next|then|also|and|so|but|just|first|finally|lastly|well|btw|by the way|further|always)\b[\s,.!:;-]*|[@`#]\S+\s+)*",
    re.IGNORECASE,
)
"""Words and file names before the request itself."""
_VERB = re.compile(
    r"([a-zA-Z]+)(?! (?:is|are|was|were|has|isn't|aren't|doesn't|don't|didn't|still|not|now|also|fail\w*|broke|breaks"
    r"|crash\w*|errors|shows|seems|looks|hangs|works|worked|passes|passed)\b)(?![a-zA-Z])"
)
"""An imperative, unless it is the subject of a statement: "build fails", "search is slow"."""
_CONDITION = re.compile(r"(?:if|when|whenever|once|where|for|in|on|after|before)\b[^.?!\n]{0,100}?,\s+", re.IGNORECASE)
_ASKING = Pattern(
    r"""
    (?:
        (?:can|could|would|will)\ (?:you|we|i|it|this)|let(?:'?s)?|i(?:'d|\ would)\ like|i\ (?:want|need|wish)
        |we\ (?:should|need|want|could|can)|you\ (?:should|can|need|could)|what|how|which|where|who|should|shall
        |will|work\ (?:on|through)
        |(?!did\ that\b)(?:is|are|was|were|do(?:es)?|did|has|have|would|could)(?:n't)?\ (?:
            it|this|that|there|the|these|those|you|we|i|they|an?|any|my|our|your|\w+ing
        )
    )\b
    |(?:
        как|что|почему|где|как(?:ой|ая|ие)|можно|давай|нужно|надо|хочу|посмотри|проверь|покажи|cómo|qué|cuál|dónde
        |hay|comment|quel(?:le)?s?|est-ce|où|wie|was|wo|welche[rns]?|gibt\ es|qual|onde|bagaimana|gimana|apa
    )\b
    |(?:
        peux-tu|pouvez|pourrais|ajoute[rz]?|crée[rz]?|fais|faites|mets|change|modifie|je\ (?:veux|voudrais)
        |maintenant|implemente|continue|corrija|remova|atualize|altere|verifique|analise|gere|execute|adicione|crie
        |faça|coloque|altere|mude|agora|(?:você\ )?(?:pode|poderia)|quero|preciso|implementa|desarrolla|genera
        |ejecuta|lanza|muestra|muéstrame|explica|explícame|escribe|dame|dime|usa|mueve|quita|borra|sube|instala
        |configura|mejora|optimiza|traduce|continúa|corrige|elimina|actualiza|arregla|verifica|revisa|agrega|añade
        |crea|haz|pon|cambia|ahora|puedes|podrías|quiero|necesito|füge|erstelle|mach|ändere|kannst\ du|bitte|jetzt
        |ich\ (?:möchte|will|brauche)|tambahkan|buat(?:kan)?|tolong|silahkan|ubah|ganti|sekarang
        |saya\ (?:ingin|mau|butuh)|lanjut\w*|добавь|сделай|создай|напиши|измени|теперь|можешь|додай|зроби|створи
        |тепер
    )\b
    |(?:[^。！\n]{0,40}[。！]\s*){0,3}[只仅先再也还就都]?(?:请|帮我|把|给|再加|现在|接下来|然后|添加|增加|修改|改成|实现|생성|추가)
    |[^。\n]{0,80}(?:应该|してください|お願いします|して(?:ほしい|下さい)|해줘|해주세요)"""
)
_REQUIRES = Pattern(
    r"""
    \b(?:should|must|needs?\ to|has\ to|have\ to)\ (?!have\b)(?:\w+\ )?\w
    |\b(?:too|also|as\ well)\b\W*(?:\Z|\n|here\b)|\balso\ (?:here|in|for)\b"""
)
"""A statement of what has to be."""
_INQUIRES = Pattern(
    r"""
    [?？吗呢]|\blet\ me\ know\ (?:what|why|how|which|whether)\b|\b(?:search|look|scan)\ for\ (?:\w+\ )?(?:problems|bugs|issues|errors)\b
    |(?:\A|[.!\n]\s)\W*(?:please\ |can\ you\ |could\ you\ )?(?:
        read|why|what|which|how|when|where|who|explain|find\ out|investigate|look|check|see|reproduce|debug|diagnose
        |analy[sz]e|review|tell|show|list|report|verify|test
        |(?:re-?)?run\b[^\n]{0,30}\b(?:tests?|suite|lint\w*|checks?)
    )\b
    |\btell\ me\b|\blook\ into\b|\bfailing\ test\b"""
)

_GREETING = Pattern(
    r"""
    \W*(?:
        hi|hello|hey|hiya|good\ (?:morning|evening|afternoon)|hallo|guten\ (?:tag|morgen|abend)|moin|hola|buenas|buenos\ d[ií]as|ol[áa]|oi
        |bom\ dia|bonjour|salut|ciao|buongiorno|hej|привет|здравствуй(?:те)?|你好|您好|嗨|こんにちは|おはよう(?:ございます)?|안녕(?:하세요)?
        |مرحبا|السلام\ عليكم|salam|merhaba|selam|halo|xin\ chào
        |thanks|thank\ you|thx|谢谢|ありがとう(?:ございます)?|danke|merci|gracias|obrigad[oa]|спасибо
    )(?:[\ ,]+(?:there|all|claude|gemini|codex|cursor|copilot|again|so\ much|a\ lot))?\W*\Z"""
)

_QUESTION = Pattern(
    r"""
    \A\W*/ask\b
    |\A\W*(?:
        what|which|how|when|where|who|why|explain|tell\ me|was|wie|warum|qué|cómo|por\ qué|que|como|pourquoi|comment|как
        |что|почему|为什么|怎么|什么
        |do(?:n't)?\ (?:i|we|they)|(?:is|are|can|could|does|did|should|would)(?:n't)?\ (?:i|it|this|that|these|those|the|there|they|an?|my|our)
    )\b"""
)
"""The beginning of a message that is one question."""
_FINAL_QUESTION_MARK = Pattern(r"[?？吗]\W*\Z")
_POLITE = Pattern(
    r"""
    \W*(?:
        please\b
        |(?:can|could|would|will)\ (?:you|we)\b(?!\ (?:explain|tell|see|say)\b)
        |let's\b
        |i(?:'d|\ would)?\ (?:want|need|like)\b
    )"""
)
"""A request in the form of a question."""


def is_inquiry(episode: Episode) -> bool:
    """Return whether the user wants information, so that the answer is the work."""
    return bool(_INQUIRES.search(episode.request[: 2 * OPENING]))


def is_greeting(episode: Episode) -> bool:
    """Return whether the user only greets or thanks."""
    return bool(_GREETING.match(episode.request[:OPENING]))


def is_question(episode: Episode) -> bool:
    """Return whether the user only asks a question. "Could you do it?" is a request."""
    request = episode.request.strip()
    is_one = _QUESTION.match(request) or _FINAL_QUESTION_MARK.search(request[-OPENING:])
    return bool(is_one) and not _POLITE.match(request)


def is_request(sentence: str) -> bool:
    """Return whether the sentence asks for something, or says what has to be."""
    return starts_with_request(sentence) or bool(_REQUIRES.search(sentence))


@lru_cache(maxsize=64)
def starts_with_request(sentence: str) -> bool:
    """Return whether the first words ask for something, rather than state something."""
    start = _BEFORE.match(sentence)
    rest = sentence[start.end() if start else 0 :]
    if condition := _CONDITION.match(rest):
        rest = rest[condition.end() :]
    word = _VERB.match(rest)
    is_verb = word is not None and word[1].lower() in _VERBS
    return is_verb or bool(_ASKING.match(rest) or _ASKING.match(sentence))
