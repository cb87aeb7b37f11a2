"""What the assistant did, and says of itself: commits, edits, claims, admissions, questions back."""

from __future__ import annotations

import re
from collections import Counter

from pastchats_memory.outcome.rows import (
    LONGEST,
    OPENING,
    QUOTED,
    Episode,
    Evidence,
    Pattern,
    Step,
    labels,
    listed,
    once,
    quoted,
)
from pastchats_memory.text.shell import is_editor

_COMMITTED = Pattern(
    r"""
    ^\[[\w./-]+\ (?:\(root-commit\)\ )?[0-9a-f]{7,40}\]
    |(?:\b(?:committed|pushed|merged)\b[^\n]{0,30}|^\W{0,6}commit:\W{0,4})`?\b(?=[a-f]*\d)[0-9a-f]{7,40}\b
    |\b(?:committed|pushed|merged)\ (?:and\ (?:pushed|merged)\ )?(?:to|into|as|in)\ [`*]*[\w./#-]+
    |\b(?:PR|pull\ request)\ (?:\#?\d+\ )?(?:created|opened|merged)\b"""
)
_COMMIT_CALL = Pattern(
    r"\bgit\ (?:-\S+\ \S+\ )?(?:commit|push|merge)\b|\bgh\ pr\ (?:create|merge)\b|\bhub\ pull-request\b"
)
_PARTICIPLE = r"""(?:
    done|fixed|updated|written|wrote|recorded|locked\ in|committed|moved|added|removed|created|implemented|finished
    |completed?|applied|captured|resolved|renamed|deleted|dropped|gone|ready|in\ place|set\ up
    |succe(?:ss\w*|ed(?:s|ed))|pass(?:es|ed|ing)?|clean|green|corrected|pinned\ it\ down|noted|verified|validated
    |saved|pushed|merged|refactored|migrated|replaced|converted|installed|restored|expanded|re-applied|closed\ out
    |caught\ up|rewritten|deployed|configured|enabled|disabled|cleaned\ up
    )"""
_CLAIM = Pattern(
    rf"""
    \A\W*✅|\b(?:has|have)\ been\ (?:successfully\ )?\w+ed\b
    |^\W{{0,8}}(?:(?:great|perfect|excellent|ok|okay|all\ right)\W{{1,8}})?(?:
        (?!you\b|to\b|not\b|once\b|if\b|when\b|after\b|should\b|will\b|can\b|need\b)[\w§"'`./:*-]+\s
    ){{0,4}}?\W{{0,4}}(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s){_PARTICIPLE}\b(?!\?)
    |\b(?:is|are|were|been|was)\s(?:now\s|all\s|both\s|successfully\s|fully\s)?{_PARTICIPLE}\b
    |\bI(?:'ve|\ have)\s(?:now\s|also\s|successfully\s)?(?:\w+ed|built|written|made|set)\b
    |\bI\ (?:also\ |now\ |then\ )?(?:
        changed|fixed|added|removed|updated|moved|created|implemented|replaced|renamed|wrote|made|split|extracted
        |corrected|switched|converted|deleted|refactored|adjusted|bumped|wired|cleaned|rewrote
    )\b
    |\bhere(?:'s|\ is)\ what\ (?:I\ (?:did|changed)|changed|was\ done)\b
    |^\W*(?:what\ changed|changes\ made|summary\ of\ (?:the\ )?changes)\b|\bno\ longer\b
    |\bnow\ (?:works?|passes|returns|uses|builds|runs|shows|renders|handles|supports)\b
    |\b(?:is|are)\ in\b(?=,|\.|\ and\b)|^\W*(?:it|the\ \w+|that|everything|all)\ (?:now\ )?works\b|^\W*我?已
    |(?:修改|更新|添加|创建|实现|修复)(?:完成|好了|完毕)
    |^\W*(?:
        готов[оаы]?\b|исправлено|сделано|обновлено|добавлено|настроено|создан[оаы]?\b
        |(?:я\ )?(?:добавил|исправил|создал|обновил|удалил|настроил)|hecho|listo|he\ (?:\w+ado|\w+ido)\b
        |(?:creado|actualizado|corregido|arreglado|agregado)\b|fertig|erledigt|behoben|ich\ habe\b|c'est\ fait
        |terminé|corrigé|j'ai\ (?:\w+é|mis|fait|écrit)\b|pronto|feito|(?:criei|atualizei|corrigi|adicionei)\b|fatto
        |ho\ \w+to\b|sudah\ (?:di\w+|selesai)|selesai|berhasil|完了|完成|수정했|완료
    )
    |(?:作成|修正|追加|更新|変更|実装)しました"""
)
_CLOSING = Pattern(
    r"""
    \bsuccessfully\ (?:\w+ed|built|written|sent|set)\b|\b(?:\w+ed|built|written|sent|set)\ successfully\b
    |\b(?:was|were|is|are|been)\ (?:now\ |all\ )?successful(?:ly)?\b
    |\ball\ (?:\d+\ )?(?:tests|checks)\ (?:now\ )?pass\w*\b|успешно|已(?:成功|完成)|成功"""
)
"""A claim in the last sentences."""
_DENIED = Pattern(
    r"""
    \b(?:not|nothing|none|no|never|only|without|cannot|if|once|when|until|unless|should|would|will|to)\b|n't\b
    |\bне\b|\bnicht\b|没有|未"""
)
_UNFINISHED = Pattern(
    r"正在[^。\n]{0,80}[。…]?\Z|\bstill\ (?:waiting|running|pending|working)\b|\bwaiting\ (?:on|for)\b|\bin\ (?:the\ )?background\b"
)
_ANNOUNCED = Pattern(
    r"""
    (?:^|[.!:?]\s+|\n)\W*(?:(?:now|next|first|okay|ok|so|good|great|then)[,.!]?\ )?(?:
        let\ me(?!\ know)|let's
        |(?:next|then)\ (?:is|are|comes?|up)\b|I(?:'ll|\ will|'m\ (?:going\ to|now|about\ to|retrying|checking))(?!\ (?:be|let\ you))|going\ to
    )\b[^\n?]{0,300}[.…]?\s*\Z"""
)
_ASKS_FOR_MORE = Pattern(
    r"""
    \b(?:please|could\ you|can\ you|once\ you|need\ you\ to)\ (?:
        add|provide|share|paste|check|show|upload|send|run|try|test|restart|refresh|reload|reply|tell|confirm
        |let\ me\ know\ (?:which|what|if\ you\ see)
    )\b
    |which\ (?:files|directories)|\bI\ need\ (?:to\ see|access|more)\b|добавьте|пришл[её]те|添加文件|请提供
    |\b(?:shall|should)\ I\ (?:continue|proceed|go\ on|keep\ going)\b
    |\b(?:need|requires?|waiting\ for|grant|give)\ (?:me\ |your\ |the\ )?
        (?:permission|approval|authori[sz]ation|write\ access)\b
    |\b(?:approve|authori[sz]e)\b[^\n]{0,60}\?|请(?:确认|允许|授权|批准)|是否授权|需要你的(?:允许|授权)|获准写入"""
)
_WHAT_ELSE = Pattern(
    r"""
    \b(?:
        (?:any|some)thing\ else|what\ else|algo\ más|mais\ alg(?:o|uma\ coisa)|autre\ chose|noch\ etwas
        |qualcos'altro|ada\ (?:lagi|hal\ lain)|что-(?:нибудь|то)\ ещ[её]
    )\b[^.!?\n]{0,200}\?\Z
    |(?:还有|其他)(?:什么|问题|需要)[^。！\n]{0,200}[?？吗]\Z|需要我[^。！\n]{0,8}(?:其他|别的)[^。！\n]{0,60}[?？吗]\Z"""
)
"""What a finished answer ends with out of politeness."""
_ADMITTED = Pattern(
    r"""
    \A\W*(?:fatal\ )?error:[ ]
    |\bI(?:'m|\ am|\ was)?\ (?:
        could(?:n't|\ not)|can(?:'t|not)(?!\s(?:\w+\s){0,3}automatically)|unable\ to|not\ able\ to|wasn't\ able\ to|failed\ to
        |won't\ (?:execute|run|be\ able)
        |don't\ have\ (?:[\w-]+\ ){0,4}?(?:access|permission|ability|capabilit(?:y|ies)|way)
    )\b
    |\bI\ (?:have\ not|haven't)\ been\ able\b|\bmy\ mistake\b[^.\n]{0,200}\bnot\b|\bне\ (?:удалось|смог)
    |\b(?:konnte|kann)\b[^.\n]{0,40}\bnicht\b|\bno\ (?:pude|puedo|he\ podido)\b
    |\bje\ (?:ne\ (?:peux|suis)|n'ai)\ pas\b|\bnão\ (?:posso|consigo|consegui)\b|\b(?:tidak|belum)\ (?:bisa|dapat)\b
    |无法完成|我(?:不能|无法)|できません|할\ 수\ 없|\bdid\ not\ succeed\b|\bno\ luck\b"""
)
_LEFT = Pattern(
    r"""
    ^[^\w\n]*(?:
        remaining\ (?!steps)|still\ (?:failing|broken|missing|to\ do|red)\b
        |not\ (?:yet\ )?(?:done|implemented|fixed|addressed|covered|working)\b
        |partially\ (?:done|fixed|working|complete\w*)\b
    )
    |\bI\ (?:did\ not|didn't|have\ not|haven't)\ (?:yet\ )?(?!
        (?:
            change|touch|modif|alter|commit|push|includ|run|test|remov|delet|add|find|see|want|need|have|know|notice
            |break|made?
        )\w*
    )(?:\w+\ )
    |\b(?:remaining|others?|rest)\b[^.\n]{0,60}\b(?:
        can't|cannot|could(?:n't|\ not)|(?:is|are|was|were)(?:n't|\ not)
    )\b
    |\b(?:is|are)\ not\ \w+\ yet\b|\bran\ out\ of\ (?:context|time|tokens|budget)\b
    |(?:^|[.!]\ )(?![^.\n]*\b(?:if|should|when|would)\b)[^.\n]{0,80}\bstill\ (?:fail(?:s|ing)?|red|broken|comes|shows|prints|looks|opens)\b"""
)
_TAKES_BACK = Pattern(
    r"""
    \bgit\ (?:
        (?:checkout\ (?:HEAD\ )?(?:--\ )?(?=\.(?:\s|\Z)|\S+\.\w)|checkout\ --\ |restore\ (?!--staged))(?P<path>[^\s;&|]+)
        |reset\ --hard|revert\b|stash\b(?!\ (?:pop|apply|list|show))
    )"""
)
_QUOTATION = re.compile(r"'[^']*'|\"[^\"]*\"")
"""What stands in quotes in a command: words of a message."""
_BRINGS_BACK = Pattern(r"\bgit\ (?:stash\ (?:pop|apply)|cherry-pick|reset\ --hard\ ORIG_HEAD)\b")
_WANTS_IT_BACK = Pattern(
    r"\b(?:(?:take|get|back)\w*\ (?:\w+\ ){0,3}?(?:back|out|rid)|revert\w*|undo\w*|reset\w*|restor\w*|rol\w*\ back|discard\w*|stash\w*|checkout|throw\ away|clean\ up)\b"
)
_FENCE = Pattern(r"^\ {0,3}(?:(`)``|(?:(<)){5,9}\ SEARCH$|(?:(>)){5,9}\ REPLACE\b)")
_ENDED = Pattern(r"(?:[^\W\d_]\S*\ ){5,}\S*[^\W_][.!?…]\Z")
"""A line of prose that comes to its end: of fences within fences one may be left over."""
_RAW_CALL = Pattern(r"</?(?:tool_call|function|function_calls|invoke|parameter|ctrl\d+)>\s*\Z")
"""A call as a model spells it, which the client took for words."""
_APPLIED = Pattern(r"^Applied\ edit\ to\ .+|^---\n\n(?:_\*{4}_\n\n)?```diff\n(?:(?!```|\+).*\n)*\+.+")
"""What the client wrote between answers: aider its notice, Cursor as SpecStory has it the difference that it made."""
LEAVING = Pattern(r"(?:\s*\^C[^\n]*)+\Z")
"""The key that leaves a program, pressed at its prompt."""


@once
def last_answer(episode: Episode) -> tuple[int, str]:
    """Place and text of the last answer; an empty text where there is none."""
    answers = episode.answers()
    return answers[-1] if answers else (0, "")


@once
def is_torn(episode: Episode) -> bool:
    """Whether the last answer stops in the middle of a block of code or of an edit; below a fence that ends it, SpecStory left one out."""
    text = last_answer(episode)[1]
    ending = text.rstrip().rpartition("\n")[2]
    if _ENDED.match(ending) or ending.startswith("```"):
        return False
    fences = Counter(found[1] or found[2] or found[3] for found in _FENCE.all(text))
    return fences["<"] > fences[">"] or (fences["`"] % 2 == 1 and not fences["<"])


@once
def is_finished(episode: Episode) -> bool:
    """Whether the last answer is an end: neither torn, nor a call that was never made, nor an announcement of the next step, nor a wait."""
    ending = last_answer(episode)[1].rstrip()
    return not (
        not ending
        or is_torn(episode)
        or ending.endswith((":", "："))
        or _RAW_CALL.search(ending[-QUOTED:])
        or _UNFINISHED.search(ending[-OPENING:])
        or _ANNOUNCED.search(ending[-OPENING:])
    )


@once
def asks_back(episode: Episode) -> bool:
    """Whether the last answer ends in a request for files, for a try or for leave, so that nothing is reached yet."""
    ending = last_answer(episode)[1].rstrip()[-2 * OPENING :]
    return bool(_ASKS_FOR_MORE.search(ending))


def commits(episode: Episode) -> list[tuple[int, str]]:
    """Places and labels of the commands that commit, push, merge or open a pull request."""
    return [(at, label) for at, label in episode.calls() if _COMMIT_CALL.search(label)]


@once
def committed(episode: Episode) -> tuple[Evidence, ...]:
    """A commit, a push, a merge or a pull request was made, by the client or by a command that did not fail."""
    place, text = last_answer(episode)
    if any(row.kind == "error" and not LEAVING.match(row.content) for at, row in episode.traffic() if at > place):
        return ()
    if hashes := listed(episode.turns[place], "commits"):
        return (Evidence(f"Commit {min(hashes)}"[:QUOTED], place),)
    if not is_finished(episode):
        return ()
    if found := _asserted(_COMMITTED, text[:LONGEST]):
        return quoted(text, place, found.start())
    calls = commits(episode)
    failed = [at for at, row in episode.traffic() if row.kind == "error" and _COMMIT_CALL.search(row.content[:LONGEST])]
    if calls and not any(at >= calls[-1][0] or episode.step_of(at)[0] == calls[-1][0] for at in failed):
        tool, _, command = calls[-1][1].partition(" ")
        # what the answer spells out was proposed, and run after it: nobody saw how it went
        return (
            () if command and command in episode.turns[calls[-1][0]].content else quoted(command or tool, calls[-1][0])
        )
    return ()


@once
def taken_back(episode: Episode) -> tuple[Evidence, ...]:
    """The command by which the agent itself took back what it had done, nobody having asked for that, and nothing done after it."""
    steps = [(step, label, _QUOTATION.sub("_", label)) for step, label in episode.steps()]
    back = [
        one
        for one in steps
        if (found := _TAKES_BACK.search(one[2])) and not _BRINGS_BACK.search(one[2]) and _is_of_work(episode, found)
    ]
    if not back or _WANTS_IT_BACK.search(episode.asked):
        return ()
    step, label, _ = back[-1]
    later = [bare for at, _, bare in steps if at > step]
    if any(is_edit(bare) or _BRINGS_BACK.search(bare) or _COMMIT_CALL.search(bare) for bare in later):
        return ()
    return quoted(label.partition(" ")[2] or label, step[0])


def _is_of_work(episode: Episode, found: re.Match[str]) -> bool:
    """Whether what is put back is a file that was edited, or all of them."""
    path = found["path"]
    name = (path or "").rstrip("/").rpartition("/")[2]
    return path in (None, ".") or any(name in label for _, label in edits(episode))


def is_edit(label: str) -> bool:
    """Whether the call changes a file."""
    return is_editor(label.partition(" ")[0])


@once
def edits(episode: Episode) -> list[tuple[Step, str]]:
    """The edits that the client made, in order, with the tool or the file; what was stopped was not made."""
    made = []
    for at, turn in enumerate(episode.turns):
        calls = labels(turn)
        stopped = len(calls) - 1 if "interrupted" in listed(turn, "flags") else -1
        made += [((at, number), label) for number, label in enumerate(calls) if is_edit(label) and number != stopped]
        if turn.role == "assistant":
            made += [((at, len(calls)), f"Applied edit to {name}") for name in sorted(listed(turn, "files"))]
    return made


@once
def edit_made(episode: Episode) -> tuple[Evidence, ...]:
    """An edit stands in the last answer or was made by a tool, the answer is an end, and nothing says that it failed."""
    place, text = last_answer(episode)
    if not text or place != len(episode.turns) - 1 or not is_finished(episode) or asks_back(episode):
        return ()
    if found := _APPLIED.search(text):
        return quoted(text, place, found.end() - 1)
    return edited(episode)


def edited(episode: Episode) -> tuple[Evidence, ...]:
    """The last edit that the client made, unless something after it failed."""
    made = edits(episode)
    broken = (at for at, row in episode.traffic() if row.kind == "error" and not episode.is_mended(at))
    if not made or any(episode.step_of(at) > made[-1][0] for at in broken):
        return ()
    return quoted(made[-1][1], made[-1][0][0])


def worked_on(episode: Episode) -> bool:
    """Whether tools were used, as far as the client tells."""
    return any(turn.role == "tool" or turn.metadata.get("tools") for turn in episode.turns)


def _asserted(pattern: Pattern, text: str) -> re.Match[str] | None:
    """The first place that is neither denied nor conditional within its clause."""
    for found in pattern.all(text):
        clause = max(text.rfind(mark, 0, found.end() - 1) for mark in (". ", "\n", "; ", "! ", ", "))
        if not _DENIED.search(text[clause + 1 : found.end()]):
            return found
    return None


@once
def claimed(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer begins by saying that it is done, after steps that are in sight."""
    place, text = last_answer(episode)
    if not (is_finished(episode) and (len(episode.answers()) > 1 or worked_on(episode))) or asks_back(episode):
        return ()
    found = _asserted(_CLAIM, text[: 2 * OPENING])
    if found:
        return quoted(text, place, found.start())
    closing = max(0, len(text.rstrip()) - OPENING)
    found = _asserted(_CLOSING, text[closing:])
    return quoted(text, place, closing + found.start()) if found else ()


def claimed_before(episode: Episode) -> tuple[Evidence, ...]:
    """Any answer of the episode, the last first, says that it is done."""
    for place, text in reversed(episode.answers()):
        if found := _asserted(_CLAIM, text[: 2 * OPENING]):
            return quoted(text, place, found.start())
    return ()


def ends_asking(episode: Episode) -> bool:
    """Whether the last answer ends in a question, other than what else is wanted."""
    ending = last_answer(episode)[1].rstrip("*_`) \n")
    return ending.endswith(("?", "？", "吗", "呢")) and not _WHAT_ELSE.search(ending[-OPENING:])


def could_not(text: str) -> bool:
    """Whether a part of an answer says that something could not be done."""
    return _ADMITTED.search(text[:OPENING]) is not None


@once
def admitted(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer says in its first sentences that it could not be done."""
    place, text = last_answer(episode)
    found = _ADMITTED.search(text[:OPENING])
    return quoted(text, place, found.start()) if found else ()


def left_open(episode: Episode) -> tuple[Evidence, ...]:
    """The last answer names what is left, or what still fails."""
    place, text = last_answer(episode)
    ending = text[-8 * OPENING :]
    found = _LEFT.search(ending)
    return quoted(ending, place, found.start()) if found else ()
