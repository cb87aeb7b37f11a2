"""What the person said next: accepted, rejected, built on, asked again, or pasted the error that came of it.

Several languages, where a few words are enough; negation and sarcasm count against.
"""

from __future__ import annotations

import re

from pastchats_memory.outcome.answers import ASKS_FOR_MORE
from pastchats_memory.outcome.rows import LONGEST, OPENING, Episode, Evidence, quoted

SAME_WORDS = 0.8
"""Share of words in common above which a prompt was sent again."""
FEW_WORDS = 3
"""Prompts of fewer words ("yes", "go on") are not the same prompt when they come again."""

_REJECTED = re.compile(
    r"""^\W*(?:no|nope|wrong|undo|revert|dude|wtf|stop|нет|не\ то|nein|falsch|non|faux|incorrecto|errado|不对|错了|違う)(?=[\s,.!:;—-]|$)(?!\s(?:problem|worries|need|rush))
    |\bstill\b[^.?!\n]{0,40}\b(?:not|broken|fail\w*|errors?|wrong|missing|crash\w*|doesn)\b|\bstill\ (?:the\ same|get(?:ting)?|see(?:ing)?|there)\b
    |\b(?:does|do|did|is|was|has|have)(?:n't|nt|\ not)\ (?:\w+\ )?(?:work|fix|help|do\ anything|change\ anything|right|correct|what\ i|true|run|compile|build|start|load)
    |\b(?:not|isn't)\ (?:working|fixed|what\ i\ (?:asked|wanted|meant)|right|correct|true)\b
    |\bi\ (?:meant|said|asked\ for|told\ you)\b|\bthat(?:'s|\ is)\ (?:not|wrong|incorrect)\b|\byou\ (?:broke|forgot|missed|misunderstood|are\ just\ repeating)\b
    |\b(?:same|another)\ (?:error|problem|issue|mistake)s?\b|\b(?:it|that|this)\ (?:broke|fails|failed|crashe[ds])\b|\bbut\ (?:then\ )?it\ fails\b
    |\b(?:undo|revert|roll\ back)\ (?:that|this|it|the|your|all)\b|\bnot\ true\b|\bdidn't\ (?:ask|want)\b
    |не\ работает|не\ помогло|всё?\ ещё\ |та\ же\ ошибка|ты\ зациклился|не\ працює|ше?\ раз\ повтори|ще\ раз|funktioniert\ nicht|geht\ (?:immer\ noch\ )?nicht
    |immer\ noch|no\ funciona|sigue\ (?:sin|fallando|dando)|ne\ (?:marche|fonctionne)\ pas|toujours\ (?:pas|la\ même)|não\ funciona|ainda\ (?:não|dá)
    |不行|没用|没有用|还是(?:不|报错|有问题)|不工作|仍然|動きません|まだ(?:動|エラー)|안\ ?(?:돼|됩)""",
    re.IGNORECASE | re.VERBOSE,
)
_ACCEPTED = re.compile(
    r"""^\W*(?:(?:ok(?:ay)?|yes|yep|yup|cool|a+h+|this\ is|that\ is|that's|it|looks?|really|very)[\s,.!]+){0,3}
    (?:thanks|thank\ you|thx|ty\b|great|perfect|awesome|excellent|nice|amazing|lovely|beautiful|love\ it|good|helpful|works|worked|it\ works|working|fixed
    |done|lgtm|agreed|ship\ it|commit|push|i\ (?:like|love)|now\ i(?:'ve|\ have)?\ got\ it|makes\ sense|sure|yup|yes|y|yep|ok|okay|alright
    |спасибо|отлично|супер|работает|дякую|danke|perfekt|super|klappt|funktioniert\b(?!\ nicht)|gracias|perfecto|funciona|merci|parfait|ça\ marche|obrigad[oa]|perfeito
    |可以|谢谢|好的?|完美|很好|不错|ありがとう|完璧|고마워|감사)(?=[\s,.!:;，。！—-]|$)
    |\b(?:works|worked)\ (?:fine|now|great|well|perfectly)\b|\bnow\ it\ works\b|\bseems\ to\ work\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BUILT_ON = re.compile(
    r"""^\W*(?:(?:and|ok|okay|so|great)[\s,.]+)?(?:now|next|then|also|let's|lets|let\ us|can\ you\ (?:also|now)|please\ also|continue|proceed|go\ (?:on|ahead)|do\ it
    |implement\ the|start|write\ (?:this|it|that)|delete\ them|теперь|дальше|продолж\w+|jetzt|weiter|ahora|maintenant|agora|现在|接下来|继续|开始|然后|次に)(?=[\s,.!:;，]|$)
    |\b(?:a\ similar|the\ same)\ (?!error|problem|issue|mistake|thing\ happen)\w+|^(?:帮我|完成)""",
    re.IGNORECASE | re.VERBOSE,
)
BUT = re.compile(
    r"\b(?:but|however|except|although|yet)\b|:/|:\(|\bно\b|\baber\b|\bpero\b|\bmais\b|但|ただ", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?\n。！？]")
_SARCASM = re.compile(
    r"\b(?:great|nice|perfect|thanks|awesome)\b[^.\n]{0,30}(?:/s\b|🙄|\.\.\.|another|again\b|for (?:breaking|nothing))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_ERROR_LINE = re.compile(
    r"^[ \t>]*(?:[\d.]+ )?(?:npm )?(?:[^\s:]+: ?)*(?:fatal error|error|fatal|failed|traceback|panic|uncaught \w+|\w+(?:Error|Exception))\b[: \[(].*$",
    re.IGNORECASE | re.MULTILINE,
)
_PASTED_COMMAND = re.compile(r"^.{0,120}?[$%❯\]] +(?P<command>[\w./-]{2,}[^\n]{0,80})", re.MULTILINE)


def accepts(text: str) -> bool:
    """Whether somebody's next words say that it is good, without a but and without meaning the contrary."""
    opening = text[:OPENING]
    return (
        bool(_ACCEPTED.search(opening))
        and not rejects(text)
        and not BUT.search(first_sentence(opening))
        and not _SARCASM.search(opening)
    )


def rejects(text: str) -> bool:
    """Whether somebody's next words say that it is not."""
    opening = text[:OPENING]
    return bool(_REJECTED.search(opening) or _SARCASM.search(opening))


def first_sentence(text: str) -> str:
    """Up to its end, at most 240 characters."""
    return _SENTENCE.split(text, maxsplit=1)[0][:OPENING]


def next_words(episode: Episode) -> tuple[Evidence, ...]:
    """The first line of what the person said next, as evidence."""
    return quoted(episode.following, len(episode.turns))


def asked_again(episode: Episode) -> tuple[Evidence, ...]:
    """The same prompt was sent once more."""
    prompts = [turn.content for turn in episode.turns if turn.role == "user"]
    if not episode.following:
        return ()
    return next_words(episode) if any(_same(prompt, episode.following) for prompt in prompts) else ()


def _same(first: str, second: str) -> bool:
    if first.strip() == second.strip() and (first.startswith("/") or len(first.split()) >= FEW_WORDS):
        return True
    beginnings = {" ".join(text[:OPENING].split()) for text in (first, second)}
    if len(beginnings) == 1 and min(len(first), len(second)) >= OPENING:
        return True
    words, others = (frozenset(_WORD.findall(text[:LONGEST].lower())) for text in (first, second))
    return min(len(words), len(others)) >= FEW_WORDS and len(words & others) > SAME_WORDS * len(words | others)


def same_error(episode: Episode) -> tuple[Evidence, ...]:
    """The person pastes an error: the one there was before, or that of a command which was asked for or recommended."""
    errors = list(_ERROR_LINE.finditer(episode.following[:LONGEST]))
    if not errors:
        return ()
    asked = episode.asked
    said = asked + "\n".join(text for _, text in episode.answers())
    known = [error for error in errors if len(error[0].strip()) > OPENING // 20 and error[0].strip() in asked]
    commands = (one["command"].strip() for one in _PASTED_COMMAND.finditer(episode.following[:LONGEST]))
    if not known and not any(len(command) > FEW_WORDS and command in said for command in commands):
        return ()
    return quoted(episode.following, len(episode.turns), (known or errors)[0].start())


def rejected(episode: Episode) -> tuple[Evidence, ...]:
    """The person's next words say that it is not what was asked for."""
    return next_words(episode) if rejects(episode.following) else ()


def accepted(episode: Episode) -> tuple[Evidence, ...]:
    """The person's next words say that it is good."""
    return next_words(episode) if accepts(episode.following) else ()


def built_on(episode: Episode) -> tuple[Evidence, ...]:
    """The person goes on from what was answered, and it was no question back."""
    text = episode.following
    answers = episode.answers()
    if (
        not answers
        or rejects(text)
        or BUT.search(first_sentence(text))
        or ASKS_FOR_MORE.search(answers[-1][1][-OPENING:])
    ):
        return ()
    return next_words(episode) if _BUILT_ON.search(text[:OPENING]) else ()
