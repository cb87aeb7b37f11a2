"""Sign the files of a machine, and show that its key belongs to a machine of the same person.

The signatures are Ed25519 (RFC 8032).
"""

import hashlib
import hmac
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FILE = b"pastchats-memory sync: a file\0"
MACHINE = b"pastchats-memory sync: a machine\0"
CODE_DIGITS = 24
"""Hexadecimal digits of a code: to find a key with the same one is out of reach."""


class Signature(NamedTuple):
    """What a file shows of its writer."""

    key: bytes
    """Public key of the machine."""
    proof: bytes
    """Made with the folder's secret, or by a machine that is known; empty if neither was there."""
    signature: bytes


def make_key() -> bytes:
    """Return a new private key."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def find_public(private: bytes) -> bytes:
    """Return the public key of a private one."""
    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def sign(private: bytes, message: bytes) -> bytes:
    """Return the signature of a message."""
    return Ed25519PrivateKey.from_private_bytes(private).sign(message)


def is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether the owner of a public key has signed a message."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def make_mac(secret: str, message: bytes) -> bytes:
    """Return what only a machine with the folder's secret can make of a message."""
    return hmac.digest(secret.encode(), message, hashlib.sha256)


def describe_code(public: bytes) -> str:
    """Return the code of a key, which a person compares on two machines."""
    digits = hashlib.sha256(MACHINE + public).hexdigest()[:CODE_DIGITS]
    return "-".join(digits[start : start + 4] for start in range(0, CODE_DIGITS, 4))


def name_machine(folder: str, machine: str, public: bytes) -> bytes:
    """Return what a proof says: this key is that of this machine in this folder."""
    return MACHINE + f"{folder} {machine} ".encode() + public


def name_file(folder: str, machine: str, content: bytes) -> bytes:
    """Return what a signature says: this machine wrote this content, which has the file's number, for this folder."""
    return FILE + f"{folder} {machine} ".encode() + content
