"""Read the user's next message: does it accept, reject or continue the work?

Negation and sarcasm count against the work. A repeated prompt and a pasted error are feedback too.
"""

import re
from collections import Counter
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from pastchats_memory.episodes.outcome.answers import (
    awaits_decision,
    ends_with_question,
    get_last_answer,
    has_tool_use,
    requests_input,
)
from pastchats_memory.episodes.outcome.checks import find_failure, read_check_output
from pastchats_memory.episodes.outcome.episode import (
    MAX_SCANNED,
    MIN_WORDS,
    OPENING,
    TRIAL_COMMANDS,
    Episode,
    QuotedLine,
    cached,
    first_sentence,
    first_statement,
    message_opening,
    quote_line,
    quote_next_message,
    strip_client_commands,
)
from pastchats_memory.episodes.outcome.names import find_name, has_identifier, list_changed_files, list_names
from pastchats_memory.episodes.outcome.patterns import EVIDENCE, EXPRESSIONS, GUARDS, Pattern, load_pattern
from pastchats_memory.episodes.outcome.requests import is_inquiry, is_question, is_request, starts_with_request
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.words import WORD

MAX_AGREEMENT_WORDS = 20
"""A longer yes begins something else."""
MIN_LONG_MESSAGE = 100
"""Characters. Shorter messages may complain in unknown words."""
MIN_SHARED_WORDS = 2
"""Words that a longer complaint shares with the episode that it is about."""
MIN_LONG_WORD = 4
"""Letters."""
MIN_ENGLISH_WORDS = 3
"""Common English words of a message in plain English."""
MAX_STATEMENT_WORDS = 16
"""A longer statement is not about the work."""
MIN_SIMILARITY = 0.95
"""Share of common words of a prompt that was sent again with a correction."""
MAX_RETYPED = 150
"""Words of a prompt that a person sends again because it failed. A longer one with headings is a template."""
MIN_SPELLING = 0.75
"""Similarity of a word and its corrected spelling."""
MAX_COMPARED = 60_000
"""Characters of two prompts that are compared; a template may differ in its last line only."""
MIN_COMMON_SHARE = 0.6
"""Share of common words of a prompt that was sent again with an addition."""
MIN_ERROR_LINE = 20
"""Characters of a line that identifies one error."""
MIN_POINTING_WORDS = 8
"""A shorter prompt that points at something ("check this cell?") may point at something else next time."""
MAX_PASTED_COMMANDS = 20
LIKELY = 0.7
"""Probability by the model of a complaint that needs no word of trouble."""
SURE = 0.8
POSSIBLE = 0.5
DOUBTFUL = 0.4
MAX_REMARK_WORDS = 6
"""Long words of a remark that may be about the last work without naming it."""

WIDE = "\u2e80"
"""First character of scripts without blanks."""

_FAULTS = (EVIDENCE["no"], EVIDENCE["breakage"], EVIDENCE["mismatch"])

_BARE_COMMAND = re.compile(r"[/!]|@\S+\s*\Z")
"""A client command, or a file name alone."""
_NAMED_ERROR = re.compile(r"\b[A-Z][a-zA-Z]{0,60}(?:Error|Exception): ")
"""A line that a program printed. It may show the same error or the next one."""
_ENGLISH = re.compile(r"\b(?:the|to|of|and|is|it|that|for|with|on|we|i|you|this)\b", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,4} ", re.MULTILINE)
_FILES_ONLY = re.compile(r"(?:@\S+(?: |\Z))+")
"""Their content may have changed, for example a terminal's."""
_DOCUMENT = re.compile(r"\.(?:md|mdx|txt|rst|adoc)\Z")
_NUMBER = re.compile(r"\d+")
_STATUS = re.compile(r"\b[45]\d\d \(")
"""A failed request of the network, as a browser prints it."""
_BEFORE_ERROR_NAME = re.compile(r"\A.*?(?=\b[\w.]{0,60}(?:error|exception)\b)")
_PASTED_COMMAND = re.compile(r"^.{0,120}?[$%❯\]#] +(?P<command>[\w./-]{2,}[^\n]{0,80})", re.MULTILINE)
_TERMINAL_OUTPUT = load_pattern("feedback", "terminal_output", cased=True)


def _find(episode: Episode, pattern: Pattern, text: str | None = None) -> tuple[QuotedLine, ...]:
    """Find a phrase in the opening of the next message, or in a part of it."""
    found = pattern.search(message_opening(episode) if text is None else text)
    return quote_next_message(episode, found.start()) if found else ()


def says(episode: Episode, meaning: str) -> bool:
    """Return whether the opening of the next message has a phrase of a guard."""
    return GUARDS[meaning].search(message_opening(episode)) is not None


@cached
def _first_remark(episode: Episode) -> str:
    """Return the start of the next message if it is about the work.

    People report faults first, and state their next wish after that.
    """
    opening = message_opening(episode)
    sentence = first_sentence(opening)
    is_long = len(sentence.split()) > MIN_WORDS
    is_new_request = is_long and starts_with_request(sentence) and not GUARDS["redo_request"].search(sentence)
    return "" if is_new_request else first_statement(opening)


@cached
def takes_work_back(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find words with which the user undoes the work, unless they made it by mistake."""
    return () if GUARDS["user_mistake"].search(message_opening(episode)) else _find(episode, EVIDENCE["undo"])


def reports_same_problem(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find words that the problem persists, but not in pastes or answers to the agent's questions."""
    if is_pasted_output(episode) or ends_with_question(episode) or GUARDS["condition"].match(message_opening(episode)):
        return ()
    if not concerns_work(episode):
        return ()
    return _find(episode, EVIDENCE["problem_persists"], _first_remark(episode)) or _repeats_topic(episode)


def _asks_for_fact(episode: Episode) -> bool:
    """Return whether one answer tells what is so, and not how to do something. Such an answer cannot fail to work."""
    is_how = EXPRESSIONS["feedback.how"].search(episode.request) or _has_trouble(episode.request)
    return is_question(episode) and not is_how and len(episode.answers()) == 1 and not has_tool_use(episode)


def _repeats_topic(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a first sentence that repeats the topic of the request with a "still"."""
    sentence = first_sentence(message_opening(episode))
    found = EVIDENCE["still"].search(sentence)
    if not found:
        return ()
    shared = _long_words(sentence) & _long_words(episode.request)
    return quote_next_message(episode, found.start()) if len(shared) >= MIN_SHARED_WORDS else ()


def _long_words(text: str) -> set[str]:
    return {word for word in WORD.findall(text[:MAX_SCANNED].lower()) if len(word) >= MIN_LONG_WORD}


@cached
def states_trouble(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a short first statement of what is wrong, in the user's own words."""
    opening = message_opening(episode)
    first = first_sentence(opening)
    is_asking = is_request(first) or is_request(first.rpartition(", ")[2]) or opening[len(first) :].startswith("?")
    is_printed = find_pasted_error(episode) or _NAMED_ERROR.search(opening.partition("\n")[0])
    is_statement = len(first.split()) <= MAX_STATEMENT_WORDS and not (is_asking or is_printed)
    is_eased = any(pattern.search(first) for pattern in (GUARDS["no_trouble"], EVIDENCE["relief"], EVIDENCE["flaw"]))
    return () if not is_statement or is_eased else _find(episode, EVIDENCE["trouble"], first)


def shares_request_word(episode: Episode, text: str) -> bool:
    """Return whether the text shares a long word with the request."""
    return bool(_long_words(text) & _long_words(episode.request))


def says_still(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a "still" in the first sentence of the next message."""
    return _find(episode, EVIDENCE["still"], first_sentence(message_opening(episode)))


@cached
def refuses_result(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a refusal of the whole result, a failed trial, or sarcastic praise."""
    opening = message_opening(episode)
    sarcasm = () if EVIDENCE["relief"].search(opening) else (EVIDENCE["sarcasm"],)
    refusal = () if GUARDS["works_now"].search(opening) else (EVIDENCE["refusal"],)
    found = (pattern.search(opening) for pattern in (*refusal, EVIDENCE["failed_trial"], *sarcasm))
    return next((quote_next_message(episode, max(0, one.end() - 1)) for one in found if one), ())


@cached
def finds_fault(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a "no", a breakage, or a difference from the request."""
    found = (_find(episode, pattern, _first_remark(episode)) for pattern in _FAULTS)
    return next(filter(None, found), ()) or refuses_result(episode)


def reports_partial_success(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find words that part of the result works, or that it needs a correction."""
    if is_pasted_output(episode) or ends_with_question(episode):
        return ()
    has_reservation = GUARDS["but"].search(message_opening(episode)) or doubts_result(episode)
    return (_find(episode, EVIDENCE["half_success"]) if has_reservation else ()) or _find(episode, EVIDENCE["flaw"])


def praises_result(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find praise or a commit request, without a reservation and without sarcasm."""
    opening = message_opening(episode)
    line = opening.partition("\n")[0].strip()
    is_repeated = len(line) >= MIN_ERROR_LINE and any(line in answer for _, answer in episode.answers())
    if doubts_result(episode) or GUARDS["however"].search(opening) or is_repeated:
        return ()
    is_praise = any(pattern.search(opening) for pattern in (EVIDENCE["praise"], EVIDENCE["relief"]))
    return quote_next_message(episode) if is_praise else ()


def shows_success(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find the green end of a check that the user ran and pasted."""
    result = read_check_output(episode.next_message[-MAX_SCANNED:]) if is_pasted_output(episode) else None
    return (QuotedLine(result[1], len(episode.turns)),) if result and result[0] else ()


@cached
def agrees(episode: Episode) -> bool:
    """Return whether the user says yes, and little else."""
    opening = message_opening(episode)
    is_go = GUARDS["go_ahead"].search(opening) and "?" not in episode.request
    is_short = len(opening.split()) <= MAX_AGREEMENT_WORDS
    return bool(EVIDENCE["agreement"].search(opening)) and not is_go and is_short and not doubts_result(episode)


def asks_to_commit(episode: Episode) -> bool:
    """Return whether the user commits the work, or says little else than that it is to be committed."""
    opening = message_opening(episode)
    is_short = len(opening.split()) <= MAX_AGREEMENT_WORDS and "?" not in opening
    is_doubtful = doubts_result(episode) or _is_likely_complaint(episode, POSSIBLE)
    is_wanted = is_short and EXPRESSIONS["feedback.commit_word"].search(opening) and not is_doubtful
    return bool(EVIDENCE["commit_request"].search(opening) or is_wanted)


def _is_likely_complaint(episode: Episode, least: float) -> bool:
    return episode.reply is not None and episode.reply.complaint >= least


def approves(episode: Episode) -> bool:
    """Return whether the user says yes to the answer, picks an offer of it, or has the work committed."""
    is_read_so = episode.reply is not None and episode.reply.is_approval and not ends_with_question(episode)
    says_yes = agrees(episode) or picks_offer(episode) or asks_to_commit(episode)
    return (is_read_so and not doubts_result(episode)) or says_yes or _applies_proposal(episode)


def picks_offer(episode: Episode) -> bool:
    """Return whether the user picks one of the agent's offers."""
    is_choice = EVIDENCE["choice"].search(message_opening(episode)) or _quotes_offer(episode)
    return bool(is_choice) and not doubts_result(episode)


def _quotes_offer(episode: Episode) -> bool:
    """Return whether the user sends words of the end of the answer back, without its quotes."""
    words = _plain_words(first_sentence(message_opening(episode)))
    ending = _plain_words(get_last_answer(episode)[1][-4 * OPENING :])
    return words.count(" ") >= MIN_WORDS and f" {words} " in f" {ending} "


def _plain_words(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def is_long_without_complaint(episode: Episode) -> bool:
    """Return whether the next message is long, English, and without trouble."""
    opening = message_opening(episode)
    is_short = len(strip_client_commands(episode.next_message[:MAX_SCANNED])) < MIN_LONG_MESSAGE
    if (
        is_short
        or _is_likely_complaint(episode, POSSIBLE)
        or doubts_result(episode)
        or GUARDS["unease"].search(opening)
    ):
        return False
    return len(_ENGLISH.findall(opening)) >= MIN_ENGLISH_WORDS


def goes_on(episode: Episode) -> bool:
    """Return whether the user says nothing, or goes on without an objection. A short statement is mostly a complaint."""
    return bool(
        not episode.next_message
        or moves_to_new_request(episode)
        or continues_from_answer(episode)
        or agrees(episode)
        or picks_offer(episode)
        or is_long_without_complaint(episode)
    )


def complains_of_nothing(episode: Episode) -> bool:
    """Return whether the user goes on, or says something in which neither words nor the model find a complaint."""
    is_read_so = episode.reply is not None and episode.reply.is_content and not complains(episode)
    return goes_on(episode) or is_read_so


def builds_on(episode: Episode, names: frozenset[str]) -> bool:
    """Return whether the user goes on with something that has one of the names."""
    opening = message_opening(episode)
    is_doubtful = GUARDS["unease"].search(opening) or _is_likely_complaint(episode, DOUBTFUL)
    return find_name(names, opening) is not None and goes_on(episode) and not is_doubtful


@cached
def continues_from_answer(episode: Episode) -> bool:
    """Return whether the user goes on from the answer; a mere "continue" counts after a question."""
    opening = message_opening(episode)
    continues = EVIDENCE["next_step"].search(opening) or (
        GUARDS["go_ahead"].search(opening) and is_inquiry(episode) and not ends_with_question(episode)
    )
    return (bool(continues) and not doubts_result(episode)) or _applies_proposal(episode)


def _applies_proposal(episode: Episode) -> bool:
    """Return whether the user agrees with the proposal, or wants it carried out."""
    opening = message_opening(episode)
    is_redone = GUARDS["redo_request"].search(first_sentence(opening)) or doubts_result(episode)
    return bool(EVIDENCE["apply_request"].search(opening)) and not is_redone


@cached
def concerns_work(episode: Episode) -> bool:
    """Return whether the next message is about this work: it names something of it, or is a short remark without a name.

    Words without blanks cannot be compared, so a message in such a script counts. An answer to a question of fact, or
    a written document, breaks no program.
    """
    opening = message_opening(episode)
    answers = " ".join(text[:MAX_SCANNED] for _, text in episode.answers()[-2:])
    known, names = _long_words(episode.request) | _long_words(answers), list_names(episode)
    subject = EXPRESSIONS["feedback.subject"].search(first_sentence(opening))
    if subject is not None and known.isdisjoint(_long_words(subject["name"])):
        return False
    if GUARDS["plain_remark"].search(opening) or max(opening, default="") >= WIDE:
        return True
    if _asks_for_fact(episode):
        return False
    files = list_changed_files(episode)
    if files and all(map(_DOCUMENT.search, files)):
        known, names = _long_words(episode.request), files
    words = _long_words(opening)
    is_paste = is_pasted_output(episode) and "\n" in opening
    if len(words) <= MAX_REMARK_WORDS and not (has_identifier(opening) or is_paste):
        return True
    return len(words & known) >= MIN_SHARED_WORDS or find_name(names, opening) is not None


def complains(episode: Episode) -> bool:
    """Return whether the next message objects to the work, apart from errors that it pastes."""
    return bool(
        finds_fault(episode)
        or states_trouble(episode)
        or (_find(episode, EVIDENCE["problem_persists"], _first_remark(episode)) and not is_pasted_output(episode))
        or _find(episode, EVIDENCE["flaw"])
    )


@cached
def objects(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find anger at this work, or a fault or an error in words that are no wish."""
    opening = message_opening(episode)
    is_fault = (_objects(episode) or EVIDENCE["error_report"].search(opening)) and not _is_wish(episode)
    is_objection = (is_fault or EVIDENCE["anger"].search(opening)) and _is_remark(episode)
    return quote_next_message(episode) if is_objection else ()


def objects_likely(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a complaint that the model reads, surely or beside a word of trouble, without a word of success."""
    opening = message_opening(episode)
    is_troubled = GUARDS["trouble_word"].search(opening.partition("\n")[0])
    is_read_so = episode.reply is not None and episode.reply.complaint >= (POSSIBLE if is_troubled else LIKELY)
    if not is_read_so or GUARDS["no_trouble"].search(opening) or _is_wish(episode) or not _is_remark(episode):
        return ()
    return quote_next_message(episode)


def is_sure_complaint(episode: Episode) -> bool:
    """Return whether the model reads a complaint so surely that the next message is no mere answer to a question."""
    return episode.reply is not None and episode.reply.complaint >= SURE


def _is_wish(episode: Episode) -> bool:
    """Return whether the next message begins with a question or a request."""
    opening = message_opening(episode)
    first = first_sentence(opening)
    is_asking = is_request(first) or is_request(first.rpartition(", ")[2]) or asks_to_commit(episode)
    return is_asking or opening[len(first) :].startswith(("?", "？"))


def _is_remark(episode: Episode) -> bool:
    """Return whether the next message is about this work, and answers no question."""
    is_open = ends_with_question(episode) or awaits_decision(episode) or requests_input(episode)
    is_answer = is_open and not is_sure_complaint(episode)
    return not is_answer and concerns_work(episode)


@cached
def doubts_result(episode: Episode) -> bool:
    """Return whether anything in the next message speaks against the work."""
    opening = message_opening(episode)
    first = first_sentence(opening)
    is_relieved = EVIDENCE["relief"].search(opening)
    return bool(
        _objects(episode)
        or states_trouble(episode)
        or (GUARDS["doubt"].search(first) and not is_relieved)
        or GUARDS["but"].search(first)
        or (GUARDS["trouble_word"].search(opening.partition("\n")[0]) and not is_relieved)
    )


@cached
def _objects(episode: Episode) -> bool:
    """Return whether the next message finds fault, or takes the work back."""
    opening = message_opening(episode)
    return bool(
        any(pattern.search(opening) for pattern in (*_FAULTS, EVIDENCE["problem_persists"], EVIDENCE["flaw"]))
        or refuses_result(episode)
        or find_pasted_error(episode)
        or takes_work_back(episode)
    )


@cached
def moves_to_new_request(episode: Episode) -> bool:
    """Return whether the user requests something else, without an objection.

    A new request is the commonest sign of good work. A statement is mostly a complaint.
    """
    opening = message_opening(episode)
    if not opening:
        return bool(episode.next_message)
    first = first_sentence(opening)
    if _objects(episode) or states_trouble(episode) or GUARDS["doubt"].search(first) or repeats_request(episode):
        return False
    if TRIAL_COMMANDS.match(opening):
        return False
    if is_request(first):
        return not GUARDS["redo_request"].search(first)
    return bool(_BARE_COMMAND.match(opening))


@cached
def is_pasted_output(episode: Episode) -> bool:
    """Return whether the next message begins like the output of a program."""
    return bool(_TERMINAL_OUTPUT.match(message_opening(episode)))


@cached
def repeats_request(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a prompt or an error that the user sends once more.

    Ignore consent, files that the answer requested, and commands that try the work.
    """
    opening = message_opening(episode)
    is_consent = EVIDENCE["agreement"].search(opening) or GUARDS["go_ahead"].search(opening)
    if is_consent and len(opening.split()) <= MAX_AGREEMENT_WORDS:
        return ()
    if requests_input(episode) and EXPRESSIONS["feedback.add_file"].match(episode.next_message):
        return ()
    messages = (turn.content for turn in episode.turns if turn.role == "user")
    prompts = [find_instruction(message) for message in messages if not TRIAL_COMMANDS.match(message)]
    texts = (strip_client_commands(episode.next_message), find_instruction(episode.next_message))
    for text in filter(None, dict.fromkeys(texts)):
        if any(_is_same_prompt(prompt, text) for prompt in prompts):
            return quote_line(text, len(episode.turns))
    return _repeats_error(episode)


def _repeats_error(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an error line of the request that is sent again without being asked for."""
    if _asks_to_see(episode):
        return ()
    requested = set(_error_lines(episode.request).values())
    places = [place for place, line in _error_lines(episode.next_message).items() if line in requested]
    return quote_line(episode.next_message, len(episode.turns), places[0]) if places else ()


def _asks_to_see(episode: Episode) -> bool:
    """Return whether the answer ends with a question, or with the wish to see an output."""
    ending = get_last_answer(episode)[1][-2 * OPENING :]
    return ends_with_question(episode) or EXPRESSIONS["feedback.request_to_see"].search(ending) is not None


def _error_lines(text: str) -> dict[int, str]:
    """Return lines that identify an error, by position, without numbers, which vary between runs."""
    lines = {}
    for found in EXPRESSIONS["feedback.error_line"].finditer(text[:MAX_SCANNED]):
        start = text.rfind("\n", 0, found.end()) + 1
        line = " ".join(text[start : start + OPENING].partition("\n")[0].lower().split())
        line = _NUMBER.sub("0", _BEFORE_ERROR_NAME.sub("", line))
        if len(line) >= MIN_ERROR_LINE and not EXPRESSIONS["feedback.generic_error"].search(line):
            lines[start] = line
    return lines


class _Prompt(NamedTuple):
    """A prompt as it is compared with others."""

    text: str
    """On one line."""
    length: int
    """Words."""
    words: Counter[str]
    """Without the ending of a plural."""


@lru_cache(maxsize=16)
def _read_prompt(text: str) -> _Prompt:
    """Return a prompt to compare. The next message of an episode is the request of the next one."""
    words = text[:MAX_COMPARED].split()
    line = " ".join(words)
    return _Prompt(line, len(words), Counter(word.rstrip("s") for word in WORD.findall(line.lower())))


def _is_same_prompt(first: str, second: str) -> bool:
    """Return whether two prompts are equal, or one extends the other without another word.

    Commands of a client are compared by their arguments: they may be given any number of times.
    """
    if first.startswith("/") and second.startswith("/"):
        (name, _, first), (other_name, _, second) = first.partition(" "), second.partition(" ")
        if name != other_name:
            return False
    one, other = _read_prompt(first), _read_prompt(second)
    is_short = min(one.length, other.length) < MIN_POINTING_WORDS
    if _FILES_ONLY.fullmatch(one.text) or (is_short and EXPRESSIONS["feedback.pointer"].search(one.text)):
        return False
    if one.text == other.text:
        return one.length >= MIN_WORDS and not (one.length > MAX_RETYPED and _HEADING.search(first))
    words, others = one.words, other.words
    shared, least, most = len(words & others), min(len(words), len(others)), max(len(words), len(others))
    is_extended = (words <= others or others <= words) and shared > MIN_COMMON_SHARE * most
    is_corrected = shared > MIN_SIMILARITY * len(words | others) and not _names_something_else(words, others)
    return least >= MIN_WORDS and (is_extended or is_corrected)


def _names_something_else(words: Counter[str], others: Counter[str]) -> bool:
    """Return whether a word of one prompt stands in the place of another word.

    A corrected spelling does not. "Phase 1" and "Phase 2" are different prompts, however long the rest is.
    """
    replaced, replacing = words - others, others - words
    is_misspelt = all(not word.isdecimal() and get_close_matches(word, replacing, 1, MIN_SPELLING) for word in replaced)
    return bool(replaced and replacing) and not is_misspelt


@cached
def find_pasted_error(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an error line in a paste, near its start or in the output of a program."""
    is_output = is_pasted_output(episode)
    text = episode.next_message[: MAX_SCANNED if is_output else 3 * OPENING]
    result = read_check_output(text) if is_output else None
    if result is not None and result[0]:
        return ()
    found = EXPRESSIONS["feedback.error_line"].search(text) or (find_failure(text) if is_output else None)
    return quote_line(text, len(episode.turns), found.start()) if found else ()


def pastes_error_of_work(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a pasted error that names a file or a piece of code of the work, and that was not pasted with the request."""
    is_named = find_name(list_names(episode), episode.next_message[:MAX_SCANNED]) is not None
    return find_pasted_error(episode) if is_named else ()


def pastes_other_error(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find a pasted error that is not the request's: after a request about other trouble, or behind another request.

    After trouble, it names the work, or the message begins with it.
    """
    if _asks_to_see(episode):
        return ()
    opening = message_opening(episode)
    is_aside = is_request(first_sentence(opening)) and not GUARDS["unease"].search(opening)
    if not (is_aside or _has_trouble(episode.request[:MAX_SCANNED])):
        return ()
    found = find_pasted_error(episode)
    is_specific = bool(found) and not EXPRESSIONS["feedback.generic_error"].search(found[0].quotation)
    is_first = is_specific and EXPRESSIONS["feedback.error_line"].search(episode.next_message[:OPENING]) is not None
    return pastes_error_of_work(episode) or (found if is_first else ())


def _has_trouble(request: str) -> bool:
    """Return whether a request is about an error, or begins like the output of a program."""
    is_output = _TERMINAL_OUTPUT.match(request) or _STATUS.search(request)
    return bool(_error_lines(request) or GUARDS["trouble_word"].search(request) or is_output)


def pastes_error_of_advice(episode: Episode) -> tuple[QuotedLine, ...]:
    """Find an error in the pasted output of a command that the agent recommended."""
    text = episode.next_message[:MAX_SCANNED]
    error = EXPRESSIONS["feedback.error_line"].search(text)
    answers = "\n".join(answer for _, answer in episode.answers())[-4 * MAX_SCANNED :]
    commands = (found["command"].strip() for found in islice(_PASTED_COMMAND.finditer(text), MAX_PASTED_COMMANDS))
    is_advised = any(
        re.search(rf"(?<![\w/@.-]){re.escape(command)}(?![\w/-])", answers)
        for command in commands
        if " " in command or "/" in command
    )
    return quote_line(text, len(episode.turns), error.start()) if error and is_advised else ()
