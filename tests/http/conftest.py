"""Provide one server over the demo memory for all tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from program import Program
from served import Endpoint, Server, chat_endpoint, serving
from waiting import HANG_S


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with chat_endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def server(demo: Program, endpoint: Endpoint) -> Iterator[Server]:
    """Start a server that forwards chats to `endpoint`, without a key."""
    ours = Program(demo.home).with_variables(PASTCHATS_MEMORY_CHAT_ENDPOINT=endpoint.url)
    with serving(ours) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers=server.token, timeout=HANG_S) as asking:
        yield asking
