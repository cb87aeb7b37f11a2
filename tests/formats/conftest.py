"""What the reader tests share as fixtures."""

import time

import pytest


@pytest.fixture
def in_zone(monkeypatch):
    """Sets the clock on the wall: a function of the zone's name; the old one is back after the test."""

    def move(zone):
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()
