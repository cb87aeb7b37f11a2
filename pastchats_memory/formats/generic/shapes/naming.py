"""What a name gives away by its words, in any spelling and several languages: a key, or a word for who speaks.

A word is soft evidence. `asr_user_said`, `Kundenfrage` and `kind: automated_agent` are in no table of keys; their parts are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

LONGEST_NAME = 64
SIDES = frozenset({"user", "assistant"})
"""Whose words a conversation is."""

_USER = """
    user human person customer client guest visitor student learner pupil patient tenant caller player member people me you i self mine my
    asker requester enquirer inquirer traveler traveller shopper buyer citizen subscriber consumer resident contact enduser prompter
    passenger applicant employee reader patron borrower donor voter taxpayer commuter diner hiker trainee pupil freshman
    nutzer benutzer anwender kunde kunden kundin mensch schuler schulerin mieter patientin ich gast spieler besucher anrufer
    utilisateur utilisatrice humain eleve moi joueur visiteur abonne
    usuario usuaria cliente humano alumno alumna yo jugador persona paciente
    utente umano studente io giocatore ospite paziente
    gebruiker klant mens speler bruker anvandare kund kayttaja asiakas bruger kunden
    uzytkownik klient czlowiek uzivatel zakaznik felhasznalo kullanici musteri pengguna pelanggan utilizator
    пользователь клиент человек я ученик ユーザー ユーザ 人間 顧客 お客様 利用者 用户 用戶 客户 客戶 人类 我 사용자 고객 مستخدم المستخدم उपयोगकर्ता
"""
_ASSISTANT = """
    assistant assist bot chatbot ai gpt chatgpt llm copilot claude gemini bard model machine agent helper coach tutor pilot npc concierge guide advisor
    adviser mentor teacher support companion oracle genie robot automaton automated automation engine helpdesk butler expert narrator storyteller gm dm dungeonmaster receptionist clerk librarian voicebot avatar
    assistent assistenten assistentin ki berater helfer lehrer maschine roboter
    assistante ia conseiller aide professeur
    asistente ayudante profesor assistente aiuto aiutante ajudante robo consulente tutore
    asystent pomocnik assistenten avustaja tekoaly yapay asistan asisten pomocnik
    ассистент бот помощник робот модель アシスタント ボット 助手 机器人 機器人 모델 어시스턴트 챗봇 비서 مساعد المساعد सहायक
"""
_ASKS = """
    ask asks asked question query prompt prompted request instruction input inquiry enquiry q heard asr stt
    frage fragt eingabe anfrage pregunta consulta entrada demande requete domanda richiesta pergunta vraag fraga sporsmal pytanie
    kysymys soru вопрос запрос 質問 问题 問題 提问 질문 سؤال प्रश्न
"""
_ANSWERS = """
    answer answers answered answering reply replies replied response responses responded respond responding completion output fulfillment
    fulfilment generated a tts spoken uttered
    antwort antwortet ausgabe respuesta salida reponse risposta resposta antwoord svar odpowiedz vastaus cevap
    ответ 回答 答え 答案 回复 답변 응답 جواب उत्तर
"""
_PERSPECTIVE = "send receive incoming in received left remote outgoing out sent right local"
_SYSTEM = "system developer instructions sysprompt systemmessage preamble setup briefing"
_TOOL = """
    tool tools function functions observation ipython environment env shell terminal sandbox plugin action invocation call calls callback
    retrieval lookup werkzeug outil herramienta
    server servers backend proxy database db worker kernel daemon scheduler cron browser frontend router
"""
_HIDDEN = """
    thought thoughts thinking think reasoning reason internal scratchpad monologue reflection deliberation analysis plan planning cot
    rationale denken gedanke pensamiento pensee debug trace telemetry heartbeat typing presence receipt receipts
"""
_SPEAKER = """
    role sender from author speaker actor who talker persona participant interlocutor poster writer by party side origin speaks spoken
    voice source direction dir agent character user name nick identity sprecher rolle absender wer von autor
    quien rol remitente hablante qui auteur expediteur locuteur chi mittente ruolo parlante autore papel remetente quem rolnamn
    роль автор отправитель кто 役割 話者 発言者 角色 发送者 역할 발신자 кем uid peer member
"""
_TEXT = """
    text txt md content contents message msg body utterance said says say line transcript markdown speech payload value words reply question
    answer prompt response caption sentence plain raw post words
    inhalt nachricht gesagt worte zeile texto mensaje contenido dijo texte contenu dit testo messaggio contenuto detto mensagem conteudo
    tekst bericht meddelande viesti текст сообщение 内容 文本 本文 メッセージ 発言 消息 내용 메시지 t m c
"""
_TALK = """
    chat chats conversation conversations convo conv dialog dialogs dialogue dialogues talk transcript transcripts thread threads messages
    message turn turns exchange exchanges utterance utterances session sessions interaction interactions history replies call msgs speakers
    verlauf gesprach gesprache unterhaltung nachrichten sitzung chatverlauf dialoge beitrage
    conversacion conversaciones charla mensajes dialogo historial echange echanges discussion messagerie historique
    conversazione conversazioni messaggi dialoghi scambi cronologia conversa conversas mensagens historico gesprek berichten samtal samtale
    rozmowa разговор диалог чат беседа сообщения 会話 対話 对话 對話 聊天 消息 대화 채팅 say lines
"""
_OTHER_TALK = """
    faq faqs quiz quizzes flashcard flashcards exam exams trivia question questions test tests lesson lessons translation translations
    locale locales i18n review reviews rating ratings product products issue issues commit commits changelog release releases
    schema schemas property properties parameter parameters definitions example examples fixture fixtures rule rules error errors
    license licenses package packages dependencies vulnerability vulnerabilities advisories docs documentation
    alert alerts template templates notification notifications poll polls survey surveys intents warnings diagnostics
"""
"""Of lists that look like talk and are none."""


_RECORDED = """
    sha commit votes stars upvotes helpful sku price options distractors ruleid annotators
"""
_LOGGED = "level severity loglevel logger hostname lineno"
_NO_TALK = """
    faq faqs quiz quizzes flashcard flashcards exam exams trivia i18n locale locales translation translations review reviews commits changelog
    poll polls survey surveys respondent respondents intents
"""
_DELTA = "token delta chunk chunks token partial fragment append appended appending piece increment stream streaming streamed"
_EDIT = "edit edited edits update updated replace replaced replaces revise revised supersedes superseded amend amended regenerate regenerated rewrite correct corrected modify modified changed"
_DELETE = "delete deleted deletes remove removed removes retract retracted redact redacted unsend unsent recall recalled withdraw withdrawn"
_GONE = """
    removed deleted hidden retracted withdrawn unsent draft internal redacted cancelled canceled discarded superseded ignored private rejected
    obsolete abandoned invisible geloscht verborgen supprime masque borrado eliminado oculto eliminato nascosto
"""
_CURRENT = "current selected active chosen latest primary accepted final best shown head leaf picked preferred tip kept pick choix auswahl eleccion scelta"
_PAGES = "page offset cursor batch shard"
_KIND = "type kind group event ev evt action op operation class category mode verb topic tag channel"

_SIGNS = "time timestamp at session conversation latency model ms date created asked turn when ts token tokens"
_EXAMS = "options choices difficulty distractors context passage correct explanation category votes"
_ORDERS = "seq n no nr num index idx order ord position pos step turn number i ordinal rank"
_NAMES = "id n num number uid uuid mid ref key no nr guid message msg reply of target for turn node"

SHORTEST_PLURAL = 4
"""Letters above which an `s` at the end may make several of one."""

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text.casefold().replace("ı", "i"))
        if not unicodedata.combining(letter)
    )


def _table(words: str) -> frozenset[str]:
    return frozenset(_folded(word) for word in words.split())


USER, ASSISTANT, ASKS, ANSWERS = map(_table, (_USER, _ASSISTANT, _ASKS, _ANSWERS))
SYSTEM, TOOL, HIDDEN = map(_table, (_SYSTEM, _TOOL, _HIDDEN))
SPEAKER, TEXT, TALK, OTHER_TALK = map(_table, (_SPEAKER, _TEXT, _TALK, _OTHER_TALK))
RECORDED, LOGGED, NO_TALK, PERSPECTIVE, DELTA, EDIT, DELETE, GONE, CURRENT, PAGES, KIND = map(
    _table,
    (_RECORDED, _LOGGED, _NO_TALK, _PERSPECTIVE, _DELTA, _EDIT, _DELETE, _GONE, _CURRENT, _PAGES, _KIND),
)
SIGNS, EXAMS, ORDERS, NAMES = map(_table, (_SIGNS, _EXAMS, _ORDERS, _NAMES))
_TABLES = (("user", USER | ASKS), ("assistant", ASSISTANT | ANSWERS), ("system", SYSTEM), ("tool", TOOL))
LETTERS: Mapping[str, str] = {
    "u": "user", "h": "user", "q": "user", "c": "user", "p": "user", "a": "assistant", "b": "assistant", "r": "assistant",
    "m": "assistant", "g": "assistant",
    "right": "user", "outgoing": "user", "inbound": "user", "sent": "user", "local": "user", "left": "assistant",
    "incoming": "assistant", "outbound": "assistant", "received": "assistant",
    "send": "user", "receive": "assistant", "👤": "user", "🧑": "user", "👩": "user", "👨": "user", "🙋": "user", "🤖": "assistant",
    "remote": "assistant", "them": "assistant", "other": "assistant",
}  # fmt: skip
NEVER_SPOKEN = frozenset({
    "url", "uri", "path", "file", "id", "hash", "html", "rejected", "expected", "gold", "reference", "ideal", "baseline", "rationale",
    "reasoning", "thought", "thoughts", "system", "instructions", "intent", "license", "address",
})  # fmt: skip
"""Words in the name of a column of prose that nobody said, or not in this talk."""
NOT_SPOKEN = NEVER_SPOKEN | {
    "description", "bio", "title", "name", "summary", "label", "note", "notes", "reason", "error", "comment", "comments", "hint", "help",
    "tooltip", "caption", "code", "translation", "context", "passage", "explanation", "why", "worse", "alternative", "feedback", "topic",
    "subject",
}  # fmt: skip
"""And of one that is seldom what was said."""
NOT_A_SPEAKER = frozenset({
    "lang", "language", "locale", "status", "state", "priority", "severity", "level", "mime", "version", "country", "currency", "platform",
    "gender", "format", "license", "rating", "stars", "score", "sentiment", "split", "unit", "method", "difficulty", "theme", "encoding",
    "to", "recipient", "recipients", "audience", "target", "assignee", "reviewer", "subject", "principal",
})  # fmt: skip
CHANGES = DELTA | EDIT | DELETE
"""Of records that add to what was said, correct it or take it back."""
_JOINED = re.compile(
    "(?P<who>user|human|customer|client|bot|ai|assistant|agent|gpt|prompt|question|answer|reply)"
    "(?:text|msg|message|input|says?|said|reply|turn|output|utterance|query|question|prompt|answer|response|content)s?"
    "|(?P<stem>benutzer|nutzer|kunden|anwender|frage|antwort|assistent|assistenten)[a-z]{3,}|[a-z]{3,}(?P<end>nutzer|kunde|frage|antwort|assistent|bot)"
)
"""Words written as one."""


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, small and without accents, in their order: `userSaid`, `user_said` and `User said` are alike."""
    return tuple(_folded(word) for word in _WORD.findall(_HUMP.sub(" ", name[:LONGEST_NAME])))


@lru_cache(maxsize=8192)
def side_of(name: str) -> str | None:
    """`user` or `assistant`, `system` or `tool`, where a word of the name says so; the last such word counts: `customer_agent`."""
    words = words_of(name)
    told = (
        words if len(words) == 1 else [word for word in words if len(word) > 1 or not word.isascii()]
    )  # ids have letters
    found: list[str] = []
    for word in told:
        side = _side(word)
        if side and not (word in ASKS and found[-1:] in (["system"], ["tool"])):  # what these ask is not a person's
            found.append(side)
    for side in ("system", "tool"):
        if side in found and not SIDES & set(found[found.index(side) :]):
            return side
    return found[-1] if found else None


def side_of_path(path: str) -> str | None:
    """The side of a user or an assistant that a path of keys names, the innermost key that does."""
    return next((side for key in reversed(path.split(".")) if (side := side_of(key)) in SIDES), None)


def _side(word: str) -> str | None:
    stem = word.removesuffix("s") if len(word) > SHORTEST_PLURAL else word
    for spelled in (word, stem):  # several `instructions` are a program's, one is a person's
        for side, table in _TABLES:
            if spelled in table:
                return side
    joined = _JOINED.fullmatch(word)
    return _side(joined["who"] or joined["stem"] or joined["end"]) if joined else None


def letter_side(key: str) -> str | None:
    """The side for which a single letter usually stands."""
    return LETTERS.get(key.lower()) if len(key) == 1 else None


def has(name: str, table: frozenset[str]) -> bool:
    """Whether a word of the name is in the table."""
    return not table.isdisjoint(words_of(name))
