"""Measure how much of a topic a text names.

Prompts that steer the work ("add tests for this", "update the README") fit every project, so no memory of one helps them.
"""

from functools import cache, lru_cache

from pastchats_memory.text.data_file import read_words
from pastchats_memory.text.identifiers import is_spaceless, separate_spaceless
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.words import FUNCTION_WORDS, WORD, is_function_word

NAME, PLAIN_WORD, COMMON_WORD = 1.0, 0.5, 0.25
"""Worth of a name or an identifier, of an unlisted word, and of a noun that many projects share; other listed words are worth 0."""
ANY_PROJECT_TOPIC = 0.75
"""Topic that a prompt has to name for memories of any project; a vaguer one gets those of the current one."""
MIN_STEM = 3
"""Letters of a word without its ending."""
MIN_DIGITS = 3
"""Digits of a number that may name something, such as a status or an issue."""
SPACELESS_WORD = 2
"""Characters of a usual word in a script without spaces."""
_TOKEN = LazyPattern(r"[^\W_](?:[\w.:/@-]*[^\W_])?")
_ENDINGS = ("s", "es", "ies", "ed", "ied", "d", "ing", "er", "ers", "ly")
_SENTENCE_END = LazyPattern(r"(?:\A|[.!?:;\n\"'(\[-])\s*\Z")
_PLAIN = LazyPattern(r"[^\W\d_A-Z]+(?:['’-][^\W\d_A-Z]+)*")
_IDENTIFIER = LazyPattern(r"\w_\w|[a-z][A-Z]")
_SEPARATOR = LazyPattern(r"[\W_]+")
_LOOKBEHIND = 3
_QUOTED = LazyPattern(r"""`[^`\n]{2,80}`|"[^"\n]{2,80}"|“[^”\n]{2,80}”|(?<!\w)'[^'\n]{2,80}'(?!\w)""")
"""A short quotation, mostly an error or a name."""


@lru_cache(128)
def topic_words(text: str) -> dict[str, float]:
    """Return the lower-case words that may name a topic, each with its worth above 0.

    A word is a name if its spelling shows it: capitals within a sentence, digits, or the joints of an identifier.
    """
    found: dict[str, float] = {}
    text = separate_spaceless(text)
    quoted_words = frozenset(WORD.findall(" ".join(_QUOTED.findall(text)).lower()))
    for match in _TOKEN.finditer(text):
        token = match[0]
        opens_sentence = _SENTENCE_END.search(text, max(0, match.start() - _LOOKBEHIND), match.start())
        bare = token.lower() if opens_sentence and token[1:].islower() else token
        unlisted = PLAIN_WORD if _PLAIN.fullmatch(bare) else NAME
        worths = {part: _rate_word(part, unlisted) for part in _SEPARATOR.split(token.lower()) if part}
        if _IDENTIFIER.search(token) and token.lower() not in _read_worths():
            worths[max(worths, key=len)] = NAME
        for part, worth in worths.items():
            if part in quoted_words and not is_function_word(part) and len(part) >= MIN_STEM:
                found[part] = max(found.get(part, worth), PLAIN_WORD)
            elif worth:
                found[part] = max(found.get(part, 0.0), worth)
    return found


def measure_topic(text: str) -> float:
    """Return the sum of the worths of a text's topic words; 0 for a text that names nothing."""
    return sum(topic_words(text).values())


def is_small_talk(text: str) -> bool:
    """Check whether a text only greets, thanks or agrees."""
    found = [word.lower() for word in WORD.findall(text)]
    talk = _read_talk()
    return all(word in talk or word in FUNCTION_WORDS for word in found) and not talk.isdisjoint(found)


def is_resuming(text: str) -> bool:
    """Check whether a text only asks to go on with earlier work."""
    asking, others = frozenset(_list_words("resuming")), frozenset(_list_words("beside"))
    found = [
        part for word in WORD.findall(separate_spaceless(text.lower())) for part in _split_listed(word, asking | others)
    ]
    return not asking.isdisjoint(found) and (asking | others | FUNCTION_WORDS).issuperset(found)


def _split_listed(word: str, listed: frozenset[str]) -> list[str]:
    """Return a word, or the listed words in a run of a script without spaces, the longest first, and what is left."""
    if not is_spaceless(word):
        return [word]
    parts = []
    for one in sorted(filter(is_spaceless, listed), key=len, reverse=True):
        if one in word:
            parts.append(one)
            word = word.replace(one, "")
    return [*parts, *filter(None, [word])]


def _rate_word(word: str, unlisted: float) -> float:
    """Return the worth of a lower-case word, whatever its ending; `unlisted` if no list has it."""
    if is_spaceless(word):
        for listed in _read_spaceless():
            word = word.replace(listed, "")
        return PLAIN_WORD * (len(word) // SPACELESS_WORD)
    if is_function_word(word) or word in _read_talk() or len(word) == 1:
        return 0.0
    if word.isdecimal():
        return COMMON_WORD if len(word) >= MIN_DIGITS else 0.0
    worths = _read_worths()
    stems = [word]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(stem := word.removesuffix(ending)) >= MIN_STEM:
            stems += [stem, f"{stem}e", f"{stem}y"]
            if stem[-1] == stem[-2]:
                stems.append(stem[:-1])
    return min((worths[stem] for stem in stems if stem in worths), default=unlisted)


@cache
def _read_talk() -> frozenset[str]:
    """Return greetings, thanks and assent. A cold `recall` splits no other list, which would take four times as long."""
    return frozenset(_list_words("talk"))


@cache
def _read_worths() -> dict[str, float]:
    """Return the worth of each word of any work, and of each noun that many projects share."""
    return dict.fromkeys(_list_words("shared"), COMMON_WORD) | dict.fromkeys(_list_words("work"), 0.0)


@cache
def _read_spaceless() -> tuple[str, ...]:
    """Return the words of talk and work in scripts without spaces, the longest first; most texts have no such script."""
    return tuple(sorted(filter(is_spaceless, [*_list_words("talk"), *_list_words("work")]), key=len, reverse=True))


def _list_words(name: str) -> list[str]:
    return read_words(__file__, "topic_words.txt")[name].split()
