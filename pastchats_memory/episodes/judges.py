"""Ask a model that the user has configured how an episode ended: a command, or an OpenAI-compatible chat endpoint.

It sends `POST BASE/chat/completions`. Text may leave the machine, so nothing is asked unless it is configured.
"""

import json
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.files.folders import JUDGING_VARIABLE
from pastchats_memory.files.processes import run_with_input

LARGEST_ANSWER = 1 << 20
"""Bytes of an answer that are read."""
JUDGING = {JUDGING_VARIABLE: "1"}
AGENTS = (("claude", "-p"), ("codex", "exec", "-"), ("gemini", "-p", ""))
"""Commands of agents that read a question on stdin and print the answer."""


class Answer(NamedTuple):
    """The answer of a judge."""

    text: str
    tokens: int | None = None
    """Tokens of question and answer that the endpoint reports; None if it reports none."""


class NoAnswer(MemoryFault):
    """The judge did not answer; another call may succeed."""

    kind = "no_answer"


class Judge(Protocol):
    """A model that reads episodes."""

    name: str
    """For messages: the program, or the host of the endpoint."""

    def ask(self, question: str) -> Answer:
        """Return the answer to a question. Raises NoAnswer."""
        ...


class CommandJudge:
    """A command that reads the question on stdin and prints the answer.

    It runs in an empty folder, with a variable by which our hooks know the call and stay silent.
    """

    def __init__(self, command: Sequence[str], seconds: int) -> None:
        self.name = command[0]
        self._command = command
        self._seconds = seconds

    def ask(self, question: str) -> Answer:
        """Return what the command prints. Raises NoAnswer."""
        with tempfile.TemporaryDirectory(prefix="pastchats-memory-") as folder:
            try:
                code, printed = run_with_input(self._command, question, self._seconds, LARGEST_ANSWER, folder, JUDGING)
            except TimeoutError as fault:
                raise NoAnswer(f"{self.name} gave no answer within {self._seconds} seconds") from fault
        if code:
            raise NoAnswer(f"{self.name} ended with exit code {code}")
        return Answer(printed)


class EndpointJudge:
    """A model behind a chat endpoint."""

    def __init__(self, base: str, model: str, key: str | None, seconds: int) -> None:
        """Take the base URL, the model's name, the key, and the seconds that an answer may take. Raises UsageFault."""
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageFault("`judge_endpoint` is no URL", "It looks like https://api.openai.com/v1")
        self.name = parts.hostname + (f":{parts.port}" if parts.port else "")
        self._url = f"{base.rstrip('/')}/chat/completions"
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._seconds = seconds

    def ask(self, question: str) -> Answer:
        """Return the model's answer. Raises NoAnswer."""
        import httpx

        body = {"model": self._model, "messages": [{"role": "user", "content": question}]}
        try:
            # No redirect is followed: it would leak the key.
            with httpx.stream("POST", self._url, json=body, headers=self._headers, timeout=self._seconds) as reply:
                if not reply.is_success:
                    raise NoAnswer(f"{self.name} answers HTTP {reply.status_code}")
                raw = self._read(reply.iter_bytes())
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise NoAnswer(f"{self.name} gives no answer: {type(fault).__name__}") from fault
        return self._parse(raw)

    def _read(self, pieces: Any) -> bytes:
        """Return a whole body. A server that sends byte by byte gets no more time than any other."""
        end = time.monotonic() + self._seconds
        raw = b""
        for piece in pieces:
            raw += piece
            if len(raw) > LARGEST_ANSWER or time.monotonic() > end:
                raise NoAnswer(f"{self.name} does not come to an end")
        return raw

    def _parse(self, raw: bytes) -> Answer:
        try:
            body = json.loads(raw)
            text = body["choices"][0]["message"]["content"]
            tokens = (body.get("usage") or {}).get("total_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as fault:
            raise NoAnswer(f"{self.name} sends no chat completion") from fault
        return Answer(text if isinstance(text, str) else "", tokens if type(tokens) is int and tokens >= 0 else None)
