"""The program with a signal to itself at a chosen place: an interruption or a kill that no clock has to hit."""

from __future__ import annotations

from program import Program
from waiting import HANG_S

PATIENT = f"""
from pastchats_memory.store import database
database.BUSY_MS = {1000 * HANG_S}
"""
"""Waits for the lock of a database until a hang: on a busy machine others hold it for seconds."""
CHECKSUM_VECTORS = """
import zlib, numpy
from pastchats_memory.embed.packaged import PackagedEmbedder

def vector(text):
    vector = numpy.random.default_rng(zlib.crc32(text.encode())).normal(size=384).astype("float32")
    return vector / numpy.linalg.norm(vector)

PackagedEmbedder.embed = lambda self, texts: map(vector, texts)
"""
"""Vectors made from checksums of the texts: cheap, and the same in every run."""
_SIGNAL = """
import itertools, signal

embedded = itertools.count()

def counted(vectors):
    for vector in vectors:
        if next(embedded) == {after}:
            signal.raise_signal({number:d})
        yield vector

PackagedEmbedder.embed = lambda self, texts: counted(map(vector, texts))
"""


def with_checksum_vectors(program: Program, setup: str = "") -> Program:
    """Return the program with cheap vectors, and with further statements that run before it starts."""
    return program.primed(CHECKSUM_VECTORS + setup)


def signal_after(program: Program, number: int, after: int, setup: str = "") -> Program:
    """Return the program with cheap vectors, which sends itself a signal after it has embedded so many texts."""
    return with_checksum_vectors(program, setup + _SIGNAL.format(after=after, number=number))
